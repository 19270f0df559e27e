# SPDX-License-Identifier: Apache-2.0
"""IPOPT, Wächter & Biegler's interior-point method, as it comes with CasADi: for large and sparse programs."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.program import (
    NonlinearProgram,
    ReturnCode,
    SolverOptions,
    SolverResult,
    contradiction,
    require_finite,
    share_of_equalities,
    tolerances,
    violation,
)

_SETTINGS: dict[str, Any] = {"hessian_approximation": "limited-memory", "mu_strategy": "monotone", "mu_init": 1e-2}

_WARM: dict[str, Any] = {
    "warm_start_init_point": "yes",
    "mu_init": 1e-4,
    "warm_start_bound_push": 1e-6,
    "warm_start_bound_frac": 1e-6,
    "warm_start_slack_bound_push": 1e-6,
    "warm_start_slack_bound_frac": 1e-6,
    "warm_start_mult_bound_push": 1e-6,
}

_STATUS = {
    "Maximum_Iterations_Exceeded": (ReturnCode.MAX_ITERATIONS, "not solved after {iterations} iterations"),
    "Maximum_CpuTime_Exceeded": (ReturnCode.TIME_LIMIT, "not solved after {time_limit} s"),
    "Maximum_WallTime_Exceeded": (ReturnCode.TIME_LIMIT, "not solved after {time_limit} s"),
    "Search_Direction_Becomes_Too_Small": (ReturnCode.STALLED, "the iterate no longer changes"),
    "Not_Enough_Degrees_Of_Freedom": (ReturnCode.DIRECTION_FAILED, "there are more equalities than variables"),
    "Diverging_Iterates": (ReturnCode.STEP_SEARCH_FAILED, "iterates diverge: the objective may be unbounded"),
    "Restoration_Failed": (ReturnCode.STEP_SEARCH_FAILED, "restoration of feasibility failed"),
    "Error_In_Step_Computation": (ReturnCode.STEP_SEARCH_FAILED, "the step could not be computed"),
    "Invalid_Number_Detected": (ReturnCode.STEP_SEARCH_FAILED, "a derivative is not finite"),
}


def solve_ipopt(
    program: NonlinearProgram,
    x0: NDArray[np.float64],
    options: SolverOptions,
    warm_start: SolverResult | None = None,
) -> SolverResult:
    """Local minimiser of a program by IPOPT, or the least-violating point met on the way.

    The Hessian of the Lagrangian is IPOPT's limited-memory approximation: the program's own Hessian lacks the
    constraints' curvature, and with it a third of hard posture problems fails. Sparse Jacobians stay sparse.

    Source: Wächter & Biegler 2006, On the implementation of an interior-point filter line-search algorithm for
    large-scale nonlinear programming.

    Args:
        program: the problem.
        x0: (n,) start.
        options: limits and tolerances.
        warm_start: earlier result of a similar program, whose multipliers start this one close to its bounds.

    Returns:
        The result, with the thesis' code nearest to IPOPT's status.

    Raises:
        InputError: the program isn't finite at the start.
        Exception: whatever the program raises while IPOPT calls it.
    """
    started = time.perf_counter()
    if (program.lower > program.upper).any() or (program.constraint_lower > program.constraint_upper).any():
        code, message = ReturnCode.LINEAR_INFEASIBLE, "a lower bound is above its upper bound"
        calls = _Calls(program, options, x0)
        calls.values(x0)
        return calls.result(code, message, 0, np.zeros(calls.m), np.zeros(len(x0)), started)
    x0 = np.minimum(np.maximum(x0, program.lower), program.upper)
    calls = _Calls(program, options, x0)
    require_finite(*calls.values(x0))
    functions = _Functions(calls)
    settings: dict[str, Any] = {
        "tol": 0.1 * options.optimality_tolerance,
        "constr_viol_tol": 0.5 * min(options.equality_tolerance, options.inequality_tolerance),
        "max_iter": options.max_iterations,
        "print_level": 5 if options.verbose else 0,
        "sb": "yes",
        # Feasible, and the objective as good as constant over some iterations: contact forces, which it weighs next to
        # nothing, would go on being sorted for a hundred more.
        "acceptable_iter": 4,
        "acceptable_tol": 1e6,
        "acceptable_constr_viol_tol": 0.5 * min(options.equality_tolerance, options.inequality_tolerance),
        "acceptable_dual_inf_tol": 1e10,
        "acceptable_compl_inf_tol": options.optimality_tolerance,
        "acceptable_obj_change_tol": options.optimality_tolerance**2,
        **_SETTINGS,
    }
    if options.time_limit is not None:
        settings["max_wall_time"] = max(options.time_limit - (time.perf_counter() - started), 1e-3)
    start: dict[str, Any] = {"x0": x0}
    if warm_start is not None:
        settings.update(_WARM)
        start["lam_g0"], start["lam_x0"] = warm_start.multipliers, warm_start.bound_multipliers
    solver = functions.solver(settings)
    bounds = {
        "lbx": program.lower,
        "ubx": program.upper,
        "lbg": program.constraint_lower,
        "ubg": program.constraint_upper,
    }
    end = solver(**start, **bounds)
    statistics = solver.stats()
    if calls.error is not None:
        raise calls.error
    status, iterations = str(statistics["return_status"]), int(statistics["iter_count"])
    x = np.minimum(np.maximum(_vector(end["x"]), program.lower), program.upper)
    solved = status in ("Solve_Succeeded", "Solved_To_Acceptable_Level", "Feasible_Point_Found")
    _, constraints = calls.values(x, final=solved)
    out = violation(program, constraints)
    if solved and (np.abs(out) <= calls.tolerance).all():
        code, message = ReturnCode.SUCCESS, "solved"
    elif solved or status == "Infeasible_Problem_Detected":
        calls.forget_final()
        code, message = contradiction(share_of_equalities(program, out, calls.tolerance))
    else:
        code, words = _STATUS.get(status, (ReturnCode.STEP_SEARCH_FAILED, status.replace("_", " ").lower()))
        message = words.format(iterations=iterations, time_limit=options.time_limit)
    return calls.result(code, message, iterations, _vector(end["lam_g"]), _vector(end["lam_x"]), started)


def _vector(value: Any) -> NDArray[np.float64]:
    return np.asarray(value.full(), dtype=float).reshape(-1)


class _Calls:
    """The program as IPOPT calls it: counts, remembers the last point and the best one, and catches exceptions."""

    def __init__(self, program: NonlinearProgram, options: SolverOptions, x0: NDArray[np.float64]) -> None:
        self.program = program
        self.tolerance = tolerances(program, options)
        self.m = len(program.constraint_lower)
        self.error: BaseException | None = None
        self.evaluations = 0
        self.jacobian_evaluations = 0
        self._x: NDArray[np.float64] | None = None
        self._values: tuple[float, NDArray[np.float64]] = (math.nan, np.zeros(0))
        self._best: tuple[float, NDArray[np.float64], float, float] = (math.inf, x0, math.nan, math.inf)
        self._final: tuple[float, NDArray[np.float64], float, float] | None = None

    def guarded(self, function: Callable[[], None]) -> int:
        """Run a call of IPOPT's; 1 if it raised, which ends the solution."""
        if self.error is not None:
            return 1
        try:
            function()
        except BaseException as error:  # raised again once IPOPT has returned
            self.error = error
            return 1
        return 0

    def values(self, x: NDArray[np.float64], *, final: bool = False) -> tuple[float, NDArray[np.float64]]:
        """f(x) and c(x)."""
        if self._x is None or not np.array_equal(self._x, x):
            x = x.copy()  # CasADi's buffer changes
            self.evaluations += 1
            objective = float(self.program.objective(x))
            self._values = objective, np.array(self.program.constraints(x), dtype=float).reshape(self.m)
            self._x = x
        objective, constraints = self._values
        size = np.abs(violation(self.program, constraints))
        entry = float(np.sqrt(size @ size)), self._x, objective, float(size.max(initial=0.0))
        if entry[0] < self._best[0]:  # False for NaN
            self._best = entry
        if final:
            self._final = entry
        return self._values

    def forget_final(self) -> None:
        """Take the least-violating point for the result, not the final one."""
        self._final = None

    def result(
        self,
        code: ReturnCode,
        message: str,
        iterations: int,
        multipliers: NDArray[np.float64],
        bound_multipliers: NDArray[np.float64],
        started: float,
    ) -> SolverResult:
        """Return the result at the final point, or at the least-violating one."""
        _, x, objective, residual = self._final if self._final is not None else self._best
        return SolverResult(
            x=x,
            code=code,
            message=message,
            objective=objective,
            residual=residual,
            iterations=iterations,
            evaluations=self.evaluations,
            jacobian_evaluations=self.jacobian_evaluations,
            multipliers=np.nan_to_num(multipliers),
            bound_multipliers=np.nan_to_num(bound_multipliers),
            time=time.perf_counter() - started,
            solver="ipopt",
        )


