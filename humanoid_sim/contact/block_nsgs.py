# SPDX-License-Identifier: Apache-2.0
r"""Block Gauss-Seidel on constraints of every kind at once: contacts, limits, dry friction, spin, rolling, dampers.

The thesis solves contacts so (specification 000 §9.4, Algorithm 1); here each block has its own law, a projection, and
all of them see each other within a sweep:

==========  ====  ==========================================================================
kind        rows  law
==========  ====  ==========================================================================
CONTACT     3     Signorini and Coulomb, the parameter is the friction coefficient
UNILATERAL  1     :math:`0 \le f \perp v \ge 0`: a joint at its limit
BOUNDED     1     :math:`|f| \le b`, opposite to the motion where it moves: dry joint friction
SPIN        1     torque about the normal, :math:`|f| \le c\,f_n` of the parent contact
ROLL        2     torque across the normal, :math:`\|f\| \le c\,f_n` of the parent contact
DAMPER      2     viscous force of a closed parent contact; its damping is in the operator
BILATERAL   any   :math:`v = 0`; eliminated beforehand, see :mod:`humanoid_sim.stepping.operators`
==========  ====  ==========================================================================
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.contact.clock import seconds
from humanoid_sim.contact.cone import contact_velocity, copy_vector, project_on_cone
from humanoid_sim.contact.nsgs import inverse_3x3, optimal_steps, solve_one_contact

CONTACT, UNILATERAL, BOUNDED, SPIN, ROLL, DAMPER, BILATERAL = range(7)
TOUCHING_SPEED = 1e-9
"""A contact without force that parts more slowly than this is closed [m/s]."""
GOOD_RESIDUAL = 1e-6
"""Where the tolerance is out of reach, iterations end with such a residual; they go on as long as it is larger."""
_WATCHED_SWEEPS = 25
"""So many sweeps tell whether the tolerance is within reach of those that may still be made."""


class BlockProblem(NamedTuple):
    """Constraints of several kinds and the operator between their rows.

    Attributes:
        W: Delassus operator, C order, symmetric, shape (n, n).
        v_free: free velocities, shape (n,).
        starts: first row of each block and n, shape (blocks + 1,).
        kinds: law of each block, see the table above, shape (blocks,).
        parameters: friction coefficient, bound or factor of each block, shape (blocks,).
        parents: contact to which a SPIN, ROLL or DAMPER block belongs, shape (blocks,).
    """

    W: np.ndarray
    v_free: np.ndarray
    starts: np.ndarray
    kinds: np.ndarray
    parameters: np.ndarray
    parents: np.ndarray


@uncounted()
def _project_on_disc(x: float, y: float, radius: float) -> tuple[float, float]:
    norm = math.sqrt(x * x + y * y)
    if norm <= radius:
        return x, y
    scale = radius / norm
    return scale * x, scale * y


@uncounted()
def _touches(force: float, velocity: float) -> bool:
    """Whether a contact is closed, loaded or not: how redundant contacts share a load must not matter to dampers."""
    return force > 0.0 or velocity <= TOUCHING_SPEED


@apart(error_model="numpy", _nrt=False)
def block_natural_map(
    diagonal: np.ndarray,
    v_free: np.ndarray,
    starts: np.ndarray,
    kinds: np.ndarray,
    parameters: np.ndarray,
    parents: np.ndarray,
    f: np.ndarray,
    v: np.ndarray,
    first: int = 0,
) -> float:
    """Relative residual of the natural map of all blocks, zero exactly at the solutions.

    The arguments are those of :class:`BlockProblem`, of the operator its diagonal, shape (n,); the scale is that of
    :func:`~humanoid_sim.contact.cone.natural_map`. Forces and torques are compared each with the largest of their sort.
    Blocks of ``parents`` are counted from ``first`` on.
    """
    largest_force = largest_other = force_scale = other_scale = 0.0
    for i in range(kinds.size):
        k = starts[i]
        kind = kinds[i]
        if kind == CONTACT:
            slip = math.sqrt(v[k + 1] ** 2 + v[k + 2] ** 2)
            rho = 3.0 / (diagonal[k] + diagonal[k + 1] + diagonal[k + 2])
            p_0, p_1, p_2 = project_on_cone(
                f[k] - rho * (v[k] + parameters[i] * slip),
                f[k + 1] - rho * v[k + 1],
                f[k + 2] - rho * v[k + 2],
                parameters[i],
            )
            error = (f[k] - p_0) ** 2 + (f[k + 1] - p_1) ** 2 + (f[k + 2] - p_2) ** 2
            size = f[k] ** 2 + f[k + 1] ** 2 + f[k + 2] ** 2
            free = rho * rho * (v_free[k] ** 2 + v_free[k + 1] ** 2 + v_free[k + 2] ** 2)
        elif kind in (ROLL, DAMPER):
            rho = 2.0 / (diagonal[k] + diagonal[k + 1])
            p_0, p_1 = f[k] - rho * v[k], f[k + 1] - rho * v[k + 1]
            loaded = f[starts[parents[i] - first]]
            if kind == ROLL:
                p_0, p_1 = _project_on_disc(p_0, p_1, parameters[i] * max(loaded, 0.0))
            elif not _touches(loaded, v[starts[parents[i] - first]]):
                p_0 = p_1 = 0.0
            error = (f[k] - p_0) ** 2 + (f[k + 1] - p_1) ** 2
            size = f[k] ** 2 + f[k + 1] ** 2
            free = rho * rho * (v_free[k] ** 2 + v_free[k + 1] ** 2)
            if kind == ROLL:  # what would stop the motion may be far more than what the contact can give
                free = min(free, (parameters[i] * max(loaded, 0.0)) ** 2)
        else:
            rho = 1.0 / diagonal[k]
            p_0 = f[k] - rho * v[k]
            free = rho * rho * v_free[k] ** 2
            if kind == UNILATERAL:
                p_0 = max(p_0, 0.0)
            else:
                bound = parameters[i]
                if kind == SPIN:
                    bound *= max(f[starts[parents[i] - first]], 0.0)
                p_0 = min(max(p_0, -bound), bound)
                free = min(free, bound * bound)
            error = (f[k] - p_0) ** 2
            size = f[k] ** 2
        if kind in (SPIN, ROLL, BOUNDED, UNILATERAL):
            largest_other, other_scale = max(largest_other, error), max(other_scale, size, free)
        else:
            largest_force, force_scale = max(largest_force, error), max(force_scale, size, free)
    result = 0.0
    if largest_force > 0.0:
        result = largest_force / force_scale
    if largest_other > 0.0:
        result = max(result, largest_other / other_scale)
    return math.sqrt(result)


@uncounted()
def block_residuals(
    W: np.ndarray,
    diagonal: np.ndarray,
    v_free: np.ndarray,
    starts: np.ndarray,
    kinds: np.ndarray,
    parameters: np.ndarray,
    parents: np.ndarray,
    f: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    """Compute velocities of the forces ``f`` and the residuals of them, as of the contacts alone.

    ``out`` receives what :func:`~humanoid_sim.contact.cone.contact_residuals` gives, the first one over all blocks.
    """
    contact_velocity(W, v_free, f, v)
    law_residuals(diagonal, v_free, starts, kinds, parameters, parents, f, v, out)


@uncounted()
def law_residuals(
    diagonal: np.ndarray,
    v_free: np.ndarray,
    starts: np.ndarray,
    kinds: np.ndarray,
    parameters: np.ndarray,
    parents: np.ndarray,
    f: np.ndarray,
    v: np.ndarray,
    out: np.ndarray,
) -> None:
    """Compute the residuals of :func:`block_residuals` from forces and their velocities."""
    out[:] = 0.0
    out[0] = block_natural_map(diagonal, v_free, starts, kinds, parameters, parents, f, v)
    for i in range(kinds.size):
        if kinds[i] != CONTACT:
            continue
        k = starts[i]
        mu = parameters[i]
        slip = math.sqrt(v[k + 1] ** 2 + v[k + 2] ** 2)
        out[1] = max(out[1], abs(f[k] * v[k]))
        out[2] = max(out[2], math.sqrt(f[k + 1] ** 2 + f[k + 2] ** 2) - mu * f[k], -f[k])
        out[3] = max(out[3], abs(mu * f[k] * slip + f[k + 1] * v[k + 1] + f[k + 2] * v[k + 2]))
        out[4] = max(out[4], -v[k])


@uncounted()
def _solve_disc(
    W: np.ndarray, k: int, v_0: float, v_1: float, radius: float, f: np.ndarray
) -> None:
    """Force within a disc that opposes the motion of two rows, by the exact two-dimensional law.

    With f = -radius v/|v| the unknown is the factor s = |v|/radius: (W + s) f = -v_loc with |f| = radius, one
    monotone equation, solved by a safeguarded Newton iteration.
    """
    if radius <= 0.0:
        f[k] = 0.0
        f[k + 1] = 0.0
        return
    a, b, d = W[k, k], W[k, k + 1], W[k + 1, k + 1]
    s = 0.0
    x = y = 0.0
    for _ in range(60):
        aa, dd = a + s, d + s
        determinant = aa * dd - b * b
        x = -(dd * v_0 - b * v_1) / determinant
        y = -(aa * v_1 - b * v_0) / determinant
        norm = math.sqrt(x * x + y * y)
        if norm <= radius * (1.0 + 1e-14):
            break
        # derivative of |f| along s: -(f . (W+s)^-1 f)/|f|; Newton on 1/|f|, which is concave: it stays on one side
        z_0 = (dd * x - b * y) / determinant
        z_1 = (aa * y - b * x) / determinant
        slope = (x * z_0 + y * z_1) / norm
        s += (norm / radius - 1.0) * norm / slope
    f[k] = x
    f[k + 1] = y


@apart(error_model="numpy")
def block_nsgs(
    problem: BlockProblem,
    f: np.ndarray,
    tolerance: float,
    max_iterations: int,
    v: np.ndarray,
    residuals: np.ndarray,
    deadline: float = np.inf,
) -> int:
    """Sweeps over blocks of constraints, each solved exactly with the newest forces of the others.

    Args:
        problem: the problem.
        f: initial forces, overwritten with the solution or the best ones found, shape (n,).
        tolerance: bound on the relative natural-map residual.
        max_iterations: bound on the number of sweeps.
        v: receives the velocities, shape (n,).
        residuals: receives those of :func:`block_residuals`, shape (5,).
        deadline: time of :func:`~humanoid_sim.contact.clock.seconds` at which all is to be done but
            the first sweep.

    Returns:
        Number of sweeps done, fewer than may be made where those left won't reach the tolerance but the residual is
        good. The problem is solved if ``residuals[0] <= tolerance``.
    """
    W, v_free, starts, kinds = problem.W, problem.v_free, problem.starts, problem.kinds
    parameters, parents = problem.parameters, problem.parents
    blocks = kinds.size
    diagonal = np.empty(v_free.size)
    for k in range(v_free.size):
        diagonal[k] = W[k, k]
    block_residuals(W, diagonal, v_free, starts, kinds, parameters, parents, f, v, residuals)
    if residuals[0] <= tolerance:
        return 0
    n = v_free.size
    inverses = np.empty((blocks, 3, 3))
    steps = np.empty((blocks, 2))
    to_the_end = False  # dampers ask whether a contact is closed: their law jumps there, a good residual won't do
    for i in range(blocks):
        to_the_end = to_the_end or kinds[i] == DAMPER
        if kinds[i] == CONTACT:
            k = starts[i]
            block = W[k : k + 3, k : k + 3]
            inverse_3x3(block, inverses[i])
            steps[i, 0], steps[i, 1] = optimal_steps(block)
    v_loc = np.empty(3)
    before = np.empty(3)
    best = f.copy()
    best_residual = residuals[0]
    timed = deadline < np.inf
    clock = np.empty(2, dtype=np.int64)
    mark = seconds(clock) if timed else 0.0
    watched = best_residual
    sweep = 0
    while sweep < max_iterations:
        sweep += 1
        for i in range(blocks):
            k = starts[i]
            size = starts[i + 1] - k
            kind = kinds[i]
            for r in range(size):
                before[r] = f[k + r]
                local = v[k + r]
                for c in range(size):
                    local -= W[k + r, k + c] * f[k + c]
                v_loc[r] = local
            if kind == CONTACT:
                block = W[k : k + 3, k : k + 3]
                solve_one_contact(
                    block, inverses[i], steps[i, 0], steps[i, 1], v_loc, parameters[i], f[k : k + 3]
                )
            elif kind == UNILATERAL:
                f[k] = max(-v_loc[0] / W[k, k], 0.0)
            elif kind == BOUNDED:
                f[k] = min(max(-v_loc[0] / W[k, k], -parameters[i]), parameters[i])
            elif kind == SPIN:
                bound = parameters[i] * max(f[starts[parents[i]]], 0.0)
                f[k] = min(max(-v_loc[0] / W[k, k], -bound), bound)
            elif kind == ROLL:
                _solve_disc(W, k, v_loc[0], v_loc[1], parameters[i] * max(f[starts[parents[i]]], 0.0), f)
            else:  # DAMPER
                parent = starts[parents[i]]
                radius = np.inf if _touches(f[parent], v[parent]) else 0.0
                _solve_disc(W, k, v_loc[0], v_loc[1], radius, f)
            for r in range(size):
                change = f[k + r] - before[r]
                if change != 0.0:
                    for c in range(n):
                        v[c] += W[k + r, c] * change
        residual = block_natural_map(diagonal, v_free, starts, kinds, parameters, parents, f, v)
        if residual <= tolerance:
            # Believed only once the velocities have been computed anew, free of accumulated rounding.
            block_residuals(W, diagonal, v_free, starts, kinds, parameters, parents, f, v, residuals)
            if residuals[0] <= tolerance:
                return sweep
            residual = residuals[0]
        if residual < best_residual:
            best_residual = residual
            copy_vector(f, best)
        if sweep % _WATCHED_SWEEPS == 0 and not to_the_end:
            gain = (max_iterations - sweep) / _WATCHED_SWEEPS * math.log(best_residual / watched)
            if best_residual <= GOOD_RESIDUAL and gain > math.log(tolerance / best_residual):
                break
            watched = best_residual
        if timed:
            now = seconds(clock)
            if now + 3.0 * (now - mark) > deadline:  # one more, what is left of it and what it does
                break
            mark = now
    copy_vector(best, f)
    block_residuals(W, diagonal, v_free, starts, kinds, parameters, parents, f, v, residuals)
    return sweep
