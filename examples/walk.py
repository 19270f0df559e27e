# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks six steps without a stabiliser, and is pushed from the side if wished.

Run with ``python -m humanoid_sim run examples/walk.py --progress --csv out/ --plot out/walk.png --set push=60``; soft
soles: ``--scene walk_soles``.
"""

from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_sim import Simulation
from humanoid_sim.actuation import TrajectoryPlayer
from humanoid_sim.scenario import Scenario


class Walk(Scenario):
    """What ``--set`` may change stands here, with its default."""

    scene = "walk"
    duration = 10.0
    steps = 6
    length = 0.225  # m, from one footprint to the next
    push = 0.0  # N, to the left, on the chest, for 0.1 s in the fourth step

    def init(self, simulation: Simulation) -> None:
        """Make the pattern and give it to the servos."""
        robot = simulation.robots["hrp2"].robot
        plan = plan_footsteps(robot, "half_sitting", steps=self.steps, length=self.length)
        self.pattern = generate_walk(robot, plan, "half_sitting")
        simulation.add_module(TrajectoryPlayer("hrp2", self.pattern.trajectory))

    def loop(self, simulation: Simulation) -> None:
        """Push once."""
        if self.push and simulation.step_count == round(5.5 / simulation.dt):
            simulation.apply_wrench("hrp2/CHEST_LINK1", [0.0, self.push, 0.0], duration=0.1)

    def end(self, simulation: Simulation) -> None:
        """Tell where it went."""
        x, y, z = simulation.robots["hrp2"].placement("WAIST").translation
        print(f"walked {x:.3f} m, {y:+.3f} m aside; {'stands' if z > 0.5 else 'has fallen'}")