class _Function(casadi.Callback):
    """A function of the program's that CasADi calls with plain buffers."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[casadi.Sparsity],
        outputs: Sequence[casadi.Sparsity],
        names: tuple[Sequence[str], Sequence[str]],
        evaluate: Callable[[Sequence[NDArray[np.float64] | None], Sequence[NDArray[np.float64] | None]], int],
    ) -> None:
        casadi.Callback.__init__(self)
        self._inputs, self._outputs, self._names, self._evaluate = inputs, outputs, names, evaluate
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self._inputs)

    def get_n_out(self) -> int:
        return len(self._outputs)

    def get_sparsity_in(self, i: int) -> casadi.Sparsity:
        return self._inputs[i]

    def get_sparsity_out(self, i: int) -> casadi.Sparsity:
        return self._outputs[i]

    def get_name_in(self, i: int) -> str:
        return self._names[0][i]

    def get_name_out(self, i: int) -> str:
        return self._names[1][i]

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arguments: Sequence[memoryview], results: Sequence[memoryview]) -> int:
        def arrays(buffers: Sequence[memoryview]) -> list[NDArray[np.float64] | None]:
            return [None if b is None else np.frombuffer(b, dtype=float) for b in buffers]

        return self._evaluate(arrays(arguments), arrays(results))


class _Functions:
    """The program's functions as CasADi asks for them."""

    def __init__(self, calls: _Calls) -> None:
        program = calls.program
        n, m = program.size, calls.m
        x, none, scalar = casadi.Sparsity.dense(n), casadi.Sparsity.dense(0, 0), casadi.Sparsity.dense(1)
        g = casadi.Sparsity.dense(m)
        pattern = program.nonzeros
        if pattern is None:
            jacobian, place = casadi.Sparsity.dense(m, n), None
        else:
            # CasADi's values are ordered by columns, each once.
            keys, place = np.unique(pattern.col.astype(np.int64) * m + pattern.row, return_inverse=True)
            jacobian = casadi.Sparsity.triplet(m, n, (keys % m).tolist(), (keys // m).tolist())

        def values(arguments: Sequence[Any], results: Sequence[Any]) -> int:
            def run() -> None:
                objective, constraints = calls.values(arguments[0])
                if results[0] is not None:
                    results[0][0] = objective
                if results[1] is not None:
                    results[1][:] = constraints

            return calls.guarded(run)

        def gradient(arguments: Sequence[Any], results: Sequence[Any]) -> int:
            def run() -> None:
                if results[0] is not None:
                    results[0][0] = calls.values(arguments[0])[0]
                if results[1] is not None:
                    results[1][:] = calls.program.objective_gradient(arguments[0].copy())

            return calls.guarded(run)

        def derivative(arguments: Sequence[Any], results: Sequence[Any]) -> int:
            def run() -> None:
                if results[0] is not None:
                    results[0][:] = calls.values(arguments[0])[1]
                if results[1] is not None:
                    calls.jacobian_evaluations += 1
                    J = np.asarray(calls.program.jacobian(arguments[0].copy()), dtype=float)
                    results[1][:] = (
                        J.reshape(m, n).ravel(order="F")
                        if place is None
                        else np.bincount(place, J, minlength=len(results[1]))
                    )

            return calls.guarded(run)

        self.oracle = _Function("nlp", [x, none], [scalar, g], (["x", "p"], ["f", "g"]), values)
        self.gradient = _Function("nlp_grad_f", [x, none], [scalar, x], (["x", "p"], ["f", "grad_f_x"]), gradient)
        self.jacobian = _Function("nlp_jac_g", [x, none], [g, jacobian], (["x", "p"], ["g", "jac_g_x"]), derivative)

    def solver(self, settings: dict[str, Any]) -> casadi.Function:
        """IPOPT on these functions."""
        options: dict[str, Any] = {
            "ipopt": settings,
            "print_time": False,
            "grad_f": self.gradient,
            "jac_g": self.jacobian,
            "error_on_fail": False,
            "show_eval_warnings": False,
            "calc_lam_p": False,
            "no_nlp_grad": True,
        }
        return casadi.nlpsol("solver", "ipopt", self.oracle, options)
