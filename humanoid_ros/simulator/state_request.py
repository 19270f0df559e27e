# SPDX-License-Identifier: Apache-2.0
"""Putting robots and bodies where a set_state request wants them."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Twist
from humanoid_stack.srv import SetState

from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import array, check_finite, placement
from humanoid_sim import Simulation
from humanoid_sim.world.simulated_robot import SimulatedRobot


def apply_state(simulation: Simulation, request: SetState.Request) -> tuple[str, bool]:
    """Do what a request says, all of it or nothing.

    Args:
        simulation: to change.
        request: the message.

    Returns:
        Name of the robot or body, and whether joints of a robot were set.

    Raises:
        InputError: an unknown name, posture or joint, a value that can't be used, or nothing to do.
    """
    name = _resolve(simulation, request.name)
    twist = _twist(request.twist)
    if name in simulation.bodies:
        if request.posture or request.joint_names:
            raise InputError(
                f"'{name}' is a body without joints",
                element="joint_names" if request.joint_names else "posture",
                remedy="Leave it empty",
            )
        if not request.set_pose:
            raise _nothing()
        simulation.bodies[name].set_state(placement(request.pose, "pose"), twist)
        return name, False
    robot = simulation.robots[name]
    moves_joints = bool(request.posture or request.joint_names)
    if not (moves_joints or request.set_pose):
        raise _nothing()
    robot.set_state(*_robot_state(robot, request, twist))
    return name, moves_joints


def _robot_state(robot: SimulatedRobot, request: SetState.Request, twist: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the configuration and velocity that the request means."""
    model = robot.robot
    q, v = robot.q, robot.v
    base = slice(0, 0)
    if model.base_joint is not None:
        start = model.model.joints[model.base_joint].idx_q
        base = slice(start, start + 7)
    if request.posture:
        if request.posture not in model.postures:
            raise InputError(
                f"the robot '{robot.name}' has no posture '{request.posture}'",
                element="posture",
                remedy=f"Postures are {', '.join(model.postures)}",
            )
        place = q[base].copy()
        q = np.array(model.postures[request.posture])
        q[base] = place
        v = np.zeros_like(v)
    for field, needed in (("joint_positions", True), ("joint_velocities", False)):
        count = len(getattr(request, field))
        if count != len(request.joint_names) and (needed or count):
            raise InputError(
                f"has {count} values for {len(request.joint_names)} joint_names",
                element=field,
                remedy="Give one value per joint" if needed else "Give one value per joint, or none",
            )
    if request.joint_names:
        rates = request.joint_velocities if len(request.joint_velocities) else None
        q, v = robot.place_joints(q, v, request.joint_positions, rates, request.joint_names)
    if request.set_pose:
        if model.base_joint is None:
            raise InputError(
                f"the robot '{robot.name}' is fixed to the world",
                element="set_pose",
                remedy="Set its joints only",
            )
        q = model.place_base(q, placement(request.pose, "pose"))
        start = model.model.joints[model.base_joint].idx_v
        v[start : start + 6] = twist
    return q, v


def _resolve(simulation: Simulation, name: str) -> str:
    robots, bodies = list(simulation.robots), list(simulation.bodies)
    if not name and len(robots) == 1:
        return robots[0]
    if name not in robots and name not in bodies:
        raise InputError(
            f"there is no robot or body '{name}'",
            element="name",
            remedy=f"Name one of {', '.join(robots + bodies)}",
        )
    return name


def _twist(message: Twist) -> np.ndarray:
    twist = np.concatenate([array(message.linear), array(message.angular)])
    check_finite(twist, "twist")
    return twist


def _nothing() -> InputError:
    return InputError("the request sets nothing", remedy="Set set_pose, posture or joint_names with their values")
