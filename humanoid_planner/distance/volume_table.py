# SPDX-License-Identifier: Apache-2.0
"""The flat arrays that the kernels of distances read, work in and write: volumes, scratch, pairs and their results.

Volumes and polyhedra are concatenated. A feature is what a point of a volume's boundary can lie on: a small sphere, a
torus or a big sphere. Features of all volumes are numbered through; a number is a row of ``features`` and ``links``.
All lengths in metres, in the frame of the volume.

========================  ==========================================================================================
Row of ``features``       Content
========================  ==========================================================================================
small sphere, VERTEX      0-2 centre
torus, EDGE               0-2 centre I of the circle; 3-5 unit axis from vertex a to b; 6 sine of the half angle under
                          which the big sphere's centre sees the edge; 7 radius of the circle; 8-10 and 11-13 normals
                          of the planes that border it on its two big spheres, towards these; 14: 1 if the arc exceeds
                          half a turn, -1 if it is empty, else 0
big sphere, FACE          0-2 centre; 3-5, 6-8, 9-11 normals of the planes that border it on its tori, inwards
========================  ==========================================================================================

========================  ==========================================================================================
Row of ``links``          Content
========================  ==========================================================================================
VERTEX                    kind, first spoke, number of spokes
EDGE                      kind, vertex a, vertex b, first face, second face (-1 without faces)
FACE                      kind, its three edges
========================  ==========================================================================================

Spokes are the edges seen from a vertex: ``spokes`` has the unit vector out of the vertex and the sine above,
``spoke_links`` the edge and the vertex at the other end.

A polyhedron has vertices only, with sines of 0: its R is infinite, and one vertex's normals border on the next one's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from humanoid_planner.distance.gift_wrapping import enclosing_ball
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

VERTEX = 0
EDGE = 1
FACE = 2

STARTS = np.array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0], [0, 0, 1.0], [0, 0, -1.0]])
"""Directions in which each volume has a feature to start from."""


class VolumeTable(NamedTuple):
    """Flat arrays of several volumes; a tuple, so that kernels take it whole.

    Attributes:
        features: (k, 16), see the module.
        links: (k, 6).
        spokes: (s, 4).
        spoke_links: (s, 2).
        radii: (n, 3) r, R and R - r of each volume [m].
        balls: (n, 4) centre and radius of a ball around each volume, margin included [m].
        first: (n, 2) first feature of each volume and the one after its last.
        corners: (c, 3) the vertices again, side by side.
        corner_range: (n, 2) first corner of each volume and the one after its last.
        starts: (n, 6) features under the directions STARTS.
    """

    features: NDArray[np.float64]
    links: NDArray[np.int64]
    spokes: NDArray[np.float64]
    spoke_links: NDArray[np.int64]
    radii: NDArray[np.float64]
    balls: NDArray[np.float64]
    first: NDArray[np.int64]
    corners: NDArray[np.float64]
    corner_range: NDArray[np.int64]
    starts: NDArray[np.int64]


class Pair(NamedTuple):
    """Two volumes of a table and the bodies that move them.

    Attributes:
        volume_a: index of the first volume.
        volume_b: of the second one.
        body_a: index of the body that moves the first volume.
        body_b: of the one that moves the second.
    """

    volume_a: int
    volume_b: int
    body_a: int
    body_b: int


def volume_table(volumes: Sequence[SphereTorusVolume | RoundedHull]) -> VolumeTable:
    """Return the table of volumes and polyhedra, in the order given."""
    parts = [_polyhedron(volume) if isinstance(volume, RoundedHull) else _one_volume(volume) for volume in volumes]
    if not parts:
        return _EMPTY
    features, spokes, corners = 0, 0, 0
    for part in parts:
        kinds = part.links[:, 0]
        part.links[kinds == VERTEX, 1] += spokes
        part.links[kinds == EDGE, 1:3] += features
        part.links[kinds == EDGE, 3:5] += np.where(part.links[kinds == EDGE, 3:5] >= 0, features, 0)
        part.links[kinds == FACE, 1:4] += features
        part.spoke_links[:] += features
        part.first[:] += features
        part.starts[:] += features
        part.corner_range[:] += corners
        features += len(part.features)
        corners += len(part.corners)
        spokes += len(part.spokes)
    return VolumeTable(*(np.ascontiguousarray(np.concatenate(arrays)) for arrays in zip(*parts, strict=True)))


def _one_volume(volume: SphereTorusVolume) -> VolumeTable:
    nv, ne, nf = len(volume.vertices), len(volume.edges), len(volume.faces)
    tori = volume.tori
    rho = volume.R - volume.r
    features = np.zeros((nv + ne + nf, 16))
    links = np.full((nv + ne + nf, 6), -1, dtype=np.int64)
    sines = tori.lengths / (2.0 * rho)
    first_border = tori.sides
    last_border = np.sin(tori.sweeps)[:, None] * tori.starts - np.cos(tori.sweeps)[:, None] * tori.sides

    features[:nv, :3] = volume.vertices
    links[:nv, 0] = VERTEX
    links[:nv, 1] = volume.vertex_offsets[:-1]
    links[:nv, 2] = np.diff(volume.vertex_offsets)

    edges = slice(nv, nv + ne)
    features[edges, 0:3] = tori.midpoints
    features[edges, 3:6] = tori.axes
    features[edges, 6] = sines
    features[edges, 7] = tori.radii
    features[edges, 8:11] = first_border
    features[edges, 11:14] = last_border
    features[edges, 14] = np.where(tori.sweeps > 0.0, tori.sweeps > np.pi, -1.0)
    links[edges, 0] = EDGE
    links[edges, 1:3] = volume.edges
    links[edges, 3:5] = np.where(volume.edge_faces >= 0, volume.edge_faces + nv + ne, -1)

    faces = slice(nv + ne, None)
    features[faces, 0:3] = volume.centres
    links[faces, 0] = FACE
    links[faces, 1:4] = volume.face_edges + nv
    for k in range(3):
        edge = volume.face_edges[:, k]
        is_first = volume.edge_faces[edge, 0] == np.arange(nf)
        features[faces, 3 + 3 * k : 6 + 3 * k] = np.where(is_first[:, None], first_border[edge], last_border[edge])

    edge = volume.vertex_edges
    vertex = np.repeat(np.arange(nv), np.diff(volume.vertex_offsets))
    is_a = volume.edges[edge, 0] == vertex
    spokes = np.column_stack([np.where(is_a[:, None], 1.0, -1.0) * tori.axes[edge], sines[edge]])
    spoke_links = np.column_stack([edge + nv, np.where(is_a, volume.edges[edge, 1], volume.edges[edge, 0])])

    centre, radius = enclosing_ball(volume.vertices)
    starts = np.argmax(STARTS @ volume.vertices.T, axis=1)
    return VolumeTable(
        features=features,
        links=links,
        spokes=spokes.reshape(-1, 4),
        spoke_links=spoke_links.reshape(-1, 2).astype(np.int64),
        radii=np.array([[volume.r, volume.R, rho]]),
        balls=np.array([[*centre, radius + volume.r]]),
        first=np.array([[0, len(features)]], dtype=np.int64),
        corners=volume.vertices,
        corner_range=np.array([[0, nv]], dtype=np.int64),
        starts=starts[None].astype(np.int64),
    )


def _polyhedron(hull: RoundedHull) -> VolumeTable:
    points = np.asarray(hull.points, dtype=np.float64)
    try:
        outline = ConvexHull(points)
        kept = np.sort(outline.vertices)
        corners = np.searchsorted(kept, outline.simplices)
        ends = np.vstack([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
        ends = np.unique(np.vstack([ends, ends[:, ::-1]]), axis=0)
        points = points[kept]
    except QhullError:  # flat, or a segment, or a point: every point may be a neighbour of every other
        points = np.unique(points, axis=0)
        ends = np.argwhere(~np.eye(len(points), dtype=bool))
    count = len(points)
    features = np.zeros((count, 16))
    features[:, :3] = points
    links = np.full((count, 6), -1, dtype=np.int64)
    links[:, 0] = VERTEX
    links[:, 2] = np.bincount(ends[:, 0], minlength=count)
    links[:, 1] = np.cumsum(links[:, 2]) - links[:, 2]
    along = points[ends[:, 1]] - points[ends[:, 0]]
    centre, radius = enclosing_ball(points)
    return VolumeTable(
        features=features,
        links=links,
        spokes=np.column_stack([along / np.linalg.norm(along, axis=1)[:, None], np.zeros(len(ends))]),
        spoke_links=np.column_stack([np.full(len(ends), -1), ends[:, 1]]).astype(np.int64),
        radii=np.array([[hull.radius, np.inf, np.inf]]),
        balls=np.array([[*centre, radius + hull.radius]]),
        first=np.array([[0, count]], dtype=np.int64),
        corners=points,
        corner_range=np.array([[0, count]], dtype=np.int64),
        starts=np.argmax(STARTS @ points.T, axis=1)[None].astype(np.int64),
    )


_EMPTY = VolumeTable(
    features=np.zeros((0, 16)),
    links=np.zeros((0, 6), dtype=np.int64),
    spokes=np.zeros((0, 4)),
    spoke_links=np.zeros((0, 2), dtype=np.int64),
    radii=np.zeros((0, 3)),
    balls=np.zeros((0, 4)),
    first=np.zeros((0, 2), dtype=np.int64),
    corners=np.zeros((0, 3)),
    corner_range=np.zeros((0, 2), dtype=np.int64),
    starts=np.zeros((0, 6), dtype=np.int64),
)


MAX_POINTS = 480
"""Corners of the polytope that grows in penetration; coaxial bodies, with many directions equal, use all of them."""
MAX_FACES = 2 * MAX_POINTS
"""At least the faces of a closed triangulated surface with so many corners."""


class Workspace(NamedTuple):
    """Arrays for one call at a time.

    Attributes:
        simplex: corners of GJK's simplex, each with a number, the point nearest to the origin, and scratch, shape
            (6, 4).
        n: unit vector to start from, and normal found, shape (3,).
        witnesses: points of two polyhedra that their distance is taken between, each in its body's frame, shape (2, 3).
        points: corners of the polytope, shape (MAX_POINTS, 3).
        planes: outward normals and offsets of its faces, shape (MAX_FACES, 4).
        corners: of its faces, shape (MAX_FACES, 3).
        rim: directed edges around the faces that go, shape (3 MAX_FACES, 2).
        best: greatest gap of the cores in penetration [m] and the unit vector across it, shape (4,).
        rows: features under the last direction, features of the best, features that the last walk started from,
            shape (6,).
    """

    simplex: NDArray[np.float64]
    n: NDArray[np.float64]
    witnesses: NDArray[np.float64]
    points: NDArray[np.float64]
    planes: NDArray[np.float64]
    corners: NDArray[np.int64]
    rim: NDArray[np.int64]
    best: NDArray[np.float64]
    rows: NDArray[np.int64]


def workspace() -> Workspace:
    """Return the new arrays, contents undefined."""
    return Workspace(
        simplex=np.zeros((6, 4)),
        n=np.empty(3),
        witnesses=np.empty((2, 3)),
        points=np.empty((MAX_POINTS, 3)),
        planes=np.empty((MAX_FACES, 4)),
        corners=np.empty((MAX_FACES, 3), dtype=np.int64),
        rim=np.empty((3 * MAX_FACES, 2), dtype=np.int64),
        best=np.empty(4),
        rows=np.empty(6, dtype=np.int64),
    )


class PairList(NamedTuple):
    """Pairs of one kind.

    Attributes:
        pairs: indices of two volumes, or of a volume and of what else the pair has, and more that the kernel of the
            kind wants, shape (k, 2 or 3).
        places: of the pairs' results in the arrays of :class:`PairResults`, shape (k,).
        bodies: that move each volume, shape (n,).
    """

    pairs: NDArray[np.int64]
    places: NDArray[np.int64]
    bodies: NDArray[np.int64]


class PairResults(NamedTuple):
    """Distances of all pairs, of whatever kind.

    Attributes:
        rows: features of the last answers, to start from, -1 for none, shape (m, 2).
        normals: unit outward normals of the second volumes, that is from b to a, in the world, shape (m, 3).
        points: of both volumes in the world, shape (m, 2, 3) [m].
        values: signed distances, shape (m,) [m].
        slopes: derivatives of the values by the distances, shape (m,).
    """

    rows: NDArray[np.int64]
    normals: NDArray[np.float64]
    points: NDArray[np.float64]
    values: NDArray[np.float64]
    slopes: NDArray[np.float64]
