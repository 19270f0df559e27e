# SPDX-License-Identifier: Apache-2.0
"""Contact points of two shapes neither of which is a half-space, through coal."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import coal
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import QhullError

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from humanoid_sim.detection.face_contact import MAX_POINTS, face_contact
from humanoid_sim.detection.half_space import features_of, hull_vertices
from humanoid_sim.detection.polytope import Polytope


class ConvexShape:
    """A convex shape prepared for narrow-phase queries.

    A mesh collides as its convex hull. Half-spaces are handled elsewhere
    (:mod:`humanoid_sim.detection.half_space`).

    Attributes:
        geometry: coal's shape.
        polytope: faces of a box or mesh; none for round shapes and flat meshes.
        features: centres [m], radii [m] and axes of what of a shape without faces can touch a face.
        centre: of the bounding box along the shape's axes [m], shape (3,).
        half_sizes: half edge lengths of that box [m], shape (3,).
    """

    def __init__(self, shape: Shape) -> None:
        """Prepare a box, sphere, capsule, cylinder or mesh.

        Raises:
            InputError: a mesh file can't be read.
        """
        assert not isinstance(shape, HalfSpace)
        self.geometry = coal_geometry(shape)
        self.polytope = Polytope.none()
        self.centre = np.zeros(3)
        if isinstance(shape, Mesh):
            self.geometry.buildConvexHull(True, "Qt")
            self.geometry = self.geometry.convex
            vertices = hull_vertices(shape)
            self.centre = 0.5 * (vertices.max(axis=0) + vertices.min(axis=0))
            self.half_sizes = 0.5 * (vertices.max(axis=0) - vertices.min(axis=0))
        elif isinstance(shape, Box):
            self.half_sizes = 0.5 * np.array(shape.size)
        elif isinstance(shape, Sphere):
            self.half_sizes = np.full(3, shape.radius)
        else:
            assert isinstance(shape, (Capsule, Cylinder))
            cap = shape.radius if isinstance(shape, Capsule) else 0.0
            self.half_sizes = np.array([shape.radius, shape.radius, 0.5 * shape.length + cap])
        if isinstance(shape, (Box, Mesh)):
            with contextlib.suppress(QhullError):
                self.polytope = Polytope.of_shape(shape)
        features = features_of(shape)
        self.features = (
            np.array([feature.centre for feature in features]),
            np.array([feature.radius for feature in features]),
            np.array([feature.axis for feature in features]),
        )

    @property
    def faces(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
        """Arrays of :attr:`polytope`."""
        return self.polytope.normals, self.polytope.corners, self.polytope.starts


@dataclass(frozen=True)
class PairContact:
    """Contact points of a pair of shapes.

    Attributes:
        normal: unit, from the second shape into the first, in the world, shape (3,).
        positions: in the world [m], shape (k, 3).
        gaps: signed distances along the normal [m], shape (k,).
    """

    normal: NDArray[np.float64]
    positions: NDArray[np.float64]
    gaps: NDArray[np.float64]


class ShapePair:
    """Two shapes whose contact points are asked for again and again."""

    def __init__(self, first: ConvexShape, second: ConvexShape) -> None:
        """Prepare the query.

        Args:
            first: body a.
            second: body b.
        """
        self._first = first
        self._second = second
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._result = coal.DistanceResult()
        self._positions = np.empty((MAX_POINTS, 3))
        self._gaps = np.empty(MAX_POINTS)

    def contacts(
        self,
        R_first: NDArray[np.float64],
        p_first: NDArray[np.float64],
        R_second: NDArray[np.float64],
        p_second: NDArray[np.float64],
        margin: float,
    ) -> PairContact | None:
        """Points where the two shapes touch or nearly touch.

        coal gives the distance, the normal and one pair of nearest points. Where the normal is that of a face, the
        other shape's facing polygon, clipped by the face, replaces the one point, each point with its own gap.

        Args:
            R_first: rotation from the first shape's frame to the world, shape (3, 3).
            p_first: origin of that frame in the world [m], shape (3,).
            R_second: the same of the second shape.
            p_second: the same of the second shape.
            margin: points up to this far apart are kept [m].

        Returns:
            The contact points, or None where the shapes are farther apart than the margin.
        """
        result = self._result
        result.clear()
        gap = coal.distance(
            self._first.geometry,
            coal.Transform3s(R_first, p_first),
            self._second.geometry,
            coal.Transform3s(R_second, p_second),
            self._request,
            result,
        )
        if gap > margin:
            return None
        normal = -np.array(result.normal).reshape(3)
        first = (*self._first.faces, *self._first.features, R_first, p_first)
        second = (*self._second.faces, *self._second.features, R_second, p_second)
        positions, gaps = self._positions, self._gaps
        count = face_contact(*first, *second[:3], R_second, p_second, normal, margin, positions, gaps)
        if count == 0:
            normal *= -1.0
            count = face_contact(*second, *first[:3], R_first, p_first, normal, margin, positions, gaps)
            normal *= -1.0
        if count == 0:
            nearest = np.array(result.getNearestPoint1()) + np.array(result.getNearestPoint2())
            return PairContact(normal, 0.5 * nearest.reshape(1, 3), np.array([gap]))
        return PairContact(normal, positions[:count].copy(), gaps[:count].copy())
