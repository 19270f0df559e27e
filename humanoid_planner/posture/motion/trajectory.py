# SPDX-License-Identifier: Apache-2.0
"""Trajectories whose every posture fulfils a posture problem (specification 001 section 4.11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_number
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.motion.trajectory_program import Grid, SplineBasis, TrajectoryProgram
from humanoid_planner.posture.problem import PostureProblem

#: Control points of a path for which no splines are given.
_CONTROL_POINTS = 14


@dataclass(frozen=True, eq=False)
class SplinePath:
    """A path of configurations by splines of their kinematic variables, twice continuously differentiable.

    Attributes:
        kinematics: of the robot, whose variables the path is made of.
        basis: splines.
        points: (count, nx) control points.
    """

    kinematics: RobotKinematics
    basis: SplineBasis
    points: NDArray[np.float64]

    def coordinates(self, instants: ArrayLike, derivative: int = 0) -> NDArray[np.float64]:
        """(k, nx) kinematic variables at ``instants`` (k,), or a derivative of theirs by time."""
        return np.asarray(self.basis.matrix(instants, derivative) @ self.points)

    def posture(self, instant: float) -> NDArray[np.float64]:
        """(nq,) configuration at an instant, in Pinocchio's order."""
        return self.kinematics.configuration(self.coordinates([instant])[0])


@dataclass(frozen=True)
class TrajectoryViolation:
    """Where a trajectory fulfils a constraint worst.

    Attributes:
        constraint: what it is called.
        instant: when.
        value: by how much it is broken in the solver's scale (one is a metre or a radian); not positive if it isn't.
        equality: whether the constraint is one; its ``value`` then is the deviation.
    """

    constraint: str
    instant: float
    value: float
    equality: bool


@dataclass(frozen=True)
class TrajectoryResult:
    """A trajectory, or the least-violating one.

    Attributes:
        success: whether all constraints hold at all instants of the grids.
        status: return code.
        message: the same in words.
        trajectory: what was found.
        x: (n,) all variables.
        criterion: of the trajectory.
        residual: largest violation at the instants of the grids.
        iterations: of the solver.
        evaluations: of the constraints.
        time: wall-clock time [s].
        solver: its name.
    """

    success: bool
    status: ReturnCode
    message: str
    trajectory: SplinePath
    x: NDArray[np.float64]
    criterion: float
    residual: float
    iterations: int
    evaluations: int
    time: float
    solver: str


