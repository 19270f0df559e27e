# SPDX-License-Identifier: Apache-2.0
"""Tasks on links, the centre of mass and joints: hands at places, gaze, goals (specification 001 sections 1.5, 6.5, 9).

Each function returns a :class:`GeometricTask` for one robot. A tolerance of zero is an equality.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_array, check_direction, check_known, check_number
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.geometric_rows import (
    AIM,
    ALIGN,
    ANGLE,
    COM,
    COM_DISTANCE,
    DISTANCE,
    DOT,
    JOINT,
    POINT,
    ROTATION,
    TURN,
)
from humanoid_planner.posture.tasks.task import GeometricTask, Row

_EYE = np.eye(3)


def point_at(
    kinematics: RobotKinematics, link: str, point: ArrayLike, target: ArrayLike, tolerance: float = 0.0, name: str = ""
) -> GeometricTask:
    """Return a link's point at a place in the world, or within a distance of it.

    Args:
        kinematics: of the robot.
        link: that carries the point.
        point: (3,) in the link frame [m].
        target: (3,) in the world [m].
        tolerance: largest distance [m].
        name: for messages.

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} at a point"
    return GeometricTask(name, _point_rows(kinematics, link, point, target, tolerance, name))


def frame_at(
    kinematics: RobotKinematics,
    link: str,
    placement_link_frame: pin.SE3,
    placement_world_target: pin.SE3,
    tolerance: float = 0.0,
    angle_tolerance: float = 0.0,
    name: str = "",
) -> GeometricTask:
    """Return a frame fixed to a link where a target frame is.

    Args:
        kinematics: of the robot.
        link: that carries the frame.
        placement_link_frame: the frame in the link.
        placement_world_target: where it should be.
        tolerance: largest distance of the origins [m].
        angle_tolerance: largest angle between the frames [rad].
        name: for messages.

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} at a frame"
    rows = _point_rows(
        kinematics, link, placement_link_frame.translation, placement_world_target.translation, tolerance, name
    )
    rows += _turn_rows(
        kinematics, link, placement_link_frame.rotation, 0, placement_world_target.rotation, angle_tolerance, name
    )
    return GeometricTask(name, rows)


def orientation(
    kinematics: RobotKinematics,
    link: str,
    rotation_world_target: NDArray[np.float64],
    angle_tolerance: float = 0.0,
    name: str = "",
) -> GeometricTask:
    """Return a link turned as a target, within an angle [rad].

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} orientation"
    return GeometricTask(name, _turn_rows(kinematics, link, _EYE, 0, rotation_world_target, angle_tolerance, name))


def relative_frame(
    kinematics: RobotKinematics,
    link: str,
    placement_link_frame: pin.SE3,
    other: str,
    placement_other_target: pin.SE3,
    tolerance: float = 0.0,
    angle_tolerance: float = 0.0,
    name: str = "",
) -> GeometricTask:
    """Return a frame fixed to a link held where a frame fixed to another link is (relative contact, section 4.6).

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} held on {other}"
    body, place = kinematics.body_of(other)
    target = place * placement_other_target
    rows = _point_rows(kinematics, link, placement_link_frame.translation, target.translation, tolerance, name, body)
    rows += _turn_rows(kinematics, link, placement_link_frame.rotation, body, target.rotation, angle_tolerance, name)
    return GeometricTask(name, rows)


def point_beyond(
    kinematics: RobotKinematics,
    link: str,
    point: ArrayLike,
    target: ArrayLike,
    direction: ArrayLike,
    name: str = "",
) -> GeometricTask:
    """Return a link's point beyond the plane through ``target`` with normal ``direction``, both in the world.

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} beyond a plane"
    row = _plane_row(kinematics, link, point, target, direction, name, 0.0, math.inf)
    return GeometricTask(name, [row])


