# SPDX-License-Identifier: Apache-2.0
"""Messages about mechanisms to the library's commands and changes, and its state to a message."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pinocchio as pin
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from humanoid_stack.msg import MechanismCommand, MechanismLink, MechanismState, MechanismTarget
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import MultiDOFJointTrajectory

from humanoid_kinematics import JointVelocity, KleinfingerKhalil, LinkChange, ToolVelocity
from humanoid_kinematics.analysis.obstacles import Nearest
from humanoid_kinematics.live.live_mechanism import LiveMechanism
from humanoid_kinematics.live.live_state import LiveState
from humanoid_kinematics.live.newest_commands import LiveCommand
from humanoid_kinematics.solver.commands import JointGoal, ToolGoal
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.loop_closure import ROWS
from humanoid_ros.messages.conversions import array, seconds
from humanoid_ros.messages.request_fields import pose


def commands(message: MechanismCommand, live: LiveMechanism) -> list[LiveCommand]:
    """Return what a message commands.

    Raises:
        InputError: a field can't be used; it is named.
    """
    found: list[LiveCommand] = [
        _target(target, f"targets[{number}]", live) for number, target in enumerate(message.targets)
    ]
    return found + joint_commands(message.joint_names, message.joint_positions, message.joint_velocities)


def joint_commands(
    names: Sequence[str], positions: Sequence[float], velocities: Sequence[float]
) -> list[LiveCommand]:
    """Return commands of joints, from positions or velocities.

    Raises:
        InputError: sizes that don't fit, or both.
    """
    for field, values in (("positions", positions), ("velocities", velocities)):
        if len(values) not in (0, len(names)):
            raise InputError(
                f"has {len(values)} numbers for {len(names)} joints", element=f"joint_{field}",
                remedy="Give one for each joint, or none",
            )  # fmt: skip
    if names and not len(positions) and not len(velocities):
        raise InputError("has no numbers", element="joint_positions", remedy="Give positions, or joint_velocities")
    if len(positions) and len(velocities):
        raise InputError(
            "come with positions", element="joint_velocities", remedy="Give positions to reach, or velocities"
        )
    if len(positions):
        return [JointGoal(name, float(position)) for name, position in zip(names, positions, strict=True)]
    return [JointVelocity(name, float(velocity)) for name, velocity in zip(names, velocities, strict=True)]


def pose_goal(message: PoseStamped, tool: str, live: LiveMechanism) -> ToolGoal:
    """Return the goal that a pose of a tool is.

    Raises:
        InputError: an unknown frame, or numbers that can't be used.
    """
    return ToolGoal(tool, placement(message, live))


def placement(message: PoseStamped, live: LiveMechanism) -> pin.SE3:
    """Return a pose in the world.

    Raises:
        InputError: an unknown frame, or numbers that can't be used.
    """
    return _frame(message.header.frame_id, live) * pose(message.pose, "pose")


def joint_positions(message: JointTrajectoryMessage) -> JointTrajectory:
    """Return the positions of a trajectory, on straight lines between its points.

    Raises:
        InputError: sizes that don't fit, or times that don't rise.
    """
    for number, point in enumerate(message.points):
        if len(point.positions) != len(message.joint_names):
            raise InputError(
                f"has {len(point.positions)} positions for {len(message.joint_names)} joints",
                element=f"points[{number}]", remedy="Give one for each joint",
            )  # fmt: skip
    times = [seconds(point.time_from_start) for point in message.points]
    return JointTrajectory(message.joint_names, times, [point.positions for point in message.points])


def tool_path(message: MultiDOFJointTrajectory) -> tuple[str, list[float], list[pin.SE3]]:
    """Return tool, times and poses of a trajectory in space, in the world.

    Raises:
        InputError: not one tool, a point without its transform, or numbers that can't be used.
    """
    if len(message.joint_names) != 1:
        raise InputError(f"are {list(message.joint_names)}", element="joint_names", remedy="Name one tool")
    poses = []
    for number, point in enumerate(message.points):
        if len(point.transforms) != 1:
            raise InputError(
                f"has {len(point.transforms)} transforms", element=f"points[{number}]", remedy="Give one, of the tool"
            )
        place, turn = point.transforms[0].translation, point.transforms[0].rotation
        stamped = PoseStamped()
        stamped.pose.position.x, stamped.pose.position.y, stamped.pose.position.z = place.x, place.y, place.z
        stamped.pose.orientation = turn
        poses.append(pose(stamped.pose, f"points[{number}].transforms[0]"))
    return message.joint_names[0], [seconds(point.time_from_start) for point in message.points], poses


def link_change(message: MechanismLink) -> LinkChange:
    """Return the change of a link that a message asks for."""
    parameters = KleinfingerKhalil(
        message.theta, message.r, message.alpha, message.d, message.gamma, message.epsilon
    )
    limits = (message.lower, message.upper) if message.limited else None
    return LinkChange(message.name, message.type or None, parameters, limits, message.locked)


def rows_of(mask: Sequence[bool], element: str) -> tuple[str, ...]:
    """Return the directions that a mask has; all for an empty one.

    Raises:
        InputError: a mask that is neither empty nor of six.
    """
    if len(mask) not in (0, len(ROWS)):
        raise InputError(f"has {len(mask)} flags", element=element, remedy="Give six, or none for all")
    return tuple(row for row, on in zip(ROWS, mask, strict=True) if on) if len(mask) else ROWS


def state_message(
    live: LiveMechanism, state: LiveState, nearest: Nearest | None, name: str, frame: str, stamp: Time
) -> MechanismState:
    """Return the message of a mechanism's state, and of what it is nearest to."""
    joints = tuple(state.at_limit)
    robot = live.mechanism.robot
    message = MechanismState(
        mechanism=name,
        profile=state.profile,
        status=state.status,
        in_the_way=state.in_the_way,
        joint_names=joints,
        joint_positions=[float(state.q[robot.index_q(joint)]) for joint in joints],
        joint_velocities=[float(state.v[robot.index_v(joint)]) for joint in joints],
        at_limit=list(state.at_limit.values()),
        locked=[joint in state.locked for joint in joints],
        rows=state.shape[0],
        columns=state.shape[1],
        rank=state.rank,
        singular_values=state.singular_values.tolist(),
        condition=state.condition,
        manipulability=state.manipulability,
        mobility=state.mobility,
        loop_names=list(state.loop_residuals),
        loop_open=[loop in state.open_loops for loop in state.loop_residuals],
        loop_residuals=_flat(state.loop_residuals.values()),
        command_residuals=_flat(state.command_residuals.values()),
        obstacle_distance=math.nan if nearest is None else nearest.distance,
        obstacle="" if nearest is None else nearest.obstacle,
        obstacle_link="" if nearest is None else nearest.part.rpartition("/")[0],
        solve_time=state.solve_time,
        cycle_time=state.cycle_time,
    )
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def _target(target: MechanismTarget, element: str, live: LiveMechanism) -> LiveCommand:
    rows = rows_of(target.mask, f"{element}.mask")
    if target.kind == MechanismTarget.TWIST:
        frame = target.frame_id or "world"
        return ToolVelocity(target.node, array(target.twist.linear), array(target.twist.angular), frame, rows)
    if target.kind != MechanismTarget.POSE:
        raise InputError(f"is {target.kind}", element=f"{element}.kind", remedy="Give TWIST (0) or POSE (1)")
    goal = _frame(target.frame_id, live) * pose(target.pose, f"{element}.pose") if rows else pin.SE3.Identity()
    x, y, z = (float(value) for value in array(target.point))
    return ToolGoal(target.node, goal, rows, point=(x, y, z))


def _frame(frame: str, live: LiveMechanism) -> pin.SE3:
    """Return where a frame of commands is now."""
    if frame in ("", "world"):
        return pin.SE3.Identity()
    return live.commands.view if frame == "view" else live.solver.placement(frame)


def _flat(rows: Any) -> list[float]:
    return [float(value) for row in rows for value in row]
