# SPDX-License-Identifier: Apache-2.0
r"""Contacts beside joint limits and dry joint friction: scalar rows by their active set, contacts by Newton.

A joint that dry friction holds, or that rests on its limit, is a bilateral row; one that slides feels a known force,
one that is free of its limit none. Once it is known which is which, the held rows are eliminated,

.. math::
    W' = W_{cc} - W_{cs} W_{ss}^{-1} W_{sc}, \qquad
    v' = v_c + W_{cd} f_d - W_{cs} W_{ss}^{-1} (v_s + W_{sd} f_d),

with s the held rows, d those of known force and c the contacts, and contacts alone are left, which
:func:`~humanoid_sim.contact.nsgs_newton.nsgs_newton` solves. The states are first those that the forces of the last
step imply, then follow from forces and velocities, and are seldom wrong twice, as they last from step to step: a
primal-dual active set (M. Hintermüller, K. Ito, K. Kunisch, SIAM J. Optim. 13, 2003). Gauss-Seidel has to carry forces
along the whole robot instead, joint by joint.

The states may cycle, as friction makes what one does to the others no minimum of anything. Then all rows are solved at
once as contacts, where Newton's line search and interior points don't cycle. A limit is a contact without friction
whose tangents belong to nothing. Dry friction :math:`|f| \le b` is that of a contact on which the normal force b is
pressed, whatever the others do: its normal is a row of its own with :math:`v_n = w (f_n - b)`, its friction coefficient
is 1, and the joint is one of its tangents. Both are exact.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, counted, uncounted
from humanoid_sim.contact.block_nsgs import BOUNDED, CONTACT, UNILATERAL, BlockProblem, block_nsgs, block_residuals
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import copy_vector
from humanoid_sim.contact.nsgs_newton import nsgs_newton

_SHARE = 0.03
"""Of the tolerance: for the initial forces, for the contacts alone within their first iterations, and for all rows as
contacts, where joints of little friction that move fast are large."""


@counted()
def _scales(starts: np.ndarray, kinds: np.ndarray, f: np.ndarray) -> np.ndarray:
    """Factors of the forces of all rows, with which torques of joints are as large as forces of contacts.

    The residual of all rows compares each with the largest of its own sort, that of contacts with the largest of all.
    """
    largest = np.zeros(2)
    for i in range(kinds.size):
        for r in range(starts[i], starts[i + 1]):
            sort = 0 if kinds[i] == CONTACT else 1
            largest[sort] = max(largest[sort], abs(f[r]))
    scale = np.ones(f.size)
    for i in range(kinds.size):
        if kinds[i] != CONTACT and largest.min() > 0.0:
            scale[starts[i]] = largest[0] / largest[1]
    return scale


@apart(error_model="numpy")
def scalars_as_contacts(
    problem: BlockProblem,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
    deadline: float = np.inf,
) -> int:
    """Solve contacts, limits and dry friction; arguments and answer are those of :func:`.block_nsgs.block_nsgs`."""
    W, v_free, starts, kinds, bounds = problem.W, problem.v_free, problem.starts, problem.kinds, problem.parameters
    blocks, n = kinds.size, v_free.size
    places, scale = np.empty(n, dtype=np.int64), _scales(starts, kinds, f)  # of the rows, among those of contacts
    mu = np.zeros(blocks)
    all_W, all_free, all_f = np.zeros((3 * blocks, 3 * blocks)), np.zeros(3 * blocks), np.zeros(3 * blocks)
    for i in range(blocks):
        k = 3 * i
        if kinds[i] == CONTACT:
            mu[i] = bounds[i]
            for r in range(3):
                places[starts[i] + r] = k + r
            continue
        own, size = W[starts[i], starts[i]], scale[starts[i]]
        for r in range(3):
            all_W[k + r, k + r] = own / size**2
        places[starts[i]] = k
        if kinds[i] == BOUNDED:
            places[starts[i]] = k + 1
            mu[i] = 1.0
            all_f[k] = size * bounds[i]
            all_free[k] = -own / size * bounds[i]
    for r in range(n):
        all_f[places[r]] = scale[r] * f[r]
        all_free[places[r]] = v_free[r] / scale[r]
        for c in range(n):
            all_W[places[r], places[c]] = W[r, c] / (scale[r] * scale[c])
    velocities = np.empty(3 * blocks)
    done = nsgs_newton(all_W, all_free, mu, all_f, _SHARE * tolerance, max_iterations, velocities, residuals, deadline)
    diagonal = np.empty(n)
    for r in range(n):
        f[r] = all_f[places[r]] / scale[r]
        diagonal[r] = W[r, r]
    block_residuals(W, diagonal, v_free, starts, kinds, bounds, problem.parents, f, v, residuals)
    return int(done)


_CHANGES = 5
"""Sets of states that are tried before all rows are solved at once: most that take more cycle."""
_CONTACT_ITERATIONS = 300
"""Of the contacts alone, for each set of states, and of all rows: every start of Newton's method."""
_CLOSE_ITERATIONS = 15
_SINGULAR = 1e-12
"""Pivots smaller than this, beside the row's own entry, are of rows that repeat others: a limit beside dry friction."""
_FIXED = 1e-10
"""Part of its own response below which a contact doesn't respond any more."""

