# SPDX-License-Identifier: Apache-2.0
"""Inequalities around a program's equalities, so that phase 1 fails early (specification 001 section 4.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import NonlinearProgram, SolverResult
from humanoid_studies.feasible_sqp.minimax import MinimaxProgram


class TubeProgram(NonlinearProgram):
    """A program with one more row ``m- <= g_i <= m+`` for each nonlinear equality g_i = 0.

    Specification 001 section 4.2, E-05. The rows allow nothing that the equalities forbid. They serve the feasible SQP
    alone: its first phase looks at inequalities only, and finds an equality that can't come into its tube before the
    costly second phase begins. The second phase then keeps every iterate in the tube.
    """

    def __init__(
        self,
        program: NonlinearProgram,
        lower: float | NDArray[np.float64] = -0.1,
        upper: float | NDArray[np.float64] = 0.1,
    ) -> None:
        """Surround the equalities of ``program``.

        Args:
            program: the program, with a single objective.
            lower: m- <= 0, one for all nonlinear equalities or one each, in their order and units.
            upper: m+ >= 0, likewise.

        Raises:
            InputError: a margin has the wrong sign or the wrong number of entries, or the program is a minimax.
        """
        if isinstance(program, MinimaxProgram):
            raise InputError("a program with several objectives has no tube", element="program")
        rows = np.flatnonzero(~program.linear & (program.constraint_lower == program.constraint_upper))
        margins = {}
        for name, margin, sign in (("lower", lower, -1.0), ("upper", upper, 1.0)):
            values = np.asarray(margin, dtype=np.float64)
            if values.ndim and values.shape != rows.shape:
                raise InputError(
                    f"{values.shape} margins for {len(rows)} nonlinear equalities",
                    element=name,
                    remedy="Give one number, or one for each",
                )
            if not (sign * values >= 0.0).all():
                raise InputError(
                    f"margin {values}", element=name, remedy=f"Give numbers {'>=' if sign > 0 else '<='} 0"
                )
            margins[name] = values
        self._program = program
        self._rows = rows
        self.lower, self.upper = program.lower, program.upper
        bounds = program.constraint_lower[rows]
        self.constraint_lower = np.concatenate([program.constraint_lower, bounds + margins["lower"]])
        self.constraint_upper = np.concatenate([program.constraint_upper, bounds + margins["upper"]])
        self.linear = np.concatenate([program.linear, np.zeros(len(rows), dtype=bool)])
        pattern = program.nonzeros
        self._pattern: scipy.sparse.coo_array | None = None
        if pattern is not None:
            position = np.full(len(program.linear), -1)
            position[rows] = len(program.linear) + np.arange(len(rows))
            self._copied = np.flatnonzero(position[pattern.row] >= 0)
            row = np.concatenate([pattern.row, position[pattern.row[self._copied]]])
            column = np.concatenate([pattern.col, pattern.col[self._copied]])
            self._pattern = scipy.sparse.coo_array(
                (np.ones(len(row)), (row, column)), shape=(len(self.linear), program.size)
            )

    @property
    def nonzeros(self) -> scipy.sparse.coo_array | None:
        """The program's pattern and the copied rows."""
        return self._pattern

    def objective(self, x: NDArray[np.float64]) -> float:
        """Return the program's."""
        return self._program.objective(x)

    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the program's."""
        return self._program.objective_gradient(x)

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return the program's."""
        return self._program.objective_hessian(x)

    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the program's constraints, then its nonlinear equalities again."""
        c = self._program.constraints(x)
        return np.concatenate([c, c[self._rows]])

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Likewise."""
        J = self._program.jacobian(x)
        return np.concatenate([J, J[self._rows if self._pattern is None else self._copied]])

    def inner_result(self, result: SolverResult) -> SolverResult:
        """Return a result of this program as one of the program within: the tube's multipliers go to its equalities."""
        m = len(self._program.linear)
        multipliers = result.multipliers[:m].copy()
        multipliers[self._rows] += result.multipliers[m:]
        return replace(result, multipliers=multipliers)
