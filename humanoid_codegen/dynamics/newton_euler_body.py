# SPDX-License-Identifier: Apache-2.0
r"""Recursive Newton-Euler algorithm in body frames; kinetic and potential energy of every link.

J.Y.S. Luh, M.W. Walker, R.P.C. Paul, On-line computational scheme for mechanical manipulators, 1980, on a tree, with
the accelerations of a body gathered in :math:`U = [\dot\omega]_\times + [\omega]_\times^2` as W. Khalil and J.-F.
Kleinfinger (1987) do, and the inertia as second moments, so that the moment is the antisymmetric part of :math:`U J`
(C.A. Balafoutis, R.V. Patel 1991). Thesis 004 (2.21)-(2.37) are the same equations in world axes, see
:mod:`humanoid_studies.baselines.newton_euler_world`. The energies are (2.4)-(2.6), with the height of the centre of
mass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from humanoid_codegen.dynamics.forward_kinematics import Placement
from humanoid_codegen.dynamics.joint_transform import JointTransform, joint_transform
from humanoid_codegen.dynamics.mechanism import Body, BodyInertia, JointKind, Mechanism
from humanoid_codegen.dynamics.vector import (
    ZERO,
    Matrix,
    Scalar,
    SymmetricMatrix,
    Vector,
    add,
    apply,
    apply_symmetric,
    cross,
    dot,
    negate,
    scale,
    subtract,
)
from humanoid_codegen.expression.graph import named


def inverse_dynamics(
    mechanism: Mechanism,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    loads: Mapping[int, tuple[Vector, Vector]] | None = None,
) -> list[Scalar]:
    """Return the efforts that a motion requires.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.
        v: velocities [rad/s, m/s], nv of them.
        a: accelerations [rad/s^2, m/s^2], nv of them.
        loads: force [N] and moment about the origin [N m] exerted on a body, in its axes, by body index.

    Returns:
        Joint efforts [N m or N], nv of them.
    """
    transforms = [joint_transform(body, q) for body in mechanism.bodies]
    motions = body_motions(mechanism, transforms, v, a)
    wrenches = [inertial_wrench(body.inertia, motion) for body, motion in zip(mechanism.bodies, motions, strict=True)]
    for i, (force, moment) in (loads or {}).items():
        wrenches[i] = (subtract(wrenches[i][0], force), subtract(wrenches[i][1], moment))
    tau: list[Scalar] = [0.0] * mechanism.nv
    for i in reversed(range(len(mechanism.bodies))):
        body = mechanism.bodies[i]
        named(f"force_{body.name}", wrenches[i][0])
        named(f"moment_{body.name}", wrenches[i][1])
        for k, effort in enumerate(joint_efforts(body, *wrenches[i])):
            own = effort + body.armature[k] * (body.factor * a[body.first_v + k])
            tau[body.first_v + k] = tau[body.first_v + k] + body.factor * own
        if body.parent >= 0:
            wrenches[body.parent] = add_child_wrench(wrenches[body.parent], wrenches[i], transforms[i])
    return tau


@dataclass(frozen=True)
class BodyMotion:
    """Motion of a body in its own axes.

    Attributes:
        rate: angular velocity [rad/s].
        rate_change: angular acceleration [rad/s^2].
        acceleration: of the origin, minus gravity [m/s^2].
    """

    rate: Vector
    rate_change: Vector
    acceleration: Vector

    @cached_property
    def products(self) -> SymmetricMatrix:
        """Products of the angular velocity's components: xx, xy, xz, yy, yz, zz."""
        x, y, z = self.rate
        return (x * x, x * y, x * z, y * y, y * z, z * z)

    @cached_property
    def spread(self) -> Matrix:
        """Matrix that takes a point of the body to its acceleration relative to the origin's [1/s^2]."""
        xx, xy, xz, yy, yz, zz = self.products
        x, y, z = self.rate_change
        return ((-(yy + zz), xy - z, xz + y), (xy + z, -(xx + zz), yz - x), (xz - y, yz + x, -(xx + yy)))


