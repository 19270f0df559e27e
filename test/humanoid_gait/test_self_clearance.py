# SPDX-License-Identifier: Apache-2.0
"""Gaps between parts of a robot are coal's, and motions keep them."""

from __future__ import annotations

import casadi as ca
import coal
import numpy as np
import pytest

from humanoid_gait import GaitSolver, WalkRequest
from humanoid_gait.coordinates import Coordinates
from humanoid_gait.robot_model import RobotModel
from humanoid_gait.self_clearance import capsule_gap, self_gaps
from humanoid_model import Robot, load_robot
from humanoid_model.arrays import Array
from humanoid_model.capsules import capsules_of

pytestmark = pytest.mark.feature("003-F074")


def between(a: Array, b: Array, radii: tuple[float, float]) -> float:
    """Distance of two capsules (2, 3) by coal."""
    placed = []
    for (low, high), radius in zip((a, b), radii, strict=True):
        length = float(np.linalg.norm(high - low))
        axis = (high - low) / length if length else np.array([0.0, 0.0, 1.0])
        others = np.linalg.svd(axis[None])[2][1:]
        R = np.column_stack([*others, axis])
        R[:, 0] *= np.sign(np.linalg.det(R))
        placed += [coal.Capsule(radius, length), coal.Transform3s(R, 0.5 * (low + high))]
    return float(coal.distance(*placed, coal.DistanceRequest(), coal.DistanceResult()))


def test_gaps_of_capsules() -> None:
    symbols = [ca.SX.sym("end", 3) for _ in range(4)]
    gap = ca.Function("gap", symbols, [capsule_gap((symbols[0], symbols[1]), (symbols[2], symbols[3]), 0.05)])
    generator = np.random.default_rng(3)
    for _ in range(300):
        a, b = generator.uniform(-0.3, 0.3, (2, 2, 3))
        b += 0.4 * generator.standard_normal(3)
        found, expected = float(gap(*a, *b)), between(a, b, (0.02, 0.03))
        if expected > 0.0:  # capsules that are in each other have other depths
            assert -1e-6 < found - expected < 1e-3
    parallel = float(gap([0, 0, 0], [0, 0, 1], [0.3, 0, 0.2], [0.3, 0, 0.8]))
    assert parallel == pytest.approx(0.25, abs=1e-3)


def least_gap(robot: Robot, q: Array) -> dict[tuple[int, int], float]:
    """Gap of every pair of a robot's capsules by coal, by their joints."""
    capsules, found = capsules_of(robot), {}
    places = robot.link_placements(q)
    joints = {part.joint_id: places[name] * part.placement_joint_link.inverse()
              for name, part in robot.parts.links.items()}  # fmt: skip
    ends = [np.array([joints[joint].act(end) for end in own])
            for joint, own in zip(capsules.joints.tolist(), capsules.ends, strict=True)]  # fmt: skip
    for i, j in capsules.pairs.tolist():
        found[i, j] = between(ends[i], ends[j], (capsules.radii[i], capsules.radii[j]))
    return found


def test_pairs_are_those_of_the_robot() -> None:
    robot = load_robot("hrp2")
    coordinates = Coordinates(robot)
    y = coordinates.chart(robot.default_posture)
    gaps = self_gaps(RobotModel(coordinates), 0.01, y[None])
    found = np.sort(np.asarray(gaps(y)).ravel())
    near = [gap - 0.01 for gap in least_gap(robot, robot.default_posture).values() if 0.0 < gap - 0.01 < 0.15]
    np.testing.assert_allclose(found, np.sort(near), atol=1e-3)


@pytest.mark.slow
def test_a_walk_keeps_them() -> None:
    robot = load_robot("hrp2")
    result = GaitSolver(WalkRequest(0.25, intervals=(4, 10), apart=0.02).problem(robot)).solve()
    assert result.success, result.report()
    standing = least_gap(robot, robot.default_posture)
    for q in result.motion.q[::4]:
        for pair, gap in least_gap(robot, q).items():
            assert gap > min(0.02, standing[pair]) - 5e-3
