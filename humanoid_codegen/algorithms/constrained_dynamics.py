# SPDX-License-Identifier: Apache-2.0
r"""Mechanisms with closed loops: the tree, cut at some joints, plus multipliers that hold the cuts together.

.. math:: M \dot v + b = \tau + J^T \lambda, \qquad J \dot v + \dot J v = 0
"""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.algorithms.forward_kinematics import Placement, link_placement
from humanoid_codegen.algorithms.symmetric_solve import factorize, is_zero, solve
from humanoid_codegen.mechanism import Mechanism
from humanoid_codegen.vector import (
    Scalar,
    add,
    apply,
    apply_transpose,
    constant_matrix,
    constant_vector,
    multiply,
    subtract,
    transpose,
)
from humanoid_model.loop_closure import ROWS, LoopClosure


def closure_residuals(
    mechanism: Mechanism, bodies: Sequence[Placement], loops: Sequence[LoopClosure]
) -> list[Scalar]:
    """How far the cuts are open [m, rad]; the rotation is exact to first order and zero only when closed.

    Args:
        mechanism: the robot.
        bodies: world placements of its bodies.
        loops: its cuts.

    Returns:
        One entry per row of each cut.
    """
    links = {link.name: link for link in mechanism.links}
    residuals: list[Scalar] = []
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
        R = multiply(transpose(a.rotation), b.rotation)
        turned = (0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1]))
        residuals += [(*gap, *turned)[ROWS.index(row)] for row in loop.rows]
    return residuals


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
        Accelerations (nv) and the forces and moments that act at the cuts (m), in the first cut frame's axes.
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