def body_motions(
    mechanism: Mechanism, transforms: Sequence[JointTransform], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[BodyMotion]:
    """Return the motion of every body, from the root outwards.

    Args:
        mechanism: the robot.
        transforms: of its joints, at the configuration.
        v: velocities [rad/s, m/s], nv of them.
        a: accelerations [rad/s^2, m/s^2], nv of them.
    """
    motions: list[BodyMotion] = []
    for body, transform in zip(mechanism.bodies, transforms, strict=True):
        if body.parent < 0:
            start = BodyMotion(ZERO, ZERO, transform.to_child(negate(mechanism.gravity)))
        else:
            parent = motions[body.parent]
            carried = add(parent.acceleration, apply(parent.spread, transform.position))
            start = BodyMotion(
                transform.to_child(parent.rate), transform.to_child(parent.rate_change), transform.to_child(carried)
            )
        motion = _with_joint(body, start, v, a)
        named(f"omega_{body.name}", motion.rate)
        named(f"omega_rate_{body.name}", motion.rate_change)
        named(f"acceleration_{body.name}", motion.acceleration)
        motions.append(motion)
    return motions


def _with_joint(body: Body, carried: BodyMotion, v: Sequence[Scalar], a: Sequence[Scalar]) -> BodyMotion:
    """Return the motion of a body that its parent carries and its joint moves; all in the body's axes."""
    turning, sliding = joint_motion(body, v)
    turning_change, sliding_change = joint_motion(body, a)
    rate = add(carried.rate, turning)
    # The joint's axes turn with the body, and a sliding origin sees the parent's and its own rotation.
    rate_change = add(add(carried.rate_change, turning_change), cross(carried.rate, turning))
    gyroscopic = cross(add(carried.rate, rate), sliding)
    return BodyMotion(rate, rate_change, add(add(carried.acceleration, sliding_change), gyroscopic))


def joint_motion(body: Body, v: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """Angular and linear velocity of a body relative to its parent, in the body's axes [rad/s, m/s]."""
    k = body.first_v
    if body.kind is JointKind.SPHERICAL:
        return (v[k], v[k + 1], v[k + 2]), ZERO
    if body.kind is JointKind.PLANAR:
        return (0.0, 0.0, v[k + 2]), (v[k], v[k + 1], 0.0)
    if body.kind is JointKind.FREE_FLYER:
        return (v[k + 3], v[k + 4], v[k + 5]), (v[k], v[k + 1], v[k + 2])
    along = [0.0, 0.0, 0.0]
    along[body.axis] = (body.sign * body.factor) * v[k]
    vector = (along[0], along[1], along[2])
    return (vector, ZERO) if body.kind is JointKind.REVOLUTE else (ZERO, vector)


def joint_efforts(body: Body, force: Vector, moment: Vector) -> tuple[Scalar, ...]:
    """Return efforts of a joint whose body a force [N] and a moment [N m] about its origin move, in the body's axes."""
    if body.kind is JointKind.SPHERICAL:
        return moment
    if body.kind is JointKind.PLANAR:
        return (force[0], force[1], moment[2])
    if body.kind is JointKind.FREE_FLYER:
        return (*force, *moment)
    return (body.sign * (moment if body.kind is JointKind.REVOLUTE else force)[body.axis],)


def inertial_wrench(inertia: BodyInertia, motion: BodyMotion) -> tuple[Vector, Vector]:
    """Force [N] and moment about the origin [N m] that a body's motion takes, in its axes: thesis (2.21)."""
    U = motion.spread
    force = add(scale(inertia.mass, motion.acceleration), apply(U, inertia.first))
    xx, xy, xz, yy, yz, zz = inertia.second
    sxx, _, _, syy, _, szz = motion.products
    about_origin = (
        U[2][0] * xy - U[1][0] * xz + (szz - syy) * yz + U[2][1] * yy - U[1][2] * zz,
        U[0][1] * yz - U[2][1] * xy + (sxx - szz) * xz + U[0][2] * zz - U[2][0] * xx,
        U[1][2] * xz - U[0][2] * yz + (syy - sxx) * xy + U[1][0] * xx - U[0][1] * yy,
    )
    return force, add(about_origin, cross(inertia.first, motion.acceleration))


def add_child_wrench(
    parent: tuple[Vector, Vector], child: tuple[Vector, Vector], transform: JointTransform
) -> tuple[Vector, Vector]:
    """Return the wrench on a parent with that of one child added, each in its own axes: thesis (2.32), (2.33)."""
    force = transform.to_parent(child[0])
    moment = add(transform.to_parent(child[1]), cross(transform.position, force))
    return add(parent[0], force), add(parent[1], moment)


def body_velocities(
    mechanism: Mechanism, q: Sequence[Scalar], v: Sequence[Scalar]
) -> list[tuple[Vector, Vector]]:
    """Linear velocity of each body's origin and angular velocity, in the body's axes.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.
        v: velocities [rad/s, m/s], nv of them.
    """
    velocities: list[tuple[Vector, Vector]] = []
    for body in mechanism.bodies:
        transform = joint_transform(body, q)
        turning, sliding = joint_motion(body, v)
        if body.parent < 0:
            velocities.append((sliding, turning))
            continue
        linear, angular = velocities[body.parent]
        carried = transform.to_child(add(linear, cross(angular, transform.position)))
        linear, angular = add(carried, sliding), add(transform.to_child(angular), turning)
        velocities.append((named(f"velocity_{body.name}", linear), named(f"omega_{body.name}", angular)))
    return velocities


def kinetic_energies(mechanism: Mechanism, velocities: Sequence[tuple[Vector, Vector]]) -> list[Scalar]:
    """Kinetic energy of each link [J]; rotors (armature) are not among the links.

    Args:
        mechanism: the robot.
        velocities: see :func:`body_velocities`.
    """
    energies: list[Scalar] = []
    for link in mechanism.links:
        if link.inertia is None or link.body < 0:
            energies.append(0.0)
            continue
        linear, angular = velocities[link.body]
        inertia = link.inertia.expressed(link.rotation, link.position)
        momentum = add(scale(inertia.mass, linear), scale(2.0, cross(angular, inertia.first)))
        spin = apply_symmetric(inertia.tensor, angular)
        energies.append(0.5 * (dot(linear, momentum) + dot(angular, spin)))
    return energies


def rotor_energy(mechanism: Mechanism, v: Sequence[Scalar]) -> Scalar:
    """Kinetic energy of the rotors [J]: half armature times joint velocity squared, summed."""
    energy: Scalar = 0.0
    for body in mechanism.bodies:
        for k, armature in enumerate(body.armature):
            own = body.factor * v[body.first_v + k]
            energy = energy + 0.5 * armature * (own * own)
    return energy


def potential_energies(mechanism: Mechanism, bodies: Sequence[Placement]) -> list[Scalar]:
    """Potential energy of each link, zero at the world's origin and for links fixed to the world [J].

    Args:
        mechanism: the robot.
        bodies: world placements of its bodies.
    """
    energies: list[Scalar] = []
    for link in mechanism.links:
        if link.inertia is None or link.body < 0:
            energies.append(0.0)
            continue
        placement = bodies[link.body]
        inertia = link.inertia.expressed(link.rotation, link.position)
        moment = add(scale(inertia.mass, placement.position), apply(placement.rotation, inertia.first))
        energies.append(-dot(mechanism.gravity, moment))
    return energies
