# SPDX-License-Identifier: Apache-2.0
"""Block Gauss-Seidel on contacts with exact Coulomb cones (specification 000 §9.4, Algorithm 1).

Each contact is solved by Newton's method on its Alart-Curnier function (§9). The unknown is the force alone: the
velocity is eliminated by :math:`v = W_{ii} f + v_{loc}`, which gives the same iterates as the six-variable map of
thesis equations (3.28) and (3.33) with a 3x3 system.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted, uncounted
from humanoid_sim.contact.cone import contact_residuals, natural_map, project_on_cone

NEWTON_TOLERANCE = 1e-13
"""Newton stops when the function, a force, is below this times the size of the forces at play."""
NEWTON_ITERATIONS = 30
_POLAR_SAMPLES = 24
_BISECTIONS = 60


@uncounted()
def optimal_steps(W: np.ndarray) -> tuple[float, float]:
    r"""Return steps of best contraction (thesis equations 3.29 and 3.30).

    Args:
        W: diagonal block of the contact, shape (3, 3), order (n, t1, t2).

    Returns:
        :math:`\rho_n = 1/W_{nn}` and :math:`\rho_t = \lambda_{min}/\lambda_{max}^2` of :math:`W_{tt}`.
    """
    mean = 0.5 * (W[1, 1] + W[2, 2])
    radius = math.hypot(0.5 * (W[1, 1] - W[2, 2]), W[1, 2])
    largest = mean + radius
    smallest = mean - radius
    return 1.0 / W[0, 0], smallest / (largest * largest)


@uncounted()
def alart_curnier(
    W: np.ndarray,
    v_loc: np.ndarray,
    mu: float,
    rho_n: float,
    rho_t: float,
    f: np.ndarray,
    psi: np.ndarray,
    jacobian: np.ndarray,
) -> None:
    r"""Alart-Curnier function of one contact and its generalised Jacobian, both with respect to the force.

    Args:
        W: diagonal block, shape (3, 3).
        v_loc: velocity that the contact would have with no force on it, shape (3,).
        mu: friction coefficient.
        rho_n: normal step.
        rho_t: tangential step.
        f: force at which to evaluate, shape (3,).
        psi: receives the function (forces), shape (3,).
        jacobian: receives :math:`\partial\psi/\partial f`, shape (3, 3).
    """
    v_n = v_loc[0] + W[0, 0] * f[0] + W[0, 1] * f[1] + W[0, 2] * f[2]
    v_1 = v_loc[1] + W[1, 0] * f[0] + W[1, 1] * f[1] + W[1, 2] * f[2]
    v_2 = v_loc[2] + W[2, 0] * f[0] + W[2, 1] * f[1] + W[2, 2] * f[2]

    if f[0] - rho_n * v_n > 0.0:  # in contact (3.31, with v_n: the thesis prints f_n)
        psi[0] = rho_n * v_n
        for c in range(3):
            jacobian[0, c] = rho_n * W[0, c]
    else:
        psi[0] = f[0]
        jacobian[0, 0] = 1.0
        jacobian[0, 1] = 0.0
        jacobian[0, 2] = 0.0

    radius = mu * f[0]
    if radius <= 0.0:  # the disc is a point
        psi[1] = f[1]
        psi[2] = f[2]
        for r in range(1, 3):
            for c in range(3):
                jacobian[r, c] = 1.0 if r == c else 0.0
        return

    V_1 = f[1] - rho_t * v_1
    V_2 = f[2] - rho_t * v_2
    norm = math.hypot(V_1, V_2)
    if norm <= radius:  # sticking
        psi[1] = rho_t * v_1
        psi[2] = rho_t * v_2
        for c in range(3):
            jacobian[1, c] = rho_t * W[1, c]
            jacobian[2, c] = rho_t * W[2, c]
        return

    # Slipping (3.32). With d = V/|V| and N = (1 - d d^T)/|V|:
    # d psi_t / d f_t = 1 - mu f_n N, d psi_t / d f_n = -mu d, d psi_t / d v_t = rho_t mu f_n N.
    d_1 = V_1 / norm
    d_2 = V_2 / norm
    psi[1] = f[1] - radius * d_1
    psi[2] = f[2] - radius * d_2
    s = radius / norm
    N_11 = s * (1.0 - d_1 * d_1)
    N_12 = -s * d_1 * d_2
    N_22 = s * (1.0 - d_2 * d_2)
    for c in range(3):
        jacobian[1, c] = rho_t * (N_11 * W[1, c] + N_12 * W[2, c])
        jacobian[2, c] = rho_t * (N_12 * W[1, c] + N_22 * W[2, c])
    jacobian[1, 0] -= mu * d_1
    jacobian[2, 0] -= mu * d_2
    jacobian[1, 1] += 1.0 - N_11
    jacobian[1, 2] -= N_12
    jacobian[2, 1] -= N_12
    jacobian[2, 2] += 1.0 - N_22


@uncounted()
def _solve_3x3(A: np.ndarray, b: np.ndarray, x: np.ndarray) -> bool:
    """Cramer's rule; False where the matrix is singular."""
    c_0 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c_1 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c_2 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    determinant = A[0, 0] * c_0 + A[0, 1] * c_1 + A[0, 2] * c_2
    if abs(determinant) < 1e-300:
        return False
    inverse = 1.0 / determinant
    x[0] = inverse * (
        b[0] * c_0
        + b[1] * (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2])
        + b[2] * (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1])
    )
    x[1] = inverse * (
        b[0] * c_1
        + b[1] * (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0])
        + b[2] * (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2])
    )
    x[2] = inverse * (
        b[0] * c_2
        + b[1] * (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1])
        + b[2] * (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
    )
    return True


