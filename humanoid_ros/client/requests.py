# SPDX-License-Identifier: Apache-2.0
"""What a person gives in Python, as fields of requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import humanoid_stack.msg
import numpy as np
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Vector3
from humanoid_stack.msg import Contact as ContactMessage
from humanoid_stack.msg import LinkWrench, Posture, WholeBodyTrajectory
from humanoid_stack.msg import Stance as StanceMessage
from humanoid_stack.srv import GeneratePosture
from numpy.typing import ArrayLike, NDArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model import ContactLocation, Robot, Stance, Surface
from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.fields import descriptions
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_planner.contacts import ContactProblem
from humanoid_planner.motion import MotionSettings
from humanoid_planner.posture.tasks.state import Load
from humanoid_ros.messages.conversions import duration, fill_vector, point, vector
from humanoid_ros.messages.motion_messages import joint_trajectory_message
from humanoid_ros.messages.posture_messages import posture_message
from humanoid_ros.messages.request_fields import write_word
from humanoid_ros.messages.stance_messages import contact_location_message, surface_message

R = TypeVar("R")
LONGEST = 200
"""Characters of a value that a message shows at most."""


CRITERIA = {
    "none": "NO_CRITERION",
    "reference": "NEAR_REFERENCE",
    "middle": "NEAR_MIDDLE",
    "guide": "NEAR_GUIDE",
    "polygon centre": "CENTRE_IN_POLYGON",
    "wrench centre": "CENTRE_IN_WRENCHES",
    "torque": "LEAST_TORQUE",
}
"""What is minimised among postures, and how messages call it."""
WORDS: dict[str, Mapping[str, str]] = {
    "criterion": CRITERIA,
    **{
        name: one.words
        for kind in (ContactProblem, MotionSettings)
        for name, one in descriptions(kind).items()
        if one.words
    },
}
"""Choices by fields of requests, with the names of their constants."""
_PLAIN = {"boolean": bool, "string": str, "uint8": int, "uint32": int}
"""Python types of fields."""


def request(kind: type[R], robot: Robot | None, fields: Mapping[str, Any]) -> R:
    """Return a request with some of its fields given, library objects in place of messages where there are such.

    A stance, contact locations, surfaces and loads are the library's; a posture is a configuration (nq,); a vector or
    point has three numbers; a duration is in seconds; a choice is a word, as the library has it; another message is
    itself, or its fields by name.

    Args:
        kind: of the request.
        robot: whose configurations are meant; None where there are none.
        fields: by name.

    Raises:
        InputError: there is no such field, or its value can't be written.
    """
    types = kind.get_fields_and_field_types()  # type: ignore[attr-defined]
    message = kind()
    for name, value in fields.items():
        check_known(name, types, name, "field")
        if isinstance(value, str) and name in WORDS:
            value = write_word(WORDS[name], value, name, kind, GeneratePosture.Request)
        try:
            setattr(message, name, _written(types[name], value, robot))
        except (AssertionError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise InputError(error.problem, element=name, remedy=error.remedy) from error
            raise InputError(f"is {value!r}"[:LONGEST], element=name, remedy=f"Give what fits {types[name]}") from error
    return message


def stance_request(stance: Stance) -> StanceMessage:
    """Return the message of a stance as a request has it: where contacts are is told by their surfaces."""
    return StanceMessage(
        contacts=[
            ContactMessage(
                location=contact.location.name,
                surface=contact.surface.name,
                x=float(contact.x),
                y=float(contact.y),
                theta=float(contact.theta),
                kind=int(contact.kind),
                bilateral=contact.bilateral,
                tolerance=float(contact.tolerance),
                distance=float(contact.distance),
            )
            for contact in stance.contacts
        ]
    )


def trajectory_message(
    motion: JointTrajectoryMessage | WholeBodyTrajectory | JointTrajectory,
) -> JointTrajectoryMessage:
    """Return a motion as the message that controllers take; messages stay as they are."""
    if isinstance(motion, JointTrajectory):
        return joint_trajectory_message(motion)
    return motion.joints if isinstance(motion, WholeBodyTrajectory) else motion


def load_message(load: Load) -> LinkWrench:
    """Return the message of a load on a link."""
    message = LinkWrench(link=load.link, point=point(np.asarray(load.point)), in_link_frame=load.in_link_frame)
    fill_vector(message.wrench.force, np.asarray(load.force))
    fill_vector(message.wrench.torque, np.asarray(load.couple))
    return message


def numbers(values: ArrayLike, field: str, count: int) -> NDArray[np.float64]:
    """So many numbers (count,).

    Raises:
        InputError: there are more or fewer, or they are none.
    """
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (count,):
        raise InputError(f"is {values!r}"[:LONGEST], element=field, remedy=f"Give {count} numbers")
    return array


def duration_message(seconds: float) -> Duration:
    """Return the message of a duration [s].

    Raises:
        InputError: it is no number.
    """
    return duration(float(numbers([seconds], "duration", 1)[0]))


def _written(kind: str, value: Any, robot: Robot | None) -> Any:
    """Return a value as a field of a type of message takes it."""
    if isinstance(value, Stance):
        return stance_request(value)
    if kind.startswith("sequence<") and not isinstance(value, str):
        return [_written(kind[len("sequence<") : -1], item, robot) for item in value]
    if isinstance(value, Mapping) and kind.startswith("humanoid_stack/"):
        return request(getattr(humanoid_stack.msg, kind.partition("/")[2]), robot, value)
    if isinstance(value, ContactLocation):
        return contact_location_message(value)
    if isinstance(value, Surface):
        return surface_message(value)
    if isinstance(value, Load):
        return load_message(value)
    if kind == "humanoid_stack/Posture" and robot is not None and not isinstance(value, Posture):
        return posture_message(robot, numbers(value, "posture", robot.model.nq))
    if kind == "builtin_interfaces/Duration" and isinstance(value, int | float):
        return duration(value)
    if kind in ("geometry_msgs/Vector3", "geometry_msgs/Point") and not isinstance(value, Vector3 | Point):
        return (vector if kind.endswith("Vector3") else point)(np.asarray(value, dtype=float))
    if kind == "double":
        return float(value)
    if not isinstance(value, _PLAIN.get(kind, object)) or (isinstance(value, bool) and kind != "boolean"):
        raise TypeError(f"{value!r} is no {kind}")
    if "/" in kind and type(value).__name__ != kind.rsplit("/", 1)[1]:
        raise TypeError(f"{value!r} is no {kind}")
    return value
