# SPDX-License-Identifier: Apache-2.0
r"""Newton's method on all contacts of free bodies, its systems solved on the graph of the bodies that touch.

The equations are those of :mod:`humanoid_sim.contact.alart_curnier_global`, :math:`(A + B W) d = -\psi`. With
:math:`W = X M^{-1} X^T + C` of the bodies' inertias M, the twists :math:`w = M^{-1} X^T d` that the step makes are the
unknowns: contact by contact :math:`d = -E^{-1} (\psi + B X w)` with the 3 x 3 blocks :math:`E = A + B C`, which leaves

.. math::
    (M + X^T E^{-1} B X)\, w = -X^T E^{-1} \psi

with a block of 6 x 6 for each body and each pair of bodies that touch. Eliminated in an order that fills in little, a
row of dominoes or a stack takes time linear in the bodies. In C contacts yield a little more than they do: forces of
redundant contacts move along their self-stresses no further than needed, and the less the shorter the steps are that
the line search allows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.contact.alart_curnier import optimal_steps
from humanoid_sim.contact.alart_curnier_global import contact_derivatives, contact_function
from humanoid_sim.contact.block_nsgs import CONTACT, block_natural_map, law_residuals
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.delassus.body_operator import BodyOperator, operator_velocity

_BACKTRACKS = 10
_MEMORY = 20
"""Accepted steps whose worst merit a new step has to beat: the function has kinks, its norm can't always fall."""
_SUFFICIENT = 1e-4
_FIRST_SHIFT, _LAST_SHIFT = 1e-6, 1e-9
"""Contacts yield by as much of their own block as the residual is, within these bounds; what they feel is exact."""
_SHORT, _LONG = 0.2, 0.9
_STIFFER, _SOFTEST = 0.1, 1e4
"""After a step shorter than the first part contacts yield ten times as much, after one longer than the second a tenth,
and never more than so many times the least."""
_FAILURES = 6
"""Steps in a row without progress after which the method gives up."""
_MOST_PRODUCTS = 3000
"""Products of 6 x 6 blocks that an elimination may take, some tenths of a millisecond: a heap is left to sweeps."""


class BodyGraph(NamedTuple):
    """Free bodies that touch, and the order in which they are eliminated.

    Attributes:
        inertias: of the bodies about their centres, divided by the time step, shape (bodies, 6, 6).
        levers: wrenches of the rows about the centres of bodies a and b, that of b negative, shape (m, 2, 3, 6).
        place: number of the block of a pair of bodies, -1 where there is none, shape (bodies, bodies).
        order: bodies in the order of their elimination, shape (bodies,).
        starts: first of the neighbours of each body that are left when it is eliminated, shape (bodies + 1,), by order.
        neighbours: these, shape (any,).
        blocks: work space, shape (blocks, 6, 6).
        twists: likewise, shape (bodies, 6).
        room: likewise, shape (3, 6, 6).
    """

    inertias: np.ndarray
    levers: np.ndarray
    place: np.ndarray
    order: np.ndarray
    starts: np.ndarray
    neighbours: np.ndarray
    blocks: np.ndarray
    twists: np.ndarray
    room: np.ndarray


class BodyProblem(NamedTuple):
    """A contact problem of free bodies.

    Attributes:
        operator: of the contacts.
        graph: of the bodies, all of them free.
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
    """

    operator: BodyOperator
    graph: BodyGraph
    v_free: np.ndarray
    mu: np.ndarray


class Linearised(NamedTuple):
    r"""The contacts' laws near their forces, :math:`\psi + A d + B (v(d) + \epsilon d)`.

    Attributes:
        A: derivatives with respect to the forces, then E = A + B C, shape (m, 3, 3).
        B: derivatives with respect to the velocities, shape (m, 3, 3).
        E_inverse: of E, shape (m, 3, 3).
        S: the same times B, shape (m, 3, 3).
        shifts: what the contacts yield, :math:`\epsilon`, shape (m,).
        is_open: whether B is zero, shape (m,).
    """

    A: np.ndarray
    B: np.ndarray
    E_inverse: np.ndarray
    S: np.ndarray
    shifts: np.ndarray
    is_open: np.ndarray


