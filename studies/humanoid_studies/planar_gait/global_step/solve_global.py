# SPDX-License-Identifier: Apache-2.0
"""Solves a gait's program with IPOPT and takes its phases' motions apart."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from humanoid_model.arrays import Reals
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_studies.planar_gait.global_step.global_problem import GlobalProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import phase_parameters
from humanoid_studies.planar_gait.solvers.direct import ONE_AT_A_TIME
from humanoid_studies.planar_gait.solvers.guess import cubic_guess

_SCALE = 1e3
"""Of the objective within IPOPT. Simpson's weights make the criterion's curvature some 1e-4 for each unknown, which is
what IPOPT adds to an indefinite Hessian: unscaled its steps would be those of a slow gradient method."""


@dataclass(frozen=True, eq=False)
class PhaseMotion:
    """One phase of an iterate at nodes and middles, K points.

    Attributes:
        duration: T [s].
        s: (K,) points on [0, 1].
        q: (K, n) angles [rad].
        v: (K, n) rates [rad/s].
        u: (K, N) controls.
        costates: (K, 2n) of the phase's own cost, from the multipliers.
        cost: J of the phase.
    """

    duration: float
    s: Reals
    q: Reals
    v: Reals
    u: Reals
    costates: Reals
    cost: float


@dataclass(frozen=True, eq=False)
class GlobalIterate:
    """What IPOPT ended with.

    Attributes:
        converged: whether it is satisfied.
        status: its own word for it.
        iterations: of it.
        objective: F.
        infeasibility: greatest violation of a constraint.
        worst: which constraint that is, in words.
        phases: motion of each phase.
        step_lengths: (doubles,) [m].
        x: all unknowns.
        multipliers: of all constraints, those of a lower limit negative.
        bound_multipliers: of the unknowns' bounds, likewise.
        seconds: of the solve.
    """

    converged: bool
    status: str
    iterations: int
    objective: float
    infeasibility: float
    worst: str
    phases: tuple[PhaseMotion, ...]
    step_lengths: Reals
    x: Reals
    multipliers: Reals
    bound_multipliers: Reals
    seconds: float


def guess_unknowns(problem: GlobalProblem) -> Reals:
    """Unknowns from cubic angles between the planned ends of each phase."""
    parts = []
    for phase in problem.phases:
        program, own = phase.program, phase.problem
        unit = 1.0 / np.sqrt(phase_parameters(own).values["effort"])
        q, v, a, u = cubic_guess(own, program.points)
        columns = [q, v, u / unit] + ([a] if program.accelerated_count else [])
        parts.append(np.concatenate([[own.duration], np.concatenate(columns, axis=1).ravel()]))
    lengths = [phase.foothold.real for phase in problem.phases if phase.lands]
    return np.concatenate([*parts, lengths])


def resampled_unknowns(problem: GlobalProblem, iterate: GlobalIterate) -> Reals:
    """Unknowns from an iterate of a problem of the same phases, on other meshes or of other numbers."""
    parts = []
    for phase, motion in zip(problem.phases, iterate.phases, strict=True):
        program = phase.program
        unit = 1.0 / np.sqrt(phase_parameters(phase.problem).values["effort"])
        s = np.linspace(0.0, 1.0, program.points)
        q, slope = CubicHermiteSpline(motion.s, motion.q, motion.duration * motion.v), 1.0 / motion.duration
        v = CubicHermiteSpline(motion.s, motion.v, np.gradient(motion.v, motion.s, axis=0))
        u = np.stack([np.interp(s, motion.s, column) for column in motion.u.T], axis=1)
        columns = [q(s), v(s), u / unit] + ([slope * v(s, 1)] if program.accelerated_count else [])
        parts.append(np.concatenate([[motion.duration], np.concatenate(columns, axis=1).ravel()]))
    return np.concatenate([*parts, iterate.step_lengths])


def solve_global(
    problem: GlobalProblem,
    neighbour: GlobalIterate | None = None,
    progress: ProgressCallback | None = None,
    verbose: bool = False,
) -> GlobalIterate:
    """Solves the problem from a guess.

    Args:
        problem: phases and links.
        neighbour: solution of the same phases on other meshes, or with other numbers, to start from; cubic angles
            between the planned ends if left out.
        progress: told after each of IPOPT's iterations.
        verbose: let IPOPT print its iterations.
    """
    started = time.perf_counter()
    settings = problem.settings
    program = problem.program()
    lower, upper, g_lower, g_upper = problem.bounds(program)
    par = np.concatenate([*(phase_parameters(phase.problem).vector for phase in problem.phases), problem.numbers])
    options: dict[str, Any] = {
        "tol": settings.tolerance,
        "max_iter": settings.max_iterations,
        "mu_strategy": "adaptive",
        "nlp_scaling_method": "none",
        "obj_scaling_factor": _SCALE,
        "print_level": 5 if verbose else 0,
    }
    if math.isfinite(settings.time_limit):
        # A program is compiled for its settings: powers of two keep them few.
        options["max_wall_time"] = 2.0 ** max(math.floor(math.log2(settings.time_limit)), -4)
    if neighbour is not None:
        x0 = resampled_unknowns(problem, neighbour)
        options |= {"mu_strategy": "monotone", "mu_init": 1e-5}
    else:
        x0 = guess_unknowns(problem)
    iterations = 0
    raised: list[Exception] = []

    def tell(objective: float, g: Reals) -> bool:
        nonlocal iterations
        iterations += 1
        violation = float(np.maximum(np.maximum(g_lower - g, g - g_upper), 0.0).max())
        try:
            item = Progress(f"iteration {iterations - 1}", residual=violation, cost=objective)
            return progress is not None and bool(progress(item))
        except Exception as problem:  # IPOPT would only print it
            raised.append(problem)
            return True

    with ONE_AT_A_TIME:
        solver = program.solver(options, tell if progress is not None else None)
        end = solver(x0=np.clip(x0, lower, upper), p=par, lbx=lower, ubx=upper, lbg=g_lower, ubg=g_upper)
        statistics = solver.stats()
        costs = np.array(program.costs_function(end["x"], par)).ravel()
    if raised:
        raise raised[0]
    x, lam = np.array(end["x"]).ravel(), np.array(end["lam_g"]).ravel()
    g = np.array(end["g"]).ravel()
    violations = np.maximum(np.maximum(g_lower - g, g - g_upper), 0.0)
    violations = np.where(np.isfinite(g), violations, np.inf)
    status = str(statistics["return_status"])
    lengths = x[program.offsets[-1] :]
    by_cost = 1.0 / (lengths.sum() + problem.advance_at_rests) if settings.per_metre else 1.0
    motions = tuple(
        _motion(problem, i, x[program.offsets[i] : program.offsets[i + 1]], lam[program.rows[i] :] / by_cost, costs[i])
        for i in range(len(problem.phases))
    )
    worst = int(np.argmax(violations))
    return GlobalIterate(
        converged=status in ("Solve_Succeeded", "Solved_To_Acceptable_Level"),
        status=status,
        iterations=int(statistics["iter_count"]),
        objective=float(end["f"]),
        infeasibility=float(violations[worst]),
        worst=describe_constraint(problem, worst),
        phases=motions,
        step_lengths=lengths,
        x=x,
        multipliers=lam,
        bound_multipliers=np.array(end["lam_x"]).ravel(),
        seconds=time.perf_counter() - started,
    )


def _motion(problem: GlobalProblem, index: int, x: Reals, multipliers: Reals, cost: float) -> PhaseMotion:
    phase = problem.phases[index]
    program = phase.program
    n, P = program.n, program.points
    unit = 1.0 / np.sqrt(phase_parameters(phase.problem).values["effort"])
    nodes = x[1:].reshape(P, program.width)
    Lambda = multipliers[: 2 * n * program.A2.shape[1]].reshape(-1, 2 * n)
    return PhaseMotion(
        float(x[0]),
        np.linspace(0.0, 1.0, P),
        nodes[:, :n],
        nodes[:, n : 2 * n],
        nodes[:, 2 * n : 2 * n + program.N] * unit,
        -(program.A2 @ Lambda) / program.weights[:, None],
        float(cost),
    )


def describe_constraint(problem: GlobalProblem, index: int) -> str:
    """Return which constraint of the program an index is, in words."""
    program = problem.program()
    place = int(np.searchsorted(program.rows, index, side="right")) - 1
    if place >= len(problem.phases):
        return "links between the phases"
    phase = problem.phases[place]
    own, model = phase.program, phase.problem.model
    name = phase.name
    local = index - int(program.rows[place]) - 2 * own.n * own.A2.shape[1]
    if local < 0:
        return f"{name}: equations of motion"
    shape = phase_parameters(phase.problem).shape
    point, row = divmod(local, own.rest_count)
    labels = ["equations of motion"] * own.accelerated_count + ["closure"] * shape.equality_count
    labels += [row.name for row in phase.problem.all_rows]
    labels += [f"least angle of {model.joint_names[j]}" for j in shape.lower_joints]
    labels += [f"greatest angle of {model.joint_names[j]}" for j in shape.upper_joints]
    labels += [f"rate of {model.joint_names[j]}" for j in shape.rated_joints] * 2
    labels += [f"clearance of {point_name}" for point_name in shape.clear_points]
    return f"{name}: {labels[row]} at {point / (own.points - 1):.0%} of the phase"
