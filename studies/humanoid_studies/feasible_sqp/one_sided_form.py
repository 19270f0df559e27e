# SPDX-License-Identifier: Apache-2.0
"""A program as the solver of specification 001 section 4.3 sees it: inequalities one-sided, linear rows apart."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import NonlinearProgram
from humanoid_studies.feasible_sqp.minimax import MinimaxProgram


@dataclass(frozen=True)
class Values:
    """Functions of a program at a point.

    Attributes:
        objectives: (k,) objectives.
        inequalities: (mi,) nonlinear inequalities, <= 0 where satisfied.
        equalities: (me,) nonlinear equalities, oriented so that the start has <= 0; zero where satisfied.
        linear: (ml,) linear constraints, as the program gives them.
    """

    objectives: NDArray[np.float64]
    inequalities: NDArray[np.float64]
    equalities: NDArray[np.float64]
    linear: NDArray[np.float64]

    @property
    def worst_inequality(self) -> float:
        """Largest nonlinear inequality, -inf without any."""
        return float(np.max(self.inequalities, initial=-np.inf))

    @property
    def worst_equality(self) -> float:
        """Largest deviation of a nonlinear equality."""
        return float(np.max(np.abs(self.equalities), initial=0.0))


@dataclass(frozen=True)
class Gradients:
    """Gradients of the nonlinear functions of :class:`Values`, one row each."""

    objectives: NDArray[np.float64]
    inequalities: NDArray[np.float64]
    equalities: NDArray[np.float64]


class OneSidedForm:
    """Sorts a program's constraints: h(x) <= 0, g'(x) <= 0 with g' = 0 wanted, and linear rows between bounds.

    The order is the one that the thesis' solver asks for (specification 001 section 4.3.4): nonlinear inequalities,
    nonlinear equalities, linear rows. A nonlinear row with two finite bounds becomes two inequalities.

    Attributes:
        lower: (n,) bounds of the variables.
        upper: (n,) likewise.
        linear_jacobian: (ml, n) constant Jacobian of the linear rows.
        linear_lower: (ml,) their lower bounds.
        linear_upper: (ml,) their upper bounds.
        evaluations: how often the constraints were evaluated.
        jacobian_evaluations: how often their Jacobian was.
    """

    def __init__(self, program: NonlinearProgram, x0: NDArray[np.float64]) -> None:
        """Evaluate the program at ``x0`` (n,) to learn its linear rows.

        Raises:
            InputError: the program's functions aren't finite at ``x0``.
        """
        self._program = program
        self.lower, self.upper = program.lower, program.upper
        lower, upper = program.constraint_lower, program.constraint_upper
        equal = lower == upper
        curved = ~program.linear
        above = np.flatnonzero(curved & ~equal & np.isfinite(upper))
        below = np.flatnonzero(curved & ~equal & np.isfinite(lower))
        self._inequality_rows = np.concatenate([above, below])
        self._inequality_signs = np.concatenate([np.ones(len(above)), -np.ones(len(below))])
        self._inequality_bounds = np.concatenate([upper[above], lower[below]])
        self._equality_rows = np.flatnonzero(curved & equal)
        self._equality_bounds = upper[self._equality_rows]
        self._equality_signs: NDArray[np.float64] = np.ones(len(self._equality_rows))
        self._linear_rows = np.flatnonzero(program.linear)
        self.linear_lower = lower[self._linear_rows]
        self.linear_upper = upper[self._linear_rows]
        self._pattern = program.nonzeros
        self.evaluations = 0
        self.jacobian_evaluations = 0
        values = self.values(x0)
        if not all(np.isfinite(part).all() for part in vars(values).values()):
            raise InputError(
                "the objective or a constraint isn't finite there",
                element="x0",
                remedy="Start where all functions of the program are defined",
            )
        self.linear_jacobian = np.ascontiguousarray(self._dense_jacobian(x0)[self._linear_rows])
        self._linear_constant = values.linear - self.linear_jacobian @ x0

    def orient(self, values: Values) -> Values:
        """Turn the equalities round whose ``values`` are positive (3.20)(3.21); the values likewise."""
        self._equality_signs = np.where(values.equalities > 0.0, -self._equality_signs, self._equality_signs)
        return replace(values, equalities=-np.abs(values.equalities))

    def values(self, x: NDArray[np.float64]) -> Values:
        """All functions at ``x`` (n,)."""
        if isinstance(self._program, MinimaxProgram):
            objectives = np.array(self._program.objectives(x), dtype=np.float64)
        else:
            objectives = np.array([self._program.objective(x)])
        return self._with_constraints(objectives, x)

    def constraint_values(self, x: NDArray[np.float64]) -> Values:
        """All functions at ``x`` (n,) but the objectives, of which there are none."""
        return self._with_constraints(np.empty(0), x)

    def gradients(self, x: NDArray[np.float64]) -> Gradients:
        """Return gradients of all nonlinear functions at ``x`` (n,)."""
        if isinstance(self._program, MinimaxProgram):
            objectives = np.array(self._program.objectives_jacobian(x), dtype=np.float64)
        else:
            objectives = np.array(self._program.objective_gradient(x), dtype=np.float64)[None, :]
        return self._with_jacobian(objectives, x)

    def constraint_gradients(self, x: NDArray[np.float64]) -> Gradients:
        """Return gradients of the nonlinear constraints at ``x`` (n,)."""
        return self._with_jacobian(np.empty((0, len(x))), x)

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) Hessian of a single objective where the program knows it."""
        return None if isinstance(self._program, MinimaxProgram) else self._program.objective_hessian(x)

    def violation(self, x: NDArray[np.float64], values: Values) -> float:
        """Largest violation of a constraint or of a bound at ``x`` (n,), where the functions are ``values``."""
        parts = (
            values.inequalities,
            np.abs(values.equalities),
            self.linear_lower - values.linear,
            values.linear - self.linear_upper,
            self.lower - x,
            x - self.upper,
        )
        return float(max(np.max(part, initial=0.0) for part in parts))

    def linear_values(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(ml,) linear constraints at ``x`` (n,), without asking the program."""
        return np.asarray(self.linear_jacobian @ x + self._linear_constant)

    def multipliers(
        self,
        inequalities: NDArray[np.float64],
        equalities: NDArray[np.float64],
        linear: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """(m,) multipliers of the program's own rows from those (mi,), (me,), (ml,) of the sorted ones."""
        multipliers = np.zeros(len(self._program.constraint_lower))
        np.add.at(multipliers, self._inequality_rows, self._inequality_signs * inequalities)
        multipliers[self._equality_rows] = self._equality_signs * equalities
        multipliers[self._linear_rows] = linear
        return multipliers

    def equality_multipliers(self, multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """(me,) multipliers of the oriented equalities out of the program's (m,)."""
        return np.asarray(self._equality_signs * multipliers[self._equality_rows])

    def _with_constraints(self, objectives: NDArray[np.float64], x: NDArray[np.float64]) -> Values:
        c = self._program.constraints(x)
        self.evaluations += 1
        return Values(
            objectives,
            self._inequality_signs * (c[self._inequality_rows] - self._inequality_bounds),
            self._equality_signs * (c[self._equality_rows] - self._equality_bounds),
            c[self._linear_rows].copy(),
        )

    def _with_jacobian(self, objectives: NDArray[np.float64], x: NDArray[np.float64]) -> Gradients:
        jacobian = self._dense_jacobian(x)
        return Gradients(
            objectives,
            self._inequality_signs[:, None] * jacobian[self._inequality_rows],
            self._equality_signs[:, None] * jacobian[self._equality_rows],
        )

    def _dense_jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        jacobian = self._program.jacobian(x)
        self.jacobian_evaluations += 1
        if self._pattern is None:
            return jacobian
        dense = np.zeros(self._pattern.shape)
        np.add.at(dense, (self._pattern.row, self._pattern.col), jacobian)
        return dense
