# SPDX-License-Identifier: Apache-2.0
"""Several postures at once, coupled by what they have in common (specification 001 section 4.12)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import NonlinearProgram
from humanoid_planner.optimisation.result import ReturnCode, SolverOptions
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.problem.problem import PostureProblem
from humanoid_planner.posture.problem.sparse_blocks import block_pattern
from humanoid_planner.posture.problem.state import PostureState
from humanoid_planner.posture.tasks.coupling import Coupling


class CoupledProgram(NonlinearProgram):
    """Posture programs side by side, and the rows that couple them: (3.89)-(3.91).

    The variables are those of all postures, one after the other; the rows likewise, then those of the couplings. The
    Jacobian is sparse: one dense block per posture, and one per coupling and posture that it couples.
    """

    def __init__(
        self, problems: Sequence[PostureProblem], couplings: Sequence[Coupling], weights: NDArray[np.float64]
    ) -> None:
        """Stack problems; see :class:`MultiplePostures`."""
        self._programs = [problem.program for problem in problems]
        self._states = [problem.state for problem in problems]
        self._couplings = tuple(couplings)
        self._weights = weights
        self._starts = np.cumsum([0, *(program.size for program in self._programs)])
        self.lower = np.concatenate([program.lower for program in self._programs])
        self.upper = np.concatenate([program.upper for program in self._programs])
        self.constraint_lower = np.concatenate(
            [program.constraint_lower for program in self._programs] + [coupling.lower for coupling in couplings]
        )
        self.constraint_upper = np.concatenate(
            [program.constraint_upper for program in self._programs] + [coupling.upper for coupling in couplings]
        )
        coupled = sum(coupling.size for coupling in couplings)
        self.linear = np.concatenate([program.linear for program in self._programs] + [np.zeros(coupled, dtype=bool)])
        self._pattern = self._make_pattern()

    def split(self, x: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the variables of each posture out of those of all."""
        return np.split(x, self._starts[1:-1])

    @property
    def nonzeros(self) -> scipy.sparse.coo_array:
        """Blocks of the postures, then those of the couplings."""
        return self._pattern

    def objective(self, x: NDArray[np.float64]) -> float:
        """Weighted sum of the criteria."""
        parts = zip(self._weights, self._programs, self.split(x), strict=True)
        return float(sum(weight * program.objective(part) for weight, program, part in parts))

    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) its gradient."""
        parts = zip(self._weights, self._programs, self.split(x), strict=True)
        return np.concatenate([weight * program.objective_gradient(part) for weight, program, part in parts])

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) block-diagonal Hessian; None when that of a posture is unknown."""
        blocks = []
        for weight, program, part in zip(self._weights, self._programs, self.split(x), strict=True):
            block = program.objective_hessian(part)
            if block is None:
                return None
            blocks.append(weight * block)
        return np.asarray(scipy.linalg.block_diag(*blocks))

    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) rows of the postures, then of the couplings."""
        self._move(x)
        values = [program.constraints(part) for program, part in zip(self._programs, self.split(x), strict=True)]
        return np.concatenate(values + [coupling.value(self._of(coupling)) for coupling in self._couplings])

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(nnz,) entries of the pattern."""
        self._move(x)
        blocks = [program.jacobian(part) for program, part in zip(self._programs, self.split(x), strict=True)]
        for coupling in self._couplings:
            blocks.extend(coupling.jacobians(self._of(coupling)))
        return np.concatenate([block.ravel() for block in blocks])

    def _move(self, x: NDArray[np.float64]) -> None:
        for state, part in zip(self._states, self.split(x), strict=True):
            state.set(part)

    def _of(self, coupling: Coupling) -> list[PostureState]:
        return [self._states[index] for index in coupling.postures]

    def _make_pattern(self) -> scipy.sparse.coo_array:
        blocks: list[tuple[int, int, int, int]] = []
        row = 0
        for program, start in zip(self._programs, self._starts[:-1], strict=True):
            blocks.append((row, len(program.linear), int(start), program.size))
            row += len(program.linear)
        for coupling in self._couplings:
            for index in coupling.postures:
                blocks.append((row, coupling.size, int(self._starts[index]), self._programs[index].size))
            row += coupling.size
        return block_pattern(blocks, (row, int(self._starts[-1])))


