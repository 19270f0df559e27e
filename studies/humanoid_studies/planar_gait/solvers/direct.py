# SPDX-License-Identifier: Apache-2.0
"""Direct transcription: Hermite-Simpson and IPOPT (specification 003 sections 2.26.5 and 2.31).

On N equal intervals the angles, velocities and controls at nodes and middles are the unknowns; with Z = (q, M v) and
D = (v, p') the constraints are

    Z_{k+1} - Z_k - T h/6 (D_k + 4 D_m + D_{k+1}) = 0,   Z_m - (Z_k + Z_{k+1})/2 - T h/8 (D_k - D_{k+1}) = 0,

free of the inverse of M and linear in Z and D: first and second derivatives are sums over points of the small
derivatives there, put together here entry by entry, with exact sparsity, for every shape of problem once.

The penalty on an excess h is 1/2 r s² of a slack s >= h, which is the same and smooth: with the kink of max(0, h)² in
the objective, Newton's iterations jump to and fro.

The multipliers of the constraints, weighted like Simpson's rule, are the costates at nodes and middles (Hager 2000).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, count, flag, number
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.optimal_control.extremal_problem import end_conditions
from humanoid_studies.planar_gait.optimal_control.phase_expressions import PhaseExpressions
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.phase_shape import PhaseParameters, PhaseShape, phase_parameters
from humanoid_studies.planar_gait.solvers.guess import cubic_guess

LIFTING = 0.08
"""Share of a phase at either end in which a swinging foot leaves the ground and comes down."""
TIME_LIMIT = 120.0
"""That a phase may take unless told otherwise; the slowest of the benchmark's random ones takes 8 [s]."""
MAX_MEMORY = 2**31
"""That one program or mesh may take: larger ones are refused before they are built [bytes]."""
_ENTRY = 400
"""Memory of a program by point and square of its unknowns there: derivatives, their places and IPOPT's factors, as
measured on BIP's double support [bytes]."""


@dataclass(frozen=True)
class DirectOptions(Described):
    """Settings of the transcription."""

    part_of = "direct."
    intervals: int = count(20, "N, equally long; as many as memory holds", low=1)
    tolerance: float = number(1e-6, "of IPOPT", low=0.0, above=True)
    max_iterations: int = count(500, "of IPOPT", low=1)
    time_limit: float = number(
        TIME_LIMIT, "of IPOPT, kept to within a factor of two and one iteration", "s", low=0.0, above=True,
        high=math.inf,
    )  # fmt: skip
    verbose: bool = flag(False, "print IPOPT's iterations")


@dataclass(frozen=True, eq=False)
class DirectResult:
    """A transcribed solution at nodes and middles, K = 2 N + 1 points; IPOPT's last iterate if it failed.

    Attributes:
        converged: whether IPOPT is satisfied.
        status: its own word for it.
        iterations: of IPOPT.
        duration: T [s].
        s: (K,) points on [0, 1].
        q: (K, n) angles [rad].
        v: (K, n) velocities [rad/s].
        p: (K, n) momenta.
        u: (K, N) controls.
        costates: (K, 2n) from the multipliers.
        cost: penalised criterion by Simpson's rule.
        infeasibility: greatest violation of a constraint.
        seconds: time of the solve.
        variables: what a warm start takes.
        multipliers: what a warm start takes.
    """

    converged: bool
    status: str
    iterations: int
    duration: float
    s: Reals
    q: Reals
    v: Reals
    p: Reals
    u: Reals
    costates: Reals
    cost: float
    infeasibility: float
    seconds: float
    variables: Reals
    multipliers: Reals


