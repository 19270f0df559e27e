# SPDX-License-Identifier: Apache-2.0
"""Compiled simplex method over the rays of quadratic friction cones: can contacts balance a wrench, and how safely?

The unknowns are the multiples of all rays of all cones, infinitely many columns of a linear program with one row for
each component of the wrench and one for each limit ``A f + b <= 0``. A column is made when it is needed: the ray of a
cone that the current dual solution prices highest has a closed form, so that cones are never cut into facets and the
answer is exact to the tolerance. In the dual this is Kelley's cutting-plane method on the twists that separate
the wrench from what the contacts can exert.

A solution passes through up to three objectives on one basis:

1. the artificial columns of the first basis, which stand for what the contacts leave unbalanced, are driven to zero
   with forces inside the cones;
2. if that fails, forces may leave their cones by a common distance t [N], which is then minimised: the margin is -t;
3. if it succeeds, forces keep a common distance s [N] from their cones' boundaries, which is maximised: the
   margin is s. Or, instead, a linear function of free variables (the place of the centre of mass) is maximised.

Points come as one (8, k) array: rows 0-2 position, 3-5 normal, 6 friction coefficient (-1: bilateral), 7 the cosine
of the angle of friction.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_model.apart import apart

# What a basic column is; 0 and above is the number of the point whose force it is.
ARTIFICIAL = -1
SLACK = -2
SHIFT = -3
"""All cones moved along their normals so that the distance to the old boundaries is 1."""
EXPANSION = -4
"""A force of length 1 at every point, in any directions."""
FREE = -5
"""A free variable, upwards."""
FREE_DOWN = -6

ONLY_BALANCE = 0
WITH_MARGIN = 1
FARTHEST = 2

FRICTIONLESS = 1e-9
"""Cones with less friction are rays; the boundary of a ray is its origin."""
BALANCED = 1e-9
"""What may stay unbalanced, in units of the load."""
MAX_SUM = 1e6
"""Forces that sum up to more, in units of the load, are not taken for an answer: lever arms of rounding errors."""
ZERO_LEVEL = 1e-10
MIN_PIVOT = 1e-11
MIN_ARTIFICIAL_PIVOT = 1e-9
PERTURBATION = 1e-11
GAP = 1e-7
"""Largest error of the margin, in units of the load."""


@njit(cache=True, error_model="numpy")
def _add_column(
    points: np.ndarray, limits: np.ndarray, i: int, g0: float, g1: float, g2: float, column: np.ndarray
) -> None:
    """Add to a column what the force (g0, g1, g2) at point i does."""
    r0 = points[0, i]
    r1 = points[1, i]
    r2 = points[2, i]
    column[0] += g0
    column[1] += g1
    column[2] += g2
    column[3] += r1 * g2 - r2 * g1
    column[4] += r2 * g0 - r0 * g2
    column[5] += r0 * g1 - r1 * g0
    for j in range(limits.shape[0]):
        column[6 + j] += limits[j, 3 * i] * g0 + limits[j, 3 * i + 1] * g1 + limits[j, 3 * i + 2] * g2


@njit(cache=True, error_model="numpy", fastmath={"contract", "nsz"})
def _price_points(points: np.ndarray, limits: np.ndarray, y: np.ndarray, v: np.ndarray, gains: np.ndarray) -> int:
    """Return the value of the best ray of every cone under the dual solution.

    Args:
        points: (8, k).
        limits: (m, 3k).
        y: (6 + m,) dual solution.
        v: (3, k) receives the values of the unit forces along x, y and z.
        gains: (k,) receives the values of the best rays of length 1.

    Returns:
        The point with the best one.
    """
    k = points.shape[1]
    y0 = y[0]
    y1 = y[1]
    y2 = y[2]
    y3 = y[3]
    y4 = y[4]
    y5 = y[5]
    for i in range(k):
        v[0, i] = y0 + y4 * points[2, i] - y5 * points[1, i]
        v[1, i] = y1 + y5 * points[0, i] - y3 * points[2, i]
        v[2, i] = y2 + y3 * points[1, i] - y4 * points[0, i]
    for j in range(limits.shape[0]):
        multiplier = y[6 + j]
        if multiplier != 0.0:
            for i in range(k):
                for c in range(3):
                    v[c, i] += multiplier * limits[j, 3 * i + c]
    for i in range(k):
        normal = v[0, i] * points[3, i] + v[1, i] * points[4, i] + v[2, i] * points[5, i]
        t0 = v[0, i] - normal * points[3, i]
        t1 = v[1, i] - normal * points[4, i]
        t2 = v[2, i] - normal * points[5, i]
        gains[i] = (normal + points[6, i] * math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)) * points[7, i]
    best = 0
    for i in range(k):
        if points[6, i] < 0.0:
            gains[i] = max(abs(v[0, i]), abs(v[1, i]), abs(v[2, i]))
        if gains[i] > gains[best]:
            best = i
    return best


@njit(cache=True, error_model="numpy")
def _best_ray(points: np.ndarray, v: np.ndarray, i: int, ray: np.ndarray) -> None:
    """Compute the ray of length 1 of a cone that has the highest value; of a bilateral contact, one along an axis."""
    if points[6, i] < 0.0:
        best = 0
        for c in range(3):
            ray[c] = 0.0
            if abs(v[c, i]) > abs(v[best, i]):
                best = c
        ray[best] = math.copysign(1.0, v[best, i])
        return
    normal = v[0, i] * points[3, i] + v[1, i] * points[4, i] + v[2, i] * points[5, i]
    length = 0.0
    for c in range(3):
        ray[c] = v[c, i] - normal * points[3 + c, i]
        length += ray[c] * ray[c]
    scale = points[6, i] / math.sqrt(length) if length > 0.0 else 0.0
    for c in range(3):
        ray[c] = (points[3 + c, i] + scale * ray[c]) * points[7, i]


@njit(cache=True, error_model="numpy")
def _apex_shift(points: np.ndarray, i: int) -> float:
    """Return how far a cone's apex moves along the normal for the boundary to move by 1."""
    mu = points[6, i]
    if mu < 0.0:
        return 0.0
    return 1.0 / (mu * points[7, i]) if mu >= FRICTIONLESS else 1.0


