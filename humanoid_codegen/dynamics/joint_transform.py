# SPDX-License-Identifier: Apache-2.0
"""How a joint turns and shifts its body in the parent's frame, with as few products as the joint allows.

And how its coordinates change with the velocity coordinates: derivatives in the tangent space, as Pinocchio takes
them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_codegen.dynamics.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.dynamics.vector import (
    IDENTITY,
    Matrix,
    Scalar,
    Vector,
    add,
    apply,
    apply_transpose,
    constant_matrix,
    cos,
    multiply,
    sin,
    turn,
)
from humanoid_codegen.expression.graph import named


@dataclass(frozen=True)
class JointTransform:
    """Rotation and translation from a body's frame to its parent's.

    Attributes:
        fixed: constant rotation, applied last on the way to the parent.
        axis: coordinate axis of a simple rotation applied first, None when there is none.
        cosine: of its angle.
        sine: of its angle.
        full: any rotation, applied first instead of a simple one; None when there is none.
        position: of the body's origin in the parent's frame [m].
    """

    fixed: Matrix
    axis: int | None
    cosine: Scalar
    sine: Scalar
    full: Matrix | None
    position: Vector

    def to_parent(self, a: Vector) -> Vector:
        """Return a vector in the parent's axes, given in the body's."""
        if self.full is not None:
            a = apply(self.full, a)
        elif self.axis is not None:
            a = turn(a, self.axis, self.cosine, self.sine)
        return a if self.fixed == IDENTITY else apply(self.fixed, a)

    def to_child(self, a: Vector) -> Vector:
        """Return a vector in the body's axes, given in the parent's."""
        if self.fixed != IDENTITY:
            a = apply_transpose(self.fixed, a)
        if self.full is not None:
            return apply_transpose(self.full, a)
        return a if self.axis is None else turn(a, self.axis, self.cosine, -self.sine)

    @property
    def matrix(self) -> Matrix:
        """The rotation as a matrix."""
        columns = [self.to_parent(row) for row in IDENTITY]
        return tuple(zip(*columns, strict=True))  # type: ignore[return-value]


def joint_transform(body: Body, q: Sequence[Scalar]) -> JointTransform:
    """Return the transform of a body's joint at a configuration.

    Args:
        body: the body.
        q: all coordinates of the mechanism [rad, m; unit quaternions x y z w; planar joints x y cos sin].
    """
    k = body.first_q
    if body.kind is JointKind.REVOLUTE:
        angle = joint_angle(body, q)
        c, s = named(body.name, (cos(angle), sin(angle)), ("cos", "sin"))
        return _simple(fixed_rotation(body), body.axis, c, s, body.position)
    if body.kind is JointKind.PRISMATIC:
        shift = [0.0, 0.0, 0.0]
        shift[body.axis] = body.sign * _own(body, q)
        position = add(body.position, apply(body.rotation, (shift[0], shift[1], shift[2])))
        return JointTransform(body.rotation, None, 1.0, 0.0, None, position)
    if body.kind is JointKind.PLANAR:
        position = add(body.position, apply(body.rotation, (q[k], q[k + 1], 0.0)))
        return _simple(body.rotation, 2, q[k + 2], q[k + 3], position)
    if body.kind is JointKind.SPHERICAL:
        full, position = quaternion_matrix(q[k : k + 4]), body.position
    else:
        full = quaternion_matrix(q[k + 3 : k + 7])
        position = add(body.position, apply(body.rotation, (q[k], q[k + 1], q[k + 2])))
    return JointTransform(body.rotation, None, 1.0, 0.0, full, position)


def joint_angle(body: Body, q: Sequence[Scalar]) -> Scalar:
    """Return the angle of a revolute joint about its coordinate axis with its constant part [rad]."""
    return body.sign * _own(body, q) + _split_off_angle(body.rotation, body.axis)[1]


def fixed_rotation(body: Body) -> Matrix:
    """Return a revolute joint's constant rotation without the part that :func:`joint_angle` holds."""
    return _split_off_angle(body.rotation, body.axis)[0]


def _own(body: Body, q: Sequence[Scalar]) -> Scalar:
    """Return the joint's coordinate, through the joint that it follows if it follows one."""
    return q[body.first_q] * body.factor + body.offset


