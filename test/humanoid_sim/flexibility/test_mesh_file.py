# SPDX-License-Identifier: Apache-2.0
"""Meshes from Gmsh's files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim.flexibility.sole_mesh import read_mesh
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh, block_mesh, grid_mesh

meshio = pytest.importorskip("meshio")


def layers() -> TetrahedralMesh:
    """Two layers of two materials."""
    parts = np.zeros((3, 2, 2), dtype=np.int64)
    parts[:, :, 0] = 1
    return grid_mesh(np.linspace(0, 30, 4), np.linspace(0, 20, 3), [-20.0, -10.0, 0.0], parts, ("layer", "pads"))


def write(path: Path, mesh: TetrahedralMesh, **changed: object) -> Path:
    """A Gmsh file of the mesh, its surface and a construction point; ``changed`` replaces parts of it."""
    nodes = np.vstack([mesh.nodes, [[99.0, 99.0, 99.0]]])
    glued = np.isin(mesh.surface, mesh.fixed).all(axis=1)
    surface = changed.get("surface", np.where(glued, 3, 4))
    volumes = changed.get("volumes", mesh.part_of + 1)
    names = changed.get("names", {"layer": [1, 3], "pads": [2, 3], "fixed": [3, 2], "rest": [4, 2]})
    tetrahedra = changed.get("tetrahedra", mesh.tetrahedra)
    physical = [np.zeros(1, dtype=int), np.asarray(surface), np.asarray(volumes)]
    meshio.Mesh(
        changed.get("nodes", nodes),
        [("vertex", [[len(nodes) - 1]]), ("triangle", mesh.surface), ("tetra", tetrahedra)],
        cell_data={"gmsh:physical": physical, "gmsh:geometrical": physical},
        field_data={name: np.array(value) for name, value in names.items()},
    ).write(path, file_format="gmsh22", binary=False)
    return path


@pytest.mark.feature("000-F126")
def test_nodes_triangles_tetrahedra_and_materials_arrive(tmp_path: Path) -> None:
    mesh = layers()
    read = read_mesh(write(tmp_path / "sole.msh", mesh), scale=0.001)
    assert (len(read.nodes), len(read.surface), len(read.tetrahedra)) == (36, 64, 72)
    np.testing.assert_allclose(read.nodes, 0.001 * mesh.nodes)
    np.testing.assert_array_equal(read.tetrahedra, mesh.tetrahedra)
    np.testing.assert_array_equal(read.fixed, mesh.fixed)
    np.testing.assert_array_equal(read.surface, mesh.surface)
    assert [read.parts[i] for i in read.part_of] == [mesh.parts[i] for i in mesh.part_of]
    assert read.source == str(tmp_path / "sole.msh")


def inverted() -> np.ndarray:
    tetrahedra = layers().tetrahedra.copy()
    tetrahedra[5] = tetrahedra[5, [1, 0, 2, 3]]
    return tetrahedra


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tetrahedra": inverted()}, r"sole\.msh: tetrahedra: tetrahedron 5, .* inverted"),
        ({"names": {"layer": [1, 3], "pads": [2, 3], "rest": [4, 2]}}, "no physical surface 'fixed'.*has rest"),
        ({"names": {"layer": [1, 3], "fixed": [3, 2]}}, "tetrahedron 0 belongs to no named volume"),
        ({"volumes": np.zeros(72, dtype=int)}, "belongs to no named volume"),
        ({"tetrahedra": np.zeros((0, 4), dtype=int), "volumes": np.zeros(0, dtype=int)}, "no linear tetrahedra"),
        ({"nodes": np.full((37, 3), np.nan)}, "node 0 is at"),
    ],
)
def test_files_that_hold_no_sole(tmp_path: Path, changed: dict, message: str) -> None:
    path = write(tmp_path / "sole.msh", layers(), **changed)
    with pytest.raises(InputError, match=message):
        read_mesh(path)


def test_files_that_are_no_mesh(tmp_path: Path) -> None:
    path = tmp_path / "sole.msh"
    with pytest.raises(InputError, match=r"sole\.msh: can't be read: No such file"):
        read_mesh(path)
    for text in ("", "hello", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0\n"):
        path.write_text(text)
        with pytest.raises(InputError, match=r"sole\.msh: .*(is no mesh|no linear tetrahedra)"):
            read_mesh(path)


def test_scale_must_be_positive(tmp_path: Path) -> None:
    path = write(tmp_path / "sole.msh", layers())
    for scale in (0.0, -1.0, np.nan):
        with pytest.raises(InputError, match=f"scale is {scale}"):
            read_mesh(path, scale=scale)


def test_a_glued_face_elsewhere(tmp_path: Path) -> None:
    """A physical surface that isn't part of the meshed volume."""
    block = block_mesh((1.0, 1.0, 1.0), (1, 1, 1))
    path = tmp_path / "sole.msh"
    meshio.Mesh(
        np.vstack([block.nodes, np.eye(3) + 5.0]),
        [("triangle", [[8, 9, 10]]), ("tetra", block.tetrahedra)],
        cell_data={key: [np.array([2]), np.full(6, 1)] for key in ("gmsh:physical", "gmsh:geometrical")},
        field_data={"sole": np.array([1, 3]), "fixed": np.array([2, 2])},
    ).write(path, file_format="gmsh22", binary=False)
    with pytest.raises(InputError, match="node 8 of the surface 'fixed' belongs to no tetrahedron"):
        read_mesh(path)
