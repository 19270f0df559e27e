# SPDX-License-Identifier: Apache-2.0
r"""Articulated-body algorithm: accelerations from efforts in one pass inwards and one outwards.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, §7.3. Velocities and gravity are in the bias b of the recursive
Newton-Euler algorithm, so that the two passes solve :math:`M \dot v = \tau - b` without either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_codegen.algorithms.newton_euler_body import add_child_wrench, joint_efforts, joint_motion
from humanoid_codegen.algorithms.symmetric_solve import Factor, factorize, solve
from humanoid_codegen.inertia import BodyInertia
from humanoid_codegen.joint_transform import JointTransform, joint_transform
from humanoid_codegen.mechanism import Mechanism
from humanoid_codegen.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    apply,
    apply_transpose,
    cross,
    scale,
    subtract,
    transpose,
)
from humanoid_model import InputError


@dataclass(frozen=True)
class ArticulatedInertia:
    """Force and moment about a body's origin as linear functions of its acceleration, the joints below giving way.

    Attributes:
        linear: force by linear acceleration [kg].
        coupling: force by angular acceleration [kg m]; its transpose is the moment by linear acceleration.
        angular: moment by angular acceleration [kg m^2].
    """

    linear: Matrix
    coupling: Matrix
    angular: Matrix

    @classmethod
    def of_body(cls, inertia: BodyInertia) -> ArticulatedInertia:
        """Of a rigid body."""
        m, (x, y, z), (xx, xy, xz, yy, yz, zz) = inertia.mass, inertia.first, inertia.tensor
        return cls(
            ((m, 0.0, 0.0), (0.0, m, 0.0), (0.0, 0.0, m)),
            ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0)),
            ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)),
        )

    def wrench(self, linear: Vector, angular: Vector) -> tuple[Vector, Vector]:
        """Force and moment that an acceleration takes."""
        force = add(apply(self.linear, linear), apply(self.coupling, angular))
        return force, add(apply_transpose(self.coupling, linear), apply(self.angular, angular))

    def plus(self, other: ArticulatedInertia) -> ArticulatedInertia:
        """Both together; same frame."""
        return ArticulatedInertia(
            _add(self.linear, other.linear), _add(self.coupling, other.coupling), _add(self.angular, other.angular)
        )

    def without(self, force: Vector, moment: Vector, reciprocal: Scalar) -> ArticulatedInertia:
        """Less the part that a yielding joint takes: the wrench's outer square times a number."""
        f, n = scale(reciprocal, force), scale(reciprocal, moment)
        return ArticulatedInertia(
            _subtract_symmetric(self.linear, f, force),
            (
                subtract(self.coupling[0], scale(f[0], moment)),
                subtract(self.coupling[1], scale(f[1], moment)),
                subtract(self.coupling[2], scale(f[2], moment)),
            ),
            _subtract_symmetric(self.angular, n, moment),
        )

    def carried(self, transform: JointTransform) -> ArticulatedInertia:
        """In the parent's frame."""
        linear, angular = _mirrored(_turned(transform, self.linear)), _mirrored(_turned(transform, self.angular))
        coupling = _turned(transform, self.coupling)
        # The origin's acceleration is the parent's plus alpha x r, its wrench has the moment r x f about the parent's.
        r = transform.position
        shift: Matrix = (cross(r, linear[0]), cross(r, linear[1]), cross(r, linear[2]))
        lever = _cross_columns(r, coupling)
        angular = _add(_add(angular, lever), _add(transpose(lever), _cross_columns(r, shift)))
        return ArticulatedInertia(linear, _add(coupling, shift), _mirrored(angular))


