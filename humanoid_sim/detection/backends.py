# SPDX-License-Identifier: Apache-2.0
"""What finds distances and intersections of two solids: the compiled code of this package, or coal.

The triangles of two meshes are intersected after Möller (1997).
"""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.detection.broad_phase import tree_overlaps
from humanoid_sim.detection.patch_reduction import reduce_patch
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


NONE, SEGMENT, COPLANAR = 0, 1, 2
"""Outcomes of :func:`triangle_intersection`."""

_ON_PLANE = 1e-12
"""Corners within this part of the triangles' size of a plane are on it."""


@uncounted()
def _plane(triangle: np.ndarray, normal: np.ndarray) -> float:
    """Return the unit normal of a triangle and its offset from the origin; the normal is zero without area."""
    length = 0.0
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        normal[r] = (triangle[1, c1] - triangle[0, c1]) * (triangle[2, c2] - triangle[0, c2]) - (
            triangle[1, c2] - triangle[0, c2]
        ) * (triangle[2, c1] - triangle[0, c1])
        length += normal[r] * normal[r]
    offset = 0.0
    if length > 0.0:
        for r in range(3):
            normal[r] /= np.sqrt(length)
            offset += normal[r] * triangle[0, r]
    return offset


@counted()
def _cut(triangle: np.ndarray, normal: np.ndarray, offset: float, zero: float, ends: np.ndarray) -> int:
    """Where a triangle cuts a plane: ends of the segment, shape (2, 3); 0, 1 or 2 of them, 3 if it lies in it."""
    heights = np.empty(3)
    on = 0
    for i in range(3):
        heights[i] = -offset
        for r in range(3):
            heights[i] += normal[r] * triangle[i, r]
        if abs(heights[i]) <= zero:
            heights[i] = 0.0
            on += 1
    if on == 3:
        return 3
    count = 0
    for i in range(3):
        j = (i + 1) % 3
        if heights[i] == 0.0 and count < 2:
            for r in range(3):
                ends[count, r] = triangle[i, r]
            count += 1
        elif heights[i] * heights[j] < 0.0 and count < 2:
            share = heights[i] / (heights[i] - heights[j])
            for r in range(3):
                ends[count, r] = triangle[i, r] + share * (triangle[j, r] - triangle[i, r])
            count += 1
    return count


@counted()
def triangle_intersection(a: np.ndarray, b: np.ndarray, segment: np.ndarray) -> int:
    """Segment in which two triangles intersect.

    Each triangle is cut by the other one's plane; both cuts lie on the line common to the planes, and what they share
    is the intersection.

    Args:
        a: corners [m], shape (3, 3).
        b: corners of the other one, shape (3, 3).
        segment: receives the ends, equal where the triangles touch in a point [m], shape (2, 3).

    Returns:
        ``NONE``, ``SEGMENT``, or ``COPLANAR`` where both lie in one plane, whether they overlap there or not.
    """
    normal_a = np.empty(3)
    normal_b = np.empty(3)
    offset_a = _plane(a, normal_a)
    offset_b = _plane(b, normal_b)
    size = 0.0
    for r in range(3):
        for i in range(3):
            size = max(size, abs(a[i, r] - a[0, r]), abs(b[i, r] - b[0, r]), abs(a[i, r] - b[0, r]))
    zero = _ON_PLANE * size
    ends_a = np.empty((2, 3))
    ends_b = np.empty((2, 3))
    count_a = _cut(a, normal_b, offset_b, zero, ends_a)
    if count_a == 0:
        return NONE
    count_b = _cut(b, normal_a, offset_a, zero, ends_b)
    if count_b == 0:
        return NONE
    if count_a == 3 or count_b == 3:
        return COPLANAR
    line = np.empty(3)
    square = 0.0
    for r in range(3):
        c1 = (r + 1) % 3
        c2 = (r + 2) % 3
        line[r] = normal_a[c1] * normal_b[c2] - normal_a[c2] * normal_b[c1]
        square += line[r] * line[r]
    if square <= 1e-24:
        return COPLANAR
    along = np.zeros((2, 2))
    for i in range(2):
        for r in range(3):
            along[0, i] += line[r] * ends_a[min(i, count_a - 1), r]
            along[1, i] += line[r] * ends_b[min(i, count_b - 1), r]
    first = np.zeros(2, dtype=np.int64)
    for t in range(2):
        if along[t, 1] < along[t, 0]:
            first[t] = 1
    # the later of the two starts and the earlier of the two ends
    start = 0 if along[0, first[0]] >= along[1, first[1]] else 1
    stop = 0 if along[0, 1 - first[0]] <= along[1, 1 - first[1]] else 1
    low = along[start, first[start]]
    high = along[stop, 1 - first[stop]]
    if low > high + zero * np.sqrt(square):
        return NONE
    for r in range(3):
        i = first[start]
        segment[0, r] = ends_a[min(i, count_a - 1), r] if start == 0 else ends_b[min(i, count_b - 1), r]
        i = 1 - first[stop]
        segment[1, r] = ends_a[min(i, count_a - 1), r] if stop == 0 else ends_b[min(i, count_b - 1), r]
    return SEGMENT


