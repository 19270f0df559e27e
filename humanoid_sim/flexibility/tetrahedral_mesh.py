# SPDX-License-Identifier: Apache-2.0
"""A body cut into linear tetrahedra, checked so that its stiffness matrix can be assembled and inverted.

Bodies of brick-shaped cells are cut into six tetrahedra each (specification 000, Appendix B).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from humanoid_model.errors import InputError

_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
"""Faces of a positively oriented tetrahedron, seen counter-clockwise from outside."""
_FLATTEST = 1e-9
"""A tetrahedron with less volume than this times the cube of its longest edge is degenerate."""


@dataclass(frozen=True, eq=False)
class TetrahedralMesh:
    """Nodes and tetrahedra of a deformable body glued to a rigid one.

    Attributes:
        nodes: positions at rest [m], shape (n, 3).
        tetrahedra: nodes of each tetrahedron, positively oriented, shape (t, 4).
        fixed: nodes on the rigid body, ascending, shape (k,).
        parts: names of the parts; each may have a material of its own.
        part_of: index of each tetrahedron's part, all in the first if left empty, shape (t,).
        source: file that the mesh comes from, for error messages.
    """

    nodes: NDArray[np.float64]
    tetrahedra: NDArray[np.int64]
    fixed: NDArray[np.int64]
    parts: tuple[str, ...] = ("sole",)
    part_of: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    source: str | None = None

    def __post_init__(self) -> None:
        """Check everything.

        Raises:
            InputError: empty or wrongly shaped arrays, coordinates that are not finite, unknown nodes, a degenerate or
                inverted tetrahedron, a face of three tetrahedra, a node of no tetrahedron, no fixed nodes, or a
                connected piece that its fixed nodes don't hold.
        """
        object.__setattr__(self, "nodes", _array("nodes", self.nodes, float, (3,), self.source))
        object.__setattr__(self, "tetrahedra", _array("tetrahedra", self.tetrahedra, np.int64, (4,), self.source))
        fixed = np.unique(np.asarray(self.fixed, dtype=np.int64).reshape(-1))
        object.__setattr__(self, "fixed", fixed)
        part_of = np.asarray(self.part_of, dtype=np.int64).reshape(-1)
        if part_of.size == 0:
            part_of = np.zeros(len(self.tetrahedra), dtype=np.int64)
        object.__setattr__(self, "part_of", part_of)
        self._check_indices()
        self._check_volumes()
        self._check_connection()

    @property
    def volumes(self) -> NDArray[np.float64]:
        """Volumes of the tetrahedra [m^3], shape (t,)."""
        return _volumes(self.nodes, self.tetrahedra)

    @property
    def surface(self) -> NDArray[np.int64]:
        """Triangles of the outside, counter-clockwise seen from there, shape (s, 3)."""
        faces = self.tetrahedra[:, _FACES].reshape(-1, 3)
        _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
        return faces[np.sort(first[count == 1])]

    def _fail(self, problem: str, element: str, remedy: str) -> InputError:
        return InputError(problem, source=self.source, element=element, remedy=remedy)

    def _check_indices(self) -> None:
        n = len(self.nodes)
        for element, indices in (("tetrahedra", self.tetrahedra), ("fixed", self.fixed)):
            wrong = np.argwhere((indices < 0) | (indices >= n))
            if wrong.size:
                at = tuple(int(i) for i in wrong[0])
                raise self._fail(
                    f"{element}{list(at)} names node {indices[at]}", element, f"There are nodes 0 to {n - 1}"
                )
        if self.part_of.shape != (len(self.tetrahedra),):
            raise self._fail(
                f"part_of has {self.part_of.size} entries for {len(self.tetrahedra)} tetrahedra",
                "part_of",
                "Give one part per tetrahedron",
            )
        wrong = np.flatnonzero((self.part_of < 0) | (self.part_of >= len(self.parts)))
        if wrong.size:
            raise self._fail(
                f"tetrahedron {wrong[0]} belongs to part {self.part_of[wrong[0]]}",
                "part_of",
                f"There are parts 0 to {len(self.parts) - 1}",
            )
        if self.fixed.size == 0:
            raise self._fail(
                "no node is fixed", "fixed", "Name the nodes that are glued to the foot, else the sole floats"
            )

    def _check_volumes(self) -> None:
        corners = self.nodes[self.tetrahedra]
        edges = np.linalg.norm(corners[:, [0, 0, 0, 1, 1, 2]] - corners[:, [1, 2, 3, 2, 3, 3]], axis=2)
        shape = self.volumes / np.maximum(edges.max(axis=1), 1e-300) ** 3
        for wrong, what, remedy in (
            (np.abs(shape) < _FLATTEST, "is degenerate: its four nodes lie in a plane", "Mesh again"),
            (shape < 0.0, "is inverted", "Exchange two of its nodes"),
        ):
            if np.any(wrong):
                i = int(np.argmax(wrong))
                raise self._fail(f"tetrahedron {i}, nodes {self.tetrahedra[i].tolist()}, {what}", "tetrahedra", remedy)

    def _check_connection(self) -> None:
        faces = np.sort(self.tetrahedra[:, _FACES].reshape(-1, 3), axis=1)
        triangles, count = np.unique(faces, axis=0, return_counts=True)
        if count.max() > 2:
            face = triangles[int(np.argmax(count))]
            raise self._fail(
                f"the face of nodes {face.tolist()} belongs to {count.max()} tetrahedra",
                "tetrahedra",
                "A face has one tetrahedron on each side",
            )
        n = len(self.nodes)
        used = np.zeros(n, dtype=bool)
        used[self.tetrahedra] = True
        if not used.all():
            raise self._fail(f"node {int(np.argmin(used))} belongs to no tetrahedron", "nodes", "Leave it out")
        rows = np.repeat(self.tetrahedra[:, 0], 3)
        columns = self.tetrahedra[:, 1:].reshape(-1)
        pieces, label = connected_components(coo_matrix((np.ones(rows.size), (rows, columns)), shape=(n, n)), False)
        for piece in range(pieces):
            held = self.fixed[label[self.fixed] == piece]
            positions = self.nodes[held] - self.nodes[held].mean(axis=0) if held.size else np.zeros((0, 3))
            size = np.ptp(self.nodes[label == piece], axis=0).max()
            if held.size < 3 or np.linalg.svd(positions, compute_uv=False)[1] < 1e-9 * size:
                node = int(np.argmax(label == piece))
                raise self._fail(
                    f"the piece with node {node} ({int((label == piece).sum())} of {n} nodes) isn't held: "
                    f"{held.size} of its nodes are fixed",
                    "fixed",
                    "Fix three nodes of each piece that aren't in a line, or merge nodes at the same place",
                )


def _volumes(nodes: NDArray[np.float64], tetrahedra: NDArray[np.int64]) -> NDArray[np.float64]:
    a, b, c, d = (nodes[tetrahedra[:, i]] for i in range(4))
    return np.asarray(np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0)


def oriented(nodes: NDArray[np.float64], tetrahedra: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the same tetrahedra with two nodes exchanged where they were inverted, shape (t, 4)."""
    out = np.array(tetrahedra, dtype=np.int64)
    inverted = _volumes(nodes, out) < 0.0
    out[inverted] = out[inverted][:, [0, 1, 3, 2]]
    return out


