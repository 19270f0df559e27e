# SPDX-License-Identifier: Apache-2.0
"""Where bodies and links are in the world, how joint velocities move them, and how wrenches on links load bodies.

Joints with parallel axes in a row turn by the sum of their angles, so that a body between them whose orientation is not
needed costs nothing.

How one link is turned against another is a unit quaternion carried from joint to joint: no continuous function of a
rotation matrix is zero at the identity alone; one with the sine of the angle is zero at half a turn as well. Half the
joints' angles tell the two apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_codegen.dynamics.joint_transform import JointTransform, fixed_rotation, joint_angle, joint_transform
from humanoid_codegen.dynamics.mechanism import Body, JointKind, LinkFrame, Mechanism
from humanoid_codegen.dynamics.vector import (
    IDENTITY,
    ZERO,
    Matrix,
    Scalar,
    Vector,
    add,
    apply,
    apply_transpose,
    clean,
    cos,
    cross,
    dot,
    multiply,
    scale,
    sin,
    subtract,
    transpose,
    turn,
)
from humanoid_codegen.expression.graph import named
from humanoid_model import InputError


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


def loads_in_body_axes(
    links: Sequence[LinkFrame], wrenches: Sequence[Scalar], bodies: Sequence[Placement]
) -> dict[int, tuple[Vector, Vector]]:
    """Force [N] and moment about the body's origin [N m], in the body's axes, by body index.

    Args:
        links: the links on which wrenches act.
        wrenches: for each of them force [N] and moment about the link's origin [N m], world axes; 6 entries each.
        bodies: world placements of the bodies.
    """
    loads: dict[int, tuple[Vector, Vector]] = {}
    for i, link in enumerate(links):
        if link.body < 0:
            continue
        fx, fy, fz, nx, ny, nz = wrenches[6 * i : 6 * i + 6]
        rotation = bodies[link.body].rotation
        force, moment = apply_transpose(rotation, (fx, fy, fz)), apply_transpose(rotation, (nx, ny, nz))
        moment = add(moment, cross(link.position, force))
        if link.body in loads:
            force, moment = add(loads[link.body][0], force), add(loads[link.body][1], moment)
        loads[link.body] = (force, moment)
    return loads


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