class Transcription:
    """Program of one shape and one number of intervals; every number of the problem is a parameter."""

    def __init__(
        self, parameters: PhaseParameters, intervals: int, ends: tuple[casadi.Function | None, casadi.Function | None]
    ) -> None:
        e = PhaseExpressions(parameters)
        shape = parameters.shape
        n, N = shape.n, shape.control_count
        self.n, self.N, self.points = n, N, 2 * intervals + 1
        scaled = casadi.SX.sym("u_scaled", N)
        symbol = e.parameters
        unit = 1.0 / casadi.sqrt(e.symbol("effort"))
        penalised = 0 if shape.hard_inequalities else shape.inequality_count
        slack = casadi.SX.sym("slack", penalised)
        zeta = casadi.vertcat(e.q, e.v, scaled, *([e.a] if shape.accelerated else []), slack)
        self.slack_count = penalised
        self.width = point_width(shape)

        def in_units(expression: casadi.SX) -> casadi.SX:
            return casadi.substitute(expression, e.u, unit * scaled)

        Z = casadi.vertcat(e.q, e.momentum)
        D = in_units(casadi.vertcat(e.v, e.momentum_rate))
        rest = [e.equalities, e.rows]
        if shape.accelerated:
            rest.insert(0, e.momentum_rate - e.mass_rate - casadi.mtimes(e.mass_matrix, e.a))
        if shape.hard_inequalities:
            rest.append(e.inequalities)
        elif penalised:
            rest.append(e.inequalities - slack / casadi.sqrt(e.symbol("inequality_factors")))
        R = in_units(casadi.vertcat(*rest))
        cost = in_units(e.effort + e.closure_penalty) + 0.5 * casadi.sumsqr(slack)
        self.rest_count = R.numel()
        self.accelerated_count = n if shape.accelerated else 0
        self._assemble(zeta, symbol, Z, D, R, cost, intervals, ends)

    def _assemble(
        self,
        zeta: casadi.SX,
        symbol: casadi.SX,
        Z: casadi.SX,
        D: casadi.SX,
        R: casadi.SX,
        cost: casadi.SX,
        intervals: int,
        ends: tuple[casadi.Function | None, casadi.Function | None],
    ) -> None:
        P, width, n2, r = self.points, self.width, 2 * self.n, self.rest_count
        size = 1 + P * width
        A1, A2, weights = _stencils(intervals)
        self.weights, self.A2 = weights, A2
        A1c, A2c, weights_row = casadi.DM(A1.tocsc()), casadi.DM(A2.tocsc()), casadi.DM(weights).T
        x, par = casadi.MX.sym("x", size), casadi.MX.sym("par", symbol.numel())
        T, nodes = x[0], casadi.reshape(x[1:], width, P)
        shared = [1]

        stacked = casadi.densify(casadi.vertcat(Z, D, R))
        values = casadi.Function("point", [zeta, symbol], [stacked, cost], {"cse": True})
        F, running = values.map("points", "serial", P, shared, [])(nodes, par)
        defects = casadi.mtimes(F[:n2, :], A1c) + T * casadi.mtimes(F[n2 : 2 * n2, :], A2c)
        first, last = nodes[:, 0], nodes[:, P - 1]
        conditions = [end(node) for end, node in zip(ends, (first, last), strict=True) if end is not None]
        g = casadi.vertcat(casadi.vec(defects), casadi.vec(F[2 * n2 :, :]), *conditions)
        J_scale = casadi.mtimes(running, weights_row.T)
        f = T * J_scale
        self.condition_count = sum(item.numel() for item in conditions)

        # First derivatives.
        JZ, JD, JR = (casadi.jacobian(item, zeta) for item in (Z, D, R))
        gradient = casadi.densify(casadi.gradient(cost, zeta))
        slopes = casadi.Function(
            "slopes",
            [zeta, symbol],
            [*(casadi.densify(_nonzeros(item)) for item in (JZ, JD, JR)), gradient],
            {"cse": True},
        ).map("points_slopes", "serial", P, shared, [])
        nzZ, nzD, nzR, gl = slopes(nodes, par)
        grad_f = casadi.vertcat(J_scale, T * casadi.vec(gl * casadi.repmat(weights_row, width, 1)))
        rows, columns, entries = [], [], []
        rZ, cZ = _triplets(JZ)
        rD, cD = _triplets(JD)
        rR, cR = _triplets(JR)
        big_Z = _spread(rZ, cZ, A1, n2, width)
        big_D = _spread(rD, cD, A2, n2, width)
        key = np.unique(np.concatenate([places[0] * size + places[1] for places, _, _ in (big_Z, big_D)]))
        both = np.stack(np.divmod(key, size))
        S1, S2 = (_selection(key, big, size) for big in (big_Z, big_D))
        rows.append(both[0])
        columns.append(both[1])
        entries.append(casadi.mtimes(S1, casadi.vec(nzZ)) + T * casadi.mtimes(S2, casadi.vec(nzD)))
        rows.append((n2 * A1.shape[1] + np.arange(P)[:, None] * r + rR[None]).ravel())
        columns.append((1 + np.arange(P)[:, None] * width + cR[None]).ravel())
        entries.append(casadi.vec(nzR))
        rows.append(np.arange(n2 * A1.shape[1]))
        columns.append(np.zeros(n2 * A1.shape[1], dtype=int))
        entries.append(casadi.vec(casadi.mtimes(F[n2 : 2 * n2, :], A2c)))
        offset = n2 * A1.shape[1] + P * r
        for end, place in zip(ends, (0, P - 1), strict=True):
            if end is None:
                continue
            node = nodes[:, place]
            jacobian = end.jacobian()(node, casadi.MX(end.size1_out(0), 1))
            count = end.size1_out(0)
            i, j = np.meshgrid(np.arange(count), np.arange(width), indexing="ij")
            rows.append(offset + i.T.ravel())
            columns.append(1 + place * width + j.T.ravel())
            entries.append(casadi.vec(casadi.densify(jacobian)))
            offset += count
        jac_g = _matrix(rows, columns, entries, offset, size)

        # Second derivatives: of sigma f + lambda . g, upper triangle.
        lam_Z, lam_D, lam_R = casadi.SX.sym("lZ", n2), casadi.SX.sym("lD", n2), casadi.SX.sym("lR", r)
        sigma = casadi.SX.sym("sigma")
        lagrangian = casadi.dot(lam_Z, Z) + casadi.dot(lam_D, D) + casadi.dot(lam_R, R) + sigma * cost
        H = casadi.triu(casadi.hessian(lagrangian, zeta)[0])
        curvature = casadi.Function(
            "curvature",
            [zeta, casadi.vertcat(lam_Z, lam_D, lam_R), sigma, symbol],
            [casadi.densify(_nonzeros(H))],
            {"cse": True},
        ).map("points_curvature", "serial", P, [3], [])
        lam_f, lam_g = casadi.MX.sym("lam_f"), casadi.MX.sym("lam_g", offset)
        Lambda = casadi.reshape(lam_g[: n2 * A1.shape[1]], n2, A1.shape[1])
        along_Z, along_D = casadi.mtimes(Lambda, A1c.T), casadi.mtimes(Lambda, A2c.T)
        along_R = casadi.reshape(lam_g[n2 * A1.shape[1] : n2 * A1.shape[1] + P * r], r, P)
        nzH = curvature(nodes, casadi.vertcat(along_Z, T * along_D, along_R), lam_f * T * weights_row, par)
        rH, cH = _triplets(H)
        h_rows = [(1 + np.arange(P)[:, None] * width + rH[None]).ravel()]
        h_columns = [(1 + np.arange(P)[:, None] * width + cH[None]).ravel()]
        h_entries = [casadi.vec(nzH)]
        # By T and a point: what T multiplies.
        mixed = casadi.Function(
            "mixed",
            [zeta, lam_D, sigma, symbol],
            [casadi.densify(casadi.gradient(casadi.dot(lam_D, D) + sigma * cost, zeta))],
            {"cse": True},
        ).map("points_mixed", "serial", P, [3], [])
        h_rows.append(np.zeros(P * width, dtype=int))
        h_columns.append(1 + np.arange(P * width))
        h_entries.append(casadi.vec(mixed(nodes, along_D, lam_f * weights_row, par)))
        hess = _matrix(h_rows, h_columns, h_entries, size, size)
        offset = n2 * A1.shape[1] + P * r
        for end, place in zip(ends, (0, P - 1), strict=True):
            if end is None:
                continue
            count = end.size1_out(0)
            node = nodes[:, place]
            second = casadi.hessian(casadi.dot(lam_g[offset : offset + count], end(node)), x)[0]
            hess = hess + casadi.triu(second)
            offset += count

        self.nlp: dict[str, Any] = {"x": x, "p": par, "f": f, "g": g}
        self.derivatives: dict[str, Any] = {
            "grad_f": casadi.Function("nlp_grad_f", [x, par], [f, grad_f], ["x", "p"], ["f", "grad_f_x"]),
            "jac_g": casadi.Function("nlp_jac_g", [x, par], [g, jac_g], ["x", "p"], ["g", "jac_g_x"]),
            "hess_lag": casadi.Function(
                "nlp_hess_l", [x, par, lam_f, lam_g], [hess], ["x", "p", "lam_f", "lam_g"], ["hess_gamma_x_x"]
            ),
        }
        self._solvers: dict[tuple[Any, ...], Any] = {}

    def solver(self, settings: dict[str, Any]) -> Any:
        """IPOPT on this program; kept for the next call with the same settings."""
        key = tuple(sorted(settings.items()))
        if key not in self._solvers:
            options: dict[str, Any] = {
                "ipopt": {"print_level": 0, "sb": "yes", **settings},
                "print_time": False,
                "calc_lam_p": False,
                "calc_lam_x": True,
                **self.derivatives,
            }
            self._solvers[key] = casadi.nlpsol("phase", "ipopt", self.nlp, options)
        return self._solvers[key]


