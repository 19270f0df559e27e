# SPDX-License-Identifier: Apache-2.0
"""HRP-2 leans over a table until it falls onto a hand and its legs (specification 000 §27, E2 and E16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_sim.simulation import Simulation
from humanoid_studies.simulator.experiment_result import Panel
from humanoid_studies.simulator.scene_view import view

LOADED = 5.0
"""A contact with more force than this counts as one [N]."""
BACKWARDS = 0.02
"""Feet that move back faster than this slip [m/s]."""


@dataclass(frozen=True)
class JointGoal:
    """Where some joints shall be at some time; the others stay.

    Attributes:
        time: s.
        positions: by joint; a name that begins with ``*`` stands for the right and the left one [rad].
    """

    time: float
    positions: Mapping[str, float]


ARMS_OVER_THE_TABLE = (
    JointGoal(0.4, {"*ARM_JOINT3": -2.2, "*ARM_JOINT0": 0.5}),
    JointGoal(0.8, {"*ARM_JOINT0": -0.9}),
    JointGoal(1.2, {"RARM_JOINT0": -0.9, "RARM_JOINT3": -0.2, "LARM_JOINT0": -2.0, "LARM_JOINT3": -0.3}),
)
"""Elbows bent, arms forward, the right hand above the table to lean on, the left one ahead to reach far."""


@dataclass(frozen=True, eq=False)
class Lean:
    """What one run saw, one entry per step.

    Attributes:
        time: s, shape (n,).
        feet_load: normal force between feet and platform [N], shape (n,).
        heel_height: of the higher heel above the platform [m], shape (n,).
        hand_load: of the right arm on the table [N], shape (n,).
        legs_load: of the legs on the table [N], shape (n,).
        slip: how far the feet are from where they stood, forward [m], shape (n,).
        yaw: of the waist [rad], shape (n,).
        penetration: largest overlap of two bodies [m], shape (n,).
        centre_of_mass: forward of the middle of the feet at the start [m], shape (n,).
        views: of the instants asked for.
    """

    time: NDArray[np.float64]
    feet_load: NDArray[np.float64]
    heel_height: NDArray[np.float64]
    hand_load: NDArray[np.float64]
    legs_load: NDArray[np.float64]
    slip: NDArray[np.float64]
    yaw: NDArray[np.float64]
    penetration: NDArray[np.float64]
    centre_of_mass: NDArray[np.float64]
    views: tuple[Panel, ...]

    def first(self, happens: NDArray[np.bool_], after: float = 0.0) -> float:
        """When something happens for the first time after an instant [s]; not a number if never."""
        at = np.flatnonzero(happens & (self.time >= after))
        return float(self.time[at[0]]) if at.size else float("nan")

    @property
    def slip_speed(self) -> NDArray[np.float64]:
        """Speed of the feet, forward [m/s], mean over 20 ms around each step, shape (n,)."""
        steps = round(0.02 / (self.time[1] - self.time[0]))
        moved = np.gradient(self.slip, self.time)
        return np.convolve(moved, np.full(steps, 1.0 / steps), mode="same")


def lean(
    simulation: Simulation,
    goals: Sequence[JointGoal],
    duration: float,
    *,
    instants: Sequence[float] = (),
    progress: bool = False,
) -> Lean:
    """Move the robot ``hrp2`` by goals for its joints, with minimum jerk between them.

    Args:
        simulation: of a scene with a robot ``hrp2``, a ``platform`` and a ``table``.
        goals: with increasing times.
        duration: s, not longer than the last goal's time is reached and held.
        instants: when to look from the side [s], increasing.
        progress: shows a bar.
    """
    robot = simulation.robots["hrp2"]
    trajectory = joint_trajectory(robot.joint_names, robot.joint_positions, goals)
    feet = [robot.placement(f"{side}LEG_LINK5") for side in "RL"]
    start = np.mean([foot.translation for foot in feet], axis=0)
    heel = robot.robot.contacts["right_sole"].vertices_link[:, 0].min()
    sole = robot.robot.contacts["right_sole"].vertices_link[:, 2].min()
    ground = float(feet[0].translation[2] + sole)
    rows, views, waiting = [], [], list(instants)
    for _ in tqdm(range(round(duration / simulation.dt)), unit="step", disable=not progress):
        point = trajectory.at(min(simulation.time, goals[-1].time))
        robot.set_position_target(np.array(point.positions), np.array(point.velocities))
        simulation.step()
        contacts = simulation.contacts
        load = {"feet": 0.0, "hand": 0.0, "legs": 0.0}
        for (a, b), force in zip(contacts.bodies, contacts.normal_force, strict=True):
            link, other = (a, b) if a.startswith("hrp2/") else (b, a)
            if other == "platform" and link.endswith("LEG_LINK5"):
                load["feet"] += force
            elif other == "table" and "RARM" in link:
                load["hand"] += force
            elif other == "table" and "LEG" in link:
                load["legs"] += force
        feet = [robot.placement(f"{side}LEG_LINK5") for side in "RL"]
        heels = [float(foot.act(np.array([heel, 0.0, sole]))[2]) - ground for foot in feet]
        R = robot.placement_world_base.rotation
        rows.append(
            (
                simulation.time, load["feet"], max(heels), load["hand"], load["legs"],
                float(np.mean([foot.translation[0] for foot in feet])) - start[0], float(np.arctan2(R[1, 0], R[0, 0])),
                max(0.0, -float(contacts.gap.min(initial=0.0))), float(robot.centre_of_mass[0] - start[0]),
            )
        )  # fmt: skip
        if waiting and simulation.time >= waiting[0] - 1e-9:
            views.append(view(simulation, f"after {waiting.pop(0):g} s"))
    time, feet_load, heel, hand_load, legs_load, slip, yaw, deep, com = np.array(rows).T
    return Lean(time, feet_load, heel, hand_load, legs_load, slip, yaw, deep, com, tuple(views))


def joint_trajectory(
    names: Sequence[str], positions: NDArray[np.float64], goals: Sequence[JointGoal]
) -> JointTrajectory:
    """Return the way of joints that rest at each goal.

    Args:
        names: of the joints.
        positions: of the joints at the start [rad], shape (n,).
        goals: with increasing times.
    """
    points = [np.array(positions)]
    for goal in goals:
        point = points[-1].copy()
        for joint, angle in goal.positions.items():
            for name in (f"R{joint[1:]}", f"L{joint[1:]}") if joint.startswith("*") else (joint,):
                point[list(names).index(name)] = angle
        points.append(point)
    still = np.zeros((len(points), len(positions)))
    times = np.array([0.0, *(goal.time for goal in goals)])
    return JointTrajectory(tuple(names), times, np.array(points), still, still)
