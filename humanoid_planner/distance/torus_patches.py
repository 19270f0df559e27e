# SPDX-License-Identifier: Apache-2.0
"""The tori over the edges of a volume: circles on which the centres of their tubes lie, and which arcs are used."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROUND_OFF = 1e-9
"""Arcs shorter than this [rad], or that miss a whole turn by less, are empty ones but for round-off."""


@dataclass(frozen=True)
class TorusPatches:
    """Circle arcs of the big sphere's centre while it rolls over each edge (Theorem 4.4.1 of specification 001).

    The centre at angle t is ``midpoint + radius (cos(t) start + sin(t) side)`` for t from 0, above the first face of
    the edge, to ``sweep``, above the second. The tube's radius is R. An edge between faces on one big sphere has an
    empty arc; the only edge of a volume with two vertices has the whole circle.

    Attributes:
        midpoints: centres of the circles, the edges' midpoints, shape (ne, 3) [m].
        axes: unit vectors along the edges, from vertex a to vertex b, shape (ne, 3).
        lengths: of the edges, shape (ne,) [m].
        radii: of the circles, sqrt((R - r)^2 - length^2 / 4), shape (ne,) [m].
        starts: unit vectors from the midpoint to the centre over the first face, shape (ne, 3).
        sides: unit vectors axis x start, shape (ne, 3).
        sweeps: angles of the arcs, shape (ne,) [rad].
    """

    midpoints: NDArray[np.float64]
    axes: NDArray[np.float64]
    lengths: NDArray[np.float64]
    radii: NDArray[np.float64]
    starts: NDArray[np.float64]
    sides: NDArray[np.float64]
    sweeps: NDArray[np.float64]

    @classmethod
    def of_edges(
        cls,
        vertices: NDArray[np.float64],
        edges: NDArray[np.int64],
        edge_faces: NDArray[np.int64],
        centres: NDArray[np.float64],
        radius: float,
    ) -> TorusPatches:
        """Return arcs of the edges of a volume.

        Args:
            vertices: shape (nv, 3).
            edges: shape (ne, 2).
            edge_faces: shape (ne, 2), -1 where there is no face.
            centres: of the big spheres, shape (nf, 3).
            radius: R - r.
        """
        first, second = vertices[edges[:, 0]], vertices[edges[:, 1]]
        midpoints, along = 0.5 * (first + second), second - first
        lengths = np.linalg.norm(along, axis=1)
        axes = along / lengths[:, None]
        if len(centres):
            from_middle = centres[edge_faces] - midpoints[:, None]
            one, other = from_middle[:, 0], from_middle[:, 1]
        else:  # a whole circle starts anywhere
            one = np.array([np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]) for axis in axes]).reshape(-1, 3)
            other = one
        starts = one - np.einsum("ij,ij->i", one, axes)[:, None] * axes
        starts /= np.linalg.norm(starts, axis=1)[:, None]
        sides = np.cross(axes, starts)
        sweeps = np.arctan2(np.einsum("ij,ij->i", other, sides), np.einsum("ij,ij->i", other, starts)) % (2 * math.pi)
        sweeps[(sweeps < _ROUND_OFF) | (sweeps > 2 * math.pi - _ROUND_OFF)] = 0.0
        if not len(centres):
            sweeps[:] = 2 * math.pi
        return cls(midpoints, axes, lengths, np.sqrt(radius**2 - 0.25 * lengths**2), starts, sides, sweeps)

    def centres_at(self, edge: int, angles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return centres of the tube over an edge at angles (k,) of its arc, shape (k, 3)."""
        turned = np.outer(np.cos(angles), self.starts[edge]) + np.outer(np.sin(angles), self.sides[edge])
        return np.asarray(self.midpoints[edge] + self.radii[edge] * turned)
