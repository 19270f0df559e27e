# SPDX-License-Identifier: Apache-2.0
"""Whole-body trajectories of clients, read from their messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import humanoid_stack.msg as messages
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model import Contact, Robot, Surface
from humanoid_model.contact import ContactKind
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory
from humanoid_ros.messages.conversions import array, check_finite, placement, seconds

MOVING = 0.01
"""Velocity at the start or the end of a trajectory that is none [rad/s or m/s]."""
ROUNDING = 1e-6
"""Times nearer than this are one [s]."""
FRAMES = ("world", "odom", "map")
"""Frames fixed to the world, in which a motion's base may be given."""
SHOWN = 5
"""Faults and numbers that a refusal lists at most."""


def read_motion(
    message: messages.WholeBodyTrajectory, robot: Robot, measured: Mapping[str, float]
) -> tuple[JointTrajectory, WholeBodyTrajectory | None]:
    """Read a trajectory.

    Args:
        message: what a client sent.
        robot: that is to move.
        measured: positions of joints by name [rad or m]; those that the trajectory leaves out keep them.

    Returns:
        The path of its joints; the motion of the whole robot, None where the message has joints alone.

    Raises:
        InputError: it is malformed, or of another robot; field, value and remedy are named.
    """
    for field, known in (("header", ()), ("joints.header", robot.parts.links)):
        frame = (message.joints if known else message).header.frame_id
        if frame and frame.rsplit("/", 1)[-1] not in (*FRAMES, *known):
            raise InputError(
                f"is '{frame}'",
                element=f"trajectory.{field}.frame_id",
                remedy=f"Leave it empty, or give {', '.join(FRAMES)}",
            )
    if message.robot not in ("", robot.name):
        raise InputError(f"is '{message.robot}'", element="trajectory.robot", remedy=f"This is for {robot.name}")
    path = _joint_trajectory(message.joints, measured)
    return path, _whole_body(message, path, robot, measured)


def _joint_trajectory(message: JointTrajectoryMessage, measured: Mapping[str, float]) -> JointTrajectory:
    """Return the path of a message's joints; from where they are, if its first point comes later."""
    names, points = list(message.joint_names), message.points
    if not points:
        raise InputError("is empty", element="trajectory.joints.points", remedy="Give at least two points")
    times = [seconds(point.time_from_start) for point in points]
    if times[0] < 0.0:
        raise InputError(
            f"is {times[0]:g} s", element="trajectory.joints.points[0].time_from_start", remedy="Give 0 or more"
        )
    positions, velocities, accelerations, efforts = (
        _rows(points, field) for field in ("positions", "velocities", "accelerations", "effort")
    )
    if positions is None:
        raise InputError("are missing", element="trajectory.joints.points[0].positions", remedy="Give positions")
    _check_sizes(efforts, len(names), "effort")
    if velocities is None:
        accelerations = None
    else:
        _check_sizes(velocities, len(names), "velocities")
        for index in (0, -1) if times[0] == 0.0 else (-1,):
            _check_rest(names, velocities[index], index % len(points))
    if times[0] > 0.0:
        times.insert(0, 0.0)
        positions.insert(0, np.array([measured.get(name, 0.0) for name in names]))
        for rows in (velocities, accelerations):
            if rows is not None:
                rows.insert(0, np.zeros(len(names)))
        if efforts is not None:
            efforts.insert(0, efforts[0])
    if 0.0 in (steps := np.diff(times).tolist()):  # which a trajectory with efforts may have
        index = steps.index(0.0) + 1
        raise InputError(
            f"time {times[index]:g} s is not later than the {times[index]:g} s before it",
            element=f"trajectory.joints.points[{index}]",
            remedy="Let times increase strictly",
        )
    try:
        return JointTrajectory(names, times, positions, velocities, accelerations, efforts=efforts)
    except InputError as error:
        raise InputError(error.problem, element=f"trajectory.joints.{error.element}", remedy=error.remedy) from error