@apart(error_model="numpy")
def order_elimination(
    sides: np.ndarray, place: np.ndarray, order: np.ndarray, starts: np.ndarray, neighbours: np.ndarray
) -> int:
    """Choose an order of elimination by the least number of neighbours left, and number the blocks that it fills.

    Args:
        sides: bodies a and b of each contact, -1 for the world, shape (m, 2).
        place: see :class:`BodyGraph`.
        order: likewise.
        starts: likewise.
        neighbours: likewise; as long as all entries of ``place``.

    Returns:
        The number of blocks, 0 where the elimination would take too long.
    """
    bodies = order.size
    degree = np.zeros(bodies, dtype=np.int64)
    place[:] = -1
    count = bodies
    for i in range(bodies):
        place[i, i] = i
    for c in range(sides.shape[0]):
        a, b = sides[c, 0], sides[c, 1]
        if a >= 0 and b >= 0 and place[a, b] < 0:
            place[a, b], place[b, a] = count, count + 1
            count += 2
            degree[a] += 1
            degree[b] += 1
    done = np.zeros(bodies, dtype=np.bool_)
    starts[0] = 0
    products = 0
    for step in range(bodies):
        k = -1
        for i in range(bodies):
            if not done[i] and (k < 0 or degree[i] < degree[k]):
                k = i
        done[k] = True
        order[step] = k
        end = starts[step]
        for i in range(bodies):
            if not done[i] and place[k, i] >= 0:
                neighbours[end] = i
                end += 1
                degree[i] -= 1
        starts[step + 1] = end
        products += (end - starts[step]) * (end - starts[step] + 1)
        if products > _MOST_PRODUCTS:
            return 0
        for x in range(starts[step], end):
            for y in range(x):
                if y >= starts[step] and place[neighbours[x], neighbours[y]] < 0:
                    i, j = neighbours[x], neighbours[y]
                    place[i, j], place[j, i] = count, count + 1
                    count += 2
                    degree[i] += 1
                    degree[j] += 1
    return count


@uncounted()
def invert_block(D: np.ndarray, swaps: np.ndarray) -> bool:
    """Invert a 6 x 6 block in place by Gauss and Jordan with pivots on its rows; False where it is singular.

    Work space is ``swaps``, shape (6,).
    """
    for c in range(6):
        pivot = c
        for r in range(c + 1, 6):
            if abs(D[r, c]) > abs(D[pivot, c]):
                pivot = r
        swaps[c] = pivot
        if not abs(D[pivot, c]) > 1e-300:
            return False
        if pivot != c:
            for j in range(6):
                D[c, j], D[pivot, j] = D[pivot, j], D[c, j]
        inverse = 1.0 / D[c, c]
        D[c, c] = 1.0
        for j in range(6):
            D[c, j] *= inverse
        for r in range(6):
            if r != c:
                factor = D[r, c]
                D[r, c] = 0.0
                for j in range(6):
                    D[r, j] -= factor * D[c, j]
    for c in range(5, -1, -1):
        pivot = int(swaps[c])
        if pivot != c:
            for r in range(6):
                D[r, c], D[r, pivot] = D[r, pivot], D[r, c]
    return True


@uncounted()
def _factor(graph: BodyGraph) -> bool:
    """Eliminate bodies from ``graph.blocks`` in place; False where the system is singular.

    What is left on the diagonal is inverted; blocks beside it stay as they are when their body is eliminated.
    """
    blocks, place, order, starts, neighbours = graph.blocks, graph.place, graph.order, graph.starts, graph.neighbours
    factor = graph.room[0]
    for step in range(order.size):
        k = order[step]
        D = blocks[place[k, k]]
        if not invert_block(D, graph.room[1, 0]):
            return False
        for x in range(starts[step], starts[step + 1]):
            i = neighbours[x]
            below = blocks[place[i, k]]
            for r in range(6):
                b_0, b_1, b_2 = below[r, 0], below[r, 1], below[r, 2]
                b_3, b_4, b_5 = below[r, 3], below[r, 4], below[r, 5]
                for s in range(6):
                    first = b_0 * D[0, s] + b_1 * D[1, s] + b_2 * D[2, s]
                    factor[r, s] = first + (b_3 * D[3, s] + b_4 * D[4, s] + b_5 * D[5, s])
            for y in range(starts[step], starts[step + 1]):
                right, target = blocks[place[k, neighbours[y]]], blocks[place[i, neighbours[y]]]
                for r in range(6):
                    b_0, b_1, b_2 = factor[r, 0], factor[r, 1], factor[r, 2]
                    b_3, b_4, b_5 = factor[r, 3], factor[r, 4], factor[r, 5]
                    for s in range(6):
                        first = b_0 * right[0, s] + b_1 * right[1, s] + b_2 * right[2, s]
                        target[r, s] -= first + (b_3 * right[3, s] + b_4 * right[4, s] + b_5 * right[5, s])
    return True


