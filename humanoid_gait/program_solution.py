# SPDX-License-Identifier: Apache-2.0
"""How a program is solved, and what a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_model.arrays import Array
from humanoid_model.checks import check_known, check_positive


@dataclass(frozen=True)
class SolverOptions:
    """How a program is solved.

    Attributes:
        solver: ``stages``, this package's own, or ``ipopt``.
        tolerance: of optimality and rows, in the program's own units.
        iterations: at most.
        barrier: first barrier parameter; small from a neighbour's solution.
    """

    solver: str = "stages"
    tolerance: float = 1e-6
    iterations: int = 200
    barrier: float = 1e-2

    def __post_init__(self) -> None:
        """Check the name and the numbers.

        Raises:
            InputError: no such solver; a tolerance or barrier that isn't above 0, or no iteration.
        """
        check_known(self.solver, ("stages", "ipopt"), "solver", "solver")
        for name in ("tolerance", "barrier", "iterations"):
            check_positive(getattr(self, name), name)


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """What a solver returns.

    Attributes:
        x: (V,) unknowns.
        multipliers: (R,) of the rows.
        bound_multipliers: (V,) of the unknowns' bounds.
        cost: of the program.
        converged: whether the solver says so.
        status: in its words.
        iterations: that it took.
        seconds: that it took, without making the program.
        ended: whether it was cancelled, or its time was up.
    """

    x: Array
    multipliers: Array
    bound_multipliers: Array
    cost: float
    converged: bool
    status: str
    iterations: int
    seconds: float
    ended: bool = False
