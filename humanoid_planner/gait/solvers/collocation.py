# SPDX-License-Identifier: Apache-2.0
"""Finite-difference solver of two-point boundary value problems on a mesh of its own choice (section 2.26.2).

Three-point Lobatto collocation, fourth order: on each interval of length h

    y_{k+1} - y_k = h/6 (Phi_k + 4 Phi_m + Phi_{k+1}),   y_m = (y_k + y_{k+1})/2 + h/8 (Phi_k - Phi_{k+1}),

solved by Newton's method with the exact block-bidiagonal Jacobian in LAPACK's band storage and a line search on the
natural level function. The cubic of each interval leaves a residual r = s' - Phi(s); its norm, relative to the size of
each component, decides where the mesh is refined (Kierzenka & Shampine 2001), as D02RAF's and ``solve_bvp``'s do.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from humanoid_planner.gait.solvers.boundary_value_problem import BoundaryValueProblem

Real = NDArray[np.float64]


@dataclass(frozen=True)
class CollocationOptions:
    """When to stop.

    Attributes:
        tolerance: greatest relative residual of an interval, weighted by its length over the mean one.
        condition_tolerance: greatest violation of an end condition.
        max_nodes: of the mesh.
        max_newton: Newton steps on one mesh.
        max_meshes: refinements.
    """

    tolerance: float = 1e-4
    condition_tolerance: float = 1e-9
    max_nodes: int = 3000
    max_newton: int = 30
    max_meshes: int = 12


@dataclass(frozen=True, eq=False)
class CollocationResult:
    """Outcome of the solver; the best iterate when it failed.

    Attributes:
        converged: whether residuals and conditions are within tolerances.
        message: why it stopped.
        mesh: (K,) nodes on [0, 1].
        y: (K, d) values.
        rates: (K, d) Phi there.
        residual: greatest relative residual.
        condition_residual: greatest violation of an end condition.
        newton_steps: in all.
        meshes: number of meshes tried.
        corrections: size of each Newton correction on the last mesh, relative.
    """

    converged: bool
    message: str
    mesh: Real
    y: Real
    rates: Real
    residual: float
    condition_residual: float
    newton_steps: int
    meshes: int
    corrections: tuple[float, ...]

    def at(self, s: Real) -> Real:
        """(L, d) values of the piecewise cubic at s in [0, 1]."""
        return hermite(self.mesh, self.y, self.rates, s)


def hermite(mesh: Real, y: Real, rates: Real, s: Real) -> Real:
    """(L, d) cubic Hermite interpolation."""
    interval = np.clip(np.searchsorted(mesh, s, side="right") - 1, 0, len(mesh) - 2)
    h = (mesh[interval + 1] - mesh[interval])[:, None]
    r = (s - mesh[interval])[:, None] / h
    return np.asarray(
        (1.0 + 2.0 * r) * (1.0 - r) ** 2 * y[interval]
        + r * (1.0 - r) ** 2 * h * rates[interval]
        + r**2 * (3.0 - 2.0 * r) * y[interval + 1]
        + r**2 * (r - 1.0) * h * rates[interval + 1]
    )


_LEAST_DAMPING = 1.0 / 16.0
_MAX_UPHILL = 8
"""Newton steps on one mesh that may raise the level function."""


def solve_collocation(
    problem: BoundaryValueProblem,
    mesh: Real,
    y: Real,
    options: CollocationOptions | None = None,
    watch: Callable[[int, float], bool] | None = None,
    deadline: float = math.inf,
) -> CollocationResult:
    """Solves a boundary value problem from a guess.

    Args:
        problem: rates and conditions.
        mesh: (K,) increasing from 0 to 1, at least three nodes.
        y: (K, d) guess.
        options: when to stop.
        watch: called with the number of nodes and the residual after each mesh; True stops.
        deadline: value of ``time.perf_counter`` at which to stop.

    Returns:
        The solution, or the best iterate and why it is none.
    """
    options = options or CollocationOptions()
    steps, failures, residual = 0, 0, math.inf
    message = f"mesh refined {options.max_meshes} times without reaching the tolerance"
    for tried in range(1, options.max_meshes + 1):
        newton = _newton(problem, mesh, y, options, deadline)
        steps += newton.steps
        y = newton.y
        if not newton.finite:
            message = "rates are not finite at the guess"
            break
        errors = _residuals(problem, mesh, y, newton.rates, newton.middle_rates)
        residual = float(errors.max())
        stop = watch is not None and watch(len(mesh), residual)
        if newton.converged and residual <= options.tolerance:
            return _result(problem, True, "converged", mesh, newton, residual, steps, tried)
        if stop or time.perf_counter() > deadline:
            message = "stopped"
            break
        if not newton.converged:
            failures += 1
            if failures > 1:
                message = f"Newton's method doesn't converge on {len(mesh)} nodes: {newton.message}"
                break
            # Once, a mesh twice as fine: an iterate that the coarse one can't hold may go on there.
            finer = np.union1d(mesh, 0.5 * (mesh[1:] + mesh[:-1]))
        else:
            finer = _refined(mesh, errors, options.tolerance)
        if len(finer) > options.max_nodes:
            message = f"a mesh of {len(finer)} nodes would be needed, {options.max_nodes} are allowed"
            break
        y = hermite(mesh, y, newton.rates, finer)
        mesh = finer
    return _result(problem, False, message, mesh, newton, residual, steps, tried)


@dataclass(frozen=True, eq=False)
class _Newton:
    converged: bool
    finite: bool
    message: str
    y: Real
    rates: Real
    middle_rates: Real
    steps: int
    corrections: tuple[float, ...]


def _result(
    problem: BoundaryValueProblem,
    converged: bool,
    message: str,
    mesh: Real,
    newton: _Newton,
    residual: float,
    steps: int,
    tried: int,
) -> CollocationResult:
    # A failed solve may have refined the mesh after its last Newton iteration: give back what belongs together.
    y = newton.y
    if len(mesh) != len(y):
        mesh = np.linspace(0.0, 1.0, len(y))
    conditions = np.concatenate([problem.start(y[0])[0], problem.end(y[-1])[0]])
    return CollocationResult(
        converged,
        message,
        mesh,
        y,
        newton.rates,
        residual,
        float(np.abs(conditions).max()),
        steps,
        tried,
        newton.corrections,
    )


def _sizes(y: Real) -> Real:
    """(d,) size of each component along the mesh: what its residuals and corrections are compared with."""
    greatest = np.abs(y).max(axis=0)
    return np.asarray(np.maximum(greatest, 1e-6 * max(1e-12, float(greatest.max()))))


def _newton(
    problem: BoundaryValueProblem, mesh: Real, y: Real, options: CollocationOptions, deadline: float
) -> _Newton:
    h = np.diff(mesh)
    corrections: list[float] = []
    finite, message = True, f"{options.max_newton} steps without convergence"
    converged, uphill = False, 0
    band = _Band(problem, len(mesh))
    state = _State(problem, h, y)
    for step in range(options.max_newton + 1):
        if not state.finite:
            return _Newton(False, False, "not finite", y, state.rates, state.middle_rates, step, tuple(corrections))
        if time.perf_counter() > deadline:
            message = "out of time"
            break
        state.linearise()
        if not band.factorise(state, h):
            message = "the Jacobian is singular"
            break
        delta = band.solve(state.residual)
        size = np.maximum(_sizes(state.y), _sizes(state.y - delta))
        norm = float(np.sqrt(np.mean((delta / size) ** 2)))
        corrections.append(norm)
        if norm <= 1e-2 * options.tolerance:
            # The last correction is taken as well: what it leaves is far below the residuals that follow.
            final = _State(problem, h, state.y - delta)
            if final.finite:
                state = final
            converged = float(np.abs(state.conditions).max()) <= options.condition_tolerance
            message = "converged" if converged else "end conditions can't be met"
            break
        if step == options.max_newton:
            break
        damping, accepted = 1.0, None
        best, best_norm = None, math.inf
        while damping >= _LEAST_DAMPING:
            trial = _State(problem, h, state.y - damping * delta)
            if trial.finite:
                simplified = band.solve(trial.residual)
                reached = float(np.sqrt(np.mean((simplified / size) ** 2)))
                if reached < best_norm:
                    best, best_norm = trial, reached
                if reached <= (1.0 - 0.25 * damping) * norm:
                    accepted = trial
                    break
            damping *= 0.5
        if accepted is None:
            # Far from the solution, and at the kinks where controls reach their bounds, a step uphill often leads on.
            uphill += 1
            if best is None or uphill > _MAX_UPHILL:
                message = f"no step reduces the residual (correction {norm:.1e})"
                break
            accepted = best
        state = accepted
    return _Newton(
        converged, finite, message, state.y, state.rates, state.middle_rates, len(corrections), tuple(corrections)
    )


class _State:
    """Collocation equations at an iterate."""

    def __init__(self, problem: BoundaryValueProblem, h: Real, y: Real) -> None:
        self._problem, self.y = problem, y
        with np.errstate(all="ignore"):
            try:
                self.rates = problem.rates(y)
                self.middle = 0.5 * (y[:-1] + y[1:]) + 0.125 * h[:, None] * (self.rates[:-1] - self.rates[1:])
                self.middle_rates = problem.rates(self.middle)
            except np.linalg.LinAlgError:
                self.rates = np.full_like(y, np.nan)
                self.middle_rates = np.full_like(y[1:], np.nan)
            slopes = h[:, None] / 6.0 * (self.rates[:-1] + 4.0 * self.middle_rates + self.rates[1:])
            defects = y[1:] - y[:-1] - slopes
        self.start, self.start_jacobian = problem.start(y[0])
        self.end, self.end_jacobian = problem.end(y[-1])
        self.conditions = np.concatenate([self.start, self.end])
        self.residual = np.concatenate([self.start, defects.ravel(), self.end])
        self.finite = bool(np.isfinite(self.residual).all())

    def linearise(self) -> None:
        """Derivatives of the rates."""
        both = np.concatenate([self.y, self.middle])
        _, J = self._problem.rates_and_jacobian(both)
        self.node_jacobian, self.middle_jacobian = J[: len(self.y)], J[len(self.y) :]


class _Band:
    """The Newton matrix in LAPACK's band storage: start conditions, intervals, end conditions."""

    def __init__(self, problem: BoundaryValueProblem, nodes: int) -> None:
        d, first = problem.dimension, problem.start_count
        self._d, self._first, self._nodes = d, first, nodes
        self._lower = max(first + d - 1, d - 1)
        self._upper = max(2 * d - 1 - first, d - 1)
        self._store = np.zeros((2 * self._lower + self._upper + 1, nodes * d), order="F")
        top = self._lower + self._upper
        r, c = np.arange(d)[:, None], np.arange(2 * d)[None, :]
        self._rows = top + first + r - c
        self._columns = np.arange(nodes - 1)[:, None, None] * d + c[None]
        self._start_rows = top + np.arange(first)[:, None] - np.arange(d)[None, :]
        # Row of end condition i is first + (nodes - 1) d + i, its columns start at (nodes - 1) d.
        self._end_rows = top + first + np.arange(d - first)[:, None] - np.arange(d)[None, :]
        self._last = (nodes - 1) * d + np.arange(d)[None, :]

    def factorise(self, state: _State, h: Real) -> bool:
        """LU with partial pivoting; False where the matrix is singular."""
        d = self._d
        identity = np.eye(d)
        step = h[:, None, None]
        left, right, middle = state.node_jacobian[:-1], state.node_jacobian[1:], state.middle_jacobian
        blocks = np.empty((len(h), d, 2 * d))
        blocks[:, :, :d] = -identity - step / 6.0 * (left + 2.0 * middle) - step**2 / 12.0 * (middle @ left)
        blocks[:, :, d:] = identity - step / 6.0 * (right + 2.0 * middle) + step**2 / 12.0 * (middle @ right)
        ab = self._store
        ab[...] = 0.0
        ab[self._start_rows, np.arange(d)[None, :]] = state.start_jacobian
        ab[self._rows[None], self._columns] = blocks
        ab[self._end_rows, self._last] = state.end_jacobian
        self._lu, self._pivots, info = lapack.dgbtrf(ab, self._lower, self._upper, overwrite_ab=0)
        return bool(info == 0)

    def solve(self, residual: Real) -> Real:
        """(K, d) solution for a right-hand side."""
        x, _ = lapack.dgbtrs(self._lu, self._lower, self._upper, residual, self._pivots)
        return np.asarray(x).reshape(self._nodes, self._d)


