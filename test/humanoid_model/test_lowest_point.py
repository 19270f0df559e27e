# SPDX-License-Identifier: Apache-2.0
"""Lowest points of shapes against points sampled on their surfaces."""

import math

import coal
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.coal_geometry import lowest_point


def on_sphere(radius: float) -> np.ndarray:
    angles, heights = np.meshgrid(np.linspace(0, 2 * math.pi, 200), np.linspace(-1, 1, 400))
    across = np.sqrt(1 - heights**2)
    return radius * np.stack([across * np.cos(angles), across * np.sin(angles), heights], -1).reshape(-1, 3)


def on_circle(radius: float, z: float) -> np.ndarray:
    angles = np.linspace(0, 2 * math.pi, 4000)
    return np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full_like(angles, z)], -1)


def corners(x: float, y: float, z: float) -> np.ndarray:
    signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
    return signs * (x, y, z)


def mesh() -> tuple[coal.CollisionGeometry, np.ndarray]:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
    model = coal.BVHModelOBBRSS()
    model.beginModel(4, 4)
    model.addVertices(points)
    model.addTriangles(np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]))
    model.endModel()
    return model, points


UP = np.array([0.0, 0.0, 0.25])
SHAPES = {
    "box": (coal.Box(0.2, 0.3, 0.4), corners(0.2, 0.3, 0.4)),
    "sphere": (coal.Sphere(0.15), on_sphere(0.15)),
    "cylinder": (coal.Cylinder(0.1, 0.5), np.vstack([on_circle(0.1, -0.25), on_circle(0.1, 0.25)])),
    "capsule": (
        coal.Capsule(0.1, 0.5),
        np.vstack([on_sphere(0.1) + UP, on_sphere(0.1) - UP]),
    ),
    "ellipsoid": (coal.Ellipsoid(0.2, 0.1, 0.05), on_sphere(1.0) * (0.2, 0.1, 0.05)),
    "mesh": mesh(),
}


@pytest.mark.parametrize("name", SHAPES)
def test_equals_the_lowest_of_many_surface_points(name: str) -> None:
    shape, points = SHAPES[name]
    rng = np.random.default_rng(3)
    for _ in range(20):
        turn = pin.Quaternion(*rng.normal(size=4)).normalized().matrix()
        placement = pin.SE3(turn, rng.normal(size=3))
        sampled = (points @ turn.T + placement.translation)[:, 2].min()
        found = lowest_point(shape, placement)
        # Sampled points lie on the surface, so none is lower, and the nearest is close.
        assert sampled - 2e-5 < found < sampled + 1e-12


def test_half_space_has_no_lowest_point() -> None:
    plane = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    assert lowest_point(plane, pin.SE3.Identity()) == -math.inf
