# SPDX-License-Identifier: Apache-2.0
"""Contact forces of a message as the arrays that the embedded view draws."""

from __future__ import annotations

import numpy as np
from humanoid_stack.msg import ContactForce, ContactForces

from humanoid_ros.viewer.drawing.contact_drawing import ContactView


def contact_view(message: ContactForces) -> ContactView:
    """Return contacts of a message as arrays."""
    contacts = message.contacts
    if not contacts:
        return ContactView.empty()

    def rows(name: str) -> np.ndarray:
        vectors = [getattr(contact, name) for contact in contacts]
        return np.array([[vector.x, vector.y, vector.z] for vector in vectors])

    return ContactView(
        position=rows("position"),
        normal=rows("normal"),
        force=rows("force"),
        friction=np.array([contact.friction for contact in contacts]),
        slipping=np.array([contact.state == ContactForce.SLIP for contact in contacts]),
        bodies=tuple((contact.body_a, contact.body_b) for contact in contacts),
    )
