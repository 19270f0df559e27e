# SPDX-License-Identifier: Apache-2.0
"""The points at which a stance holds a robot up, found from its surfaces or from a posture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import Contact, ContactKind
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.placed_contact import PlacedContact
from humanoid_planner.posture.problem.problem import surface_frame

NEAR = 5e-3
"""Largest distance between where a posture and where a stance says that a contact is [m]."""
PARALLEL = 0.03
"""Largest angle between their normals, beyond a relaxed contact's own tolerance [rad]."""


@dataclass(frozen=True)
class BearingContacts:
    """Contacts that bear force, and their points.

    Attributes:
        contacts: that bear force.
        points: of those on the world; contacts on the robot's own links support nothing.
        owners: (k,) which of ``contacts`` each point belongs to.
    """

    contacts: tuple[PlacedContact, ...]
    points: ContactPoints
    owners: tuple[int, ...]

    @property
    def inner(self) -> list[Contact]:
        """Contacts of the robot with itself."""
        return [placed.contact for placed in self.contacts if placed.ground]


def bearing_contacts(
    stance: Sequence[PlacedContact], kinematics: RobotKinematics, *, at_posture: bool
) -> BearingContacts:
    """Return the contacts of a stance that bear force.

    Args:
        stance: all contacts of it.
        kinematics: of the robot, at its posture if ``at_posture``.
        at_posture: contacts that slide are where the posture has them; otherwise where the stance says.
    """
    contacts, positions, frames, owners = [], [], [], []
    for placed in stance:
        contact = placed.contact
        if not contact.kind.bears:
            continue
        contacts.append(placed)
        if placed.ground:
            continue
        frame = placed.placement_ground_contact
        if contact.kind is ContactKind.SLIDING and at_posture:
            frame = pin.SE3(placed.placement_ground_surface.rotation, patch_placement(placed, kinematics).translation)
            vertices = [patch_placement(placed, kinematics).act(np.array([x, y, 0.0])) for x, y in placed.bearing]
        else:
            vertices = [frame.act(np.array([x, y, 0.0])) for x, y in placed.bearing]
        for vertex in vertices:
            positions.append(vertex)
            frames.append(frame.rotation)
            owners.append(len(contacts) - 1)
    count = len(positions)
    points = ContactPoints(
        np.reshape(positions, (count, 3)),
        np.reshape(frames, (count, 3, 3)),
        np.array([contacts[owner].friction for owner in owners], dtype=float),
        np.array([contacts[owner].contact.bilateral for owner in owners], dtype=bool),
    )
    return BearingContacts(tuple(contacts), points, tuple(owners))


def check_held(contacts: Sequence[PlacedContact], kinematics: RobotKinematics, field: str) -> None:
    """Raise unless a posture has its contacts where a stance says.

    Args:
        contacts: of the stance.
        kinematics: of the robot at the posture.
        field: that gives the posture, for errors.

    Raises:
        InputError: a contact is somewhere else.
    """
    for placed in contacts:
        contact = placed.contact
        here, wanted = patch_placement(placed, kinematics), surface_frame(placed, kinematics)
        local = wanted.actInv(here)
        patch = np.column_stack([contact.location.patch, np.zeros(len(contact.location.patch))])
        apart = np.array([local.act(vertex) - vertex for vertex in patch])
        if contact.kind is ContactKind.SLIDING:
            gap = float(np.abs(apart[:, 2]).max())
        elif contact.kind is ContactKind.RELAXED:
            gap = float(np.linalg.norm(local.translation))
        else:
            gap = float(np.linalg.norm(apart, axis=1).max())
        angle = float(np.arccos(np.clip(local.rotation[2, 2], -1.0, 1.0)))
        name = f"'{contact.location.name}' from its contact on '{contact.surface.name}'"
        remedy = "Give a posture that holds the stance, such as generate_posture finds"
        if gap > NEAR:
            raise InputError(f"puts {name} {gap:.3g} m away", element=field, remedy=remedy)
        if contact.kind is ContactKind.RELAXED and angle > contact.tolerance + PARALLEL:
            raise InputError(f"turns {name} by {angle:.3g} rad", element=field, remedy=remedy)


def patch_placement(placed: PlacedContact, kinematics: RobotKinematics) -> pin.SE3:
    """Return where a contact's patch is in the world at the kinematics' configuration."""
    kinematics.place_body(placed.body)
    body = pin.SE3(kinematics.rotations[placed.body].copy(), kinematics.origins[placed.body].copy())
    return body * placed.placement_body_patch


def patch_outline(placed: PlacedContact, kinematics: RobotKinematics | None) -> NDArray[np.float64]:
    """(k, 3) vertices of a contact's patch in the world [m].

    Args:
        placed: the contact.
        kinematics: of the robot at its posture; None takes the place that the stance says.
    """
    placement = placed.placement_ground_contact if kinematics is None else patch_placement(placed, kinematics)
    patch = placed.contact.location.patch
    return np.array([placement.act(np.array([x, y, 0.0])) for x, y in patch])
