# SPDX-License-Identifier: Apache-2.0
r"""Efforts as a linear function of the inertial parameters: :math:`\tau = Y(q, v, a)\, \pi`.

C.G. Atkeson, C.H. An, J.M. Hollerbach, Estimation of inertial parameters of manipulator loads and links, 1986. The
columns are
Pinocchio's: m, m c, and the inertia tensor about the link frame's origin (xx, xy, yy, xz, yz, zz), in the link frame.
"""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.algorithms.newton_euler_body import (
    BodyMotion,
    add_child_wrench,
    body_motions,
    inertial_wrench,
    joint_efforts,
)
from humanoid_codegen.inertia import BodyInertia
from humanoid_codegen.joint_transform import joint_transform
from humanoid_codegen.mechanism import LinkFrame, Mechanism
from humanoid_codegen.vector import ZERO, Scalar, Vector, add, apply, cross, transpose

#: Parameters of one link, in order.
PARAMETER_NAMES = ("m", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")


def regressor(
    mechanism: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[list[Scalar]]:
    """Return the regressor of the links' inertial parameters. Rotor inertias (armature) are not among them.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.
        v: velocities [rad/s, m/s], nv of them.
        a: accelerations [rad/s^2, m/s^2], nv of them.

    Returns:
        nv rows of 10 entries per link with inertia, links in the URDF's order.
    """
    transforms = [joint_transform(body, q) for body in mechanism.bodies]
    motions = body_motions(mechanism, transforms, v, a)
    columns: list[list[Scalar]] = []
    for link in mechanism.links:
        if link.inertia is None:
            continue
        for wrench in _unit_wrenches(link, motions[link.body]) if link.body >= 0 else [(ZERO, ZERO)] * 10:
            column: list[Scalar] = [0.0] * mechanism.nv
            i = link.body
            while i >= 0:
                body = mechanism.bodies[i]
                for k, effort in enumerate(joint_efforts(body, *wrench)):
                    column[body.first_v + k] = column[body.first_v + k] + body.factor * effort
                wrench = add_child_wrench((ZERO, ZERO), wrench, transforms[i])
                i = body.parent
            columns.append(column)
    return [[column[row] for column in columns] for row in range(mechanism.nv)]


def link_parameters(inertia: BodyInertia) -> tuple[Scalar, ...]:
    """Return the ten parameters of a link in its own frame, in the regressor's order."""
    xx, xy, xz, yy, yz, zz = inertia.tensor
    return (inertia.mass, *inertia.first, xx, xy, yy, xz, yz, zz)


def _unit_wrenches(link: LinkFrame, motion: BodyMotion) -> list[tuple[Vector, Vector]]:
    """Force and moment about the body's origin, in its axes, that each parameter of a link takes when it is 1."""
    R, p = link.rotation, link.position
    to_link = transpose(R)
    acceleration = apply(to_link, add(motion.acceleration, apply(motion.spread, p)))
    local = BodyMotion(apply(to_link, motion.rate), apply(to_link, motion.rate_change), acceleration)
    wrenches = []
    for index in range(10):
        unit = [0.0] * 10
        unit[index] = 1.0
        inertia = BodyInertia.from_parameters(tuple(unit))
        force, moment = inertial_wrench(inertia, local)
        force, moment = apply(R, force), apply(R, moment)
        wrenches.append((force, add(moment, cross(p, force))))
    return wrenches
