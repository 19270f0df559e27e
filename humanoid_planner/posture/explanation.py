# SPDX-License-Identifier: Apache-2.0
"""Why there is no posture: what is violated, what is in conflict, and what would have to be removed.

Before any search, a proof: two places that are farther apart than the robot can stretch.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from humanoid_model.tree.kinematic_tree import PRISMATIC
from humanoid_planner.kinematics.robot_variables import RobotVariables
from humanoid_planner.optimisation.program import NonlinearProgram, SolverOptions, SolverResult
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program
from humanoid_planner.posture.posture_result import Violation
from humanoid_planner.posture.problem import PostureProblem
from humanoid_planner.posture.program import PostureProgram
from humanoid_planner.posture.tasks.collision_task import CollisionTask
from humanoid_planner.posture.tasks.contact import PlacedContact
from humanoid_planner.posture.tasks.force_tasks import (
    ForceBalance,
    FrictionCones,
    FrictionPyramids,
    TorqueLimits,
    TorqueVariables,
)
from humanoid_planner.posture.tasks.geometric_rows import COM_DISTANCE, DISTANCE, POINT
from humanoid_planner.posture.tasks.task import GeometricTask, Task

#: What places are allowed to be too far apart by, for rounding and the solvers' tolerances [m].
_TOLERANCE = 1e-4
#: Stands for the centre of mass where a body's number does for the body.
_CENTRE = -1
#: What was found of pairs of points: the same few contact locations and tasks are asked for again and again.
_LONGEST: WeakKeyDictionary[RobotVariables, dict[tuple[int, bytes, int, bytes], float]] = WeakKeyDictionary()


@dataclass(frozen=True)
class _Anchor:
    """A point of a body, or the centre of mass, that has to be at a place in the world, or within a distance of it."""

    name: str
    body: int
    point: NDArray[np.float64]
    place: NDArray[np.float64]
    slack: float


def out_of_reach(variables: RobotVariables, contacts: Iterable[PlacedContact], tasks: Iterable[Task]) -> str:
    """Why no posture holds two of the contacts and point tasks at a time; empty where their distances don't say so.

    Along the chain of joints between two points the offsets add up to the longest distance that any joint angles give.
    This is a bound, which limits of joints can make much shorter: what is within it needn't be reachable.

    Args:
        variables: of the robot.
        contacts: to hold.
        tasks: to fulfil; those that hold a point or the centre of mass at a place count.
    """
    anchors = [
        _Anchor(
            placed.label,
            placed.body,
            placed.placement_body_patch.translation,
            placed.placement_ground_contact.translation,
            0.0,
        )
        for placed in contacts
        if placed.fixed_in_world
    ]
    anchors += [anchor for task in tasks if isinstance(task, GeometricTask) for anchor in _held_points(task)]
    if variables.base is None:
        anchors.append(_Anchor("the robot's base", 0, np.zeros(3), np.zeros(3), 0.0))
    for one, other in itertools.combinations(anchors, 2):
        apart = float(np.linalg.norm(one.place - other.place)) - one.slack - other.slack
        known = _LONGEST.setdefault(variables, {})
        pair = one.body, one.point.tobytes(), other.body, other.point.tobytes()
        if pair not in known:
            known[pair] = _longest(variables, one, other)
        most = known[pair]
        if apart > most + _TOLERANCE:
            return (
                f"{one.name} and {other.name} are {apart:.2f} m apart, and the robot reaches {most:.2f} m between them"
            )
    return ""


def _held_points(task: GeometricTask) -> list[_Anchor]:
    """Return points that a task holds at places in the world, or near to them."""
    anchors, held = [], [row for row in task.rows if row.b == 0]
    for row in held:
        if row.kind == DISTANCE and math.isfinite(row.upper):
            anchors.append(_Anchor(task.name, row.a, row.P, row.Q, row.upper))
        elif row.kind == COM_DISTANCE and math.isfinite(row.upper):
            anchors.append(_Anchor(task.name, _CENTRE, np.zeros(3), row.Q, row.upper))
    exact = [row for row in held if row.kind == POINT and row.lower == row.upper == 0.0]
    for rows in zip(exact, exact[1:], exact[2:], strict=False):
        first = rows[0]
        same = all(row.a == first.a and row.P is first.P and row.Q is first.Q for row in rows)
        if same and abs(np.linalg.det([row.w for row in rows])) > 0.5:
            anchors.append(_Anchor(task.name, first.a, first.P, first.Q, 0.0))
    return anchors


def _longest(variables: RobotVariables, one: _Anchor, other: _Anchor) -> float:
    """Return the bound of the distance of two points of the robot [m]; the centre of mass is a mean of points."""
    if _CENTRE in (one.body, other.body):
        point = other if one.body == _CENTRE else one
        if point.body == _CENTRE:
            return 0.0
        joints = variables.tree.joints
        bounds = [
            joint["mass"] * _longest(variables, point, _Anchor("", body, joint["lever"], point.place, 0.0))
            for body, joint in enumerate(joints)
            if joint["mass"] > 0.0
        ]
        return float(sum(bounds)) / variables.total_mass
    chains = [_chain(variables, anchor.body) for anchor in (one, other)]
    common = 0
    while common < min(map(len, chains)) and chains[0][common] == chains[1][common]:
        common += 1
    total, ends = 0.0, []
    for anchor, chain in zip((one, other), chains, strict=True):
        # From the point towards the body that both chains have in common; the last offset is fixed in that body.
        end = anchor.point
        for body in reversed(chain[common:]):
            total += float(np.linalg.norm(end)) + _travel(variables, body)
            end = variables.tree.joints["translation"][body]
        ends.append(end)
    return total + float(np.linalg.norm(ends[0] - ends[1]))


def _chain(variables: RobotVariables, body: int) -> list[int]:
    """Bodies from the root to one; none for the world."""
    return [k + 1 for k in variables.tree.chain(body)]


def _travel(variables: RobotVariables, body: int) -> float:
    """Return how far a body's joint moves it at most [m]; inf for those of a floating base."""
    joint = variables.tree.joints[body]
    if joint["kind"] != PRISMATIC:
        return 0.0
    column = joint["idx_q"]
    ends = joint["factor"] * np.array([variables.lower[column], variables.upper[column]]) + joint["offset"]
    return float(np.abs(ends).max())


