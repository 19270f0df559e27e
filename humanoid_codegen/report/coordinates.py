# SPDX-License-Identifier: Apache-2.0
"""Which coordinates of the model belong to a joint of the URDF, and what the joint is called for people."""

from __future__ import annotations

from humanoid_codegen.dynamics.mechanism import Body, JointKind, Mechanism
from humanoid_model import Robot
from humanoid_model.description import Joint

#: What a joint with several degrees of freedom is called.
_SEVERAL = {JointKind.FREE_FLYER: "free flyer", JointKind.SPHERICAL: "ball", JointKind.PLANAR: "planar"}


def body_of(robot: Robot, mechanism: Mechanism, joint: Joint) -> Body | None:
    """Return the body that a joint moves, None for a fixed joint; three joints that make a ball have one body."""
    name = joint.name
    for ball, members in robot.ball_joints.items():
        if name in members:
            name = ball
    return next((body for body in mechanism.bodies if body.name == name), None)


def free_base(robot: Robot, mechanism: Mechanism) -> Body | None:
    """Return the free-flying body of the root link that no joint of the URDF describes, None on a fixed robot."""
    first = mechanism.bodies[0] if mechanism.bodies else None
    if first is not None and first.kind is JointKind.FREE_FLYER and first.name not in robot.description.joints:
        return first
    return None


def kind_name(body: Body) -> str:
    """Return the kind of a body's joint, in words."""
    return _SEVERAL.get(body.kind, body.kind.value)


def coordinate_range(body: Body) -> str:
    """Return numbers of a body's coordinates from 1: ``3`` or ``1-7``, with an en dash."""
    return _range(body.first_q + 1, body.nq)


def velocity_range(body: Body) -> str:
    """Return numbers of a body's velocity coordinates from 1."""
    return _range(body.first_v + 1, body.nv)


def _range(first: int, count: int) -> str:
    return str(first) if count == 1 else f"{first}\N{EN DASH}{first + count - 1}"