@dataclass(frozen=True)
class MultipleResult:
    """Coupled postures, or the least-violating ones.

    Attributes:
        success: whether they fulfil everything.
        status: return code.
        message: the same in words.
        postures: (nq,) each, in Pinocchio's order.
        forces: (k, 3) contact forces of each posture, world frame [N]; empty where equilibrium isn't tested by forces.
        x: (n,) all variables.
        criterion: weighted sum of the criteria.
        residual: largest violation.
        iterations: of the solver.
        evaluations: of the constraints.
        time: wall-clock time [s].
        solver: its name.
    """

    success: bool
    status: ReturnCode
    message: str
    postures: tuple[NDArray[np.float64], ...]
    forces: tuple[NDArray[np.float64], ...]
    x: NDArray[np.float64]
    criterion: float
    residual: float
    iterations: int
    evaluations: int
    time: float
    solver: str


class MultiplePostures:
    """Postures of one robot or of several that have to be found together.

    Attributes:
        problems: one per posture.
        couplings: what they have in common.
        program: for solvers.
    """

    def __init__(
        self,
        problems: Sequence[PostureProblem],
        couplings: Sequence[Coupling] = (),
        weights: ArrayLike | None = None,
    ) -> None:
        """Couple postures.

        Args:
            problems: one per posture, each with a kinematics of its own.
            couplings: tasks between postures, which they count from 0.
            weights: (k,) of the criteria in the sum; None takes 1 each.

        Raises:
            InputError: no problem, shared kinematics, a coupling of a posture that isn't there, or bad weights.
        """
        if not problems:
            raise InputError("there are none", element="problems", remedy="Give one problem per posture")
        if len({id(problem.kinematics) for problem in problems}) < len(problems):
            raise InputError(
                "two problems share their kinematics", element="problems", remedy="Let each problem make its own"
            )
        for coupling in couplings:
            if max(coupling.postures) >= len(problems):
                raise InputError(
                    f"couples posture {max(coupling.postures)}",
                    element=f"coupling '{coupling.name}'",
                    remedy=f"There are postures 0 to {len(problems) - 1}",
                )
        values = np.ones(len(problems)) if weights is None else np.asarray(weights, dtype=float)
        if values.shape != (len(problems),) or not (np.isfinite(values) & (values >= 0.0)).all():
            raise InputError(
                f"is {values.tolist()}",
                element="weights",
                remedy=f"Give {len(problems)} finite numbers of at least 0",
            )
        self.problems = tuple(problems)
        self.couplings = tuple(couplings)
        self.program = CoupledProgram(self.problems, self.couplings, values)

    def start(self, postures: Sequence[ArrayLike]) -> NDArray[np.float64]:
        """(n,) variables at one (nq,) posture each."""
        return np.concatenate(
            [problem.start(posture) for problem, posture in zip(self.problems, postures, strict=True)]
        )

    def solve(
        self,
        initial: Sequence[ArrayLike],
        *,
        solver: str = "ipopt",
        options: SolverOptions | None = None,
    ) -> MultipleResult:
        """Find the postures.

        Args:
            initial: one (nq,) posture each to start from.
            solver: one of those of :func:`humanoid_planner.optimisation.solve.solve`; IPOPT knows sparse programs.
            options: for the solver; None allows 300 iterations.
        """
        if len(initial) != len(self.problems):
            raise InputError(
                f"{len(initial)} postures to start from", element="initial", remedy=f"Give {len(self.problems)}"
            )
        options = options or SolverOptions(max_iterations=300)
        solution = solve(self.program, self.start(initial), solver=solver, options=options)
        parts = self.program.split(solution.x)
        postures, forces = [], []
        for problem, part in zip(self.problems, parts, strict=True):
            problem.state.set(part)
            postures.append(problem.posture(part))
            forces.append(problem.state.forces.copy())
        return MultipleResult(
            success=solution.success,
            status=solution.code,
            message=solution.message,
            postures=tuple(postures),
            forces=tuple(forces),
            x=solution.x,
            criterion=solution.objective,
            residual=solution.residual,
            iterations=solution.iterations,
            evaluations=solution.evaluations,
            time=solution.time,
            solver=solution.solver,
        )
