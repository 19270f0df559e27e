# SPDX-License-Identifier: Apache-2.0
"""Jacobians of links: how velocities of the joints move them."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.algorithms.forward_kinematics import Placement
from humanoid_codegen.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.vector import ZERO, Scalar, Vector, cross, scale, subtract, transpose


def point_jacobian(
    mechanism: Mechanism, bodies: Sequence[Placement], body: int, point: Vector
) -> list[list[Scalar]]:
    """Return the Jacobian of the velocity of a body at a point.

    Args:
        mechanism: the robot.
        bodies: world placements of its bodies.
        body: index of the body, -1 for the world.
        point: point of the body, in the world [m].

    Returns:
        6 rows of nv entries: linear, then angular velocity, in world axes.
    """
    J: list[list[Scalar]] = [[0.0] * mechanism.nv for _ in range(6)]
    while body >= 0:
        mover = mechanism.bodies[body]
        for k, (linear, angular) in enumerate(joint_columns(mover, bodies[body], point)):
            column = mover.first_v + k
            for row in range(3):
                J[row][column] = J[row][column] + mover.factor * linear[row]
                J[3 + row][column] = J[3 + row][column] + mover.factor * angular[row]
        body = mover.parent
    return J


def joint_columns(body: Body, placement: Placement, point: Vector) -> list[tuple[Vector, Vector]]:
    """Linear velocity of a point and angular velocity that each unit velocity of a joint gives, in world axes.

    Args:
        body: the body that the joint moves.
        placement: of the body in the world.
        point: in the world [m].
    """
    axes = transpose(placement.rotation)
    arm = subtract(point, placement.position)
    if body.kind is JointKind.REVOLUTE:
        axis = scale(body.sign, axes[body.axis])
        return [(cross(axis, arm), axis)]
    if body.kind is JointKind.PRISMATIC:
        return [(scale(body.sign, axes[body.axis]), ZERO)]
    slides = [(axis, ZERO) for axis in axes]
    turns = [(cross(axis, arm), axis) for axis in axes]
    if body.kind is JointKind.SPHERICAL:
        return turns
    if body.kind is JointKind.PLANAR:
        return [slides[0], slides[1], turns[2]]
    return slides + turns


