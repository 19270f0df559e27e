# SPDX-License-Identifier: Apache-2.0
"""A motion as a message."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import Contact as ContactMessage

from humanoid_model import Contact, ContactKind, Surface, load_robot
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory
from humanoid_ros.messages.conversions import array, placement, seconds
from humanoid_ros.messages.motion_messages import whole_body_message

BIP = load_robot("bip", geometry=False)
FLOOR = Surface("floor", "floor", pin.SE3.Identity())


def motion() -> WholeBodyTrajectory:
    standing, model = BIP.postures["standing"], BIP.model
    q = np.array([standing, standing, standing, pin.integrate(model, standing, np.full(model.nv, 0.02))])
    v = np.arange(4)[:, None] * np.full((4, model.nv), 0.1)
    places = {
        name: BIP.link_placements(standing)[BIP.contacts[name].link] * BIP.contacts[name].placement_link_patch
        for name in ("right_sole", "left_sole")
    }

    def contact(name: str, kind: ContactKind = ContactKind.FIXED) -> Contact:
        return Contact(BIP.contacts[name], FLOOR, *places[name].translation[:2], 0.0, kind)

    up = np.array([0.0, 0.0, 1.0])
    force = PlannedForce("right_sole", "floor", places["right_sole"].translation, up, 600.0 * up, 0.7)
    return WholeBodyTrajectory(
        BIP,
        [0.0, 0.5, 0.5, 1.0],
        q,
        v,
        2.0 * v,
        [
            ContactSpan(contact("right_sole"), 0.0, 1.0),
            ContactSpan(contact("left_sole"), 0.0, 0.5, "toe"),
            ContactSpan(contact("left_sole", ContactKind.RELEASED), 0.5, 1.0),
        ],
        tau=3.0 * v,
        forces=[[], [force], [force, force], [force]],
        zero_moment_point=np.arange(12).reshape(4, 3),
    )


def test_every_time_is_there_once_with_what_begins_there() -> None:
    message = whole_body_message(motion(), "world")
    assert [seconds(point.time_from_start) for point in message.joints.points] == [0.0, 0.5, 1.0]
    assert [point.velocities[0] for point in message.joints.points] == pytest.approx([0.0, 0.2, 0.3])
    assert [point.accelerations[0] for point in message.joints.points] == pytest.approx([0.0, 0.4, 0.6])
    assert [point.effort[0] for point in message.joints.points] == pytest.approx([0.0, 0.6, 0.9])
    assert [len(item.contacts) for item in message.forces] == [0, 2, 1]
    assert [array(point).tolist() for point in message.zero_moment_point] == [[0, 1, 2], [6, 7, 8], [9, 10, 11]]


def test_the_base_is_in_the_world_and_its_twist_in_its_own_frame() -> None:
    planned = motion()
    message = whole_body_message(planned, "world")
    np.testing.assert_allclose(
        placement(message.base[-1], "base").homogeneous, BIP.placement_base(planned.q[-1]).homogeneous, atol=1e-9
    )
    np.testing.assert_allclose(array(message.base_twist[-1].linear), planned.v[-1, :3])
    np.testing.assert_allclose(array(message.base_twist[-1].angular), planned.v[-1, 3:6])


def test_contacts_are_told_with_part_place_and_kind() -> None:
    first, second = whole_body_message(motion(), "world").contacts
    assert [item.location for item in first.stance.contacts] == ["left_sole/toe", "right_sole"]
    assert [item.location for item in second.stance.contacts] == ["left_sole", "right_sole"]
    assert [item.kind for item in second.stance.contacts] == [ContactMessage.RELEASED, ContactMessage.FIXED]
    assert (first.start, first.duration, second.start) == (0.0, 0.5, 0.5)
    right = second.stance.contacts[1]
    assert (right.x, right.y) == pytest.approx(
        tuple(motion().contacts[0].contact.placement_surface_patch.translation[:2])
    )


def test_forces_act_on_the_links() -> None:
    force = whole_body_message(motion(), "world").forces[-1].contacts[0]
    assert force.body_a == f"bip/{BIP.contacts['right_sole'].link}"
    assert force.body_b == "floor"
    assert force.force.z == 600.0
    assert force.friction == 0.7
