# SPDX-License-Identifier: Apache-2.0
"""Motions as messages: a joint trajectory; a whole robot's with base, contacts, planned forces, zero-moment point."""

from __future__ import annotations

import dataclasses
import itertools
from array import array
from collections.abc import Iterable, Mapping

import humanoid_stack.msg as messages
import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Pose, Twist
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_model import Contact, Stance
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory
from humanoid_ros.messages.conversions import duration, fill_pose, fill_vector, point, vector
from humanoid_ros.messages.stance_messages import stance_message


def floats(row: NDArray[np.float64]) -> array[float]:
    """Return numbers as fields of messages take them without looking at each."""
    return array("d", row.tobytes())


def joint_trajectory_message(
    trajectory: JointTrajectory, *, start: float = 0.0, efforts: bool = True
) -> JointTrajectoryMessage:
    """Return the message of a joint trajectory, with what its points give.

    Args:
        trajectory: of the library.
        start: its time at which the message's trajectory starts [s].
        efforts: whether feed-forward efforts go along.
    """
    message = JointTrajectoryMessage(joint_names=list(trajectory.joint_names))
    tables = {
        "positions": trajectory.positions,
        "velocities": trajectory.velocities,
        "accelerations": trajectory.accelerations,
        "effort": trajectory.efforts if efforts else None,
    }
    for k, time in enumerate(trajectory.times):
        point = JointTrajectoryPoint(time_from_start=duration(float(time - start)))
        for field, table in tables.items():
            if table is not None and not np.isnan(table[k, 0]):
                setattr(point, field, floats(table[k]))
        message.points.append(point)
    return message


_OWN_NAME = ("sole", "tip")
"""Parts that have the name of their location."""


def whole_body_message(trajectory: WholeBodyTrajectory, world: str) -> messages.WholeBodyTrajectory:
    """Return the message of a motion; of a time that is there twice it has the later sample.

    Args:
        trajectory: the motion.
        world: name of the frame of base and forces.
    """
    robot, kept = trajectory.robot, trajectory.increasing
    message = messages.WholeBodyTrajectory(robot=robot.name)
    message.header.frame_id = world
    message.joints = joint_trajectory_message(trajectory.joint_trajectory(kept))
    message.joints.header.frame_id = world
    if trajectory.base is not None:
        data = robot.model.createData()
        for k in kept:
            pose, twist = _base(trajectory, trajectory.base, data, int(k))
            message.base.append(pose)
            message.base_twist.append(twist)
    message.contacts = contact_phases(trajectory)
    if trajectory.forces:
        links = {span.location: f"{robot.name}/{span.contact.location.link}" for span in trajectory.contacts}
        message.forces = [_forces(trajectory.forces[k], links, world) for k in kept]
    if trajectory.zero_moment_point is not None:
        message.zero_moment_point = [point(trajectory.zero_moment_point[k]) for k in kept]
    return message


def contact_phases(trajectory: WholeBodyTrajectory) -> list[messages.ContactPhase]:
    """Return the contact schedule: what touches from each change to the next.

    A contact's location is the robot's for a whole sole or a tip, and that name with ``/heel`` or ``/toe`` behind it
    where only that edge touches.
    """
    ends = sorted({time for item in trajectory.contacts for time in (item.start, item.end)})
    phases = []
    for start, end in itertools.pairwise(ends):
        middle = 0.5 * (start + end)
        links = trajectory.robot.link_placements(trajectory.at(middle).q)
        contacts, placements = [], {}
        for span in trajectory.held(middle):
            contact = _named(span)
            patch = links[contact.location.link] * contact.location.placement_link_patch
            contacts.append(contact)
            placements[contact.location.name] = patch, patch * contact.placement_surface_patch.inverse()
        stance = stance_message(Stance(tuple(contacts)), placements)
        phases.append(messages.ContactPhase(start=float(start), duration=float(end - start), stance=stance))
    return phases


def _named(span: ContactSpan) -> Contact:
    """Return a contact whose location's name tells what part of it touches."""
    if span.part in _OWN_NAME:
        return span.contact
    name = f"{span.location}/{span.part}"
    return dataclasses.replace(span.contact, location=dataclasses.replace(span.contact.location, name=name))


def _base(trajectory: WholeBodyTrajectory, joint: int, data: pin.Data, k: int) -> tuple[Pose, Twist]:
    """Pose of the base in the world, and its twist in its own frame."""
    pose, twist = Pose(), Twist()
    pin.forwardKinematics(trajectory.robot.model, data, trajectory.q[k], trajectory.v[k])
    fill_pose(pose, data.oMi[joint])
    speed = data.v[joint]
    fill_vector(twist.linear, np.asarray(speed.linear))
    fill_vector(twist.angular, np.asarray(speed.angular))
    return pose, twist


def _forces(planned: Iterable[PlannedForce], links: Mapping[str, str], world: str) -> messages.ContactForces:
    """Return forces of the scene on the robot's links, by location, at one instant."""
    message = messages.ContactForces()
    message.header.frame_id = world
    for item in planned:
        message.contacts.append(
            messages.ContactForce(
                body_a=links[item.location],
                body_b=item.surface,
                position=point(item.place),
                normal=vector(item.normal),
                force=vector(item.force),
                friction=float(item.friction),
                state=messages.ContactForce.SLIP if item.slips else messages.ContactForce.STICK,
            )
        )
    return message
