# SPDX-License-Identifier: Apache-2.0
"""Boxes along the world's axes around robots and bodies, and what overlaps them."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import HalfSpace, Shape
from humanoid_sim import Simulation


class EntityBounds:
    """Boxes around collision shapes; each shape's own box is turned with it, so that they may be too large."""

    def __init__(self, simulation: Simulation) -> None:
        """Look at nothing yet.

        Args:
            simulation: whose robots and bodies they are.
        """
        self._simulation = simulation
        self._corners: dict[int, NDArray[np.float64]] = {}

    def box(self, entity: str) -> NDArray[np.float64]:
        """Return lowest and highest corner of a robot or body now [m], shape (2, 3); infinite where it has no end."""
        world = self._simulation.world
        bodies = [(own, self._simulation.placement(own.name)) for own in world.bodies if own.owner == entity]
        shapes = [(shape, place * placement) for own, place in bodies for shape, placement in own.shapes]
        if any(isinstance(shape, HalfSpace) for shape, _ in shapes):
            return np.array([[-np.inf] * 3, [np.inf] * 3])
        points = [self._own_corners(shape) @ place.rotation.T + place.translation for shape, place in shapes]
        found = np.vstack(points or [place.translation[None] for _, place in bodies])  # or where it is
        return np.array([found.min(axis=0), found.max(axis=0)])

    def _own_corners(self, shape: Shape) -> NDArray[np.float64]:
        if id(shape) not in self._corners:
            geometry = coal_geometry(shape)
            geometry.computeLocalAABB()
            ends = np.array([geometry.aabb_local.min_, geometry.aabb_local.max_])
            self._corners[id(shape)] = np.array(list(itertools.product(*ends.T)))
        return self._corners[id(shape)]


def overlaps_box(box: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Return whether a box (2, 3) touches another one by its corners (3,)."""
    return bool((box[0] <= high).all() and (low <= box[1]).all())


def overlaps_sphere(box: NDArray[np.float64], centre: NDArray[np.float64], radius: float) -> bool:
    """Return whether a box (2, 3) touches a sphere."""
    return bool(np.linalg.norm(centre - np.clip(centre, box[0], box[1])) <= radius)
