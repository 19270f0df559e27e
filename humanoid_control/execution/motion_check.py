# SPDX-License-Identifier: Apache-2.0
"""Checks of a motion before a robot is asked for it; each fault names the field, the value and the bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.robot import Robot
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory

_SHARES = np.array([0.0, 0.25, 0.5, 0.75])
"""Of a segment, at which its polynomial is looked at."""
_ROUNDING = 1e-6
_SMALL_FORCE = 1e-3
"""Force beyond a friction cone that counts as rounding [N]."""


@dataclass(frozen=True)
class MotionBounds:
    """What a motion may ask for.

    Attributes:
        start: joint error at the start [rad or m].
        velocity: share of the robot's velocity limits.
        effort: share of the robot's effort limits, for feed-forward efforts.
        acceleration: by joint [rad/s² or m/s²]; joints that aren't named have no bound.
        slip: how far the corners of a contact that is held may move [m].
    """

    start: float = 0.05
    velocity: float = 1.0
    effort: float = 1.0
    acceleration: Mapping[str, float] = field(default_factory=dict)
    slip: float = 0.005


def joint_faults(path: JointTrajectory, robot: Robot, bounds: MotionBounds, speed: float = 1.0) -> list[InputError]:
    """Return what a path breaks of the joints' limits: of each joint and quantity the worst place.

    Polynomials are looked at between points, too.

    Args:
        path: the joints' path.
        robot: whose joints they are.
        bounds: shares of its limits, and accelerations.
        speed: along the path, as a share of the trajectory's own.

    Raises:
        InputError: a joint that the robot hasn't, or of several degrees of freedom.
    """
    known = [name for name in robot.joint_names if robot.model.joints[robot.parts.joint_ids[name]].nv == 1]
    for name in path.joint_names:
        if name not in known:
            raise InputError(f"'{name}' is no joint", element="joint_names", remedy=f"Joints are {', '.join(known)}")
    q = [robot.index_q(name) for name in path.joint_names]
    v = [robot.index_v(name) for name in path.joint_names]
    limits, own = robot.limits, path.times
    times = np.unique(np.append((own[:-1, None] + np.diff(own)[:, None] * _SHARES).ravel(), own[-1]))
    samples = [path.at(float(time)) for time in times]
    positions, velocities, accelerations = (np.array([sample[order] for sample in samples]) for order in range(3))
    highest = np.array([bounds.acceleration.get(name, math.inf) for name in path.joint_names])
    tables = [
        ("positions", positions, limits.lower[q], limits.upper[q], times),
        ("velocities", velocities * speed, *_both(limits.velocity[v] * bounds.velocity), times),
        ("accelerations", accelerations * speed**2, *_both(highest), times),
    ]
    if path.efforts is not None:
        tables.append(("effort", path.efforts, *_both(limits.effort[v] * bounds.effort), own))
    return [fault for table in tables for fault in _outside(path.joint_names, own, *table)]


def start_faults(path: JointTrajectory, measured: Mapping[str, float], bounds: MotionBounds) -> list[InputError]:
    """Return the joints that are too far from where a path begins.

    Args:
        path: the joints' path.
        measured: positions of joints by name [rad or m]; one that is missing is a fault.
        bounds: the error that is allowed.
    """
    faults = []
    for name, planned in zip(path.joint_names, path.at(0.0).positions, strict=True):
        if name not in measured:
            faults.append(InputError(f"joint '{name}' isn't measured", element="joint_states"))
        elif not abs(planned - measured[name]) <= bounds.start:
            faults.append(
                InputError(
                    f"joint '{name}' begins at {planned:.4g}, it is at {measured[name]:.4g}",
                    element="points[0].positions",
                    remedy=f"Begin within {bounds.start:g} of it",
                )
            )
    return faults


def sole_faults(trajectory: WholeBodyTrajectory, bounds: MotionBounds) -> list[InputError]:
    """Return contacts that slip: planned forces outside their friction cones, and held corners that move.

    Of each location the worst is told.

    Args:
        trajectory: the motion.
        bounds: how far corners may move.
    """
    return [*_forces_outside(trajectory), *_corners_that_move(trajectory, bounds.slip)]


def _both(limit: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return -limit, limit


def _outside(
    names: tuple[str, ...],
    own: NDArray[np.float64],
    field_name: str,
    values: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    times: NDArray[np.float64],
) -> Iterator[InputError]:
    beyond = np.maximum(lower - values, values - upper)
    for column in np.flatnonzero(beyond.max(axis=0) > _ROUNDING):
        row = int(np.argmax(beyond[:, column]))
        value, time = values[row, column], times[row]
        bound = upper[column] if value > upper[column] else lower[column]
        point = int(np.searchsorted(own, time + _ROUNDING)) - 1
        yield InputError(
            f"joint '{names[column]}' has {value:.4g} at {time:.4g} s",
            element=f"points[{point}].{field_name}",
            remedy=f"Its limit is {bound:.4g}",
        )


def _forces_outside(trajectory: WholeBodyTrajectory) -> Iterator[InputError]:
    worst: dict[str, tuple[float, InputError]] = {}
    for k, forces in enumerate(trajectory.forces):
        for i, planned in enumerate(forces):
            normal = float(planned.force @ planned.normal)
            along = float(np.linalg.norm(planned.force - normal * planned.normal))
            beyond = along - planned.friction * normal
            if beyond <= _SMALL_FORCE + _ROUNDING * abs(normal) and not planned.slips:
                continue
            if beyond > worst.get(planned.location, (-math.inf, None))[0]:
                worst[planned.location] = beyond, InputError(
                    f"on '{planned.location}' {along:.4g} N act along the surface at {trajectory.times[k]:.4g} s, "
                    f"{normal:.4g} N press",
                    element=f"forces[{k}].contacts[{i}].force",
                    remedy=f"Friction {planned.friction:g} holds up to {max(planned.friction * normal, 0.0):.4g} N",
                )
    for _, fault in worst.values():
        yield fault


def _corners_that_move(trajectory: WholeBodyTrajectory, slip: float) -> Iterator[InputError]:
    robot, first = trajectory.robot, float(trajectory.times[0])
    worst: dict[str, tuple[float, InputError]] = {}
    data = robot.model.createData()
    begun: dict[int, NDArray[np.float64]] = {}
    spans = [
        (i, span)
        for i, span in enumerate(trajectory.contacts)
        if span.contact.kind in (ContactKind.FIXED, ContactKind.RELAXED)
    ]
    for time, q in zip(trajectory.times, trajectory.q, strict=True):
        pin.forwardKinematics(robot.model, data, q)
        for i, span in spans:
            if not span.start <= time <= span.end:
                continue
            link = robot.parts.links[span.contact.location.link]
            placement = data.oMi[link.joint_id] * link.placement_joint_link
            corners = span.corners_link @ placement.rotation.T + placement.translation
            moved = float(np.linalg.norm(corners - begun.setdefault(i, corners), axis=1).max())
            most = worst[span.location][0] if span.location in worst else slip
            if moved > most:
                begin = max(span.start, first)
                worst[span.location] = moved, InputError(
                    f"'{span.location}' moves {moved:.4g} m from {begin:.4g} to {time:.4g} s, while it is held",
                    element=f"contacts[{i}]",
                    remedy=f"The bound is {slip:g} m",
                )
    for _, fault in worst.values():
        yield fault
