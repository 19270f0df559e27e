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
from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, count, number
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_studies.planar_gait.solvers.banded_newton import BandedNewton
from humanoid_studies.planar_gait.solvers.boundary_value_problem import (
    BoundaryValueProblem,
    BoundaryValueResult,
    hermite,
)
from humanoid_studies.planar_gait.solvers.direct import MAX_MEMORY


@dataclass(frozen=True)
class CollocationOptions(Described):
    """When to stop."""

    part_of = "collocation."
    tolerance: float = number(
        1e-4, "greatest relative residual of an interval, weighted by its length over the mean one", low=0.0, above=True
    )
    condition_tolerance: float = number(1e-9, "greatest violation of an end condition", low=0.0, above=True)
    max_nodes: int = count(3000, "of the mesh, at most as many as memory holds", low=1)
    max_newton: int = count(30, "Newton steps on one mesh", low=1)
    max_meshes: int = count(12, "refinements", low=1)
    second_chances: int = count(
        1, "how many meshes Newton's method may fail on before it is given up: each is made twice as fine"
    )


_ENTRY = 160
"""Memory by node and square of the dimension: Jacobians of nodes and middles, blocks, the band and its factors
[bytes]."""


def max_nodes_in_memory(dimension: int) -> int:
    """Greatest number of nodes of a mesh that :data:`.MOST_MEMORY` holds."""
    return int(MAX_MEMORY // (_ENTRY * dimension**2))


_MIN_DAMPING = 1e-3
_MOST_UPHILL = 1e3
"""Factor by which one of them may. Stiff penalties, those on rates above all, offer steps that raise it without
bounds: two or three of them, and the iterates are beyond what numbers can hold."""
_MAX_UPHILL = 8
"""Newton steps on one mesh that may raise the level function."""


def solve_collocation(
    problem: BoundaryValueProblem,
    mesh: Reals,
    y: Reals,
    options: CollocationOptions | None = None,
    progress: ProgressCallback | None = None,
    deadline: float = math.inf,
) -> BoundaryValueResult:
    """Solves a boundary value problem from a guess.

    Args:
        problem: rates and conditions.
        mesh: (K,) increasing from 0 to 1, at least three nodes.
        y: (K, d) guess.
        options: when to stop.
        progress: told the number of nodes and the residual after each mesh; cancels by returning True.
        deadline: value of ``time.perf_counter`` at which to stop.

    Returns:
        The solution, or the best iterate and why it is none.

    Raises:
        InputError: more nodes in the guess than memory holds.
    """
    options = options or CollocationOptions()
    allowed = min(options.max_nodes, max_nodes_in_memory(problem.dimension))
    if len(mesh) > max_nodes_in_memory(problem.dimension):
        raise InputError(
            f"has {len(mesh)} nodes", element="mesh", remedy=f"Give at most {max_nodes_in_memory(problem.dimension)}"
        )
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
        told = Progress("boundary value problem", residual=residual, nodes=len(mesh))
        stop = progress is not None and bool(progress(told))
        if newton.converged and residual <= options.tolerance:
            return _result(problem, True, "converged", mesh, newton, residual, steps, tried)
        if stop or time.perf_counter() > deadline:
            message = "stopped"
            break
        if not newton.converged:
            failures += 1
            if failures > options.second_chances:
                message = f"Newton's method doesn't converge on {len(mesh)} nodes: {newton.message}"
                break
            # A mesh twice as fine: an iterate that the coarse one can't hold may go on there.
            finer = np.union1d(mesh, 0.5 * (mesh[1:] + mesh[:-1]))
        else:
            finer = _refined(mesh, errors, options.tolerance)
        if len(finer) > allowed:
            message = f"a mesh of {len(finer)} nodes would be needed, {allowed} are allowed"
            break
        y = hermite(mesh, y, newton.rates, finer)
        mesh = finer
    return _result(problem, False, message, mesh, newton, residual, steps, tried)


@dataclass(frozen=True, eq=False)
class _Newton:
    converged: bool
    finite: bool
    message: str
    y: Reals
    rates: Reals
    middle_rates: Reals
    steps: int
    corrections: tuple[float, ...]


def _result(
    problem: BoundaryValueProblem,
    converged: bool,
    message: str,
    mesh: Reals,
    newton: _Newton,
    residual: float,
    steps: int,
    tried: int,
) -> BoundaryValueResult:
    # A failed solve may have refined the mesh after its last Newton iteration: give back what belongs together.
    y = newton.y
    if len(mesh) != len(y):
        mesh = np.linspace(0.0, 1.0, len(y))
    conditions = np.concatenate([problem.start(y[0])[0], problem.end(y[-1])[0]])
    return BoundaryValueResult(
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


def _sizes(y: Reals) -> Reals:
    """(d,) size of each component along the mesh: what its residuals and corrections are compared with."""
    greatest = np.abs(y).max(axis=0)
    return np.asarray(np.maximum(greatest, 1e-6 * max(1e-12, float(greatest.max()))))


def _mean_square_root(values: Reals) -> float:
    """Return the root of the mean square; inf where squares are beyond what numbers can hold."""
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.mean(values**2)))


