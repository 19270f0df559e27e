# SPDX-License-Identifier: Apache-2.0
"""What kernels are told of two shapes, and where they write what they find."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Pose(NamedTuple):
    """Where a shape is: from its frame to the world, or to another shape's frame.

    Attributes:
        R: rotation, shape (3, 3).
        p: origin [m], shape (3,).
    """

    R: np.ndarray
    p: np.ndarray


class Nearest(NamedTuple):
    """The nearest or deepest points of two shapes.

    Attributes:
        normal: from b into a, unit where they touch, shape (3,).
        on_a: point of a [m], shape (3,).
        on_b: point of b [m], shape (3,).
    """

    normal: np.ndarray
    on_a: np.ndarray
    on_b: np.ndarray


class Simplex(NamedTuple):
    """Points of the difference of two cores, with the points of both that they are the differences of.

    Attributes:
        w_a: points of a [m], shape (4, 3).
        w_b: points of b [m], shape (4, 3).
        w: their differences [m], shape (4, 3).
    """

    w_a: np.ndarray
    w_b: np.ndarray
    w: np.ndarray


class PatchPoints(NamedTuple):
    """Contact points of two convex shapes, all with one normal.

    Attributes:
        positions: midway between the shapes [m], shape (points, 3).
        gaps: signed distances along the normal [m], shape (points,).
        features: a number for each that stays the same while the same parts touch, shape (points,).
    """

    positions: np.ndarray
    gaps: np.ndarray
    features: np.ndarray

    @classmethod
    def of_size(cls, points: int) -> PatchPoints:
        """Room for so many."""
        return cls(np.zeros((points, 3)), np.zeros(points), np.zeros(points, dtype=np.int64))


class MeshPoints(NamedTuple):
    """Contact points of two shapes, each with its normal.

    Attributes:
        positions: midway between the shapes [m], shape (points, 3).
        normals: unit, from b into a, shape (points, 3).
        gaps: signed distances along the normals [m], shape (points,).
        features: a number for each that stays the same while the same parts touch, shape (points,).
    """

    positions: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    features: np.ndarray

    @classmethod
    def of_size(cls, points: int) -> MeshPoints:
        """Room for so many."""
        return cls(np.zeros((points, 3)), np.zeros((points, 3)), np.zeros(points), np.zeros(points, dtype=np.int64))
