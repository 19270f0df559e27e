# SPDX-License-Identifier: Apache-2.0
"""Parametric optimisation for comparison: angles as splines, efforts from inverse dynamics (specification 003, 2.31).

The angles are piecewise quintic polynomials with continuous second derivatives, given by values, rates and second
derivatives at a few knots; at every point of a Gauss quadrature the controls of least weighted norm that bring about
the motion follow in closed form,

    u = W^-1 B^T (B W^-1 B^T)^-1 (M v' + M' v - p'_0),

and the criterion, a sum of squares, is minimised over the knots by Levenberg & Marquardt's method. Robust and small,
but only as good as its splines: its cost is above that of Pontryagin's solution, and the gap is what the comparison
shows (F-099).
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import casadi
import numpy as np
from scipy.optimize import least_squares

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.node_function import NodeFunction
from humanoid_studies.planar_gait.optimal_control.phase_expressions import PhaseExpressions
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import PhaseShape, phase_parameters
from humanoid_studies.planar_gait.solvers.guess import cubic_guess

MAX_PIECES = 100
"""Of the splines: residuals and unknowns grow with them, and the Jacobian between both is dense."""
_GAUSS = 6
"""Quadrature points on each polynomial."""


@dataclass(frozen=True, eq=False)
class SplineResult:
    """A parametric solution.

    Attributes:
        converged: whether the least-squares solver is satisfied.
        status: its own word for it.
        cost: penalised criterion.
        t: (K,) quadrature points [s].
        q: (K, n) angles [rad].
        v: (K, n) velocities [rad/s].
        u: (K, N) controls.
        variables: number of unknowns.
        seconds: time of the solve.
    """

    converged: bool
    status: str
    cost: float
    t: Reals
    q: Reals
    v: Reals
    u: Reals
    variables: int
    seconds: float


def solve_spline(problem: PhaseProblem, pieces: int = 4, max_evaluations: int = 200) -> SplineResult:
    """Minimises the criterion over splines.

    Args:
        problem: between ends that are given in full, without bounds or constraints of the controls: those have no
            closed form here.
        pieces: number of polynomials, at most :data:`MAX_PIECES`.
        max_evaluations: of the residuals.

    Raises:
        InputError: free ends, a free duration, bounded or constrained controls, fewer controls than coordinates, or
            no piece or too many.
    """
    model, n = problem.model, problem.model.n
    bounded = np.isfinite(model.control_lower).any() or np.isfinite(model.control_upper).any()
    if bounded or problem.all_rows or problem.hard_closure or problem.hard_inequalities or problem.free_duration:
        raise InputError(
            "has bounds, constraints or a free duration", element="problem", remedy="Use the transcription for those"
        )
    if not (problem.start.fixed and problem.end.fixed):
        raise InputError("has an end that isn't fixed", element="problem", remedy="Give both ends in full")
    if model.control_count < n:
        raise InputError(
            f"has {model.control_count} controls for {n} coordinates",
            element=model.name,
            remedy="Use the transcription: not every motion can be brought about",
        )
    if not (isinstance(pieces, (int, np.integer)) and 1 <= pieces <= MAX_PIECES):
        raise InputError(f"is {pieces}", element="pieces", remedy=f"Give a whole number from 1 to {MAX_PIECES}")
    started = time.perf_counter()
    point, numbers = _point_function(problem)
    T, h = problem.duration, problem.duration / pieces
    places, gauss = np.polynomial.legendre.leggauss(_GAUSS)
    r = 0.5 * (places + 1.0)
    K, width = pieces * _GAUSS, 3 * n
    # (q, v, v') at the points is linear in the knots: one matrix for each derivative, alike for all angles.
    basis = np.zeros((3, K, 3 * (pieces + 1)))
    scales = np.tile(h ** np.arange(3), 2)
    for k in range(pieces):
        for order in range(3):
            basis[order, k * _GAUSS : (k + 1) * _GAUSS, 3 * k : 3 * k + 6] = _quintic(r, order) * scales / h**order
    root = np.sqrt(np.tile(0.5 * h * gauss, pieces))
    q, v, a, _ = cubic_guess(problem, pieces + 1)
    knots = np.stack([q, v, a], axis=1).reshape(-1, n)
    free = np.ones(len(knots), dtype=bool)
    free[[0, 1, -3, -2]] = False

    def motion(x: Reals) -> tuple[Reals, Reals, Reals]:
        values = knots.copy()
        values[free] = x.reshape(-1, n)
        position, velocity, acceleration = basis @ values
        return position, velocity, acceleration

    def residuals(x: Reals) -> Reals:
        return np.asarray((root[:, None] * point(*motion(x), numbers)[0]).ravel())

    def jacobian(x: Reals) -> Reals:
        by_point = point(*motion(x), numbers)[1].reshape(K, -1, width)
        by_knot = sum(
            np.einsum("kri,kb->krbi", by_point[:, :, order * n : (order + 1) * n], basis[order][:, free])
            for order in range(3)
        )
        return np.asarray(root[:, None, None] * np.reshape(by_knot, (K, by_point.shape[1], -1))).reshape(-1, len(x))

    guess = knots[free].ravel()
    found = least_squares(residuals, guess, jacobian, method="lm", x_scale="jac", max_nfev=max_evaluations)
    position, velocity, _ = motion(found.x)
    controls = point(*motion(found.x), numbers)[2]
    return SplineResult(
        converged=bool(found.success),
        status=str(found.message),
        cost=float(found.cost) + T * problem.effort.time_weight,
        t=(np.arange(pieces)[:, None] * h + h * r[None]).ravel(),
        q=position,
        v=velocity,
        u=controls,
        variables=len(found.x),
        seconds=time.perf_counter() - started,
    )


def _point_function(problem: PhaseProblem) -> tuple[NodeFunction, Reals]:
    """Residuals whose half square is the running cost at (q, v, v'), their derivatives, and the controls."""
    parameters = phase_parameters(problem)
    if parameters.shape not in _POINTS:
        e = PhaseExpressions(parameters)
        weights = 1.0 / e.symbol("effort")
        needed = casadi.mtimes(e.mass_matrix, e.a) + e.mass_rate - e.free_rate
        weighted = e.control_matrix * casadi.repmat(weights.T, parameters.shape.n, 1)
        D, LT, order = casadi.ldl(casadi.mtimes(weighted, e.control_matrix.T))
        u = casadi.mtimes(weighted.T, casadi.ldl_solve(needed, D, LT, order))
        residual = casadi.vertcat(
            casadi.sqrt(e.symbol("effort")) * u,
            casadi.sqrt(e.symbol("closure_factor")) * e.gap,
            casadi.sqrt(e.symbol("slap_factor")) * e.slap,
            casadi.sqrt(e.symbol("inequality_factors")) * casadi.fmax(e.inequalities, 0.0),
        )
        derivative = casadi.jacobian(residual, casadi.vertcat(e.q, e.v, e.a))
        _POINTS[parameters.shape] = NodeFunction("spline", [e.q, e.v, e.a], e.parameters, [residual, derivative, u])
    return _POINTS[parameters.shape], parameters.vector


_POINTS: dict[PhaseShape, NodeFunction] = {}


def _quintic(r: Reals, order: int) -> Reals:
    """(len(r), 6) derivatives on [0, 1] of the polynomials of value, rate and second derivative at both ends."""
    # Conditions on the coefficients of 1, r, .., r^5 at the ends, inverted once.
    conditions = np.zeros((6, 6))
    for side, at in ((0, 0.0), (1, 1.0)):
        for d in range(3):
            conditions[3 * side + d] = _powers(np.array([at]), d)[0]
    return np.asarray(_powers(r, order) @ np.linalg.inv(conditions))


def _powers(r: Reals, order: int) -> Reals:
    """(len(r), 6) derivatives of 1, r, .., r^5."""
    exponents = np.arange(6)
    factor = np.ones(6)
    for d in range(order):
        factor = factor * np.maximum(exponents - d, 0)
    return np.asarray(factor * r[:, None] ** np.maximum(exponents - order, 0))
