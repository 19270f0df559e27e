# SPDX-License-Identifier: Apache-2.0
r"""Lagrange's equations, derived from positions and energies: the independent way to a small robot's equations.

Thesis 004 section 2.1: velocities come from the Jacobian of the position (2.8), (2.13), energies from them
(2.4)-(2.6), and the efforts :math:`\Gamma_j = \frac{d}{dt} \frac{\partial L}{\partial \dot q_j} -
\frac{\partial L}{\partial q_j}` (2.2) by a Jacobian again (2.19). The expressions grow steeply with the number of
joints (``examples/lagrange_cost.py``): beyond four or five the recursive algorithms are the ones to use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_codegen.dynamics.joint_transform import joint_transform
from humanoid_codegen.dynamics.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.dynamics.vector import (
    IDENTITY,
    ZERO,
    Matrix,
    Scalar,
    SymmetricMatrix,
    Vector,
    add,
    apply,
    apply_symmetric,
    apply_transpose,
    dot,
    multiply,
    scale,
)
from humanoid_codegen.expression.differentiate import derivative
from humanoid_codegen.expression.graph import Expression
from humanoid_model import RobotError


@dataclass(frozen=True)
class Segment:
    """A body in motion, in world axes.

    Attributes:
        name: of the body's joint.
        rotation: of the body frame in the world.
        centre: position of the centre of mass in the world [m]; of the body frame's origin without mass.
        velocity: of the centre of mass [m/s], (2.9), (2.14).
        rate: angular velocity [rad/s], (2.10).
        kinetic_energy: of the body and its motor's rotor [J], (2.4).
        potential_energy: zero for a centre of mass at the world's origin [J], (2.5).
    """

    name: str
    rotation: Matrix
    centre: Vector
    velocity: Vector
    rate: Vector
    kinetic_energy: Scalar
    potential_energy: Scalar


@dataclass(frozen=True)
class LagrangeEquations:
    r"""What Lagrange's method finds on its way.

    Attributes:
        segments: the bodies.
        kinetic_energy: of the robot [J], (2.6).
        potential_energy: of the robot [J], (2.6).
        momenta: :math:`\partial L / \partial \dot q_j`, nv of them.
        efforts: joint efforts [N m or N], nv of them, (2.19).
    """

    segments: tuple[Segment, ...]
    kinetic_energy: Scalar
    potential_energy: Scalar
    momenta: tuple[Scalar, ...]
    efforts: tuple[Scalar, ...]


def lagrange(
    mechanism: Mechanism, q: Sequence[Expression], v: Sequence[Expression], a: Sequence[Scalar]
) -> LagrangeEquations:
    """Derive the equations of motion from the energies.

    Args:
        mechanism: robot of revolute and prismatic joints, a floating base as a chain of three of each; inertias as
            they are, not grouped; they and the joints' positions may be expressions.
        q: symbols of the coordinates [rad, m], nq of them.
        v: symbols of the velocities [rad/s, m/s], nv of them.
        a: accelerations [rad/s^2, m/s^2], nv of them.

    Raises:
        RobotError: a joint has several degrees of freedom, or a body has first moments but no mass.
    """
    check_minimal_coordinates(mechanism)
    segments = _segments(mechanism, q, v)
    kinetic: Scalar = 0.0
    potential: Scalar = 0.0
    for segment in segments:
        kinetic = kinetic + segment.kinetic_energy
        potential = potential + segment.potential_energy
    lagrangian = kinetic - potential
    momenta = derivative([lagrangian], v)[0]
    slopes = derivative([lagrangian], q)[0]
    changes = derivative(momenta, [*q, *v])
    efforts = tuple(
        _product(change, [*v, *a]) - slope for change, slope in zip(changes, slopes, strict=True)
    )
    return LagrangeEquations(segments, kinetic, potential, tuple(momenta), efforts)


def check_minimal_coordinates(mechanism: Mechanism) -> None:
    """Make sure that every joint has one coordinate whose rate is its velocity.

    Raises:
        RobotError: a joint has several degrees of freedom; the message names it.
    """
    for body in mechanism.bodies:
        if body.nv != 1:
            raise RobotError(
                f"Lagrange's equations need one coordinate per degree of freedom, a {body.kind.value} joint has "
                f"{body.nq} coordinates for {body.nv}",
                element=f"joint '{body.name}'",
                remedy="Use revolute and prismatic joints, three of each for a floating base; "
                "the function inverse_dynamics takes any joint",
            )


def _segments(mechanism: Mechanism, q: Sequence[Expression], v: Sequence[Expression]) -> tuple[Segment, ...]:
    rotations: list[Matrix] = []
    origins: list[Vector] = []
    rates: list[Vector] = []
    segments: list[Segment] = []
    for body in mechanism.bodies:
        transform = joint_transform(body, q)
        if body.parent < 0:
            rotation, origin, rate = transform.matrix, transform.position, ZERO
        else:
            carrier = rotations[body.parent]
            rotation = multiply(carrier, transform.matrix)
            origin = add(origins[body.parent], apply(carrier, transform.position))
            rate = rates[body.parent]
        if body.kind is JointKind.REVOLUTE:
            speed = (body.sign * body.factor) * v[body.first_v]
            rate = add(rate, scale(speed, apply(rotation, IDENTITY[body.axis])))
        rotations.append(rotation)
        origins.append(origin)
        rates.append(rate)
        arm, tensor = _about_centre(body)
        centre = add(origin, apply(rotation, arm))
        rows = derivative(centre, q)
        velocity = (_product(rows[0], v), _product(rows[1], v), _product(rows[2], v))
        own_rate = apply_transpose(rotation, rate)
        rotor_speed = body.factor * v[body.first_v]
        twice_kinetic = (
            dot(own_rate, apply_symmetric(tensor, own_rate))
            + body.inertia.mass * dot(velocity, velocity)
            + body.armature[0] * (rotor_speed * rotor_speed)
        )
        segments.append(
            Segment(
                name=body.name,
                rotation=rotation,
                centre=centre,
                velocity=velocity,
                rate=rate,
                kinetic_energy=0.5 * twice_kinetic,
                potential_energy=-(body.inertia.mass * dot(mechanism.gravity, centre)),
            )
        )
    return tuple(segments)


def _about_centre(body: Body) -> tuple[Vector, SymmetricMatrix]:
    """Return the centre of mass in the body frame [m] and inertia tensor about it: xx, xy, xz, yy, yz, zz [kg m^2]."""
    m, tensor = body.inertia.mass, body.inertia.tensor
    if isinstance(m, float) and m == 0.0:
        if body.inertia.first != ZERO:
            raise RobotError(
                "Lagrange's equations need bodies with a centre of mass, this one has first moments but no mass",
                element=f"body of joint '{body.name}'",
                remedy="Give the mechanism with its inertias as they are, not grouped",
            )
        return ZERO, tensor
    hx, hy, hz = body.inertia.first
    x, y, z = hx / m, hy / m, hz / m
    xx, xy, xz, yy, yz, zz = tensor
    return (x, y, z), (
        xx - (hy * y + hz * z),
        xy + hx * y,
        xz + hx * z,
        yy - (hx * x + hz * z),
        yz + hy * z,
        zz - (hx * x + hy * y),
    )


def _product(row: Sequence[Scalar], column: Sequence[Scalar]) -> Scalar:
    """Return a row of a Jacobian times a vector."""
    total: Scalar = 0.0
    for a, b in zip(row, column, strict=True):
        total = total + a * b
    return total
