# SPDX-License-Identifier: Apache-2.0
"""Meshes are checked, and say which element is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim.flexibility.tetrahedral_mesh import TetrahedralMesh, block_mesh, grid_mesh


def corner(**changed: object) -> TetrahedralMesh:
    """Two tetrahedra on one face, of which the lower is glued; entries replaced by ``changed``."""
    arguments: dict = {
        "nodes": np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, -1.0]]),
        "tetrahedra": np.array([[0, 1, 2, 3], [0, 2, 1, 4]]),
        "fixed": np.array([0, 1, 4]),
        "source": "foot.msh",
    }
    return TetrahedralMesh(**{**arguments, **changed})


def test_counts_and_surface_of_a_block() -> None:
    mesh = block_mesh((0.22, 0.13, 0.02), (8, 5, 2))
    assert len(mesh.nodes) == 162
    assert len(mesh.tetrahedra) == 480
    assert len(mesh.fixed) == 54
    assert len(mesh.surface) == 2 * 2 * (8 * 5 + 8 * 2 + 5 * 2)
    a, b, c = (mesh.nodes[mesh.surface[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    np.testing.assert_allclose(normals.sum(axis=0), 0.0, atol=1e-15)  # closed
    centre = np.array([0.0, 0.0, -0.01])
    assert np.all(np.einsum("ij,ij->i", normals, a - centre) > 0.0)  # outward
    assert np.linalg.norm(normals, axis=1).sum() / 2 == pytest.approx(2 * (0.0286 + 0.0044 + 0.0026))


def test_surface_of_a_block_with_a_hole() -> None:
    """A cell left out shows its walls."""
    parts = np.zeros((3, 3, 1), dtype=np.int64)
    parts[1, 1, 0] = -1
    mesh = grid_mesh(range(4), range(4), range(2), parts, ("sole",))
    assert mesh.volumes.sum() == pytest.approx(8.0)
    assert len(mesh.surface) == 2 * (8 + 8 + 12 + 4)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tetrahedra": np.array([[0, 1, 2, 3], [0, 1, 2, 4]])}, r"foot\.msh: tetrahedra: tetrahedron 1, .* inverted"),
        ({"nodes": np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, -1.0]])}, "tetrahedron 0.*degenerate"),
        ({"nodes": np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, np.nan], [0, 0, -1.0]])}, "node 3 is at"),
        ({"nodes": np.zeros((0, 3))}, r"nodes has shape \(0, 3\)"),
        ({"tetrahedra": np.zeros((0, 4), dtype=int)}, r"tetrahedra has shape \(0, 4\)"),
        ({"tetrahedra": np.array([[0, 1, 2, 3.0]])}, "tetrahedra holds float64"),
        ({"tetrahedra": np.array([[0, 1, 2, 9]])}, r"tetrahedra\[0, 3\] names node 9.*0 to 4"),
        ({"tetrahedra": np.array([[0, 1, 2, -1]])}, "names node -1"),
        ({"fixed": np.zeros(0, dtype=int)}, "no node is fixed"),
        ({"fixed": np.array([0, 5])}, "fixed.* names node 5"),
        ({"fixed": np.array([0, 1])}, "2 of its nodes are fixed"),
        ({"fixed": np.array([0, 3, 4])}, "isn't held"),  # in a line
        ({"tetrahedra": np.array([[0, 1, 2, 3]])}, "node 4 belongs to no tetrahedron"),
        ({"tetrahedra": np.array([[0, 1, 2, 3], [0, 2, 1, 4], [0, 2, 1, 4]])}, r"face of nodes \[0, 1, 2\].*3 tetra"),
        ({"part_of": np.array([0])}, "part_of has 1 entries for 2"),
        ({"part_of": np.array([0, 1])}, "tetrahedron 1 belongs to part 1"),
    ],
)
def test_malformed_meshes(changed: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        corner(**changed)


def test_the_corner_itself_is_well_formed() -> None:
    assert len(corner().surface) == 6


@pytest.mark.feature("000-F127")
def test_pieces_that_nothing_holds() -> None:
    """A second block beside the first, with coinciding nodes that were not merged."""
    block = block_mesh((1.0, 1.0, 1.0), (1, 1, 1))
    nodes = np.vstack([block.nodes, block.nodes - [0.0, 0.0, 1.0]])
    tetrahedra = np.vstack([block.tetrahedra, block.tetrahedra + 8])
    with pytest.raises(InputError, match=r"the piece with node 8 \(8 of 16 nodes\) isn't held: 0 of its"):
        TetrahedralMesh(nodes, tetrahedra, block.fixed)
    TetrahedralMesh(nodes, tetrahedra, np.concatenate([block.fixed, block.fixed + 8]))


@pytest.mark.parametrize(
    ("size", "cells"),
    [((0, 1, 1), (1, 1, 1)), ((1, 1), (1, 1, 1)), ((1, 1, np.nan), (1, 1, 1)), ((1, 1, 1), (1, 0, 1))],
)
def test_impossible_blocks(size: tuple, cells: tuple) -> None:
    with pytest.raises(InputError, match=r"size is|cells is"):
        block_mesh(size, cells)


def test_impossible_grids() -> None:
    cells = np.zeros((1, 1, 1), dtype=np.int64)
    with pytest.raises(InputError, match="ys is"):
        grid_mesh([0, 1], [1, 1], [0, 1], cells, ("sole",))
    with pytest.raises(InputError, match="part_of_cell has shape"):
        grid_mesh([0, 1, 2], [0, 1], [0, 1], cells, ("sole",))
