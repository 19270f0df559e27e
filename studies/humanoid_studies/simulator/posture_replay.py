# SPDX-License-Identifier: Apache-2.0
"""Experiment E21: motions along stances, every 5 ms, played in the simulator (specification 000 §23, §27; F156)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.contact import Contact, ContactKind, Stance, Surface
from humanoid_model.description import Box
from humanoid_model.errors import HumanoidError
from humanoid_model.robot import Robot, load_robot
from humanoid_model.scene import Scene
from humanoid_model.scene_file import load_scene
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.motion import MotionResult, PlannedPostures, generate_motion
from humanoid_planner.posture import NearReference, generate_posture
from humanoid_sim.monitoring.balance import BalanceMonitor, BalanceSeries
from humanoid_sim.playback import PlayedMotion, play_motion
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.made_scene import made_body
from humanoid_studies.simulator.scene_view import view

STRIDE, STEPS = 0.15, 4
"""Of the walk: how far a sole gets beyond the other [m]; the last one comes beside it."""
SLOPE = 0.15
"""Of the platform, rising forward [rad]."""
BEYOND = 0.40
"""Where both soles' middles are in the end [m]."""
WIDTH = 0.095
"""Of the soles' middles from the middle plane [m]."""
RESERVE = 0.015
"""Of the centre of mass within the contacts [m]."""


@dataclass(frozen=True, eq=False)
class Replay:
    """A motion and what came of it.

    Attributes:
        motion: planned.
        played: by the simulator.
        balance: its course.
        planned: (k, 3) centre of mass of the plan at the same times [m].
        views: before and after.
    """

    motion: MotionResult
    played: PlayedMotion
    balance: BalanceSeries
    planned: Array
    views: tuple[Panel, ...]

    @property
    def error(self) -> Array:
        """(k,) distance of the centre of mass from the plan [m]."""
        return np.asarray(np.linalg.norm(self.balance.centre_of_mass - self.planned, axis=1))


def run(*, progress: bool = False) -> ExperimentResult:
    """Walk four steps on the floor; step off an inclined platform beside a beam.

    Args:
        progress: unused; planning and playing take a minute each.
    """
    robot = load_robot("hrp2")
    cases = {"four steps": (load_scene("stand"), *four_steps()), "platform": (platform_scene(), *off_the_platform())}
    rows: list[Row] = []
    panels: list[Panel] = []
    thesis = {"four steps": "10.8", "platform": "6"}
    for name, (scene, start, moves) in cases.items():
        replay = plan_and_play(robot, scene, start, moves)
        error, played = replay.error, replay.played
        rms = 100.0 * float(np.sqrt(np.square(error).mean()))
        slip = 1e3 * max(played.slip.values())
        rows += [
            Row(f"{name}: duration", thesis[name], replay.motion.trajectory.duration, "s"),  # type: ignore[union-attr]
            Row(f"{name}: planning", "90" if name == "four steps" else "60", replay.motion.time, "s", None, True),
            Row(f"{name}: centre of mass from its plan, root mean square", "close; < 2", rms, "cm", rms < 2.0),
            Row(f"{name}: feet slip by", "", slip, "mm", slip < 5.0),
            Row(f"{name}: joints from the goal", "", float(np.degrees(played.goal_joint)), "°",
                played.fallen is None and played.goal_joint < 0.05),
            Row(f"{name}: most of an effort limit", "", float(played.efforts.max())),
        ]  # fmt: skip
        panels += [replace(seen, title=f"{name}, {seen.title}") for seen in replay.views]
        panels += _panels(name, replay)
    return ExperimentResult("E21", "Motions along stances, played every 5 ms", tuple(rows), tuple(panels))


def four_steps() -> tuple[dict[str, tuple[str, float, float]], list[tuple[str, str, float, float]]]:
    """Return where soles begin, by surface and x, y [m], and the moves to make, on the floor."""
    start = {"left_sole": ("floor", 0.03, WIDTH), "right_sole": ("floor", 0.03, -WIDTH)}
    moves = []
    for step in range(STEPS):
        sole, side = ("left_sole", WIDTH) if step % 2 == 0 else ("right_sole", -WIDTH)
        moves.append((sole, "floor", 0.03 + STRIDE * min(step + 1, STEPS - 1), side))
    return start, moves


def off_the_platform() -> tuple[dict[str, tuple[str, float, float]], list[tuple[str, str, float, float]]]:
    """Return the same for a left sole on the platform, which goes beyond it, and a right one that comes beside it."""
    start = {"left_sole": ("platform", 0.0, 0.0), "right_sole": ("floor", 0.03, -WIDTH)}
    return start, [("left_sole", "floor", BEYOND, WIDTH), ("right_sole", "floor", BEYOND, -WIDTH)]


