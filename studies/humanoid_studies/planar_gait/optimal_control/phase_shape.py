# SPDX-License-Identifier: Apache-2.0
"""What distinguishes two problems of one shape: the numbers that compiled expressions take as arguments.

Expressions of an optimal control problem depend on the mechanism's shape alone: which entries of E are there, which
points carry forces, which limits count. Masses, lengths, targets, weights and penalty factors are arguments, so that
the functions built for one step serve every other step, mass and weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.mechanism.planar_point import PlanarPoint
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem

Pattern = tuple[tuple[bool, bool], ...]
"""Of complex coefficients: whether the real and the imaginary part are there."""


@dataclass(frozen=True)
class PhaseShape:
    """Everything of a problem that isn't a number which the expressions take as an argument; hashable.

    Attributes:
        n: coordinates.
        turning: which of them are angles.
        phase: directions of those that are translations [rad].
        inertia: pattern of E above the diagonal, row by row.
        rotors: entries (i, j), i <= j, of the mass matrix that rotors add to.
        moments: pattern of nu.
        torque_columns: constant columns of the torques, as nested tuples.
        force_points: point and direction of each cut force.
        joint_rows: constant rows of the relative angles.
        damped: whether anything is damped.
        points: pattern of the coefficients of the points in use, by name.
        point_closures: their points.
        angle_closures: their coordinates.
        lower_joints: joints whose least angle counts.
        upper_joints: joints whose greatest angle counts.
        rated_joints: joints whose rate is limited.
        clear_points: points that stay clear of the ground.
        obstacles: number of bumps on the ground.
        rows: of each affine constraint, whether it depends on accelerations.
        turned_rows: whether one of them depends on angular accelerations by themselves, beside the total ground force.
        hard_closure: whether closures are rows of accelerations.
        hard_angles: whether closures by an angle are, too.
        hard_inequalities: whether state inequalities are constraints instead of penalties.
    """

    n: int
    turning: tuple[bool, ...]
    phase: tuple[float, ...]
    inertia: Pattern
    rotors: tuple[tuple[int, int], ...]
    moments: Pattern
    torque_columns: tuple[tuple[float, ...], ...]
    force_points: tuple[tuple[str, complex], ...]
    joint_rows: tuple[tuple[float, ...], ...]
    damped: bool
    points: tuple[tuple[str, Pattern], ...]
    point_closures: tuple[str, ...]
    angle_closures: tuple[int, ...]
    lower_joints: tuple[int, ...]
    upper_joints: tuple[int, ...]
    rated_joints: tuple[int, ...]
    clear_points: tuple[str, ...]
    obstacles: int
    rows: tuple[bool, ...]
    turned_rows: bool
    hard_closure: bool
    hard_angles: bool
    hard_inequalities: bool

    @property
    def control_count(self) -> int:
        """Number of controls."""
        return len(self.torque_columns) + len(self.force_points)

    @property
    def accelerated(self) -> bool:
        """Whether constraints depend on accelerations."""
        return self.hard_closure or any(self.rows)

    @property
    def equality_count(self) -> int:
        """Number of equality rows of the controls."""
        points = 2 * len(self.point_closures) if self.hard_closure else 0
        return points + (len(self.angle_closures) if self.hard_angles else 0)

    @property
    def inequality_count(self) -> int:
        """Number of state inequalities h(q, v) <= 0."""
        return len(self.lower_joints) + len(self.upper_joints) + 2 * len(self.rated_joints) + len(self.clear_points)


@dataclass(frozen=True, eq=False)
class PhaseParameters:
    """A problem's shape and the numbers that go with it.

    Attributes:
        shape: of the problem.
        values: numbers by name, in the order in which expressions take them.
    """

    shape: PhaseShape
    values: dict[str, Reals]

    @property
    def vector(self) -> Reals:
        """All numbers, one after the other."""
        return np.concatenate([np.ravel(value) for value in self.values.values()])


CLOSURE_RATE = 0.0
"""Rate at which a closure that is held by accelerations would return to zero; the ends fulfil it exactly [1/s]."""


def phase_parameters(problem: PhaseProblem) -> PhaseParameters:
    """Split a problem into its shape and its numbers."""
    model, tree, penalties = problem.model, problem.tree, problem.penalties
    upper = np.triu_indices(tree.n, 1)
    named = {force.point for force in model.cut_forces} | {closure.point for closure in model.point_closures}
    ranged = penalties.inequality * penalties.range_weight > 0.0 or problem.hard_inequalities
    rated = penalties.inequality * penalties.rate_weight > 0.0 or problem.hard_inequalities
    to_clear = model.points_to_clear(bool(penalties.obstacles))
    weights = {name: penalties.point_weights.get(name, penalties.clearance_weight) for name in to_clear}
    hard = problem.hard_inequalities
    clear = tuple(name for name in to_clear if penalties.inequality * weights[name] > 0.0 or hard)
    lower = tuple(int(j) for j in np.flatnonzero(np.isfinite(model.joint_lower))) if ranged else ()
    higher = tuple(int(j) for j in np.flatnonzero(np.isfinite(model.joint_upper))) if ranged else ()
    fast = tuple(int(j) for j in np.flatnonzero(np.isfinite(model.rate_limit))) if rated else ()
    points = sorted(named | set(clear))
    rows = problem.all_rows
    turned_rows = any(any(row.accelerations) for row in rows)
    rotors = tuple((int(i), int(j)) for i, j in zip(*np.nonzero(np.triu(tree.rotors)), strict=True))
    shape = PhaseShape(
        n=tree.n,
        turning=tuple(bool(value) for value in tree.turning),
        phase=tuple(float(value) for value in tree.phase),
        inertia=_pattern(tree.inertia[upper]),
        rotors=rotors,
        moments=_pattern(tree.moments),
        torque_columns=_nested(model.torque_matrix.T),
        force_points=tuple((force.point, complex(force.direction)) for force in model.cut_forces),
        joint_rows=_nested(model.joint_matrix),
        damped=bool(np.any(model.damping)),
        points=tuple((name, _pattern(_terms(model.points[name]))) for name in points),
        point_closures=tuple(closure.point for closure in model.point_closures),
        angle_closures=tuple(tree.index(closure.coordinate) for closure in model.angle_closures),
        lower_joints=lower,
        upper_joints=higher,
        rated_joints=fast,
        clear_points=clear,
        obstacles=len(penalties.obstacles),
        rows=tuple(row.accelerated for row in rows),
        turned_rows=turned_rows,
        hard_closure=problem.hard_closure,
        hard_angles=problem.hard_angles,
        hard_inequalities=problem.hard_inequalities,
    )
    targets = np.array([closure.target for closure in model.point_closures], dtype=complex)
    D = np.concatenate(
        [
            np.full(len(lower) + len(higher), penalties.range_weight),
            np.full(2 * len(fast), penalties.rate_weight),
            np.array([weights[name] for name in clear]),
        ]
    )
    values: dict[str, Reals] = {
        "inertia_diagonal": tree.inertia.diagonal().real.copy(),
        "inertia_re": tree.inertia[upper].real,
        "inertia_im": tree.inertia[upper].imag,
        "rotors": np.array([tree.rotors[entry] for entry in rotors]),
        "moments_re": tree.moments.real,
        "moments_im": tree.moments.imag,
        "gravity": np.array([tree.gravity]),
        "mass": np.array([tree.mass]),
        "damping": model.damping,
        "effort": problem.effort.diagonal(model),
        "time_weight": np.array([problem.effort.time_weight]),
        "closure_factor": np.array([0.0 if problem.hard_closure else penalties.closure]),
        "slap_factor": np.array([penalties.slap]),
        "closure_rate": np.array([CLOSURE_RATE]),
        "inequality_factors": penalties.inequality * D,
        "targets_re": targets.real,
        "targets_im": targets.imag,
        "angle_targets": np.array([closure.target for closure in model.angle_closures]),
        "joint_lower": model.joint_lower[list(lower)],
        "joint_upper": model.joint_upper[list(higher)],
        "rate_limit": model.rate_limit[list(fast)],
        "clearance": np.array([penalties.clearance]),
        "obstacles": np.array([obstacle.coefficients() for obstacle in penalties.obstacles]),
        "row_ground": np.array([row.ground for row in rows]),
        "row_accelerations": np.array([row.on_accelerations(tree.n) for row in rows]) if turned_rows else np.zeros(0),
        "row_controls": np.array([row.controls for row in rows]),
        "row_constant": np.array([row.constant for row in rows]),
    }
    for name in points:
        terms = _terms(model.points[name])
        values[f"point_{name}_re"], values[f"point_{name}_im"] = terms.real, terms.imag
    return PhaseParameters(shape, values)


def _terms(point: PlanarPoint) -> NDArray[np.complex128]:
    """(n + 1,) coefficients of a point, its constant part last."""
    return np.append(point.coefficients, point.origin)


def _pattern(values: NDArray[np.complex128]) -> Pattern:
    return tuple((bool(value.real != 0.0), bool(value.imag != 0.0)) for value in values)


def _nested(matrix: Reals) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(value) for value in row) for row in matrix)
