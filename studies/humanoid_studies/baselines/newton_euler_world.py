# SPDX-License-Identifier: Apache-2.0
"""Recursive Newton-Euler algorithm in world axes: thesis 004 (2.21)-(2.37) as corrected in its specification §2.5.

Every vector is in the world frame, which is easy to read and to check against a drawing, and takes more products than
:mod:`humanoid_codegen.dynamics.newton_euler_body`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humanoid_codegen.dynamics.forward_kinematics import WORLD, body_placements
from humanoid_codegen.dynamics.mechanism import Mechanism
from humanoid_codegen.dynamics.newton_euler_body import joint_efforts, joint_motion
from humanoid_codegen.dynamics.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    apply,
    apply_symmetric,
    apply_transpose,
    cross,
    negate,
    rotate_symmetric,
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
        loads: force [N] and moment about the body's origin [N m] exerted on a body, in world axes, by body index.

    Returns:
        Joint efforts [N m or N], nv of them.
    """
    bodies = mechanism.bodies
    placements = body_placements(mechanism, q)
    rates: list[Vector] = []
    rate_changes: list[Vector] = []
    accelerations: list[Vector] = []
    wrenches: list[tuple[Vector, Vector]] = []
    for i, body in enumerate(bodies):
        rotation, position = placements[i].rotation, placements[i].position
        # Gravity enters as an acceleration of the root: (2.27).
        rate, rate_change, acceleration, origin = ZERO, ZERO, negate(mechanism.gravity), WORLD.position
        if body.parent >= 0:
            rate, rate_change = rates[body.parent], rate_changes[body.parent]
            acceleration, origin = accelerations[body.parent], placements[body.parent].position
        lever = subtract(position, origin)
        turning, sliding = (apply(rotation, part) for part in joint_motion(body, v))
        turning_change, sliding_change = (apply(rotation, part) for part in joint_motion(body, a))
        # (2.22) with the lever arm, (2.25) with the turn of the axis, Coriolis where the joint slides.
        acceleration = add(acceleration, add(cross(rate_change, lever), cross(rate, cross(rate, lever))))
        acceleration = add(acceleration, add(sliding_change, cross(add(add(rate, rate), turning), sliding)))
        rate_change = add(add(rate_change, turning_change), cross(rate, turning))
        rate = add(rate, turning)
        first = apply(rotation, body.inertia.first)
        tensor = rotate_symmetric(rotation, body.inertia.tensor)
        force = add(
            scale(body.inertia.mass, acceleration), add(cross(rate_change, first), cross(rate, cross(rate, first)))
        )
        moment = add(apply_symmetric(tensor, rate_change), cross(rate, apply_symmetric(tensor, rate)))
        moment = add(moment, cross(first, acceleration))
        if loads and i in loads:
            force, moment = subtract(force, loads[i][0]), subtract(moment, loads[i][1])
        named(f"omega_{body.name}", rate)
        named(f"omega_rate_{body.name}", rate_change)
        named(f"acceleration_{body.name}", acceleration)
        rates.append(rate)
        rate_changes.append(rate_change)
        accelerations.append(acceleration)
        wrenches.append((force, moment))
    tau: list[Scalar] = [0.0] * mechanism.nv
    for i in reversed(range(len(bodies))):
        body = bodies[i]
        force, moment = wrenches[i]
        named(f"force_{body.name}", force)
        named(f"moment_{body.name}", moment)
        local = (apply_transpose(placements[i].rotation, vector) for vector in (force, moment))
        for k, effort in enumerate(joint_efforts(body, *local)):
            own = effort + body.armature[k] * (body.factor * a[body.first_v + k])
            tau[body.first_v + k] = tau[body.first_v + k] + body.factor * own
        if body.parent >= 0:
            lever = subtract(placements[i].position, placements[body.parent].position)
            above_force, above_moment = wrenches[body.parent]
            wrenches[body.parent] = (add(above_force, force), add(above_moment, add(moment, cross(lever, force))))
    return tau
