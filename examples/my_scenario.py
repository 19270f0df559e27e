# SPDX-License-Identifier: Apache-2.0
"""A scenario to copy: HRP-2 nods with its chest, is pushed, and says how far its feet crept.

Run with ``python -m humanoid_sim run examples/my_scenario.py --progress --csv out/ --plot out/push.png --set push=60``.
"""

import numpy as np

from humanoid_model import Scene
from humanoid_sim import Simulation
from humanoid_sim.scenario import Scenario, collide_only


class MyScenario(Scenario):
    """What ``--set`` may change stands here, with its default."""

    scene = "stand"
    duration = 3.0
    push = 40.0  # N, forwards, on the chest
    nod = 0.15  # rad

    def prepare(self, scene: Scene) -> Scene:
        """Before the simulation is made: choose bodies and pairs; here, what may touch what."""
        return collide_only(scene, [("hrp2/?LEG_LINK5", "floor")])

    def init(self, simulation: Simulation) -> None:
        """Once, before the first step."""
        self.robot = simulation.robots["hrp2"]
        joints = self.robot.joint_names
        self.chest = joints[joints.index("CHEST_JOINT1")]
        self.start = self.robot.joint_positions[joints.index(self.chest)]
        self.feet = self._feet()

    def loop(self, simulation: Simulation) -> None:
        """Before each step: targets and pushes."""
        nod = self.nod * np.sin(np.pi * simulation.time) ** 2
        self.robot.set_position_target([self.start + nod], joints=[self.chest])
        if np.isclose(simulation.time, 1.0):
            simulation.apply_wrench("hrp2/CHEST_LINK1", [self.push, 0.0, 0.0], duration=0.1)

    def end(self, simulation: Simulation) -> None:
        """Once, whatever happened in between."""
        crept = np.abs(self._feet() - self.feet).max()
        print(f"the feet crept by {1e6 * crept:.3g} µm")

    def _feet(self) -> np.ndarray:
        return np.array([self.robot.placement(f"{side}LEG_LINK5").translation for side in "RL"])
