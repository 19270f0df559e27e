# SPDX-License-Identifier: Apache-2.0
"""Solids that shapes of a description collide as: convex polytopes, and meshes triangle by triangle, as flat arrays.

Hulls of meshes are kept on disk, as all that is made of a mesh file: reading and hulling a robot's takes seconds. A
mesh that collides triangle by triangle has a tree of bounding boxes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.archive import cache_folder, stored_arrays
from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HeightField, Mesh, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_model.height_field import grid_triangles

if TYPE_CHECKING:
    from scipy.spatial import ConvexHull


Arrays = Mapping[str, NDArray[Any]]


def store_folder() -> Path:
    """Return the folder of hulls and convex parts."""
    return cache_folder("hulls")


def stored_of_mesh(mesh: Mesh, what: str, make: Callable[[], Arrays]) -> Arrays:
    """Return what is made of a mesh, from disk if this code made it of a file of the same content and scale before.

    Args:
        mesh: the mesh.
        what: is made of it, a word that nothing else here has.
        make: makes it; where the file can't be read, it says so.
    """
    try:
        content = mesh.path.read_bytes()
    except OSError:
        return make()
    name = f"{what} {mesh.path.suffix.lower()} {mesh.scale.tolist()} ".encode()
    return stored_arrays(Path(__file__).read_bytes() + name + content, make, store_folder())


def hull_vertices(mesh: Mesh | HeightField) -> NDArray[np.float64]:
    """Return vertices of the convex hull of a mesh [m], shape (k, 3); all vertices where the mesh is flat.

    Raises:
        InputError: the mesh file can't be read.
    """
    if isinstance(mesh, HeightField):
        return _extreme_points(mesh)
    changed = mesh.path.stat().st_mtime_ns if mesh.path.exists() else 0
    return _mesh_hull(mesh.path, tuple(mesh.scale.tolist()), changed)


@lru_cache(maxsize=256)
def _mesh_hull(path: Path, scale: tuple[float, float, float], changed: int) -> NDArray[np.float64]:
    """Return the vertices of the hull of a mesh file as it was last changed."""
    mesh = Mesh(path, np.array(scale))
    return stored_of_mesh(mesh, "hull", lambda: {"vertices": _extreme_points(mesh)})["vertices"]


def _extreme_points(mesh: Mesh | HeightField) -> NDArray[np.float64]:
    from scipy.spatial import ConvexHull, QhullError  # slow to import, and most hulls come from disk

    vertices = np.array(coal_geometry(mesh).vertices())
    if len(vertices) == 0:
        raise InputError(
            "mesh has no points",
            source=mesh.path if isinstance(mesh, Mesh) else None,
            remedy="Give a mesh with triangles",
        )
    try:
        return vertices[ConvexHull(vertices).vertices]
    except QhullError:
        return np.unique(vertices, axis=0)


_COPLANAR = 1e-6
"""Facets of a hull whose unit normals differ by less belong to one face."""
_FLAT = 1e-9
"""Points whose smallest extent is below this part of the largest one count as flat."""
_BOX_FACES = {
    (0.0, 0.0, -1.0): [6, 4, 0, 2],
    (0.0, -1.0, 0.0): [0, 4, 5, 1],
    (1.0, 0.0, 0.0): [4, 6, 7, 5],
    (-1.0, 0.0, 0.0): [0, 1, 3, 2],
    (0.0, 1.0, 0.0): [2, 3, 7, 6],
    (0.0, 0.0, 1.0): [3, 1, 5, 7],
}
"""Vertices of a box around each face, by its outward normal; of the vertices z comes first, x last."""


@dataclass(frozen=True)
class Polytope:
    """A convex polytope; a flat one has two faces back to back, a straight one none.

    Attributes:
        vertices: [m], shape (nvertices, 3).
        normals: outward unit normal of each face, shape (nfaces, 3).
        corner_vertices: vertices around all faces one face after the other, each counter-clockwise seen from outside,
            shape (ncorners,).
        starts: first corner of each face, and the number of corners at the end, shape (nfaces + 1,).
        neighbours: vertices joined by an edge to each vertex, one vertex after the other.
        neighbour_starts: first neighbour of each vertex, and their number at the end, shape (nvertices + 1,).
    """

    vertices: NDArray[np.float64]
    normals: NDArray[np.float64]
    corner_vertices: NDArray[np.int64]
    starts: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    neighbour_starts: NDArray[np.int64]

    @property
    def corners(self) -> NDArray[np.float64]:
        """Corners of all faces one face after the other [m], shape (ncorners, 3)."""
        return self.vertices[self.corner_vertices]

    @classmethod
    def none(cls) -> Polytope:
        """No vertex and no face: what a round shape has."""
        return cls.of_faces(np.zeros((0, 3)), np.zeros((0, 3)), [])

    @classmethod
    def triangle(cls) -> Polytope:
        """One triangle with its two faces."""
        corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        return cls.of_faces(corners, np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]), [[0, 1, 2], [0, 2, 1]])

    @classmethod
    def of_box(cls, box: Box) -> Polytope:
        """Return the six faces of a box; boxes of one size share them."""
        return _box_polytope(*np.asarray(box.size, dtype=float).tolist())

    @classmethod
    def of_shape(cls, shape: Box | Mesh) -> Polytope:
        """Return faces of a box, or of the convex hull of a mesh.

        Raises:
            InputError: a mesh file can't be read.
        """
        return cls.of_box(shape) if isinstance(shape, Box) else cls.stored(hull_vertices(shape))

    @classmethod
    def stored(cls, points: NDArray[np.float64]) -> Polytope:
        """Return :meth:`of_points`, taken from disk if it was made of the same points before."""
        content = Path(__file__).read_bytes() + np.ascontiguousarray(points, dtype="<f8").tobytes()
        return cls(**stored_arrays(content, lambda: vars(cls.of_points(points)), store_folder()))

    @classmethod
    def of_points(cls, points: NDArray[np.float64]) -> Polytope:
        """Convex hull of some points, shape (k, 3), k >= 1; they may lie in a plane, on a line or in one place."""
        from scipy.spatial import ConvexHull, QhullError  # slow to import, and most hulls come from disk

        centred = points - points.mean(axis=0)
        _, extents, axes = np.linalg.svd(centred, full_matrices=False)
        rank = int((extents > _FLAT * max(float(extents[0]), 1e-300)).sum())
        if rank >= 3:
            try:
                return cls._of_hull(points, ConvexHull(points))
            except QhullError:
                rank = 2
        if rank == 2:
            plane = centred @ axes[:2].T
            ring = [int(i) for i in ConvexHull(plane).vertices]  # counter-clockwise
            normal = np.cross(axes[0], axes[1])
            order = list(range(len(ring)))
            return cls.of_faces(points[ring], np.array([normal, -normal]), [order, order[::-1]])
        if rank == 1:
            along = centred @ axes[0]
            ends = points[[int(along.argmin()), int(along.argmax())]]
            return cls(ends, np.zeros((0, 3)), _ints([]), _ints([0]), _ints([1, 0]), _ints([0, 1, 2]))
        return cls(points[:1].copy(), np.zeros((0, 3)), _ints([]), _ints([0]), _ints([]), _ints([0, 0]))

    @classmethod
    def _of_hull(cls, points: NDArray[np.float64], hull: ConvexHull) -> Polytope:
        vertices = points[hull.vertices]
        place = {int(old): new for new, old in enumerate(hull.vertices)}
        members: list[set[int]] = []
        normals: list[NDArray[np.float64]] = []
        taken = np.zeros(len(hull.simplices), dtype=bool)
        for seed in range(len(taken)):
            if taken[seed]:
                continue
            # triangles of one face lie side by side
            normal = hull.equations[seed, :3]
            taken[seed] = True
            found, waiting = [seed], [seed]
            while waiting:
                for near in hull.neighbors[waiting.pop()].tolist():
                    if not taken[near] and np.abs(hull.equations[near, :3] - normal).max() < _COPLANAR:
                        taken[near] = True
                        found.append(near)
                        waiting.append(near)
            normals.append(normal)
            members.append({place[i] for i in hull.simplices[found].ravel().tolist()})
        faces = []
        for normal, face in zip(normals, members, strict=True):
            ring = np.array(sorted(face))
            offsets = vertices[ring] - vertices[ring].mean(axis=0)
            u = offsets[0]
            w = np.cross(normal, u)
            faces.append([int(i) for i in ring[np.argsort(np.arctan2(offsets @ w, offsets @ u))]])
        return cls.of_faces(vertices, np.array(normals), faces)

    @classmethod
    def of_faces(
        cls, vertices: NDArray[np.float64], normals: NDArray[np.float64], faces: list[list[int]]
    ) -> Polytope:
        """Return a polytope by its faces, each the vertices around it, counter-clockwise from outside."""
        joined: list[set[int]] = [set() for _ in range(len(vertices))]
        for face in faces:
            for i, j in zip(face, [*face[1:], face[0]], strict=True):
                joined[i].add(j)
                joined[j].add(i)
        return cls(
            np.ascontiguousarray(vertices),
            np.ascontiguousarray(normals),
            _ints([i for face in faces for i in face]),
            np.cumsum([0, *(len(face) for face in faces)]).astype(np.int64),
            _ints([i for neighbours in joined for i in sorted(neighbours)]),
            np.cumsum([0, *(len(neighbours) for neighbours in joined)]).astype(np.int64),
        )


@lru_cache(maxsize=256)
def _box_polytope(x: float, y: float, z: float) -> Polytope:
    corners = np.array(list(itertools.product((-0.5 * x, 0.5 * x), (-0.5 * y, 0.5 * y), (-0.5 * z, 0.5 * z))))
    return Polytope.of_faces(corners, np.array(list(_BOX_FACES)), list(_BOX_FACES.values()))


def _ints(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


LEAF = 4
"""A leaf of the tree holds at most so many triangles."""
_RIDGE = 1e-6
"""Sine from which on two neighbours form a ridge and not a plane."""


@dataclass(frozen=True)
class TriangleMesh:
    """A surface of triangles; the solid is on the inner side of their normals.

    Attributes:
        triangles: corners, counter-clockwise from outside, in the order of the tree's leaves [m], shape (n, 3, 3).
        normals: unit, zero for a triangle without area, shape (n, 3).
        edge_open: whether the side from corner i to i + 1 is a ridge or a border, so that contact normals may lean over
            it, shape (n, 3).
        node_box: lower and upper corner of each node of the tree [m], shape (nnodes, 6); node 0 is the root.
        node_child: the children of a node; -1 - first triangle and number of triangles of a leaf, shape (nnodes, 2).
        source_index: place of each triangle in the mesh that was given, shape (n,).
    """

    triangles: NDArray[np.float64]
    normals: NDArray[np.float64]
    edge_open: NDArray[np.bool_]
    node_box: NDArray[np.float64]
    node_child: NDArray[np.int64]
    source_index: NDArray[np.int64]

    @classmethod
    def of_mesh(cls, mesh: Mesh) -> TriangleMesh:
        """Return the triangles of a mesh file.

        Raises:
            InputError: the file can't be read or holds no triangle.
        """
        geometry = coal_geometry(mesh)
        corners = [[geometry.tri_indices(i)[k] for k in range(3)] for i in range(geometry.num_tris)]
        if not corners:
            raise InputError("mesh has no triangle", source=mesh.path, remedy="Give a mesh with triangles")
        return cls.of_triangles(np.asarray(geometry.vertices()), np.array(corners, dtype=np.int64))

    @classmethod
    def of_triangles(cls, points: NDArray[np.float64], corners: NDArray[np.int64]) -> TriangleMesh:
        """Return a mesh by its points [m], shape (k, 3), and the corners of its triangles, shape (n, 3).

        Raises:
            InputError: there is no triangle, or a coordinate is not finite.
        """
        if len(corners) == 0:
            raise InputError("mesh has no triangle", element="triangles", remedy="Give at least one")
        if not np.isfinite(points).all():
            raise InputError(
                "a coordinate of the mesh is not finite", element="points", remedy="Give finite numbers [m]"
            )
        triangles = np.asarray(points, dtype=float)[corners]
        cross = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        area = np.linalg.norm(cross, axis=1)
        normals = np.divide(cross, area[:, None], out=np.zeros_like(cross), where=area[:, None] > 0.0)
        edge_open = _open_sides(np.asarray(points), np.asarray(corners), triangles, normals)
        order, node_box, node_child = bounding_tree(triangles.min(axis=1), triangles.max(axis=1))
        return cls(
            np.ascontiguousarray(triangles[order]),
            np.ascontiguousarray(normals[order]),
            np.ascontiguousarray(edge_open[order]),
            node_box,
            node_child,
            order,
        )


def _open_sides(
    points: NDArray[np.float64],
    corners: NDArray[np.int64],
    triangles: NDArray[np.float64],
    normals: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Return which sides are ridges or borders; equal points count as one."""
    _, place = np.unique(points, axis=0, return_inverse=True)
    corners = place.reshape(-1)[corners]
    edge_open = np.ones((len(corners), 3), dtype=bool)
    sides: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for f, corner in enumerate(corners.tolist()):
        for k in range(3):
            i, j = corner[k], corner[(k + 1) % 3]
            sides.setdefault((min(i, j), max(i, j)), []).append((f, k))
    for users in sides.values():
        if len(users) != 2 or users[0][0] == users[1][0]:
            continue
        for (f, k), (g, m) in (users, users[::-1]):
            across = triangles[g, (m + 2) % 3] - triangles[f, k]
            edge_open[f, k] = bool(across @ normals[f] < -_RIDGE * np.linalg.norm(across))
    return edge_open


