# SPDX-License-Identifier: Apache-2.0
"""A proof that there is no posture: two places that are farther apart than the robot can stretch."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from humanoid_model.tree.joint_kind import PRISMATIC
from humanoid_planner.kinematics.robot_variables import RobotVariables
from humanoid_planner.posture.problem.placed_contact import PlacedContact
from humanoid_planner.posture.tasks.geometric_rows import COM_DISTANCE, DISTANCE, POINT
from humanoid_planner.posture.tasks.geometric_task import GeometricTask
from humanoid_planner.posture.tasks.task import Task

#: What places are allowed to be too far apart by, for rounding and the solvers' tolerances [m].
_TOLERANCE = 1e-4
#: Stands for the centre of mass where a body's number does for the body.
_CENTRE = -1
#: What was found of pairs of points: the same few contact locations and tasks are asked for again and again.
_LONGEST: WeakKeyDictionary[RobotVariables, dict[tuple[int, bytes, int, bytes], float]] = WeakKeyDictionary()


@dataclass(frozen=True)
class _Anchor:
    """A point of a body, or the centre of mass, that has to be at a place in the world, or within a distance of it."""

    name: str
    body: int
    point: NDArray[np.float64]
    place: NDArray[np.float64]
    slack: float


def out_of_reach(variables: RobotVariables, contacts: Iterable[PlacedContact], tasks: Iterable[Task]) -> str:
    """Why no posture holds two of the contacts and point tasks at a time; empty where their distances don't say so.

    Along the chain of joints between two points the offsets add up to the longest distance that any joint angles give.
    This is a bound, which limits of joints can make much shorter: what is within it needn't be reachable.

    Args:
        variables: of the robot.
        contacts: to hold.
        tasks: to fulfil; those that hold a point or the centre of mass at a place count.
    """
    anchors = [
        _Anchor(
            placed.label,
            placed.body,
            placed.placement_body_patch.translation,
            placed.placement_ground_contact.translation,
            0.0,
        )
        for placed in contacts
        if placed.fixed_in_world
    ]
    anchors += [anchor for task in tasks if isinstance(task, GeometricTask) for anchor in _held_points(task)]
    if variables.base is None:
        anchors.append(_Anchor("the robot's base", 0, np.zeros(3), np.zeros(3), 0.0))
    for one, other in itertools.combinations(anchors, 2):
        apart = float(np.linalg.norm(one.place - other.place)) - one.slack - other.slack
        known = _LONGEST.setdefault(variables, {})
        pair = one.body, one.point.tobytes(), other.body, other.point.tobytes()
        if pair not in known:
            known[pair] = _longest(variables, one, other)
        most = known[pair]
        if apart > most + _TOLERANCE:
            return (
                f"{one.name} and {other.name} are {apart:.2f} m apart, and the robot reaches {most:.2f} m between them"
            )
    return ""


def _held_points(task: GeometricTask) -> list[_Anchor]:
    """Return points that a task holds at places in the world, or near to them."""
    anchors, held = [], [row for row in task.rows if row.b == 0]
    for row in held:
        if row.kind == DISTANCE and math.isfinite(row.upper):
            anchors.append(_Anchor(task.name, row.a, row.P, row.Q, row.upper))
        elif row.kind == COM_DISTANCE and math.isfinite(row.upper):
            anchors.append(_Anchor(task.name, _CENTRE, np.zeros(3), row.Q, row.upper))
    exact = [row for row in held if row.kind == POINT and row.lower == row.upper == 0.0]
    for rows in zip(exact, exact[1:], exact[2:], strict=False):
        first = rows[0]
        same = all(row.a == first.a and row.P is first.P and row.Q is first.Q for row in rows)
        if same and abs(np.linalg.det([row.w for row in rows])) > 0.5:
            anchors.append(_Anchor(task.name, first.a, first.P, first.Q, 0.0))
    return anchors


def _longest(variables: RobotVariables, one: _Anchor, other: _Anchor) -> float:
    """Return the bound of the distance of two points of the robot [m]; the centre of mass is a mean of points."""
    if _CENTRE in (one.body, other.body):
        point = other if one.body == _CENTRE else one
        if point.body == _CENTRE:
            return 0.0
        joints = variables.tree.joints
        bounds = [
            joint["mass"] * _longest(variables, point, _Anchor("", body, joint["lever"], point.place, 0.0))
            for body, joint in enumerate(joints)
            if joint["mass"] > 0.0
        ]
        return float(sum(bounds)) / variables.total_mass
    chains = [_chain(variables, anchor.body) for anchor in (one, other)]
    common = 0
    while common < min(map(len, chains)) and chains[0][common] == chains[1][common]:
        common += 1
    total, ends = 0.0, []
    for anchor, chain in zip((one, other), chains, strict=True):
        # From the point towards the body that both chains have in common; the last offset is fixed in that body.
        end = anchor.point
        for body in reversed(chain[common:]):
            total += float(np.linalg.norm(end)) + _travel(variables, body)
            end = variables.tree.joints["translation"][body]
        ends.append(end)
    return total + float(np.linalg.norm(ends[0] - ends[1]))


def _chain(variables: RobotVariables, body: int) -> list[int]:
    """Bodies from the root to one; none for the world."""
    return [k + 1 for k in variables.tree.chain(body)]


def _travel(variables: RobotVariables, body: int) -> float:
    """Return how far a body's joint moves it at most [m]; inf for those of a floating base."""
    joint = variables.tree.joints[body]
    if joint["kind"] != PRISMATIC:
        return 0.0
    column = joint["idx_q"]
    ends = joint["factor"] * np.array([variables.lower[column], variables.upper[column]]) + joint["offset"]
    return float(np.abs(ends).max())