@uncounted()
def _multiply(block: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
    """Write a block of 6 x 6 times x into y."""
    for r in range(6):
        y[r] = 0.0
        for s in range(6):
            y[r] += block[r, s] * x[s]


@uncounted()
def _substitute(graph: BodyGraph, w: np.ndarray) -> None:
    """Solve the system that :func:`_factor` has eliminated for w, shape (bodies, 6), in place."""
    blocks, place, order, starts, neighbours = graph.blocks, graph.place, graph.order, graph.starts, graph.neighbours
    own, part = graph.room[0, 0], graph.room[0, 1]
    for step in range(order.size):
        k = order[step]
        _multiply(blocks[place[k, k]], w[k], own)
        for x in range(starts[step], starts[step + 1]):
            i = neighbours[x]
            _multiply(blocks[place[i, k]], own, part)
            for r in range(6):
                w[i, r] -= part[r]
    for step in range(order.size - 1, -1, -1):
        k = order[step]
        for x in range(starts[step], starts[step + 1]):
            _multiply(blocks[place[k, neighbours[x]]], w[neighbours[x]], part)
            for r in range(6):
                w[k, r] -= part[r]
        _multiply(blocks[place[k, k]], w[k], own)
        for r in range(6):
            w[k, r] = own[r]


@apart(error_model="numpy", _nrt=False)
def factor_system(sides: np.ndarray, graph: BodyGraph, laws: Linearised) -> bool:
    """Write the system of the bodies, see the module, and eliminate it; False where it is singular.

    Args:
        sides: bodies a and b of each contact, -1 for the world, shape (m, 2).
        graph: of the bodies.
        laws: the contacts' laws, of which S is read.
    """
    m, bodies = laws.A.shape[0], graph.order.size
    levers, place, blocks = graph.levers, graph.place, graph.blocks
    S, SX = laws.S, graph.room[0]
    for e in range(blocks.shape[0]):
        for r in range(6):
            for s in range(6):
                blocks[e, r, s] = graph.inertias[e, r, s] if e < bodies else 0.0
    for c in range(m):
        for one in range(2):
            i = sides[c, one]
            if i < 0 or laws.is_open[c]:
                continue
            for r in range(3):
                s_0, s_1, s_2 = S[c, r, 0], S[c, r, 1], S[c, r, 2]
                for x in range(6):
                    SX[r, x] = s_0 * levers[c, one, 0, x] + s_1 * levers[c, one, 1, x] + s_2 * levers[c, one, 2, x]
            for other in range(2):
                j = sides[c, other]
                if j >= 0:
                    target = blocks[place[j, i]]
                    for x in range(6):
                        l_0, l_1, l_2 = levers[c, other, 0, x], levers[c, other, 1, x], levers[c, other, 2, x]
                        for y in range(6):
                            target[x, y] += l_0 * SX[0, y] + l_1 * SX[1, y] + l_2 * SX[2, y]
    return _factor(graph)


@apart(error_model="numpy", _nrt=False)
def solve_system(
    sides: np.ndarray, graph: BodyGraph, laws: Linearised, psi: np.ndarray, direction: np.ndarray
) -> bool:
    """Compute the direction d of a system that :func:`factor_system` has eliminated.

    Args:
        sides: bodies a and b of each contact, -1 for the world, shape (m, 2).
        graph: of the bodies.
        laws: the contacts' laws, of which ``E_inverse`` and S are read.
        psi: the function, shape (3m,).
        direction: receives d, shape (3m,).

    Returns:
        Whether all of it is finite.
    """
    m, bodies = laws.A.shape[0], graph.order.size
    levers, S, E_inverse = graph.levers, laws.S, laws.E_inverse
    w, part = graph.twists, graph.room[0, 0]
    for i in range(bodies):
        for x in range(6):
            w[i, x] = 0.0
    for c in range(m):
        k = 3 * c
        for r in range(3):
            part[r] = E_inverse[c, r, 0] * psi[k] + E_inverse[c, r, 1] * psi[k + 1] + E_inverse[c, r, 2] * psi[k + 2]
            direction[k + r] = -part[r]
        for one in range(2):
            i = sides[c, one]
            if i >= 0:
                for r in range(3):
                    for x in range(6):
                        w[i, x] -= levers[c, one, r, x] * part[r]
    _substitute(graph, w)
    finite = True
    for c in range(m):
        if laws.is_open[c]:
            continue
        for r in range(3):
            part[r] = 0.0
            for one in range(2):
                i = sides[c, one]
                if i >= 0:
                    for x in range(6):
                        part[r] += levers[c, one, r, x] * w[i, x]
        for r in range(3):
            for s in range(3):
                direction[3 * c + r] -= S[c, r, s] * part[s]
            finite = finite and math.isfinite(direction[3 * c + r])
    return finite


@apart(error_model="numpy", _nrt=False)
def _linearise(
    operator: BodyOperator, mu: np.ndarray, steps: np.ndarray, sizes: np.ndarray, f: np.ndarray, v: np.ndarray,
    shift: float, laws: Linearised,
) -> None:  # fmt: skip
    """Write the contacts' laws at forces f, shape (3m,), that give velocities v, shape (3m,); see :class:`Linearised`.

    Args:
        operator: of the contacts.
        mu: friction coefficients, shape (m,).
        steps: normal and tangential steps, shape (m, 2).
        sizes: mean of the diagonal of each contact's own block, shape (m,).
        f: forces.
        v: velocities.
        shift: part of its own block that a contact yields.
        laws: receives them.
    """
    for c in range(mu.size):
        k = 3 * c
        A, B = laws.A[c], laws.B[c]
        laws.is_open[c] = contact_derivatives(steps[c, 0], steps[c, 1], mu[c], f[k : k + 3], v[k : k + 3], A, B)
        laws.shifts[c] = shift * sizes[c]
        if laws.is_open[c]:  # E is A, the identity
            for r in range(3):
                for s in range(3):
                    laws.E_inverse[c, r, s] = A[r, s]
                    laws.S[c, r, s] = 0.0
            continue
        for r in range(3):
            for s in range(3):
                A[r, s] += B[r, s] * (operator.compliance[k + s] + laws.shifts[c])
        E, S = laws.E_inverse[c], laws.S[c]  # the first rows of A and B have but the normal
        E[0, 0], E[0, 1], E[0, 2] = 1.0 / A[0, 0], 0.0, 0.0
        S[0, 0], S[0, 1], S[0, 2] = E[0, 0] * B[0, 0], 0.0, 0.0
        determinant = 1.0 / (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1])
        E[1, 1], E[1, 2] = determinant * A[2, 2], -determinant * A[1, 2]
        E[2, 1], E[2, 2] = -determinant * A[2, 1], determinant * A[1, 1]
        for r in range(1, 3):
            E[r, 0] = -(E[r, 1] * A[1, 0] + E[r, 2] * A[2, 0]) * E[0, 0]
            S[r, 0] = E[r, 0] * B[0, 0] + E[r, 1] * B[1, 0] + E[r, 2] * B[2, 0]
            S[r, 1] = E[r, 1] * B[1, 1] + E[r, 2] * B[2, 1]
            S[r, 2] = E[r, 1] * B[1, 2] + E[r, 2] * B[2, 2]


