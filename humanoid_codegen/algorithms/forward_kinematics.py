# SPDX-License-Identifier: Apache-2.0
"""Where bodies and links are in the world.

Joints with parallel axes in a row turn by the sum of their angles, so that a body between them whose orientation
is not needed costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_codegen.elementary import cos, sin
from humanoid_codegen.expression.naming import named
from humanoid_codegen.joint_transform import JointTransform, joint_angle, joint_transform
from humanoid_codegen.mechanism import JointKind, LinkFrame, Mechanism
from humanoid_codegen.vector import (
    IDENTITY,
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    apply,
    multiply,
    scale,
    turn,
)


@dataclass(frozen=True)
class Placement:
    """A frame in the world.

    Attributes:
        rotation: from the frame's axes to the world's.
        position: of its origin [m].
    """

    rotation: Matrix
    position: Vector


#: The world frame itself.
WORLD = Placement(IDENTITY, ZERO)


@dataclass(frozen=True)
class _ParallelGroup:
    """Joints in a row that turn about one direction: the rotation before the first, and the sum of their angles."""

    rotation: Matrix
    axis: int
    angle: Scalar


def body_placements(mechanism: Mechanism, q: Sequence[Scalar]) -> list[Placement]:
    """World placement of every body frame.

    Args:
        mechanism: the robot.
        q: coordinates [rad, m], nq of them.
    """
    placements: list[Placement] = []
    groups: list[_ParallelGroup | None] = []
    for body in mechanism.bodies:
        parent = WORLD if body.parent < 0 else placements[body.parent]
        group = None if body.parent < 0 else groups[body.parent]
        transform = joint_transform(body, q)
        position = add(parent.position, apply(parent.rotation, transform.position))
        if body.kind is JointKind.REVOLUTE and transform.axis is not None:
            fixed, angle = transform.fixed, joint_angle(body, q)
            if group is not None and group.axis == body.axis and fixed == IDENTITY:
                group = _ParallelGroup(group.rotation, body.axis, group.angle + angle)
            else:
                group = _ParallelGroup(multiply(parent.rotation, fixed), body.axis, angle)
            c, s = cos(group.angle), sin(group.angle)
            rotation: Matrix = tuple(turn(row, body.axis, c, -s) for row in group.rotation)  # type: ignore[assignment]
        else:
            rotation = compose(parent.rotation, transform)
            # A slide leaves the directions as they are.
            slides = body.kind is JointKind.PRISMATIC and transform.fixed == IDENTITY
            group = group if slides else None
        groups.append(group)
        for row, axis in zip(rotation, "xyz", strict=True):
            named(f"rotation_{body.name}_{axis}", row)
        named(f"position_{body.name}", position)
        placements.append(Placement(rotation, position))
    return placements


def compose(rotation: Matrix, transform: JointTransform) -> Matrix:
    """Return the rotation of a body's axes, given that of its parent's."""
    return (transform.to_child(rotation[0]), transform.to_child(rotation[1]), transform.to_child(rotation[2]))


def link_placement(link: LinkFrame, bodies: Sequence[Placement]) -> Placement:
    """World placement of a link frame, given those of the bodies."""
    body = WORLD if link.body < 0 else bodies[link.body]
    return Placement(multiply(body.rotation, link.rotation), add(body.position, apply(body.rotation, link.position)))


def centre_of_mass(mechanism: Mechanism, bodies: Sequence[Placement]) -> Vector:
    """Return the centre of mass of what moves, in the world [m]; fixed links don't count, as in Pinocchio.

    Args:
        mechanism: the robot.
        bodies: world placements of its bodies.
    """
    moment, mass = ZERO, 0.0
    for body, placement in zip(mechanism.bodies, bodies, strict=True):
        inertia = body.inertia
        of_body = add(scale(inertia.mass, placement.position), apply(placement.rotation, inertia.first))
        moment, mass = add(moment, of_body), mass + inertia.mass
    if isinstance(mass, float) and mass == 0.0:
        return ZERO
    return (moment[0] / mass, moment[1] / mass, moment[2] / mass)
