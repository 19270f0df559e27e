# SPDX-License-Identifier: Apache-2.0
"""Gradients of distances change continuously along paths, where those of the polyhedra jump (F129, F133, X12)."""

from collections.abc import Callable

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.placed_volumes import PlacedVolume
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

BOX = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (-0.1, 0.1)])
Path = Callable[[float], tuple[np.ndarray, np.ndarray]]


def hull(points: np.ndarray) -> coal.ConvexBase:
    vector = coal.StdVec_Vec3s()
    for point in points:
        vector.append(point)
    return coal.ConvexBase.convexHull(vector, False, "")


def gradient_of(a: object, b: object) -> Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]:
    """Value, and gradient with respect to the twists of both bodies."""
    pairs = DistancePairs([PlacedVolume("a", 0, a), PlacedVolume("b", 1, b)], [(0, 1)])  # type: ignore[arg-type]

    def evaluate(rotations: np.ndarray, origins: np.ndarray) -> tuple[float, np.ndarray]:
        pairs.evaluate(rotations, origins)
        n, p, q = pairs.normals[0], pairs.points_a[0] - origins[0], pairs.points_b[0] - origins[1]
        return float(pairs.values[0]), np.concatenate([n, np.cross(p, n), -np.cross(q, n)])

    return evaluate


def coal_gradient_of(a: np.ndarray, b: np.ndarray) -> Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]:
    hulls = hull(a), hull(b)
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def evaluate(rotations: np.ndarray, origins: np.ndarray) -> tuple[float, np.ndarray]:
        result.clear()
        frames = [coal.Transform3s(R, o) for R, o in zip(rotations, origins, strict=True)]
        value = coal.distance(hulls[0], frames[0], hulls[1], frames[1], request, result)
        p, q = result.getNearestPoint1(), result.getNearestPoint2()
        n = (p - q) / np.linalg.norm(p - q)
        return value, np.concatenate([n, np.cross(p - origins[0], n), -np.cross(q - origins[1], n)])

    return evaluate


def greatest_jump(
    evaluate: Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]],
    path: Path,
    steps: int = 60,
    refinements: int = 5,
) -> float:
    """Change of the gradient over a step of the path, the step cut to a tenth again and again where it is greatest."""
    low, high = 0.0, 1.0
    jump = 0.0
    for refinement in range(refinements + 1):
        times = np.linspace(low, high, (steps if refinement == 0 else 10) + 1)
        gradients = np.array([evaluate(*path(t))[1] for t in times])
        changes = np.linalg.norm(np.diff(gradients, axis=0), axis=1)
        k = int(np.argmax(changes))
        low, high, jump = times[k], times[k + 1], float(changes[k])
    return jump


def turning_over(distance: float, swing: float = 0.2) -> Path:
    """A box over another, turning through parallelism about an axis along its edges (X12)."""

    def path(t: float) -> tuple[np.ndarray, np.ndarray]:
        angle = swing * (t - 0.497)
        rotations = np.stack([Rotation.from_rotvec([0.0, angle, 0.0]).as_matrix(), np.eye(3)])
        return rotations, np.array([[0.03, 0.02, 0.2 + distance], [0.0, 0.0, 0.0]])

    return path


@pytest.mark.feature("001-F137")
def test_turning_through_parallelism_is_smooth_where_the_polyhedra_jump() -> None:
    volume = SphereTorusVolume.from_points(BOX, 0.01, 20.0)
    path = turning_over(0.1)
    polyhedra = greatest_jump(coal_gradient_of(BOX, BOX), path)
    assert polyhedra > 0.1  # the lever arms of the nearest points: from one edge of the face to the other
    assert greatest_jump(gradient_of(volume, volume), path) < 1e-4
    # As for the segment of the specification, (4.2), over a box wide enough for both ends: the jump is l1 + l2.
    values = [coal_gradient_of(BOX, BOX * [3.0, 3.0, 1.0])(*path(t))[1] for t in (0.497 - 1e-4, 0.497 + 1e-4)]
    assert abs(values[0][4] - values[1][4]) == pytest.approx(0.2, abs=2e-3)