@njit(cache=True, error_model="numpy")
def _leaving_row(x: np.ndarray, direction: np.ndarray, kinds: np.ndarray) -> int:
    """Return the basic variable that reaches zero first as the entering one grows; -1 when none does."""
    row = -1
    step = np.inf
    largest = 0.0
    for i in range(x.size):
        d = direction[i]
        if kinds[i] == ARTIFICIAL and x[i] <= ZERO_LEVEL:
            # What has been balanced stays balanced, whichever way it would go.
            if abs(d) > MIN_ARTIFICIAL_PIVOT and (step > 0.0 or abs(d) > largest):
                step = 0.0
                row = i
                largest = abs(d)
        elif d > MIN_PIVOT:
            ratio = x[i] / d
            if ratio < step - 1e-14 or (ratio <= step + 1e-14 and d > largest):
                step = ratio
                row = i
                largest = d
    return row


@njit(cache=True, error_model="numpy")
def _exchange(
    T: np.ndarray, x: np.ndarray, y: np.ndarray, direction: np.ndarray, kinds: np.ndarray, row: int, reduced: float
) -> None:
    """Put the entering variable into the basis at a row: inverse, levels and dual solution."""
    size = x.size
    inverse = 1.0 / direction[row]
    step = x[row] * inverse
    for j in range(size):
        T[row, j] *= inverse
        y[j] += reduced * T[row, j]
    for i in range(size):
        d = direction[i]
        if i == row or d == 0.0:
            continue
        for j in range(size):
            T[i, j] -= d * T[row, j]
        x[i] -= step * d
    x[row] = step
    # Levels of zero would let the basis cycle without progress; tiny distinct ones instead prevent
    # it. The final levels are computed from the load anew.
    for i in range(size):
        if x[i] < PERTURBATION and (kinds[i] != ARTIFICIAL or i == row):
            x[i] = PERTURBATION * (1.0 + 0.1 * i)


