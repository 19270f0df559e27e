# SPDX-License-Identifier: Apache-2.0
"""Meshes from Gmsh files (specification 000 §17.2)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.input_file import require_file
from humanoid_model.optional_library import optional_library
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh


def read_mesh(path: str | Path, *, fixed: str = "fixed", scale: float = 1.0) -> TetrahedralMesh:
    """Read a mesh of linear tetrahedra that Gmsh wrote.

    Physical volumes become parts, each with a material of its own; the nodes of one physical surface are glued to the
    robot. Nodes of no tetrahedron, such as construction points, are left out.

    Args:
        path: a ``.msh`` file.
        fixed: name of the physical surface.
        scale: metres in one unit of the file, 0.001 for millimetres.

    Raises:
        InputError: the library ``meshio`` is missing; the file can't be read, has no linear tetrahedra, or some of no
            physical volume; there is no such surface; or the mesh is malformed, see :class:`TetrahedralMesh`.
    """
    source = str(path)
    if not (np.isfinite(scale) and scale > 0.0):
        raise InputError(f"scale is {scale}", source=source, element="scale", remedy="Give a positive factor")
    mesh = _read(Path(path))
    names = {(int(number), int(dimension)): str(name) for name, (number, dimension) in mesh.field_data.items()}
    tetrahedra, volumes = _cells(mesh, "tetra", 4)
    triangles, surfaces = _cells(mesh, "triangle", 3)
    if len(tetrahedra) == 0:
        raise InputError(
            "there are no linear tetrahedra", source=source, remedy="Mesh in three dimensions, with order 1"
        )
    numbers, part_of = np.unique(volumes, return_inverse=True)
    for number in numbers:
        if (int(number), 3) not in names:
            raise InputError(
                f"tetrahedron {int(np.argmax(volumes == number))} belongs to no named volume",
                source=source,
                remedy="Put each volume in a physical volume with a name",
            )
    glued = [number for (number, dimension), name in names.items() if dimension == 2 and name == fixed]
    held = np.unique(triangles[np.isin(surfaces, glued)])
    if held.size == 0:
        present = ", ".join(name for (_, dimension), name in names.items() if dimension == 2) or "none"
        raise InputError(
            f"there is no physical surface '{fixed}'",
            source=source,
            element="fixed",
            remedy=f"Name the face that is glued to the robot; the file has {present}",
        )
    used, renumbered = np.unique(tetrahedra, return_inverse=True)
    stray = np.setdiff1d(held, used)
    if stray.size:
        raise InputError(
            f"node {stray[0]} of the surface '{fixed}' belongs to no tetrahedron",
            source=source,
            element="fixed",
            remedy="Use a face of the meshed volume",
        )
    return TetrahedralMesh(
        scale * mesh.points[used],
        renumbered.reshape(-1, 4).astype(np.int64),
        np.searchsorted(used, held),
        tuple(names[int(number), 3] for number in numbers),
        part_of,
        source,
    )


def _read(path: Path) -> Any:
    meshio = optional_library("meshio", "simulation", source=path)
    require_file(path)
    try:
        return meshio.gmsh.read(str(path))
    except Exception as problem:  # the reader lets whatever a broken file causes through
        raise InputError(
            f"is no mesh that Gmsh wrote: {' '.join(str(problem).split()) or type(problem).__name__}",
            source=path,
            remedy="Export it from Gmsh as .msh, version 2 or 4",
        ) from None


def _cells(mesh: Any, kind: str, corners: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return cells of one kind and the number of the physical group of each, 0 for none."""
    cells: list[NDArray[np.int64]] = [np.zeros((0, corners), dtype=np.int64)]
    groups: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    physical = mesh.cell_data.get("gmsh:physical")
    for index, block in enumerate(mesh.cells):
        if block.type == kind:
            cells.append(np.asarray(block.data, dtype=np.int64))
            group = np.zeros(len(block.data)) if physical is None else physical[index]
            groups.append(np.asarray(group, dtype=np.int64))
    return np.vstack(cells), np.concatenate(groups)
