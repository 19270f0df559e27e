# SPDX-License-Identifier: Apache-2.0
"""What finds the distance of two solids: the compiled code of this package, or coal."""

from __future__ import annotations

import coal
import numpy as np
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_sim.detection.solids import Polytope, SolidShape, TriangleMesh

BACKENDS = ("compiled", "coal")
"""The kernels of this package, or coal (the collision library that comes with Pinocchio)."""
_TOLERANCE = 1e-9
"""Of coal's iterations, whose default of 1e-6 m is seen as noise in the gaps of what rests on a corner."""
_TOUCHING = 1e-6
"""Nearer or less deep than this, the direction from one nearest point to the other is mostly rounding [m]."""
_LIFT = 1e-4
"""Solids that touch are asked for again this far apart [m]."""


def coal_solid(solid: SolidShape) -> coal.CollisionGeometry:
    """Coal's geometry of a primitive, of a convex hull or of a mesh's triangles."""
    if isinstance(solid, TriangleMesh):
        model = coal.BVHModelOBBRSS()
        points = np.ascontiguousarray(solid.triangles.reshape(-1, 3))
        model.beginModel(len(solid.triangles), len(points))
        model.addVertices(points)
        model.addTriangles(np.arange(len(points), dtype=np.int64).reshape(-1, 3))
        model.endModel()
        return model
    if isinstance(solid, Polytope):
        points = coal.StdVec_Vec3s()
        for vertex in solid.vertices:
            points.append(vertex)
        return coal.ConvexBase.convexHull(points, True, "Qt")
    return coal_geometry(solid)


class CoalDistance:
    """Signed distance of two convex solids by coal, asked for again and again."""

    def __init__(self, first: SolidShape, second: SolidShape) -> None:
        """Prepare the query; no mesh, of which coal knows no depth."""
        self._geometries = coal_solid(first), coal_solid(second)
        self._request = coal.DistanceRequest()
        self._request.enable_signed_distance = True
        self._request.gjk_tolerance = self._request.epa_tolerance = _TOLERANCE
        self._result = coal.DistanceResult()

    def __call__(
        self, R_a: NDArray[np.float64], p_a: NDArray[np.float64], R_b: NDArray[np.float64], p_b: NDArray[np.float64],
        cutoff: float, normal: NDArray[np.float64], on_a: NDArray[np.float64], on_b: NDArray[np.float64],
    ) -> float:  # fmt: skip
        """As :func:`~humanoid_sim.detection.convex_pair.convex_distance`."""
        places = coal.Transform3s(R_a, p_a), coal.Transform3s(R_b, p_b)
        gap = self._ask(*places, normal, on_a, on_b)
        if not gap <= cutoff:
            return np.inf
        if abs(gap) < _TOUCHING:  # its normal may be degrees off: lift a, and take the lift off again
            lift = _LIFT * normal
            places[0].setTranslation(p_a + lift)
            gap = self._ask(*places, normal, on_a, on_b) - float(lift @ normal)
            on_a -= lift
        return gap

    def _ask(
        self, at_a: coal.Transform3s, at_b: coal.Transform3s, normal: NDArray[np.float64], on_a: NDArray[np.float64],
        on_b: NDArray[np.float64],
    ) -> float:  # fmt: skip
        result = self._result
        result.clear()
        gap = float(coal.distance(self._geometries[0], at_a, self._geometries[1], at_b, self._request, result))
        normal[:] = -np.array(result.normal).reshape(3)
        on_a[:] = np.array(result.getNearestPoint1()).reshape(3)
        on_b[:] = np.array(result.getNearestPoint2()).reshape(3)
        return gap