@apart(error_model="numpy")
def newton_contact(
    W: np.ndarray, v_loc: np.ndarray, mu: float, rho_n: float, rho_t: float, f: np.ndarray
) -> int:
    """Newton iterations on the Alart-Curnier function (Algorithm 2 of the thesis).

    Args:
        W: diagonal block, shape (3, 3).
        v_loc: velocity of the contact with no force on it, shape (3,).
        mu: friction coefficient.
        rho_n: normal step.
        rho_t: tangential step.
        f: initial force, overwritten with the solution, shape (3,).

    Returns:
        Number of iterations, or -1 where Newton did not converge (about 1 problem in 200: it cycles).
    """
    psi = np.empty(3)
    jacobian = np.empty((3, 3))
    step = np.empty(3)
    scale = rho_n * (abs(v_loc[0]) + abs(v_loc[1]) + abs(v_loc[2]))
    for iteration in range(NEWTON_ITERATIONS + 1):
        alart_curnier(W, v_loc, mu, rho_n, rho_t, f, psi, jacobian)
        norm = abs(psi[0]) + abs(psi[1]) + abs(psi[2])
        if norm <= NEWTON_TOLERANCE * (scale + abs(f[0])):
            return iteration
        if not _solve_3x3(jacobian, psi, step):
            return -1
        for c in range(3):
            f[c] -= step[c]
    return -1


@uncounted()
def _slip_force(
    W: np.ndarray, v_loc: np.ndarray, mu: float, angle: float, f: np.ndarray
) -> tuple[float, float]:
    """Return the force of a contact that slips in the direction ``angle`` with zero normal velocity.

    Returns:
        Sine-like mismatch between that direction and the tangential velocity that the force gives, and the
        velocity along the direction (slip needs mismatch 0 and a velocity >= 0). A force that
        does not exist is told by a velocity of -inf.
    """
    d_1 = math.cos(angle)
    d_2 = math.sin(angle)
    stiffness = W[0, 0] - mu * (W[0, 1] * d_1 + W[0, 2] * d_2)
    if stiffness <= 0.0:
        return 0.0, -np.inf
    f[0] = -v_loc[0] / stiffness
    f[1] = -mu * f[0] * d_1
    f[2] = -mu * f[0] * d_2
    v_1 = v_loc[1] + W[1, 0] * f[0] + W[1, 1] * f[1] + W[1, 2] * f[2]
    v_2 = v_loc[2] + W[2, 0] * f[0] + W[2, 1] * f[1] + W[2, 2] * f[2]
    return v_1 * d_2 - v_2 * d_1, v_1 * d_1 + v_2 * d_2


