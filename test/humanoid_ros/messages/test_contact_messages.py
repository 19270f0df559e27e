# SPDX-License-Identifier: Apache-2.0
"""Contacts as messages."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("humanoid_stack", reason="the interfaces are not built")

from humanoid_stack.msg import ContactForces
from rclpy.serialization import deserialize_message

from humanoid_ros.messages.contact_messages import ContactMessages
from humanoid_ros.messages.conversions import array, stamp
from humanoid_sim.state.contacts import Contacts


def test_every_field_is_told() -> None:
    rng = np.random.default_rng(3)
    contacts = Contacts(
        position=rng.normal(size=(3, 3)),
        normal=rng.normal(size=(3, 3)),
        force=rng.normal(size=(3, 3)),
        torque=rng.normal(size=(3, 3)),
        gap=rng.normal(size=3),
        velocity=rng.normal(size=(3, 3)),
        friction=rng.uniform(size=3),
        state=np.array([0, 1, 2]),
        bodies=[("hrp2/RLEG_LINK5", "floor"), ("box", "floor"), ("box", "hrp2/RARM_LINK6")],
    )
    message = deserialize_message(ContactMessages("world").update(contacts, stamp(0.25)), ContactForces)
    assert (message.header.frame_id, message.header.stamp.nanosec) == ("world", 250_000_000)
    for i, contact in enumerate(message.contacts):
        np.testing.assert_array_equal(array(contact.position), contacts.position[i])
        np.testing.assert_array_equal(array(contact.normal), contacts.normal[i])
        np.testing.assert_array_equal(array(contact.force), contacts.force[i])
        np.testing.assert_array_equal(array(contact.torque), contacts.torque[i])
        assert (contact.gap, contact.friction) == (contacts.gap[i], contacts.friction[i])
        assert contact.state == i
        assert (contact.body_a, contact.body_b) == contacts.bodies[i]
    assert len(message.contacts) == 3


def test_no_contact() -> None:
    data = ContactMessages("world").update(Contacts.none(), stamp(0.0))
    assert len(deserialize_message(data, ContactForces).contacts) == 0
