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
from humanoid_model.tree.articulated_body import FAST
from humanoid_sim.contact.alart_curnier import optimal_steps
from humanoid_sim.contact.alart_curnier_global import contact_derivatives, contact_function
from humanoid_sim.contact.block_nsgs import CONTACT, block_natural_map, law_residuals
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.contact.sixes import (
    Three,
    add,
    dot,
    moved_twist,
    moved_wrench,
    row_of,
    rows_of,
    scale,
    set_row,
    times,
    weigh_six,
    weigh_three,
)
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
_STRAIGHT, _GOLDEN = 8, 0.6180339887498949
"""After so many iterations contacts yield up to ten times less or more, in turn: else two shifts lead from each other's
end to each other's beginning for good."""
_FAILURES = 6
"""Steps in a row without progress after which the method gives up."""
_PIVOT = 0.1
"""A row below takes the place of one whose pivot is smaller than this part of its own: the processor foretells rare
swaps."""
_MOST_PRODUCTS = 3000
"""Products of 6 x 6 blocks that an elimination may take, some tenths of a millisecond: a heap is left to sweeps."""


class BodyGraph(NamedTuple):
    """Free bodies that touch, and the order in which they are eliminated.

    Attributes:
        centres: of the bodies: where their twists are told, shape (bodies, 3).
        inertias: of the bodies about these, divided by the time step, shape (bodies, 6, 6).
        levers: wrenches of the rows on body a about its centre, or on b where a is the world, shape (m, 3, 6).
        place: number of the block of a pair of bodies, -1 where there is none, shape (bodies, bodies).
        order: bodies in the order of their elimination, shape (bodies,).
        starts: first of the neighbours of each body that are left when it is eliminated, shape (bodies + 1,), by order.
        neighbours: these, shape (any,).
        blocks: work space, shape (blocks, 6, 6).
        twists: likewise, shape (bodies, 6).
        room: likewise, shape (3, 6, 6).
    """

    centres: np.ndarray
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


@uncounted(fastmath=FAST)
def invert_block(D: np.ndarray, swaps: np.ndarray) -> bool:
    """Invert a 6 x 6 block in place by Gauss and Jordan with pivots on its rows; False where it is singular.

    Work space is ``swaps``, shape (6,).
    """
    for c in range(6):
        pivot, largest = c, abs(D[c, c])
        for r in range(c + 1, 6):
            larger = _PIVOT * abs(D[r, c]) > largest
            pivot, largest = r if larger else pivot, _PIVOT * abs(D[r, c]) if larger else largest
        swaps[c] = pivot
        if not largest > 1e-300:
            return False
        inverse = 1.0 / D[pivot, c]
        D[pivot, c] = 1.0
        chosen = row_of(D, pivot)
        if pivot != c:
            set_row(D, pivot, row_of(D, c))
        chosen = scale(inverse, chosen)
        set_row(D, c, chosen)
        for r in range(6):
            if r != c:
                factor = D[r, c]
                D[r, c] = 0.0
                set_row(D, r, add(row_of(D, r), -factor, chosen))
    for c in range(5, -1, -1):
        pivot = int(swaps[c])
        if pivot != c:
            for r in range(6):
                D[r, c], D[r, pivot] = D[r, pivot], D[r, c]
    return True


@uncounted(fastmath=FAST)
def _factor(graph: BodyGraph) -> bool:
    """Eliminate bodies from ``graph.blocks`` in place; False where the system is singular.

    What is left on the diagonal is inverted; blocks beside it stay as they are when their body is eliminated.
    """
    blocks, place, order, starts, neighbours = graph.blocks, graph.place, graph.order, graph.starts, graph.neighbours
    for step in range(order.size):
        k = order[step]
        D = blocks[place[k, k]]
        if not invert_block(D, graph.room[1, 0]):
            return False
        inverse = rows_of(D)
        for x in range(starts[step], starts[step + 1]):
            i = neighbours[x]
            below, factor = blocks[place[i, k]], graph.room[0]
            for r in range(6):
                set_row(factor, r, weigh_six(row_of(below, r), inverse))
            for y in range(starts[step], starts[step + 1]):
                right, target = rows_of(blocks[place[k, neighbours[y]]]), blocks[place[i, neighbours[y]]]
                for r in range(6):
                    set_row(target, r, add(row_of(target, r), -1.0, weigh_six(row_of(factor, r), right)))
    return True


