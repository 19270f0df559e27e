# SPDX-License-Identifier: Apache-2.0
"""HRP-2 walks while its torso is watched: what the walking experiments of specification 000 §27 share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_control.walking import WalkingPattern, generate_walk, plan_footsteps
from humanoid_model import Robot, Scene, load_robot, load_scene
from humanoid_model.scene import place_robot
from humanoid_model.sole import Material, SoleShape
from humanoid_sim.actuation import FeedForward, TrajectoryPlayer
from humanoid_sim.simulation import Simulation

POSTURE = "half_sitting"
"""That the walks begin in."""
AFTER = 0.5
"""How long the robot is watched standing after the walk [s]."""
_FALLEN = 0.75
"""A torso below this part of its height at the start has fallen."""
_KNEES = ("RLEG_JOINT3", "LLEG_JOINT3")


@cache
def thesis_walk(swing_height: float = 0.05) -> WalkingPattern:
    """Six steps in 6 s of 0.45 m at most (specification 000 §26.3), on a flat floor."""
    robot = load_robot("hrp2", geometry=False)
    return generate_walk(robot, plan_footsteps(robot, POSTURE), POSTURE, swing_height=swing_height)


@dataclass(frozen=True, eq=False)
class WalkRun:
    """What was seen of HRP-2, k steps of time; torso is CHEST_LINK1.

    Attributes:
        time: s, shape (k,).
        torso_height: m, shape (k,).
        torso_tilt: of the torso from the vertical [rad], shape (k,).
        acceleration: vertical one of the torso [m/s^2], mean over each step, shape (k,); 0 in the first one.
        centre_of_mass: m, shape (k, 3).
        knee_torque: of the right and the left knee [N m], shape (k, 2).
        contacts: number of contact points, shape (k,).
        fell_at: when the torso was below three quarters of its height; None if it never was [s].
    """

    time: NDArray[np.float64]
    torso_height: NDArray[np.float64]
    torso_tilt: NDArray[np.float64]
    acceleration: NDArray[np.float64]
    centre_of_mass: NDArray[np.float64]
    knee_torque: NDArray[np.float64]
    contacts: NDArray[np.int64]
    fell_at: float | None

    def landing_peaks(self, pattern: WalkingPattern) -> NDArray[np.float64]:
        """Largest vertical acceleration of the torso around each landing until the robot falls [m/s^2], shape (steps,).

        Around means from half a swing before to half a swing after; not a number for landings that it doesn't live to
        see.
        """
        single = pattern.support.sum(axis=1) == 1
        lifts = pattern.times[np.flatnonzero(np.diff(single.astype(int)) == 1)]
        lands = pattern.times[np.flatnonzero(np.diff(single.astype(int)) == -1) + 1]
        half = 0.5 * float((lands - lifts).mean())
        peaks = np.full(len(lands), np.nan)
        for step, land in enumerate(lands):
            window = (self.time > land - half) & (self.time <= land + half)
            if window.any() and (self.fell_at is None or self.fell_at > land + half):
                peaks[step] = np.abs(self.acceleration[window]).max()
        return peaks


def walking_scene(robot: Robot | None = None, scene: str | Scene = "walk") -> Scene:
    """Return a scene with another robot in the place of its HRP-2."""
    loaded = load_scene(scene) if isinstance(scene, str) else scene
    if robot is None:
        return loaded
    placed = loaded.robots[0]
    q = place_robot(robot, POSTURE, placed.placement)
    return replace(loaded, robots=(replace(placed, robot=robot, q=q),))


def soled(shape: SoleShape, materials: dict[str, Material]) -> Robot:
    """HRP-2 on soles of a shape and its parts' materials; it stands with their undeformed lower faces on z = 0."""
    robot = load_robot("hrp2_soles")
    before = next(iter(robot.soles.values())).height
    soles = {name: replace(sole, shape=shape, materials=materials) for name, sole in robot.soles.items()}
    raised = next(iter(soles.values())).height - before
    lift = pin.SE3(np.eye(3), np.array([0.0, 0.0, raised]))
    postures = {name: robot.place_base(q, lift * robot.placement_base(q)) for name, q in robot.postures.items()}
    return replace(robot, soles=soles, postures=postures)


def run_walk(
    simulation: Simulation,
    pattern: WalkingPattern,
    *,
    feedforward: bool = False,
    stop_fallen: bool = True,
    duration: float | None = None,
    after_step: Callable[[Simulation], None] | None = None,
    progress: str = "",
) -> WalkRun:
    """Play a pattern on the servos of ``hrp2`` and watch it.

    Args:
        simulation: at its start.
        pattern: of the walk.
        feedforward: whether the efforts of inverse dynamics are added to the servos'.
        stop_fallen: whether the run ends 0.2 s after the torso fell.
        duration: of the run [s]; to 0.5 s after the end of the pattern if not given.
        after_step: called after each step.
        progress: text before a bar; no bar if empty.
    """
    simulation.add_module(TrajectoryPlayer("hrp2", pattern.trajectory))
    if feedforward:
        simulation.add_module(FeedForward("hrp2", "inverse_dynamics"))
    robot = simulation.robots["hrp2"]
    knees = [robot.joint_names.index(name) for name in _KNEES]
    steps = round((pattern.duration + AFTER if duration is None else duration) / simulation.dt)
    start = float(robot.placement("CHEST_LINK1").translation[2])
    heights, rows, fell_at = [start], [], None
    for _ in tqdm(range(steps), desc=progress, unit="step", disable=not progress):
        simulation.step()
        torso = robot.placement("CHEST_LINK1")
        heights.append(float(torso.translation[2]))
        tilt = float(np.arccos(np.clip(torso.rotation[2, 2], -1.0, 1.0)))
        rows.append(
            [simulation.time, tilt, len(simulation.contacts), *robot.centre_of_mass, *robot.joint_efforts[knees]]
        )
        if after_step is not None:
            after_step(simulation)
        if fell_at is None and heights[-1] < _FALLEN * start:
            fell_at = simulation.time
        if stop_fallen and fell_at is not None and simulation.time > fell_at + 0.2:
            break
    table = np.array(rows)
    speeds = np.diff(heights) / simulation.dt
    acceleration = np.concatenate([[0.0], np.diff(speeds) / simulation.dt])
    return WalkRun(
        table[:, 0], np.array(heights[1:]), table[:, 1], acceleration, table[:, 3:6], table[:, 6:8],
        table[:, 2].astype(np.int64), fell_at,
    )  # fmt: skip
