# SPDX-License-Identifier: Apache-2.0
"""How one link is turned against another, as a unit quaternion carried from joint to joint.

No continuous function of a rotation matrix is zero at the identity alone: one with the sine of the angle is zero at
half a turn as well. Half the joints' angles tell the two apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_codegen.elementary import cos, sin
from humanoid_codegen.expression.naming import named
from humanoid_codegen.joint_transform import fixed_rotation, joint_angle
from humanoid_codegen.mechanism import JointKind, LinkFrame, Mechanism
from humanoid_codegen.vector import Matrix, Scalar, Vector, add, clean, cross, dot, scale
from humanoid_model import InputError

#: Vector part and scalar part.
Quaternion = tuple[Vector, Scalar]


def relative_quaternion(
    mechanism: Mechanism, q: Sequence[Scalar], a: LinkFrame, turned_a: np.ndarray, b: LinkFrame, turned_b: np.ndarray
) -> Quaternion:
    """Rotation from the axes of a frame on link b to those of a frame on link a; its sign is that of the way.

    Args:
        mechanism: the robot.
        q: its coordinates [rad, m].
        a: first link.
        turned_a: (3, 3) rotation of the first frame in the first link's.
        b: second link.
        turned_b: (3, 3) rotation of the second frame in the second link's.

    Raises:
        InputError: a planar joint lies between the links. Its coordinates, cosine and sine, have no smooth half angle.
    """
    shared = set(_bodies(mechanism, a)) & set(_bodies(mechanism, b))
    vector, scalar = _along(mechanism, q, a, turned_a, shared)
    return _product(((-vector[0], -vector[1], -vector[2]), scalar), _along(mechanism, q, b, turned_b, shared))


def _bodies(mechanism: Mechanism, link: LinkFrame) -> list[int]:
    """Return the bodies that carry a link, from the root."""
    bodies = []
    body = link.body
    while body >= 0:
        bodies.append(body)
        body = mechanism.bodies[body].parent
    return bodies[::-1]


def _along(
    mechanism: Mechanism, q: Sequence[Scalar], link: LinkFrame, turned: np.ndarray, left_out: set[int]
) -> Quaternion:
    """Return the rotation of a frame on a link, as the joints that carry it turn it, save some next to the root."""
    result: Quaternion = ((0.0, 0.0, 0.0), 1.0)
    # Joints about one direction in a row turn by the sum of their angles.
    axis, angle, name = 0, 0.0, "half"
    for index in _bodies(mechanism, link):
        if index in left_out:
            continue
        body = mechanism.bodies[index]
        if body.kind is JointKind.PLANAR:
            raise InputError(
                "rows rx, ry and rz can't be held across a planar joint",
                element=f"joint '{body.name}'",
                remedy="Write it as two prismatic joints and a continuous one",
            )
        fixed = _of_matrix(fixed_rotation(body) if body.kind is JointKind.REVOLUTE else body.rotation)
        if fixed[1] != 1.0 or (body.kind is JointKind.REVOLUTE and body.axis != axis):
            result = _product(_product(result, _about(axis, angle, name)), fixed)
            axis, angle, name = body.axis, 0.0, "half"
        if body.kind is JointKind.REVOLUTE:
            angle, name = angle + joint_angle(body, q), f"{name}_{body.name}"
        elif body.kind is not JointKind.PRISMATIC:
            k = body.first_q + (3 if body.kind is JointKind.FREE_FLYER else 0)
            result = _product(_product(result, _about(axis, angle, name)), ((q[k], q[k + 1], q[k + 2]), q[k + 3]))
            angle, name = 0.0, "half"
    fixed = _product(_of_matrix(link.rotation), _of_matrix(turned))
    return _product(_product(result, _about(axis, angle, name)), fixed)


def _about(axis: int, angle: Scalar, name: str) -> Quaternion:
    c, s = named(name, (cos(0.5 * angle), sin(0.5 * angle)), ("cos", "sin"))
    vector = [0.0, 0.0, 0.0]
    vector[axis] = s
    return (vector[0], vector[1], vector[2]), c


def _of_matrix(rotation: Matrix | np.ndarray) -> Quaternion:
    x, y, z, w = (clean(float(value)) for value in pin.Quaternion(np.array(rotation, dtype=float)).coeffs())
    return (x, y, z), w


def _product(a: Quaternion, b: Quaternion) -> Quaternion:
    vector = add(add(scale(a[1], b[0]), scale(b[1], a[0])), cross(a[0], b[0]))
    return vector, a[1] * b[1] - dot(a[0], b[0])