@apart(error_model="numpy")
def solve_balance(
    points: np.ndarray,
    limits: np.ndarray,
    rhs: np.ndarray,
    free: np.ndarray,
    weights: np.ndarray,
    aim: int,
    gap: float,
    max_pivots: int,
    forces: np.ndarray,
    values: np.ndarray,
) -> tuple[float, int]:
    """Return forces that exert a wrench, with the largest margin or free variables farthest along a direction.

    Args:
        points: (8, k), lengths and forces scaled to about 1.
        limits: (m, 3k) rows A of limits ``A f <= rhs[6:]``, of length about 1.
        rhs: (6 + m,) force and moment to be exerted, then the right-hand sides of the limits.
        free: (n, 6 + m) columns of the free variables.
        weights: (n,) of the free variables in the sum that FARTHEST maximises.
        aim: ONLY_BALANCE asks whether there are such forces, the answer is then 0 or -inf; WITH_MARGIN or FARTHEST.
        gap: largest error of the answer.
        max_pivots: limit on the number of exchanges.
        forces: (k, 3) receives the forces.
        values: (n,) zeros; receives the free variables.

    Returns:
        The margin: s, or -t, inf when contacts can be pressed against each other without limit, -inf when no forces at
        all exert the wrench; or the weighted sum of the free variables, inf when it has no limit; and the number of
        exchanges.
    """
    k = points.shape[1]
    size = rhs.size
    table = np.zeros((4 * size + 4, size))
    T = table[:size]
    basis = table[size : 2 * size]
    rays = table[2 * size : 3 * size, :3]
    y = table[3 * size]
    x = table[3 * size + 1]
    direction = table[3 * size + 2]
    column = table[3 * size + 3]
    at_points = np.zeros((7, k))
    v = at_points[:3]
    gains = at_points[3]
    kinds = np.empty(size, np.int64)
    numbers = np.zeros(size, np.int64)
    number = 0
    expansions = np.empty((0, 0, 0))
    ray = np.zeros(3)
    unilateral = 0
    for i in range(k):
        if points[6, i] >= 0.0:
            unilateral += 1
    for i in range(size):
        sign = 1.0 if rhs[i] >= 0.0 else -1.0
        T[i, i] = sign
        basis[i, i] = sign
        x[i] = sign * rhs[i]
        kinds[i] = ARTIFICIAL
        if i >= 6 and sign > 0.0:
            kinds[i] = SLACK
        else:
            y[i] = sign

    BALANCE, RELAX, SHRINK, GROW, MOVE, DONE = 0, 1, 2, 3, 4, 5
    phase = BALANCE
    pivots = 0
    unbounded = False
    while True:
        level = 0.0  # sum of the levels of the artificial columns
        total = 0.0  # sum of all others
        expansion = 0.0
        for i in range(size):
            if kinds[i] == ARTIFICIAL:
                level += x[i]
            else:
                total += x[i]
                if kinds[i] == EXPANSION:
                    expansion += x[i]
        start_to_grow = False
        if phase <= RELAX and level <= BALANCED:
            for i in range(size):
                if kinds[i] == ARTIFICIAL:
                    x[i] = 0.0
            if phase == RELAX:
                phase = SHRINK
                y[:] = 0.0
                for i in range(size):
                    if kinds[i] == EXPANSION:
                        for j in range(size):
                            y[j] += T[i, j] / unilateral
            elif total > MAX_SUM:
                break
            elif aim == ONLY_BALANCE:
                phase = DONE
                break
            elif aim == FARTHEST:
                phase = MOVE
                y[:] = 0.0
                for i in range(size):
                    if kinds[i] == FREE or kinds[i] == FREE_DOWN:
                        weight = weights[numbers[i]]
                        if kinds[i] == FREE_DOWN:
                            weight = -weight
                        for j in range(size):
                            y[j] -= T[i, j] * weight
            else:
                start_to_grow = True
        elif phase == SHRINK and expansion <= 0.1 * gap:
            if total > MAX_SUM:
                break
            start_to_grow = True

        entering = -1
        if start_to_grow:
            phase = GROW
            column[:] = 0.0
            for i in range(k):
                scale = _apex_shift(points, i)
                _add_column(
                    points, limits, i, scale * points[3, i], scale * points[4, i], scale * points[5, i], column
                )
            y[:] = 0.0
            entering = SHIFT
            best = 1.0
        else:
            point = _price_points(points, limits, y, v, gains) if k > 0 else 0
            best = gains[point] if k > 0 else 0.0
            entering = point
            for j in range(6, size):
                if y[j] > best:
                    best = y[j]
                    entering = SLACK
                    number = j
            for f in range(weights.size):
                gain = weights[f] if phase == MOVE else 0.0
                for j in range(size):
                    gain += free[f, j] * y[j]
                if abs(gain) > best:
                    best = abs(gain)
                    entering = FREE if gain > 0.0 else FREE_DOWN
                    number = f
            if RELAX <= phase <= SHRINK:
                reach = 0.0
                for i in range(k):
                    if points[6, i] >= 0.0:
                        reach += math.sqrt(v[0, i] ** 2 + v[1, i] ** 2 + v[2, i] ** 2)
                if phase == SHRINK:
                    reach -= 1.0
                if reach > best * unilateral:
                    best = reach / unilateral
                    entering = EXPANSION
            if phase == BALANCE:
                if aim == WITH_MARGIN:
                    if 4.0 * best * (1.0 + total) < level:
                        phase = RELAX
                        continue
                elif MAX_SUM * best < level - BALANCED:
                    break
            elif phase == RELAX:
                if best <= 1e-12:
                    break
            elif best * (1.0 + total) <= gap:
                break
        if pivots >= max_pivots or best <= 1e-14:
            break

        if entering >= 0:
            _best_ray(points, v, entering, ray)
            column[:] = 0.0
            _add_column(points, limits, entering, ray[0], ray[1], ray[2], column)
        elif entering == EXPANSION:
            if expansions.shape[0] == 0:
                expansions = np.zeros((size, 3, k))
            column[:] = 0.0
            for i in range(k):
                length = math.sqrt(v[0, i] ** 2 + v[1, i] ** 2 + v[2, i] ** 2)
                for c in range(3):
                    at_points[4 + c, i] = 0.0
                    if points[6, i] >= 0.0 and length > 0.0:
                        at_points[4 + c, i] = v[c, i] / length / unilateral
                _add_column(points, limits, i, at_points[4, i], at_points[5, i], at_points[6, i], column)
        elif entering == SLACK:
            column[:] = 0.0
            column[number] = 1.0
        elif entering != SHIFT:
            sign = 1.0 if entering == FREE else -1.0
            for j in range(size):
                column[j] = sign * free[number, j]
        for i in range(size):
            value = 0.0
            for j in range(size):
                value += T[i, j] * column[j]
            direction[i] = value
        row = _leaving_row(x, direction, kinds)
        if row < 0:
            unbounded = True
            break
        _exchange(T, x, y, direction, kinds, row, -best)
        pivots += 1
        kinds[row] = entering
        numbers[row] = number
        for j in range(size):
            basis[j, row] = column[j]
        for c in range(3):
            rays[row, c] = ray[c]
        if entering == EXPANSION:
            for c in range(3):
                for i in range(k):
                    expansions[row, c, i] = at_points[4 + c, i]

    # Levels of the last basis, from the load itself and improved once.
    for i in range(size):
        value = 0.0
        for j in range(size):
            value += T[i, j] * rhs[j]
        x[i] = value
    for i in range(size):
        value = rhs[i]
        for j in range(size):
            value -= basis[i, j] * x[j]
        y[i] = value
    for i in range(size):
        for j in range(size):
            x[i] += T[i, j] * y[j]
    entered = 0.0
    if unbounded and phase == GROW:
        # Far enough along the ray for a margin of a fair share of the load.
        growth = 1.0 if entering == SHIFT else 0.0
        for i in range(size):
            if kinds[i] == SHIFT:
                growth = -direction[i]
        entered = 1.0 / (k * growth) if growth > 0.0 else 0.0
        for i in range(size):
            x[i] -= entered * direction[i]
    shift = entered if entering == SHIFT else 0.0
    expansion = 0.0
    forces[:] = 0.0
    if phase <= RELAX or (phase == SHRINK and total > MAX_SUM):
        return -np.inf, pivots
    for i in range(size):
        kind = kinds[i]
        if kind >= 0:
            for c in range(3):
                forces[kind, c] += x[i] * rays[i, c]
        elif kind == SHIFT:
            shift += x[i]
        elif kind == EXPANSION:
            expansion += x[i] / unilateral
            for point in range(k):
                for c in range(3):
                    forces[point, c] += x[i] * expansions[i, c, point]
        elif kind == FREE:
            values[numbers[i]] += x[i]
        elif kind == FREE_DOWN:
            values[numbers[i]] -= x[i]
    if unbounded and entering >= 0:
        for c in range(3):
            forces[entering, c] += entered * ray[c]
    if shift != 0.0:
        for i in range(k):
            for c in range(3):
                forces[i, c] += shift * _apex_shift(points, i) * points[3 + c, i]
    answer = 0.0
    if phase == SHRINK:
        answer = -expansion
    elif phase == GROW:
        answer = np.inf if unbounded else shift
    elif phase == MOVE:
        answer = np.inf if unbounded else np.dot(weights, values)
    return answer, pivots