@apart(error_model="numpy")
def polar_search(W: np.ndarray, v_loc: np.ndarray, mu: float, f: np.ndarray) -> bool:
    r"""Slipping force of one contact by a search on the slip direction: the fallback of Newton.

    With slip in direction d, the force is :math:`f_n(1, -\mu d)` and zero normal velocity gives
    :math:`f_n`; what is left is one equation in the angle of d, which is bracketed on a circle and bisected. It
    can't cycle, and finds a solution wherever one exists.

    Args:
        W: diagonal block, shape (3, 3).
        v_loc: velocity of the contact with no force on it (approaching), shape (3,).
        mu: friction coefficient.
        f: receives the force, shape (3,).

    Returns:
        True if a slipping solution was found; ``f`` is untouched otherwise.
    """
    trial = np.empty(3)
    before, _ = _slip_force(W, v_loc, mu, 0.0, trial)
    for sample in range(_POLAR_SAMPLES):
        low = 2.0 * math.pi * sample / _POLAR_SAMPLES
        high = 2.0 * math.pi * (sample + 1) / _POLAR_SAMPLES
        after, _ = _slip_force(W, v_loc, mu, high, trial)
        if before * after <= 0.0 and before != after:
            sign = before
            for _ in range(_BISECTIONS):
                middle = 0.5 * (low + high)
                value, _ = _slip_force(W, v_loc, mu, middle, trial)
                if value * sign > 0.0:
                    low = middle
                else:
                    high = middle
            _, speed = _slip_force(W, v_loc, mu, 0.5 * (low + high), trial)
            if speed >= 0.0:
                f[0] = trial[0]
                f[1] = trial[1]
                f[2] = trial[2]
                return True
        before = after
    return False


@uncounted()
def inverse_3x3(A: np.ndarray, out: np.ndarray) -> None:
    """Compute the inverse of a symmetric positive definite 3x3 block."""
    c_0 = A[1, 1] * A[2, 2] - A[1, 2] * A[1, 2]
    c_1 = A[1, 2] * A[0, 2] - A[0, 1] * A[2, 2]
    c_2 = A[0, 1] * A[1, 2] - A[1, 1] * A[0, 2]
    inverse = 1.0 / (A[0, 0] * c_0 + A[0, 1] * c_1 + A[0, 2] * c_2)
    out[0, 0] = inverse * c_0
    out[0, 1] = inverse * c_1
    out[0, 2] = inverse * c_2
    out[1, 1] = inverse * (A[0, 0] * A[2, 2] - A[0, 2] * A[0, 2])
    out[1, 2] = inverse * (A[0, 1] * A[0, 2] - A[0, 0] * A[1, 2])
    out[2, 2] = inverse * (A[0, 0] * A[1, 1] - A[0, 1] * A[0, 1])
    out[1, 0] = out[0, 1]
    out[2, 0] = out[0, 2]
    out[2, 1] = out[1, 2]


