# SPDX-License-Identifier: Apache-2.0
"""Boolean, penetration and continuous queries against geometry worked out by hand."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import place
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from humanoid_model.description import Box, Capsule, Cylinder, Mesh, Sphere
from humanoid_sim.detection.convex_pair import contact_patch, convex_distance
from humanoid_sim.detection.mesh_contact import mesh_contact
from humanoid_sim.detection.solids import Polytope, SolidShape, solids_of
from humanoid_sim.detection.special_pair import ShapeMotion, SpecialPair, first_contact_time, surface_mesh

GROUND = Box(np.array([4.0, 4.0, 1.0]))  # its top is at z = 0.5
CRATE = Box(np.array([0.4, 0.3, 0.2]))


def at(placement: pin.SE3, velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> ShapeMotion:
    R, p = placement.rotation, placement.translation
    return ShapeMotion(R, p, p, np.array(velocity), np.zeros(3))


def falls(solid: SolidShape, start: pin.SE3, end: pin.SE3, ground: SolidShape = GROUND) -> float:
    still = pin.SE3.Identity()
    return first_contact_time(solid, (start, end), ground, (still, still))


@pytest.mark.feature("000-F105")
def test_falling_box_touches_when_its_bottom_does() -> None:
    for drop in (0.3, 1.0, 20.0):
        share = falls(CRATE, place(0.1, 0.2, 0.6 + 0.1), place(0.1, 0.2, 0.7 - drop))
        assert share == pytest.approx(0.1 / drop, abs=1e-6)


@pytest.mark.feature("000-F105")
def test_turning_box_touches_when_its_lowest_corner_does() -> None:
    """The height of the lowest corner along the motion, its root found by scipy."""
    start, end = place(0, 0, 1.2, roll=0.2, yaw=0.1), place(0.3, 0.1, 0.6, roll=1.5, pitch=-0.4)
    turn = pin.log3(end.rotation @ start.rotation.T)
    corners = Polytope.of_box(CRATE).vertices

    def height(share: float) -> float:
        R = pin.exp3(share * turn) @ start.rotation
        z = start.translation[2] + share * (end.translation[2] - start.translation[2])
        return float((corners @ R.T)[:, 2].min() + z - 0.5)

    assert falls(CRATE, start, end) == pytest.approx(brentq(height, 0.0, 1.0, xtol=1e-12), abs=1e-6)


def test_thin_wall_is_not_passed_unseen() -> None:
    wall = Box(np.array([0.01, 2.0, 2.0]))
    share = falls(Sphere(0.05), place(-5, 0.1, 0), place(5, 0.1, 0), wall)
    assert share == pytest.approx((5 - 0.055) / 10, abs=1e-6)
    assert falls(Sphere(0.05), place(-5, 3.0, 0), place(5, 3.0, 0), wall) == np.inf
    assert falls(Sphere(0.05), place(5, 0, 0), place(9, 0, 0), wall) == np.inf
    assert falls(Sphere(0.05), place(0.05, 0, 0), place(9, 0, 0), wall) == 0.0


def test_mesh_as_it_is(tmp_path: Path) -> None:
    """A ball falls into the notch between two steps, which the convex hull would close."""
    path = tmp_path / "notch.obj"
    path.write_text(
        "v -1 -1 0\nv 0 -1 0\nv 1 -1 0\nv -1 -1 1\nv 0 -1 0.2\nv 1 -1 1\n"
        "v -1 1 0\nv 0 1 0\nv 1 1 0\nv -1 1 1\nv 0 1 0.2\nv 1 1 1\n"
        "f 1 2 5 4\nf 2 3 6 5\nf 8 7 10 11\nf 9 8 11 12\nf 4 5 11 10\nf 5 6 12 11\n"
        "f 1 7 8 2\nf 2 8 9 3\nf 3 9 12 6\nf 7 1 4 10\n"
    )
    mesh = solids_of(Mesh(path, np.ones(3), "exact"))[0]
    share = falls(Sphere(0.1), place(0, 0, 1.3), place(0, 0, 0.3), mesh)
    slope = 0.8  # a ball between two walls z = 0.2 + 0.8 |x| touches both
    assert 1.3 - share == pytest.approx(0.2 + 0.1 * np.hypot(1.0, slope), abs=1e-6)
    hull = solids_of(Mesh(path, np.ones(3)))[0]
    assert 1.5 - falls(Sphere(0.1), place(0, 0, 1.5), place(0, 0, 0.5), hull) == pytest.approx(1.1, abs=1e-6)


def test_overlap_is_yes_or_no() -> None:
    pair = SpecialPair(CRATE, GROUND)
    assert pair.overlap(at(place(0, 0, 0.5999)), at(pin.SE3.Identity()))
    assert not pair.overlap(at(place(0, 0, 0.6001)), at(pin.SE3.Identity()))


def test_penetration_has_the_points_of_the_surfaces_and_the_depth() -> None:
    pair = SpecialPair(CRATE, GROUND)
    assert pair.penetration(at(place(0, 0, 0.601)), at(pin.SE3.Identity())) is None
    contact = pair.penetration(at(place(0.1, 0.2, 0.598)), at(pin.SE3.Identity()))
    assert contact is not None
    assert_allclose(contact.normal, [0, 0, 1], atol=1e-9)
    assert_allclose(contact.gaps, -2e-3, atol=1e-9)
    assert {tuple(p) for p in contact.positions.round(9)} == {
        (0.3, 0.05, 0.5), (0.3, 0.35, 0.5), (-0.1, 0.05, 0.5), (-0.1, 0.35, 0.5),
    }  # fmt: skip


def test_swept_contact_has_the_gap_of_the_points_that_will_meet() -> None:
    pair = SpecialPair(CRATE, GROUND)
    crate, ground = at(place(0, 0, 0.63), (0, 0, -30.0)), at(pin.SE3.Identity())
    time = pair.time_of_contact(crate, ground, 2e-3)
    assert time == pytest.approx(1e-3, abs=1e-9)
    contact = pair.swept(crate, ground, time, 2e-3)
    assert contact is not None
    assert len(contact.gaps) == 4
    assert_allclose(contact.gaps, 0.03, atol=1e-8)
    assert_allclose(np.abs(contact.positions), [[0.2, 0.15, 0.515]] * 4, atol=1e-8)


def test_surfaces_are_closed_and_of_the_right_size() -> None:
    for solid, volume in (
        (CRATE, 0.024),
        (Sphere(0.1), 4e-3 * np.pi / 3),
        (Cylinder(0.1, 0.3), 3e-3 * np.pi),
        (Capsule(0.1, 0.3), 3e-3 * np.pi + 4e-3 * np.pi / 3),
    ):
        triangles = surface_mesh(solid).triangles
        signed = np.einsum("ti,ti->t", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2])).sum() / 6.0
        assert signed == pytest.approx(volume, rel=0.02)
        assert_allclose(np.abs(triangles.reshape(-1, 3)).max(axis=0), triangles.reshape(-1, 3).max(axis=0), atol=1e-9)


def test_placements_from_pinocchio_need_no_kernels_of_their_own() -> None:
    """Its matrices go by columns; for each mix of layouts a kernel would be compiled anew, in up to half a minute."""
    above, below = place(0, 0, 0.59, yaw=0.3), place(0, 0, 0, yaw=0.2)
    assert not above.rotation.flags.c_contiguous
    for ground in (GROUND, surface_mesh(GROUND)):
        assert SpecialPair(CRATE, ground).patch(at(above), at(below), 0.02) is not None
    for kernel in (convex_distance, contact_patch, mesh_contact):
        signatures = getattr(kernel, "dispatcher", kernel).signatures
        assert {signature[k].types[0].layout for signature in signatures for k in (3, 4)} == {"C"}, kernel