@njit(cache=True, error_model="numpy")
def _scale_points(points: np.ndarray, centre: np.ndarray, scaled: np.ndarray) -> float:
    """Move points to their middle, which ``centre`` (3,) receives, and divides by their extent, which is returned."""
    k = points.shape[1]
    centre[:] = 0.0
    for c in range(3):
        for i in range(k):
            centre[c] += points[c, i] / k
    square = 0.0
    for i in range(k):
        square = max(
            square,
            (points[0, i] - centre[0]) ** 2 + (points[1, i] - centre[1]) ** 2 + (points[2, i] - centre[2]) ** 2,
        )
    length = math.sqrt(square) if square > 1e-18 else 1.0
    for i in range(k):
        for c in range(3):
            scaled[c, i] = (points[c, i] - centre[c]) / length
        for c in range(3, 8):
            scaled[c, i] = points[c, i]
    return length


@njit(cache=True, error_model="numpy")
def _scale_limits(limits: np.ndarray, offsets: np.ndarray, unit: float, rows: np.ndarray, rhs: np.ndarray) -> None:
    """Limits ``A f + b <= 0`` on forces in a unit: rows of length 1 and right-hand sides."""
    for j in range(offsets.size):
        norm = 0.0
        for i in range(limits.shape[1]):
            norm += limits[j, i] ** 2
        norm = math.sqrt(norm) if norm > 0.0 else 1.0
        for i in range(limits.shape[1]):
            rows[j, i] = limits[j, i] / norm
        rhs[j] = -offsets[j] / norm / unit


