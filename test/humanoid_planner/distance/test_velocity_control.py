# SPDX-License-Identifier: Apache-2.0
"""A box reaches past an obstacle under velocity control: commands stay continuous with smooth distances (F138, X17)."""

from collections.abc import Callable

import coal
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from humanoid_planner.distance.distance_pairs import DistancePairs
from humanoid_planner.distance.placed_volumes import PlacedVolume
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

pytestmark = pytest.mark.feature("001-F138")

MOVING = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.06, 0.06) for z in (-0.05, 0.05)])
OBSTACLE = np.array([[x, y, z] for x in (-0.3, 0.3) for y in (-0.3, 0.3) for z in (-0.1, 0.1)])
INFLUENCE, SECURITY, DAMPING = 0.08, 0.02, 0.5
GOAL = np.array([0.15, 0.0, 0.16])
Gradient = Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]


def smooth() -> Gradient:
    volumes = [SphereTorusVolume.from_points(points, 0.005, 20.0) for points in (MOVING, OBSTACLE)]
    pairs = DistancePairs([PlacedVolume(str(i), i, volume) for i, volume in enumerate(volumes)], [(0, 1)])

    def evaluate(rotation: np.ndarray, origin: np.ndarray) -> tuple[float, np.ndarray]:
        pairs.evaluate(np.stack([rotation, np.eye(3)]), np.stack([origin, np.zeros(3)]))
        n = pairs.normals[0]
        return float(pairs.values[0]), np.concatenate([n, np.cross(pairs.points_a[0] - origin, n)])

    return evaluate


def of_polyhedra() -> Gradient:
    hulls = []
    for points in (MOVING, OBSTACLE):
        vector = coal.StdVec_Vec3s()
        for point in points:
            vector.append(point)
        hulls.append(coal.ConvexBase.convexHull(vector, False, ""))
    request, result = coal.DistanceRequest(), coal.DistanceResult()

    def evaluate(rotation: np.ndarray, origin: np.ndarray) -> tuple[float, np.ndarray]:
        result.clear()
        value = coal.distance(
            hulls[0], coal.Transform3s(rotation, origin), hulls[1], coal.Transform3s.Identity(), request, result
        )
        n = (result.getNearestPoint1() - result.getNearestPoint2()) / value
        return value, np.concatenate([n, np.cross(result.getNearestPoint1() - origin, n)])

    return evaluate


def control(gradient: Gradient, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Commands (twists), distances and the last position, of a box drawn past an edge to a goal too near to a face.

    It is to swing to and fro as well, and so goes through parallelism with the face again and again.

    Each command is the one nearest to the wanted twist (in the sense of a box with some inertia) with which the
    distance doesn't shrink faster than in proportion to what is left of it (B. Faverjon, P. Tournassoud 1987).
    """
    rotation, origin = Rotation.from_rotvec([0.2, 0.3, 0.0]).as_matrix(), np.array([-0.35, 0.05, 0.26])
    goal = GOAL
    weights = np.array([1.0, 1.0, 1.0, 100.0, 100.0, 100.0])  # (m/s)^2 per (m/s)^2 and (rad/s)^2, inverted
    commands, distances = [], []
    for k in range(int(6.0 / step)):
        wanted = np.zeros(6)
        wanted[4] = 0.4 * np.cos(2.0 * k * step)
        wanted[:3] = 1.5 * (goal - origin)
        speed = np.linalg.norm(wanted[:3])
        wanted[:3] *= min(1.0, 0.2 / max(speed, 1e-9))
        value, slope = gradient(rotation, origin)
        allowed = -DAMPING * (value - SECURITY) / (INFLUENCE - SECURITY)
        missing = max(allowed - slope @ wanted, 0.0)
        command = wanted + weights * slope * missing / (slope @ (weights * slope))
        commands.append(command)
        distances.append(value)
        origin = origin + step * command[:3]
        rotation = Rotation.from_rotvec(step * command[3:]).as_matrix() @ rotation
    return np.array(commands), np.array(distances), origin


def greatest_change(commands: np.ndarray) -> float:
    """Between one command and the next, the angular part by the box' half length."""
    return float(np.linalg.norm(np.diff(commands, axis=0) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1], axis=1).max())


def test_commands_are_continuous_with_smooth_distances_and_not_with_those_of_the_polyhedra() -> None:
    changes = {}
    for name, gradient in (("smooth", smooth()), ("polyhedra", of_polyhedra())):
        for step in (4e-3, 1e-3, 2.5e-4):
            commands, distances, reached = control(gradient, step)
            assert distances.min() > 0.5 * SECURITY  # it keeps off
            assert distances.min() < INFLUENCE  # it had to
            changes[name, step] = greatest_change(commands)
            assert np.linalg.norm(reached - GOAL) < 0.1
    # The change of a continuous command shrinks with the control period; that of a discontinuous one doesn't.
    assert changes["smooth", 2.5e-4] < 0.1 * changes["smooth", 4e-3] + 1e-9
    assert changes["polyhedra", 2.5e-4] > 0.5 * changes["polyhedra", 4e-3]


def test_the_boxes_keep_off_by_what_the_controller_thinks_and_both_margins_by_coals_word() -> None:
    """Volumes hold all within 5 mm of the boxes, and bulge by at most what their bound says."""
    of_volumes, of_boxes = smooth(), of_polyhedra()
    bulge = max(SphereTorusVolume.from_points(points, 0.005, 20.0).margin_bound for points in (MOVING, OBSTACLE))
    gaps = []

    def compared(rotation: np.ndarray, origin: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = of_volumes(rotation, origin)
        gaps.append((value, of_boxes(rotation, origin)[0]))
        return value, slope

    control(compared, 4e-3)
    values, real = np.array(gaps).T
    assert (real >= values + 2 * 0.005 - 1e-5).all()
    assert (real <= values + 2 * bulge + 1e-5).all()