_LOW, _HELD, _HIGH = -1, 0, 1


@uncounted()
def has_scalars_and_contacts_alone(kinds: np.ndarray) -> bool:
    """Return whether all blocks are contacts, limits and dry friction, and not contacts alone."""
    scalars = 0
    for kind in kinds:
        if kind in (UNILATERAL, BOUNDED):
            scalars += 1
        elif kind != CONTACT:
            return False
    return scalars > 0


@uncounted()
def _state(kind: int, bound: float, wanted: float) -> int:
    """Return the state of a scalar row that a force tells: that of the last step, and states last from step to step."""
    if kind == UNILATERAL:
        return _HELD if wanted > 0.0 else _LOW
    if wanted >= bound:
        return _HIGH
    return _LOW if wanted <= -bound else _HELD


@uncounted()
def _known_force(kind: int, bound: float, state: int) -> float:
    """Return the force of a row that isn't held."""
    if kind == UNILATERAL:
        return 0.0
    return bound if state == _HIGH else -bound


@uncounted(fastmath=FAST)
def _factorise(A: np.ndarray, n: int, repeated: np.ndarray) -> None:
    """Cholesky factor of the first n rows in place; rows that repeat earlier ones are marked and left out."""
    for j in range(n):
        own = A[j, j]
        pivot = own
        for k in range(j):
            pivot -= A[j, k] * A[j, k]
        repeated[j] = not pivot > _SINGULAR * own
        if repeated[j]:
            for i in range(j, n):
                A[i, j] = 0.0
            A[j, j] = 1.0
            for k in range(j):
                A[j, k] = 0.0
            continue
        root = math.sqrt(pivot)
        A[j, j] = root
        inverse = 1.0 / root
        for i in range(j + 1, n):
            value = A[i, j]
            for k in range(j):
                value -= A[i, k] * A[j, k]
            A[i, j] = value * inverse


@uncounted(fastmath=FAST)
def _take_off(row: np.ndarray, factors: np.ndarray, E: np.ndarray, count: int) -> None:
    """Subtract the first rows of E from a row, each times its factor, four rows in a pass."""
    a = 0
    while a + 4 <= count:
        e_0, e_1, e_2, e_3 = factors[a], factors[a + 1], factors[a + 2], factors[a + 3]
        for q in range(row.size):
            row[q] -= e_0 * E[a, q] + e_1 * E[a + 1, q] + e_2 * E[a + 2, q] + e_3 * E[a + 3, q]
        a += 4
    while a < count:
        e_0 = factors[a]
        for q in range(row.size):
            row[q] -= e_0 * E[a, q]
        a += 1