@uncounted()
def solve_one_contact(
    W: np.ndarray,
    W_inverse: np.ndarray,
    rho_n: float,
    rho_t: float,
    v_loc: np.ndarray,
    mu: float,
    f: np.ndarray,
) -> None:
    """Exact solution of the local problem at one contact (specification 000 §9.1): open, stick or slip.

    Args:
        W: diagonal block of the contact, shape (3, 3).
        W_inverse: its inverse.
        rho_n: normal step of the Alart-Curnier function.
        rho_t: tangential step.
        v_loc: velocity of the contact with no force on it, shape (3,).
        mu: friction coefficient.
        f: previous force, overwritten with the solution, shape (3,).
    """
    if v_loc[0] >= 0.0:
        f[0] = 0.0
        f[1] = 0.0
        f[2] = 0.0
        return
    stick_n = -(W_inverse[0, 0] * v_loc[0] + W_inverse[0, 1] * v_loc[1] + W_inverse[0, 2] * v_loc[2])
    stick_1 = -(W_inverse[1, 0] * v_loc[0] + W_inverse[1, 1] * v_loc[1] + W_inverse[1, 2] * v_loc[2])
    stick_2 = -(W_inverse[2, 0] * v_loc[0] + W_inverse[2, 1] * v_loc[1] + W_inverse[2, 2] * v_loc[2])
    if stick_n >= 0.0 and math.sqrt(stick_1 * stick_1 + stick_2 * stick_2) <= mu * stick_n:
        f[0] = stick_n
        f[1] = stick_1
        f[2] = stick_2
        return
    if mu == 0.0:
        f[0] = -v_loc[0] / W[0, 0]
        f[1] = 0.0
        f[2] = 0.0
        return
    if f[0] <= 0.0:  # no previous force to start Newton from: the stick force, brought back to the cone
        f[0], f[1], f[2] = project_on_cone(stick_n, stick_1, stick_2, mu)
        if f[0] <= 0.0:
            f[0] = -v_loc[0] / W[0, 0]
    previous_n, previous_1, previous_2 = f[0], f[1], f[2]
    if newton_contact(W, v_loc, mu, rho_n, rho_t, f) >= 0 and f[0] >= 0.0:
        return
    if polar_search(W, v_loc, mu, f):
        return
    # No slipping solution at this contact alone (strong coupling of normal and tangential motion): a
    # projected step from the previous force keeps the sweep going, the residual tells the outcome.
    v_n = v_loc[0] + W[0, 0] * previous_n + W[0, 1] * previous_1 + W[0, 2] * previous_2
    v_1 = v_loc[1] + W[1, 0] * previous_n + W[1, 1] * previous_1 + W[1, 2] * previous_2
    v_2 = v_loc[2] + W[2, 0] * previous_n + W[2, 1] * previous_1 + W[2, 2] * previous_2
    slip = math.sqrt(v_1 * v_1 + v_2 * v_2)
    rho = 3.0 / (W[0, 0] + W[1, 1] + W[2, 2])
    f[0], f[1], f[2] = project_on_cone(
        previous_n - rho * (v_n + mu * slip), previous_1 - rho * v_1, previous_2 - rho * v_2, mu
    )


@counted()
def nsgs(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """Sweeps over the contacts, each solved exactly with the newest forces of the others.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces (warm start), overwritten with the solution, shape (3m,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of sweeps done. The problem is solved if ``residuals[0] <= tolerance``.

    The velocities are kept up to date along with the forces, so that the true residual is at hand after
    each sweep. The relative change of the forces, thesis equation (3.34), misleads: where
    convergence is slow it is small far from the solution, and where contacts are redundant the forces may drift
    along self-stresses that change no velocity.
    """
    m = mu.size
    contact_residuals(W, v_free, mu, f, v, residuals)
    if residuals[0] <= tolerance:  # a warm start that already solves the problem costs no sweep
        return 0

    inverses = np.empty((m, 3, 3))
    steps = np.empty((m, 2))
    for i in range(m):
        k = 3 * i
        block = W[k : k + 3, k : k + 3]
        inverse_3x3(block, inverses[i])
        steps[i, 0], steps[i, 1] = optimal_steps(block)

    v_loc = np.empty(3)
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        for i in range(m):
            k = 3 * i
            f_i = f[k : k + 3]
            f_0, f_1, f_2 = f_i[0], f_i[1], f_i[2]
            for r in range(3):
                v_loc[r] = v[k + r] - W[k + r, k] * f_0 - W[k + r, k + 1] * f_1 - W[k + r, k + 2] * f_2
            block = W[k : k + 3, k : k + 3]
            solve_one_contact(block, inverses[i], steps[i, 0], steps[i, 1], v_loc, mu[i], f_i)
            d_0, d_1, d_2 = f_i[0] - f_0, f_i[1] - f_1, f_i[2] - f_2
            if d_0 != 0.0 or d_1 != 0.0 or d_2 != 0.0:
                for c in range(3 * m):
                    v[c] += W[k, c] * d_0 + W[k + 1, c] * d_1 + W[k + 2, c] * d_2
        if natural_map(W, v_free, mu, f, v) <= tolerance:
            # Believed only once the velocities have been computed anew, free of accumulated rounding.
            contact_residuals(W, v_free, mu, f, v, residuals)
            if residuals[0] <= tolerance:
                return sweep
    contact_residuals(W, v_free, mu, f, v, residuals)
    return sweep