@uncounted(fastmath=FAST)
def _substitute(graph: BodyGraph, w: np.ndarray) -> None:
    """Solve the system that :func:`_factor` has eliminated for w, shape (bodies, 6), in place."""
    blocks, place, order, starts, neighbours = graph.blocks, graph.place, graph.order, graph.starts, graph.neighbours
    for step in range(order.size):
        k = order[step]
        if starts[step] < starts[step + 1]:
            own = times(blocks[place[k, k]], row_of(w, k))
            for x in range(starts[step], starts[step + 1]):
                i = neighbours[x]
                set_row(w, i, add(row_of(w, i), -1.0, times(blocks[place[i, k]], own)))
    for step in range(order.size - 1, -1, -1):
        k = order[step]
        own = row_of(w, k)
        for x in range(starts[step], starts[step + 1]):
            own = add(own, -1.0, times(blocks[place[k, neighbours[x]]], row_of(w, neighbours[x])))
        set_row(w, k, times(blocks[place[k, k]], own))


@uncounted(fastmath=FAST)
def _offset(graph: BodyGraph, a: int, b: int) -> Three:
    """Return the way from the centre of b to that of a."""
    p = graph.centres
    return p[a, 0] - p[b, 0], p[a, 1] - p[b, 1], p[a, 2] - p[b, 2]


