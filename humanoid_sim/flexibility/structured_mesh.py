# SPDX-License-Identifier: Apache-2.0
"""Meshes of brick-shaped cells, each cut into six tetrahedra (specification 000, Appendix B)."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh, oriented


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
