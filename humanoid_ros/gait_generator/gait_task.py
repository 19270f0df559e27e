# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for gaits, worked out in a process of their own; requests and answers travel as bytes.

Importing this module loads all that a request needs.
"""

from __future__ import annotations

import dataclasses

from humanoid_stack.msg import GaitRequest
from humanoid_stack.srv import ComputeGaitStates
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_model.progress import Progress, ProgressCallback
from humanoid_planner.gait import GaitDefaults, GaitResult, generate_gait
from humanoid_planner.gait.specification.step_states import step_states
from humanoid_ros.gait_generator.gait_messages import gait_message
from humanoid_ros.gait_generator.gait_request import read_gait_request, read_step
from humanoid_ros.node.process_requests import Answer
from humanoid_ros.node.requested_files import check_requested, requested_reading


def generate(request: bytes, defaults: GaitDefaults, tell: ProgressCallback) -> Answer:
    """Answer a request for a gait.

    Args:
        request: serialised ``GaitRequest``.
        defaults: what it may leave open.
        tell: told of stages, and of what is solved so far, a serialised ``Gait``, as their result.

    Raises:
        InputError: a field can't be used; the message names it.
    """
    def told(progress: Progress) -> bool:
        if isinstance(progress.result, GaitResult):
            progress = dataclasses.replace(progress, result=bytes(serialize_message(gait_message(progress.result))))
        return bool(tell(progress))

    asked = deserialize_message(request, GaitRequest)
    with requested_reading(asked.model):
        result = generate_gait(read_gait_request(asked, defaults), told)
    return Answer(result.success, result.message, bytes(serialize_message(gait_message(result))))


def compute_states(request: bytes, defaults: GaitDefaults, _: ProgressCallback) -> bytes:
    """Answer a ``compute_gait_states`` request, serialised as its answer is.

    Raises:
        InputError: a field can't be used, or a leg can't reach.
    """
    asked = deserialize_message(request, ComputeGaitStates.Request)
    model = check_requested(asked.model, "model") or defaults.model
    with requested_reading(asked.model):
        states = step_states(model, read_step(asked.step, "step"), defaults.feet)
    response = ComputeGaitStates.Response(success=True, coordinate_names=list(states.coordinates))
    for name, state in (("initial", states.initial), ("final", states.final)):
        setattr(response, f"{name}_coordinates", state.q.tolist())
        setattr(response, f"{name}_rates", state.v.tolist())
        setattr(response, f"{name}_momenta", states.momenta(state).tolist())
    return bytes(serialize_message(response))