#: Names of constraints that only make sense together.
EQUILIBRIUM = "equilibrium with forces in the friction cones"
#: What shapes may be deeper in each other than in the robot's own postures [m].
DEEPER = 1e-3
#: How close to its bound a constraint has to be to push against others, in the solver's scale.
_NEAR = 1e-4
#: Square of a push beside that of what the pushes leave unbalanced: shares a pull evenly among equal constraints.
_EVENNESS = 1e-9
#: Share of the largest push below which a constraint isn't named.
_SHARE = 0.02
#: Conflicting constraints that are tried for removal.
_MAX_REMOVALS = 6

Solve = Callable[[NonlinearProgram, NDArray[np.float64]], SolverResult | None]


@dataclass(frozen=True)
class Conflict:
    """Constraints that can't be fulfilled together.

    Attributes:
        names: of tasks, limits and pairs, the strongest first.
        removal: the one without which the solver found a posture; empty when there is none.
    """

    names: tuple[str, ...]
    removal: str


def find_violations(problem: PostureProblem, x: NDArray[np.float64], options: SolverOptions) -> tuple[Violation, ...]:
    """Constraints and bounds that a point breaks by more than the tolerances, the worst first."""
    program = problem.program
    values = program.constraints(x)
    lower, upper = program.constraint_lower, program.constraint_upper
    tolerance = np.where(lower == upper, options.equality_tolerance, options.inequality_tolerance)
    found = []
    below, above = lower - values, values - upper
    for row in np.flatnonzero(np.maximum(below, above) > tolerance):
        scale, bound = program.scale[row], lower[row] if below[row] > above[row] else upper[row]
        found.append(
            Violation(
                program.row_labels[row],
                float(values[row] * scale),
                float(bound * scale),
                program.row_units[row],
                float(max(below[row], above[row])),
            )
        )
    names = problem.kinematics.names
    below, above = program.lower - x, x - program.upper
    for index in np.flatnonzero(np.maximum(below, above) > options.inequality_tolerance):
        low = below[index] > above[index]
        bound = program.lower[index] if low else program.upper[index]
        name = f"{names[index]} {'lower' if low else 'upper'} limit" if index < len(names) else f"variable {index}"
        found.append(Violation(name, float(x[index]), float(bound), "rad or m", float(max(below[index], above[index]))))
    return tuple(sorted(found, key=lambda violation: -violation.excess))