def point_in_slab(
    kinematics: RobotKinematics,
    link: str,
    point: ArrayLike,
    target: ArrayLike,
    direction: ArrayLike,
    tolerance: float,
    name: str = "",
) -> GeometricTask:
    """Return a link's point within ``tolerance`` [m] of the plane through ``target`` with normal ``direction``.

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} in a slab"
    check_number(tolerance, f"tolerance of task '{name}'")
    row = _plane_row(kinematics, link, point, target, direction, name, -tolerance, tolerance)
    return GeometricTask(name, [row])


def axis_along(
    kinematics: RobotKinematics,
    link: str,
    axis: ArrayLike,
    direction: ArrayLike,
    angle_tolerance: float = 0.0,
    name: str = "",
) -> GeometricTask:
    """Return an axis of a link along a direction of the world, for example the glass that stays upright (6.24).

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} axis"
    body, place = kinematics.body_of(link)
    u = place.rotation @ check_direction(axis, f"axis of task '{name}'")
    w = check_direction(direction, f"direction of task '{name}'")
    check_number(angle_tolerance, f"angle_tolerance of task '{name}'", upper=math.pi)
    if angle_tolerance > 0:
        return GeometricTask(name, [Row(ANGLE, "angle", -math.inf, angle_tolerance, "rad", a=body, u=u, w=w)])
    i, j = _perpendiculars(w)
    return GeometricTask(
        name,
        [
            Row(ALIGN, "first", 0.0, 0.0, "rad", a=body, u=u, w=w, Q=i),
            Row(ALIGN, "second", 0.0, 0.0, "rad", a=body, u=u, w=w, Q=j),
            Row(DOT, "sense", 0.0, math.inf, "", a=body, u=u, w=w),
        ],
    )


def gaze(
    kinematics: RobotKinematics,
    link: str,
    point: ArrayLike,
    axis: ArrayLike,
    target: ArrayLike,
    angle_tolerance: float = 0.0,
    distance: float = 0.0,
    name: str = "",
) -> GeometricTask:
    """Return an axis of a link, starting at one of its points, looks at a place in the world (section 9.1).

    Args:
        kinematics: of the robot.
        link: that looks.
        point: (3,) where the axis starts, link frame [m].
        axis: (3,) along the gaze, link frame.
        target: (3,) what is looked at, world frame [m].
        angle_tolerance: largest angle between axis and line of sight [rad].
        distance: smallest distance from point to target [m].
        name: for messages.

    Raises:
        InputError: unknown link, or numbers that can't be used.
    """
    name = name or f"{link} gaze"
    body, place = kinematics.body_of(link)
    P = place.act(check_array(point, f"point of task '{name}'"))
    u = place.rotation @ check_direction(axis, f"axis of task '{name}'")
    Q = check_array(target, f"target of task '{name}'")
    check_number(angle_tolerance, f"angle_tolerance of task '{name}'", upper=math.pi)
    check_number(distance, f"distance of task '{name}'")
    if angle_tolerance > 0:
        rows = [Row(AIM, "angle", -math.inf, angle_tolerance, "rad", a=body, P=P, Q=Q, u=u)]
        if distance > 0:
            rows.append(Row(DISTANCE, "distance", distance, math.inf, a=body, P=P, Q=Q))
        return GeometricTask(name, rows)
    # The target seen from the link: body a is the world, b the link.
    i, j = _perpendiculars(u)
    return GeometricTask(
        name,
        [
            Row(POINT, "first", 0.0, 0.0, b=body, P=Q, Q=P, w=i),
            Row(POINT, "second", 0.0, 0.0, b=body, P=Q, Q=P, w=j),
            Row(POINT, "distance", distance, math.inf, b=body, P=Q, Q=P, w=u),
        ],
    )


