# SPDX-License-Identifier: Apache-2.0
"""Soles in the frame of their link, and their display."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.errors import InputError
from humanoid_sim.flexibility import RUBBER, DeformableSole, block_mesh, surface_compliance

MESH = block_mesh((0.22, 0.13, 0.02), (4, 3, 2))


def test_geometry_and_compliance_are_in_the_frame_of_the_link() -> None:
    placement = pin.SE3.Random()
    sole, plain = DeformableSole(MESH, RUBBER, placement), surface_compliance(MESH, RUBBER)
    for i in range(sole.free):
        np.testing.assert_allclose(sole.vertices[i], placement.act(MESH.nodes[plain.nodes[i]]), atol=1e-15)
    turn = np.kron(np.eye(sole.free), placement.rotation)
    np.testing.assert_allclose(sole.S, turn @ plain.S @ turn.T, atol=1e-12 * plain.S.max())
    assert np.linalg.eigvalsh(sole.S)[0] > 0.0


def test_triangles_keep_their_places() -> None:
    sole = DeformableSole(MESH, RUBBER)
    np.testing.assert_array_equal(sole.vertices[sole.triangles], MESH.nodes[MESH.surface])
    assert {tuple(v) for v in sole.vertices[sole.free :]} == {tuple(MESH.nodes[i]) for i in MESH.fixed}


def test_deformed_mesh_for_display() -> None:
    sole = DeformableSole(MESH, RUBBER)
    rest, _ = sole.deformed_mesh()
    np.testing.assert_array_equal(rest, sole.vertices)
    sole.U[4] = 0.002
    vertices, triangles = sole.deformed_mesh(3.0)
    moved = np.flatnonzero((vertices != rest).any(axis=1))
    assert moved.tolist() == [1]
    np.testing.assert_allclose(vertices[1] - rest[1], [0.0, 0.006, 0.0], atol=1e-15)
    assert sole.max_displacement == pytest.approx(0.002)
    vertices[:], triangles[:] = 0.0, 0  # copies: the sole is not touched
    assert sole.vertices.any()
    assert sole.triangles.any()
    with pytest.raises(InputError, match="magnification is nan"):
        sole.deformed_mesh(np.nan)
