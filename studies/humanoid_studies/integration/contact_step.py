# SPDX-License-Identifier: Apache-2.0
r"""Velocity at the end of a step under impulses that obey Signorini's and Coulomb's laws.

All schemes of the time-stepping family lead to the same problem with other matrices: find :math:`v^+` and impulses p
with

.. math::

    H (v^+ - v) = r + N^T p, \qquad u = N v^+ + s, \qquad 0 \le p_n \perp u_n \ge 0, \quad
    p_t \in \mathcal D(\mu p_n) \text{ opposite to } u_t .

Everything in which they differ is in H, r, N and s. The conditions on u don't change if u is scaled by a positive
number, so that a scheme that constrains :math:`\zeta v^+ + (1-\zeta) v` takes :math:`s = (1-\zeta)/\zeta\,N v`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from humanoid_model.arrays import Array
from humanoid_model.errors import SimulationError
from humanoid_sim.contact.solve import ContactProblem, solve_contacts
from humanoid_studies.integration.mechanical_system import ContactSet

_ASYMMETRY_PASSES = 100
_ASYMMETRY_TOLERANCE = 1e-13


@dataclass(frozen=True)
class ContactSolver:
    """How the contact problem of a step is solved.

    Attributes:
        method: name of the solver, see :func:`~humanoid_sim.contact.solve.solve_contacts`.
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps.
    """

    method: str = "nsgs"
    tolerance: float = 1e-11
    max_iterations: int = 5000


DEFAULT_SOLVER = ContactSolver()
"""Block Gauss-Seidel, tight enough to measure orders with."""


def delassus(contacts: ContactSet, H_inverse_rows: Array) -> Array:
    """Operator N H^-1 N^T, shape (3m, 3m), of the columns H^-1 N^T, shape (nv, 3m).

    A direction in which nothing can move gets a stand-in on the diagonal: its velocity is zero without a force, so
    its force is zero whatever stands there, and solvers may rely on definite blocks.
    """
    m = len(contacts)
    W = contacts.rows.reshape(3 * m, -1) @ H_inverse_rows
    W = 0.5 * (W + W.T)
    diagonal = np.einsum("ii->i", W)
    fixed = np.flatnonzero(~contacts.rows.reshape(3 * m, -1).any(axis=1))
    diagonal[fixed] = diagonal[3 * (fixed // 3)]
    return W


def solve_impulses(
    contacts: ContactSet, W: Array, u_free: Array, solver: ContactSolver, friction: Array | None = None
) -> tuple[Array, bool]:
    """Impulses (n, t1, t2) [N s], shape (m, 3), and whether they are within the tolerance.

    Args:
        contacts: the contacts.
        W: Delassus operator [1/kg], shape (3m, 3m).
        u_free: constrained velocities without impulses [m/s], shape (m, 3).
        solver: which solver.
        friction: coefficients other than those of the contacts, shape (m,).
    """
    problem = ContactProblem(W, u_free, contacts.friction if friction is None else friction)
    result = solve_contacts(problem, solver.method, tolerance=solver.tolerance, max_iterations=solver.max_iterations)
    return result.impulses, result.converged


def solve_contact_step(
    H: Array,
    r: Array,
    v: Array,
    contacts: ContactSet,
    shifts: Array,
    solver: ContactSolver = DEFAULT_SOLVER,
) -> tuple[Array, Array, bool]:
    """Solve the contact problem of a step.

    An H that is not symmetric (gyroscopic terms taken implicitly) gives an operator that is not either. Its
    antisymmetric part, of the size of the time step, is moved to the right-hand side and iterated; at the end
    the equation holds with the whole H.

    Args:
        H: iteration matrix, shape (nv, nv); its symmetric part must be positive definite.
        r: impulse of all other efforts, shape (nv,).
        v: velocity at the start of the step, shape (nv,).
        contacts: contacts that are constrained, m of them.
        shifts: s [m/s], shape (m, 3).
        solver: which solver.

    Returns:
        Velocity at the end of the step, shape (nv,), impulses (n, t1, t2) [N s], shape (m, 3), and whether they are
        within the tolerance.

    Raises:
        SimulationError: H is not positive definite, or too far from symmetric: the time step is too large.
    """
    if not np.all(np.isfinite(H)) or not np.all(np.isfinite(r)):
        raise SimulationError("inertia or efforts of the step are infinite or not a number")
    symmetric = 0.5 * (H + H.T)
    skew = 0.5 * (H - H.T)
    try:
        factor = cho_factor(symmetric)
    except np.linalg.LinAlgError:
        raise SimulationError(
            "the matrix of the implicit step is not positive definite; take a smaller time step"
        ) from None
    is_symmetric = np.abs(skew).max(initial=0.0) <= 1e-12 * np.abs(symmetric).max(initial=0.0)
    if len(contacts) == 0:
        change = cho_solve(factor, r) if is_symmetric else np.linalg.solve(H, r)
        return v + change, np.zeros((0, 3)), True
    columns = cho_solve(factor, contacts.rows.reshape(-1, v.size).T)
    W = delassus(contacts, columns)
    change = np.zeros_like(v)
    for _ in range(_ASYMMETRY_PASSES):
        free = cho_solve(factor, r if is_symmetric else r - skew @ change)
        impulses, converged = solve_impulses(contacts, W, contacts.velocities(v + free) + shifts, solver)
        before, change = change, free + columns @ impulses.reshape(-1)
        if is_symmetric or np.abs(change - before).max() <= _ASYMMETRY_TOLERANCE * (1.0 + np.abs(change).max()):
            return v + change, impulses, converged
    raise SimulationError("the gyroscopic terms of the implicit step dominate its inertia; take a smaller time step")


def normal_shifts(normal: Array) -> Array:
    """Shift s of the normal directions only, shape (m, 3), of values of shape (m,)."""
    shifts = np.zeros((normal.size, 3))
    shifts[:, 0] = normal
    return shifts
