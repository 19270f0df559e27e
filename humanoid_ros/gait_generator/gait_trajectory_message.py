# SPDX-License-Identifier: Apache-2.0
"""The trajectory of a gait as a message: joints, base, contact schedule, planned forces, zero moment point."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Pose, Twist
from humanoid_stack.msg import Contact, ContactForce, ContactForces, ContactPhase, Stance, WholeBodyTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_model import Robot
from humanoid_planner.gait import GaitResult, GaitTrajectory
from humanoid_planner.gait.trajectory.planned_forces import PlannedForce, lifted_forces, planned_forces
from humanoid_ros.messages.conversions import duration, fill_pose, fill_vector, point, vector

GROUND = "ground"
"""What the feet stand on."""


def trajectory_message(result: GaitResult, world: str) -> WholeBodyTrajectory:
    """Return the message of a gait's trajectory, in the plane or in space, from its start; empty where there is none.

    Args:
        result: the gait.
        world: name of the frame of base and forces.
    """
    trajectory, robot, friction = result.trajectory, result.robot, result.spec.friction
    if trajectory is None or robot is None:
        return WholeBodyTrajectory()
    message = motion_message(trajectory, robot, world)
    if result.lifted is not None:
        samples = list(lifted_forces(result.lifted))
        moments = np.concatenate([phase.zmp for phase in result.lifted.phases])
        heights = np.zeros(len(moments))
    else:
        samples = [planned_forces(trajectory, k, friction) for k in range(len(trajectory.times))]
        moments = np.column_stack([trajectory.centre_of_pressure, np.zeros(len(trajectory.times))])
        heights = trajectory.places[..., 1].min(axis=(1, 2))
    for k in trajectory.increasing:
        message.forces.append(_forces(samples[int(k)], robot, friction, world))
        message.zero_moment_point.append(point((*moments[k], heights[k])))
    return message


def motion_message(trajectory: GaitTrajectory, robot: Robot, world: str) -> WholeBodyTrajectory:
    """Return the message of a trajectory's joints, base and contact schedule, without forces.

    Args:
        trajectory: of the robot.
        robot: the robot.
        world: name of the frame of the base.
    """
    kept = trajectory.increasing
    message = WholeBodyTrajectory(robot=trajectory.robot)
    message.header.frame_id = world
    message.joints = JointTrajectory(joint_names=list(trajectory.joint_names))
    message.joints.header.frame_id = world
    rows = zip(
        trajectory.positions[kept],
        trajectory.velocities[kept],
        trajectory.accelerations[kept],
        trajectory.torques[kept],
        trajectory.times[kept],
        strict=True,
    )
    for positions, velocities, accelerations, torques, time in rows:
        message.joints.points.append(
            JointTrajectoryPoint(
                positions=positions.tolist(),
                velocities=velocities.tolist(),
                accelerations=accelerations.tolist(),
                effort=torques.tolist(),
                time_from_start=duration(float(time)),
            )
        )
    for k in kept:
        pose, twist = _base(trajectory, robot, int(k))
        message.base.append(pose)
        message.base_twist.append(twist)
    message.contacts = contact_phases(trajectory)
    return message


def contact_phases(trajectory: GaitTrajectory) -> list[ContactPhase]:
    """Return the contact schedule: what is on the ground from each change to the next.

    A contact's location is the robot's for a whole sole or a tip, and that name with ``/heel`` or ``/toe`` behind it
    where only that edge touches.
    """
    ends = sorted({time for item in trajectory.contacts for time in (item.start, item.end)})
    phases = []
    for start, end in itertools.pairwise(ends):
        middle = 0.5 * (start + end)
        stance = Stance()
        for item in trajectory.contacts:
            if item.start <= middle <= item.end:
                whole = item.part in ("sole", "tip")
                location = item.foot if whole else f"{item.foot}/{item.part}"
                stance.contacts.append(Contact(location=location, surface=GROUND, kind=Contact.FIXED))
        phases.append(ContactPhase(start=float(start), duration=float(end - start), stance=stance))
    return phases


def _base(trajectory: GaitTrajectory, robot: Robot, k: int) -> tuple[Pose, Twist]:
    """Pose of the base and its twist in its own frame; the base of a planar robot is where its planar joints put it."""
    pose, twist = Pose(), Twist()
    if robot.base_joint is not None:
        fill_pose(pose, robot.placement_base(trajectory.q[k]))
        start = robot.model.joints[robot.base_joint].idx_v
        fill_vector(twist.linear, trajectory.v[k, start : start + 3])
        fill_vector(twist.angular, trajectory.v[k, start + 3 : start + 6])
        return pose, twist
    x, z, pitch = trajectory.base[k]
    turn = pin.rpy.rpyToMatrix(0.0, float(pitch), 0.0)
    fill_pose(pose, pin.SE3(turn, np.array([x, 0.0, z])))
    speed = trajectory.base_velocity[k]
    fill_vector(twist.linear, turn.T @ np.array([speed[0], 0.0, speed[1]]))
    fill_vector(twist.angular, (0.0, float(speed[2]), 0.0))
    return pose, twist


def _forces(planned: Iterable[PlannedForce], robot: Robot, friction: float, world: str) -> ContactForces:
    """Return forces of the ground on the robot's feet at one instant."""
    message = ContactForces()
    message.header.frame_id = world
    for item in planned:
        message.contacts.append(
            ContactForce(
                body_a=f"{robot.name}/{robot.contacts[item.foot].link}",
                body_b=GROUND,
                position=point(item.place),
                normal=vector((0.0, 0.0, 1.0)),
                force=vector(item.force),
                friction=float(friction),
                state=ContactForce.SLIP if item.slips else ContactForce.STICK,
            )
        )
    return message
