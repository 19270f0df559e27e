# SPDX-License-Identifier: Apache-2.0
"""Intersecting triangles of two meshes, by the compiled tree of this package or by coal."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_sim.detection.backends import BACKENDS, coal_solid
from humanoid_sim.detection.patch_reduction import reduce_patch
from humanoid_sim.detection.triangle_intersection import SEGMENT, mesh_intersection, triangle_intersection
from humanoid_sim.detection.triangle_mesh import TriangleMesh


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
