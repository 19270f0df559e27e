# SPDX-License-Identifier: Apache-2.0
"""Which matrices can be a body's inertia: those of clouds of point masses, and none else."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scene_files import TETRAHEDRON_WRL
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Geometry, HalfSpace, Mesh, Shape, Sphere
from humanoid_model.inertia import inertia_problem, is_positive, spatial_inertia, uniform_inertia


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(1e-4, 1e3))
def test_inertia_of_any_point_masses_is_accepted(seed: int, points: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(points, 3)) * size
    masses = rng.uniform(0.1, 10, points)
    inertia = sum(
        mass * (point @ point * np.eye(3) - np.outer(point, point))
        for mass, point in zip(masses, positions, strict=True)
    )
    assert inertia_problem(np.asarray(inertia)) is None


@given(st.integers(0, 2**32 - 1), st.floats(1.03, 5.0))
def test_a_moment_above_the_sum_of_the_others_is_refused(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    small, middle = np.sort(rng.uniform(0.1, 1.0, 2))
    turn = pin.Quaternion(*rng.normal(size=4)).normalized().matrix()
    inertia = turn @ np.diag([small, middle, factor * (small + middle)]) @ turn.T
    assert "triangle inequality" in str(inertia_problem(inertia))


@pytest.mark.parametrize("moments", [(-0.1, 1.0, 1.0), (-1.0, -1.0, -1.0), (-0.03, 0.5, 1.0)])
def test_negative_moments_are_refused(moments: tuple[float, ...]) -> None:
    assert "not positive" in str(inertia_problem(np.diag(moments)))


def test_products_of_inertia_count() -> None:
    assert inertia_problem(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.2], [0.0, 1.2, 1.0]])) is not None


def test_rounded_values_pass() -> None:
    """A thin plate published with two digits misses the equality by rounding."""
    assert inertia_problem(np.diag([0.011, 0.011, 0.0223])) is None
    assert inertia_problem(np.zeros((3, 3))) is None


def test_what_dynamics_can_be_computed_with_is_positive() -> None:
    assert is_positive(np.diag([0.1, 0.1, 5.0]))
    assert is_positive(np.diag([-1e-22, 1e-22, 3e-6]))
    assert not is_positive(np.diag([-0.1, 1.0, 1.0]))


def test_spatial_inertia_takes_the_numbers_as_they_are() -> None:
    body = spatial_inertia(2.0, np.array([0.1, 0.2, 0.3]), np.diag([-1e-20, 1.0, 2.0]))
    assert body.mass == 2.0
    np.testing.assert_array_equal(body.lever, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(np.diag(body.inertia), [-1e-20, 1.0, 2.0])
    normal = pin.Inertia.Random()
    assert spatial_inertia(normal.mass, normal.lever, normal.inertia).isApprox(normal)


def geometry(shape: Shape, placement: pin.SE3 | None = None) -> Geometry:
    return Geometry("", shape, pin.SE3.Identity() if placement is None else placement, np.ones(4))


def inertia_of(*geometries: Geometry, mass: float) -> pin.Inertia:
    inertia = uniform_inertia(geometries, mass)
    assert inertia is not None
    return inertia


def capsule_moments(radius: float, length: float, mass: float) -> list[float]:
    """Cylinder and two half balls, each half ball's centre of mass 3/8 r beyond the cylinder's end."""
    cylinder = math.pi * radius**2 * length
    balls = 4 / 3 * math.pi * radius**3
    density = mass / (cylinder + balls)
    along = density * (cylinder * radius**2 / 2 + balls * 2 / 5 * radius**2)
    offset = length / 2 + 3 / 8 * radius
    half_ball = (2 / 5 - 9 / 64) * radius**2 + offset**2
    across = density * (cylinder * (radius**2 / 4 + length**2 / 12) + balls * half_ball)
    return [across, across, along]


@pytest.mark.parametrize(
    ("shape", "moments"),
    [
        (Box(np.array([1.0, 2.0, 3.0])), [3 / 12 * 13, 3 / 12 * 10, 3 / 12 * 5]),
        (Sphere(0.5), [0.3, 0.3, 0.3]),
        (Cylinder(0.5, 2.0), [3 * (0.25 / 4 + 4 / 12), 3 * (0.25 / 4 + 4 / 12), 3 * 0.125]),
        (Capsule(0.5, 2.0), capsule_moments(0.5, 2.0, 3.0)),
        (Ellipsoid(np.array([1.0, 2.0, 3.0])), [3 / 5 * 13, 3 / 5 * 10, 3 / 5 * 5]),
    ],
)
def test_one_shape(shape: Shape, moments: list[float]) -> None:
    inertia = inertia_of(geometry(shape), mass=3.0)
    assert inertia.mass == pytest.approx(3.0)
    assert_allclose(inertia.lever, 0.0, atol=1e-12)
    assert_allclose(inertia.inertia, np.diag(moments), rtol=1e-9, atol=1e-12)


def test_tetrahedron_in_a_mesh(tmp_path: Path) -> None:
    """Corners at the origin and on the axes: centre (1/4, 1/4, 1/4), moments of the monomials x^2, x y over it."""
    (tmp_path / "t.wrl").write_text(TETRAHEDRON_WRL, encoding="utf-8")
    inertia = inertia_of(geometry(Mesh(tmp_path / "t.wrl", np.ones(3))), mass=6.0)
    assert_allclose(inertia.lever, [0.25, 0.25, 0.25], rtol=1e-9)
    # About the centre of mass, per unit of mass: E[x^2] = 1/10 - 1/16, E[x y] = 1/20 - 1/16.
    square, product = 1 / 10 - 1 / 16, 1 / 20 - 1 / 16
    expected = 6.0 * (2 * square * np.eye(3) - product * (np.ones((3, 3)) - np.eye(3)))
    assert_allclose(inertia.inertia, expected, rtol=1e-9)


def test_scaled_mesh(tmp_path: Path) -> None:
    (tmp_path / "t.wrl").write_text(TETRAHEDRON_WRL, encoding="utf-8")
    inertia = inertia_of(geometry(Mesh(tmp_path / "t.wrl", np.array([2.0, 1.0, 1.0]))), mass=1.0)
    assert_allclose(inertia.lever, [0.5, 0.25, 0.25], rtol=1e-9)


def test_box_of_two_halves_is_one_box() -> None:
    halves = [geometry(Box(np.array([0.5, 1.0, 2.0])), pin.SE3(np.eye(3), np.array([x, 0, 0]))) for x in (-0.25, 0.25)]
    together = inertia_of(*halves, mass=2.0)
    whole = inertia_of(geometry(Box(np.array([1.0, 1.0, 2.0]))), mass=2.0)
    assert_allclose(together.lever, 0.0, atol=1e-15)
    assert_allclose(together.inertia, whole.inertia, rtol=1e-12)


def test_turned_shapes_of_unequal_volume_against_sampled_points() -> None:
    """Points drawn evenly from a box and a ball, by volume, have the same moments within their spread."""
    rng = np.random.default_rng(3)
    size, radius = np.array([0.4, 0.2, 0.6]), 0.3
    place_box = pin.SE3(pin.rpy.rpyToMatrix(0.4, -0.7, 1.1), np.array([0.5, 0.1, -0.2]))
    place_ball = pin.SE3(np.eye(3), np.array([-0.6, 0.3, 0.4]))
    inertia = inertia_of(geometry(Box(size), place_box), geometry(Sphere(radius), place_ball), mass=5.0)

    volumes = np.array([size.prod(), 4 / 3 * math.pi * radius**3])
    count = 200_000
    in_box = (rng.random((count, 3)) - 0.5) * size @ place_box.rotation.T + place_box.translation
    ball = rng.normal(size=(count, 3))
    ball *= radius * rng.random((count, 1)) ** (1 / 3) / np.linalg.norm(ball, axis=1)[:, None]
    points = np.vstack([in_box, ball + place_ball.translation])
    weights = np.repeat(5.0 * volumes / volumes.sum() / count, count)
    centre = weights @ points / 5.0
    assert_allclose(inertia.lever, centre, atol=2e-3)
    arms = points - centre
    moments = (weights[:, None] * arms).T @ arms
    assert_allclose(inertia.inertia, np.trace(moments) * np.eye(3) - moments, atol=1e-2)


@pytest.mark.parametrize(
    "faces", ["0 1 2 -1", "0 2 1 -1 0 1 3 -1 1 2 3 -1", "0 1 2 -1 0 3 1 -1 0 2 3 -1 1 3 2 -1"]
)
def test_one_face_open_and_inside_out_meshes(tmp_path: Path, faces: str) -> None:
    start = TETRAHEDRON_WRL.split("coordIndex")[0]
    (tmp_path / "bad.wrl").write_text(f"{start}coordIndex [{faces}] }} }}\n", encoding="utf-8")
    assert uniform_inertia([geometry(Mesh(tmp_path / "bad.wrl", np.ones(3)))], 1.0) is None


def test_nothing_and_endless_volume() -> None:
    assert uniform_inertia([geometry(Sphere(1.0)), geometry(HalfSpace())], 1.0) is None
    assert uniform_inertia([], 1.0) is None