def _array(name: str, value: ArrayLike, kind: type, row: tuple[int], source: str | None) -> NDArray:
    array = np.ascontiguousarray(value)
    if array.ndim != 2 or array.shape[1:] != row or len(array) == 0:
        raise InputError(
            f"{name} has shape {array.shape}", source=source, element=name, remedy=f"Give (count, {row[0]}), count > 0"
        )
    if kind is float:
        array = array.astype(float)
        if not np.all(np.isfinite(array)):
            i = int(np.argmax(~np.isfinite(array).all(axis=1)))
            raise InputError(
                f"node {i} is at {array[i].tolist()}", source=source, element=name, remedy="Give finite positions"
            )
        return array
    if not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} holds {array.dtype}", source=source, element=name, remedy="Give node numbers from 0")
    return array.astype(kind)


def grid_mesh(
    xs: ArrayLike, ys: ArrayLike, zs: ArrayLike, part_of_cell: NDArray[np.int64], parts: tuple[str, ...]
) -> TetrahedralMesh:
    """Return the mesh of the cells of a grid, glued at its top.

    Each cell is cut along the paths from its lowest to its highest corner (Kuhn), so that neighbours fit.

    Args:
        xs: ascending coordinates of the grid planes [m].
        ys: same.
        zs: same; nodes at the last one are fixed.
        part_of_cell: part of each cell, -1 where there is none, shape (len(xs) - 1, len(ys) - 1, len(zs) - 1).
        parts: names of the parts.

    Raises:
        InputError: coordinates that don't ascend, or a mesh that :class:`TetrahedralMesh` refuses.
    """
    axes = []
    for name, values in (("xs", xs), ("ys", ys), ("zs", zs)):
        axis = np.asarray(values, dtype=float).reshape(-1)
        if axis.size < 2 or not np.all(np.isfinite(axis)) or not np.all(np.diff(axis) > 0.0):
            raise InputError(f"{name} is {axis.tolist()}", element=name, remedy="Give two or more ascending numbers")
        axes.append(axis)
    nx, ny, nz = (axis.size for axis in axes)
    if part_of_cell.shape != (nx - 1, ny - 1, nz - 1):
        raise InputError(
            f"part_of_cell has shape {part_of_cell.shape}",
            element="part_of_cell",
            remedy=f"Give shape {(nx - 1, ny - 1, nz - 1)}",
        )
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    nodes = np.column_stack([x.reshape(-1), y.reshape(-1), z.reshape(-1)])  # x runs fastest
    stride = np.array([1, nx, nx * ny])
    k, j, i = (part.reshape(-1) for part in np.meshgrid(*(range(n - 1) for n in (nz, ny, nx)), indexing="ij"))
    part = part_of_cell[i, j, k]
    corner = (np.column_stack([i, j, k]) @ stride)[part >= 0]
    paths = [np.cumsum([0, *stride[list(order)]]) for order in itertools.permutations(range(3))]
    tetrahedra = (corner[:, None, None] + np.array(paths)[None]).reshape(-1, 4)
    used, renumbered = np.unique(tetrahedra, return_inverse=True)
    kept = nodes[used]
    tetrahedra = renumbered.reshape(-1, 4).astype(np.int64)
    return TetrahedralMesh(
        kept,
        oriented(kept, tetrahedra),
        np.flatnonzero(kept[:, 2] == axes[2][-1]),
        parts,
        np.repeat(part[part >= 0], 6),
    )


def block_mesh(size: ArrayLike, cells: tuple[int, int, int]) -> TetrahedralMesh:
    """Return a block centred in x and y, its glued top face at z = 0 (thesis fig. 4.4).

    Args:
        size: length, width, height [m], shape (3,).
        cells: number of cells along each.

    Raises:
        InputError: a size or a number of cells that is not positive.
    """
    lengths = np.asarray(size, dtype=float).reshape(-1)
    if lengths.shape != (3,) or not np.all(np.isfinite(lengths)) or not np.all(lengths > 0.0):
        raise InputError(f"size is {lengths.tolist()}", element="size", remedy="Give three positive lengths in metres")
    if len(cells) != 3 or min(cells) < 1:
        raise InputError(f"cells is {list(cells)}", element="cells", remedy="Give three numbers of 1 or more")
    nx, ny, nz = cells
    x, y, z = lengths
    return grid_mesh(
        np.linspace(-x / 2, x / 2, nx + 1),
        np.linspace(-y / 2, y / 2, ny + 1),
        np.linspace(-z, 0.0, nz + 1),
        np.zeros((nx, ny, nz), dtype=np.int64),
        ("sole",),
    )
