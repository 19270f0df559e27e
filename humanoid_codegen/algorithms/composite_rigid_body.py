# SPDX-License-Identifier: Apache-2.0
r"""Composite-rigid-body algorithm: the joint-space inertia matrix.

M.W. Walker, D.E. Orin, Efficient dynamic computer simulation of robotic mechanisms, 1982; R. Featherstone, Rigid Body
Dynamics Algorithms, 2008, §6.2. In second moments a turn of the composite body takes nine products, and the
wrench of a unit joint acceleration none.
"""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.algorithms.newton_euler_body import joint_efforts
from humanoid_codegen.inertia import BodyInertia
from humanoid_codegen.joint_transform import JointTransform, joint_transform
from humanoid_codegen.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.vector import Scalar, Vector, add, cross, negate, scale


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
