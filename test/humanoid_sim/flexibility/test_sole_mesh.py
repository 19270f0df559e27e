# SPDX-License-Identifier: Apache-2.0
"""The library of sole shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.contact import ContactLocation
from humanoid_model.errors import InputError
from humanoid_model.sole import RUBBER, BlockSole, Material, MeshSole, RoundedSole, Sole, TwoPadSole
from humanoid_sim.flexibility.sole_mesh import build_sole, sole_mesh

SIZE = (0.22, 0.13, 0.02)


def test_block() -> None:
    mesh = sole_mesh(BlockSole(SIZE, (8, 5, 2)))
    assert (len(mesh.nodes), len(mesh.tetrahedra)) == (162, 480)


@pytest.mark.feature("000-F136")
def test_two_pads_have_the_volume_and_the_feet_of_the_drawing() -> None:
    mesh = sole_mesh(TwoPadSole((0.22, 0.13, 0.01), 0.09, 0.06, 0.01, (11, 4, 1, 2)))
    assert mesh.parts == ("layer", "pads")
    by_part = [mesh.volumes[mesh.part_of == part].sum() for part in (0, 1)]
    assert by_part == pytest.approx([0.22 * 0.13 * 0.01, (0.09 + 0.06) * 0.13 * 0.01])
    low = mesh.nodes[mesh.nodes[:, 2] < -0.0199, 0]
    assert [low.min(), low[low < 0].max(), low[low > 0].min(), low.max()] == pytest.approx([-0.11, -0.02, 0.05, 0.11])
    assert np.all(mesh.nodes[mesh.fixed, 2] == 0.0)


def test_pads_that_meet() -> None:
    mesh = sole_mesh(TwoPadSole((0.2, 0.1, 0.01), 0.12, 0.08, 0.01, (5, 2, 1, 1)))
    assert mesh.volumes.sum() == pytest.approx(0.2 * 0.1 * 0.02)


@pytest.mark.feature("000-F136")
def test_rounded_edges_are_quarter_circles() -> None:
    r = 0.015
    mesh = sole_mesh(RoundedSole(SIZE, (160, 1, 2), r))
    low = mesh.nodes[np.unique(mesh.surface)]
    x, z = low[:, 0], low[:, 2]
    bottom = np.array([z[np.isclose(x, at)].min() for at in np.unique(x)])
    past = np.maximum(np.abs(np.unique(x)) - (0.11 - r), 0.0)
    np.testing.assert_allclose(bottom, -0.02 + r - np.sqrt(r**2 - past**2), atol=1e-12)
    assert bottom[0] == pytest.approx(-0.005)
    lost = 2 * (1 - np.pi / 4) * r**2 * 0.13
    assert mesh.volumes.sum() == pytest.approx(np.prod(SIZE) - lost, rel=2e-3)


def test_sole_of_a_robot() -> None:
    """A sole lies under its patch, in the frame of the link."""
    patch = ContactLocation("right_sole", "foot", pin.SE3(np.eye(3), np.array([0.03, 0.0, -0.105])), np.zeros((1, 2)))
    sole = build_sole(Sole(patch, BlockSole(SIZE, (2, 2, 1)), {"sole": RUBBER}, pin.SE3.Identity()))
    np.testing.assert_allclose(sole.vertices.min(axis=0), [-0.08, -0.065, -0.125])
    np.testing.assert_allclose(sole.vertices.max(axis=0), [0.14, 0.065, -0.105])
    np.testing.assert_allclose(sole.vertices[sole.free :, 2], -0.105)


def test_softer_pads_make_a_softer_sole() -> None:
    shape = TwoPadSole((0.22, 0.13, 0.01), 0.09, 0.06, 0.01, (8, 4, 1, 1))
    patch = ContactLocation("right_sole", "foot", pin.SE3.Identity(), np.zeros((1, 2)))
    layer = Material(3e6, 0.25)
    hard, soft = (
        build_sole(Sole(patch, shape, {"layer": layer, "pads": Material(E, 0.25)}, pin.SE3.Identity()))
        for E in (3e6, 1e6)
    )
    assert np.all(np.diag(soft.S) >= np.diag(hard.S))
    assert np.trace(soft.S) > 1.5 * np.trace(hard.S)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (BlockSole((0.2, 0.0, 0.1), (1, 1, 1)), "size is"),
        (RoundedSole(SIZE, (4, 2, 1), 0.02), "radius is 0.02"),
        (RoundedSole(SIZE, (4, 2, 1), np.nan), "radius is nan"),
        (TwoPadSole((0.1, 0.1, 0.1), 0.06, 0.06, 0.1, (1, 1, 1, 1)), "heel and toe are 0.12 m"),
        (MeshSole(Path("missing.msh")), "missing.msh: can't be read"),
    ],
)
def test_impossible_shapes(shape: BlockSole, message: str) -> None:
    with pytest.raises(InputError, match=message):
        sole_mesh(shape)
