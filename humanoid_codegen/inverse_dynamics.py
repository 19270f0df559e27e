# SPDX-License-Identifier: Apache-2.0
"""Efforts that a motion asks for, by generated equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from humanoid_codegen.expression.evaluate import evaluate
from humanoid_codegen.model_cache import ModelCache
from humanoid_codegen.motion_coordinates import DynamicsCoordinates, GivenMotion, KnownWrench, wrenches_at_origins
from humanoid_model.errors import InputError
from humanoid_model.scene import STANDARD_GRAVITY


@dataclass(frozen=True)
class MotionEfforts:
    """What a motion asks for.

    Attributes:
        joint_names: every joint that moves by itself, a ball joint as its three members.
        efforts: of these joints [N m] or [N].
        base_wrench: (6,) force and torque that the base link would need, in its frame [N, N m]; zero where it is fixed.
    """

    joint_names: tuple[str, ...]
    efforts: list[float]
    base_wrench: np.ndarray


def inverse_dynamics(
    robot: str,
    motion: GivenMotion,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    wrenches: Sequence[KnownWrench] = (),
    cache: ModelCache | None = None,
) -> MotionEfforts:
    """Efforts that a motion asks for.

    Args:
        robot: its name, the path of its URDF, or the text.
        motion: at one time.
        gravity: (3,) world frame [m/s^2].
        wrenches: that the surroundings exert on links.
        cache: where models are kept; None makes the model for this once.

    Raises:
        HumanoidError: the robot can't be used, or a value can't; the message names it.
    """
    cache = cache or ModelCache(2)
    down = tuple(np.asarray(gravity, dtype=float).tolist())
    model = cache.model(robot, down)
    coordinates = DynamicsCoordinates(model.robot, model.mechanism)
    arguments = list(coordinates.motion(motion))
    q = arguments[0]
    if wrenches:
        rotations = np.array(evaluate(model.function("kinematics"), [q.tolist()])[0], dtype=float).reshape(-1, 3, 3)
        links, at_origins = wrenches_at_origins(wrenches, [link.name for link in model.mechanism.links], rotations)
        model = cache.model(robot, down, links)
        arguments.append(at_origins.ravel())
    with np.errstate(all="ignore"):
        values = evaluate(model.function("inverse_dynamics"), [argument.tolist() for argument in arguments])
    tau = np.array(values[0], dtype=float)
    if not np.isfinite(tau).all():
        raise InputError(
            "the efforts are beyond the range of numbers", remedy="Give smaller velocities, accelerations or wrenches"
        )
    return MotionEfforts(coordinates.joint_names, coordinates.efforts(q, tau), coordinates.base_wrench(tau))
