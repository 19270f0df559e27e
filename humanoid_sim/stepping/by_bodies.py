# SPDX-License-Identifier: Apache-2.0
"""Groups of contacts without an operator of their own, solved by way of the bodies that touch."""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.contact.block_nsgs import GOOD_RESIDUAL
from humanoid_sim.contact.body_interior import body_interior
from humanoid_sim.contact.body_newton import BodyGraph, BodyProblem, body_newton, invert_block, order_elimination
from humanoid_sim.contact.body_nsgs import body_nsgs, sweep_bodies
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.delassus.body_operator import BodyOperator, count_responses, fill_body_operator
from humanoid_sim.delassus.projection import TreeOperators
from humanoid_sim.stepping.constraints import FREE_BODIES
from humanoid_sim.stepping.step_data import Step
from humanoid_sim.stepping.step_settings import SolverSettings

_LAST_ITERATIONS, _SWEPT_ITERATIONS, _ITERATIONS = 20, 30, 50
"""Of Newton's method from the last step's forces, after sweeps from there or interior points, and from other starts."""
_INTERIOR_ITERATIONS = 36
_INTERIOR_WORK = 2
"""An iteration of interior points takes as long as so many of Newton's method."""
_SLOWEST_GROWTH = 16.0
"""Iterations over which De Saxcé's term grows on the way of interior points, at most: each growth is another way."""
_SWEEPS, _SWEEPS_WORK = 5, 1
"""They lead away from zero forces and kinks: Newton's method then solves half of what it is stuck on without them. They
take as long as so many of its iterations."""
_LEAST = 0.3
"""Part of the mean normal force that each contact has at least before sweeps."""
_KICK, _LARGER, _LARGEST_KICK = 1e5, 1e3, 0.1
"""Times the residual, the part of themselves by which the best forces are changed where Newton's method is stuck near a
solution: it often ends at a kink along self-stresses that it leaves in no direction, and from nearby it passes. Where
it doesn't, a kick is larger by the second, up to the last."""
_SPREAD = 0.5
"""After every other kick the forces of the last step, each contact's changed by this part at most, are swept again."""
_GOLDEN = 0.6180339887498949
"""Its multiples modulo 1 fill a range evenly, the same in every run."""
_TURNS, _MOST_WORK, _BODIES_WORK = 100, 32_000, 40
"""Starts, and iterations of all of them together times contacts and so many more, which stand for the bodies: 4 ms."""
_MANY = 120
"""With more contacts than this there is one start: sweeps do the rest, their number is bounded."""
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
                np.empty((count, 6, 6)), np.zeros((m, 2, 3, 6)), place, order, first_neighbours, neighbours,
                np.empty((size, 6, 6)), np.empty((count, 6)), np.empty((3, 6, 6)),
            )  # fmt: skip
            _fill_graph(step, begin, operator, settings.dt, graph)
            iterations += _solve_on_graph(BodyProblem(operator, graph, v_free, mu), f, settings, v, residuals)
            swept = m <= _MANY and iterations > _LAST_ITERATIONS
            if residuals[0] <= tolerance or swept or (residuals[0] <= GOOD_RESIDUAL and iterations > 0):
                return iterations
    return iterations + int(
        body_nsgs(operator, v_free, mu, f, tolerance, max(most - iterations, 1), v, residuals, deadline)
    )


@apart(error_model="numpy")
def _solve_on_graph(
    problem: BodyProblem, f: np.ndarray, settings: SolverSettings, v: np.ndarray, residuals: np.ndarray
) -> int:
    """Newton from the forces of the last step, from sweeps, then from interior points or from near the best forces.

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
    most = min(settings.max_iterations, max(_MOST_WORK // (mu.size + _BODIES_WORK), _ITERATIONS))
    last, best, best_residual = f.copy(), f.copy(), np.inf
    least = _LEAST * last[::3].mean()
    clock = np.empty(2, dtype=np.int64)
    done, interiors, kicks, kick, phase = 0, 0, 0, 0.0, 0.0
    turns = _TURNS if mu.size <= _MANY else 1
    for turn in range(turns):
        limit = _ITERATIONS
        if turn == 0:
            limit = _LAST_ITERATIONS if turns > 1 else _ITERATIONS
        elif turn == 1:
            limit = _SWEPT_ITERATIONS
            done += _sweep_from(operator, v_free, mu, f, last, least, v)
        elif interiors == 0 or best_residual > GOOD_RESIDUAL:  # far from a solution: another way
            for r in range(f.size):
                f[r] = 0.0
            growth = _SLOWEST_GROWTH * (interiors * _GOLDEN % 1.0)
            interiors += 1
            limit = min(_INTERIOR_ITERATIONS, (most - done) // _INTERIOR_WORK)
            done += _INTERIOR_WORK * body_interior(problem, f, tolerance, limit, v, residuals, deadline, growth)
            limit = _SWEPT_ITERATIONS
        elif kicks % 2 == 0:
            kicks += 1
            kick = min(_LARGER * kick if kick > 0.0 else _KICK * best_residual, _LARGEST_KICK)
            for r in range(f.size):
                phase = (phase + _GOLDEN) % 1.0
                f[r] = best[r] * (1.0 + kick * (2.0 * phase - 1.0))
        else:
            kicks += 1
            for c in range(mu.size):
                phase = (phase + _GOLDEN) % 1.0
                for r in range(3 * c, 3 * c + 3):
                    f[r] = last[r] * (1.0 + _SPREAD * (2.0 * phase - 1.0))
            done += _sweep_from(operator, v_free, mu, f, f, least, v)
        limit = min(limit, most - done)
        done += body_newton(problem, f, tolerance, limit, v, residuals, deadline)
        if residuals[0] < best_residual:
            best_residual = residuals[0]
            copy_vector(f, best)
        if residuals[0] <= tolerance or done >= most or (deadline < np.inf and seconds(clock) >= deadline):
            break
    if residuals[0] > best_residual:
        copy_vector(best, f)
        body_nsgs(operator, v_free, mu, f, tolerance, 0, v, residuals, deadline)
    return done


@uncounted()
def _sweep_from(
    operator: BodyOperator, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, start: np.ndarray, least: float,
    v: np.ndarray,
) -> int:  # fmt: skip
    """Sweep from forces ``start``, normal ones raised to the least, and return how many iterations these are worth."""
    for r in range(f.size):
        f[r] = start[r] if r % 3 > 0 else max(start[r], least)
    sweep_bodies(operator, v_free, mu, f, _SWEEPS, v)
    return _SWEEPS_WORK


@counted()
def _fill_graph(step: Step, begin: int, operator: BodyOperator, dt: float, graph: BodyGraph) -> None:
    """Write inertias and levers of free bodies, about the origins of their frames.

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
        for side in range(2):
            i = operator.sides[c, side]
            if i < 0:
                continue
            joint = rows.joint_a[begin + 3 * c] if side == 0 else rows.joint_b[begin + 3 * c]
            x = step.motion.p[joint]
            sign = 1.0 if side == 0 else -1.0
            for r in range(3):
                w, lever = operator.wrenches[3 * c + r], graph.levers[c, side, r]
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