class TrajectoryProblem:
    """A path q(p, t) through posture problems that hold at instants of their own: (3.80)-(3.88).

    A :class:`Grid` says which posture problem holds when; several make contacts, tasks and stability depend on time,
    and let each constraint have the instants that it needs. Without dynamics time is the parameter of a path.

    Joint limits hold at all instants, since a spline stays among its control points. Other constraints hold at the
    grids' instants with a reserve that covers what happens in between: inequalities keep ``margin``, and equalities
    stay within ``slack``. :meth:`violations` tests on finer grids whether that was enough.

    Attributes:
        basis: splines.
        program: for solvers.
        kinematics: of the robot.
    """

    def __init__(
        self,
        grids: Sequence[Grid],
        initial: ArrayLike,
        final: ArrayLike | None = None,
        *,
        basis: SplineBasis | None = None,
        at_rest: bool = True,
        smoothness: float = 1e-3,
        margin: float = 1e-3,
        slack: float = 1e-4,
    ) -> None:
        """Put a trajectory problem together.

        Args:
            grids: posture problems and when they hold; criteria are integrated over the instants of their grid.
            initial: (nq,) first posture.
            final: (nq,) last posture; None leaves it to the grids.
            basis: splines, and the first and last instant; None for 14 control points from 0 to 1.
            at_rest: no velocity and no acceleration at both ends.
            smoothness: weight of the integral of the squared second derivative in the criterion.
            margin: reserve of inequalities at the instants of the grids, in the solver's scale.
            slack: allowed deviation of equalities there, likewise.

        Raises:
            InputError: no grid, instants outside the interval, problems that count the base's angles differently or
                share kinematics, a negative number, or too few control points.
        """
        if not grids:
            raise InputError("there are none", element="grids", remedy="Give at least one grid")
        for name, value in (("smoothness", smoothness), ("margin", margin), ("slack", slack)):
            check_number(value, name)
        self.basis = basis or SplineBasis(_CONTROL_POINTS)
        self.grids = tuple(grids)
        self.kinematics = grids[0].at(grids[0].instants[0]).kinematics
        ends = 3 if at_rest else 1
        count = self.basis.count
        free = count - ends - (ends if final is not None else 0)
        if free < 1:
            raise InputError(
                f"{count} control points leave none free", element="basis", remedy=f"Give at least {count + 1 - free}"
            )
        first = self.kinematics.coordinates(initial)
        last = None if final is None else self.kinematics.coordinates(final)
        self.program = TrajectoryProgram(
            self.grids, self.basis, first, last, ends, at_rest, smoothness=smoothness, margin=margin, slack=slack
        )
        self._first, self._last = first, last

    def start(self, guess: Callable[[float], ArrayLike] | None = None) -> NDArray[np.float64]:
        """(n,) variables to start from.

        Args:
            guess: configuration (nq,) in Pinocchio's order at an instant; None interpolates between the end postures,
                or stays in the first one.
        """
        basis = self.basis
        # each control point at the instant where its basis function is largest, nearly (Greville's abscissae)
        abscissae = np.array([basis.knots[i + 1 : i + basis.degree + 1].mean() for i in range(basis.count)])
        if guess is not None:
            points = np.array([self.kinematics.coordinates(guess(instant)) for instant in abscissae])
        else:
            share = (abscissae - basis.start) / (basis.end - basis.start)
            last = self._first if self._last is None else self._last
            points = self._first + share[:, None] * (last - self._first)
        return self.program.variables(points)

    def trajectory(self, x: NDArray[np.float64]) -> SplinePath:
        """Return the path of variables (n,)."""
        return SplinePath(self.kinematics, self.basis, self.program.control_points(x))

    def solve(
        self,
        initial: NDArray[np.float64] | None = None,
        *,
        solver: str = "ipopt",
        options: SolverOptions | None = None,
    ) -> TrajectoryResult:
        """Find a trajectory.

        Args:
            initial: (n,) variables to start from; None takes those of :meth:`start`.
            solver: one of those of :func:`humanoid_planner.optimisation.solve.solve`; IPOPT knows sparse programs.
                The feasible SQP never leaves the slack around an equality, and creeps along it.
            options: for the solver; None allows 300 iterations.
        """
        options = options or SolverOptions(max_iterations=300)
        solution = solve(self.program, self.start() if initial is None else initial, solver=solver, options=options)
        return TrajectoryResult(
            success=solution.success,
            status=solution.code,
            message=solution.message,
            trajectory=self.trajectory(solution.x),
            x=solution.x,
            criterion=solution.objective,
            residual=solution.residual,
            iterations=solution.iterations,
            evaluations=solution.evaluations,
            time=solution.time,
            solver=solution.solver,
        )

    def violations(self, x: NDArray[np.float64], refinement: int = 5) -> list[TrajectoryViolation]:
        """Return how well the constraints hold between the instants of their grids, without margin and slack.

        Args:
            x: (n,) variables. Force variables are interpolated linearly between instants.
            refinement: number of steps that each step of a grid is divided into.

        Returns:
            Each constraint of each grid at its worst instant, the worst first.
        """
        worst: dict[tuple[int, str], TrajectoryViolation] = {}
        for index, grid in enumerate(self.grids):
            steps = np.arange((len(grid.instants) - 1) * refinement + 1) / refinement
            instants = np.interp(steps, np.arange(len(grid.instants)), grid.instants)
            others = self.program.others(x, index)
            for step, instant in zip(steps, instants, strict=True):
                problem = grid.at(float(instant))
                low = int(step)
                high = min(low + 1, len(others) - 1)
                other = (1.0 - (step - low)) * others[low] + (step - low) * others[high]
                coordinates = self.trajectory(x).coordinates([instant])[0]
                _note_worst(worst, index, problem, np.concatenate([coordinates, other]), float(instant))
        return sorted(worst.values(), key=lambda violation: -violation.value)


def _note_worst(
    worst: dict[tuple[int, str], TrajectoryViolation],
    grid: int,
    problem: PostureProblem,
    x: NDArray[np.float64],
    instant: float,
) -> None:
    program = problem.program
    c = program.constraints(x)
    excess = np.maximum(program.constraint_lower - c, c - program.constraint_upper)
    equal = program.constraint_lower == program.constraint_upper
    for row, value in enumerate(excess):
        label = program.row_labels[row]
        known = worst.get((grid, label))
        if known is None or value > known.value:
            worst[grid, label] = TrajectoryViolation(label, instant, float(value), bool(equal[row]))
