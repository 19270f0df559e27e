# SPDX-License-Identifier: Apache-2.0
"""A scripted hand lifts 1.75 kg, carries it 1.1 m, pushes it down and lets go: experiment E9 of the thesis.

Run with ``python -m humanoid_sim run examples/haptic_object.py --progress``; it draws ``haptic_object.png``.
"""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from humanoid_sim import Simulation
from humanoid_sim.interaction import AttachMode, ScriptedDevice
from humanoid_sim.scenario import Scenario

GRASP, LIFTED, CARRIED, DOWN, RELEASE = 8.0, 8.6, 13.0, 17.0, 18.5  # s


class HapticObject(Scenario):
    """The hand is a device with the rate of a PHANToM Omni, with enough strength to feel the whole weight."""

    scene = Path("haptic_object.yaml")
    duration = 20.0
    stiffness = 500.0  # N/m, k_p; the thesis gives none
    rotational_stiffness = 2.0  # N m/rad: the hand keeps the object level
    picture = "haptic_object.png"

    def init(self, simulation: Simulation) -> None:
        """Script the hand: to the object, up, along x, down to just above the ground."""
        start = simulation.bodies["object"].placement_world_body.translation
        up, along, down = np.array([0, 0, 0.25]), np.array([1.1, 0, 0]), np.array([0, 0, -0.85])
        path = [start + up, start, start, start + up, start + up + along, start + up + along + down]
        times = [0.0, 4.0, GRASP, LIFTED, CARRIED, DOWN]
        self.hand = AttachMode(
            ScriptedDevice(times, path, presses=[(GRASP, RELEASE)]),
            stiffness=self.stiffness,
            rotational_stiffness=self.rotational_stiffness,
        )
        simulation.add_module(self.hand)

    def end(self, simulation: Simulation) -> None:
        """Tell the figures of the experiment and draw its curves."""
        log = self.hand.log.device
        time, force = log["time"], log["force"]
        carried = (time > CARRIED - 0.5) & (time < CARRIED)
        x = simulation.bodies["object"].placement_world_body.translation[0]
        print(f"force felt while carrying: {force[carried, 2].mean():.3f} N (weight {-1.75 * 9.8:.3f} N)")
        print(f"largest while lifting:     {force[(time > GRASP) & (time < LIFTED), 2].min():.2f} N")
        print(f"displacement:              {x:.4f} m")
        print(f"force after release:       {np.abs(force[time >= RELEASE]).max(initial=0.0):g} N")
        if self.picture:
            figure = Figure(figsize=(8, 4), layout="constrained")
            FigureCanvasAgg(figure)
            axes = figure.subplots()
            axes.plot(time, force, label=["x", "y", "z"])
            axes.axhline(-1.75 * 9.8, color="grey", linestyle=":", label="weight")
            axes.set(xlabel="time [s]", ylabel="force on the pointer [N]")
            axes.legend()
            figure.savefig(self.picture, dpi=120)
