# SPDX-License-Identifier: Apache-2.0
"""Fields of requests: checked where they are messages, read and written where dataclasses describe them.

Each error names the field and its value. Described fields have the same names in messages and in the library.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Point, Pose, Vector3
from numpy.typing import NDArray

from humanoid_model.checks import LARGEST, check_known, check_numbers
from humanoid_model.errors import InputError
from humanoid_model.fields import Description, descriptions
from humanoid_ros.messages.conversions import array, placement, seconds

MAX_FORCE = 1e7
"""Largest force [N] or torque [N m] that is no mistake."""


def vector(message: Vector3 | Point, field: str, largest: float = LARGEST) -> NDArray[np.float64]:
    """(3,) values of a message.

    Raises:
        InputError: one is not finite, or absurdly large.
    """
    values = array(message)
    check_numbers(values, field, largest)
    return values


def pose(message: Pose, field: str) -> pin.SE3:
    """Return the placement that a pose tells.

    Raises:
        InputError: a number is not finite or absurdly large, or the quaternion is not of unit length.
    """
    vector(message.position, f"{field}.position")
    return placement(message, field)


def time_limit(message: Duration, default: float) -> float:
    """Return the wall-clock time that a request may take [s]; 0 in it takes a node's default.

    Raises:
        InputError: it is negative.
    """
    limit = seconds(message)
    if limit < 0.0:
        raise InputError(
            f"is {limit:g} s", element="time_limit", remedy="Give a duration above 0, or 0 for the node's default"
        )
    return limit or default


def read_fields(kind: type, message: Any, *constants: type) -> dict[str, Any]:
    """Return what a message says of a dataclass, whose own checks look at it; 0 leaves open what may be.

    Args:
        kind: the dataclass.
        message: whose fields have the same names; others are left out.
        constants: types that have the words' constants beside the message's own.

    Raises:
        InputError: a number that is no constant.
    """
    found: dict[str, Any] = {}
    for name, one in descriptions(kind).items():
        if hasattr(message, name):
            value = getattr(message, name)
            found[name] = _word(one, value, name, type(message), *constants) if one.words else one.read(value)
    return found


def constants_of(words: Mapping[str, str], *types: type) -> dict[str, int]:
    """Return the numbers that types of messages have for words; words without a number are left out."""
    return {
        word: next(int(getattr(kind, name)) for kind in types if hasattr(kind, name))
        for word, name in words.items()
        if any(hasattr(kind, name) for kind in types)
    }


def write_word(words: Mapping[str, str], word: str, field: str, *types: type) -> int:
    """Return the number that a message has for a word.

    Raises:
        InputError: it has none.
    """
    numbers = constants_of(words, *types)
    return numbers[check_known(word, numbers, field, field)]


def _word(one: Description, value: int, field: str, *types: type) -> str:
    numbers = constants_of(one.words, *types)
    for word, number in numbers.items():
        if number == value:
            return word
    known = ", ".join(f"{numbers[word]} ({one.words[word]})" for word in sorted(numbers, key=lambda one: numbers[one]))
    raise InputError(f"is {value}", element=field, remedy=f"Give one of {known}")


@functools.cache
def constants(message: type) -> Mapping[str, int]:
    """Return the constants of a type of messages, by name; all belong to one field."""
    listed: Any = type(message).__prepare__("", ())
    return {name: number for name, number in listed.items() if not name.endswith("__DEFAULT")}


def check_constant(value: int, message: type, field: str) -> str:
    """Return the name of a constant of a type of messages.

    Raises:
        InputError: there is none of this value.
    """
    known = constants(message)
    for name, number in known.items():
        if number == value:
            return name
    listed = ", ".join(f"{number} ({name})" for name, number in known.items())
    raise InputError(f"is {value}", element=field, remedy=f"Give one of {listed}")


@contextmanager
def within(field: str) -> Iterator[None]:
    """Let refusals of a part name it as the request does."""
    try:
        yield
    except InputError as error:
        raise InputError(error.problem, element=f"{field}.{error.element}", remedy=error.remedy) from None
