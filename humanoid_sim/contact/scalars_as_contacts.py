# SPDX-License-Identifier: Apache-2.0
r"""Joint limits and dry joint friction as contacts, so that solvers for contacts solve them all at once.

A limit is a contact without friction whose tangents belong to nothing. Dry friction :math:`|f| \le b` is that of a
contact on which the normal force b is pressed, whatever the others do: its normal is a row of its own with
:math:`v_n = w (f_n - b)`, its friction coefficient is 1, and the joint is one of its tangents. Both are exact.

The states of joints that :mod:`humanoid_sim.contact.scalar_active_set` tries beside contacts solved for each of them
may cycle, as friction makes what one does to the others no minimum of anything. Newton's line search and interior
points on all rows don't.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import counted
from humanoid_sim.contact.block_nsgs import BOUNDED, CONTACT, BlockProblem, block_residuals
from humanoid_sim.contact.nsgs_newton import nsgs_newton

_SHARE = 0.03
"""Of the tolerance: to contacts joints of little friction that move fast are large, to all rows no more than it."""


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