@njit(cache=True, error_model="numpy")
def balance_load(
    points: np.ndarray,
    mass: float,
    centre_of_mass: np.ndarray,
    gravity: np.ndarray,
    acceleration: np.ndarray,
    external: np.ndarray,
    limits: np.ndarray,
    offsets: np.ndarray,
    with_margin: bool,
) -> tuple[float, float, np.ndarray]:
    """Scale a problem to unit lengths and forces, solves it and scales the answer back.

    Args:
        points: (8, k) contact points in the world.
        mass: kg.
        centre_of_mass: (3,) m.
        gravity: (3,) m/s^2.
        acceleration: (3,) of the centre of mass, m/s^2.
        external: (6,) known force and moment about the world's origin on the robot, N and N m.
        limits: (m, 3k) A of ``A f + b <= 0``.
        offsets: (m,) b.
        with_margin: see :func:`solve_balance`.

    Returns:
        Margin [N], the size of the load [N], forces (k, 3) [N]. The margin is NaN when anything given is.
    """
    k = points.shape[1]
    m = offsets.size
    centre = np.empty(3)
    scaled = np.empty((8, k))
    length = _scale_points(points, centre, scaled)
    rhs = np.empty(6 + m)
    p0 = mass * (acceleration[0] - gravity[0])
    p1 = mass * (acceleration[1] - gravity[1])
    p2 = mass * (acceleration[2] - gravity[2])
    c0 = centre_of_mass[0] - centre[0]
    c1 = centre_of_mass[1] - centre[1]
    c2 = centre_of_mass[2] - centre[2]
    e0 = external[0]
    e1 = external[1]
    e2 = external[2]
    rhs[0] = p0 - e0
    rhs[1] = p1 - e1
    rhs[2] = p2 - e2
    rhs[3] = (c1 * p2 - c2 * p1 - external[3] + centre[1] * e2 - centre[2] * e1) / length
    rhs[4] = (c2 * p0 - c0 * p2 - external[4] + centre[2] * e0 - centre[0] * e2) / length
    rhs[5] = (c0 * p1 - c1 * p0 - external[5] + centre[0] * e1 - centre[1] * e0) / length
    load = math.sqrt(rhs[0] ** 2 + rhs[1] ** 2 + rhs[2] ** 2 + rhs[3] ** 2 + rhs[4] ** 2 + rhs[5] ** 2)
    forces = np.zeros((k, 3))
    if not load < np.inf:
        return np.nan, load, forces
    unit = load if load > 0.0 else 1.0
    for j in range(6):
        rhs[j] /= unit
    rows = limits
    if m > 0:
        rows = np.empty((m, 3 * k))
        _scale_limits(limits, offsets, unit, rows, rhs[6:])
        for j in range(6, 6 + m):
            if not abs(rhs[j]) < np.inf:
                return np.nan, load, forces
    margin, _ = solve_balance(
        scaled,
        rows,
        rhs,
        np.empty((0, 0)),
        np.empty(0),
        WITH_MARGIN if with_margin else ONLY_BALANCE,
        GAP,
        1000 + 50 * m,
        forces,
        np.empty(0),
    )
    for i in range(k):
        for c in range(3):
            forces[i, c] *= unit
    return margin * unit, unit, forces


