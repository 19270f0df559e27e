# SPDX-License-Identifier: Apache-2.0
"""The answer to an inverse_dynamics request, by generated equations."""

from __future__ import annotations

import numpy as np
from humanoid_stack.srv import InverseDynamics

from humanoid_codegen.expression.evaluate import evaluate
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import array, check_finite
from humanoid_ros.model_generator.dynamics_request import DynamicsCoordinates, fill_answer, wrenches_at_origins
from humanoid_ros.model_generator.model_cache import ModelCache


def answer_inverse_dynamics(
    cache: ModelCache, request: InverseDynamics.Request, response: InverseDynamics.Response
) -> None:
    """Fill a response with the efforts that a request's motion asks for.

    Args:
        cache: where models are kept.
        request: the request.
        response: to fill.

    Raises:
        HumanoidError: the robot can't be used, or a field can't; the message names it.
    """
    if not request.robot.strip():
        raise InputError("is empty", element="robot", remedy="Give a name, the path of a URDF or its text")
    acceleration = array(request.gravity)
    check_finite(acceleration, "gravity")
    gravity = tuple(acceleration.tolist())
    model = cache.model(request.robot, gravity)
    coordinates = DynamicsCoordinates(model.robot, model.mechanism)
    arguments = list(coordinates.motion(request))
    q = arguments[0]
    if request.wrenches:
        rotations = np.array(evaluate(model.function("kinematics"), [q.tolist()])[0], dtype=float).reshape(-1, 3, 3)
        names = [link.name for link in model.mechanism.links]
        links, wrenches = wrenches_at_origins(request.wrenches, names, rotations)
        model = cache.model(request.robot, gravity, links)
        arguments.append(wrenches.ravel())
    with np.errstate(all="ignore"):  # fill_answer looks at what comes out
        values = evaluate(model.function("inverse_dynamics"), [argument.tolist() for argument in arguments])
    fill_answer(response, coordinates, q, np.array(values[0], dtype=float))
