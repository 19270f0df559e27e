# SPDX-License-Identifier: Apache-2.0
"""Contact points of pairs of solids by each backend, against geometry worked out by hand and against each other."""

import sys

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model.description import Box, Capsule, Cylinder, Sphere
from humanoid_sim.detection.backends import BACKENDS
from humanoid_sim.detection.continuous import ShapeMotion
from humanoid_sim.detection.shape_table import SolidShape
from humanoid_sim.detection.special_pair import PairContact, SpecialPair

MARGIN = 2e-3
TABLE = Box(np.ones(3))  # its top is at z = 0.5
BACKEND = BACKENDS[0]


def place(x: float, y: float, z: float, roll: float = 0.0, yaw: float = 0.0) -> pin.SE3:
    return pin.SE3(pin.rpy.rpyToMatrix(roll, 0.0, yaw), np.array([x, y, z]))


@pytest.fixture(params=BACKENDS, autouse=True)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs with each backend."""
    monkeypatch.setattr(sys.modules[__name__], "BACKEND", request.param)
    return str(request.param)


def at(placement: pin.SE3) -> ShapeMotion:
    p = placement.translation
    return ShapeMotion(placement.rotation, p, p, np.zeros(3), np.zeros(3))


def pair(first: SolidShape, at_first: pin.SE3, second: SolidShape, at_second: pin.SE3) -> PairContact | None:
    return SpecialPair(first, second, BACKEND).patch(at(at_first), at(at_second), MARGIN)


def on_table(shape: SolidShape, placement: pin.SE3, *, swapped: bool = False) -> PairContact | None:
    if swapped:
        return pair(TABLE, pin.SE3.Identity(), shape, placement)
    return pair(shape, placement, TABLE, pin.SE3.Identity())


@pytest.mark.parametrize("gap", [1e-3, 0.0, -1e-3])
@pytest.mark.parametrize("swapped", [False, True])
def test_box_on_box_touches_with_four_corners(gap: float, swapped: bool) -> None:
    contact = on_table(Box(np.array([0.4, 0.2, 0.1])), place(0.1, 0.0, 0.55 + gap), swapped=swapped)
    assert contact is not None
    assert_allclose(contact.normal, [0, 0, -1 if swapped else 1], atol=1e-9)
    assert_allclose(contact.gaps, gap, atol=1e-9)
    expected = {(-0.1, -0.1), (-0.1, 0.1), (0.3, -0.1), (0.3, 0.1)}
    assert {tuple(point) for point in contact.positions[:, :2].round(6)} == expected
    assert_allclose(contact.positions[:, 2], 0.5 + 0.5 * gap, atol=1e-9)


def test_overhanging_box_is_clipped_by_the_edge() -> None:
    contact = on_table(Box(np.array([0.4, 0.2, 0.1])), place(0.45, 0.0, 0.55))
    assert contact is not None
    assert {tuple(p) for p in contact.positions[:, :2].round(6)} == {
        (0.25, -0.1), (0.25, 0.1), (0.5, -0.1), (0.5, 0.1),
    }  # fmt: skip


def test_tilted_box_has_a_gap_at_each_corner() -> None:
    tilt = 2e-3
    contact = on_table(Box(np.array([0.4, 0.4, 0.1])), place(0, 0, 0.5504, roll=tilt))
    assert contact is not None
    expected = 0.5004 - 0.5 + 0.05 * (1 - np.cos(tilt)) + np.sign(contact.positions[:, 1]) * 0.2 * np.sin(tilt)
    assert_allclose(contact.gaps, expected, atol=1e-8)


def test_edge_crossing_an_edge_is_one_point() -> None:
    """Two cubes on edge, one edge along y, the other above it along x: they meet in one point."""
    lower, upper = TABLE, Box(np.full(3, 0.1))
    top, bottom = np.sqrt(0.5), 0.1 * np.sqrt(0.5)
    on_y = pin.SE3(pin.rpy.rpyToMatrix(0.0, np.pi / 4, 0.0), np.zeros(3))
    on_x = place(0.02, 0.03, top + bottom + 5e-4, roll=np.pi / 4)
    contact = pair(upper, on_x, lower, on_y)
    assert contact is not None
    assert_allclose(contact.normal, [0, 0, 1], atol=1e-6)
    assert_allclose(contact.positions, [[0.0, 0.03, top + 2.5e-4]], atol=1e-6)
    assert_allclose(contact.gaps, [5e-4], atol=1e-6)


def test_sphere_capsule_and_cylinder_on_a_table() -> None:
    sphere = on_table(Sphere(0.1), place(0.2, 0.1, 0.6005))
    assert sphere is not None
    assert_allclose(sphere.positions, [[0.2, 0.1, 0.50025]], atol=1e-6)
    assert_allclose(sphere.gaps, [5e-4], atol=1e-6)
    lying = place(0, 0, 0.5 + 0.05, roll=np.pi / 2)
    for shape in (Capsule(0.05, 0.3), Cylinder(0.05, 0.3)):
        contact = on_table(shape, lying)
        assert contact is not None
        assert_allclose(sorted(contact.positions[:, 1]), [-0.15, 0.15], atol=1e-6)
        assert_allclose(contact.gaps, 0.0, atol=1e-6)
    standing = on_table(Cylinder(0.05, 0.3), place(0, 0, 0.65))
    assert standing is not None
    assert len(standing.gaps) == 4
    assert_allclose(np.linalg.norm(standing.positions[:, :2], axis=1), 0.05, atol=1e-9)


def test_far_shapes_have_no_contact() -> None:
    assert on_table(Sphere(0.1), place(0, 0, 0.6 + 1.5 * MARGIN)) is None


def test_two_spheres() -> None:
    a, b = Sphere(0.1), Sphere(0.2)
    direction = np.array([1.0, 2.0, -2.0]) / 3.0
    contact = pair(a, pin.SE3(np.eye(3), 0.299 * direction), b, pin.SE3.Identity())
    assert contact is not None
    assert_allclose(contact.normal, direction, atol=1e-6)
    assert_allclose(contact.gaps, [-1e-3], atol=1e-6)
    assert_allclose(contact.positions[0], 0.1995 * direction, atol=1e-6)
