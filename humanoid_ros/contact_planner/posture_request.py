# SPDX-License-Identifier: Apache-2.0
"""What requests say of postures: scene and robot, tasks and loads, and what is minimised."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
import pinocchio as pin
from humanoid_stack.msg import LinkWrench
from humanoid_stack.msg import PostureTask as TaskMessage
from humanoid_stack.srv import GeneratePosture
from numpy.typing import NDArray

from humanoid_model import Robot, Scene
from humanoid_model.checks import check_finite, check_known, check_not_negative
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Criterion, LeastTorque, NearReference, near_middle
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_planner.posture.tasks import link_tasks
from humanoid_planner.posture.tasks.criteria import NearPath
from humanoid_planner.posture.tasks.state import Load
from humanoid_planner.posture.tasks.task import Task
from humanoid_ros.messages.posture_messages import unit_quaternion
from humanoid_ros.messages.request_fields import MAX_FORCE, check_constant, vector
from humanoid_ros.node.requested_files import check_requested, requested_reading


def requested_scene(
    cache: PlanningCache, scene: str, robot: str, default: str, prefix: str = ""
) -> tuple[Scene, Robot]:
    """Return the scene and the robot that a request names.

    Args:
        cache: where they are kept.
        scene: field of the request; empty: the default.
        robot: field of the request.
        default: scene of the node, which may lie anywhere; empty: there is none.
        prefix: of the fields' names.

    Raises:
        InputError: one of them can't be used, or is a file that requests mayn't name; the message names the field.
    """
    with requested_reading(scene):
        found = cache.scene(check_requested(scene, f"{prefix}scene") or default, f"{prefix}scene")
    with requested_reading(robot):
        return found, cache.robot_in(found, check_requested(robot, f"{prefix}robot"), f"{prefix}robot")


def posture_task(message: TaskMessage, kinematics: RobotKinematics, field: str) -> Task:
    """Return the task that a message means; only the fields that its kind reads are looked at.

    Args:
        message: the task.
        kinematics: of the robot.
        field: name of the message, for errors.

    Raises:
        InputError: an unknown kind, link or joint, or a number that can't be used.
    """
    read = _TaskFields(message, kinematics, field)
    kind = check_constant(message.kind, TaskMessage, f"{field}.kind")
    name = message.name or f"{kind.lower().replace('_', ' ')} {message.link}".strip()
    return TASKS[message.kind](kinematics, read, name)


def load(message: LinkWrench, kinematics: RobotKinematics, field: str) -> Load:
    """Return the load that a wrench on a link is.

    Raises:
        InputError: an unknown link, or a number that isn't finite.
    """
    check_known(message.link, kinematics.robot.description.links, f"{field}.link", "link")
    return Load(
        message.link,
        vector(message.wrench.force, f"{field}.wrench.force", MAX_FORCE),
        vector(message.point, f"{field}.point"),
        vector(message.wrench.torque, f"{field}.wrench.torque", MAX_FORCE),
        bool(message.in_link_frame),
    )


class _TaskFields:
    """Fields of a task message, each checked when it is read."""

    def __init__(self, message: TaskMessage, kinematics: RobotKinematics, field: str) -> None:
        """Take a message and what errors call it."""
        self._message, self._kinematics, self._field = message, kinematics, field

    def link(self) -> str:
        return check_known(
            self._message.link, self._kinematics.robot.description.links, f"{self._field}.link", "link"
        )

    def joint(self) -> str:
        return check_known(self._message.link, self._kinematics.names, f"{self._field}.link", "joint")

    def value(self) -> float:
        return check_finite(self._message.value, f"{self._field}.value")

    def vector(self, name: str) -> NDArray[np.float64]:
        return vector(getattr(self._message, name), f"{self._field}.{name}")

    def direction(self, name: str) -> NDArray[np.float64]:
        values = self.vector(name)
        length = float(np.linalg.norm(values))
        if length < 1e-9:
            raise InputError(
                f"is {values.tolist()}, which has no direction",
                element=f"{self._field}.{name}",
                remedy="Give a vector that isn't zero",
            )
        return np.asarray(values / length)

    def rotation(self) -> NDArray[np.float64]:
        turn = unit_quaternion(self._message.orientation, f"{self._field}.orientation")
        return np.asarray(pin.Quaternion(turn).matrix())

    def tolerance(self) -> float:
        return check_not_negative(self._message.tolerance, f"{self._field}.tolerance", "m, or the joint's unit")

    def angle_tolerance(self) -> float:
        value = check_not_negative(self._message.angle_tolerance, f"{self._field}.angle_tolerance", "rad")
        if value > math.pi:
            raise InputError(
                f"is {value:g}",
                element=f"{self._field}.angle_tolerance",
                remedy="Give an angle from 0 to pi [rad]",
            )
        return value


#: What makes the task of each kind that ``PostureTask.msg`` lists.
TASKS: dict[int, Callable[[RobotKinematics, _TaskFields, str], Task]] = {
    TaskMessage.POINT_AT: lambda robot, read, name: link_tasks.point_at(
        robot, read.link(), read.vector("point"), read.vector("target"), read.tolerance(), name
    ),
    TaskMessage.FRAME_AT: lambda robot, read, name: link_tasks.frame_at(
        robot, read.link(), pin.SE3(np.eye(3), read.vector("point")), pin.SE3(read.rotation(), read.vector("target")),
        read.tolerance(), read.angle_tolerance(), name,
    ),
    TaskMessage.POINT_BEYOND: lambda robot, read, name: link_tasks.point_beyond(
        robot, read.link(), read.vector("point"), read.vector("target"), read.direction("direction"), name
    ),
    TaskMessage.POINT_IN_SLAB: lambda robot, read, name: link_tasks.point_in_slab(
        robot, read.link(), read.vector("point"), read.vector("target"), read.direction("direction"), read.tolerance(),
        name,
    ),
    TaskMessage.ORIENTATION: lambda robot, read, name: link_tasks.orientation(
        robot, read.link(), read.rotation(), read.angle_tolerance(), name
    ),
    TaskMessage.AXIS_ALONG: lambda robot, read, name: link_tasks.axis_along(
        robot, read.link(), read.direction("axis"), read.direction("direction"), read.angle_tolerance(), name
    ),
    TaskMessage.GAZE: lambda robot, read, name: link_tasks.gaze(
        robot, read.link(), read.vector("point"), read.direction("axis"), read.vector("target"),
        read.angle_tolerance(), name=name,
    ),
    TaskMessage.CENTRE_OF_MASS: lambda robot, read, name: link_tasks.centre_of_mass_at(
        read.vector("target"), read.tolerance(), name
    ),
    TaskMessage.JOINT: lambda robot, read, name: link_tasks.joint_at(
        robot, read.joint(), read.value(), read.tolerance(), name
    ),
}  # fmt: skip


def check_collision_margin(request: Any) -> None:
    """Refuse a margin that no request means, of plans and of postures.

    Raises:
        InputError: it is negative, or there where collisions are not avoided.
    """
    margin = check_not_negative(request.collision_margin, "collision_margin", "m")
    if margin > 0.0 and not request.collisions:
        raise InputError(
            f"is {margin:g}, but collisions are not avoided",
            element="collision_margin",
            remedy="Set collisions, or leave the margin at 0",
        )


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
