# SPDX-License-Identifier: Apache-2.0
"""Several postures at once, coupled by what they have in common (specification 001 section 4.12)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import scipy.linalg
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from humanoid_model.contact import ContactLocation
from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import NonlinearProgram, ReturnCode, SolverOptions, block_pattern
from humanoid_planner.optimisation.solve import solve
from humanoid_planner.posture.problem import PostureProblem
from humanoid_planner.posture.tasks.state import PostureState


class Coupling(ABC):
    """A vector function of several postures between bounds; equal bounds make an equality.

    Subclass it in a file of your own, with :meth:`value` and :meth:`jacobians`.

    Attributes:
        name: how messages call it.
        postures: indices of the postures that it couples, all different.
        lower: (m,) lowest values.
        upper: (m,) highest values.
        unit: of the values, for messages.
    """

    def __init__(
        self, name: str, postures: Sequence[int], lower: ArrayLike, upper: ArrayLike, *, unit: str = ""
    ) -> None:
        self.name = name
        self.postures = tuple(postures)
        self.lower = np.atleast_1d(np.asarray(lower, dtype=float))
        self.upper = np.atleast_1d(np.asarray(upper, dtype=float))
        self.unit = unit
        if len(set(self.postures)) != len(self.postures) or min(self.postures, default=-1) < 0:
            raise InputError(
                f"couples the postures {list(self.postures)}",
                element=f"coupling '{name}'",
                remedy="Give different indices of postures, from 0",
            )
        if self.lower.shape != self.upper.shape or self.lower.ndim != 1 or not (self.lower <= self.upper).all():
            raise InputError(
                f"bounds are {self.lower.tolist()} and {self.upper.tolist()}",
                element=f"coupling '{name}'",
                remedy="Give as many lower bounds as upper ones, and none above its upper one",
            )

    @property
    def size(self) -> int:
        """Number of rows m."""
        return len(self.lower)

    @abstractmethod
    def value(self, states: Sequence[PostureState]) -> NDArray[np.float64]:
        """(m,) values; ``states`` are those of :attr:`postures`, in their order."""

    @abstractmethod
    def jacobians(self, states: Sequence[PostureState]) -> Sequence[NDArray[np.float64]]:
        """For each of the ``states`` the (m, size) derivative of :meth:`value` by its variables."""


class SamePlacement(Coupling):
    """A link is in the same place in two postures: six equalities on position [m] and rotation vector [rad]."""

    def __init__(self, first: int, second: int, link: str) -> None:
        super().__init__(
            f"{link} in the same place in postures {first} and {second}",
            (first, second),
            np.zeros(6),
            np.zeros(6),
            unit="m, rad",
        )
        self.link = link

    def value(self, states: Sequence[PostureState]) -> NDArray[np.float64]:
        """(6,) difference of the origins, in the world, and rotation vector from the first to the second."""
        (R_a, p_a), (R_b, p_b) = (state.kinematics.placement(self.link) for state in states)
        return np.concatenate([p_b - p_a, pin.log3(R_a.T @ R_b)])

    def jacobians(self, states: Sequence[PostureState]) -> Sequence[NDArray[np.float64]]:
        """(6, size) each."""
        (R_a, _), (R_b, _) = (state.kinematics.placement(self.link) for state in states)
        R = R_a.T @ R_b
        J_log = pin.Jlog3(R)
        matrices = []
        for state, sign, turn in ((states[0], -1.0, -J_log @ R.T), (states[1], 1.0, J_log)):
            J = np.zeros((6, state.size))
            n = state.first_force
            J[:3, :n] = sign * state.kinematics.point_jacobian(self.link, np.zeros(3))
            J[3:, :n] = turn @ _body_rate_jacobian(state, self.link)
            matrices.append(J)
        return matrices


class SameFootprint(Coupling):
    """A contact location that touches a plane in two postures covers the same spot there: three equalities.

    The contacts themselves keep the location on the plane in both, so that this leaves nothing to be said about
    height and tilt, and says nothing twice.
    """

    def __init__(
        self, first: int, second: int, location: ContactLocation, placement_world_surface: pin.SE3 | None = None
    ) -> None:
        """Couple two postures.

        Args:
            first: index of a posture.
            second: index of another.
            location: which touches the plane in both.
            placement_world_surface: frame of the plane, z out of it; None takes the ground.
        """
        super().__init__(
            f"{location.name} on the same spot in postures {first} and {second}",
            (first, second),
            np.zeros(3),
            np.zeros(3),
            unit="m, rad",
        )
        self.location = location
        surface = pin.SE3.Identity() if placement_world_surface is None else placement_world_surface
        self._axes = np.array(surface.rotation).T

    def value(self, states: Sequence[PostureState]) -> NDArray[np.float64]:
        """(3,) offset along the plane's two axes, and angle of heading from the first posture to the second."""
        patch = self.location.placement_link_patch
        points = [state.kinematics.point(self.location.link, patch.translation) for state in states]
        headings = [state.kinematics.direction(self.location.link, patch.rotation[:, 0]) for state in states]
        sine, cosine = self._axes[2] @ np.cross(headings[0], headings[1]), headings[0] @ headings[1]
        return np.append(self._axes[:2] @ (points[1] - points[0]), math.atan2(sine, cosine))

    def jacobians(self, states: Sequence[PostureState]) -> Sequence[NDArray[np.float64]]:
        """(3, size) each."""
        patch, link = self.location.placement_link_patch, self.location.link
        headings = [state.kinematics.direction(link, patch.rotation[:, 0]) for state in states]
        normal = self._axes[2]
        sine, cosine = normal @ np.cross(headings[0], headings[1]), headings[0] @ headings[1]
        square = sine**2 + cosine**2
        matrices = []
        for state, sign, other in ((states[0], -1.0, headings[1]), (states[1], 1.0, headings[0])):
            J = np.zeros((3, state.size))
            n = state.first_force
            J[:2, :n] = sign * self._axes[:2] @ state.kinematics.point_jacobian(link, patch.translation)
            # normal . (first x second) is linear in each of the headings, as is their product
            by_heading = (cosine * sign * np.cross(normal, other) - sine * other) / square
            J[2, :n] = by_heading @ state.kinematics.direction_jacobian(link, patch.rotation[:, 0])
            matrices.append(J)
        return matrices


def _body_rate_jacobian(state: PostureState, link: str) -> NDArray[np.float64]:
    """(3, nx) from rates of the variables to the link's angular velocity in its own frame."""
    kinematics = state.kinematics
    R, _ = kinematics.placement(link)
    x, y, z = (kinematics.direction_jacobian(link, axis) for axis in np.eye(3))
    return np.array([R[:, 2] @ y, R[:, 0] @ z, R[:, 1] @ x])


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
