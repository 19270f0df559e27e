# SPDX-License-Identifier: Apache-2.0
"""Which patch of a sphere-torus-patch volume is nearest to a point outside (specification 001 section 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume


class Patch(IntEnum):
    """Kinds of patches of the boundary."""

    SMALL_SPHERE = 0
    TORUS = 1
    BIG_SPHERE = 2


@dataclass(frozen=True)
class VoronoiRegions:
    """Borders between the regions nearest to each patch.

    Planes through a big sphere's centre and an edge of its face part the big sphere's region from the torus';
    cones around an edge, with an end of the edge as apex, part the torus' region from the small sphere's. A small and
    a big sphere meet in a line only. The infinite cone below a face's planes also holds points beyond the body:
    the plane of the face leaves them out.

    Attributes:
        face_planes: unit normals, into the big sphere's region, of the plane through its centre and edge k of the
            face, shape (nf, 3, 3).
        face_normals: outward unit normals of the faces' own planes, shape (nf, 3).
        cone_slopes: a point p is in the region of the torus between the cones of its edge: (p - a) . axis is above
            -slope |p - a| and (p - b) . axis below slope |p - b|; shape (ne,). It is length / (2 (R - r)).
    """

    volume: SphereTorusVolume
    face_planes: NDArray[np.float64]
    face_normals: NDArray[np.float64]
    cone_slopes: NDArray[np.float64]

    @classmethod
    def of_volume(cls, volume: SphereTorusVolume) -> VoronoiRegions:
        """Return regions of a volume's patches."""
        corners = volume.vertices[volume.faces]
        following = np.roll(corners, -1, axis=1)
        # Towards the centre the planes' normals are found from the edge, whose ends are near each other.
        planes = np.cross(following - corners, corners - volume.centres[:, None])
        planes /= -np.linalg.norm(planes, axis=2)[..., None]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        slopes = volume.tori.lengths / (2.0 * (volume.R - volume.r))
        return cls(volume, np.asarray(planes, dtype=np.float64), np.asarray(normals, dtype=np.float64), slopes)

    def classify(self, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Nearest patch of each point: its kind and the index of its vertex, edge or face.

        Args:
            points: outside the polyhedron of the vertices, shape (k, 3) [m].

        Returns:
            Kinds (values of :class:`Patch`) and indices, each (k,). On a border any of the regions that meet there.
        """
        kinds = np.full(len(points), -1)
        indices = np.full(len(points), -1)
        for kind, excess in (
            (Patch.BIG_SPHERE, self._beyond_faces(points)),
            (Patch.TORUS, self._beyond_tori(points)),
            (Patch.SMALL_SPHERE, self._beyond_small_spheres(points)),
        ):
            if not excess.shape[1]:
                continue
            nearest = excess.argmin(axis=1)
            # Round-off must not leave a point on a border without region: small spheres take what is left.
            limit = 0.0 if kind is not Patch.SMALL_SPHERE else np.inf
            found = (kinds < 0) & (excess[np.arange(len(points)), nearest] <= limit)
            kinds[found] = kind
            indices[found] = nearest[found]
        return kinds, indices

    def _beyond_faces(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far points are outside each big sphere's region, negative inside, shape (k, nf)."""
        from_first = points[:, None] - self.volume.vertices[self.volume.faces[:, 0]]
        below = -np.einsum("kfj,fj->kf", from_first, self.face_normals)
        excess = below
        for k in range(3):
            relative = points[:, None] - self.volume.vertices[self.volume.faces[:, k]]
            excess = np.maximum(excess, -np.einsum("kfj,fj->kf", relative, self.face_planes[:, k]))
        return np.asarray(excess)

    def _beyond_tori(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far points are outside each torus' region, negative inside, shape (k, ne)."""
        tori, edges = self.volume.tori, self.volume.edges
        from_a = points[:, None] - self.volume.vertices[edges[:, 0]]
        from_b = points[:, None] - self.volume.vertices[edges[:, 1]]
        past_a = -np.einsum("kej,ej->ke", from_a, tori.axes) - self.cone_slopes * np.linalg.norm(from_a, axis=2)
        past_b = np.einsum("kej,ej->ke", from_b, tori.axes) - self.cone_slopes * np.linalg.norm(from_b, axis=2)
        # The centre of the tube is on the far side of the edge: the azimuth counts from the opposite direction.
        from_middle = points[:, None] - tori.midpoints
        x = -np.einsum("kej,ej->ke", from_middle, tori.starts)
        y = -np.einsum("kej,ej->ke", from_middle, tori.sides)
        azimuth = np.arctan2(y, x) % (2.0 * np.pi)
        return np.maximum.reduce([past_a, past_b, azimuth - tori.sweeps])

    def _beyond_small_spheres(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far points are outside each small sphere's region, negative inside, shape (k, nv)."""
        tori = self.volume.tori
        excess = np.full((len(points), len(self.volume.vertices)), -np.inf)
        for edge, ends in enumerate(self.volume.edges):
            for sign, vertex in zip((1.0, -1.0), ends, strict=True):
                relative = points - self.volume.vertices[vertex]
                past = sign * relative @ tori.axes[edge] + self.cone_slopes[edge] * np.linalg.norm(relative, axis=1)
                excess[:, vertex] = np.maximum(excess[:, vertex], past)
        return excess
