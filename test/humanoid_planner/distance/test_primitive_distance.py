# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

from humanoid_planner.distance.primitive_distance import sphere_sphere, sphere_torus, torus_torus


def unit(rng: np.random.Generator) -> np.ndarray:
    v = rng.normal(size=3)
    return np.asarray(v / np.linalg.norm(v))


def circle(centre: np.ndarray, axis: np.ndarray, radius: float, count: int) -> np.ndarray:
    x, y = np.linalg.svd(axis[None])[2][1:]
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.asarray(centre + radius * (np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y))


def test_centres() -> None:
    length, n, found = sphere_sphere((1.0, -2.0, 2.0))
    assert (length, found) == (3.0, True)
    assert np.allclose(n, [1 / 3, -2 / 3, 2 / 3])
    assert not sphere_sphere((0.0, 0.0, 0.0))[2]


@pytest.mark.feature("001-F127")
def test_centre_and_circle_by_sampling() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        d, axis, radius = rng.normal(size=3), unit(rng), rng.uniform(0.1, 5.0)
        length, n, found = sphere_torus(tuple(d), tuple(axis), radius)
        sampled = np.linalg.norm(circle(d, axis, radius, 20000), axis=1).max()
        assert found
        assert sampled - 1e-12 <= length <= sampled + 1e-6
        # The formula of the specification, with C the circle's centre, Q the projection of P on its plane.
        along = d @ axis
        cq = np.linalg.norm(d - along * axis)
        assert length == pytest.approx(np.sqrt(radius * (radius + 2.0 * cq) + d @ d), rel=1e-14)
        across = np.array(n) - (np.array(n) @ axis) * axis
        farthest = d + radius * across / np.linalg.norm(across)
        assert np.allclose(farthest, length * np.array(n), atol=1e-12)


def test_centre_on_the_axis_has_no_farthest_point() -> None:
    assert not sphere_torus((0.0, 0.0, 0.3), (0.0, 0.0, 1.0), 2.0)[2]


def gap(d: np.ndarray, axes: np.ndarray, radii: np.ndarray, n: np.ndarray) -> float:
    return float(d @ n + radii @ np.sqrt(1.0 - (axes @ n) ** 2))


@pytest.mark.feature("001-F127")
@pytest.mark.parametrize("radii", [(1.0, 1.0), (20.0, 20.0), (20.0, 0.5)])
def test_two_circles_by_sampling(radii: tuple[float, float]) -> None:
    # Edges near each other, as between volumes; the normal to start from is off by what features are wide.
    rng = np.random.default_rng(1)
    for _ in range(30):
        normal = unit(rng)
        axes = np.cross(normal, rng.normal(size=(2, 3)))
        axes /= np.linalg.norm(axes, axis=1)[:, None]
        d = rng.uniform(0.02, 0.3) * normal + 0.05 * rng.normal(size=3)
        if d @ normal < 0.02:
            continue
        start = normal + 0.02 * rng.normal(size=3)
        near = tuple(start / np.linalg.norm(start))
        length, n, found = torus_torus(tuple(d), tuple(axes[0]), radii[0], tuple(axes[1]), radii[1], near)
        assert found
        assert length == pytest.approx(gap(d, axes, np.array(radii), np.array(n)), abs=1e-13)
        assert length >= gap(d, axes, np.array(radii), start / np.linalg.norm(start)) - 1e-13
        # From dense samples of both circles, near the side that is meant.
        first = circle(d, axes[0], radii[0], 300)
        second = circle(np.zeros(3), axes[1], radii[1], 300)
        sampled = np.linalg.norm(first[:, None] - second[None], axis=2).max()
        assert sampled <= length + 1e-12
        assert sampled >= length - 2e-4 * sum(radii)


@pytest.mark.feature("001-F128")
def test_alternating_projections_of_the_thesis_climb_to_the_same_points() -> None:
    # Farthest point of one circle from the last one of the other, again and again: never down, and slowly.
    d, axes, radii = np.array([0.1, 0.2, 1.0]), np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]]), np.array([1.5, 2.0])
    length, n, found = torus_torus(
        tuple(d), tuple(axes[0]), radii[0], tuple(axes[1]), radii[1], (0.0, 0.0, 1.0)
    )
    assert found
    point = np.array([0.0, 0.0, -2.0])
    lengths = []
    for _ in range(200):
        across = (d - point) - ((d - point) @ axes[0]) * axes[0]
        first = d + radii[0] * across / np.linalg.norm(across)
        across = -first + (first @ axes[1]) * axes[1]
        point = radii[1] * across / np.linalg.norm(across)
        lengths.append(np.linalg.norm(first - point))
    assert np.all(np.diff(lengths) > -1e-14)
    assert lengths[-1] == pytest.approx(length, abs=1e-12)
    assert np.allclose((first - point) / lengths[-1], n, atol=1e-6)


def test_stuck_on_an_axis_says_so() -> None:
    assert not torus_torus((0.0, 0.0, 1.0), (0.0, 0.0, 1.0), 2.0, (1.0, 0.0, 0.0), 2.0, (0.0, 0.0, 1.0))[2]
