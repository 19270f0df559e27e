# SPDX-License-Identifier: Apache-2.0
r"""Semismooth Newton method on the Alart-Curnier function of all contacts at once.

Where Gauss-Seidel needs thousands of sweeps (heavy bodies on light ones, many redundant contacts, contacts at the edge
of their cones), this one needs some tens of linear systems. Source: P. Alart, A. Curnier, Comput. Methods Appl. Mech.
Engrg. 92 (1991), with the radius of the friction disc taken at the augmented normal force; specification 000 §9.2 for
one contact. The unknowns are the forces, the velocities being :math:`v = W f + v_{free}`:

.. math::
    \psi_n = f_n - (f_n - \rho_n v_n)^+, \qquad
    \psi_t = f_t - P_{D}(f_t - \rho_t v_t), \quad D \text{ the disc of radius } \mu (f_n - \rho_n v_n)^+.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, counted, uncounted
from humanoid_sim.contact.cone import contact_residuals, contact_velocity, copy_vector, natural_map, velocity_residuals
from humanoid_sim.contact.nsgs import optimal_steps

_BACKTRACKS = 10
_MEMORY = 5
"""Accepted steps whose worst merit a new step has to beat: the function has kinks, its norm can't always fall."""
_SUFFICIENT = 1e-4
_OWN_LU = 72
"""Up to this many unknowns a plain elimination, as fast as LAPACK or half as fast, and never held up by its threads."""
_SINGULAR = 1e-14
"""Blocks with a determinant smaller than this, beside the product of their rows, are singular."""
_FIRST_SHIFT = 1e-4
_LAST_SHIFT = 1e-11
_FAILURES = 4
"""Steps in a row without progress after which the method gives up."""


@uncounted()
def contact_function(
    rho_n: float, rho_t: float, mu: float, f: np.ndarray, v: np.ndarray, psi: np.ndarray
) -> float:
    """Alart-Curnier function of one contact.

    Args:
        rho_n: normal step.
        rho_t: tangential step.
        mu: friction coefficient.
        f: force, shape (3,).
        v: velocity, shape (3,).
        psi: receives the function, a force, shape (3,).

    Returns:
        Its square in the metric of the contact's inertia, an energy.
    """
    augmented = f[0] - rho_n * v[0]
    if augmented <= 0.0:  # open
        psi[0] = f[0]
        psi[1] = f[1]
        psi[2] = f[2]
    else:
        psi[0] = rho_n * v[0]
        V_1 = f[1] - rho_t * v[1]
        V_2 = f[2] - rho_t * v[2]
        norm = math.sqrt(V_1 * V_1 + V_2 * V_2)
        radius = mu * augmented
        if norm <= radius:  # sticking
            psi[1] = rho_t * v[1]
            psi[2] = rho_t * v[2]
        else:
            psi[1] = f[1] - radius * V_1 / norm
            psi[2] = f[2] - radius * V_2 / norm
    return psi[0] * psi[0] / rho_n + (psi[1] * psi[1] + psi[2] * psi[2]) / rho_t


@uncounted()
def contact_derivatives(
    rho_n: float, rho_t: float, mu: float, f: np.ndarray, v: np.ndarray, A: np.ndarray, B: np.ndarray
) -> bool:
    r"""Generalised derivatives of :func:`contact_function`.

    Args:
        rho_n: normal step.
        rho_t: tangential step.
        mu: friction coefficient.
        f: force, shape (3,).
        v: velocity, shape (3,).
        A: receives :math:`\partial\psi/\partial f`, shape (3, 3).
        B: receives :math:`\partial\psi/\partial v`, shape (3, 3).

    Returns:
        Whether the contact is open: A is then the identity and B zero.
    """
    for r in range(3):
        for c in range(3):
            A[r, c] = 0.0
            B[r, c] = 0.0
    augmented = f[0] - rho_n * v[0]
    if augmented <= 0.0:
        A[0, 0] = A[1, 1] = A[2, 2] = 1.0
        return True
    B[0, 0] = rho_n
    V_1 = f[1] - rho_t * v[1]
    V_2 = f[2] - rho_t * v[2]
    square = V_1 * V_1 + V_2 * V_2
    radius = mu * augmented
    if square <= radius * radius:
        B[1, 1] = B[2, 2] = rho_t
        return False
    norm = math.sqrt(square)
    d_1 = V_1 / norm
    d_2 = V_2 / norm
    s = radius / norm
    N_11 = s * (1.0 - d_1 * d_1)
    N_12 = -s * d_1 * d_2
    N_22 = s * (1.0 - d_2 * d_2)
    A[1, 0] = -mu * d_1
    A[2, 0] = -mu * d_2
    A[1, 1] = 1.0 - N_11
    A[1, 2] = -N_12
    A[2, 1] = -N_12
    A[2, 2] = 1.0 - N_22
    B[1, 0] = mu * rho_n * d_1
    B[2, 0] = mu * rho_n * d_2
    B[1, 1] = rho_t * N_11
    B[1, 2] = rho_t * N_12
    B[2, 1] = rho_t * N_12
    B[2, 2] = rho_t * N_22
    return False


