# SPDX-License-Identifier: Apache-2.0
"""Contact points of two convex shapes, by coal or by the compiled code of this package."""

from __future__ import annotations

from dataclasses import dataclass

import coal
import numpy as np
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.face_contact import MAX_POINTS
from humanoid_sim.detection.polytope import Polytope
from humanoid_sim.detection.shape_table import shape_table

BACKENDS = ("compiled", "coal")
"""What finds the distance of two shapes: the kernels of this package, or coal."""


class ConvexShape:
    """A convex shape prepared for narrow-phase queries.

    A mesh stands for its convex hull. Half-spaces are handled elsewhere (:mod:`humanoid_sim.detection.half_space`).

    Attributes:
        solid: what :func:`~humanoid_sim.detection.shape_table.shape_table` takes.
        geometry: coal's shape.
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
        self.solid: Box | Sphere | Capsule | Cylinder | Polytope
        if isinstance(shape, Mesh):
            self.geometry.buildConvexHull(True, "Qt")
            self.geometry = self.geometry.convex
            self.solid = Polytope.of_shape(shape)
        else:
            assert isinstance(shape, (Box, Sphere, Capsule, Cylinder))
            self.solid = shape
        table = shape_table([self.solid])
        self.centre, self.half_sizes = table.centre[0], table.half[0]


@dataclass(frozen=True)
class PairContact:
    """Contact points of a pair of shapes.

    Attributes:
        normal: unit, from the second shape into the first, in the world, shape (3,).
        positions: in the world [m], shape (k, 3).
        gaps: signed distances along the normal [m], shape (k,).
        features: numbers that stay the same while the same parts touch, shape (k,).
    """

    normal: NDArray[np.float64]
    positions: NDArray[np.float64]
    gaps: NDArray[np.float64]
    features: NDArray[np.int64]


class ShapePair:
    """Two convex shapes whose contact points are asked for again and again."""

    def __init__(self, first: ConvexShape, second: ConvexShape, backend: str = BACKENDS[0]) -> None:
        """Prepare the query.

        Args:
            first: body a.
            second: body b.
            backend: one of ``BACKENDS``.
        """
        assert backend in BACKENDS
        self._backend = backend
        self._geometries = first.geometry, second.geometry
        self._table = shape_table([first.solid, second.solid])
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._result = coal.DistanceResult()

    def distance(
        self,
        R_first: NDArray[np.float64],
        p_first: NDArray[np.float64],
        R_second: NDArray[np.float64],
        p_second: NDArray[np.float64],
        cutoff: float,
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Signed distance [m], infinite beyond the cutoff, normal from second into first, and nearest points.

        Args:
            R_first: rotation from the first shape's frame to the world, shape (3, 3).
            p_first: origin of that frame in the world [m], shape (3,).
            R_second: the same of the second shape.
            p_second: the same of the second shape.
            cutoff: distance from which on the shapes count as far apart [m].
        """
        # Pinocchio's matrices go by columns: kernels would be compiled once more for each such argument.
        R_first, R_second = np.ascontiguousarray(R_first), np.ascontiguousarray(R_second)
        normal, on_first, on_second = np.zeros(3), np.zeros(3), np.zeros(3)
        if self._backend == "compiled":
            gap = convex_distance(
                self._table, 0, 1, R_first, p_first, R_second, p_second, cutoff, normal, on_first, on_second
            )
            return gap, normal, on_first, on_second
        result = self._result
        result.clear()
        gap = coal.distance(
            self._geometries[0],
            coal.Transform3s(R_first, p_first),
            self._geometries[1],
            coal.Transform3s(R_second, p_second),
            self._request,
            result,
        )
        normal[:] = -np.array(result.normal).reshape(3)
        on_first[:] = np.array(result.getNearestPoint1()).reshape(3)
        on_second[:] = np.array(result.getNearestPoint2()).reshape(3)
        return gap if gap <= cutoff else np.inf, normal, on_first, on_second

    def contacts(
        self,
        R_first: NDArray[np.float64],
        p_first: NDArray[np.float64],
        R_second: NDArray[np.float64],
        p_second: NDArray[np.float64],
        margin: float,
    ) -> PairContact | None:
        """Points where the two shapes touch or nearly touch.

        Args:
            R_first: rotation from the first shape's frame to the world, shape (3, 3).
            p_first: origin of that frame in the world [m], shape (3,).
            R_second: the same of the second shape.
            p_second: the same of the second shape.
            margin: points up to this far apart are kept [m].

        Returns:
            The contact points, or None where the shapes are farther apart than the margin.
        """
        places = np.ascontiguousarray(R_first), p_first, np.ascontiguousarray(R_second), p_second
        gap, normal, on_first, on_second = self.distance(*places, margin)
        if gap == np.inf:
            return None
        positions, gaps = np.empty((MAX_POINTS, 3)), np.empty(MAX_POINTS)
        features = np.empty(MAX_POINTS, dtype=np.int64)
        count = contact_patch(
            self._table, 0, 1, *places, gap, on_first, on_second, margin, normal, positions, gaps, features
        )
        return PairContact(normal, positions[:count], gaps[:count], features[:count])
