# SPDX-License-Identifier: Apache-2.0
"""Kinetic and potential energy of every link: thesis 004 (2.4)-(2.6), with the height of the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.algorithms.forward_kinematics import Placement
from humanoid_codegen.algorithms.newton_euler_body import joint_motion
from humanoid_codegen.expression.naming import named
from humanoid_codegen.joint_transform import joint_transform
from humanoid_codegen.mechanism import Mechanism
from humanoid_codegen.vector import (
    Scalar,
    Vector,
    add,
    apply,
    apply_symmetric,
    cross,
    dot,
    scale,
)


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
