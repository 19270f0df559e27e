# SPDX-License-Identifier: Apache-2.0
"""A nonlinear program with analytic derivatives, a solver's options and its result: what problems and solvers share.

Constraints that can't be met together get their name here, too, so that all solvers call it the same.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from humanoid_model.errors import InputError


class NonlinearProgram(ABC):
    """Minimise f(x) subject to ``lower <= x <= upper`` and ``constraint_lower <= c(x) <= constraint_upper``.

    Equal constraint bounds make an equality, infinite ones leave a side free. Solver and problem know nothing else of
    each other (specification 001 section 4.4). Arrays that a program returns are its own and hold until its next call;
    who keeps one copies it.

    Attributes:
        lower: (n,) lower bounds of the variables.
        upper: (n,) upper bounds of the variables.
        constraint_lower: (m,) lower bounds of the constraints.
        constraint_upper: (m,) upper bounds of the constraints.
        linear: (m,) True for the constraints that are linear in x.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    constraint_lower: NDArray[np.float64]
    constraint_upper: NDArray[np.float64]
    linear: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """Number of variables n."""
        return len(self.lower)

    @property
    def damping(self) -> NDArray[np.float64] | None:
        """(n,) weights w of a cost w d^2 / 2 that solvers may put on steps d; None leaves steps free.

        For variables on which the objective says next to nothing, like contact forces: undamped, they leap about
            among the
        many values that are as good, and curved constraints never settle.
        """
        return None

    def constraint_curvature(
        self, x: NDArray[np.float64], multipliers: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """(n, n) positive semidefinite part of the multipliers' sum of constraint Hessians, as far as it is known.

        Args:
            x: (n,).
            multipliers: (m,), positive where the upper bound acts.

        Returns:
            What solvers may add to the objective's Hessian; None when nothing is known.
        """
        return None

    @property
    def nonzeros(self) -> scipy.sparse.coo_array | None:
        """(m, n) pattern of the Jacobian when it is sparse, None when it is dense.

        A sparse program returns its Jacobian as the values of this pattern, in its order.
        """
        return None

    @abstractmethod
    def objective(self, x: NDArray[np.float64]) -> float:
        """f(x)."""

    @abstractmethod
    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) gradient of f."""

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) positive semidefinite Hessian of f or an approximation of it (Gauss-Newton); None when unknown."""
        return None

    @abstractmethod
    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) c(x)."""

    @abstractmethod
    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, n) Jacobian of c, or the (nnz,) values of the pattern."""


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


def violation(program: NonlinearProgram, constraints: NDArray[np.float64]) -> NDArray[np.float64]:
    """(m,) signed distances of the constraints' values out of their bounds: positive above the upper."""
    above = np.maximum(constraints - program.constraint_upper, 0.0)
    return above - np.maximum(program.constraint_lower - constraints, 0.0)


def tolerances(program: NonlinearProgram, options: SolverOptions) -> NDArray[np.float64]:
    """(m,) largest violations at a solution."""
    equality = program.constraint_lower == program.constraint_upper
    return np.where(equality, options.equality_tolerance, options.inequality_tolerance)


def share_of_equalities(
    program: NonlinearProgram, violation: NDArray[np.float64], tolerance: NDArray[np.float64]
) -> float:
    """Part of the summed violation beyond the tolerances that is the equalities'; 0 where nothing is violated."""
    sizes = np.where(np.abs(violation) > tolerance, np.abs(violation), 0.0)
    of_equalities = sizes[program.constraint_lower == program.constraint_upper].sum()
    return float(of_equalities) / max(float(sizes.sum()), 1e-300)


def contradiction(share_of_equalities: float) -> tuple[ReturnCode, str]:
    """Code and words for a point from where the violation falls no more, by who violates there."""
    if share_of_equalities > 0.9:
        return ReturnCode.EQUALITIES_UNSATISFIED, "the equalities can't be met nearby"
    if share_of_equalities < 0.1:
        return ReturnCode.INEQUALITIES_INFEASIBLE, "the inequalities can't be met nearby"
    return ReturnCode.DIRECTION_FAILED, "equalities and inequalities contradict each other nearby"


def require_finite(objective: float, constraints: NDArray[np.float64]) -> None:
    """Raise InputError, which names the function, unless all values at the start are finite."""
    finite = np.isfinite(constraints)
    if not finite.all():
        row = int(np.argmin(finite))
        what = f"constraint {row} is {constraints[row]}"
    elif not math.isfinite(objective):
        what = f"the objective is {objective}"
    else:
        return
    raise InputError(f"{what} there", element="x0", remedy="Start where all functions are defined")


def block_pattern(blocks: Sequence[tuple[int, int, int, int]], shape: tuple[int, int]) -> scipy.sparse.coo_array:
    """Return the pattern of a matrix of dense blocks, whose entries come block by block and row by row within a block.

    Args:
        blocks: first row, number of rows, first column and number of columns of each block; no two overlap.
        shape: of the whole matrix.
    """
    rows = [np.repeat(np.arange(row, row + height), width) for row, height, _, width in blocks]
    columns = [np.tile(np.arange(column, column + width), height) for _, height, column, width in blocks]
    indices = np.concatenate([np.zeros(0, dtype=np.int64), *rows]), np.concatenate([np.zeros(0, np.int64), *columns])
    return scipy.sparse.coo_array((np.ones(len(indices[0])), indices), shape=shape)