def _residuals(problem: BoundaryValueProblem, mesh: Real, y: Real, rates: Real, middle_rates: Real) -> Real:
    """(K - 1,) root mean square over each interval of the cubic's residual, relative to the size of the components.

    Weighted by the interval's length over the mean one, so that their mean is the integral of the residual, which is
    what the solution's error grows with: a kink where a control meets its bound needs one short interval, not many.

    Five-point Lobatto quadrature: the residual vanishes at the ends and, where Newton's method has converged, is known
    at the middle.
    """
    h = np.diff(mesh)[:, None]
    size = _sizes(y)
    inner = 0.5 * math.sqrt(3.0 / 7.0)

    def at(r: float) -> Real:
        left, right, dl, dr = y[:-1], y[1:], rates[:-1], rates[1:]
        value = (
            (1.0 + 2.0 * r) * (1.0 - r) ** 2 * left
            + r * (1.0 - r) ** 2 * h * dl
            + r**2 * (3.0 - 2.0 * r) * right
            + r**2 * (r - 1.0) * h * dr
        )
        slope = 6.0 * r * (1.0 - r) / h * (right - left) + (1.0 - r) * (1.0 - 3.0 * r) * dl + r * (3.0 * r - 2.0) * dr
        phi = middle_rates if r == 0.5 else problem.rates(value)
        return np.asarray((slope - phi) / (size + np.abs(phi)))

    with np.errstate(all="ignore"):
        squares = (
            32.0 / 45.0 * np.mean(at(0.5) ** 2, axis=1)
            + 49.0 / 90.0 * (np.mean(at(0.5 - inner) ** 2, axis=1) + np.mean(at(0.5 + inner) ** 2, axis=1))
        )
    errors = np.sqrt(0.5 * squares) * np.diff(mesh) * (len(mesh) - 1)
    return np.asarray(np.where(np.isfinite(errors), errors, 1e300))


def _refined(mesh: Real, errors: Real, tolerance: float) -> Real:
    """The mesh with intervals cut in so many parts as bring a residual of third order, weighted by length, below the tolerance, 4 at most."""
    parts = np.clip(np.ceil((errors / (0.5 * tolerance)) ** 0.25), 1, 4).astype(int)
    nodes = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(mesh[:-1], mesh[1:], parts, strict=True)]
    return np.concatenate([*nodes, [mesh[-1]]])