def bounding_tree(
    lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """Binary tree of axis-aligned boxes, halved at the median along the longest side.

    Args:
        lower: lower corners of the boxes of the items [m], shape (n, 3), n >= 1.
        upper: upper corners, shape (n, 3).

    Returns:
        Order of the items in the leaves, shape (n,); boxes of the nodes, shape (nnodes, 6); their children, or -1 -
        first item (by the new order) and the number of items of a leaf, shape (nnodes, 2).
    """
    order = np.arange(len(lower))
    centres = 0.5 * (lower + upper)
    boxes: list[NDArray[np.float64]] = []
    children: list[tuple[int, int]] = []
    waiting = [(0, len(lower), -1)]
    while waiting:
        start, stop, parent = waiting.pop()
        node = len(boxes)
        if parent >= 0:
            first, second = children[parent]
            children[parent] = (node, second) if first < 0 else (first, node)
        items = order[start:stop]
        boxes.append(np.concatenate([lower[items].min(axis=0), upper[items].max(axis=0)]))
        if stop - start <= LEAF:
            children.append((-1 - start, stop - start))
            continue
        axis = int(np.ptp(centres[items], axis=0).argmax())
        middle = (stop - start) // 2
        order[start:stop] = items[np.argpartition(centres[items, axis], middle)]
        children.append((-1, -1))
        waiting.append((start + middle, stop, node))
        waiting.append((start, start + middle, node))
    return order, np.array(boxes), np.array(children, dtype=np.int64)


SolidShape = Shape | Polytope | TriangleMesh
"""What a row of the table is made of: a primitive, a convex hull, or a mesh taken triangle by triangle."""
DECOMPOSITION_CONCAVITY = 0.02
"""Convex parts leave hollows of a mesh at most so deep, as a part of the mesh's size (CoACD's threshold)."""


def solids_of(shape: Shape) -> list[SolidShape]:
    """Return the convex solids or the mesh that a shape collides as; no half-space.

    Raises:
        InputError: a mesh file can't be read, or holds no triangle, or CoACD isn't there to take it apart.
    """
    if isinstance(shape, HeightField):
        return [TriangleMesh.of_triangles(*grid_triangles(shape.size, shape.heights))]
    if isinstance(shape, Mesh):
        if shape.collision == "exact":
            return [TriangleMesh.of_mesh(shape)]
        if shape.collision == "convex_decomposition":
            return list(_convex_parts(shape.path, tuple(shape.scale.tolist()), shape.path.stat().st_mtime_ns))
        return [Polytope.of_shape(shape)]
    assert isinstance(shape, (Box, Sphere, Capsule, Cylinder, Ellipsoid))
    return [shape]


@lru_cache(maxsize=64)
def _convex_parts(path: Path, scale: tuple[float, float, float], changed: int) -> tuple[Polytope, ...]:
    """Convex parts of a mesh file as it was last changed; the decomposition takes seconds."""
    mesh = Mesh(path, np.array(scale))

    def decompose() -> dict[str, NDArray[Any]]:
        coacd = optional_library("coacd", "simulation", source=path, element="convex_decomposition")
        triangles = TriangleMesh.of_mesh(mesh).triangles
        points, corners = np.unique(triangles.reshape(-1, 3), axis=0, return_inverse=True)
        coacd.set_log_level("error")
        parts = coacd.run_coacd(
            coacd.Mesh(points, corners.reshape(-1, 3)), threshold=DECOMPOSITION_CONCAVITY, seed=0
        )
        return {
            "vertices": np.vstack([vertices for vertices, _ in parts]),
            "ends": np.cumsum([len(vertices) for vertices, _ in parts]),
        }

    kept = stored_of_mesh(mesh, "convex parts", decompose)
    return tuple(Polytope.stored(part) for part in np.split(kept["vertices"], kept["ends"][:-1]))
