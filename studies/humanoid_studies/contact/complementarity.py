# SPDX-License-Identifier: Apache-2.0
r"""Contact problems as linear complementarity problems: without friction, or with the cone cut into facets.

The thesis' family LCP (specification 000 §§5.2, 6.3 and 10; Anitescu and Potra, Stewart and Trinkle). A faceted cone
is not Coulomb's: friction is weaker or stronger by up to :math:`1 - \cos(\pi/k)`, and prefers the facets' corners.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.contact.cone import contact_residuals
from humanoid_sim.contact.impact import SOLVED, lemke_regularised
from humanoid_sim.contact.solve import ContactProblem

FACETS = 8
"""Directions of a faceted cone by default: within 8 % of the round one."""


def faceted_size(contacts: int, facets: int = FACETS) -> int:
    """Return unknowns of the faceted problem, (k + 2) m; the iterative solvers have 3 m."""
    return (facets + 2) * contacts


@njit(cache=True, error_model="numpy")
def _assemble(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, facets: int, reach: float, M: np.ndarray, q: np.ndarray
) -> tuple[float, float]:
    """Return the complementarity problem of the faceted cone, scaled to entries of size one.

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        facets: k.
        reach: length of the directions; 1 inscribes the pyramid in the cone.
        M: receives the matrix, per contact the rows f_n, k tangential forces, sliding speed, shape (n, n).
        q: receives the vector, shape (n,).

    Returns:
        Sizes by which W and v_free were divided.
    """
    m = mu.size
    width = facets + 2
    size_W = 0.0
    size_v = 0.0
    for r in range(3 * m):
        size_W = max(size_W, W[r, r])
        size_v = max(size_v, abs(v_free[r]))
    if size_v == 0.0:
        size_v = 1.0
    D = np.zeros((width, 3))  # force (n, t1, t2) of each unknown of a contact
    D[0, 0] = 1.0
    for a in range(facets):
        D[1 + a, 1] = reach * math.cos(2.0 * math.pi * a / facets)
        D[1 + a, 2] = reach * math.sin(2.0 * math.pi * a / facets)
    half = np.empty((3, width))
    for i in range(m):
        for j in range(m):
            for r in range(3):
                for c in range(width):
                    half[r, c] = (
                        W[3 * i + r, 3 * j] * D[c, 0]
                        + W[3 * i + r, 3 * j + 1] * D[c, 1]
                        + W[3 * i + r, 3 * j + 2] * D[c, 2]
                    ) / size_W
            for r in range(width):
                for c in range(width):
                    M[width * i + r, width * j + c] = (
                        D[r, 0] * half[0, c] + D[r, 1] * half[1, c] + D[r, 2] * half[2, c]
                    )
        last = width * i + facets + 1
        M[last, width * i] = mu[i]
        for a in range(1, facets + 1):
            M[width * i + a, last] = 1.0
            M[last, width * i + a] = -1.0
        for r in range(width):
            q[width * i + r] = (
                D[r, 0] * v_free[3 * i] + D[r, 1] * v_free[3 * i + 1] + D[r, 2] * v_free[3 * i + 2]
            ) / size_v
    return size_W, size_v


def faceted_lcp(
    problem: ContactProblem, facets: int = FACETS, *, circumscribed: bool = False
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Matrix and vector of the complementarity problem of thesis equations (2.33) to (2.35), in SI units.

    Args:
        problem: the contact problem.
        facets: k, even, 4 or more.
        circumscribed: whether the pyramid surrounds the cone instead of standing in it.

    Returns:
        M, shape ((k + 2) m, (k + 2) m), and q. Per contact the unknowns are the normal force, k tangential forces and
        the sliding speed.

    Raises:
        InputError: an odd number of facets, or fewer than 4.
    """
    check_facets(facets)
    n = faceted_size(problem.mu.size, facets)
    M, q = np.zeros((n, n)), np.zeros(n)
    reach = 1.0 / math.cos(math.pi / facets) if circumscribed else 1.0
    size_W, size_v = _assemble(problem.W, problem.v_free, problem.mu, facets, reach, M, q)
    force = np.arange(n) % (facets + 2) != facets + 1
    M[np.ix_(force, force)] *= size_W
    return M, q * size_v


def check_facets(facets: int) -> None:
    """Refuse a number of facets that is odd (directions come in opposite pairs) or below 4.

    Raises:
        InputError: it is one.
    """
    if facets < 4 or facets % 2:
        raise InputError(f"the cone has {facets} facets", element="facets", remedy="Give an even number, 4 or more")


@njit(cache=True, error_model="numpy")
def solve_faceted(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    max_pivots: int,
    v: np.ndarray,
    residuals: np.ndarray,
    facets: int,
    reach: float,
) -> int:
    """Solve the faceted problem by pivoting.

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: receives the forces; left as it is where pivoting ends in a ray, shape (3m,).
        max_pivots: bound on the number of pivots of each attempt.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of the exact law, shape (5,).
        facets: k.
        reach: 1 for a pyramid in the cone, 1 / cos(pi / k) for one around it.

    Returns:
        Number of pivots.
    """
    m = mu.size
    width = facets + 2
    M = np.zeros((width * m, width * m))
    q = np.zeros(width * m)
    z = np.zeros(width * m)
    size_W, size_v = _assemble(W, v_free, mu, facets, reach, M, q)
    status, pivots = lemke_regularised(M, q, max_pivots, z)
    if status == SOLVED:
        for i in range(m):
            f[3 * i] = z[width * i] * size_v / size_W
            t_1 = t_2 = 0.0
            for a in range(facets):
                angle = 2.0 * math.pi * a / facets
                t_1 += z[width * i + 1 + a] * math.cos(angle)
                t_2 += z[width * i + 1 + a] * math.sin(angle)
            f[3 * i + 1] = reach * t_1 * size_v / size_W
            f[3 * i + 2] = reach * t_2 * size_v / size_W
    contact_residuals(W, v_free, mu, f, v, residuals)
    return pivots


