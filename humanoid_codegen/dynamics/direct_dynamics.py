# SPDX-License-Identifier: Apache-2.0
r"""Accelerations from efforts: inertia matrix by composite bodies and its solution, or articulated bodies.

The composite-rigid-body algorithm gives the joint-space inertia matrix: M.W. Walker, D.E. Orin, Efficient dynamic
computer simulation of robotic mechanisms, 1982; R. Featherstone, Rigid Body Dynamics Algorithms, 2008, §6.2. In second
moments a turn of the composite body takes nine products, and the wrench of a unit joint acceleration none.

Symmetric positive definite matrices are solved with by :math:`M = L^T D L` (Featherstone §6.5): worked off from the
last row on, the factor of a joint-space inertia has no entries where two coordinates are on different branches. Entries
that are the number zero take no operation, so that the branches need not be given.

The articulated-body algorithm (Featherstone §7.3) takes one pass inwards and one outwards. Velocities and gravity are
in the bias b of the recursive Newton-Euler algorithm, so that the two passes solve :math:`M \dot v = \tau - b` without
either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_codegen.dynamics.joint_transform import JointTransform, joint_transform
from humanoid_codegen.dynamics.mechanism import Body, BodyInertia, JointKind, Mechanism
from humanoid_codegen.dynamics.newton_euler_body import add_child_wrench, joint_efforts, joint_motion
from humanoid_codegen.dynamics.vector import (
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    apply,
    apply_transpose,
    cross,
    negate,
    scale,
    subtract,
    transpose,
)
from humanoid_codegen.expression.graph import Expression
from humanoid_model import InputError


class SingularMatrixError(ArithmeticError):
    """A pivot is the number zero.

    Attributes:
        row: of the pivot.
    """

    def __init__(self, row: int) -> None:
        super().__init__(f"pivot {row} is zero")
        self.row = row


@dataclass(frozen=True)
class Factor:
    """Factor of a symmetric matrix.

    Attributes:
        lower: by row k, the entries (column, value) of the unit lower triangular L left of the diagonal, zeros left
        out.
        reciprocals: of the entries of D.
    """

    lower: tuple[tuple[tuple[int, Scalar], ...], ...]
    reciprocals: tuple[Scalar, ...]


def factorize(M: Sequence[Sequence[Scalar]]) -> Factor:
    """Return the factor of a symmetric positive definite matrix; only its lower triangle is read.

    Args:
        M: n rows of n entries.

    Raises:
        SingularMatrixError: a pivot is zero whatever the entries that are expressions.
    """
    n = len(M)
    H = [list(row) for row in M]
    lower: list[tuple[tuple[int, Scalar], ...]] = [()] * n
    reciprocals: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        if is_zero(H[k][k]):
            raise SingularMatrixError(k)
        reciprocals[k] = 1.0 / H[k][k]
        columns = [j for j in range(k) if not is_zero(H[k][j])]
        lower[k] = tuple((j, H[k][j] * reciprocals[k]) for j in columns)
        for i, factor in lower[k]:
            for j in columns:
                if j <= i:
                    H[i][j] = H[i][j] - factor * H[k][j]
    return Factor(tuple(lower), tuple(reciprocals))


def solve(factor: Factor, right: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of M x = right.

    Args:
        factor: of M.
        right: n entries.
    """
    x = list(right)
    n = len(x)
    for k in reversed(range(n)):
        if not is_zero(x[k]):
            for j, entry in factor.lower[k]:
                x[j] = x[j] - entry * x[k]
    for k in range(n):
        value = x[k] * factor.reciprocals[k]
        for j, entry in factor.lower[k]:
            if not is_zero(x[j]):
                value = value - entry * x[j]
        x[k] = value
    return x


def inverse(factor: Factor) -> list[list[Scalar]]:
    """Return the inverse of a factorised matrix, as the symmetric product of the inverse factor with itself.

    Args:
        factor: of M.
    """
    n = len(factor.reciprocals)
    # Row k of L^-1 by columns.
    rows: list[dict[int, Scalar]] = []
    for k in range(n):
        row: dict[int, Scalar] = {k: 1.0}
        for j, entry in factor.lower[k]:
            for column, value in rows[j].items():
                row[column] = row.get(column, 0.0) - entry * value
        rows.append(row)
    scaled = [{column: value * factor.reciprocals[column] for column, value in row.items()} for row in rows]
    result: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            total: Scalar = 0.0
            for column, value in rows[j].items():
                if column in scaled[i]:
                    total = total + scaled[i][column] * value
            result[i][j] = result[j][i] = total
    return result


