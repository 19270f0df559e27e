# SPDX-License-Identifier: Apache-2.0
"""A scripted hand lifts 1.75 kg, carries it 1.1 m, pushes it down and lets go: experiment E9 as a scenario.

Run with ``python -m humanoid_sim run studies/examples/haptic_object.py --progress --set stiffness=1000``; the figures
and the picture of the experiment come from ``python -m humanoid_studies haptic_object --out .``.
"""

import numpy as np

from humanoid_sim import Simulation
from humanoid_sim.interaction import AttachMode
from humanoid_sim.scenario import Scenario
from humanoid_studies.simulator.haptic_object import (
    CARRIED,
    GRASP,
    LIFTED,
    RELEASE,
    ROTATIONAL_STIFFNESS,
    STIFFNESS,
    WEIGHT,
    scripted_hand,
)


class HapticObject(Scenario):
    """The hand is a device with the rate of a PHANToM Omni, with enough strength to feel the whole weight."""

    scene = "haptic_object"
    duration = 20.0
    stiffness = STIFFNESS  # N/m, k_p; the thesis gives none
    rotational_stiffness = ROTATIONAL_STIFFNESS  # N m/rad: the hand keeps the object level

    def init(self, simulation: Simulation) -> None:
        """Script the hand."""
        start = simulation.bodies["object"].placement_world_body.translation
        self.hand = AttachMode(
            scripted_hand(start), stiffness=self.stiffness, rotational_stiffness=self.rotational_stiffness
        )
        simulation.add_module(self.hand)

    def end(self, simulation: Simulation) -> None:
        """Tell the figures of the experiment."""
        log = self.hand.log.device
        time, force = log["time"], log["force"]
        carried = (time > CARRIED - 0.5) & (time < CARRIED)
        x = simulation.bodies["object"].placement_world_body.translation[0]
        print(f"force felt while carrying: {force[carried, 2].mean():.3f} N (weight {-WEIGHT:.3f} N)")
        print(f"largest while lifting:     {force[(time > GRASP) & (time < LIFTED), 2].min():.2f} N")
        print(f"displacement:              {x:.4f} m")
        print(f"force after release:       {np.abs(force[time >= RELEASE]).max(initial=0.0):g} N")
