# SPDX-License-Identifier: Apache-2.0
"""What the stack answers, as plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio as pin
from control_msgs.action import FollowJointTrajectory
from humanoid_stack.action import PlanContacts
from humanoid_stack.msg import ContactForce, ContactPlan, PostureReport
from humanoid_stack.srv import CheckEquilibrium, GeneratePosture, InverseDynamics, VerifyPlan
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from humanoid_model import Robot
from humanoid_planner.contacts import PlanVerdict
from humanoid_planner.contacts.verify_plan import PlanViolation
from humanoid_ros.client.connection import StackError, refused, succeeded
from humanoid_ros.messages.conversions import array, placement, seconds
from humanoid_ros.messages.posture_messages import configuration

REFUSALS = (
    FollowJointTrajectory.Result.INVALID_GOAL,
    FollowJointTrajectory.Result.INVALID_JOINTS,
    FollowJointTrajectory.Result.OLD_HEADER_TIMESTAMP,
)


@dataclass(frozen=True)
class RobotState:
    """Where a simulated robot is.

    Attributes:
        time: simulated time [s].
        positions: by joint [rad] or [m]; a ball joint is its three members.
        velocities: likewise, per second.
        efforts: likewise [N m] or [N].
        base: placement of the base link in the world; None for a robot that is fixed.
        twist: (6,) velocity of the base link in its frame [m/s, rad/s]; zero for a robot that is fixed.
    """

    time: float
    positions: Mapping[str, float]
    velocities: Mapping[str, float]
    efforts: Mapping[str, float]
    base: pin.SE3 | None = None
    twist: NDArray[np.float64] = field(default_factory=lambda: np.zeros(6))


@dataclass(frozen=True)
class PostureAnswer:
    """A posture, or the least-violating one and why there is none; world frame.

    Attributes:
        success: whether it fulfils everything.
        explanation: in words; empty after success.
        q: (nq,) configuration in Pinocchio's order.
        efforts: by joint [N m] or [N]; empty where they weren't computed.
        force_links: (k,) links that contact forces act on.
        force_points: (k, 3) where they act [m].
        forces: (k, 3) [N].
        centre_of_mass: (3,) [m].
        margin: of equilibrium [m] by the polygon, [N] else.
        region: (h, 3) vertices of the places that the centre of mass may be at [m].
        report: how the search ended, as a message.
    """

    success: bool
    explanation: str
    q: NDArray[np.float64]
    efforts: Mapping[str, float]
    force_links: tuple[str, ...]
    force_points: NDArray[np.float64]
    forces: NDArray[np.float64]
    centre_of_mass: NDArray[np.float64]
    margin: float
    region: NDArray[np.float64]
    report: PostureReport


@dataclass(frozen=True)
class EquilibriumAnswer:
    """Whether a stance keeps a robot in equilibrium; world frame.

    Attributes:
        equilibrium: yes or no.
        margin: [m] by the polygon, [N] else; negative without equilibrium.
        efforts: by joint [N m] or [N]; empty where they aren't known.
        force_links: (k,) links that contact forces act on; none without equilibrium.
        force_points: (k, 3) where they act [m].
        forces: (k, 3) [N].
        region: (h, 3) vertices of the places that the centre of mass may be at [m].
    """

    equilibrium: bool
    margin: float
    efforts: Mapping[str, float]
    force_links: tuple[str, ...]
    force_points: NDArray[np.float64]
    forces: NDArray[np.float64]
    region: NDArray[np.float64]


@dataclass(frozen=True)
class PlanAnswer:
    """A contact plan, or the path to the nearest stance and why there is none.

    Attributes:
        success: whether the last posture fulfils the goal.
        explanation: in words; empty after success.
        postures: (nq,) each, in Pinocchio's order, one for each step.
        plan: as a message: steps with stances, forces and efforts, and statistics.
    """

    success: bool
    explanation: str
    postures: tuple[NDArray[np.float64], ...]
    plan: ContactPlan


@dataclass(frozen=True)
class FollowAnswer:
    """How following a trajectory ended.

    Attributes:
        success: whether its end was reached within the tolerances.
        message: in words.
        code: error code of FollowJointTrajectory's result.
    """

    success: bool
    message: str
    code: int


@dataclass(frozen=True)
class Efforts:
    """What a motion asks for.

    Attributes:
        joints: efforts by joint [N m] or [N].
        base_force: (3,) force that the base link would need, in its frame [N].
        base_torque: (3,) likewise [N m].
    """

    joints: Mapping[str, float]
    base_force: NDArray[np.float64]
    base_torque: NDArray[np.float64]


def robot_state(joints: JointState, odometry: Odometry | None) -> RobotState:
    """Return the state that two messages tell."""
    names = list(joints.name)
    positions, velocities, efforts = (
        dict(zip(names, values, strict=True)) for values in (joints.position, joints.velocity, joints.effort)
    )
    time = seconds(joints.header.stamp)
    if odometry is None:
        return RobotState(time, positions, velocities, efforts)
    twist = odometry.twist.twist
    moving = np.concatenate([array(twist.linear), array(twist.angular)])
    return RobotState(time, positions, velocities, efforts, placement(odometry.pose.pose, "odometry.pose"), moving)


def posture_answer(response: GeneratePosture.Response, robot: Robot) -> PostureAnswer:
    """Return a planner's answer.

    Raises:
        InputError: the request was refused for a field, which it names.
    """
    report, posture = response.report, response.posture
    if report.code == PostureReport.INVALID_REQUEST:
        raise refused(response.message)
    return PostureAnswer(
        response.success,
        response.message,
        configuration(posture.posture, robot, "posture"),
        dict(zip(posture.joint_names, posture.efforts, strict=True)),
        *_forces(posture.forces),
        array(posture.centre_of_mass),
        posture.stability_margin,
        _points(response.support_polygon),
        report,
    )


def equilibrium_answer(response: CheckEquilibrium.Response) -> EquilibriumAnswer:
    """Return an equilibrium test's answer."""
    return EquilibriumAnswer(
        response.equilibrium,
        response.margin,
        dict(zip(response.joint_names, response.efforts, strict=True)),
        *_forces(response.forces),
        _points(response.support_polygon),
    )