@njit(cache=True, error_model="numpy")
def pyramid_residual(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray, facets: int, reach: float
) -> float:
    """Return how far forces are from the law of a faceted cone, relative to the largest forces and free velocities.

    Args:
        W: Delassus operator, of which the diagonal is read, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: forces, shape (3m,).
        v: their velocities, shape (3m,).
        facets: k.
        reach: 1 for a pyramid in the cone, 1 / cos(pi / k) for one around it.

    Returns:
        The largest of: Signorini's conditions, force outside its pyramid, and what is missing to the maximum
        dissipation in it.
    """
    force = 0.0
    speed = 0.0
    for i in range(mu.size):
        k = 3 * i
        for r in range(k, k + 3):
            force = max(force, abs(f[r]), abs(v_free[r]) / W[r, r])
            speed = max(speed, abs(v_free[r]))
    if force == 0.0:
        return 0.0
    largest = 0.0
    middle = math.cos(math.pi / facets)
    for i in range(mu.size):
        k = 3 * i
        largest = max(largest, abs(min(f[k] / force, v[k] / speed)))
        bound = mu[i] * reach * f[k]
        fastest = 0.0
        for a in range(facets):
            angle = 2.0 * math.pi * a / facets
            fastest = max(fastest, -(math.cos(angle) * v[k + 1] + math.sin(angle) * v[k + 2]))
            angle += math.pi / facets
            outside = math.cos(angle) * f[k + 1] + math.sin(angle) * f[k + 2] - bound * middle
            largest = max(largest, outside / force)
        missing = bound * fastest + f[k + 1] * v[k + 1] + f[k + 2] * v[k + 2]
        largest = max(largest, abs(missing) / (force * speed))
    return largest


@njit(cache=True, error_model="numpy")
def lemke_faceted(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """:func:`solve_faceted` with 8 facets in the cone, as a contact solver (AMELIFLCP and LEMKE of the thesis)."""
    return solve_faceted(W, v_free, mu, f, max(max_iterations, 100 * mu.size), v, residuals, FACETS, 1.0)


@njit(cache=True, error_model="numpy")
def lemke_circumscribed(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """:func:`solve_faceted` with 8 facets around the cone, as a contact solver."""
    reach = 1.0 / math.cos(math.pi / FACETS)
    return solve_faceted(W, v_free, mu, f, max(max_iterations, 100 * mu.size), v, residuals, FACETS, reach)


@njit(cache=True, error_model="numpy")
def inscribed_residual(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray
) -> float:
    """:func:`pyramid_residual` of 8 facets in the cone."""
    return pyramid_residual(W, v_free, mu, f, v, FACETS, 1.0)


@njit(cache=True, error_model="numpy")
def circumscribed_residual(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray
) -> float:
    """:func:`pyramid_residual` of 8 facets around the cone."""
    return pyramid_residual(W, v_free, mu, f, v, FACETS, 1.0 / math.cos(math.pi / FACETS))


@njit(cache=True, error_model="numpy")
def frictionless_residual(
    W: np.ndarray, v_free: np.ndarray, mu: np.ndarray, f: np.ndarray, v: np.ndarray
) -> float:
    """Natural map of Signorini's law alone, relative to the largest force.

    Args:
        W: Delassus operator, of which the diagonal is read, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, which it takes for zero, shape (m,).
        f: forces, shape (3m,).
        v: their velocities, shape (3m,).

    Returns:
        The residual.
    """
    largest = 0.0
    scale = 0.0
    for i in range(mu.size):
        k = 3 * i
        largest = max(largest, abs(f[k] - max(0.0, f[k] - v[k] / W[k, k])), abs(f[k + 1]), abs(f[k + 2]))
        scale = max(scale, f[k], abs(v_free[k]) / W[k, k])
    return largest / scale if scale > 0.0 else 0.0


@njit(cache=True, error_model="numpy")
def lemke_frictionless(
    W: np.ndarray,
    v_free: np.ndarray,
    mu: np.ndarray,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
) -> int:
    """Pivoting on Signorini's problem of the normal directions, as if nothing rubbed (thesis equation 2.24).

    Args:
        W: Delassus operator, C order, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, which only the residuals see, shape (m,).
        f: receives the forces; left as it is where pivoting ends in a ray, shape (3m,).
        tolerance: not needed.
        max_iterations: bound on the number of pivots of each attempt.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of the exact law, shape (5,).

    Returns:
        Number of pivots.
    """
    m = mu.size
    z = np.zeros(m)
    status, pivots = lemke_regularised(
        np.ascontiguousarray(W[::3, ::3]), np.ascontiguousarray(v_free[::3]), max(max_iterations, 50 * m), z
    )
    if status == SOLVED:
        f[:] = 0.0
        for i in range(m):
            f[3 * i] = z[i]
    contact_residuals(W, v_free, mu, f, v, residuals)
    return pivots
