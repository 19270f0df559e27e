# SPDX-License-Identifier: Apache-2.0
"""Contacts of free bodies without an operator of their own, solved by way of the bodies that touch.

Gauss-Seidel, Newton's method and interior points start one after the other where the one before got stuck.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted
from humanoid_sim.contact.block_nsgs import GOOD_RESIDUAL
from humanoid_sim.contact.body_graph import BodyGraph, invert_block, order_elimination
from humanoid_sim.contact.body_newton import BodyProblem, body_interior, body_newton
from humanoid_sim.contact.body_nsgs import body_nsgs, sweep_bodies
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.delassus.constraint_rows import (
    BodyOperator,
    TreeOperators,
    count_responses,
    fill_body_operator,
    operator_velocity,
)
from humanoid_sim.stepping.constraints import FREE_BODIES
from humanoid_sim.stepping.step_data import SolverSettings, Step

LAST_ITERATIONS, _SWEPT_ITERATIONS, _ITERATIONS = 20, 30, 70
"""Of Newton's method from the last step's forces, after sweeps from there or interior points, and from other starts."""
_LASTING_ITERATIONS, _SHARE = 2, 0.03
"""Where the forces of the last step solve the problem, so many for this part of the tolerance: what comes to rest
starts from forces that last longer."""
_INTERIOR_ITERATIONS = 36
_INTERIOR_COUNT = 2
"""An iteration of interior points counts as so many of Newton's method."""
_SLOWEST_GROWTH = 16.0
"""Iterations over which De Saxcé's term grows on the way of interior points, at most: each growth is another way."""
_SWEEPS, _SWEEPS_WORK = 5, 1
"""They lead away from zero forces and kinks: Newton's method then solves half of what it is stuck on without them. They
take as long as so many of its iterations."""
_LEAST = 0.3
"""Part of the mean normal force that each contact has at least before sweeps."""
_KICK, _LARGER, _LARGEST_KICK = 1e5, 1e3, 0.1
"""Times the residual, the part of themselves by which the best forces are changed where Newton's method is stuck near a
solution: there it creeps along self-stresses, in steps that the curvature of the cones keeps short, and from nearby it
takes others. Where that doesn't help, a kick is larger by the second, up to the last."""
_GOLDEN = 0.6180339887498949
"""Its multiples modulo 1 fill a range evenly, the same in every run."""
_TURNS, _MOST_WORK = 100, 100_000
"""Starts, and the work of all of them together: 4 ms."""
_BODY_WORK, _INTERIOR_WORK = 15, 4
"""An iteration of Newton's method takes as long for a body as for so many contacts, and one of interior points as many
times as long for a contact; by measurement."""
AS_IT_IS, SWEPT, INTERIOR = 0, 1, 2
"""Newton's method begins with given forces, with these swept, or with those of interior points."""
_NEARLY, _CLEARLY = 1e-4, 0.03
"""Below this residual it is known which contacts are open; those are that part faster than the second part of the
largest force could change in a step."""
MANY_CONTACTS = 120
"""With more contacts than this there is one start: sweeps do the rest, their number is bounded."""


class Start(NamedTuple):
    """Where Newton's method begins.

    Attributes:
        kind: ``AS_IT_IS``, ``SWEPT`` or ``INTERIOR``.
        least: normal force that each contact has at least before sweeps [N].
        growth: of De Saxcé's term, see :func:`~humanoid_sim.contact.body_newton.body_interior`.
        interior: bound on its iterations.
        newton: bound on those of Newton's method.
    """

    kind: int
    least: float
    growth: float
    interior: int
    newton: int


