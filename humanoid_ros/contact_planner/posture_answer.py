# SPDX-License-Identifier: Apache-2.0
"""What the posture generator found, as the fields of an answer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from humanoid_stack.msg import ConstraintViolation, ContactForce, PostureReport

from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.result import ReturnCode
from humanoid_planner.posture.problem.placed_contact import PlacedContact
from humanoid_planner.posture.problem.posture_result import PostureResult
from humanoid_planner.posture.problem.problem import surface_frame
from humanoid_ros.contact_planner.bearing_contacts import contact_force


def report_message(result: PostureResult) -> PostureReport:
    """Report of how a posture generation ended."""
    return PostureReport(
        code=int(result.status),
        explanation="" if result.status == ReturnCode.SUCCESS else result.explanation,
        violations=[
            ConstraintViolation(
                constraint=violation.constraint,
                value=float(violation.value),
                bound=float(violation.bound),
                unit=violation.unit,
            )
            for violation in result.violations
        ],
        conflicting=list(result.conflicting),
        removal=result.removal,
        solver=result.solver,
        iterations=int(result.iterations),
        evaluations=int(result.evaluations),
        residual=float(result.residual),
        time=float(result.time),
    )


def joint_efforts(result: PostureResult, kinematics: RobotKinematics) -> dict[str, float]:
    """Efforts by joint [N m or N], those of the floating base left out; empty when forces weren't computed."""
    joints = kinematics.robot.description.joints
    return {
        name: float(effort) for name, effort in zip(result.torque_names, result.torques, strict=True) if name in joints
    }


def force_messages(
    result: PostureResult, contacts: Mapping[str, PlacedContact], kinematics: RobotKinematics
) -> list[ContactForce]:
    """Messages of the contact forces that the generator found.

    Args:
        result: of the generator.
        contacts: by name of the contact location.
        kinematics: of the robot at the posture found.
    """
    messages = []
    for location, position, force in zip(result.force_contacts, result.force_points, result.forces, strict=True):
        placed = contacts[location]
        normal = np.array(surface_frame(placed, kinematics).rotation[:, 2])
        messages.append(contact_force(kinematics.robot, placed, position, normal, force))
    return messages