def platform_scene() -> Scene:
    """Return a floor with an inclined platform below the left foot, and a beam beside it."""
    scene = load_scene("stand")
    size = np.array([0.26, 0.18, 0.04])
    at = pin.SE3(pin.rpy.rpyToMatrix(0.0, -SLOPE, 0.0), np.array([0.05, WIDTH, 0.05]))
    platform = made_body("platform", [(Box(size), pin.SE3.Identity())], 0.0, at)
    beam = made_body(
        "beam", [(Box(np.array([1.2, 0.06, 0.06])), pin.SE3.Identity())], 0.0,
        pin.SE3(np.eye(3), np.array([0.3, 0.55, 0.75])),
    )  # fmt: skip
    outline = 0.5 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * size[:2]
    top = Surface("platform", "platform", pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5 * size[2]])), outline)
    return replace(scene, bodies=(*scene.bodies, platform, beam), surfaces=(*scene.surfaces, top))


def plan_and_play(
    robot: Robot,
    scene: Scene,
    start: Mapping[str, tuple[str, float, float]],
    moves: Sequence[tuple[str, str, float, float]],
) -> Replay:
    """Find postures on stances, a motion through them, and play it.

    Args:
        robot: that walks.
        scene: around it.
        start: surface, x and y of each sole [m].
        moves: sole, surface, x and y of one step after the other [m].

    Raises:
        HumanoidError: there is no such motion.
    """
    plan = planned_postures(robot, scene, start, moves)
    motion = generate_motion(robot, scene, plan)
    if motion.trajectory is None or not motion.success:
        raise HumanoidError(motion.explanation)
    simulation = Simulation(scene)
    simulation.robots["hrp2"].set_state(motion.trajectory.q[0])
    before = view(simulation, "before")
    monitor = BalanceMonitor("hrp2", 5)
    simulation.add_module(monitor)
    played = play_motion(simulation, "hrp2", motion.trajectory)
    series = monitor.series
    data, planned = robot.model.createData(), []
    for time in series.time:
        planned.append(pin.centerOfMass(robot.model, data, motion.trajectory.at(time).q).copy())
    return Replay(motion, played, series, np.array(planned), (before, view(simulation, "after")))


def planned_postures(
    robot: Robot,
    scene: Scene,
    start: Mapping[str, tuple[str, float, float]],
    moves: Sequence[tuple[str, str, float, float]],
) -> PlannedPostures:
    """Return a posture before and after each step, the weight on the other sole, and one on both at each end.

    Raises:
        HumanoidError: there is none.
    """
    surfaces = {surface.name: surface for surface in scene.surfaces}
    places = dict(start)

    def stance(free: str = "") -> Stance:
        return Stance(
            tuple(
                Contact(
                    robot.contacts[sole], surfaces[surface], x, y, 0.0,
                    ContactKind.RELEASED if sole == free else ContactKind.FIXED,
                )
                for sole, (surface, x, y) in places.items()
            )
        )  # fmt: skip

    stances = [stance()]
    for sole, surface, x, y in moves:
        stances.append(stance(sole))
        places[sole] = (surface, x, y)
        stances.append(stance(sole))
    stances.append(stance())
    kinematics, rest = RobotKinematics(robot), robot.postures["half_sitting"]
    q, postures = rest, []
    for index, wanted in enumerate(stances):
        found = generate_posture(
            robot, wanted, initial=q, scene=scene, criterion=NearReference(kinematics, rest), torque_limits=True,
            stability_margin=RESERVE,
        )  # fmt: skip
        if not found.success:
            raise HumanoidError(f"no posture for stance {index}: {found.explanation}")
        q = found.q
        postures.append(q)
    return PlannedPostures(stances, postures)


def _panels(name: str, replay: Replay) -> list[Panel]:
    balance, planned = replay.balance, replay.planned
    return [
        Panel(
            "x [m]",
            "y [m]",
            (
                curve(balance.centre_of_mass[:, 0], balance.centre_of_mass[:, 1], "centre of mass"),
                curve(planned[:, 0], planned[:, 1], "planned", "dashed"),
                curve(balance.zero_moment_point[:, 0], balance.zero_moment_point[:, 1], "zero-moment point"),
            ),
            f"{name}, from above",
            equal=True,
        ),
        Panel("time [s]", "mm", (curve(balance.time, 1e3 * replay.error),), "centre of mass from its plan"),
    ]