def direct_dynamics(mechanism: Mechanism, q: Sequence[Scalar], efforts: Sequence[Scalar]) -> list[Scalar]:
    """Return accelerations that efforts give a robot at rest and without gravity: the solution of M a = efforts.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.
        efforts: joint efforts minus the bias efforts [N m, N], nv of them.

    Returns:
        Accelerations [rad/s^2, m/s^2], nv of them.

    Raises:
        InputError: a joint follows another one, which couples branches.
        SingularMatrixError: a joint moves no mass.
    """
    bodies = mechanism.bodies
    followers = [body.name for body in bodies if (body.factor, body.offset) != (1.0, 0.0)]
    followers += [body.name for i, body in enumerate(bodies) if body.first_v in {b.first_v for b in bodies[:i]}]
    if followers:
        raise InputError(
            f"the articulated-body algorithm can't have joint '{followers[0]}' follow another one",
            remedy="Use the mass matrix and the bias",
        )
    transforms = [joint_transform(body, q) for body in bodies]
    inertias = [ArticulatedInertia.of_body(body.inertia) for body in bodies]
    wrenches: list[tuple[Vector, Vector]] = [(ZERO, ZERO)] * len(bodies)
    units: list[list[tuple[Vector, Vector]]] = []
    for body in bodies:
        directions = []
        for k in range(body.nv):
            unit = [0.0] * mechanism.nv
            unit[body.first_v + k] = 1.0
            turning, sliding = joint_motion(body, unit)
            directions.append((sliding, turning))
        units.append(directions)
    columns: list[list[tuple[Vector, Vector]]] = [[] for _ in bodies]
    pivots: list[Factor] = [Factor((), ())] * len(bodies)
    rests: list[list[Scalar]] = [[] for _ in bodies]
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        columns[i] = [inertias[i].wrench(*unit) for unit in units[i]]
        pivot = [list(joint_efforts(body, *column)) for column in columns[i]]
        for k in range(body.nv):
            pivot[k][k] = pivot[k][k] + body.armature[k]
        pivots[i] = factorize(pivot)
        held = joint_efforts(body, *wrenches[i])
        rests[i] = [efforts[body.first_v + k] - held[k] for k in range(body.nv)]
        if body.parent < 0:
            continue
        inertia, (force, moment) = inertias[i], wrenches[i]
        yields = solve(pivots[i], rests[i])
        for k, (f, n) in enumerate(_independent(columns[i], pivots[i])):
            inertia = inertia.without(f, n, pivots[i].reciprocals[k])
            force = add(force, scale(yields[k], columns[i][k][0]))
            moment = add(moment, scale(yields[k], columns[i][k][1]))
        inertias[body.parent] = inertias[body.parent].plus(inertia.carried(transforms[i]))
        wrenches[body.parent] = add_child_wrench(wrenches[body.parent], (force, moment), transforms[i])
    a: list[Scalar] = [0.0] * mechanism.nv
    accelerations: list[tuple[Vector, Vector]] = []
    for i, body in enumerate(bodies):
        linear, angular = ZERO, ZERO
        if body.parent >= 0:
            above, angular = accelerations[body.parent]
            linear = transforms[i].to_child(add(above, cross(angular, transforms[i].position)))
            angular = transforms[i].to_child(angular)
        right = [rests[i][k] - _power(columns[i][k], linear, angular) for k in range(body.nv)]
        for k, value in enumerate(solve(pivots[i], right)):
            a[body.first_v + k] = value
            sliding, turning = units[i][k]
            linear, angular = add(linear, scale(value, sliding)), add(angular, scale(value, turning))
        accelerations.append((linear, angular))
    return a


def _independent(columns: Sequence[tuple[Vector, Vector]], pivot: Factor) -> list[tuple[Vector, Vector]]:
    """Return combinations of a joint's wrenches that don't feel one another, in the order of the pivot's reciprocals.

    With D = L^T E L the product U D^-1 U^T is the sum of squares of the columns of U L^-1, each over its entry of E.
    """
    combined = list(columns)
    for k in reversed(range(len(columns))):
        force, moment = combined[k]
        for j, entry in pivot.lower[k]:
            combined[j] = (
                subtract(combined[j][0], scale(entry, force)),
                subtract(combined[j][1], scale(entry, moment)),
            )
    return combined


def _power(wrench: tuple[Vector, Vector], linear: Vector, angular: Vector) -> Scalar:
    f, n = wrench
    total: Scalar = 0.0
    for k in range(3):
        total = total + f[k] * linear[k] + n[k] * angular[k]
    return total


def _turned(transform: JointTransform, block: Matrix) -> Matrix:
    columns = tuple(transform.to_parent(column) for column in transpose(block))
    rows = transpose(columns)  # type: ignore[arg-type]
    return tuple(transform.to_parent(row) for row in rows)  # type: ignore[return-value]


def _cross_columns(r: Vector, block: Matrix) -> Matrix:
    return transpose(tuple(cross(r, column) for column in transpose(block)))  # type: ignore[arg-type]


def _mirrored(A: Matrix) -> Matrix:
    """Return a symmetric matrix by its upper triangle, so that the lower one takes no operations."""
    return (A[0], (A[0][1], A[1][1], A[1][2]), (A[0][2], A[1][2], A[2][2]))


def _add(A: Matrix, B: Matrix) -> Matrix:
    return (add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2]))


def _subtract_symmetric(A: Matrix, a: Vector, b: Vector) -> Matrix:
    xx, xy, xz = A[0][0] - a[0] * b[0], A[0][1] - a[0] * b[1], A[0][2] - a[0] * b[2]
    yy, yz, zz = A[1][1] - a[1] * b[1], A[1][2] - a[1] * b[2], A[2][2] - a[2] * b[2]
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