def _newton(
    problem: BoundaryValueProblem, mesh: Reals, y: Reals, options: CollocationOptions, deadline: float
) -> _Newton:
    h = np.diff(mesh)
    corrections: list[float] = []
    finite, message = True, f"{options.max_newton} steps without convergence"
    converged, uphill = False, 0
    band = BandedNewton(problem.dimension, problem.start_count, len(mesh))
    state = _State(problem, h, y)
    for step in range(options.max_newton + 1):
        if not state.finite:
            return _Newton(False, False, "not finite", y, state.rates, state.middle_rates, step, tuple(corrections))
        if time.perf_counter() > deadline:
            message = "out of time"
            break
        state.linearise()
        if not band.factorise(state.start_jacobian, _blocks(state, h), state.end_jacobian):
            message = "the Jacobian is singular"
            break
        delta = band.solve(state.residual)
        size = np.maximum(_sizes(state.y), _sizes(state.y - delta))
        norm = _mean_square_root(delta / size)
        corrections.append(norm)
        if not math.isfinite(norm):
            message = "the Jacobian is singular or beyond what numbers can hold"
            break
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
        while damping >= _MIN_DAMPING and time.perf_counter() <= deadline:
            trial = _State(problem, h, state.y - damping * delta)
            if trial.finite:
                simplified = band.solve(trial.residual)
                reached = _mean_square_root(simplified / size)
                if reached < best_norm:
                    best, best_norm = trial, reached
                if reached <= (1.0 - 0.25 * damping) * norm:
                    accepted = trial
                    break
            damping *= 0.5
        if accepted is None:
            # Far from the solution, and at the kinks where controls reach their bounds, a step uphill often leads on.
            uphill += 1
            if best_norm > _MOST_UPHILL * norm:
                message = (
                    f"the iterates diverge: every step raises a correction of {norm:.1e} to {best_norm:.1e} or more; "
                    "begin nearer to the solution, or raise stiff penalties step by step"
                )
                break
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

    def __init__(self, problem: BoundaryValueProblem, h: Reals, y: Reals) -> None:
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
        """Compute derivatives of the rates."""
        both = np.concatenate([self.y, self.middle])
        _, J = self._problem.rates_and_jacobian(both)
        self.node_jacobian, self.middle_jacobian = J[: len(self.y)], J[len(self.y) :]


def _blocks(state: _State, h: Reals) -> Reals:
    """(K - 1, d, 2d) derivatives of the defects by the values at both ends of their interval."""
    d = state.y.shape[1]
    identity = np.eye(d)
    step = h[:, None, None]
    left, right, middle = state.node_jacobian[:-1], state.node_jacobian[1:], state.middle_jacobian
    blocks = np.empty((len(h), d, 2 * d))
    blocks[:, :, :d] = -identity - step / 6.0 * (left + 2.0 * middle) - step**2 / 12.0 * (middle @ left)
    blocks[:, :, d:] = identity - step / 6.0 * (right + 2.0 * middle) + step**2 / 12.0 * (middle @ right)
    return blocks


def _residuals(problem: BoundaryValueProblem, mesh: Reals, y: Reals, rates: Reals, middle_rates: Reals) -> Reals:
    """(K - 1,) root mean square over each interval of the cubic's residual, relative to the size of the components.

    Weighted by the interval's length over the mean one, so that their mean is the integral of the residual, which is
    what the solution's error grows with: a kink where a control meets its bound needs one short interval, not many.

    Five-point Lobatto quadrature: the residual vanishes at the ends and, where Newton's method has converged, is known
    at the middle.
    """
    h = np.diff(mesh)[:, None]
    size = _sizes(y)
    inner = 0.5 * math.sqrt(3.0 / 7.0)

    def at(r: float) -> Reals:
        left, right, dl, dr = y[:-1], y[1:], rates[:-1], rates[1:]
        value = (
            (1.0 + 2.0 * r) * (1.0 - r) ** 2 * left
            + r * (1.0 - r) ** 2 * h * dl
            + r**2 * (3.0 - 2.0 * r) * right
            + r**2 * (r - 1.0) * h * dr
        )
        slope = 6.0 * r * (1.0 - r) / h * (right - left)
        slope += (1.0 - r) * (1.0 - 3.0 * r) * dl + r * (3.0 * r - 2.0) * dr
        phi = middle_rates if r == 0.5 else problem.rates(value)
        return np.asarray((slope - phi) / (size + np.abs(phi)))

    with np.errstate(all="ignore"):
        squares = (
            32.0 / 45.0 * np.mean(at(0.5) ** 2, axis=1)
            + 49.0 / 90.0 * (np.mean(at(0.5 - inner) ** 2, axis=1) + np.mean(at(0.5 + inner) ** 2, axis=1))
        )
    errors = np.sqrt(0.5 * squares) * np.diff(mesh) * (len(mesh) - 1)
    return np.asarray(np.where(np.isfinite(errors), errors, 1e300))


def _refined(mesh: Reals, errors: Reals, tolerance: float) -> Reals:
    """Return mesh with intervals cut in as many parts as bring the residual below the tolerance, 4 at most."""
    parts = np.clip(np.ceil((errors / (0.5 * tolerance)) ** 0.25), 1, 4).astype(int)
    nodes = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(mesh[:-1], mesh[1:], parts, strict=True)]
    return np.concatenate([*nodes, [mesh[-1]]])
