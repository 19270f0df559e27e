# SPDX-License-Identifier: Apache-2.0
"""A trajectory problem as a sparse nonlinear program over clamped B-splines, twice continuously differentiable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.interpolate
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import NonlinearProgram, block_pattern
from humanoid_planner.posture.problem import PostureProblem

DEGREES = (3, 5)


class SplineBasis:
    """Basis of the clamped B-splines of odd degree with equal knot spans (specification 001 section 4.11).

    A curve is the sum of basis functions times control points. It begins in the first control point and ends in the
    last one, lies in the convex hull of the control points, and at any instant depends on ``degree + 1`` of them.

    Attributes:
        degree: 3 (a curve of class C2) or 5 (C4).
        start: first instant.
        end: last instant.
        knots: (count + degree + 1,) knots, those at the ends repeated degree + 1 times.
    """

    def __init__(self, count: int, *, degree: int = 5, start: float = 0.0, end: float = 1.0) -> None:
        """Make a basis.

        Args:
            count: number of control points, at least degree + 1.
            degree: 3 or 5.
            start: first instant.
            end: last instant, later than ``start``.

        Raises:
            InputError: another degree, too few control points, or an interval that isn't one.
        """
        if degree not in DEGREES:
            raise InputError(f"degree {degree}", element="spline", remedy="Choose 3 or 5")
        if count < degree + 1:
            raise InputError(
                f"{count} control points", element="spline", remedy=f"Give at least {degree + 1} for degree {degree}"
            )
        if not (np.isfinite([start, end]).all() and start < end):
            raise InputError(f"instants from {start} to {end}", element="spline", remedy="Let the end be later")
        self.degree = degree
        self.start, self.end = float(start), float(end)
        inner = np.linspace(start, end, count - degree + 1)
        self.knots: NDArray[np.float64] = np.concatenate(
            [np.full(degree, self.start), inner, np.full(degree, self.end)]
        )
        self._curves = scipy.interpolate.BSpline(self.knots, np.eye(count), degree)

    @property
    def count(self) -> int:
        """Number of control points."""
        return len(self.knots) - self.degree - 1

    def matrix(self, instants: ArrayLike, derivative: int = 0) -> NDArray[np.float64]:
        """(k, count) values of the basis functions, or of a derivative of theirs, at ``instants`` (k,).

        Times the control points it gives the points of the curve, or its derivatives by time.

        Raises:
            InputError: an instant outside the interval, or a negative derivative.
        """
        instants = np.asarray(instants, dtype=float).reshape(-1)
        outside = ~((instants >= self.start) & (instants <= self.end))
        if outside.any():
            raise InputError(
                f"instant {instants[outside][0]}",
                element="spline",
                remedy=f"Give instants from {self.start:g} to {self.end:g}",
            )
        if derivative < 0:
            raise InputError(f"derivative {derivative}", element="spline", remedy="Give 0 or more")
        if derivative > self.degree:
            return np.zeros((len(instants), self.count))
        return np.asarray(self._curves(instants, nu=derivative))

    def gram(self, derivative: int) -> NDArray[np.float64]:
        """(count, count) integral over time of the products of all derivatives of basis functions.

        For control points P of one coordinate, ``P @ gram(k) @ P`` is the integral of its squared k-th derivative.
        """
        nodes, weights = np.polynomial.legendre.leggauss(self.degree + 1)  # exact to degree 2 degree + 1
        breaks = np.unique(self.knots)
        half = 0.5 * np.diff(breaks)
        instants = (0.5 * (breaks[:-1] + breaks[1:]))[:, None] + half[:, None] * nodes
        B = self.matrix(instants, derivative)
        return np.asarray(B.T @ (B * (half[:, None] * weights).reshape(-1, 1)))


class Grid:
    """A posture problem and the instants at which it holds.

    Attributes:
        instants: (k,) rising.
    """

    def __init__(self, problem: PostureProblem | Callable[[float], PostureProblem], instants: ArrayLike) -> None:
        """Say what holds when.

        Args:
            problem: the problem, or a function that makes the problem of an instant where its tasks depend on time.
            instants: (k,) rising.

        Raises:
            InputError: no instants, or instants that don't rise.
        """
        self._problem = problem
        self.instants: NDArray[np.float64] = np.asarray(instants, dtype=float).reshape(-1)
        if not len(self.instants) or not (np.diff(self.instants) > 0.0).all():
            raise InputError(f"are {self.instants.tolist()}", element="instants", remedy="Give rising instants")

    def at(self, instant: float) -> PostureProblem:
        """Return the problem of an instant."""
        return self._problem if isinstance(self._problem, PostureProblem) else self._problem(instant)


@dataclass(frozen=True)
class _Sample:
    """A posture problem at one instant.

    Attributes:
        problem: the problem.
        grid: index of its grid.
        weight: of its criterion in the integral over time.
        active: (a,) free control points that the posture depends on.
        values: (a,) basis functions of these.
        constant: (nx,) share of the control points that aren't free.
        other: first of its variables that aren't the trajectory's.
        row: first of its rows.
    """

    problem: PostureProblem
    grid: int
    weight: float
    active: NDArray[np.int64]
    values: NDArray[np.float64]
    constant: NDArray[np.float64]
    other: int
    row: int


class TrajectoryProgram(NonlinearProgram):
    """Control points of a path, and forces and extra variables of each sampled posture.

    Variables are the free control points, one after the other, then the variables of each sample that aren't
    kinematic. Rows are those of the samples. A row depends on as many control points as the spline's degree says and
    one more, and on its own sample's other variables.
    """

    def __init__(
        self,
        grids: Sequence[Grid],
        basis: SplineBasis,
        first: NDArray[np.float64],
        last: NDArray[np.float64] | None,
        ends: int,
        at_rest: bool,
        *,
        smoothness: float,
        margin: float,
        slack: float,
    ) -> None:
        """Sample problems; see :class:`TrajectoryProblem`.

        Args:
            grids: problems and instants.
            basis: splines.
            first: (nx,) value of the first ``ends`` control points.
            last: (nx,) value of the last ``ends`` ones; None leaves the path's end free.
            ends: number of control points that an end fixes.
            at_rest: with a free end, its last ``ends`` control points are one.
            smoothness: weight of the squared second derivative.
            margin: reserve of inequalities.
            slack: allowance of equalities.
        """
        self._size_kinematics = len(first)
        # Control points are matrix @ free ones + constant; a free end at rest is one point that counts thrice.
        count = basis.count
        merged = ends - 1 if last is None and at_rest else 0
        free = count - ends - (ends if last is not None else 0) - merged
        self._spread = np.zeros((count, free))
        self._spread[np.arange(free) + ends, np.arange(free)] = 1.0
        if merged:
            self._spread[-merged:, -1] = 1.0
        self._fixed = np.zeros((count, len(first)))
        self._fixed[:ends] = first
        if last is not None:
            self._fixed[-ends:] = last
        self._samples = self._sample(grids, basis)
        self._grid_count = len(grids)
        programs = [sample.problem.program for sample in self._samples]
        nx = self._size_kinematics
        lower = np.max([program.lower[:nx] for program in programs], axis=0)
        upper = np.min([program.upper[:nx] for program in programs], axis=0)
        self.lower = np.concatenate([np.tile(lower, free)] + [program.lower[nx:] for program in programs])
        self.upper = np.concatenate([np.tile(upper, free)] + [program.upper[nx:] for program in programs])
        self.linear = np.concatenate([program.linear for program in programs])
        bounds = [_tightened(program, margin, slack) for program in programs]
        self.constraint_lower = np.concatenate([pair[0] for pair in bounds])
        self.constraint_upper = np.concatenate([pair[1] for pair in bounds])
        gram = basis.gram(2)
        self._smooth = 2.0 * smoothness * self._spread.T @ gram @ self._spread
        self._smooth_fixed = 2.0 * smoothness * self._spread.T @ gram @ self._fixed
        self._smooth_constant = smoothness * float(np.sum(self._fixed * (gram @ self._fixed)))
        self._pattern = self._make_pattern()

    @property
    def nonzeros(self) -> scipy.sparse.coo_array:
        """For each sample a block per control point that it depends on, then one of its other variables."""
        return self._pattern

    def control_points(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(count, nx) all control points of variables (n,)."""
        return np.asarray(self._spread @ self._free(x) + self._fixed)

    def variables(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) variables for control points (count, nx), with forces that share the weight."""
        first = np.argmax(self._spread, axis=0)
        x = np.zeros(len(self.lower))
        x[: points[first].size] = points[first].ravel()
        for sample in self._samples:
            posture = sample.problem.posture(self._coordinates(sample, x))
            start = sample.problem.start(posture)[self._size_kinematics :]
            x[sample.other : sample.other + len(start)] = start
        return np.clip(x, self.lower, self.upper)

    def others(self, x: NDArray[np.float64], grid: int) -> list[NDArray[np.float64]]:
        """Return variables that aren't kinematic of each sample of a grid, out of all (n,)."""
        return [
            x[sample.other : sample.other + self._other_size(sample)] for sample in self._samples if sample.grid == grid
        ]

    def objective(self, x: NDArray[np.float64]) -> float:
        """Return the integral of the criteria over the grids' instants by the trapezoidal rule, and the smoothness."""
        free = self._free(x)
        value = float(np.sum(free * (0.5 * self._smooth @ free + self._smooth_fixed))) + self._smooth_constant
        for sample in self._samples:
            value += sample.weight * sample.problem.program.objective(self._variables_of(sample, x))
        return value

    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) its gradient."""
        free = self._free(x)
        nx = self._size_kinematics
        gradient = np.zeros(len(x))
        by_points = self._smooth @ free + self._smooth_fixed
        for sample in self._samples:
            part = sample.weight * sample.problem.program.objective_gradient(self._variables_of(sample, x))
            by_points[sample.active] += np.outer(sample.values, part[:nx])
            gradient[sample.other : sample.other + len(part) - nx] = part[nx:]
        gradient[: by_points.size] = by_points.ravel()
        return gradient

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) its Hessian; None when that of a criterion is unknown."""
        nx = self._size_kinematics
        hessian = np.zeros((len(x), len(x)))
        free = len(self._smooth)
        hessian[: free * nx, : free * nx] = np.kron(self._smooth, np.eye(nx))
        for sample in self._samples:
            part = sample.problem.program.objective_hessian(self._variables_of(sample, x))
            if part is None:
                return None
            if not part.any():
                continue
            size = len(part)
            chain = np.zeros((size, len(sample.active) * nx + size - nx))
            chain[:nx, : len(sample.active) * nx] = np.kron(sample.values, np.eye(nx))
            chain[nx:, len(sample.active) * nx :] = np.eye(size - nx)
            where = self._columns(sample)
            hessian[np.ix_(where, where)] += sample.weight * chain.T @ part @ chain
        return hessian

    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) rows of all samples."""
        # a program's array is its own and holds until its next call, which may be the next sample's
        return np.concatenate(
            [sample.problem.program.constraints(self._variables_of(sample, x)).copy() for sample in self._samples]
        )

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(nnz,) entries of the pattern."""
        nx = self._size_kinematics
        parts = []
        for sample in self._samples:
            J = sample.problem.program.jacobian(self._variables_of(sample, x))
            parts.append((sample.values[:, None, None] * J[:, :nx]).ravel())
            parts.append(J[:, nx:].ravel())
        return np.concatenate(parts)

    def _sample(self, grids: Sequence[Grid], basis: SplineBasis) -> list[_Sample]:
        samples: list[_Sample] = []
        owners: dict[int, PostureProblem] = {}
        other, row = self._spread.shape[1] * self._size_kinematics, 0
        for index, grid in enumerate(grids):
            matrix = basis.matrix(grid.instants)
            free, constant = matrix @ self._spread, matrix @ self._fixed
            steps = np.diff(grid.instants)
            weights = 0.5 * (np.append(0.0, steps) + np.append(steps, 0.0))
            for i, instant in enumerate(grid.instants):
                problem = grid.at(float(instant))
                if owners.setdefault(id(problem.kinematics), problem) is not problem:
                    raise InputError(
                        "two problems share their kinematics", element="grids", remedy="Let each problem make its own"
                    )
                self._check(problem, samples)
                active = np.flatnonzero(free[i])
                samples.append(
                    _Sample(problem, index, float(weights[i]), active, free[i, active], constant[i], other, row)
                )
                other += problem.program.size - self._size_kinematics
                row += len(problem.program.linear)
        return samples

    def _check(self, problem: PostureProblem, samples: list[_Sample]) -> None:
        if not samples:
            return
        one, other = problem.kinematics, samples[0].problem.kinematics
        if one.names != other.names or not np.allclose(one.tree.joints["rotation"], other.tree.joints["rotation"]):
            raise InputError(
                "two problems have different kinematic variables",
                element="grids",
                remedy="Make all of the same robot, with the same start",
            )

    def _free(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        free = self._spread.shape[1]
        return x[: free * self._size_kinematics].reshape(free, -1)

    def _coordinates(self, sample: _Sample, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(sample.values @ self._free(x)[sample.active] + sample.constant)

    def _other_size(self, sample: _Sample) -> int:
        return sample.problem.program.size - self._size_kinematics

    def _variables_of(self, sample: _Sample, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.concatenate([self._coordinates(sample, x), x[sample.other : sample.other + self._other_size(sample)]])

    def _columns(self, sample: _Sample) -> NDArray[np.int64]:
        """Return variables that a sample depends on: control points first."""
        nx = self._size_kinematics
        points = (sample.active[:, None] * nx + np.arange(nx)).ravel()
        return np.concatenate([points, sample.other + np.arange(self._other_size(sample))])

    def _make_pattern(self) -> scipy.sparse.coo_array:
        nx = self._size_kinematics
        blocks: list[tuple[int, int, int, int]] = []
        for sample in self._samples:
            height = len(sample.problem.program.linear)
            blocks.extend((sample.row, height, int(point) * nx, nx) for point in sample.active)
            blocks.append((sample.row, height, sample.other, self._other_size(sample)))
        return block_pattern(blocks, (len(self.linear), len(self.lower)))


def _tightened(
    program: NonlinearProgram, margin: float, slack: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds of a sample's rows: a reserve for inequalities, an allowance for equalities.

    Two-sided inequalities narrower than twice the margin keep their middle half.
    """
    lower, upper = program.constraint_lower, program.constraint_upper
    equal = lower == upper
    reserve = np.minimum(margin, 0.25 * (upper - lower))
    return np.where(equal, lower - slack, lower + reserve), np.where(equal, upper + slack, upper - reserve)