@uncounted()
def _merit(steps: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, psi: np.ndarray) -> float:
    """Squared function of all contacts."""
    total = 0.0
    for i in range(mu.size):
        k = 3 * i
        total += contact_function(
            steps[i, 0], steps[i, 1], mu[i], f[k : k + 3], v[k : k + 3], psi[k : k + 3]
        )
    return total


@uncounted(fastmath=FAST)
def _eliminate(K: np.ndarray, b: np.ndarray, n: int) -> bool:
    """Solve K x = b in place, contact by contact; False where a diagonal block is singular to working precision.

    Rows are not exchanged: blocks of contacts that stick or slip are well conditioned, and with three rows at once the
    inner loop is a third as many passes.
    """
    for c in range(0, n, 3):
        P, Q, R = K[c], K[c + 1], K[c + 2]
        a_0, a_1, a_2 = P[c], P[c + 1], P[c + 2]
        b_0, b_1, b_2 = Q[c], Q[c + 1], Q[c + 2]
        c_0, c_1, c_2 = R[c], R[c + 1], R[c + 2]
        m_00, m_10, m_20 = b_1 * c_2 - b_2 * c_1, b_2 * c_0 - b_0 * c_2, b_0 * c_1 - b_1 * c_0
        determinant = a_0 * m_00 + a_1 * m_10 + a_2 * m_20
        size = (abs(a_0) + abs(a_1) + abs(a_2)) * (abs(b_0) + abs(b_1) + abs(b_2)) * (abs(c_0) + abs(c_1) + abs(c_2))
        if not abs(determinant) > _SINGULAR * size:
            return False
        inverse = 1.0 / determinant
        m_00, m_10, m_20 = inverse * m_00, inverse * m_10, inverse * m_20
        m_01, m_02 = inverse * (a_2 * c_1 - a_1 * c_2), inverse * (a_1 * b_2 - a_2 * b_1)
        m_11, m_12 = inverse * (a_0 * c_2 - a_2 * c_0), inverse * (a_2 * b_0 - a_0 * b_2)
        m_21, m_22 = inverse * (a_1 * c_0 - a_0 * c_1), inverse * (a_0 * b_1 - a_1 * b_0)
        y_0, y_1, y_2 = b[c], b[c + 1], b[c + 2]
        b[c] = m_00 * y_0 + m_01 * y_1 + m_02 * y_2
        b[c + 1] = m_10 * y_0 + m_11 * y_1 + m_12 * y_2
        b[c + 2] = m_20 * y_0 + m_21 * y_1 + m_22 * y_2
        for j in range(c + 3, n):  # what is left of the rows is that of the inverse times them
            y_0, y_1, y_2 = P[j], Q[j], R[j]
            P[j] = m_00 * y_0 + m_01 * y_1 + m_02 * y_2
            Q[j] = m_10 * y_0 + m_11 * y_1 + m_12 * y_2
            R[j] = m_20 * y_0 + m_21 * y_1 + m_22 * y_2
        y_0, y_1, y_2 = b[c], b[c + 1], b[c + 2]
        for r in range(c + 3, n):
            row = K[r]
            l_0, l_1, l_2 = row[c], row[c + 1], row[c + 2]
            if l_0 != 0.0 or l_1 != 0.0 or l_2 != 0.0:
                b[r] -= l_0 * y_0 + l_1 * y_1 + l_2 * y_2
                for j in range(c + 3, n):
                    row[j] -= l_0 * P[j] + l_1 * Q[j] + l_2 * R[j]
    for r in range(n - 4, -1, -1):
        value = b[r]
        for j in range(r - r % 3 + 3, n):
            value -= K[r, j] * b[j]
        b[r] = value
    return True


