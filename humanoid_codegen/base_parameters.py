# SPDX-License-Identifier: Apache-2.0
r"""Inertial parameters that a joint can't tell from its parent's, moved to the parent.

W. Khalil, F. Bennis, Symbolic calculation of the base inertial parameters of closed-loop robots, 1995. In second
moments the rule for a revolute joint is short: a mass distribution along the axis moves alike with both bodies, so
mass, first moment and second moment along the axis go to the parent. Of a prismatic joint all second moments go, of a
ball joint the mass. Masses are moved, none is dropped: the efforts, the mass matrix and the total energies stay
exactly what they were.
"""

from __future__ import annotations

from dataclasses import replace

from humanoid_codegen.inertia import BodyInertia
from humanoid_codegen.mechanism import Body, JointKind, Mechanism
from humanoid_codegen.vector import Scalar


def group_inertias(mechanism: Mechanism) -> Mechanism:
    """Return the same mechanism with every inertial parameter at the body nearest the root that it can belong to."""
    bodies = list(mechanism.bodies)
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        if body.parent < 0:
            continue
        moved = _shared_with_parent(body)
        if moved.is_zero:
            continue
        parent = bodies[body.parent]
        # Where the joint stands makes no difference, so the joint frame at rest will do.
        arrived = moved.expressed(body.rotation, body.position)
        bodies[body.parent] = replace(parent, inertia=parent.inertia.plus(arrived))
        bodies[i] = replace(body, inertia=_without(body.inertia, moved))
    return replace(mechanism, bodies=tuple(bodies))


def _shared_with_parent(body: Body) -> BodyInertia:
    """Return the part of a body's inertia that acts the same when it is the parent's."""
    inertia = body.inertia
    second: list[Scalar] = [0.0] * 6
    if body.kind is JointKind.REVOLUTE:
        first: list[Scalar] = [0.0] * 3
        first[body.axis] = inertia.first[body.axis]
        diagonal = (0, 3, 5)[body.axis]
        second[diagonal] = inertia.second[diagonal]
        return BodyInertia(inertia.mass, tuple(first), tuple(second))
    if body.kind is JointKind.PRISMATIC:
        # Only while the body has neither mass nor first moment do its second moments not depend on the position; the
        # rest of a sliding body's inertia stays, and the moments about its own origin are what is left over.
        return BodyInertia(0.0, (0.0, 0.0, 0.0), inertia.second)
    if body.kind is JointKind.SPHERICAL:
        return BodyInertia(inertia.mass, (0.0, 0.0, 0.0), tuple(second))
    if body.kind is JointKind.PLANAR:
        second[5] = inertia.second[5]
        return BodyInertia(0.0, (0.0, 0.0, 0.0), tuple(second))
    return BodyInertia.zero()


def _without(inertia: BodyInertia, moved: BodyInertia) -> BodyInertia:
    """Return what is left of an inertia."""
    return BodyInertia(
        _left(inertia.mass, moved.mass),
        tuple(_left(a, b) for a, b in zip(inertia.first, moved.first, strict=True)),
        tuple(_left(a, b) for a, b in zip(inertia.second, moved.second, strict=True)),
    )


def _left(a: Scalar, b: Scalar) -> Scalar:
    # Exactly zero where all of it has moved; elsewhere nothing has.
    return 0.0 if a is b or (isinstance(a, float) and a == b) else a
