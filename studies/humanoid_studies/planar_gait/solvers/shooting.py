# SPDX-License-Identifier: Apache-2.0
"""Shooting, single and multiple, with variational equations (specification 003 section 2.26.3).

The interval is cut into segments; each is integrated from its own initial value together with the derivative of its end
by that value. Newton's method joins the segments and meets the end conditions. With one segment it is the classical
method (Bryson & Ho 1975): quick on weakly constrained problems, but errors grow like e^{LT}, which stiff penalties make
hopeless; more segments tame them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, count, number
from humanoid_studies.planar_gait.solvers.banded_newton import BandedNewton
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueProblem, BoundaryValueResult
from humanoid_studies.planar_gait.solvers.collocation import max_nodes_in_memory


@dataclass(frozen=True)
class ShootingOptions(Described):
    """Settings."""

    part_of = "shooting."
    segments: int = count(10, "1 for single shooting", low=1)
    tolerance: float = number(
        1e-8, "relative, of Newton's last correction and of the integrator", low=0.0, above=True
    )
    max_newton: int = count(40, "Newton steps", low=1)
    steps_per_segment: int = count(10, "nodes that a segment is given back at", low=1)
    growth_limit: float = number(
        1e4, "by how much a component may outgrow the guess's largest before an integration is given up", low=0.0,
        above=True, high=math.inf,
    )  # fmt: skip
    max_evaluations: int = count(4000, "of the rates in one integration", low=1)


def solve_shooting(
    problem: BoundaryValueProblem,
    mesh: Reals,
    y: Reals,
    options: ShootingOptions | None = None,
    deadline: float = math.inf,
) -> BoundaryValueResult:
    """Solves a boundary value problem by (multiple) shooting.

    Args:
        problem: rates and conditions.
        mesh: (K,) from 0 to 1, of the guess.
        y: (K, d) guess; only its values where segments start count.
        options: settings.
        deadline: value of ``time.perf_counter`` at which to stop.

    Returns:
        The solution at ``segments * steps_per_segment + 1`` nodes, or the best iterate and why it is none.

    Raises:
        InputError: more nodes than memory holds.
    """
    options = options or ShootingOptions()
    most = max_nodes_in_memory(problem.dimension)
    if options.segments * options.steps_per_segment > most:
        raise InputError(
            f"are {options.segments} of {options.steps_per_segment} steps",
            element="shooting.segments",
            remedy=f"Give at most {most} steps in all",
        )
    starts = np.linspace(0.0, 1.0, options.segments + 1)
    values = np.stack([np.interp(starts, mesh, column) for column in y.T], axis=1)
    h = np.diff(starts)
    d = problem.dimension
    newton = BandedNewton(d, problem.start_count, len(starts))
    corrections: list[float] = []
    tolerance = _LOOSE
    message, converged, step = f"{options.max_newton} steps without convergence", False, 0
    shot = _shoot(problem, values[:-1], h, options, _LOOSE, deadline, sensitivities=True)
    while step < options.max_newton:
        step += 1
        if time.perf_counter() > deadline:
            message = "stopped"
            break
        if shot is None:
            message = "an integration diverges"
            break
        ends, transfer = shot
        start, start_jacobian = problem.start(values[0])
        end, end_jacobian = problem.end(values[-1])
        blocks = np.concatenate([-transfer, np.broadcast_to(np.eye(d), transfer.shape)], axis=2)
        if not newton.factorise(start_jacobian, blocks, end_jacobian):
            message = "the Jacobian is singular"
            break
        delta = newton.solve(np.concatenate([start, (values[1:] - ends).ravel(), end]))
        size = np.maximum(np.abs(values).max(axis=0), np.abs(values - delta).max(axis=0)) + 1e-12
        norm = float(np.sqrt(np.mean((delta / size) ** 2)))
        corrections.append(norm)
        if norm <= 100.0 * options.tolerance and tolerance <= 10.0 * options.tolerance:
            values = values - delta
            converged, message = True, "converged"
            break
        damping, accepted = 1.0, None
        while damping > 1e-2:
            trial = values - damping * delta
            flown = _shoot(problem, trial[:-1], h, options, tolerance, deadline, sensitivities=False)
            if flown is not None:
                residual = np.concatenate(
                    [problem.start(trial[0])[0], (trial[1:] - flown[0]).ravel(), problem.end(trial[-1])[0]]
                )
                reached = float(np.sqrt(np.mean((newton.solve(residual) / size) ** 2)))
                if reached <= (1.0 - 0.25 * damping) * norm:
                    accepted = trial
                    break
            damping *= 0.5
        if accepted is None:
            message = f"no step reduces the residual (correction {norm:.1e})"
            break
        values = accepted
        # An integration more exact than the iterate would be wasted.
        tolerance = min(_LOOSE, max(options.tolerance, 1e-3 * reached))
        shot = _shoot(problem, values[:-1], h, options, tolerance, deadline, sensitivities=True)
    nodes, dense = _dense(problem, starts, values, options)
    rates = problem.rates(dense)
    conditions = np.concatenate([problem.start(values[0])[0], problem.end(values[-1])[0]])
    return BoundaryValueResult(
        converged,
        message,
        nodes,
        dense,
        rates,
        corrections[-1] if corrections else math.inf,
        float(np.abs(conditions).max()),
        step,
        1,
        tuple(corrections),
    )


_LOOSE = 1e-5


def _shoot(
    problem: BoundaryValueProblem,
    values: Reals,
    h: Reals,
    options: ShootingOptions,
    tolerance: float,
    deadline: float = math.inf,
    *,
    sensitivities: bool,
) -> tuple[Reals, Reals] | None:
    """Return ends of all segments, integrated side by side on s in [0, 1], and their derivatives by the starts."""
    S, d = values.shape
    # Sizes of the components: costates are small numbers beside states.
    slopes = np.abs(problem.rates(values) * h[:, None])
    size = np.maximum(np.abs(values).max(axis=0), slopes.max(axis=0))
    size = np.maximum(size, max(1e-3 * float(size.max()), 1e-12))
    count = 0

    def rates(_: float, flat: Reals) -> Reals:
        nonlocal count
        count += 1
        beyond = count > options.max_evaluations or time.perf_counter() > deadline
        if beyond or not np.abs(flat[: S * d]).max() <= options.growth_limit:
            raise _Diverged
        y = flat[: S * d].reshape(S, d) * size
        if not sensitivities:
            return np.asarray((problem.rates(y) * h[:, None] / size).ravel())
        slopes, J = problem.rates_and_jacobian(y)
        Phi = flat[S * d :].reshape(S, d, d)
        scaled = J * size[None, None, :] / size[None, :, None]
        return np.concatenate([(slopes * h[:, None] / size).ravel(), ((scaled @ Phi) * h[:, None, None]).ravel()])

    initial = (values / size).ravel()
    if sensitivities:
        initial = np.concatenate([initial, np.broadcast_to(np.eye(d), (S, d, d)).ravel()])
    try:
        flight = solve_ivp(rates, (0.0, 1.0), initial, method="DOP853", rtol=tolerance, atol=tolerance, t_eval=[1.0])
    except (_Diverged, np.linalg.LinAlgError):
        return None
    if not flight.success or not np.isfinite(flight.y).all():
        return None
    end = flight.y[:, -1]
    transfer = np.zeros((S, d, d))
    if sensitivities:
        transfer = end[S * d :].reshape(S, d, d) * size[None, :, None] / size[None, None, :]
    return end[: S * d].reshape(S, d) * size, transfer


class _Diverged(Exception):  # noqa: N818 - ends an integration, and is caught where it was started
    """An integration left all bounds."""


def _dense(
    problem: BoundaryValueProblem, starts: Reals, values: Reals, options: ShootingOptions
) -> tuple[Reals, Reals]:
    """Nodes within the segments, integrated from their starts; straight lines where that diverges."""
    S, d = len(starts) - 1, problem.dimension
    inner = np.linspace(0.0, 1.0, options.steps_per_segment + 1)[:-1]
    h = np.diff(starts)
    parts = [values[:-1]]
    for width in np.diff(inner):
        flown = _shoot(problem, parts[-1], h * width, options, options.tolerance, sensitivities=False)
        if flown is None:
            return starts, values
        parts.append(flown[0])
    nodes = (starts[:-1, None] + h[:, None] * inner[None]).ravel()
    dense = np.stack(parts, axis=1).reshape(S * len(inner), d)
    return np.append(nodes, 1.0), np.concatenate([dense, values[-1:]])