def _rows(points: Iterable[object], field: str) -> list[NDArray[np.float64]] | None:
    """Return the values of all points, None where none gives any."""
    rows = [np.array(getattr(point, field)) for point in points]
    given = [bool(len(row)) for row in rows]
    if not any(given):
        return None
    if not all(given):
        raise InputError(
            f"has no {field}, other points have",
            element=f"trajectory.joints.points[{given.index(False)}]",
            remedy="Give them for all points or for none",
        )
    return rows


def _check_sizes(rows: list[NDArray[np.float64]] | None, count: int, field: str) -> None:
    for index, row in enumerate(rows or ()):
        if len(row) != count or not np.isfinite(row).all():
            raise InputError(
                f"is {row.tolist()[:SHOWN]}{' ...' if len(row) > SHOWN else ''}, {len(row)} values for {count} joints",
                element=f"trajectory.joints.points[{index}].{field}",
                remedy="Give each joint one finite number",
            )


def _check_rest(names: list[str], velocities: NDArray[np.float64], index: int) -> None:
    for name, velocity in zip(names, velocities, strict=True):
        if not abs(velocity) <= MOVING:
            raise InputError(
                f"joint '{name}' has {velocity:.4g}",
                element=f"trajectory.joints.points[{index}].velocities",
                remedy=f"Let a trajectory begin and end at rest: at most {MOVING:g}",
            )


def _whole_body(
    message: messages.WholeBodyTrajectory, path: JointTrajectory, robot: Robot, measured: Mapping[str, float]
) -> WholeBodyTrajectory | None:
    """Return the motion of the whole robot, None where the message has joints alone."""
    points = message.joints.points
    count = len(points)
    for field in ("base", "base_twist", "forces", "zero_moment_point"):
        given = len(getattr(message, field))
        if given not in (0, count):
            raise InputError(
                f"has {given} items for {count} points", element=f"trajectory.{field}", remedy="Give one per point"
            )
    if not message.contacts and not message.forces:
        return None
    if robot.base_joint is not None and not message.base:
        raise InputError(
            "is empty, contacts or forces are given",
            element="trajectory.base",
            remedy="Give the base link's pose at every point",
        )
    times = np.array([seconds(point.time_from_start) for point in points])
    samples = [path.at(float(time)) for time in times]
    q = np.tile(pin.neutral(robot.model), (count, 1))
    v, a = np.zeros((count, robot.model.nv)), np.zeros((count, robot.model.nv))
    for name, position in measured.items():
        if name in robot.joint_names and robot.model.joints[robot.parts.joint_ids[name]].nv == 1:
            q[:, robot.index_q(name)] = position
    for column, name in enumerate(path.joint_names):
        q[:, robot.index_q(name)] = [sample.positions[column] for sample in samples]
        v[:, robot.index_v(name)] = [sample.velocities[column] for sample in samples]
        a[:, robot.index_v(name)] = [sample.accelerations[column] for sample in samples]
    if robot.base_joint is not None:
        for k, pose in enumerate(message.base):
            q[k] = robot.place_base(q[k], placement(pose, f"trajectory.base[{k}]"))
        _move_base(message, robot, times, q, v, a)
    spans = _spans(message.contacts, robot, times)
    forces = [_forces(item, k, robot, spans) for k, item in enumerate(message.forces)]
    if count < 2:
        return None
    return WholeBodyTrajectory(robot, times, q, v, a, spans, forces=forces)


def _move_base(
    message: messages.WholeBodyTrajectory,
    robot: Robot,
    times: NDArray[np.float64],
    q: NDArray[np.float64],
    v: NDArray[np.float64],
    a: NDArray[np.float64],
) -> None:
    """Fill the base's velocity, given or by differences, and its acceleration by differences within each phase.

    Accelerations jump where contacts change.
    """
    start = robot.model.joints[robot.base_joint].idx_v
    base = slice(start, start + 6)
    if message.base_twist:
        for k, twist in enumerate(message.base_twist):
            v[k, base] = np.concatenate([array(twist.linear), array(twist.angular)])
            check_finite(v[k, base], f"trajectory.base_twist[{k}]")
    else:
        for k in range(1, len(q) - 1):
            v[k, base] = pin.difference(robot.model, q[k - 1], q[k + 1])[base] / (times[k + 1] - times[k - 1])
    changes = np.searchsorted(times, [phase.start - ROUNDING for phase in message.contacts])
    for part in np.split(np.arange(len(q)), np.unique(changes[(changes > 0) & (changes < len(q))])):
        if len(part) > 1:
            a[part, base] = np.gradient(v[part, base], times[part], axis=0)


