# SPDX-License-Identifier: Apache-2.0
"""Contact forces of a message as the arrays that the embedded view draws."""

from __future__ import annotations

import numpy as np
from humanoid_stack.msg import ContactForce, ContactForces

from humanoid_ros.viewer.drawing.contact_drawing import ContactView
from humanoid_ros.viewer.drawing.drawable import drawable_rows


def contact_view(message: ContactForces) -> ContactView:
    """Return contacts of a message as arrays; those with a number that can't be drawn are left out."""
    rows = np.array([_numbers(contact) for contact in message.contacts]).reshape(-1, 10)
    good = drawable_rows(rows)
    contacts, rows = [contact for contact, fits in zip(message.contacts, good, strict=True) if fits], rows[good]
    return ContactView(
        position=rows[:, :3],
        normal=rows[:, 3:6],
        force=rows[:, 6:9],
        friction=rows[:, 9],
        slipping=np.array([contact.state == ContactForce.SLIP for contact in contacts], dtype=bool),
        bodies=tuple((contact.body_a, contact.body_b) for contact in contacts),
    )


def _numbers(contact: ContactForce) -> tuple[float, ...]:
    """Return position, normal, force and friction."""
    p, n, f = contact.position, contact.normal, contact.force
    return p.x, p.y, p.z, n.x, n.y, n.z, f.x, f.y, f.z, contact.friction