@apart(error_model="numpy")
def scalar_active_set(
    problem: BlockProblem,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
    deadline: float = np.inf,
) -> int:
    """Solve contacts, limits and dry friction; arguments and answer are those of :func:`.block_nsgs.block_nsgs`.

    Where the states cycle or contacts alone aren't solved, :func:`.scalars_as_contacts` solves all rows at once. Last,
    and where there is no time for another elimination, Gauss-Seidel goes on from the best forces found.

    Returns:
        Number of sweeps and Newton iterations done. The problem is solved if ``residuals[0] <= tolerance``.
    """
    W, v_free, starts, kinds = problem.W, problem.v_free, problem.starts, problem.kinds
    parameters, parents = problem.parameters, problem.parents
    blocks, n = kinds.size, v_free.size
    diagonal = np.empty(n)
    for k in range(n):
        diagonal[k] = W[k, k]
    timed = deadline < np.inf
    clock = np.empty(2, dtype=np.int64)
    begin = seconds(clock) if timed else 0.0
    block_residuals(W, diagonal, v_free, starts, kinds, parameters, parents, f, v, residuals)
    if residuals[0] <= _SHARE * tolerance:
        return 0
    # An elimination takes some n / 4 products of the operator with a vector, of which the residuals took one.
    elimination_seconds = (0.25 * n + 10.0) * (seconds(clock) - begin) if timed else 0.0
    contacts = 0
    for i in range(blocks):
        if kinds[i] == CONTACT:
            contacts += 1
    nc, ns = 3 * contacts, blocks - contacts
    rows_c, rows_s = np.empty(nc, dtype=np.int64), np.empty(ns, dtype=np.int64)
    block_s = np.empty(ns, dtype=np.int64)
    mu = np.empty(contacts)
    c = s = 0
    for i in range(blocks):
        if kinds[i] == CONTACT:
            mu[c] = parameters[i]
            for r in range(3):
                rows_c[3 * c + r] = starts[i] + r
            c += 1
        else:
            rows_s[s] = starts[i]
            block_s[s] = i
            s += 1
    states = np.empty(ns, dtype=np.int64)
    held = np.empty(ns, dtype=np.int64)
    A = np.empty((ns, ns))
    repeated, loose = np.empty(ns, dtype=np.bool_), np.empty(ns, dtype=np.bool_)
    E = np.empty((ns, nc + 1))
    W_c, v_c = np.empty((nc, nc)), np.empty(nc)
    f_c, moved, small = np.empty(nc), np.empty(nc), np.zeros(5)
    best = f.copy()
    best_residual = residuals[0]
    iteration = 0
    for s in range(ns):
        k = rows_s[s]
        states[s] = _state(kinds[block_s[s]], parameters[block_s[s]], f[k])
    for _ in range(_CHANGES):
        if iteration >= max_iterations or (timed and seconds(clock) + elimination_seconds > deadline):
            break
        # Free velocities with the known forces, in v.
        for k in range(n):
            v[k] = v_free[k]
        count = 0
        for s in range(ns):
            k = rows_s[s]
            if states[s] == _HELD:
                held[count] = k
                count += 1
                continue
            f[k] = _known_force(kinds[block_s[s]], parameters[block_s[s]], states[s])
            if f[k] != 0.0:
                for r in range(n):
                    v[r] += W[k, r] * f[k]
        for a in range(count):
            row = W[held[a]]
            for b in range(a + 1):
                A[a, b] = row[held[b]]
        _factorise(A, count, repeated)
        # L^-1 of (W_sc, v_s): products of its columns are what elimination takes off.
        for a in range(count):
            if repeated[a]:
                for r in range(nc + 1):
                    E[a, r] = 0.0
                continue
            row = W[held[a]]
            for r in range(nc):
                E[a, r] = row[rows_c[r]]
            E[a, nc] = v[held[a]]
            _take_off(E[a], A[a], E, a)
            inverse = 1.0 / A[a, a]
            for r in range(nc + 1):
                E[a, r] *= inverse
        for r in range(nc):
            row = W[rows_c[r]]
            f_c[r] = f[rows_c[r]]
            v_c[r] = v[rows_c[r]]
            for q in range(nc):
                W_c[r, q] = row[rows_c[q]]
            _take_off(W_c[r], E[:, r], E, count)
            for a in range(count):
                v_c[r] -= E[a, r] * E[a, nc]
        _keep_fixed_contacts(problem, rows_c, f_c, W_c, v_c)
        iteration += 1
        for s in range(ns):
            loose[s] = False
        a = 0
        for s in range(ns):
            if states[s] == _HELD:
                loose[s] = repeated[a]
                a += 1
        changed = 0
        for effort in range(2):
            # Well below the tolerance, so that a robot at rest stays solved while rounding moves it. If that is
            # hard, forces that are nearly right tell other states; if these stay, the tolerance has to do.
            if contacts > 0:
                most = _CLOSE_ITERATIONS if effort == 0 else _CONTACT_ITERATIONS
                limit = min(most, max(max_iterations - iteration, 0))
                wanted = _SHARE * tolerance if effort == 0 else tolerance
                iteration += nsgs_newton(W_c, v_c, mu, f_c, wanted, limit, moved, small, deadline)
            for r in range(nc):
                f[rows_c[r]] = f_c[r]
            for a in range(count - 1, -1, -1):
                if repeated[a]:
                    f[held[a]] = 0.0
                    continue
                value = -E[a, nc]
                for r in range(nc):
                    value -= E[a, r] * f_c[r]
                for b in range(a + 1, count):
                    if not repeated[b]:
                        value -= A[b, a] * f[held[b]]
                f[held[a]] = value / A[a, a]
            changed = _new_states(states, loose, rows_s, block_s, problem, diagonal, f, tolerance)
            if changed > 0 or small[0] <= tolerance:
                break
        block_residuals(W, diagonal, v_free, starts, kinds, parameters, parents, f, v, residuals)
        if residuals[0] <= tolerance:
            return iteration
        if residuals[0] < best_residual:
            best_residual = residuals[0]
            copy_vector(f, best)
        if changed == 0:
            break
    copy_vector(best, f)
    left = max(max_iterations - iteration, 0)
    if left > 0 and not (timed and seconds(clock) + elimination_seconds > deadline):
        limit = min(left, _CONTACT_ITERATIONS)
        iteration += scalars_as_contacts(problem, f, tolerance, limit, v, residuals, deadline)
        if residuals[0] <= tolerance:
            return iteration
        if residuals[0] >= best_residual:
            copy_vector(best, f)
        left = max(max_iterations - iteration, 0)
    iteration += block_nsgs(problem, f, tolerance, left, v, residuals, deadline)
    return iteration