@uncounted(fastmath=FAST)
def _add_pair(graph: BodyGraph, a: int, b: int) -> None:
    """Add the block that the contacts between two bodies make in ``graph.room[0]``, and clear it."""
    place, blocks, total, turned = graph.place, graph.blocks, graph.room[0], graph.room[1]
    own = blocks[a] if a >= 0 else blocks[b]
    for r in range(6):
        set_row(own, r, add(row_of(own, r), 1.0, row_of(total, r)))
    if a >= 0 and b >= 0:
        d, across, other, back = _offset(graph, a, b), blocks[place[a, b]], blocks[b], blocks[place[b, a]]
        for r in range(6):
            row = moved_wrench(row_of(total, r), d)
            set_row(turned, r, row)
            set_row(across, r, add(row_of(across, r), -1.0, row))
        for source, target, sign in ((total, back, -1.0), (turned, other, 1.0)):
            x, y, z = row_of(source, 0), row_of(source, 1), row_of(source, 2)
            set_row(target, 0, add(row_of(target, 0), sign, x))
            set_row(target, 1, add(row_of(target, 1), sign, y))
            set_row(target, 2, add(row_of(target, 2), sign, z))
            set_row(target, 3, add(row_of(target, 3), sign, weigh_three(1.0, row_of(source, 3), d[1], z, -d[2], y)))
            set_row(target, 4, add(row_of(target, 4), sign, weigh_three(1.0, row_of(source, 4), d[2], x, -d[0], z)))
            set_row(target, 5, add(row_of(target, 5), sign, weigh_three(1.0, row_of(source, 5), d[0], y, -d[1], x)))
    for r in range(6):
        set_row(total, r, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
def factor_system(sides: np.ndarray, graph: BodyGraph, laws: Linearised) -> bool:
    """Write the system of the bodies, see the module, and eliminate it; False where it is singular.

    Args:
        sides: bodies a and b of each contact, -1 for the world, shape (m, 2).
        graph: of the bodies.
        laws: the contacts' laws, of which S is read.
    """
    m, bodies = laws.A.shape[0], graph.order.size
    levers, blocks = graph.levers, graph.blocks
    S, total = laws.S, graph.room[0]
    for e in range(blocks.shape[0]):
        for r in range(6):
            for s in range(6):
                blocks[e, r, s] = graph.inertias[e, r, s] if e < bodies else 0.0
    for r in range(6):
        set_row(total, r, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for c in range(m):
        if not laws.is_open[c]:
            l_0, l_1, l_2 = row_of(levers[c], 0), row_of(levers[c], 1), row_of(levers[c], 2)
            x_0 = weigh_three(S[c, 0, 0], l_0, S[c, 0, 1], l_1, S[c, 0, 2], l_2)
            x_1 = weigh_three(S[c, 1, 0], l_0, S[c, 1, 1], l_1, S[c, 1, 2], l_2)
            x_2 = weigh_three(S[c, 2, 0], l_0, S[c, 2, 1], l_1, S[c, 2, 2], l_2)
            for r in range(6):
                own = weigh_three(levers[c, 0, r], x_0, levers[c, 1, r], x_1, levers[c, 2, r], x_2)
                set_row(total, r, add(row_of(total, r), 1.0, own))
        a, b = sides[c, 0], sides[c, 1]
        if c + 1 == m or sides[c + 1, 0] != a or sides[c + 1, 1] != b:  # no more contacts between the same bodies
            _add_pair(graph, a, b)
    return _factor(graph)


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
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
    levers, S, E = graph.levers, laws.S, laws.E_inverse
    w = graph.twists
    for i in range(bodies):
        set_row(w, i, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for c in range(m):
        k, a, b = 3 * c, sides[c, 0], sides[c, 1]
        p_0, p_1, p_2 = psi[k], psi[k + 1], psi[k + 2]
        d_0 = -(E[c, 0, 0] * p_0 + E[c, 0, 1] * p_1 + E[c, 0, 2] * p_2)
        d_1 = -(E[c, 1, 0] * p_0 + E[c, 1, 1] * p_1 + E[c, 1, 2] * p_2)
        d_2 = -(E[c, 2, 0] * p_0 + E[c, 2, 1] * p_1 + E[c, 2, 2] * p_2)
        direction[k], direction[k + 1], direction[k + 2] = d_0, d_1, d_2
        own = weigh_three(d_0, row_of(levers[c], 0), d_1, row_of(levers[c], 1), d_2, row_of(levers[c], 2))
        if a >= 0:
            set_row(w, a, add(row_of(w, a), 1.0, own))
            if b >= 0:
                set_row(w, b, add(row_of(w, b), -1.0, moved_wrench(own, _offset(graph, a, b))))
        else:
            set_row(w, b, add(row_of(w, b), 1.0, own))
    _substitute(graph, w)
    finite = True
    for c in range(m):
        if laws.is_open[c]:
            continue
        k, a, b = 3 * c, sides[c, 0], sides[c, 1]
        own = row_of(w, a if a >= 0 else b)
        if a >= 0 and b >= 0:
            own = add(own, -1.0, moved_twist(row_of(w, b), _offset(graph, a, b)))
        u_0, u_1, u_2 = dot(row_of(levers[c], 0), own), dot(row_of(levers[c], 1), own), dot(row_of(levers[c], 2), own)
        d_0 = direction[k] - (S[c, 0, 0] * u_0 + S[c, 0, 1] * u_1 + S[c, 0, 2] * u_2)
        d_1 = direction[k + 1] - (S[c, 1, 0] * u_0 + S[c, 1, 1] * u_1 + S[c, 1, 2] * u_2)
        d_2 = direction[k + 2] - (S[c, 2, 0] * u_0 + S[c, 2, 1] * u_1 + S[c, 2, 2] * u_2)
        direction[k], direction[k + 1], direction[k + 2] = d_0, d_1, d_2
        finite = finite and math.isfinite(d_0) and math.isfinite(d_1) and math.isfinite(d_2)
    return finite


@apart(error_model="numpy", _nrt=False, fastmath=FAST)
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


@uncounted(fastmath=FAST)
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
        if iteration > _STRAIGHT:
            shift *= 10.0 ** (2.0 * (iteration * _GOLDEN % 1.0) - 1.0)
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
