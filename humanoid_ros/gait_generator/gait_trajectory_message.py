# SPDX-License-Identifier: Apache-2.0
"""The trajectory of a gait as a message: joints, base, contact schedule, planned forces, zero moment point."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Point, Pose, Twist
from humanoid_stack.msg import Contact, ContactForce, ContactForces, ContactPhase, Stance, WholeBodyTrajectory
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_model import Robot
from humanoid_planner.gait.trajectory import GaitTrajectory
from humanoid_ros.messages.conversions import duration, fill_pose, fill_vector, point, vector

GROUND = "ground"
"""What the feet stand on."""
INSTANT = 1e-9
"""Within which a sample belongs to the phase that it is told of [s]."""
PRESSES = 1e-6
"""Least normal force that counts as one [N]."""


def whole_body_trajectory(
    trajectory: GaitTrajectory, robot: Robot, friction: float, world: str
) -> WholeBodyTrajectory:
    """Message of a trajectory in the sagittal plane, from its start.

    Args:
        trajectory: of the robot.
        robot: the robot.
        friction: coefficient of the ground.
        world: name of the frame of base and forces.
    """
    message = motion_message(trajectory, robot, world)
    for k in trajectory.increasing:
        message.forces.append(_forces(trajectory, robot, int(k), friction, world))
        x = float(trajectory.centre_of_pressure[k])
        message.zero_moment_point.append(Point(x=x, y=0.0, z=float(trajectory.places[k, ..., 1].min())))
    return message


def motion_message(trajectory: GaitTrajectory, robot: Robot, world: str) -> WholeBodyTrajectory:
    """Message of a trajectory's joints, base and contact schedule, without forces.

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
    """The contact schedule: what is on the ground from each change to the next.

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


def _parts_down(trajectory: GaitTrajectory, k: int) -> dict[str, tuple[str, ...]]:
    """Places of each foot that are on the ground at a sample, which at a transition belongs to one of its phases."""
    phase = int(trajectory.phase[k])
    middle = 0.5 * (trajectory.starts[phase] + trajectory.starts[phase + 1])
    time = trajectory.times[k] + math.copysign(INSTANT, middle - trajectory.times[k])
    return {item.foot: item.parts for item in trajectory.contacts if item.start <= time <= item.end}


def _forces(trajectory: GaitTrajectory, robot: Robot, k: int, friction: float, world: str) -> ContactForces:
    """Forces at the places that press.

    What acts along the ground is shared, as the normal forces are, between the places that are down by the contact
    schedule: a toe that presses while it is in the air, as the thesis plans it, takes nothing of it. A foot slips or
    sticks as a whole.
    """
    down = _parts_down(trajectory, k)
    message = ContactForces()
    message.header.frame_id = world
    for index, foot in enumerate(trajectory.feet):
        normals, tangential = trajectory.normal[k, index], float(trajectory.tangential[k, index])
        held = np.array([name in down.get(foot, ()) for name in trajectory.foot_places])
        carried = float(normals[held].sum())
        slips = abs(tangential) > friction * float(normals.sum()) * (1.0 + 1e-9)
        link = robot.contacts[foot].link
        for normal, place, holds in zip(normals, trajectory.places[k, index], held, strict=True):
            if abs(normal) <= PRESSES:
                continue
            along = tangential * float(normal) / carried if holds and carried else 0.0
            message.contacts.append(
                ContactForce(
                    body_a=f"{robot.name}/{link}",
                    body_b=GROUND,
                    position=point((place[0], 0.0, place[1])),
                    normal=vector((0.0, 0.0, 1.0)),
                    force=vector((along, 0.0, float(normal))),
                    friction=float(friction),
                    state=ContactForce.SLIP if slips else ContactForce.STICK,
                )
            )
    return message