def is_zero(value: Scalar) -> bool:
    """Return whether an entry is the number zero, whatever the configuration."""
    return not isinstance(value, Expression) and isinstance(value, (int, float)) and value == 0.0


def mass_matrix(mechanism: Mechanism, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Joint-space inertia matrix, rotor inertias included.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.

    Returns:
        nv rows of nv entries [kg m^2, kg m, kg]; entries that are zero at every configuration are the number 0.0.
    """
    transforms = [joint_transform(body, q) for body in mechanism.bodies]
    composites = composite_inertias(mechanism, transforms)
    M: list[list[Scalar]] = [[0.0] * mechanism.nv for _ in range(mechanism.nv)]
    for i, body in enumerate(mechanism.bodies):
        for k in range(body.nv):
            row = body.first_v + k
            force, moment = unit_wrench(body, k, composites[i])
            force, moment = scale(body.factor, force), scale(body.factor, moment)
            own = joint_efforts(body, force, moment)
            for other in range(body.nv):
                # Bodies that follow the same joint add up.
                M[row][body.first_v + other] = M[row][body.first_v + other] + body.factor * own[other]
            M[row][row] = M[row][row] + body.factor * body.factor * body.armature[k]
            j = i
            while mechanism.bodies[j].parent >= 0:
                force = transforms[j].to_parent(force)
                moment = add(transforms[j].to_parent(moment), cross(transforms[j].position, force))
                j = mechanism.bodies[j].parent
                ancestor = mechanism.bodies[j]
                for other, effort in enumerate(joint_efforts(ancestor, force, moment)):
                    column = ancestor.first_v + other
                    entry = ancestor.factor * effort
                    # A joint and one that follows it meet twice on the diagonal.
                    M[row][column] = M[row][column] + (2.0 * entry if row == column else entry)
                    if row != column:
                        M[column][row] = M[row][column]
    return M


def composite_inertias(mechanism: Mechanism, transforms: Sequence[JointTransform]) -> list[BodyInertia]:
    """Return the inertia of each body with all that it carries, in the body's frame."""
    composites = [body.inertia for body in mechanism.bodies]
    for i in reversed(range(len(composites))):
        parent = mechanism.bodies[i].parent
        if parent >= 0:
            composites[parent] = composites[parent].plus(carried_inertia(composites[i], transforms[i]))
    return composites


def carried_inertia(inertia: BodyInertia, transform: JointTransform) -> BodyInertia:
    """Return a body's inertia in its parent's frame."""
    if transform.axis is not None:
        inertia = inertia.turned(transform.axis, transform.cosine, transform.sine)
    elif transform.full is not None:
        inertia = inertia.expressed(transform.full, (0.0, 0.0, 0.0))
    return inertia.expressed(transform.fixed, transform.position)


def unit_wrench(body: Body, k: int, inertia: BodyInertia) -> tuple[Vector, Vector]:
    """Force and moment about the origin that accelerate a body by one unit of its joint's k-th coordinate."""
    if body.kind is JointKind.REVOLUTE:
        return _turning(body.axis, body.sign, inertia)
    if body.kind is JointKind.PRISMATIC:
        return _sliding(body.axis, body.sign, inertia)
    if body.kind is JointKind.SPHERICAL:
        return _turning(k, 1.0, inertia)
    if body.kind is JointKind.PLANAR:
        return _turning(2, 1.0, inertia) if k == 2 else _sliding(k, 1.0, inertia)
    return _sliding(k, 1.0, inertia) if k < 3 else _turning(k - 3, 1.0, inertia)


def _turning(axis: int, sign: float, inertia: BodyInertia) -> tuple[Vector, Vector]:
    along = [0.0, 0.0, 0.0]
    along[axis] = sign
    unit = (along[0], along[1], along[2])
    xx, xy, xz, yy, yz, zz = inertia.tensor
    column = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))[axis]
    return cross(unit, inertia.first), scale(sign, column)


def _sliding(axis: int, sign: float, inertia: BodyInertia) -> tuple[Vector, Vector]:
    along = [0.0, 0.0, 0.0]
    along[axis] = sign
    unit = (along[0], along[1], along[2])
    return scale(inertia.mass, unit), negate(cross(unit, inertia.first))


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