ONE_AT_A_TIME = threading.Lock()
"""IPOPT's linear solver keeps global state: threads take turns, processes run side by side."""

_TRANSCRIPTIONS: dict[tuple[PhaseShape, int], Transcription] = {}


def point_width(shape: PhaseShape) -> int:
    """Return number of unknowns at each point: angles, velocities, controls, accelerations, slacks."""
    slacks = 0 if shape.hard_inequalities else shape.inequality_count
    return 2 * shape.n + shape.control_count + (shape.n if shape.accelerated else 0) + slacks


def program_memory(shape: PhaseShape, intervals: int) -> int:
    """Return the estimate of what a transcription and IPOPT's work on it take [bytes]."""
    return _ENTRY * (2 * intervals + 1) * point_width(shape) ** 2


def max_intervals_in_memory(shape: PhaseShape) -> int:
    """Greatest number of intervals that :data:`MAX_MEMORY` holds."""
    return max(1, (MAX_MEMORY // (_ENTRY * point_width(shape) ** 2) - 1) // 2)


def check_size(shape: PhaseShape, intervals: int, element: str) -> None:
    """Refuse transcriptions that don't fit.

    Args:
        shape: of the phase.
        intervals: that are asked for.
        element: the setting that asks for them.

    Raises:
        InputError: more than :func:`max_intervals_in_memory`.
    """
    most = max_intervals_in_memory(shape)
    if intervals > most:
        needed = program_memory(shape, intervals) / 2**30
        raise InputError(
            f"is {intervals}, which takes some {needed:.3g} GiB", element=element, remedy=f"Give at most {most}"
        )


def transcription(problem: PhaseProblem, intervals: int, element: str = "direct.intervals") -> Transcription:
    """Return the program of the problem's shape; built once, unless the ends have conditions of their own.

    Args:
        problem: the phase.
        intervals: N.
        element: the setting that they come from, for the message.

    Raises:
        InputError: more intervals than fit into :data:`MAX_MEMORY`.
    """
    parameters = phase_parameters(problem)
    check_size(parameters.shape, intervals, element)
    own = (_condition_function(problem, parameters, "start"), _condition_function(problem, parameters, "end"))
    if own != (None, None):
        return Transcription(parameters, intervals, own)
    key = (parameters.shape, intervals)
    if key not in _TRANSCRIPTIONS:
        _TRANSCRIPTIONS[key] = Transcription(parameters, intervals, (None, None))
    return _TRANSCRIPTIONS[key]


def solve_direct(
    problem: PhaseProblem,
    options: DirectOptions | None = None,
    guess: tuple[Reals, Reals, Reals] | None = None,
    warm_start: DirectResult | None = None,
) -> DirectResult:
    """Transcribe a phase and solves it with IPOPT.

    Args:
        problem: the phase.
        options: settings.
        guess: (K, n) angles, (K, n) velocities and (K, N) controls at the K = 2 N + 1 points; :func:`cubic_guess`
            without.
        warm_start: result of a neighbouring problem with as many intervals.

    Returns:
        The solution, or IPOPT's last iterate and its status.

    Raises:
        InputError: more intervals than fit into memory.
    """
    options = options or DirectOptions()
    started = time.perf_counter()
    parameters = phase_parameters(problem)
    program = transcription(problem, options.intervals)
    n, P, width = program.n, program.points, program.width
    unit = 1.0 / np.sqrt(parameters.values["effort"])
    lower, upper = variable_bounds(problem, program, unit)
    g_lower, g_upper = constraint_bounds(problem, parameters, program)
    if warm_start is not None:
        x0 = warm_start.variables
    else:
        q, v, a, u = cubic_guess(problem, P)
        if guess is not None:
            q, v, u = guess
            a = np.gradient(v, problem.duration / (P - 1), axis=0)
        columns = [q, v, u / unit] + ([a] if program.accelerated_count else []) + [np.zeros((P, program.slack_count))]
        x0 = np.concatenate([[problem.duration], np.concatenate(columns, axis=1).ravel()])
    settings: dict[str, Any] = {
        "tol": options.tolerance,
        "max_iter": options.max_iterations,
        "mu_strategy": "adaptive",
        "nlp_scaling_method": "none",
        "print_level": 5 if options.verbose else 0,
    }
    if math.isfinite(options.time_limit):
        # A program is compiled for its settings: powers of two keep them few.
        settings["max_wall_time"] = 2.0 ** max(math.floor(math.log2(options.time_limit)), -4)
    start: dict[str, Any] = {"x0": np.clip(x0, lower, upper)}
    if warm_start is not None:
        settings |= {
            "warm_start_init_point": "yes",
            "mu_init": 1e-5,
            "warm_start_bound_push": 1e-7,
            "warm_start_mult_bound_push": 1e-7,
            "warm_start_slack_bound_push": 1e-7,
        }
        start["lam_g0"] = warm_start.multipliers
    with ONE_AT_A_TIME:
        solver = program.solver(settings)
        end = solver(p=parameters.vector, lbx=lower, ubx=upper, lbg=g_lower, ubg=g_upper, **start)
        statistics = solver.stats()
    x = np.array(end["x"]).ravel()
    multipliers = np.array(end["lam_g"]).ravel()
    g = np.array(end["g"]).ravel()
    finite = np.isfinite(g).all()
    infeasibility = float(np.maximum(np.maximum(g_lower - g, g - g_upper), 0.0).max()) if finite else math.inf
    nodes = x[1:].reshape(P, width)
    q, v, u = nodes[:, :n], nodes[:, n : 2 * n], nodes[:, 2 * n : 2 * n + program.N] * unit
    Lambda = multipliers[: 2 * n * program.A2.shape[1]].reshape(-1, 2 * n)
    costates = -(program.A2 @ Lambda) / program.weights[:, None]
    status = str(statistics["return_status"])
    result = DirectResult(
        converged=status in ("Solve_Succeeded", "Solved_To_Acceptable_Level"),
        status=status,
        iterations=int(statistics["iter_count"]),
        duration=float(x[0]),
        s=np.linspace(0.0, 1.0, P),
        q=q,
        v=v,
        p=problem.tree.momentum(q, v),
        u=u,
        costates=costates,
        cost=float(end["f"]),
        infeasibility=infeasibility,
        seconds=time.perf_counter() - started,
        variables=x,
        multipliers=multipliers,
    )
    return result


def variable_bounds(problem: PhaseProblem, program: Transcription, unit: Reals) -> tuple[Reals, Reals]:
    """Least and greatest unknowns: T, then those of each point; controls in units (N,) of their own."""
    n, P, model = program.n, program.points, problem.model
    lower, upper = np.full((P, program.width), -np.inf), np.full((P, program.width), np.inf)
    controls = slice(2 * n, 2 * n + program.N)
    lower[:, controls], upper[:, controls] = model.control_lower / unit, model.control_upper / unit
    for place, end in ((0, problem.start), (P - 1, problem.end)):
        free_q, free_v = end.free_masks(model)
        given = np.concatenate([end.q, end.v])
        held = np.flatnonzero(~np.concatenate([free_q, free_v]))
        lower[place, held] = upper[place, held] = given[held]
    durations = problem.duration_range or (problem.duration, problem.duration)
    return (
        np.concatenate([[durations[0]], lower.ravel()]),
        np.concatenate([[durations[1]], upper.ravel()]),
    )


def constraint_bounds(
    problem: PhaseProblem, parameters: PhaseParameters, program: Transcription
) -> tuple[Reals, Reals]:
    """Least and greatest constraints: defects, then what holds at each point, then further conditions at the ends."""
    shape, P = parameters.shape, program.points
    equal = program.accelerated_count + shape.equality_count
    rows = len(shape.rows)
    rest_lower = np.zeros((P, program.rest_count))
    rest_upper = np.zeros((P, program.rest_count))
    rest_upper[:, equal : equal + rows] = np.inf
    rest_lower[:, equal + rows :] = -np.inf
    if shape.hard_inequalities and problem.penalties.foot_lift > 0.0 and shape.clear_points:
        inner = np.abs(np.linspace(-0.5, 0.5, P)) <= 0.5 - LIFTING
        rest_upper[inner, -len(shape.clear_points) :] = -problem.penalties.foot_lift
    for place, end in ((0, problem.start), (P - 1, problem.end)):
        if end.fixed and shape.hard_inequalities:  # what a given state violates, no motion can mend
            rest_upper[place, equal + rows :] = np.inf
    defects = np.zeros(2 * program.n * program.A2.shape[1])
    conditions = np.zeros(program.condition_count)
    return (
        np.concatenate([defects, rest_lower.ravel(), conditions]),
        np.concatenate([defects, rest_upper.ravel(), conditions]),
    )


def _condition_function(
    problem: PhaseProblem, parameters: PhaseParameters, name: str
) -> casadi.Function | None:
    """Further conditions of one end as a function of that end's unknowns."""
    end = getattr(problem, name)
    if end.conditions is None:
        return None
    shape = parameters.shape
    n = shape.n
    zeta = casadi.SX.sym("zeta", point_width(shape))
    psi = end_conditions(problem, end, CasadiPhase(problem.scaled_model), zeta[:n], zeta[n : 2 * n])
    free_q, free_v = end.free_masks(problem.model)
    given = int((~free_q).sum() + (~free_v).sum())  # these are bounds of the variables
    return casadi.Function(f"conditions_{name}", [zeta], [casadi.densify(psi[given:])])


def _stencils(intervals: int) -> tuple[sparse.csc_array, sparse.csc_array, Reals]:
    """Constants of Hermite-Simpson on [0, 1]: A1 and A2 (points x 2N) of Z and D, and Simpson's weights (points,)."""
    P, h = 2 * intervals + 1, 1.0 / intervals
    left = 2 * np.arange(intervals)
    weights = np.zeros(P)
    for offset, share in ((0, 1.0), (1, 4.0), (2, 1.0)):
        weights[left + offset] += share * h / 6.0

    def matrix(defect: Sequence[float], middle: Sequence[float]) -> sparse.csc_array:
        """From what left end, middle and right end of an interval count for in its two equations."""
        entries = [
            (value, offset, equation)
            for equation, values in enumerate((defect, middle))
            for offset, value in enumerate(values)
            if value
        ]
        rows = np.concatenate([left + offset for _, offset, _ in entries])
        columns = np.concatenate([left + equation for _, _, equation in entries])
        values = np.repeat([value for value, _, _ in entries], intervals)
        return sparse.csc_array((values, (rows, columns)), shape=(P, 2 * intervals))

    A1 = matrix((-1.0, 0.0, 1.0), (-0.5, 1.0, -0.5))
    A2 = matrix((-h / 6.0, -4.0 * h / 6.0, -h / 6.0), (-h / 8.0, 0.0, h / 8.0))
    return A1, A2, weights


def _nonzeros(matrix: casadi.SX) -> casadi.SX:
    """Structural nonzeros as a column."""
    return matrix[matrix.sparsity().find()] if matrix.nnz() else casadi.SX(0, 1)


def _triplets(matrix: casadi.SX) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows, columns = matrix.sparsity().get_triplet()
    return np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)


def _spread(
    rows: NDArray[np.int64], columns: NDArray[np.int64], stencil: sparse.csc_array, height: int, width: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], Reals]:
    """Places (2, E) in the large Jacobian that small Jacobians go to, which small entry each takes, and its factor."""
    point, defect, share = sparse.find(stencil)
    big_rows = (defect[:, None] * height + rows[None]).ravel()
    big_columns = (1 + point[:, None] * width + columns[None]).ravel()
    entry = (point[:, None] * len(rows) + np.arange(len(rows))[None]).ravel()
    factor = np.repeat(share, len(rows))
    return np.stack([big_rows, big_columns]), entry, factor


def _selection(
    key: NDArray[np.int64], big: tuple[NDArray[np.int64], NDArray[np.int64], Reals], size: int
) -> casadi.DM:
    places, entry, factor = big
    order = np.argsort(key)
    where = order[np.searchsorted(key, places[0] * size + places[1], sorter=order)]
    entries = int(entry.max()) + 1 if len(entry) else 0
    return casadi.DM(sparse.csc_matrix((factor, (where, entry)), shape=(len(key), entries)))


def _matrix(
    rows: list[Any], columns: list[Any], entries: list[casadi.MX], height: int, width: int
) -> casadi.MX:
    """Sparse matrix of entries at places that don't repeat."""
    r, c = np.concatenate(rows), np.concatenate(columns)
    order = np.lexsort((r, c))
    pattern = casadi.Sparsity.triplet(height, width, r.tolist(), c.tolist())
    return casadi.MX(pattern, casadi.vertcat(*entries)[order.tolist()])