@apart(error_model="numpy")
def _solve_by_lapack(K: np.ndarray, b: np.ndarray) -> bool:
    """Solve K x = b in place; False where K has a pivot of exactly zero."""
    try:
        b[:] = np.linalg.solve(K, b)
    except Exception:  # compiled code can't name it
        return False
    return True


class NewtonRoom(NamedTuple):
    """Work space of the method.

    Attributes:
        derivatives: of the function, shape (2, m, 3, 3).
        vectors: shape (10, 3m).
        matrix: shape (9 m m,).
        active: contacts that aren't open, shape (m,).
        steps: normal and tangential steps, shape (m, 2).
        memory: merits of accepted steps, shape (any,).
    """

    derivatives: np.ndarray
    vectors: np.ndarray
    matrix: np.ndarray
    active: np.ndarray
    steps: np.ndarray
    memory: np.ndarray


@counted()
def newton_room(m: int) -> NewtonRoom:
    """Work space for m contacts."""
    return NewtonRoom(
        np.empty((2, m, 3, 3)), np.empty((10, 3 * m)), np.empty(9 * m * m), np.empty(m, dtype=np.int64),
        np.empty((m, 2)), np.empty(_MEMORY),
    )  # fmt: skip


@apart(error_model="numpy", _nrt=False)
def newton_direction(
    W: np.ndarray, mu: np.ndarray, steps: np.ndarray, f: np.ndarray, v: np.ndarray, psi: np.ndarray, shift: float,
    direction: np.ndarray, room: NewtonRoom,
) -> bool:  # fmt: skip
    r"""Newton direction of the Alart-Curnier function of all contacts.

    Solves :math:`(A + B(W + \epsilon\,\mathrm{diag}\,W)) d = -\psi`. The shift makes the system regular where contacts
    are redundant: the direction is that of a proximal step, which moves forces along self-stresses no further than
    needed. Open contacts are condensed out, their forces go to zero.

    Args:
        W: Delassus operator, shape (3m, 3m).
        mu: friction coefficients, shape (m,).
        steps: normal and tangential steps, shape (m, 2).
        f: forces, shape (3m,).
        v: their velocities, shape (3m,).
        psi: the function there, shape (3m,).
        shift: :math:`\epsilon`.
        direction: receives d, shape (3m,).
        room: work space.

    Returns:
        False where the system is singular.
    """
    m = mu.size
    A, B, active = room.derivatives[0], room.derivatives[1], room.active
    drop, b, everywhere = room.vectors[0], room.vectors[1], room.vectors[2]
    count = 0
    for r in range(3 * m):  # velocities that the forces of opening contacts take along
        drop[r] = 0.0
    for i in range(m):
        k = 3 * i
        if contact_derivatives(steps[i, 0], steps[i, 1], mu[i], f[k : k + 3], v[k : k + 3], A[i], B[i]):
            for r in range(k, k + 3):
                direction[r] = -f[r]
                if f[r] != 0.0:
                    for c in range(3 * m):
                        drop[c] -= W[r, c] * f[r]
        else:
            active[count] = i
            count += 1
    n = 3 * count
    K = room.matrix[: n * n].reshape(n, n)
    for a in range(count):
        i = active[a]
        k = 3 * i
        for r in range(3):
            b_0, b_1, b_2 = B[i, r, 0], B[i, r, 1], B[i, r, 2]
            row = K[3 * a + r]
            b[3 * a + r] = -psi[k + r] - b_0 * drop[k] - b_1 * drop[k + 1] - b_2 * drop[k + 2]
            whole = row if count == m else everywhere
            for c in range(3 * m):
                whole[c] = b_0 * W[k, c] + b_1 * W[k + 1, c] + b_2 * W[k + 2, c]
            if count < m:
                for e in range(count):
                    j = 3 * active[e]
                    row[3 * e], row[3 * e + 1], row[3 * e + 2] = whole[j], whole[j + 1], whole[j + 2]
            for c in range(3):
                row[3 * a + c] += A[i, r, c] + shift * B[i, r, c] * W[k + c, k + c]
    if n <= _OWN_LU:
        if not _eliminate(K, b, n):
            return False
    elif not _solve_by_lapack(K, b[:n]):
        return False
    for a in range(count):
        k = 3 * active[a]
        for r in range(3):
            if not math.isfinite(b[3 * a + r]):
                return False
            direction[k + r] = b[3 * a + r]
    return True


