# SPDX-License-Identifier: Apache-2.0
"""Velocity jumps at closed contacts: Newton's law and Poisson's, both with Coulomb friction."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from humanoid_model.arrays import Array
from humanoid_studies.integration.contact_step import ContactSolver, delassus, normal_shifts, solve_impulses
from humanoid_studies.integration.mechanical_system import ContactSet

_POISSON_PASSES = 200
_POISSON_TOLERANCE = 1e-12


def newton_impact(
    M: Array, v: Array, contacts: ContactSet, restitution: Array, solver: ContactSolver
) -> tuple[Array, Array, bool]:
    r"""Impulses after which :math:`v_n^+ \ge -e\,v_n^-` at every contact (thesis equation 3.7).

    Args:
        M: inertia, shape (nv, nv).
        v: velocity before, shape (nv,).
        contacts: closed contacts.
        restitution: coefficients e, shape (m,).
        solver: how the contact problem is solved.

    Returns:
        Velocity after, impulses [N s], shape (m, 3), and whether they are within the tolerance.
    """
    columns = cho_solve(cho_factor(M), contacts.rows.reshape(-1, v.size).T)
    before = contacts.velocities(v)
    shifts = normal_shifts(restitution * np.minimum(before[:, 0], 0.0))
    impulses, converged = solve_impulses(contacts, delassus(contacts, columns), before + shifts, solver)
    return v + columns @ impulses.reshape(-1), impulses, converged


def poisson_impact(
    M: Array, v: Array, contacts: ContactSet, restitution: Array, solver: ContactSolver
) -> tuple[Array, Array, bool]:
    r"""Compression until nothing approaches, then decompression with e times the normal impulses of compression.

    In decompression a contact gets the share :math:`e\,p_n`, and more where it would approach otherwise; friction
    acts in both phases within the cone of its normal impulse (M. Anitescu and F. Potra, 1997). The two parts of
    decompression, friction for given normal impulses and normal impulses for given friction, are solved in turn.

    Args:
        M: inertia, shape (nv, nv).
        v: velocity before, shape (nv,).
        contacts: closed contacts.
        restitution: coefficients e, shape (m,).
        solver: how the contact problems are solved.

    Returns:
        Velocity after, impulses [N s], shape (m, 3), and whether they are within the tolerance.
    """
    m = len(contacts)
    columns = cho_solve(cho_factor(M), contacts.rows.reshape(-1, v.size).T)
    W = delassus(contacts, columns)
    compression, converged = solve_impulses(contacts, W, contacts.velocities(v), solver)
    returned = restitution * compression[:, 0]
    if not returned.any():
        return v + columns @ compression.reshape(-1), compression, converged
    compressed = contacts.velocities(v + columns @ compression.reshape(-1)).reshape(-1)
    normals = 3 * np.arange(m)
    tangential = W.copy()
    tangential[normals, :] = 0.0
    tangential[:, normals] = 0.0
    tangential[normals, normals] = W[normals, normals]
    total = np.zeros((m, 3))
    total[:, 0] = returned
    settled = False
    for _ in range(_POISSON_PASSES):
        before = total.copy()
        # Normal impulses are given: with rows of their own they come out as they went in, with friction beside.
        given = np.zeros(3 * m)
        given[normals] = total[:, 0]
        free = compressed + W @ given
        free[normals] = -W[normals, normals] * total[:, 0]
        friction, rubs = solve_impulses(contacts, tangential, free.reshape(m, 3), solver)
        total[:, 1:] = friction[:, 1:]
        share = total.copy()
        share[:, 0] = returned
        free = compressed + W @ share.reshape(-1)
        lifts = True
        if free[normals].min() < -_POISSON_TOLERANCE * (1.0 + np.abs(compressed).max()):
            extra, lifts = solve_impulses(contacts, W, free.reshape(m, 3), solver, np.zeros(m))
            total[:, 0] = returned + extra[:, 0]
        else:
            total[:, 0] = returned
        if np.abs(total - before).max() <= _POISSON_TOLERANCE * np.abs(total).max():
            settled = rubs and lifts
            break
    impulses = compression + total
    return v + columns @ impulses.reshape(-1), impulses, converged and settled