@pytest.mark.feature("001-F133")
@pytest.mark.parametrize("swapped", [False, True])
def test_one_sided_distance_is_smooth_too(swapped: bool) -> None:
    volume, box = SphereTorusVolume.from_points(BOX, 0.01, 20.0), RoundedHull(BOX, 0.0)
    evaluate = gradient_of(box, volume) if swapped else gradient_of(volume, box)
    assert greatest_jump(evaluate, turning_over(0.1)) < 1e-4
    assert greatest_jump(evaluate, turning_over(0.012, 0.02)) < 1e-4  # through contact
    assert greatest_jump(evaluate, turning_over(0.006, 0.02)) < 1e-4  # in light penetration


def random_path(rng: np.random.Generator, nearest: float, farthest: float) -> Path:
    """One body passes the other while both turn, through parallelism of faces and edges by chance."""
    start, turns = Rotation.random(2, random_state=rng), rng.normal(size=(2, 3))
    around, sideways = rng.normal(size=(2, 3))
    around /= np.linalg.norm(around)
    sideways = np.cross(around, sideways)
    sideways /= np.linalg.norm(sideways)
    apart = rng.uniform(nearest, farthest)

    def path(t: float) -> tuple[np.ndarray, np.ndarray]:
        rotations = (Rotation.from_rotvec(t * turns) * start).as_matrix()
        angle = 1.5 * t
        return rotations, np.stack([apart * (np.cos(angle) * around + np.sin(angle) * sideways), np.zeros(3)])

    return path


def volumes_of_paths(rng: np.random.Generator) -> list[SphereTorusVolume]:
    clouds = [
        (BOX, 0.01, 20.0),
        (rng.normal(size=(20, 3)) * 0.08, 0.01, 20.0),
        (rng.normal(size=(8, 3)) * 0.1, 0.02, 1.0),
    ]
    return [SphereTorusVolume.from_points(points, r, R) for points, r, R in clouds]


def check_paths(count: int) -> None:
    rng = np.random.default_rng(count)
    volumes = volumes_of_paths(rng)
    evaluators = [gradient_of(a, b) for a in volumes for b in volumes]
    for k in range(count):
        path = random_path(rng, 0.3, 0.6)
        evaluate = evaluators[k % len(evaluators)]
        if min(evaluate(*path(t))[0] for t in np.linspace(0.0, 1.0, 61)) < -0.015:
            continue
        assert greatest_jump(evaluate, path, refinements=6) < 1e-3, k


def test_gradients_are_continuous_along_random_paths() -> None:
    check_paths(200)


@pytest.mark.slow
def test_gradients_are_continuous_along_many_random_paths() -> None:
    check_paths(10_000)


def test_polyhedra_jump_along_random_paths() -> None:
    rng = np.random.default_rng(5)
    evaluate = coal_gradient_of(BOX, BOX)
    jumps = [greatest_jump(evaluate, random_path(rng, 0.4, 0.5), refinements=3) for _ in range(30)]
    assert np.mean(np.array(jumps) > 0.02) > 0.3


@pytest.mark.feature("001-F129")
def test_through_contact_into_light_penetration() -> None:
    rng = np.random.default_rng(6)
    volumes = volumes_of_paths(rng)
    for a in volumes:
        for b in volumes:
            evaluate = gradient_of(a, b)
            rotations = Rotation.random(2, random_state=rng).as_matrix()
            far = np.array([[0.8, 0.1, 0.0], [0.0, 0.0, 0.0]])
            value, gradient = evaluate(rotations, far)
            contact = far[0] - value * gradient[:3]
            depth = 0.9 * (a.r + b.r)

            def path(
                t: float, rotations: np.ndarray = rotations, contact: np.ndarray = contact,
                n: np.ndarray = gradient[:3], depth: float = depth,
            ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
                return rotations, np.array([contact + (depth - 2.0 * depth * t) * n, [0.0, 0.0, 0.0]])

            values = [evaluate(*path(t))[0] for t in np.linspace(0.0, 1.0, 21)]
            assert np.allclose(values, np.linspace(depth, -depth, 21), atol=1e-10)  # the normal stays
            assert greatest_jump(evaluate, path) < 1e-8
