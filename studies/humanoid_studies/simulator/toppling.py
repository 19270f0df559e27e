# SPDX-License-Identifier: Apache-2.0
"""Experiment E16: HRP-2 topples onto a table and knocks an object over; a block slides (specification 000 §27, N13)."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model.description import Box
from humanoid_sim.module import Module
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.leaning import ARMS_OVER_THE_TABLE, LOADED, JointGoal, lean
from humanoid_studies.simulator.made_scene import GRAVITY, made_body, made_scene

FRICTION, SPEED = 0.4, 1.0
"""Of the block that slides, and its speed at the start [m/s]."""
SLIDE = SPEED**2 / (2.0 * FRICTION * GRAVITY)
"""N13: how far it gets, 0.127551 m."""
GOALS = (
    *ARMS_OVER_THE_TABLE,
    JointGoal(3.2, {"*LEG_JOINT4": -0.62, "LARM_JOINT0": -1.8, "RARM_JOINT0": -1.1}),
)
"""The whole body leans forward about the ankles until it topples."""


def run(duration: float = 6.0, *, progress: bool = False) -> ExperimentResult:
    """Topple, then let a block slide.

    Args:
        duration: of the toppling [s].
        progress: shows a bar.
    """
    simulation = Simulation("topple")
    course = ObjectCourse()
    simulation.add_module(course)
    robot = simulation.robots["hrp2"].robot
    toes = float(robot.contacts["right_sole"].vertices_link[:, 0].max())
    seen = lean(simulation, GOALS, duration, instants=(1.2, 2.8, 3.1, duration), progress=progress)
    outside = seen.first(seen.centre_of_mass > toes)
    legs = seen.first(seen.legs_load > LOADED)
    feet = seen.first((seen.feet_load == 0.0) & (seen.time > outside))
    touched = seen.first(course.touched)
    moved = np.linalg.norm(course.position - course.position[0], axis=1)
    still = float(np.abs(course.position[-1] - course.position[-200]).max())
    deep = 1e3 * float(seen.penetration.max())
    distance = slide()
    rows = (
        Row("block of 1 m/s at friction 0.4 slides", "0.127551", distance, "m", abs(distance / SLIDE - 1.0) < 0.01),
        Row("centre of mass leaves the soles", "first", outside, "s", outside < legs),
        Row("legs hit the table", "then", legs, "s", legs > outside),
        Row("feet leave the platform", "yes", feet, "s", feet > outside),
        Row("the robot touches the object", "yes", touched, "s", touched > outside),
        Row("object moved by", "slides", 1e3 * float(moved[-1]), "mm", bool(moved[-1] > 0.01)),
        Row("object at the end, in 0.2 s", "at rest", 1e3 * still, "mm", still < 1e-3),
        Row("largest penetration", "", deep, "mm", deep < 1.0),
    )
    panels = (
        *seen.views,
        Panel(
            "time [s]",
            "way [mm]",
            (curve(seen.time, 1e3 * moved, "object"), curve(seen.time, 1e3 * seen.slip, "feet, forward")),
            "object and feet",
        ),
        Panel(
            "time [s]",
            "normal force [N]",
            (
                curve(seen.time, np.minimum(seen.feet_load, 1000.0), "feet on the platform"),
                curve(seen.time, np.minimum(seen.legs_load, 1000.0), "legs on the table"),
                curve(seen.time, np.minimum(seen.hand_load, 1000.0), "hand on the table"),
            ),
            "forces, cut at 1000 N",
        ),
    )
    return ExperimentResult("E16", "Toppling onto a table with an object", rows, panels)


def slide(dt: float = 1e-3) -> float:
    """Return how far a block slides on level ground [m]."""
    size = np.array([0.2, 0.2, 0.05])
    at = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * size[2]]))
    block = made_body("block", [(Box(size), pin.SE3.Identity())], 1.0, at, (SPEED, 0.0, 0.0, 0.0, 0.0, 0.0))
    simulation = Simulation(made_scene("slide", [block], friction=FRICTION), dt)
    simulation.run(0.5)
    return float(simulation.bodies["block"].placement_world_body.translation[0])


class ObjectCourse(Module):
    """Records where the object is, and whether the robot touches it.

    Attributes:
        name: ``"object_course"``.
    """

    name = "object_course"

    def __init__(self) -> None:
        """Start with nothing."""
        self._rows: list[tuple[np.ndarray, bool]] = []

    def after_step(self, simulation: Simulation) -> None:
        """Record both."""
        contacts = simulation.contacts
        touched = any(
            "object" in pair and any(name.startswith("hrp2/") for name in pair) and force > 0.0
            for pair, force in zip(contacts.bodies, contacts.normal_force, strict=True)
        )
        self._rows.append((simulation.bodies["object"].placement_world_body.translation.copy(), touched))

    @property
    def position(self) -> np.ndarray:
        """Of the object in the world after each step [m], shape (n, 3)."""
        return np.array([position for position, _ in self._rows])

    @property
    def touched(self) -> np.ndarray:
        """Whether the robot touched it in each step, shape (n,)."""
        return np.array([touched for _, touched in self._rows])
