# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for gaits, worked out in a process of their own; requests and answers travel as bytes.

Importing this module loads all that a request needs.
"""

from __future__ import annotations

from humanoid_stack.msg import ConstraintViolation, Gait, GaitPart, GaitRequest
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_gait import GaitResult, Walk, gait_proof, generate_gait
from humanoid_model import InputError, Robot, RobotError, load_robot
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_ros.gait_generator.gait_request import GaitDefaults, named_as_messages, read_gait_request
from humanoid_ros.messages.motion_messages import whole_body_message
from humanoid_ros.messages.request_fields import time_limit
from humanoid_ros.node.process_requests import Answer
from humanoid_ros.node.requested_files import check_requested, requested_reading

WORLD = "world"


def generate(request: bytes, defaults: GaitDefaults, tell: ProgressCallback) -> Answer:
    """Answer a request for a gait.

    Args:
        request: serialised ``GaitRequest``.
        defaults: what it may leave open.
        tell: told of iterations.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    asked = deserialize_message(request, GaitRequest)
    wanted = read_gait_request(asked)
    limit = time_limit(asked.time_limit, defaults.time_limit)
    with requested_reading(asked.robot), named_as_messages():
        name = check_requested(asked.robot, "robot") or defaults.robot
        walk = generate_gait(
            _robot(name, wanted.apart is not None), wanted, int(asked.steps), start=asked.start, stop=asked.stop,
            progress=tell, time_limit=limit,
        )  # fmt: skip
    message = gait_message(walk, name)
    for part, found in zip(message.parts, walk.parts.values(), strict=True):
        if asked.proof and found.solution.converged:
            tell(Progress(f"{part.name}: proves"))
            _prove(part, found)
    return Answer(walk.success, walk.message, bytes(serialize_message(message)))


def _robot(name: str, geometry: bool) -> Robot:
    try:
        return load_robot(name, geometry=geometry)
    except RobotError as error:  # which names a file, if anything
        raise InputError(str(error).rstrip("."), element="robot") from None


def gait_message(walk: Walk, robot: str) -> Gait:
    """Return the message of a walk of a robot, by the name or path that it was asked for with."""
    message = Gait(
        robot=robot,
        trajectory=whole_body_message(walk.motion, WORLD),
        parts=[_part(name, found) for name, found in walk.parts.items()],
        violations=[
            ConstraintViolation(
                constraint=item.what, value=item.value, bound=item.limit, unit=item.unit, time=item.worst
            )
            for item in walk.violations
        ],
        duration=walk.motion.duration,
        distance=walk.distance,
        speed=walk.speed,
        cost=walk.cost,
        energy=walk.energy,
        cost_of_transport=walk.cost_of_transport,
    )
    message.header.frame_id = WORLD
    return message


def _part(name: str, found: GaitResult) -> GaitPart:
    return GaitPart(
        name=name,
        success=found.success,
        message=found.reason,
        durations=list(found.durations),
        cost=float(found.cost),
        iterations=found.solution.iterations,
        time=sum(found.seconds),
    )


def _prove(part: GaitPart, found: GaitResult) -> None:
    for name, value in gait_proof(found).numbers.items():
        setattr(part, name, float(value))
    part.proven = True