@apart(error_model="numpy")
def solve_on_graph(
    problem: BodyProblem, f: np.ndarray, settings: SolverSettings, v: np.ndarray, residuals: np.ndarray
) -> int:
    """Newton from the forces of the last step, from sweeps, then from interior points or from near the best forces.

    Contacts that are clearly open after the first two are left out from then on, until a solution without them turns
    out to be none with them.

    Args:
        problem: what is solved.
        f: initial forces, overwritten with the best ones found, shape (3m,).
        settings: how.
        v: receives the contact velocities, shape (3m,).
        residuals: receives those of :func:`~humanoid_sim.contact.block_nsgs.law_residuals`, shape (5,).

    Returns:
        Number of iterations, those of interior points twice.
    """
    operator, v_free, mu = problem.operator, problem.v_free, problem.mu
    tolerance, deadline = settings.tolerance, settings.deadline
    last, best, best_residual = f.copy(), f.copy(), np.inf
    least = _LEAST * last[::3].mean()
    clock = np.empty(2, dtype=np.int64)
    done, work, interiors, kick, phase, growth = 0, 0, 0, 0.0, 0.0, 0.0
    turns = _TURNS if mu.size <= MANY_CONTACTS else 1
    near, kept = problem, np.arange(mu.size)
    bodies = _BODY_WORK * problem.graph.order.size
    for turn in range(turns):
        most = min(settings.max_iterations - done, (_MOST_WORK - work) // (kept.size + bodies))
        start, limit = AS_IT_IS, _ITERATIONS
        if turn == 0:
            limit = LAST_ITERATIONS if turns > 1 else _ITERATIONS
            most = max(most, min(limit, settings.max_iterations))
        elif turn == 1:
            start, limit = SWEPT, _SWEPT_ITERATIONS
            copy_vector(last, f)
        elif interiors == 0 or best_residual > GOOD_RESIDUAL:  # far from a solution: another way
            start, limit = INTERIOR, _SWEPT_ITERATIONS
            growth = _SLOWEST_GROWTH * (interiors * _GOLDEN % 1.0)
            interiors += 1
        else:
            kick = min(_LARGER * kick if kick > 0.0 else _KICK * best_residual, _LARGEST_KICK)
            for r in range(f.size):
                phase = (phase + _GOLDEN) % 1.0
                f[r] = best[r] * (1.0 + kick * (2.0 * phase - 1.0))
        if most <= 0:
            break
        interior = 0
        if start == INTERIOR:
            part = (_MOST_WORK - work) // (_INTERIOR_WORK * kept.size + bodies)
            interior = min(_INTERIOR_ITERATIONS, part, most // _INTERIOR_COUNT)
        way = Start(start, least, growth, interior, min(limit, most))
        interior, used = _solve_near(near, kept, f, way, settings, v, residuals)
        done += _INTERIOR_COUNT * interior + used
        work += interior * (_INTERIOR_WORK * kept.size + bodies) + used * (kept.size + bodies)
        if residuals[0] <= tolerance and kept.size < mu.size:
            body_nsgs(operator, v_free, mu, f, tolerance, 0, v, residuals, deadline)
            if residuals[0] > tolerance:  # something closes that was left out
                near, kept = problem, np.arange(mu.size)
                body_nsgs(operator, v_free, mu, best, tolerance, 0, v, residuals, deadline)
                best_residual = residuals[0]  # of all contacts from here on
                limit = min(_SWEPT_ITERATIONS, settings.max_iterations - done)
                used = body_newton(problem, f, tolerance, limit, v, residuals, deadline)
                done, work = done + used, work + used * (mu.size + bodies)
        if done == 0 and _SHARE * tolerance < residuals[0] <= tolerance:
            limit = min(_LASTING_ITERATIONS, settings.max_iterations - done)
            done += body_newton(problem, f, _SHARE * tolerance, limit, v, residuals, deadline)
        if residuals[0] < best_residual:
            best_residual = residuals[0]
            copy_vector(f, best)
        if residuals[0] <= tolerance or (deadline < np.inf and seconds(clock) >= deadline):
            break
        if turn == 1 and best_residual < _NEARLY:
            operator_velocity(operator, v_free, best, v)
            kept = _not_clearly_open(problem, best, v)
            if kept.size < mu.size:
                near = _subset(problem, kept)
    if residuals[0] > best_residual or kept.size < mu.size:
        copy_vector(best, f)
        body_nsgs(operator, v_free, mu, f, tolerance, 0, v, residuals, deadline)
    return done


@counted()
def _solve_near(
    problem: BodyProblem, kept: np.ndarray, f: np.ndarray, start: Start, settings: SolverSettings, v: np.ndarray,
    residuals: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Newton's method on the contacts kept, from what ``start`` says.

    Args:
        problem: theirs.
        kept: their numbers, shape (k,).
        f: initial forces of all contacts, overwritten, those of the others with zero, shape (3m,).
        start: how to begin.
        settings: tolerance and deadline.
        v: work space, shape (3m,).
        residuals: receives those of the contacts kept, shape (5,).

    Returns:
        Number of iterations of interior points, and of sweeps and Newton's method.
    """
    size = 3 * kept.size
    own, interior, newton = np.empty(size), 0, 0
    for c in range(kept.size):
        for r in range(3):
            own[3 * c + r] = f[3 * kept[c] + r]
    if start.kind == SWEPT:
        for k in range(0, size, 3):
            own[k] = max(own[k], start.least)
        sweep_bodies(problem.operator, problem.v_free, problem.mu, own, _SWEEPS, v[:size])
        newton = _SWEEPS_WORK
    elif start.kind == INTERIOR:
        own[:] = 0.0
        interior = body_interior(
            problem, own, settings.tolerance, start.interior, v[:size], residuals, settings.deadline, start.growth
        )
    newton += body_newton(problem, own, settings.tolerance, start.newton, v[:size], residuals, settings.deadline)
    f[:] = 0.0
    for c in range(kept.size):
        for r in range(3):
            f[3 * kept[c] + r] = own[3 * c + r]
    return interior, newton


@counted()
def _not_clearly_open(problem: BodyProblem, f: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the numbers of the contacts but for those without a force that part fast."""
    largest, count = 0.0, 0
    kept = np.empty(problem.mu.size, dtype=np.int64)
    for k in range(0, f.size, 3):
        largest = max(largest, f[k])
    for c in range(kept.size):
        block = problem.operator.diagonal[c]
        if f[3 * c] > 0.0 or v[3 * c] <= _CLEARLY * largest * block[0, 0]:
            kept[count] = c
            count += 1
    return kept[:count].copy()


@counted()
def _subset(problem: BodyProblem, kept: np.ndarray) -> BodyProblem:
    """Return the problem of some contacts alone, between the same bodies."""
    operator, graph = problem.operator, problem.graph
    rows, starts = np.empty(3 * kept.size, dtype=np.int64), np.zeros(kept.size + 1, dtype=np.int64)
    all_responses = np.empty(operator.bodies.size, dtype=np.int64)
    count = 0
    for c in range(kept.size):
        for r in range(3):
            rows[3 * c + r] = 3 * kept[c] + r
        for e in range(operator.starts[kept[c]], operator.starts[kept[c] + 1]):
            all_responses[count] = e
            count += 1
        starts[c + 1] = count
    responses = all_responses[:count]
    return BodyProblem(
        BodyOperator(
            operator.wrenches[rows], operator.compliance[rows], operator.sides[kept], starts,
            operator.bodies[responses], operator.responses[responses], operator.diagonal[kept], operator.twists,
        ),
        BodyGraph(
            graph.centres, graph.inertias, graph.levers[kept], graph.place, graph.order, graph.starts,
            graph.neighbours, graph.blocks, graph.twists, graph.room,
        ),
        problem.v_free[rows],
        problem.mu[kept],
    )  # fmt: skip


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