@uncounted()
def _keep_fixed_contacts(
    problem: BlockProblem, rows: np.ndarray, f: np.ndarray, W: np.ndarray, v_free: np.ndarray
) -> None:
    """Let contacts that held rows leave no motion keep their forces, which those rows then bear.

    Such are a robot's contacts with itself between links that are held to each other. What is left of their own
    operator is rounding.

    Args:
        problem: that of all rows.
        rows: of the contacts, shape (3m,).
        f: their forces, shape (3m,).
        W: operator of the contacts alone, of which rows, columns and own blocks are replaced, shape (3m, 3m).
        v_free: their free velocities, replaced such that they don't move under their forces, shape (3m,).
    """
    for first in range(0, rows.size, 3):
        before = left = 0.0
        for r in range(first, first + 3):
            before += problem.W[rows[r], rows[r]]
            left += W[r, r]
        if left > _FIXED * before:
            continue
        for r in range(first, first + 3):
            for q in range(rows.size):
                W[r, q] = W[q, r] = 0.0
        for r in range(first, first + 3):
            v_free[r] = 0.0
            for q in range(first, first + 3):
                W[r, q] = problem.W[rows[r], rows[q]]
                v_free[r] -= W[r, q] * f[q]


@uncounted()
def _new_states(
    states: np.ndarray, loose: np.ndarray, rows: np.ndarray, block: np.ndarray, problem: BlockProblem,
    diagonal: np.ndarray, f: np.ndarray, tolerance: float,
) -> int:  # fmt: skip
    """Return states that forces f tell, held rows by their force, others by their velocity; returns how many are new.

    A state stays where another would be better by less than the tolerance lets through: the limit and the dry friction
    of one joint are the same row, and which of them holds it would be rounding's choice. A row that was left out as it
    repeats held ones (``loose``) moves if those do, as a joint on its last way to a limit; then it isn't held.
    """
    W, v_free, kinds, parameters = problem.W, problem.v_free, problem.kinds, problem.parameters
    largest = 0.0
    for s in range(rows.size):
        largest = max(largest, abs(f[rows[s]]))
    slack = 0.1 * tolerance * largest
    changed = 0
    for s in range(rows.size):
        k, i = rows[s], block[s]
        state, bound = states[s], parameters[i]
        wanted = f[k]
        if state != _HELD or loose[s]:
            velocity = v_free[k]
            for r in range(f.size):
                velocity += W[k, r] * f[r]
            wanted -= velocity / diagonal[k]
        new = state
        if kinds[i] == UNILATERAL:
            if state == _HELD and wanted < -slack:
                new = _LOW
            elif state != _HELD and wanted > slack:
                new = _HELD
        elif state == _HELD and abs(wanted) > (0.0 if loose[s] else bound) + slack:
            new = _HIGH if wanted > 0.0 else _LOW
        elif (state == _HIGH and wanted < bound - slack) or (state == _LOW and wanted > slack - bound):
            new = _HELD
        if new != state:
            changed += 1
            states[s] = new
    return changed
