# SPDX-License-Identifier: Apache-2.0
"""The solvers by name, behind one call."""

from __future__ import annotations

import os
from collections.abc import Callable
from pkgutil import resolve_name
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.extensions import load_extensions, optional_library, others
from humanoid_planner.optimisation.program import NonlinearProgram, SolverOptions, SolverResult

#: Of Hessian and Jacobian that a dense solver and its quadratic programs hold at a time, about.
_COPIES = 5

_Solver = Callable[[NonlinearProgram, NDArray[np.float64], SolverOptions, SolverResult | None], SolverResult]

SOLVERS: dict[str, str] = {
    "sqp": "humanoid_planner.optimisation.trust_region_sqp:solve_sqp",
    "ipopt": "humanoid_planner.optimisation.ipopt:solve_ipopt",
}
"""Function of each solver, imported at first use (IPOPT comes with CasADi, which is slow to import), with the arguments
program, start, options and warm start of :func:`solve`. Other packages add theirs
(:mod:`humanoid_model.extensions`)."""


def solver_names() -> tuple[str, ...]:
    """Return the names of all solvers, those of other installed packages too."""
    load_extensions("program_solvers")
    return tuple(SOLVERS)


def solve(
    program: NonlinearProgram,
    x0: ArrayLike,
    *,
    solver: str = "sqp",
    options: SolverOptions | None = None,
    warm_start: SolverResult | None = None,
) -> SolverResult:
    """Local minimiser of a nonlinear program, or the least-violating point that the solver met on its way.

    A program that can't be solved is a return code, not an exception; exceptions of the program itself pass.

    Args:
        program: the problem.
        x0: (n,) start; solvers move it into the variables' bounds first.
        solver: "sqp" or "ipopt", or one of another package, such as the studies' "feasible_sqp".
        options: limits and tolerances; None for the defaults.
        warm_start: result of a similar program (the same variables and constraints), by any of the solvers: what it
            knows besides the point (multipliers, active constraints) starts this one. The point itself is ``x0``.

    Returns:
        The result.

    Raises:
        InputError: unknown solver, or one whose library isn't installed; start, warm start or bounds that don't fit the
            program or are not numbers; a dense program larger than the machine's memory.
    """
    if solver not in SOLVERS and solver not in solver_names():
        raise InputError(
            f"unknown solver {solver!r}",
            element="solver",
            remedy=f"Known are {', '.join(SOLVERS)}{others('program_solvers')}",
        )
    start = np.array(x0, dtype=float)
    n, m = program.size, len(program.linear)
    _check("x0", start, n)
    _check("upper", program.upper, n, finite=False)
    _check("lower", program.lower, n, finite=False)
    _check("constraint_lower", program.constraint_lower, m, finite=False)
    _check("constraint_upper", program.constraint_upper, m, finite=False)
    if warm_start is not None:
        _check("warm_start.multipliers", warm_start.multipliers, m)
        _check("warm_start.bound_multipliers", warm_start.bound_multipliers, n)
    if solver == "ipopt":
        optional_library("casadi", "planner", element="solver")
    if program.nonzeros is None or solver != "ipopt":
        _check_memory(n, m)
    run = cast(_Solver, resolve_name(SOLVERS[solver]))
    return run(program, start, options or SolverOptions(), warm_start)


def _check_memory(n: int, m: int) -> None:
    """Raise InputError when dense matrices of ``n`` variables and ``m`` constraints don't fit into the machine."""
    needed = _COPIES * 8.0 * n * (n + m)
    memory = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    if needed > memory:
        raise InputError(
            f"{n} variables and {m} constraints take {needed / 1e9:.0f} GB of {memory / 1e9:.0f} GB",
            element="program",
            remedy='Make the program smaller, or solve a sparse one with "ipopt"',
        )


def _check(name: str, value: NDArray[np.float64], size: int, *, finite: bool = True) -> None:
    """Raise InputError unless ``value`` is a vector of ``size`` numbers."""
    if np.shape(value) != (size,):
        raise InputError(f"shape {np.shape(value)}", element=name, remedy=f"Give {size} numbers")
    bad = ~np.isfinite(value) if finite else np.isnan(value)
    if bad.any():
        index = int(np.argmax(bad))
        raise InputError(f"element {index} is {value[index]}", element=name, remedy="Give numbers")