def centre_of_mass_at(
    target: ArrayLike, tolerance: float = 0.0, name: str = "centre of mass", *, horizontal: bool = False
) -> GeometricTask:
    """Return the centre of mass at a place in the world, or in a sphere about it (section 5.4.2).

    Args:
        target: (3,) in the world [m].
        tolerance: radius of the sphere [m]; 0 is an equality.
        name: for messages.
        horizontal: only x and y count; needs a tolerance of 0.

    Raises:
        InputError: numbers that can't be used.
    """
    Q = check_array(target, f"target of task '{name}'")
    check_number(tolerance, f"tolerance of task '{name}'")
    if tolerance == 0:
        axes = range(2 if horizontal else 3)
        return GeometricTask(name, [Row(COM, "xyz"[i], 0.0, 0.0, Q=Q, w=_EYE[i]) for i in axes])
    if horizontal:
        raise InputError(
            f"has a tolerance of {tolerance} and is horizontal",
            element=f"task '{name}'",
            remedy="Give a tolerance of 0, or a sphere",
        )
    return GeometricTask(name, [Row(COM_DISTANCE, "distance", -math.inf, tolerance, Q=Q)])


def joint_at(
    kinematics: RobotKinematics, joint: str, value: float, tolerance: float = 0.0, name: str = ""
) -> GeometricTask:
    """Return a joint at a value [rad] or [m], within a tolerance.

    Raises:
        InputError: unknown joint, or numbers that can't be used.
    """
    name = name or f"joint {joint}"
    check_known(joint, kinematics.names, f"task '{name}'", "joint")
    check_number(value, f"value of task '{name}'", lower=-np.inf)
    check_number(tolerance, f"tolerance of task '{name}'")
    column = kinematics.names.index(joint)
    return GeometricTask(name, [Row(JOINT, "", value - tolerance, value + tolerance, "rad or m", a=column)])


def _point_rows(
    kinematics: RobotKinematics,
    link: str,
    point: ArrayLike,
    target: ArrayLike,
    tolerance: float,
    name: str,
    other: int = 0,
) -> list[Row]:
    body, place = kinematics.body_of(link)
    P = place.act(check_array(point, f"point of task '{name}'"))
    Q = check_array(target, f"target of task '{name}'")
    check_number(tolerance, f"tolerance of task '{name}'")
    if tolerance > 0:
        return [Row(DISTANCE, "distance", -math.inf, tolerance, a=body, b=other, P=P, Q=Q)]
    return [Row(POINT, "xyz"[i], 0.0, 0.0, a=body, b=other, P=P, Q=Q, w=_EYE[i]) for i in range(3)]


def _turn_rows(
    kinematics: RobotKinematics,
    link: str,
    rotation_link_frame: NDArray[np.float64],
    other: int,
    rotation_other_target: NDArray[np.float64],
    tolerance: float,
    name: str,
) -> list[Row]:
    body, place = kinematics.body_of(link)
    frame = place.rotation @ rotation_link_frame
    target = np.asarray(rotation_other_target, dtype=float)
    if target.shape != (3, 3) or not np.allclose(target @ target.T, _EYE, atol=1e-6):
        raise InputError(
            "the target's orientation is no rotation", element=f"task '{name}'", remedy="Give a rotation matrix"
        )
    check_number(tolerance, f"angle_tolerance of task '{name}'", upper=math.pi)
    if tolerance > 0:
        return [Row(TURN, "angle", -math.inf, tolerance, "rad", a=body, b=other, frame_a=frame, frame_b=target)]
    return [
        Row(ROTATION, label, 0.0, 0.0, "rad", a=body, b=other, w=axis, frame_a=frame, frame_b=target)
        for label, axis in zip(("roll", "pitch", "heading"), target.T, strict=True)
    ]


def _plane_row(
    kinematics: RobotKinematics,
    link: str,
    point: ArrayLike,
    target: ArrayLike,
    direction: ArrayLike,
    name: str,
    lower: float,
    upper: float,
) -> Row:
    body, place = kinematics.body_of(link)
    P = place.act(check_array(point, f"point of task '{name}'"))
    Q = check_array(target, f"target of task '{name}'")
    w = check_direction(direction, f"direction of task '{name}'")
    return Row(POINT, "", lower, upper, a=body, P=P, Q=Q, w=w)


def _perpendiculars(u: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two unit vectors that make a right-handed frame with u."""
    helper = _EYE[int(np.argmin(np.abs(u)))]
    i = np.cross(helper, u)
    i = np.asarray(i / np.linalg.norm(i))
    return i, np.asarray(np.cross(u, i))
