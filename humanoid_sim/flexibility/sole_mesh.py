# SPDX-License-Identifier: Apache-2.0
"""Meshes of soles: of the usual shapes, from Gmsh files, or made by Gmsh.

Shapes are those of specification 000 §19 (thesis figs. 4.4, 4.13 and 4.15); files and soles of one's own design, which
Gmsh can describe or load, those of §17.2. Gmsh is an optional program under the GNU General Public Licence; nothing
else in the stack needs it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.extensions import optional_library
from humanoid_model.files import require_file
from humanoid_model.sole import BlockSole, MeshSole, RoundedSole, Sole, SoleShape, TwoPadSole
from humanoid_sim.flexibility.deformable_sole import DeformableSole
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh, block_mesh, grid_mesh


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


def mesh_geometry(
    path: str | Path, element_size: float, *, fixed: str = "fixed", scale: float = 1.0
) -> TetrahedralMesh:
    """Mesh a geometry with Gmsh.

    Args:
        path: a ``.geo`` script with physical volumes (the parts) and a physical surface (the glued face); it may
            ``Merge`` a STEP file.
        element_size: largest edge of the tetrahedra, in the unit of the file.
        fixed: name of the physical surface that is glued to the robot.
        scale: metres in one unit of the file.

    Raises:
        InputError: Gmsh is missing or can't mesh the shape; see also
            :func:`read_mesh`.
    """
    if not (np.isfinite(element_size) and element_size > 0.0):
        raise InputError(
            f"element_size is {element_size}", source=path, element="element_size", remedy="Give a positive length"
        )
    if not Path(path).is_file():
        raise InputError("can't be read: no such file", source=path)
    try:
        gmsh = optional_library("gmsh", "simulation", source=path)
    except OSError as problem:  # its wheel needs the system's drawing libraries
        raise InputError(
            f"the library 'gmsh' can't be loaded: {problem}",
            source=path,
            remedy="Install what it names, on Debian and Ubuntu libglu1-mesa, libxcursor1, libxft2 and libxinerama1",
        ) from None
    ours = not gmsh.isInitialized()
    if ours:
        gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", 0)
        gmsh.option.setNumber("Mesh.MeshSizeMax", element_size)
        gmsh.open(str(path))
        gmsh.model.mesh.generate(3)
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "sole.msh"
            gmsh.write(str(written))
            return read_mesh(written, fixed=fixed, scale=scale)
    except InputError as error:  # about the geometry, not about the file in between
        raise InputError(error.problem, source=path, element=error.element, remedy=error.remedy) from None
    except Exception as problem:  # Gmsh raises nothing more precise
        raise InputError(f"Gmsh can't mesh it: {' '.join(str(problem).split())}", source=path) from None
    finally:
        if ours:
            gmsh.finalize()
        else:
            gmsh.clear()


def sole_mesh(shape: SoleShape) -> TetrahedralMesh:
    """Return the mesh of a sole, glued at z = 0.

    Raises:
        InputError: sizes that make no sense, or a file that can't be used.
    """
    if isinstance(shape, BlockSole):
        return block_mesh(shape.size, shape.cells)
    if isinstance(shape, RoundedSole):
        return _rounded(shape)
    if isinstance(shape, TwoPadSole):
        return _two_pads(shape)
    assert isinstance(shape, MeshSole)
    return read_mesh(shape.path, fixed=shape.fixed, scale=shape.scale)


def build_sole(sole: Sole) -> DeformableSole:
    """Return a robot's sole, condensed, in the frame of its link.

    Raises:
        InputError: see :func:`sole_mesh` and :class:`DeformableSole`.
    """
    return DeformableSole(sole_mesh(sole.shape), sole.materials, sole.placement_link_mesh)


def _rounded(shape: RoundedSole) -> TetrahedralMesh:
    """Return the block, its layers pressed together towards the ends so that the lowest follows two quarter circles."""
    x, _, z = shape.size
    if not 0.0 < shape.radius < min(z, 0.5 * x):
        raise InputError(
            f"radius is {shape.radius:g}", element="radius", remedy="Give less than the height and half of the length"
        )
    block = block_mesh(shape.size, shape.cells)
    nodes = block.nodes.copy()
    past = np.maximum(np.abs(nodes[:, 0]) - (0.5 * x - shape.radius), 0.0)  # into the rounding
    raised = shape.radius - np.sqrt(np.maximum(shape.radius**2 - past**2, 0.0))
    nodes[:, 2] *= (z - raised) / z
    return TetrahedralMesh(nodes, block.tetrahedra, block.fixed)


def _two_pads(shape: TwoPadSole) -> TetrahedralMesh:
    x, y, z = shape.size
    gap = x - shape.heel - shape.toe
    if not gap >= 0.0:
        raise InputError(
            f"heel and toe are {shape.heel + shape.toe:g} m together",
            element="heel",
            remedy=f"Give no more than the length, {x:g}",
        )
    n_x, n_y, n_layer, n_pad = shape.cells
    lengths = [length for length in (shape.heel, gap, shape.toe) if length > 1e-12 * x]
    xs = _planes(-0.5 * x, lengths, n_x)
    zs = np.concatenate([np.linspace(-z - shape.pad_height, -z, n_pad + 1)[:-1], np.linspace(-z, 0.0, n_layer + 1)])
    middles = 0.5 * (xs[:-1] + xs[1:])
    padded = (middles < -0.5 * x + shape.heel) | (middles > 0.5 * x - shape.toe)
    parts = np.zeros((len(middles), n_y, n_pad + n_layer), dtype=np.int64)
    parts[:, :, :n_pad] = np.where(padded, 1, -1)[:, None, None]
    return grid_mesh(xs, np.linspace(-0.5 * y, 0.5 * y, n_y + 1), zs, parts, ("layer", "pads"))


def _planes(start: float, lengths: Sequence[float], cells: int) -> NDArray[np.float64]:
    """About ``cells`` cells of like length over several stretches, with a plane between any two."""
    total = sum(lengths)
    planes = [np.array([start])]
    for length in lengths:
        count = max(round(cells * length / total), 1)
        planes.append(np.linspace(start, start + length, count + 1)[1:])
        start += length
    return np.concatenate(planes)
