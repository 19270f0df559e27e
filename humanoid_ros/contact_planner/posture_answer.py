# SPDX-License-Identifier: Apache-2.0
"""What the planner found, as the fields of an answer, and a configuration as a joint state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from humanoid_stack.msg import ConstraintViolation, ContactForce, PostureReport
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from humanoid_model import Robot
from humanoid_model.joint_view import BallJoint
from humanoid_planner.equilibrium.body_equilibrium import EquilibriumMethod
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import ReturnCode
from humanoid_planner.posture import StanceEquilibrium
from humanoid_planner.posture.posture_result import PostureResult
from humanoid_planner.posture.problem import surface_frame
from humanoid_planner.posture.tasks.contact import PlacedContact
from humanoid_ros.messages.conversions import fill_vector


def report_message(result: PostureResult) -> PostureReport:
    """Return the report of how a posture generation ended."""
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
    """Return messages of the contact forces that the generator found.

    Args:
        result: of the generator.
        contacts: by name of the contact location.
        kinematics: of the robot at the posture found.
    """
    messages = []
    for location, position, force in zip(result.force_contacts, result.force_points, result.forces, strict=True):
        placed = contacts[location]
        normal = np.array(surface_frame(placed, kinematics).rotation[:, 2])
        messages.append(_force(kinematics.robot, placed, position, normal, force))
    return messages


def stance_force_messages(answer: StanceEquilibrium, robot: Robot) -> list[ContactForce]:
    """Return messages of the contact forces that keep a robot in equilibrium; empty without."""
    if len(answer.forces) == 0:
        return []
    bearing = answer.bearing
    points = zip(bearing.owners, bearing.points.positions, bearing.points.normals, answer.forces, strict=True)
    return [
        _force(robot, bearing.contacts[owner], position, normal, force) for owner, position, normal, force in points
    ]


def margin_text(answer: StanceEquilibrium) -> str:
    """Return a margin in words."""
    unit = "m" if answer.method is EquilibriumMethod.SUPPORT_POLYGON else "N"
    return f"margin {answer.margin:.3g} {unit}"


def _force(
    robot: Robot,
    placed: PlacedContact,
    position: NDArray[np.float64],
    normal: NDArray[np.float64],
    force: NDArray[np.float64],
) -> ContactForce:
    """Return the message of a force (3,) [N] on the robot at a point (3,) [m] of a contact."""
    message = ContactForce(
        body_a=f"{robot.name}/{placed.contact.location.link}",
        body_b=placed.contact.surface.body,
        friction=float(placed.friction),
        state=ContactForce.STICK,
    )
    fill_vector(message.position, position)
    fill_vector(message.normal, normal)
    fill_vector(message.force, force)
    return message


def joint_state(robot: Robot, q: NDArray[np.float64], efforts: Mapping[str, float], world: str) -> JointState:
    """Joint state of a configuration (nq,), without stamp; ball joints are their three members.

    Args:
        robot: the robot.
        q: (nq,) configuration.
        efforts: by joint [N m or N]; empty leaves them out, joints that aren't in it bear none.
        world: name of the world frame.
    """
    message = JointState()
    message.header.frame_id = world
    for name in robot.joint_names:
        if name in robot.ball_joints:
            members = robot.ball_joints[name]
            start = robot.index_q(name)
            positions = BallJoint(robot.description, members).angles(q[start : start + 4])
            message.name.extend(members)
            message.position.extend(float(value) for value in positions)
        elif robot.model.joints[robot.parts.joint_ids[name]].nq == 1:
            message.name.append(name)
            message.position.append(float(q[robot.index_q(name)]))
    if efforts:
        message.effort = [float(efforts.get(name, 0.0)) for name in message.name]
    return message