def find_overlaps(problem: PostureProblem, x: NDArray[np.float64]) -> tuple[Violation, ...]:
    """Shapes of the robot that are deeper in each other than in its own postures, the worst first.

    Volumes around them keep those apart that can be kept apart by a distance.
    """
    itself = None if problem.collisions is None else problem.collisions.itself
    found = [] if itself is None else itself.overlaps(problem.posture(x), DEEPER)
    violations = [
        Violation(f"collision {one.first} {one.second}", -one.depth, -one.allowed, "m", one.depth - one.allowed)
        for one in found
    ]
    return tuple(sorted(violations, key=lambda violation: -violation.excess))


def find_conflict(
    problem: PostureProblem,
    x: NDArray[np.float64],
    x0: NDArray[np.float64],
    solve: Solve | None,
    options: SolverOptions,
) -> Conflict:
    """Return the constraints that hold each other back at a least-violating point.

    There the violated constraints, each pulling as hard as it is violated, are in balance with pushes of constraints
    that are at their bounds. These pushes are found by non-negative least squares; what pulls or pushes is in
    conflict. Then each is taken away in turn, the strongest first, and the problem solved again.

    Args:
        problem: that has no solution nearby.
        x: (n,) least-violating point.
        x0: (n,) where the search for it began, and begins again without a constraint.
        solve: solves a problem from a start, or gives None when there is no time left for it; None leaves the removal
            out.
        options: tolerances of the search.
    """
    program = problem.program
    groups, names = _groups(problem)
    values, J = program.constraints(x).copy(), program.jacobian(x).copy()
    lower, upper = program.constraint_lower, program.constraint_upper
    pull = np.zeros(program.size)
    strength: dict[int, float] = {}
    below, above = lower - values, values - upper
    for row in np.flatnonzero(np.maximum(below, above) > options.inequality_tolerance):
        excess = above[row] if above[row] > below[row] else -below[row]
        pull += excess * J[row]
        strength[groups[row]] = strength.get(groups[row], 0.0) + abs(excess) * float(np.linalg.norm(J[row]))
    columns, owners = [], []
    for row in range(len(values)):
        for gap, sign in ((above[row], 1.0), (below[row], -1.0)):
            if np.isfinite(gap) and -_NEAR < gap <= options.inequality_tolerance:
                columns.append(sign * J[row])
                owners.append(groups[row])
    count = len(names)
    nx = problem.state.first_force
    for index in range(program.size):
        for gap, sign in ((x[index] - program.upper[index], 1.0), (program.lower[index] - x[index], -1.0)):
            if np.isfinite(gap) and gap > -_NEAR:
                column = np.zeros(program.size)
                column[index] = sign
                columns.append(column)
                # A normal force at zero belongs to the equilibrium, a joint at its limit stands for itself.
                owners.append(
                    count + index if index < nx else names.index(EQUILIBRIUM) if EQUILIBRIUM in names else count + index
                )
    if columns:
        for owner, push in zip(owners, _pushes(np.array(columns).T, pull), strict=True):
            strength[owner] = strength.get(owner, 0.0) + float(push)
    if not strength:
        return Conflict((), "")
    most = max(strength.values())
    strong = sorted(
        (owner for owner in strength if strength[owner] > _SHARE * most), key=lambda owner: -strength[owner]
    )

    def name_of(owner: int) -> str:
        if owner < count:
            return names[owner]
        return (
            f"limits of {problem.kinematics.names[owner - count]}"
            if owner - count < nx
            else "bounds of extra variables"
        )

    found = tuple(dict.fromkeys(name_of(owner) for owner in strong))
    removal = ""
    if solve is not None:
        for owner in strong[:_MAX_REMOVALS]:
            reduced = _Without(program, groups == owner, owner - count if owner >= count else None)
            found_one = solve(reduced, x0)
            if found_one is None:
                break
            if found_one.residual <= min(options.equality_tolerance, options.inequality_tolerance):
                removal = name_of(owner)
                break
    return Conflict(found, removal)


