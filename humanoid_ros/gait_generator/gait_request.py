# SPDX-License-Identifier: Apache-2.0
"""A request for a gait as the library's, and back; refusals name fields as the message does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from humanoid_stack.msg import GaitRequest

from humanoid_gait.generation import check_request
from humanoid_gait.walk import Duration, WalkRequest
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, number, text

DURATIONS = {
    "single": "single_support", "double": "double_support", "heel": "heel", "toe": "toe", "settle": "settle",
}  # fmt: skip
"""How messages call the library's durations: ``double`` is a word of C++."""
LOCAL = ("costs", "obstacles", "impacts")
"""Fields of a request that messages don't have."""
NUMBERS = ("length", "side", "turn", "slope", "rise", "clearance", "friction")


@dataclass(frozen=True)
class GaitDefaults(Described):
    """What a request may leave open."""

    robot: str = text("hrp2", "robot of requests that name none: its name, or the path of its URDF")
    time_limit: float = number(120.0, "wall-clock time of requests that give 0", "s", low=0.1, high=86400.0)


def read_gait_request(message: GaitRequest) -> WalkRequest:
    """Return the walk that a message asks for.

    Raises:
        InputError: a field can't be used; the message names it, its value, and what would be right.
    """
    durations = {own: _read_duration(getattr(message, name), name) for own, name in DURATIONS.items()}
    fields: dict[str, Any] = {name: float(getattr(message, name)) for name in NUMBERS}
    fields |= {name: value for name, value in durations.items() if value is not None}
    intervals = tuple(map(int, message.intervals))
    if len(intervals) not in (0, 2):
        raise InputError(f"are {list(intervals)}", element="intervals", remedy="Give two numbers, or none")
    if intervals:
        fields["intervals"] = intervals
    request = WalkRequest(width=float(message.width) or None, apart=float(message.apart) or None, **fields)
    with named_as_messages():
        check_request(request)
    return request


def gait_request_message(request: WalkRequest) -> GaitRequest:
    """Return the message of a walk, to which robot, steps and ends are added.

    Raises:
        InputError: the request has costs of its own, obstacles or impacts, which messages can't carry.
    """
    for name in LOCAL[1:]:
        if getattr(request, name):
            raise InputError("can't be sent", element=name, remedy="Leave them out, or generate the walk here")
    if [(type(cost), vars(cost)) for cost in request.costs] != [
        (type(cost), vars(cost)) for cost in WalkRequest(0.0).costs
    ]:
        raise InputError("can't be sent", element="costs", remedy="Leave them as they are, or generate the walk here")
    message = GaitRequest(**{name: float(getattr(request, name)) for name in NUMBERS})
    message.width, message.apart = request.width or 0.0, request.apart or 0.0
    message.intervals = list(request.intervals)
    for own, name in DURATIONS.items():
        value = getattr(request, own)
        numbers = list(map(float, value)) if isinstance(value, tuple) else [float(value)]
        setattr(message, name, [] if name in ("heel", "toe") and numbers == [0.0] else numbers)
    return message


@contextmanager
def named_as_messages() -> Iterator[None]:
    """Let refusals of durations name them as messages do."""
    try:
        yield
    except InputError as error:
        element = DURATIONS.get(error.element or "", error.element)
        raise InputError(error.problem, element=element, remedy=error.remedy) from None


def _read_duration(values: Sequence[float], name: str) -> Duration | None:
    """Return a duration or its range; None where nothing is given."""
    if len(values) > 2:
        raise InputError(
            f"is {list(map(float, values))}", element=name, remedy="Give one duration, or the least and the greatest"
        )
    if len(values) == 2:
        return float(values[0]), float(values[1])
    return float(values[0]) if len(values) == 1 else None
