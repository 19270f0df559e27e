# SPDX-License-Identifier: Apache-2.0
"""Options of a solver, and its result."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class ReturnCode(IntEnum):
    """Return codes of the planner thesis (specification 001 section 4.3.5), and one of our own."""

    SUCCESS = 0
    LINEAR_INFEASIBLE = 1
    INEQUALITIES_INFEASIBLE = 2
    MAX_ITERATIONS = 3
    STEP_SEARCH_FAILED = 4
    DIRECTION_FAILED = 5
    STALLED = 8
    EQUALITIES_UNSATISFIED = 9
    TIME_LIMIT = 20


@dataclass(frozen=True)
class SolverOptions:
    """Options that all solvers understand.

    Attributes:
        max_iterations: iterations of the whole solution, both phases.
        equality_tolerance: largest |c - bound| of an equality at a solution.
        inequality_tolerance: largest violation of an inequality or of a variable's bound at a solution.
        optimality_tolerance: largest norm of the projected gradient of the Lagrangian, relative to the objective's
            gradient (or 1), at a solution.
        time_limit: wall-clock time [s]; None is unlimited.
        verbose: print one line per iteration.
        stop: asked in every iteration whether to end as at the time limit; IPOPT doesn't ask.
    """

    max_iterations: int = 150
    equality_tolerance: float = 1e-6
    inequality_tolerance: float = 1e-6
    optimality_tolerance: float = 1e-2
    time_limit: float | None = None
    verbose: bool = False
    stop: Callable[[], bool] | None = None


class Clock:
    """Time left of a solution, also for what takes long within an iteration."""

    def __init__(self, limit: float | None, stop: Callable[[], bool] | None = None) -> None:
        """Start.

        Args:
            limit: wall-clock time [s]; None is unlimited.
            stop: tells whether to end before.
        """
        self._end = math.inf if limit is None else time.perf_counter() + limit
        self._stop = stop

    @property
    def left(self) -> float:
        """[s], not below zero; inf when unlimited."""
        return max(self._end - time.perf_counter(), 0.0)

    @property
    def over(self) -> bool:
        """Whether nothing is left."""
        return time.perf_counter() >= self._end or (self._stop is not None and self._stop())


@dataclass(frozen=True)
class SolverResult:
    """What a solver found.

    Attributes:
        x: (n,) the solution, or the least-violating point met on the way.
        code: how the solver ended.
        message: the same in words.
        objective: f(x).
        residual: largest violation of a constraint or bound at ``x``.
        iterations: of the whole solution.
        evaluations: of the constraints.
        jacobian_evaluations: of their Jacobian.
        multipliers: (m,) of the constraints, positive where the upper bound acts, negative where the lower does.
        bound_multipliers: (n,) of the variables' bounds, likewise.
        time: wall-clock time [s].
        solver: its name.
    """

    x: NDArray[np.float64]
    code: ReturnCode
    message: str
    objective: float
    residual: float
    iterations: int
    evaluations: int
    jacobian_evaluations: int
    multipliers: NDArray[np.float64]
    bound_multipliers: NDArray[np.float64]
    time: float
    solver: str

    @property
    def success(self) -> bool:
        """Whether the solver ended with a solution."""
        return self.code == ReturnCode.SUCCESS
