# SPDX-License-Identifier: Apache-2.0
r"""Systems of free bodies that touch, with a block of 6 x 6 for each body and each pair, solved on their graph.

.. math::
    (M + X^T E^{-1} B X)\, w = -X^T E^{-1} \psi

Eliminated in an order that fills in little, a row of dominoes or a stack takes time linear in the bodies.
:mod:`humanoid_sim.contact.body_newton` has the equations. Rows of six numbers are kept in registers: through arrays the
compiler has to fear that each number it writes is one that it reads next, and neither keeps them nor treats several at
once. Rows that are read whole before any is written take a third of the time.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, uncounted

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]


@uncounted()
def row_of(A: np.ndarray, r: int) -> Six:
    """Return row r of A, shape (any, 6)."""
    return A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5]


@uncounted()
def set_row(A: np.ndarray, r: int, row: Six) -> None:
    """Write row r of A, shape (any, 6)."""
    A[r, 0], A[r, 1], A[r, 2], A[r, 3], A[r, 4], A[r, 5] = row


@uncounted(fastmath=FAST)
def scale(a: float, x: Six) -> Six:
    """Return a x."""
    return a * x[0], a * x[1], a * x[2], a * x[3], a * x[4], a * x[5]


@uncounted(fastmath=FAST)
def weigh_three(a: float, x: Six, b: float, y: Six, c: float, z: Six) -> Six:
    """Return a x + b y + c z."""
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
        a * x[3] + b * y[3] + c * z[3],
        a * x[4] + b * y[4] + c * z[4],
        a * x[5] + b * y[5] + c * z[5],
    )


@uncounted(fastmath=FAST)
def add(x: Six, sign: float, y: Six) -> Six:
    """Return x + sign y."""
    return (
        x[0] + sign * y[0], x[1] + sign * y[1], x[2] + sign * y[2],
        x[3] + sign * y[3], x[4] + sign * y[4], x[5] + sign * y[5],
    )  # fmt: skip


@uncounted(fastmath=FAST)
def dot(x: Six, y: Six) -> float:
    """Return the sum of the products."""
    return (x[0] * y[0] + x[1] * y[1] + x[2] * y[2]) + (x[3] * y[3] + x[4] * y[4] + x[5] * y[5])


@uncounted(fastmath=FAST)
def times(A: np.ndarray, x: Six) -> Six:
    """Return A x, shape (6, 6)."""
    return (
        dot(row_of(A, 0), x), dot(row_of(A, 1), x), dot(row_of(A, 2), x),
        dot(row_of(A, 3), x), dot(row_of(A, 4), x), dot(row_of(A, 5), x),
    )  # fmt: skip


@uncounted()
def rows_of(A: np.ndarray) -> tuple[Six, Six, Six, Six, Six, Six]:
    """Return all rows of A, shape (6, 6)."""
    return row_of(A, 0), row_of(A, 1), row_of(A, 2), row_of(A, 3), row_of(A, 4), row_of(A, 5)


@uncounted(fastmath=FAST)
def weigh_six(weights: Six, rows: tuple[Six, Six, Six, Six, Six, Six]) -> Six:
    """Return the sum of the rows times the weights."""
    first = weigh_three(weights[0], rows[0], weights[1], rows[1], weights[2], rows[2])
    return add(first, 1.0, weigh_three(weights[3], rows[3], weights[4], rows[4], weights[5], rows[5]))


@uncounted(fastmath=FAST)
def moved_twist(twist: Six, d: Three) -> Six:
    """Return a twist, velocity first, at a point that is away by d."""
    x, y, z = twist[3], twist[4], twist[5]
    v_x, v_y, v_z = y * d[2] - z * d[1], z * d[0] - x * d[2], x * d[1] - y * d[0]
    return twist[0] + v_x, twist[1] + v_y, twist[2] + v_z, x, y, z


@uncounted(fastmath=FAST)
def moved_wrench(wrench: Six, d: Three) -> Six:
    """Return a wrench, force first, about a point from which the old one is away by d."""
    x, y, z = wrench[0], wrench[1], wrench[2]
    n_x, n_y, n_z = d[1] * z - d[2] * y, d[2] * x - d[0] * z, d[0] * y - d[1] * x
    return x, y, z, wrench[3] + n_x, wrench[4] + n_y, wrench[5] + n_z


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
