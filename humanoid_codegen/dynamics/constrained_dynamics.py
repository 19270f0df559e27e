# SPDX-License-Identifier: Apache-2.0
r"""Mechanisms with closed loops: the tree, cut at some joints, plus multipliers that hold the cuts together.

.. math:: M \dot v + b = \tau + J^T \lambda, \qquad J \dot v + \dot J v = 0
"""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.dynamics.direct_dynamics import factorize, is_zero, solve
from humanoid_codegen.dynamics.forward_kinematics import Placement, link_placement, relative_quaternion
from humanoid_codegen.dynamics.joint_transform import coordinate_rates
from humanoid_codegen.dynamics.mechanism import Mechanism
from humanoid_codegen.dynamics.vector import (
    ZERO,
    Scalar,
    add,
    apply,
    apply_transpose,
    constant_matrix,
    constant_vector,
    multiply,
    scale,
    sqrt,
    subtract,
)
from humanoid_codegen.expression.differentiate import directional_derivatives
from humanoid_codegen.expression.graph import Expression
from humanoid_model.loop_closure import ROWS, LoopClosure

#: Smaller than any rounding error: a half turn, where it is the whole cosine, gets one of its two signs.
_NOTHING = 1e-150


def closures(
    mechanism: Mechanism,
    q: Sequence[Expression],
    v: Sequence[Scalar],
    bodies: Sequence[Placement],
    loops: Sequence[LoopClosure],
) -> tuple[list[Scalar], list[list[Scalar]], list[Scalar]]:
    r"""Return how far the cuts are open, and how that changes.

    The second frame is turned against the first one by the angle :math:`\theta`, at most half a turn, about the unit
    vector n. The residual of the rotation is :math:`2 \sin(\theta/2)\, n`: the angle to first order, 2 at half a turn,
    and zero only when closed. It jumps where :math:`\theta n` does, from one half turn to the opposite one. Its rate in
    a closed cut is the relative angular velocity, in axes midway between those of both frames.

    Args:
        mechanism: the robot.
        q: its coordinates [rad, m], symbols.
        v: its velocities [rad/s, m/s].
        bodies: world placements of its bodies there.
        loops: its cuts.

    Returns:
        One entry per row of each cut [m, rad], their Jacobian by the velocities, and their second derivatives at
        constant v.

    Raises:
        InputError: a rotation is held across a planar joint.
    """
    residuals, signs = _residuals(mechanism, q, bodies, loops)
    rates = coordinate_rates(mechanism, q)
    seeds = {symbol.index: rate for symbol, rate in zip(q, rates, strict=True)}
    J = directional_derivatives(residuals, seeds, mechanism.nv)
    along: dict[int, dict[int, Scalar]] = {
        symbol.index: {0: _dot(list(rate.values()), [v[k] for k in rate])}
        for symbol, rate in zip(q, rates, strict=True)
    }
    drift = [row[0] for row in directional_derivatives([_dot(row, v) for row in J], along, 1)]
    return (
        [sign * value for sign, value in zip(signs, residuals, strict=True)],
        [[sign * value for value in row] for sign, row in zip(signs, J, strict=True)],
        [sign * value for sign, value in zip(signs, drift, strict=True)],
    )


def _residuals(
    mechanism: Mechanism, q: Sequence[Scalar], bodies: Sequence[Placement], loops: Sequence[LoopClosure]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return one entry per row of each cut, which is smooth, and its sign: their product is the residual.

    A sign is 1 or -1, and constant but for the jump from one half turn to the opposite one.
    """
    links = {link.name: link for link in mechanism.links}
    residuals: list[Scalar] = []
    signs: list[Scalar] = []
    for loop in loops:
        ends = []
        for link, placement in ((links[loop.link_a], loop.placement_a), (links[loop.link_b], loop.placement_b)):
            frame = link_placement(link, bodies)
            rotation = multiply(frame.rotation, constant_matrix(placement.rotation))
            ends.append(
                Placement(rotation, add(frame.position, apply(frame.rotation, constant_vector(placement.translation))))
            )
        a, b = ends
        gap = apply_transpose(a.rotation, subtract(b.position, a.position))
        turned, sign = ZERO, 1.0
        if any(row.startswith("r") for row in loop.rows):
            turned, cosine = relative_quaternion(
                mechanism,
                q,
                links[loop.link_a],
                loop.placement_a.rotation,
                links[loop.link_b],
                loop.placement_b.rotation,
            )
            cosine = cosine + _NOTHING
            sign = cosine / sqrt(cosine * cosine)
        values = (*gap, *scale(2.0, turned))
        residuals += [values[ROWS.index(row)] for row in loop.rows]
        signs += [sign if row.startswith("r") else 1.0 for row in loop.rows]
    return residuals, signs


def constrained_accelerations(
    M: Sequence[Sequence[Scalar]],
    free: Sequence[Scalar],
    J: Sequence[Sequence[Scalar]],
    drift: Sequence[Scalar],
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations and multipliers of a mechanism whose cuts hold.

    Args:
        M: joint-space inertia matrix, nv rows of nv.
        free: efforts minus bias efforts, nv of them.
        J: Jacobian of the cuts, m independent rows of nv.
        drift: acceleration of the cuts while the velocity coordinates stay as they are, m of them.

    Returns:
        Accelerations (nv) and the forces and moments that act at the cuts (m): forces along the first cut frame's axes,
        moments about axes midway between those of both frames.
    """
    factor = factorize(M)
    columns = [solve(factor, row) for row in J]
    unconstrained = solve(factor, free)
    delassus = [[_dot(row, column) for column in columns] for row in J]
    right = [-(_dot(row, unconstrained) + rate) for row, rate in zip(J, drift, strict=True)]
    multipliers = solve(factorize(delassus), right)
    a = list(unconstrained)
    for column, multiplier in zip(columns, multipliers, strict=True):
        a = [value + entry * multiplier for value, entry in zip(a, column, strict=True)]
    return a, multipliers


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for x, y in zip(a, b, strict=True):
        if not is_zero(x) and not is_zero(y):
            total = total + x * y
    return total
