# SPDX-License-Identifier: Apache-2.0
"""Meshes of shapes that Gmsh can describe or load: soles of one's own design (specification 000 §17.2).

Gmsh is an optional program under the GNU General Public Licence; nothing else in the stack needs it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from humanoid_model.errors import InputError
from humanoid_model.optional_library import optional_library
from humanoid_sim.flexibility.mesh_file import read_mesh
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh


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
            :func:`~humanoid_sim.flexibility.mesh_file.read_mesh`.
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