@counted()
def mesh_intersection(
    triangles_a: np.ndarray,
    triangles_b: np.ndarray,
    node_box: np.ndarray,
    node_child: np.ndarray,
    pairs: np.ndarray,
    segments: np.ndarray,
) -> int:
    """Return pairs of intersecting triangles of two meshes, and their intersections; pairs of one plane are left out.

    Args:
        triangles_a: corners in b's frame [m], shape (na, 3, 3).
        triangles_b: corners [m], shape (nb, 3, 3).
        node_box: tree of b, see :func:`~humanoid_sim.detection.solids.bounding_tree`.
        node_child: same.
        pairs: receives the triangles as far as there is room, shape (k, 2).
        segments: receives the segments in b's frame [m], shape (k, 2, 3).

    Returns:
        The number of pairs, which may be larger than k.
    """
    found = np.empty(triangles_b.shape[0], dtype=np.int64)
    box = np.empty(6)
    segment = np.empty((2, 3))
    count = 0
    for i in range(triangles_a.shape[0]):
        for r in range(3):
            box[r] = min(triangles_a[i, 0, r], triangles_a[i, 1, r], triangles_a[i, 2, r])
            box[3 + r] = max(triangles_a[i, 0, r], triangles_a[i, 1, r], triangles_a[i, 2, r])
        size = tree_overlaps(box, node_box, node_child, 0, found)
        for k in range(size):
            j = found[k]
            if triangle_intersection(triangles_a[i], triangles_b[j], segment) == SEGMENT:
                if count < pairs.shape[0]:
                    pairs[count, 0] = i
                    pairs[count, 1] = j
                    segments[count] = segment
                count += 1
    return count


class MeshPair:
    """Two meshes whose intersecting triangles are asked for again and again (specification 000 §13.2, mode B)."""

    def __init__(self, first: TriangleMesh, second: TriangleMesh, backend: str = BACKENDS[0]) -> None:
        """Prepare the query.

        Args:
            first: body a.
            second: body b.
            backend: one of ``BACKENDS``.
        """
        assert backend in BACKENDS
        self._meshes = first, second
        self._models = (coal_solid(first), coal_solid(second)) if backend == "coal" else None

    def intersections(
        self, placement_first: pin.SE3, placement_second: pin.SE3
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return pairs of intersecting triangles and the segments in which they do; triangles in one plane have none.

        Args:
            placement_first: of the first mesh in the world.
            placement_second: of the second one.

        Returns:
            Triangles by their place in each mesh as it was given, shape (k, 2), sorted; ends of the segments in the
            world [m], shape (k, 2, 3).
        """
        first, second = self._meshes
        relative = placement_second.actInv(placement_first)
        triangles = first.triangles @ relative.rotation.T + relative.translation
        if self._models is None:
            room = 64
            while True:
                pairs: NDArray[np.int64] = np.zeros((room, 2), dtype=np.int64)
                segments: NDArray[np.float64] = np.zeros((room, 2, 3))
                count = mesh_intersection(
                    triangles, second.triangles, second.node_box, second.node_child, pairs, segments
                )
                if count <= room:
                    break
                room = count
            pairs, segments = pairs[:count], segments[:count]
        else:
            pairs, segments = self._by_coal(placement_first, placement_second, triangles)
        given = np.column_stack([first.source_index[pairs[:, 0]], second.source_index[pairs[:, 1]]])
        order = np.lexsort((given[:, 1], given[:, 0]))
        return given[order], segments[order] @ placement_second.rotation.T + placement_second.translation

    def _by_coal(
        self, placement_first: pin.SE3, placement_second: pin.SE3, triangles: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        assert self._models is not None
        request = coal.CollisionRequest()
        request.num_max_contacts = len(self._meshes[0].triangles) * len(self._meshes[1].triangles)
        result = coal.CollisionResult()
        coal.collide(
            self._models[0],
            coal.Transform3s(placement_first.rotation, placement_first.translation),
            self._models[1],
            coal.Transform3s(placement_second.rotation, placement_second.translation),
            request,
            result,
        )
        pairs, segments, segment = [], [], np.zeros((2, 3))
        for contact in result.getContacts():
            i, j = int(contact.b1), int(contact.b2)
            if triangle_intersection(triangles[i], self._meshes[1].triangles[j], segment) == SEGMENT:
                pairs.append((i, j))
                segments.append(segment.copy())
        return np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(segments).reshape(-1, 2, 3)


def distinct_points(
    segments: NDArray[np.float64], normal: NDArray[np.float64], most: int
) -> NDArray[np.float64]:
    """Return the few points that carry the wrenches of many intersection segments.

    Triangles that share a side or a corner give the same point again and again, and points between others carry
    nothing that those don't: what stays are the corners of the convex hull, seen along the normal.

    Args:
        segments: ends [m], shape (k, 2, 3), k >= 1.
        normal: of the contact, unit, shape (3,).
        most: number of points that may stay, at least 4.

    Returns:
        The points [m], shape (j, 3), j <= most.
    """
    points = segments.reshape(-1, 3)
    kept = np.zeros(most, dtype=np.int64)
    count = reduce_patch(np.ascontiguousarray(points), np.zeros(len(points)), normal, most, kept)
    return points[kept[:count]]
