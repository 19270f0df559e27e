# SPDX-License-Identifier: Apache-2.0
"""Contacts of a simulation as messages."""

from __future__ import annotations

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_stack.msg import ContactForce, ContactForces

from humanoid_ros.messages.conversions import fill_vector
from humanoid_ros.messages.serialized_message import SerializedMessages
from humanoid_sim.state.contacts import Contacts


class ContactMessages:
    """Makes the serialised message of each instant, vectors in the world frame."""

    def __init__(self, world: str) -> None:
        """Begin with the name of the world frame."""
        self._world = world
        self._messages = SerializedMessages(self._layout, _write)

    def update(self, contacts: Contacts, time: Time) -> bytes:
        """Return the serialised ContactForces of all contacts at a time."""
        numbers = (
            contacts.position, contacts.normal, contacts.force, contacts.torque,
            contacts.gap[:, None], contacts.friction[:, None],
        )  # fmt: skip
        return self._messages.filled((tuple(contacts.bodies), tuple(contacts.state.tolist())), np.hstack(numbers), time)

    def _layout(self, bodies: tuple[tuple[str, str], ...], states: tuple[int, ...]) -> ContactForces:
        message = ContactForces()
        message.header.frame_id = self._world
        message.contacts = [
            ContactForce(body_a=a, body_b=b, state=state) for (a, b), state in zip(bodies, states, strict=True)
        ]
        return message


def _write(message: ContactForces, values: list[float], time: Time) -> None:
    message.header.stamp = time
    for number, contact in enumerate(message.contacts):
        own = values[14 * number : 14 * number + 14]
        fill_vector(contact.position, own)
        fill_vector(contact.normal, own[3:])
        fill_vector(contact.force, own[6:])
        fill_vector(contact.torque, own[9:])
        contact.gap, contact.friction = own[12:]
