# SPDX-License-Identifier: Apache-2.0
"""Derivatives of the program are those of its values; points of collocation integrate as they should."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from humanoid_gait import TimeCost, TorqueCost, WalkRequest
from humanoid_gait.guess import posture_guess, unknowns_guess
from humanoid_gait.quadrature import GaussPoints
from humanoid_gait.transcription import Transcription
from humanoid_model import load_robot

pytestmark = pytest.mark.feature("003-F093")


@pytest.mark.parametrize("points", [1, 2, 3])
def test_points_integrate_polynomials_of_twice_their_number(points: int) -> None:
    gauss = GaussPoints.of(points)
    for power in range(2 * points):
        assert gauss.b @ gauss.c**power == pytest.approx(1.0 / (power + 1))
    for power in range(points):
        np.testing.assert_allclose(gauss.a @ gauss.c**power, gauss.c ** (power + 1) / (power + 1), atol=1e-14)
        twice = gauss.c ** (power + 2) / ((power + 1) * (power + 2))
        np.testing.assert_allclose(gauss.smooth @ gauss.c**power, twice, atol=1e-14)
    # What makes the method its own adjoint, and multipliers costates.
    np.testing.assert_allclose(
        gauss.b[:, None] * gauss.a + (gauss.b[:, None] * gauss.a).T, np.outer(gauss.b, gauss.b), atol=1e-14
    )


@pytest.mark.parametrize("carried", [True, False])
def test_derivatives_are_those_of_the_values(carried: bool) -> None:
    robot = load_robot("bip", geometry=False)
    request = WalkRequest(0.3, single=(0.4, 0.8), double=0.2, intervals=(1, 2), costs=(TorqueCost(), TimeCost()))
    problem = request.problem(robot)
    postures = posture_guess(problem)
    program = Transcription(problem, postures, points=2, carried=carried)
    generator = np.random.default_rng(5)
    x = unknowns_guess(program, postures) + 0.02 * generator.standard_normal(program.layout.unknowns)
    factors = generator.standard_normal(len(program.row_lower))
    way, step = generator.standard_normal(len(x)), 1e-5
    own = program.expressions
    dense = ca.densify(own.gradient.T)
    pull = own.sigma * dense + own.jacobian.T @ own.multipliers
    given = [own.x, own.sigma, own.multipliers]
    function = ca.Function("f", given, [own.cost, own.rows, dense, own.jacobian, pull, own.hessian])
    cost, rows, gradient, J, _, H = (np.asarray(part) for part in function(x, 0.7, factors))
    one, other = (
        [np.asarray(part).ravel() for part in function(x + sign * step * way, 0.7, factors)] for sign in (1.0, -1.0)
    )
    slopes = [(a - b) / (2.0 * step) for a, b in zip(one, other, strict=True)]
    np.testing.assert_allclose(gradient.ravel() @ way, slopes[0].item(), rtol=1e-5)
    np.testing.assert_allclose(J @ way, slopes[1], atol=1e-5 * np.abs(slopes[1]).max())
    np.testing.assert_allclose(H @ way, slopes[4], atol=1e-5 * np.abs(slopes[4]).max())
    np.testing.assert_allclose(H, H.T, atol=1e-8 * np.abs(H).max())
    del cost, rows
