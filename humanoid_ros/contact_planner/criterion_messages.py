# SPDX-License-Identifier: Apache-2.0
"""What requests minimise among postures."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
from humanoid_stack.srv import GeneratePosture
from numpy.typing import NDArray

from humanoid_model import Scene
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Criterion, LeastTorque, NearReference, near_middle
from humanoid_planner.posture.tasks.criteria import NearPath


class CriterionKind(IntEnum):
    """What is minimised."""

    NO_CRITERION = GeneratePosture.Request.NO_CRITERION
    NEAR_REFERENCE = GeneratePosture.Request.NEAR_REFERENCE
    NEAR_MIDDLE = GeneratePosture.Request.NEAR_MIDDLE
    NEAR_GUIDE = GeneratePosture.Request.NEAR_GUIDE
    CENTRE_IN_POLYGON = GeneratePosture.Request.CENTRE_IN_POLYGON
    CENTRE_IN_WRENCHES = GeneratePosture.Request.CENTRE_IN_WRENCHES
    LEAST_TORQUE = GeneratePosture.Request.LEAST_TORQUE

    @property
    def of_one_stance(self) -> bool:
        """Whether it belongs to one stance, whose contacts it goes by."""
        return self in (CriterionKind.CENTRE_IN_POLYGON, CriterionKind.CENTRE_IN_WRENCHES)


def read_criterion(
    kind: CriterionKind,
    kinematics: RobotKinematics,
    scene: Scene,
    reference: NDArray[Any],
    guide: list[NDArray[Any]],
) -> Criterion | None:
    """Return a criterion that belongs to no stance; None for none.

    Args:
        kind: of the request.
        kinematics: of the robot.
        scene: around it.
        reference: (nq,) posture of the request.
        guide: (nq,) postures of the request.

    Raises:
        InputError: a guide that is none.
    """
    if kind is CriterionKind.NEAR_REFERENCE:
        return NearReference(kinematics, reference)
    if kind is CriterionKind.NEAR_MIDDLE:
        return near_middle(kinematics)
    if kind is CriterionKind.NEAR_GUIDE:
        return NearPath(kinematics, check_guide(guide))
    if kind is CriterionKind.LEAST_TORQUE:
        return LeastTorque(kinematics, kinematics.total_mass * float(np.linalg.norm(scene.gravity)) or 1.0)
    return None


def check_guide(guide: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return a guide that leads from somewhere to somewhere.

    Raises:
        InputError: it has less than two postures.
    """
    if len(guide) < 2:
        raise InputError(f"has {len(guide)} postures", element="guide", remedy="Give two or more")
    return guide
