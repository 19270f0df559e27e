# SPDX-License-Identifier: Apache-2.0
r"""Derivatives of the laws of all constraints at a solution: :math:`A_u\,du + A_f\,df = 0`.

The laws are those of :mod:`humanoid_sim.contact.block_nsgs`, each as a function that vanishes where it holds (f less
the projection of :math:`f - \rho u`; of contacts that of Alart and Curnier). Its derivative tells how forces answer
velocities: a contact that sticks keeps its velocity, one that slides keeps its normal velocity and turns its force with
the slip, an open one has no force. On the border between two of these it is the derivative on one side.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_sim.contact.alart_curnier import alart_curnier
from humanoid_sim.contact.block_nsgs import (
    BILATERAL,
    CONTACT,
    DAMPER,
    ROLL,
    SPIN,
    TOUCHING_SPEED,
    UNILATERAL,
    BlockProblem,
)

OPENS, SLIDES = 1, 2
"""What a constraint is about to do that stands on a border."""
_NEAR = 1e-6
"""Who is nearer to a border than this, relative to the largest force, or to the largest that friction allows."""


@apart(error_model="numpy")
def law_derivatives(
    problem: BlockProblem, f: np.ndarray, u: np.ndarray, A_u: np.ndarray, A_f: np.ndarray, borders: np.ndarray
) -> None:
    """Write the derivatives of all laws.

    Args:
        problem: the constraints; of the operator only the diagonal is read.
        f: forces of the solution, shape (n,).
        u: velocities that the laws see there, shifts and compliance included, shape (n,).
        A_u: receives the derivatives by velocities, zero before, shape (n, n).
        A_f: receives those by forces, zero before, shape (n, n).
        borders: receives ``OPENS`` or ``SLIDES`` for each block that stands on such a border, else 0, shape (blocks,).
    """
    psi, p = np.empty(3), np.empty(3)
    none, unit, by_force, by_both = np.zeros((3, 3)), np.eye(3), np.empty((3, 3)), np.empty((3, 3))
    largest = 0.0
    for r in range(f.size):
        largest = max(largest, abs(f[r]))
    for i in range(problem.kinds.size):
        kind, k, end, bound = problem.kinds[i], problem.starts[i], problem.starts[i + 1], problem.parameters[i]
        parent = problem.starts[problem.parents[i]]
        n, trace = end - k, 0.0
        for r in range(k, end):
            trace += problem.W[r, r]
        rho = n / trace if trace > 0.0 else 1.0
        for r in range(min(n, 3)):
            p[r] = f[k + r] - rho * u[k + r]
        borders[i] = 0
        size = abs(p[0])
        if kind == CONTACT:
            alart_curnier(none, u[k:end], bound, rho, rho, f[k:end], psi, by_force)
            alart_curnier(unit, u[k:end] - f[k:end], bound, rho, rho, f[k:end], psi, by_both)
            for r in range(3):
                for c in range(3):
                    A_f[k + r, k + c] = by_force[r, c]
                    A_u[k + r, k + c] = by_both[r, c] - by_force[r, c]
            size, bound = math.hypot(p[1], p[2]), bound * f[k]
        elif kind in (BILATERAL, DAMPER):
            held = kind == BILATERAL or f[parent] > 0.0 or u[parent] <= TOUCHING_SPEED
            for r in range(k, end):
                A_u[r, r] = rho if held else 0.0
                A_f[r, r] = 0.0 if held else 1.0
            continue
        elif kind == UNILATERAL:
            A_u[k, k] = rho if p[0] > 0.0 else 0.0
            A_f[k, k] = 0.0 if p[0] > 0.0 else 1.0
        else:  # SPIN, ROLL, BOUNDED: inside an interval or a disc, of a radius that goes with the load but for BOUNDED
            follows = bound if kind in (SPIN, ROLL) else 0.0
            bound = bound * max(f[parent], 0.0) if follows > 0.0 else bound
            if kind == ROLL:
                size = math.hypot(p[0], p[1])
            share = bound / size if size > bound else 1.0  # of p that is left
            for r in range(n):
                A_u[k + r, k + r] = rho * share
                A_f[k + r, k + r] = 1.0 - share
                if share < 1.0:
                    A_f[k + r, parent] -= follows * p[r] / size
                    for c in range(n):
                        A_f[k + r, k + c] += share * p[r] * p[c] / (size * size)
                        A_u[k + r, k + c] -= rho * share * p[r] * p[c] / (size * size)
        if kind in (CONTACT, UNILATERAL) and abs(p[0]) <= _NEAR * largest:
            borders[i] = OPENS
        if kind != UNILATERAL and bound > _NEAR * largest and abs(size - bound) <= _NEAR * bound:
            borders[i] = SLIDES
