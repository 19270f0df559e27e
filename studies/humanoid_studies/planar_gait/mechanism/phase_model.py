# SPDX-License-Identifier: Apache-2.0
"""One phase of a motion: a planar tree with its actuators, cut forces and closures, affine in the controls.

The loop that the contacts close is cut; the forces at the cut are controls like the torques (specification 003 section
2.7), and g(q) = 0 is left to whoever optimises. With x = (q, p) in R^2n and controls u in R^N

    x' = F(x) + B(x) u:   q' = M^-1 p,   p' = v^T M_{,q} v / 2 - V_{,q} - D v + Bp(q) u,   Bp = [C, G_r^T(q)].

Interface (leading axes vectorise; N columns of controls, torques first, in the order of the thesis):

    model.tree, model.n, model.control_names, model.control_count, model.torque_count
    model.control_lower, model.control_upper     bounds of a control alone (inf where there is none)
    model.control_matrix(q)      Bp              (..., n, N)      columns: torque_matrix (constant), then cut forces
    model.state_rate(x, u)       x'              (..., 2n)
    model.momentum_rate(q, v, u) p'              (..., n)
    model.acceleration(q, v, u)  v'              (..., n)
    model.closure(q), .closure_jacobian(q)       g (..., m) [m], G_r (..., m, n): every point closure, x and y each
    model.closure_hessian(q)                     (..., m, n) diagonals of the second derivatives of g
    model.slap(q)                                (..., k) angles of closures by an angle: delta of a foot coming down
    model.angle_closures                         their coordinates and targets
    model.joint_angles(q), model.joint_rates(v)  (..., joints) relative angles and rates, of joint_names
    model.joint_lower, .joint_upper, .rate_limit ranges of them (inf where there is none)
    model.robot_angles(q), .robot_rates(v), .robot_torques(u)   the same as the robot counts: flexion positive
    model.torque_rates(v)                        (..., torques) rate that each torque works on: power = u * rate
    model.points["heel"]                         PlanarPoint
    model.contacts                               which controls press and which rub at a cut contact, and its friction
    model.damping                                (n, n) D, symmetric

The same as casadi expressions: :class:`humanoid_studies.planar_gait.mechanism.casadi_tree.CasadiPhase`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.planar_point import PlanarPoint
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree


@dataclass(frozen=True)
class Torque:
    """A torque between two bodies: +u on the one, -u on the other.

    Attributes:
        name: of the control.
        on: coordinate of the body that it turns forward; None for the base.
        by: coordinate of the body that it leans on; None for the base.
        lower: least torque [N m].
        upper: greatest torque [N m].
    """

    name: str
    on: str | None
    by: str | None
    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True)
class CutForce:
    """A force component of constant direction at a point, where a loop was cut.

    Attributes:
        name: of the control.
        point: name of the point in the model.
        direction: unit complex number: 1 along X, 1j along Y.
        lower: least force [N].
        upper: greatest force [N].
    """

    name: str
    point: str
    direction: complex
    lower: float = -math.inf
    upper: float = math.inf


@dataclass(frozen=True)
class PointClosure:
    """A point that has to be at a place: two rows of g.

    Attributes:
        point: name of the point in the model.
        target: where it belongs [m].
    """

    point: str
    target: complex


@dataclass(frozen=True)
class AngleClosure:
    """An absolute angle that has to reach a value: delta(q) = q_j - target.

    Attributes:
        coordinate: name of the angle.
        target: its value [rad].
    """

    coordinate: str
    target: float


@dataclass(frozen=True)
class Joint:
    """A relative angle q_child - q_parent with its range, for limits, damping and reports.

    Attributes:
        name: of the joint.
        child: coordinate that is counted; None for the base.
        parent: coordinate that it is counted from; None for the base.
        lower: least angle [rad].
        upper: greatest angle [rad].
        rate_limit: greatest absolute rate [rad/s].
        damping: viscous coefficient [N m s/rad].
        sign: of the relative angle in the robot's own count: angle = sign (q_child - q_parent - offset).
        offset: relative angle at which the robot counts zero [rad].
    """

    name: str
    child: str | None
    parent: str | None
    lower: float = -math.inf
    upper: float = math.inf
    rate_limit: float = math.inf
    damping: float = 0.0
    sign: int = 1
    offset: float = 0.0


@dataclass(frozen=True)
class CutContact:
    """Controls of one unilateral contact at the cut.

    Attributes:
        name: of the contact.
        normal: names of the controls that press; none may pull.
        tangential: name of the control along the ground.
        friction: Coulomb coefficient, |tangential| <= friction * sum of normals; inf when not limited.
    """

    name: str
    normal: tuple[str, ...]
    tangential: str
    friction: float = math.inf


@dataclass(frozen=True, eq=False)
class PhaseModel:
    """A planar tree with efforts and closures; see the module's docstring.

    Attributes:
        name: of the model.
        tree: bodies and coordinates.
        torques: actuators.
        cut_forces: force components at the cuts.
        points: places of interest by name; cut forces and closures refer to them.
        point_closures: positions that close the loops.
        angle_closures: angles that close them.
        joints: relative angles with ranges and damping.
        contacts: unilateral contacts among the cut forces.
        clearance_points: names of the points that have to stay above the ground.
        obstacle_points: names of further ones, that have to stay above what stands on it: on level ground the ends of a
            sole tell of all of it, over an edge or a bump its middle counts.
    """

    name: str
    tree: PlanarTree
    torques: tuple[Torque, ...]
    cut_forces: tuple[CutForce, ...] = ()
    points: Mapping[str, PlanarPoint] = field(default_factory=dict)
    point_closures: tuple[PointClosure, ...] = ()
    angle_closures: tuple[AngleClosure, ...] = ()
    joints: tuple[Joint, ...] = ()
    contacts: tuple[CutContact, ...] = ()
    clearance_points: tuple[str, ...] = ()
    obstacle_points: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that names refer to what is there and bounds don't cross.

        Raises:
            InputError: an unknown coordinate, point or control, a name twice, a bound that is NaN or crosses the
                other one, a negative rate limit, damping or friction.
        """
        names = [*(torque.name for torque in self.torques), *(force.name for force in self.cut_forces)]
        _unique(names, f"{self.name}: control")
        _unique([joint.name for joint in self.joints], f"{self.name}: joint")
        for torque in self.torques:
            self._ends(torque.on, torque.by)
            _ordered(torque.name, torque.lower, torque.upper)
        for force in self.cut_forces:
            _known(force.point, self.points, f"{self.name}: {force.name}")
            _ordered(force.name, force.lower, force.upper)
            if not abs(abs(force.direction) - 1.0) <= 1e-12:
                raise InputError(
                    f"direction {force.direction} is not of length 1", element=force.name, remedy="Give a unit vector"
                )
        for closure in self.point_closures:
            _known(closure.point, self.points, f"{self.name}: closure")
            if not np.isfinite(closure.target):
                raise InputError(f"target {closure.target}", element=closure.point, remedy="Give a finite place")
        for angle in self.angle_closures:
            self.tree.index(angle.coordinate)
            if not math.isfinite(angle.target):
                raise InputError(f"target {angle.target}", element=angle.coordinate, remedy="Give a finite angle")
        for point in (*self.clearance_points, *self.obstacle_points):
            _known(point, self.points, f"{self.name}: clearance")
        for joint in self.joints:
            self._ends(joint.child, joint.parent)
            _ordered(joint.name, joint.lower, joint.upper)
            if not joint.rate_limit > 0.0:
                raise InputError(
                    f"is {joint.rate_limit}", element=f"{joint.name}.rate_limit", remedy="Give more than 0"
                )
            if not (math.isfinite(joint.damping) and joint.damping >= 0.0):
                raise InputError(f"is {joint.damping}", element=f"{joint.name}.damping", remedy="Give 0 or more")
        for contact in self.contacts:
            for control in (*contact.normal, contact.tangential):
                _known(control, names, f"{self.name}: {contact.name}")
            if not contact.friction >= 0.0:
                raise InputError(f"is {contact.friction}", element=f"{contact.name}.friction", remedy="Give 0 or more")

    @property
    def n(self) -> int:
        """Number of coordinates; the state has 2 n entries."""
        return self.tree.n

    @property
    def torque_count(self) -> int:
        """Number n_a of torques."""
        return len(self.torques)

    @property
    def control_count(self) -> int:
        """Number N = n_a + m of controls."""
        return len(self.torques) + len(self.cut_forces)

    @property
    def closure_count(self) -> int:
        """Number m of rows of g: two for each point."""
        return 2 * len(self.point_closures)

    def points_to_clear(self, obstacles: bool) -> tuple[str, ...]:
        """Return names of the points that have to stay above the ground, with or without obstacles on it."""
        return self.clearance_points + (self.obstacle_points if obstacles else ())

    @functools.cached_property
    def control_names(self) -> tuple[str, ...]:
        """Names of the controls, torques first."""
        return (*(torque.name for torque in self.torques), *(force.name for force in self.cut_forces))

    @functools.cached_property
    def control_lower(self) -> Array:
        """(N,) least values of the controls."""
        return np.array([*(torque.lower for torque in self.torques), *(force.lower for force in self.cut_forces)])

    @functools.cached_property
    def control_upper(self) -> Array:
        """(N,) greatest values of the controls."""
        return np.array([*(torque.upper for torque in self.torques), *(force.upper for force in self.cut_forces)])

    @functools.cached_property
    def torque_matrix(self) -> Array:
        """(n, n_a) constant C of Q^a = C C^a, equation (I.6)."""
        return self._differences([(torque.on, torque.by) for torque in self.torques])

    @functools.cached_property
    def joint_matrix(self) -> Array:
        """(joints, n) of the relative angles phi = J q."""
        return self._differences([(joint.child, joint.parent) for joint in self.joints]).T

    @functools.cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the relative angles."""
        return tuple(joint.name for joint in self.joints)

    @functools.cached_property
    def joint_lower(self) -> Array:
        """(joints,) least relative angles [rad]."""
        return np.array([joint.lower for joint in self.joints])

    @functools.cached_property
    def joint_upper(self) -> Array:
        """(joints,) greatest relative angles [rad]."""
        return np.array([joint.upper for joint in self.joints])

    @functools.cached_property
    def rate_limit(self) -> Array:
        """(joints,) greatest absolute relative rates [rad/s]."""
        return np.array([joint.rate_limit for joint in self.joints])

    @functools.cached_property
    def damping(self) -> Array:
        """(n, n) D of Q^d = -D v: symmetric and positive semidefinite (section 2.8.1)."""
        weights = np.array([joint.damping for joint in self.joints])
        return np.asarray(self.joint_matrix.T @ (weights[:, None] * self.joint_matrix))

    def control_matrix(self, q: ArrayLike) -> Array:
        """(..., n, N) Bp(q) = [C, G_r^T(q)], equation (I.23)."""
        angles = np.asarray(q, dtype=float)
        lead = angles.shape[:-1]
        matrix = np.empty((*lead, self.n, self.control_count))
        matrix[..., : self.torque_count] = self.torque_matrix
        jacobians = {name: self.points[name].jacobian(angles) for name in {f.point for f in self.cut_forces}}
        for column, force in enumerate(self.cut_forces, start=self.torque_count):
            J = jacobians[force.point]
            matrix[..., column] = force.direction.real * J[..., 0, :] + force.direction.imag * J[..., 1, :]
        return matrix

    def momentum_rate(self, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> Array:
        """(..., n) p' = v^T M_{,q} v / 2 - V_{,q} - D v + Bp u."""
        velocity = np.asarray(v, dtype=float)
        efforts = (self.control_matrix(q) @ np.asarray(u, dtype=float)[..., None])[..., 0]
        return np.asarray(self.tree.momentum_rate(q, velocity) - velocity @ self.damping + efforts)

    def state_rate(self, x: ArrayLike, u: ArrayLike) -> Array:
        """(..., 2n) x' = F(x) + B(x) u, equation (I.25)."""
        state = np.asarray(x, dtype=float)
        q, p = state[..., : self.n], state[..., self.n :]
        v = self.tree.velocity(q, p)
        return np.concatenate([v, self.momentum_rate(q, v, u)], axis=-1)

    def acceleration(self, q: ArrayLike, v: ArrayLike, u: ArrayLike) -> Array:
        """(..., n) v' under controls u."""
        return self.tree.acceleration(q, v, self.momentum_rate(q, v, u))

    def state(self, q: ArrayLike, v: ArrayLike) -> Array:
        """(..., 2n) x = (q, M v)."""
        return np.concatenate([np.asarray(q, dtype=float), self.tree.momentum(q, v)], axis=-1)

    def closure(self, q: ArrayLike) -> Array:
        """(..., m) g(q): places of the closing points less their targets, x then y of each [m]."""
        angles = np.asarray(q, dtype=float)
        gaps = [
            self.points[closure.point].position(angles) - np.array([closure.target.real, closure.target.imag])
            for closure in self.point_closures
        ]
        return np.concatenate(gaps, axis=-1) if gaps else np.zeros((*angles.shape[:-1], 0))

    def closure_jacobian(self, q: ArrayLike) -> Array:
        """(..., m, n) G_r(q), equation (I.2)."""
        angles = np.asarray(q, dtype=float)
        rows = [self.points[closure.point].jacobian(angles) for closure in self.point_closures]
        return np.concatenate(rows, axis=-2) if rows else np.zeros((*angles.shape[:-1], 0, self.n))

    def closure_hessian(self, q: ArrayLike) -> Array:
        """(..., m, n) diagonals of the second derivatives of g; all else of them is zero."""
        angles = np.asarray(q, dtype=float)
        rows = [self.points[closure.point].hessian(angles) for closure in self.point_closures]
        return np.concatenate(rows, axis=-2) if rows else np.zeros((*angles.shape[:-1], 0, self.n))

    def slap(self, q: ArrayLike) -> Array:
        """(..., k) angles of the angle closures less their targets: delta(q) [rad]."""
        angles = np.asarray(q, dtype=float)
        columns = [self.tree.index(closure.coordinate) for closure in self.angle_closures]
        return np.asarray(angles[..., columns] - np.array([closure.target for closure in self.angle_closures]))

    def joint_angles(self, q: ArrayLike) -> Array:
        """(..., joints) relative angles [rad]."""
        return np.asarray(np.asarray(q, dtype=float) @ self.joint_matrix.T)

    def joint_rates(self, v: ArrayLike) -> Array:
        """(..., joints) relative rates [rad/s]."""
        return np.asarray(np.asarray(v, dtype=float) @ self.joint_matrix.T)

    def robot_angles(self, q: ArrayLike) -> Array:
        """(..., joints) angles as the robot counts them, flexion of knees positive for example [rad]."""
        return np.asarray((self.joint_angles(q) - self._joint_offsets) * self._joint_signs)

    def robot_rates(self, v: ArrayLike) -> Array:
        """(..., joints) rates of :meth:`robot_angles` [rad/s]."""
        return np.asarray(self.joint_rates(v) * self._joint_signs)

    def robot_torques(self, u: ArrayLike) -> Array:
        """(..., joints) torques that work on :meth:`robot_angles`, zero at joints without actuator [N m].

        Raises:
            InputError: an actuator works between other bodies than those of a joint.
        """
        torques = np.asarray(u, dtype=float)[..., : self.torque_count]
        ends = [(joint.child, joint.parent) for joint in self.joints]
        result = np.zeros((*torques.shape[:-1], len(ends)))
        for column, torque in enumerate(self.torques):
            if (torque.on, torque.by) not in ends:
                raise InputError(
                    "works on none of the joints", element=torque.name, remedy="Give a joint of its two ends"
                )
            result[..., ends.index((torque.on, torque.by))] += torques[..., column]
        return np.asarray(result * self._joint_signs)

    @functools.cached_property
    def _joint_signs(self) -> Array:
        return np.array([float(joint.sign) for joint in self.joints])

    @functools.cached_property
    def _joint_offsets(self) -> Array:
        return np.array([joint.offset for joint in self.joints])

    def torque_rates(self, v: ArrayLike) -> Array:
        """(..., n_a) rate that each torque works on [rad/s]: its power is u times this."""
        return np.asarray(np.asarray(v, dtype=float) @ self.torque_matrix)

    def redundancy(self, q: ArrayLike) -> int:
        """Dimension of ker Bp - that of the unactuated rest: n_a + m - n (section 2.29); negative if under-actuated.

        Raises:
            InputError: Bp loses rank at this configuration.
        """
        matrix = self.control_matrix(q)
        full = min(matrix.shape[-2:])
        if int(np.linalg.matrix_rank(matrix)) < full:
            raise InputError(
                f"efforts have rank {np.linalg.matrix_rank(matrix)}, not {full}",
                element=self.name,
                remedy="Choose a configuration that isn't singular",
            )
        return self.control_count - self.n

    def replace(self, **changes: object) -> PhaseModel:
        """Return the model with some of its attributes changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]

    def with_bounds(self, **bounds: tuple[float, float]) -> PhaseModel:
        """Return the model with other (lower, upper) bounds of controls, by their names.

        Raises:
            InputError: an unknown control, or bounds that cross.
        """
        for name in bounds:
            _known(name, self.control_names, self.name)
        return self.replace(
            torques=tuple(_bounded(effort, bounds) for effort in self.torques),
            cut_forces=tuple(_bounded(effort, bounds) for effort in self.cut_forces),
        )

    def _ends(self, first: str | None, second: str | None) -> None:
        for name in (first, second):
            if name is not None:
                self.tree.index(name)

    def _differences(self, pairs: Sequence[tuple[str | None, str | None]]) -> Array:
        """(n, pairs) columns e_first - e_second."""
        matrix = np.zeros((self.n, len(pairs)))
        for column, (first, second) in enumerate(pairs):
            if first is not None:
                matrix[self.tree.index(first), column] += 1.0
            if second is not None:
                matrix[self.tree.index(second), column] -= 1.0
        return matrix


Effort = TypeVar("Effort", Torque, CutForce)


def _bounded(effort: Effort, bounds: Mapping[str, tuple[float, float]]) -> Effort:
    """Return the effort with the bounds that its name has among ``bounds``."""
    if effort.name not in bounds:
        return effort
    lower, upper = bounds[effort.name]
    return dataclasses.replace(effort, lower=lower, upper=upper)


def _unique(names: Sequence[str], kind: str) -> None:
    for name in names:
        if list(names).count(name) > 1:
            raise InputError(f"two of the name '{name}'", element=kind, remedy="Give each a name of its own")


def _known(name: str, known: Mapping[str, object] | Sequence[str], element: str) -> None:
    if name not in known:
        raise InputError(f"unknown name '{name}'", element=element, remedy=f"Use one of {', '.join(known)}")


def _ordered(name: str, lower: float, upper: float) -> None:
    if not lower <= upper or lower == math.inf or upper == -math.inf:
        raise InputError(
            f"bounds {lower} and {upper} cross", element=name, remedy="Let the lower be below the upper one"
        )