@apart(error_model="numpy")
def alart_curnier_global(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """Newton iterations with a line search on the merit, the squared function in the metric of the inertia.

    Arguments and answer are those of :func:`~humanoid_sim.contact.nsgs.nsgs`, with linear systems in place of sweeps;
    the forces become the best ones found.
    """
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:
        return 0
    return int(_iterate(W, v_free, mu, f, tolerance, max_iterations, v, residuals, newton_room(mu.size)))


@apart(error_model="numpy", _nrt=False)
def _iterate(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, tolerance: float, max_iterations: int,
    v: np.ndarray, residuals: np.ndarray, room: NewtonRoom,
) -> int:  # fmt: skip
    """:func:`alart_curnier_global` in this work space, ``residuals`` being those of ``f``."""
    m = mu.size
    n = 3 * m
    steps, memory = room.steps, room.memory
    for i in range(m):
        steps[i, 0], steps[i, 1] = optimal_steps(W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3])
    psi, direction, change, zero = room.vectors[3], room.vectors[4], room.vectors[5], room.vectors[6]
    trial_f, trial_v, best = room.vectors[7], room.vectors[8], room.vectors[9]
    for r in range(n):
        zero[r] = 0.0
    copy_vector(f, best)
    best_residual = residuals[0]
    merit = _merit(steps, mu, f, v, psi)
    for i in range(memory.size):
        memory[i] = merit
    failures = 0
    growth = 1.0
    iteration = 0
    residual = best_residual
    while iteration < max_iterations and failures < _FAILURES:
        iteration += 1
        shift = min(_FIRST_SHIFT, max(_LAST_SHIFT, 1e-4 * residual)) * growth
        if not newton_direction(W, mu, steps, f, v, psi, shift, direction, room):
            failures += 1
            growth *= 1e3
            continue
        contact_velocity(W, zero, direction, change)
        reference = memory[0]
        for past in memory:
            reference = max(reference, past)
        length = 1.0
        accepted = False
        for _ in range(_BACKTRACKS):
            for r in range(n):
                trial_f[r] = f[r] + length * direction[r]
                trial_v[r] = v[r] + length * change[r]
            trial = _merit(steps, mu, trial_f, trial_v, psi)
            if trial <= (1.0 - _SUFFICIENT * length) * reference:
                accepted = True
                break
            length *= 0.5
        if not accepted:
            failures += 1
            growth *= 1e3
            _merit(steps, mu, f, v, psi)
            continue
        copy_vector(trial_f, f)
        contact_velocity(W, v_free, f, v)  # anew: updates would carry rounding of large steps along
        merit = _merit(steps, mu, f, v, psi)
        memory[iteration % _MEMORY] = merit
        residual = natural_map(W, v_free, mu, f, v)
        if residual < best_residual:
            best_residual = residual
            copy_vector(f, best)
            failures = 0
            growth = max(1.0, 0.1 * growth)
        if residual <= tolerance:
            break
    if best_residual < residual:
        copy_vector(best, f)
        contact_velocity(W, v_free, f, v)
    velocity_residuals(W, v_free, mu, f, v, residuals)
    return iteration
