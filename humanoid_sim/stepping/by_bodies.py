# SPDX-License-Identifier: Apache-2.0
"""Groups of contacts without an operator of their own, solved by way of the bodies that touch."""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted
from humanoid_sim.contact.block_nsgs import GOOD_RESIDUAL
from humanoid_sim.contact.body_newton import BodyGraph, BodyProblem, invert_block, order_elimination
from humanoid_sim.contact.body_nsgs import body_nsgs
from humanoid_sim.delassus.body_operator import BodyOperator, count_responses, fill_body_operator
from humanoid_sim.delassus.projection import TreeOperators
from humanoid_sim.stepping.constraints import FREE_BODIES
from humanoid_sim.stepping.solve_on_graph import LAST_ITERATIONS, MANY_CONTACTS, solve_on_graph
from humanoid_sim.stepping.step_data import Step
from humanoid_sim.stepping.step_settings import SolverSettings

_MOST_BODIES = 500
"""The elimination keeps a table of pairs of bodies; larger groups are swept, so that memory grows with the contacts."""


@apart(error_model="numpy")
def solve_by_bodies(step: Step, group: int, v_free: np.ndarray, f: np.ndarray, settings: SolverSettings) -> int:
    """Solve a group of contacts alone that has no operator of its own; velocities and residuals are written.

    Args:
        step: the step.
        group: number of the group.
        v_free: free velocities of its rows, shape (3m,).
        f: initial forces of its rows, overwritten with the solution or the best ones found, shape (3m,).
        settings: how.

    Returns:
        Number of sweeps and Newton's iterations, those of interior points twice.
    """
    groups, rows, blocks = step.groups, step.rows, step.blocks
    first, last = groups.blocks[group], groups.blocks[group + 1]
    begin, end = blocks.starts[first], blocks.starts[last]
    m = last - first
    trees = TreeOperators(step.model.trees, groups.place, groups.sizes, groups.omega_offsets, groups.omega)
    starts = np.empty(m + 1, dtype=np.int64)
    count_responses(rows, begin, starts, trees)
    sides, responding = np.empty((m, 2), dtype=np.int64), np.empty(starts[m], dtype=np.int64)
    bodies = np.empty(groups.tree_bodies[groups.sizes.size], dtype=np.int64)
    count = 0
    operator = BodyOperator(
        rows.wrenches[begin:end], blocks.compliance[begin:end], sides, starts, responding,
        np.empty((starts[m], 6, 3)), np.empty((m, 3, 3)), np.empty((bodies.size, 6)),
    )  # fmt: skip
    fill_body_operator(rows, begin, trees, groups.tree_bodies, settings.dt, operator)
    bodies[:] = -1
    for c in range(m):
        for side in range(2):
            if sides[c, side] >= 0 and bodies[sides[c, side]] < 0:
                bodies[sides[c, side]] = count
                count += 1
    for c in range(m):  # numbered within the group from here on
        for side in range(2):
            if sides[c, side] >= 0:
                sides[c, side] = bodies[sides[c, side]]
        for r in range(3):
            blocks.diagonal[begin + 3 * c + r] = operator.diagonal[c, r, r]
    for e in range(responding.size):
        responding[e] = bodies[responding[e]]
    operator = BodyOperator(
        operator.wrenches, operator.compliance, sides, starts, responding, operator.responses, operator.diagonal,
        operator.twists[:count],
    )  # fmt: skip
    v, residuals, mu = blocks.velocities[begin:end], groups.residuals[group], blocks.parameters[first:last]
    tolerance, most, deadline = settings.tolerance, settings.max_iterations, settings.deadline
    iterations = 0
    few = count <= _MOST_BODIES
    if few and groups.offsets[group] == FREE_BODIES and settings.newton and most > 1:  # else a sweep, as without time
        place, order = np.empty((count, count), dtype=np.int64), np.empty(count, dtype=np.int64)
        first_neighbours, neighbours = np.empty(count + 1, dtype=np.int64), np.empty(count * count, dtype=np.int64)
        size = order_elimination(sides, place, order, first_neighbours, neighbours)
        if size > 0:
            graph = BodyGraph(
                np.empty((count, 3)), np.empty((count, 6, 6)), np.empty((m, 3, 6)), place, order, first_neighbours,
                neighbours, np.empty((size, 6, 6)), np.empty((count, 6)), np.empty((3, 6, 6)),
            )  # fmt: skip
            _fill_graph(step, begin, operator, settings.dt, graph)
            iterations += solve_on_graph(BodyProblem(operator, graph, v_free, mu), f, settings, v, residuals)
            swept = m <= MANY_CONTACTS and iterations > LAST_ITERATIONS
            if residuals[0] <= tolerance or swept or (residuals[0] <= GOOD_RESIDUAL and iterations > 0):
                return iterations
    return iterations + int(
        body_nsgs(operator, v_free, mu, f, tolerance, max(most - iterations, 1), v, residuals, deadline)
    )


@counted()
def _fill_graph(step: Step, begin: int, operator: BodyOperator, dt: float, graph: BodyGraph) -> None:
    """Write centres and inertias of free bodies, about the origins of their frames, and the contacts' levers.

    Args:
        step: the step.
        begin: first row of the contacts.
        operator: of the contacts.
        dt: time step [s].
        graph: receives them.
    """
    groups, rows, trees = step.groups, step.rows, step.model.trees
    known = np.zeros(graph.order.size, dtype=np.bool_)
    own, turned, swaps = np.empty((6, 6)), np.empty((6, 6)), np.empty(6)
    for c in range(operator.sides.shape[0]):
        for side in range(1, -1, -1):  # the levers are about the centre of a, if it is a body
            i = operator.sides[c, side]
            if i < 0:
                continue
            joint = rows.joint_a[begin + 3 * c] if side == 0 else rows.joint_b[begin + 3 * c]
            x = step.motion.origins[joint]
            sign = 1.0 if side == 0 else -1.0
            for r in range(3):
                w, lever = operator.wrenches[3 * c + r], graph.levers[c, r]
                for s in range(3):
                    s1, s2 = (s + 1) % 3, (s + 2) % 3
                    lever[s] = sign * w[s]
                    lever[3 + s] = sign * (w[3 + s] - x[s1] * w[s2] + x[s2] * w[s1])
            if known[i]:
                continue
            known[i] = True
            omega = groups.omega[groups.omega_offsets[trees[joint]]]
            for r in range(6):  # twists about the frame's origin: v + w x p
                for s in range(6):
                    turned[r, s] = omega[r, s]
                    if r < 3:
                        turned[r, s] += omega[3 + (r + 1) % 3, s] * x[(r + 2) % 3]
                        turned[r, s] -= omega[3 + (r + 2) % 3, s] * x[(r + 1) % 3]
            for r in range(6):
                for s in range(6):
                    own[r, s] = dt * turned[r, s]
                    if s < 3:
                        own[r, s] += dt * turned[r, 3 + (s + 1) % 3] * x[(s + 2) % 3]
                        own[r, s] -= dt * turned[r, 3 + (s + 2) % 3] * x[(s + 1) % 3]
            invert_block(own, swaps)
            for r in range(6):
                for s in range(6):
                    graph.inertias[i, r, s] = own[r, s]
            for s in range(3):
                graph.centres[i, s] = x[s]
