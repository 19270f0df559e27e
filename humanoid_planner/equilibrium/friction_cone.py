# SPDX-License-Identifier: Apache-2.0
"""Friction cones cut into facets: pyramids inside and around the quadratic cone (specification 001 section 4.10)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.cone_simplex import FRICTIONLESS
from humanoid_planner.equilibrium.contact_points import ContactPoints


def pyramid(friction: float, facets: int, *, inscribed: bool = True) -> NDArray[np.float64]:
    """Return edges of a pyramid that replaces a friction cone.

    Args:
        friction: Coulomb coefficient.
        facets: of the pyramid, at least 3.
        inscribed: inside the cone, its edges on it, so that tests with it are conservative; else around it.

    Returns:
        (facets, 3) unit vectors in the contact frame (t1, t2, n), counter-clockwise; one edge of an inscribed pyramid
        and the middle of one facet of a circumscribed one lie in the plane of t1 and n. One vector without friction.

    Raises:
        InputError: fewer than 3 facets.
    """
    if facets < 3:
        raise InputError(f"{facets} facets", element="facets", remedy="Give 3 or more")
    if friction < FRICTIONLESS:
        return np.array([[0.0, 0.0, 1.0]])
    angles = 2.0 * math.pi * np.arange(facets) / facets
    slope = friction
    if not inscribed:
        angles += math.pi / facets
        slope /= math.cos(math.pi / facets)
    rays = np.column_stack([slope * np.cos(angles), slope * np.sin(angles), np.ones(facets)])
    return np.asarray(rays / math.sqrt(1.0 + slope**2))


def pyramid_halfspaces(friction: float, facets: int, *, inscribed: bool = True) -> NDArray[np.float64]:
    """(facets, 3) outward unit normals of the same pyramid's facets: forces f in the contact frame fulfil a.f <= 0.

    Raises:
        InputError: fewer than 3 facets.
    """
    if facets < 3:
        raise InputError(f"{facets} facets", element="facets", remedy="Give 3 or more")
    if friction < FRICTIONLESS:
        return np.array([[1.0, 0, 0], [0, 1.0, 0], [-1.0, 0, 0], [0, -1.0, 0], [0, 0, -1.0]])
    angles = 2.0 * math.pi * np.arange(facets) / facets
    slope = friction
    if inscribed:
        angles += math.pi / facets
        slope *= math.cos(math.pi / facets)
    rows = np.column_stack([np.cos(angles), np.sin(angles), np.full(facets, -slope)])
    return np.asarray(rows / math.sqrt(1.0 + slope**2))


def force_generators(
    contacts: ContactPoints, facets: int, *, inscribed: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Edges of the pyramids of all contact points, u_ij of (6.23); the six directions of the axes where bilateral.

    Returns:
        (g, 3) unit forces in the world and (g,) the number of the point of each.
    """
    forces, owners = [], []
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    for i in range(len(contacts)):
        local = axes if contacts.bilateral[i] else pyramid(float(contacts.friction[i]), facets, inscribed=inscribed)
        forces.append(local @ contacts.frames[i].T)
        owners.append(np.full(len(local), i, dtype=np.int64))
    if not forces:
        return np.zeros((0, 3)), np.zeros(0, dtype=np.int64)
    return np.concatenate(forces), np.concatenate(owners)


def wrench_generators(contacts: ContactPoints, facets: int, *, inscribed: bool = True) -> NDArray[np.float64]:
    """(g, 6) wrenches a_ij of these forces about the world's origin: force, then moment OA x f (section 7.6.5)."""
    forces, owners = force_generators(contacts, facets, inscribed=inscribed)
    return np.hstack([forces, np.cross(contacts.positions[owners], forces)])
