# SPDX-License-Identifier: Apache-2.0
"""Contacts of a simulation as messages."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from humanoid_stack.msg import ContactForce, ContactForces

from humanoid_ros.messages.conversions import fill_vector
from humanoid_sim.state.contacts import Contacts


def contact_forces(contacts: Contacts, time: Time, world: str) -> ContactForces:
    """Return the message of all contacts at a time, vectors in the world frame."""
    message = ContactForces()
    message.header.stamp = time
    message.header.frame_id = world
    columns = zip(
        contacts.bodies,
        contacts.position.tolist(),
        contacts.normal.tolist(),
        contacts.force.tolist(),
        contacts.torque.tolist(),
        contacts.gap.tolist(),
        contacts.friction.tolist(),
        contacts.state.tolist(),
        strict=True,
    )
    for (body_a, body_b), position, normal, force, torque, gap, friction, state in columns:
        contact = ContactForce(body_a=body_a, body_b=body_b, gap=gap, friction=friction, state=state)
        fill_vector(contact.position, position)
        fill_vector(contact.normal, normal)
        fill_vector(contact.force, force)
        fill_vector(contact.torque, torque)
        message.contacts.append(contact)
    return message
