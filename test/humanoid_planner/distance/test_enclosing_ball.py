# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from fixtures.point_clouds import blob, box_corners
from scipy.optimize import minimize

from humanoid_planner.distance.enclosing_ball import enclosing_ball


def test_known_balls():
    for points, centre, radius in (
        (np.array([[1.0, 2.0, 3.0]]), [1, 2, 3], 0.0),
        (np.array([[0.0, 0, 0], [2, 0, 0], [0.5, 0.1, 0]]), [1, 0, 0], 1.0),
        (box_corners(2.0, 4.0, 4.0), [0, 0, 0], 3.0),
        (np.zeros((5, 3)), [0, 0, 0], 0.0),
    ):
        found, size = enclosing_ball(points)
        assert found == pytest.approx(centre, abs=1e-12)
        assert size == pytest.approx(radius, abs=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_centre_is_nearer_to_its_farthest_point(seed):
    points = blob(40, 1.0, seed) * [1.0, 1.0, [1.0, 1e-3][seed % 2]]
    centre, radius = enclosing_ball(points)
    assert np.linalg.norm(points - centre, axis=1).max() == pytest.approx(radius, rel=1e-12)
    # min t subject to |p - c|^2 <= t, by another method
    best = minimize(
        lambda x: x[3],
        np.append(points.mean(axis=0), 100.0),
        jac=lambda x: np.array([0.0, 0, 0, 1]),
        constraints={
            "type": "ineq",
            "fun": lambda x: x[3] - ((points - x[:3]) ** 2).sum(axis=1),
            "jac": lambda x: np.column_stack([2 * (points - x[:3]), np.ones(len(points))]),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 300},
    )
    assert radius**2 == pytest.approx(best.x[3], rel=1e-6)