def _spans(phases: list[messages.ContactPhase], robot: Robot, times: NDArray[np.float64]) -> list[ContactSpan]:
    """Return contacts with the whole time that they are held, over phases that follow each other.

    Phases begin and end at the points' own times where these are within rounding.
    """
    spans: list[ContactSpan] = []
    for i, phase in enumerate(phases):
        check_finite(np.array([phase.start, phase.duration]), f"trajectory.contacts[{i}]")
        start, end = (_snapped(time, times) for time in (phase.start, phase.start + phase.duration))
        if not phase.duration > 0.0:
            raise InputError(
                f"is {phase.duration:g} s", element=f"trajectory.contacts[{i}].duration", remedy="Give more than 0 s"
            )
        for j, contact in enumerate(phase.stance.contacts):
            span = _span(contact, f"trajectory.contacts[{i}].stance.contacts[{j}]", robot, start, end)
            before = next((old for old in spans if _goes_on(old, span)), None)
            if before is not None:
                spans.remove(before)
                span = ContactSpan(before.contact, before.start, span.end, span.part)
            spans.append(span)
    return spans


def _snapped(time: float, times: NDArray[np.float64]) -> float:
    nearest = float(times[np.argmin(np.abs(times - time))])
    return nearest if abs(nearest - time) < ROUNDING else time


def _span(message: messages.Contact, field: str, robot: Robot, start: float, end: float) -> ContactSpan:
    name, _, part = message.location.partition("/")
    if name not in robot.contacts:
        raise InputError(
            f"'{name}' is none of {robot.name}'s",
            element=f"{field}.location",
            remedy=f"Use {', '.join(robot.contacts)}",
        )
    if part not in ("", "toe", "heel"):
        raise InputError(f"'/{part}' is no part", element=f"{field}.location", remedy="Use /toe, /heel or none")
    check_finite(np.array([message.x, message.y, message.theta]), field)
    contact = Contact(
        robot.contacts[name],
        Surface(message.surface, "", pin.SE3.Identity()),
        message.x,
        message.y,
        message.theta,
        ContactKind(message.kind) if message.kind in list(ContactKind) else ContactKind.FIXED,
        message.bilateral,
    )
    return ContactSpan(contact, start, end, part or "sole")


def _goes_on(old: ContactSpan, new: ContactSpan) -> bool:
    """Return whether a contact is the same one, held on."""
    same = old.location == new.location and old.part == new.part and old.contact.kind == new.contact.kind
    return same and abs(old.end - new.start) < ROUNDING


def _forces(message: messages.ContactForces, k: int, robot: Robot, spans: list[ContactSpan]) -> list[PlannedForce]:
    forces = []
    for i, item in enumerate(message.contacts):
        field = f"trajectory.forces[{k}].contacts[{i}]"
        force, normal = array(item.force), array(item.normal)
        check_finite(np.concatenate([force, normal, array(item.position), [item.friction]]), field)
        if abs(float(np.linalg.norm(normal)) - 1.0) > 1e-3:
            raise InputError(f"is {normal.tolist()}", element=f"{field}.normal", remedy="Give a unit vector")
        link = item.body_a.rsplit("/", 1)[-1]
        location = next((span.location for span in spans if span.contact.location.link == link), link)
        slips = item.state == messages.ContactForce.SLIP
        forces.append(PlannedForce(location, item.body_b, array(item.position), normal, force, item.friction, slips))
    return forces