def _pushes(columns: NDArray[np.float64], pull: NDArray[np.float64]) -> NDArray[np.float64]:
    """Non-negative pushes (k,) along columns (n, k), taken as unit vectors, that balance a pull (n,) best.

    Least squares; scipy 1.15's own ``nnls`` stops short of the minimum now and then.
    """
    count = columns.shape[1]
    lengths = np.linalg.norm(columns, axis=0)
    directions = columns / np.where(lengths > 0.0, lengths, 1.0)
    H = directions.T @ directions + _EVENNESS * np.eye(count)
    nothing = np.zeros(0)
    rows = np.zeros((0, count)), nothing, nothing
    program = QuadraticProgram(H, directions.T @ pull, *rows, np.zeros(count), np.full(count, np.inf))
    solution = solve_quadratic_program(program)
    return np.zeros(count) if solution is None else solution.x


def describe(violations: tuple[Violation, ...], conflict: Conflict, starts: int, impossible: str) -> str:
    """Return the reason in one or a few sentences.

    Args:
        violations: of the least-violating posture, the worst first.
        conflict: what holds each other back there.
        starts: searches made.
        impossible: why there is no posture at all, where that is known.
    """
    worst = "; ".join(str(violation) for violation in violations[:3])
    more = f" and {len(violations) - 3} more" if len(violations) > 3 else ""
    parts = [f"There is none: {impossible}"] if impossible else []
    searches = f" from {starts} starts" if starts > 1 else ""
    parts.append(f"No posture found{searches}: {worst}{more}")
    if len(conflict.names) > 1:
        parts.append(f"These hold each other back: {', '.join(conflict.names[:8])}")
    if conflict.removal:
        parts.append(f"Without '{conflict.removal}' there is a posture")
    return ". ".join(parts) + "."


def _groups(problem: PostureProblem) -> tuple[NDArray[np.int64], list[str]]:
    """For each row the index of a name: its task's, but pairs and torques one by one, equilibrium with its cones."""
    program = problem.program
    names: list[str] = []
    groups = np.zeros(len(program.row_tasks), dtype=np.int64)
    place: dict[str, int] = {}
    for row, owner in enumerate(program.row_tasks):
        task = program.tasks[owner]
        if isinstance(task, (CollisionTask, TorqueLimits)):
            name = program.row_labels[row]
        elif isinstance(task, (ForceBalance, FrictionCones, FrictionPyramids, TorqueVariables)):
            name = EQUILIBRIUM
        else:
            name = task.name
        if name not in place:
            place[name] = len(names)
            names.append(name)
        groups[row] = place[name]
    return groups, names


class _Without(NonlinearProgram):
    """A posture program some of whose rows, or the bounds of one variable, are free."""

    def __init__(self, program: PostureProgram, freed: NDArray[np.bool_], variable: int | None) -> None:
        self._program = program
        self.lower, self.upper = program.lower.copy(), program.upper.copy()
        if variable is not None:
            self.lower[variable], self.upper[variable] = -np.inf, np.inf
        self._kept = np.flatnonzero(~freed)
        self.constraint_lower = program.constraint_lower[self._kept]
        self.constraint_upper = program.constraint_upper[self._kept]
        self.linear = program.linear[self._kept]

    def objective(self, x: NDArray[np.float64]) -> float:
        return self._program.objective(x)

    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._program.objective_gradient(x)

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        return self._program.objective_hessian(x)

    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._program.constraints(x)[self._kept])

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self._program.jacobian(x)[self._kept])