@uncounted()
def _merit(steps: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, psi: np.ndarray) -> float:
    """Squared function of all contacts."""
    total = 0.0
    for c in range(mu.size):
        k = 3 * c
        total += contact_function(steps[c, 0], steps[c, 1], mu[c], f[k : k + 3], v[k : k + 3], psi[k : k + 3])
    return total


@apart(error_model="numpy")
def body_newton(
    problem: BodyProblem, f: np.ndarray, tolerance: float, max_iterations: int, v: np.ndarray, residuals: np.ndarray,
    deadline: float,
) -> int:  # fmt: skip
    """Newton iterations with a line search on the merit, the squared function in the metric of the inertia.

    Args:
        problem: what is solved.
        f: initial forces, overwritten with the best ones found, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of linear systems solved.
        v: receives the contact velocities, shape (3m,).
        residuals: receives those of :func:`~humanoid_sim.contact.block_nsgs.law_residuals`, shape (5,).
        deadline: time of :func:`~humanoid_sim.contact.clock.seconds` at which all is to be done.

    Returns:
        Number of iterations done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    operator, graph, v_free, mu = problem.operator, problem.graph, problem.v_free, problem.mu
    m, n = mu.size, 3 * mu.size
    starts, kinds, parents = np.arange(m + 1) * 3, np.full(m, CONTACT), np.arange(m)
    steps, diagonal, sizes = np.empty((m, 2)), np.empty(n), np.empty(m)
    for c in range(m):
        block = operator.diagonal[c]
        steps[c, 0], steps[c, 1] = optimal_steps(block)
        sizes[c] = (block[0, 0] + block[1, 1] + block[2, 2]) / 3.0
        for r in range(3):
            diagonal[3 * c + r] = block[r, r]
    operator_velocity(operator, v_free, f, v)
    residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
    psi, direction, change, zero = np.empty(n), np.empty(n), np.empty(n), np.zeros(n)
    laws = Linearised(
        np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty((m, 3, 3)), np.empty(m),
        np.empty(m, dtype=np.bool_),
    )  # fmt: skip
    trial_f, trial_v = np.empty(n), np.empty(n)
    best, best_residual = f.copy(), residual
    memory = np.full(_MEMORY, _merit(steps, mu, f, v, psi))
    clock = np.empty(2, dtype=np.int64)
    timed = deadline < np.inf
    mark, lasts = seconds(clock) if timed else 0.0, 0.0
    failures, growth, iteration = 0, 1.0, 0
    while residual > tolerance and iteration < max_iterations and failures < _FAILURES:
        if timed:
            now = seconds(clock)
            lasts = max(lasts, now - mark)
            mark = now
            if now + 2.0 * lasts > deadline:
                break
        iteration += 1
        shift = growth * min(_FIRST_SHIFT, max(_LAST_SHIFT, residual))
        _linearise(operator, mu, steps, sizes, f, v, shift, laws)
        accepted = factor_system(operator.sides, graph, laws)
        accepted = accepted and solve_system(operator.sides, graph, laws, psi, direction)
        length = 1.0
        if accepted:
            operator_velocity(operator, zero, direction, change)
            reference = memory.max()
            accepted = False
            for _ in range(_BACKTRACKS):
                for r in range(n):
                    trial_f[r] = f[r] + length * direction[r]
                    trial_v[r] = v[r] + length * change[r]
                accepted = _merit(steps, mu, trial_f, trial_v, psi) <= (1.0 - _SUFFICIENT * length) * reference
                if accepted:
                    break
                length *= 0.5
        if not accepted:
            failures += 1
            growth *= 1e3
            _merit(steps, mu, f, v, psi)
            continue
        if length < _SHORT:
            growth = min(growth / _STIFFER, _SOFTEST)
        elif length > _LONG:
            growth = max(growth * _STIFFER, 1.0)
        copy_vector(trial_f, f)
        operator_velocity(operator, v_free, f, v)  # anew: updates would carry rounding of large steps along
        residual = block_natural_map(diagonal, v_free, starts, kinds, mu, parents, f, v)
        memory[iteration % _MEMORY] = _merit(steps, mu, f, v, psi)
        if residual < best_residual:
            best_residual = residual
            copy_vector(f, best)
            failures = 0
    copy_vector(best, f)
    operator_velocity(operator, v_free, f, v)
    law_residuals(diagonal, v_free, starts, kinds, mu, parents, f, v, residuals)
    return iteration