@njit(cache=True, error_model="numpy")
def farthest_centre(
    points: np.ndarray,
    push: np.ndarray,
    couple: np.ndarray,
    limits: np.ndarray,
    offsets: np.ndarray,
    height: float,
    extent: float,
    direction: np.ndarray,
) -> tuple[float, float, float]:
    """Return the place of the centre of mass in equilibrium that is farthest in a horizontal direction.

    Args:
        points: (8, k) contact points in the world.
        push: (3,) force that the contacts exert at the centre of mass, N.
        couple: (6,) force and moment about the world's origin that they exert besides, N and N m.
        limits: (m, 3k) A of ``A f + b <= 0``.
        offsets: (m,) b.
        height: of the centre of mass in the world, m.
        extent: x and y stay this near to the middle of the contact points, m.
        direction: (2,).

    Returns:
        How far that is along the direction from the world's origin, -inf when the load can't be balanced with the
        centre of mass anywhere; x and y. Lengths in m.
    """
    k = points.shape[1]
    m = offsets.size
    centre = np.empty(3)
    scaled = np.empty((8, k))
    length = _scale_points(points, centre, scaled)
    rhs = np.empty(10 + m)
    for c in range(3):
        rhs[c] = push[c] + couple[c]
    h = height - centre[2]
    rhs[3] = (-h * push[1] + couple[3] - centre[1] * couple[2] + centre[2] * couple[1]) / length
    rhs[4] = (h * push[0] + couple[4] - centre[2] * couple[0] + centre[0] * couple[2]) / length
    rhs[5] = (couple[5] - centre[0] * couple[1] + centre[1] * couple[0]) / length
    unit = 0.0
    for j in range(6):
        unit += rhs[j] ** 2
    unit = math.sqrt(unit) if unit > 0.0 else 1.0
    for j in range(6):
        rhs[j] /= unit
    rows = np.zeros((m + 4, 3 * k))
    _scale_limits(limits, offsets, unit, rows[:m], rhs[6 : 6 + m])
    free = np.zeros((2, 10 + m))  # x and y, in units of the length; what they add to the load, on the forces' side
    free[0, 4] = push[2] / unit
    free[0, 5] = -push[1] / unit
    free[1, 3] = -push[2] / unit
    free[1, 5] = push[0] / unit
    for side in range(4):
        free[side // 2, 6 + m + side] = 1.0 if side % 2 == 0 else -1.0
        rhs[6 + m + side] = extent / length
    forces = np.empty((k, 3))
    values = np.zeros(2)
    reach, _ = solve_balance(
        scaled, rows, rhs, free, direction, FARTHEST, GAP, 2000 + 50 * m, forces, values
    )
    x = centre[0] + length * values[0]
    y = centre[1] + length * values[1]
    if reach == -np.inf:
        return reach, x, y
    return direction[0] * x + direction[1] * y, x, y
