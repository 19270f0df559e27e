# SPDX-License-Identifier: Apache-2.0
"""Mass properties of uniform bodies against textbook formulas and against sampled volumes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scene_files import TETRAHEDRON_WRL
from numpy.testing import assert_allclose

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Geometry, HalfSpace, Mesh, Shape, Sphere
from humanoid_model.uniform_body import uniform_inertia


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