def _simple(fixed: Matrix, axis: int, c: Scalar, s: Scalar, position: Vector) -> JointTransform:
    """Return a simple rotation after a constant one: in two steps, or as one matrix where that takes fewer products."""
    rich = sum(1 for row in fixed for entry in row if entry not in (0.0, 1.0, -1.0))
    if rich <= 5:
        return JointTransform(fixed, axis, c, s, None, position)
    columns = list(zip(*fixed, strict=True))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turned: list[Vector] = [(0.0, 0.0, 0.0)] * 3
    turned[axis] = columns[axis]
    turned[i] = tuple(c * a + s * b for a, b in zip(columns[i], columns[j], strict=True))
    turned[j] = tuple(c * b - s * a for a, b in zip(columns[i], columns[j], strict=True))
    matrix: Matrix = tuple(zip(*turned, strict=True))  # type: ignore[assignment]
    return JointTransform(IDENTITY, None, 1.0, 0.0, matrix, position)


def _split_off_angle(rotation: Matrix, axis: int) -> tuple[Matrix, float]:
    """Split a constant rotation: one with more zeros, times one about a coordinate axis by an angle [rad]."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    candidates = [0.0]
    for row in rotation:
        if row[i] != 0.0 or row[j] != 0.0:
            angle = math.atan2(row[j], row[i])
            candidates += [-angle, math.pi / 2 - angle]
    best = (rotation, 0.0)
    fewest = _richness(rotation)
    for angle in candidates:
        c, s = math.cos(angle), math.sin(angle)
        turned = constant_matrix(np.array(multiply(rotation, _about(axis, c, -s))))
        if _richness(turned) < fewest:
            best, fewest = (turned, angle), _richness(turned)
    return best


def _richness(rotation: Matrix) -> int:
    """Return products that a constant rotation takes: entries that are not 0 or 1 or -1."""
    return sum(1 for row in rotation for entry in row if entry not in (0.0, 1.0, -1.0))


def _about(axis: int, c: float, s: float) -> Matrix:
    columns = [turn(row, axis, c, s) for row in IDENTITY]
    return tuple(zip(*columns, strict=True))  # type: ignore[return-value]


def quaternion_matrix(quaternion: Sequence[Scalar]) -> Matrix:
    """Return the rotation of a unit quaternion x, y, z, w."""
    x, y, z, w = quaternion
    x2, y2, z2 = 2.0 * x, 2.0 * y, 2.0 * z
    xx, yy, zz = x2 * x, y2 * y, z2 * z
    xy, xz, yz = x2 * y, x2 * z, y2 * z
    wx, wy, wz = x2 * w, y2 * w, z2 * w
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def coordinate_rates(mechanism: Mechanism, q: Sequence[Scalar]) -> list[dict[int, Scalar]]:
    """Return the derivative of each coordinate with respect to the velocity coordinates that change it.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m; unit quaternions x y z w; planar joints x y cos sin], nq of them.

    Returns:
        By coordinate, the derivatives by velocity coordinate; those that are zero are left out.
    """
    rates: list[dict[int, Scalar]] = [{} for _ in range(mechanism.nq)]
    for body in mechanism.bodies:
        k, j = body.first_q, body.first_v
        if body.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
            rates[k] = {j: 1.0}
        elif body.kind is JointKind.PLANAR:
            c, s = q[k + 2], q[k + 3]
            rates[k : k + 4] = [{j: c, j + 1: -s}, {j: s, j + 1: c}, {j + 2: -s}, {j + 2: c}]
        elif body.kind is JointKind.SPHERICAL:
            rates[k : k + 4] = _quaternion_rates(q[k : k + 4], j)
        else:
            rotation = quaternion_matrix(q[k + 3 : k + 7])
            rates[k : k + 3] = [{j + column: row[column] for column in range(3)} for row in rotation]
            rates[k + 3 : k + 7] = _quaternion_rates(q[k + 3 : k + 7], j + 3)
    return rates


def _quaternion_rates(quaternion: Sequence[Scalar], j: int) -> list[dict[int, Scalar]]:
    """Half the quaternion times the angular velocity in the body's axes."""
    x, y, z, w = (0.5 * value for value in quaternion)
    return [
        {j: w, j + 1: -z, j + 2: y},
        {j: z, j + 1: w, j + 2: -x},
        {j: -y, j + 1: x, j + 2: w},
        {j: -x, j + 1: -y, j + 2: -z},
    ]