def plan_answer(result: PlanContacts.Result, robot: Robot) -> PlanAnswer:
    """Return a contact planner's answer.

    Raises:
        InputError: the request was refused for a field, which it names.
    """
    if not result.success and not result.plan.steps:
        error = refused(result.message)
        if not isinstance(error, StackError):
            raise error
    postures = [configuration(step.posture, robot, "posture") for step in result.plan.steps]
    return PlanAnswer(result.success, result.message, tuple(postures), result.plan)


def verdict(response: VerifyPlan.Response) -> PlanVerdict:
    """Return a verification's answer, as the library gives it."""
    return PlanVerdict(
        response.valid,
        tuple(PlanViolation(item.step, item.sample, item.kind, item.what) for item in response.violations),
        response.postures,
        response.max_drift,
        response.min_margin,
        response.max_torque,
    )


def follow_answer(status: int, result: FollowJointTrajectory.Result) -> FollowAnswer:
    """Return a controller's answer.

    Raises:
        InputError: the trajectory was refused for a field, which it names.
    """
    if not succeeded(status) and result.error_code in REFUSALS:
        error = refused(result.error_string)
        if not isinstance(error, StackError):
            raise error
    return FollowAnswer(succeeded(status), result.error_string, result.error_code)


def efforts_answer(response: InverseDynamics.Response) -> Efforts:
    """Return an inverse dynamics' answer."""
    wrench = response.base_wrench
    joints = dict(zip(response.joint_names, response.efforts, strict=True))
    return Efforts(joints, array(wrench.force), array(wrench.torque))


def _forces(
    messages: Sequence[ContactForce],
) -> tuple[tuple[str, ...], NDArray[np.float64], NDArray[np.float64]]:
    """Links, points (k, 3) and forces (k, 3)."""
    links = tuple(message.body_a.rsplit("/", 1)[-1] for message in messages)
    return links, _points([message.position for message in messages]), _points([message.force for message in messages])


def _points(messages: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([array(message) for message in messages]).reshape(-1, 3)
