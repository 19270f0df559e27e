# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics: placements, centre of mass, and their derivatives.

Derivatives are with respect to the variables of a :class:`KinematicTree`; a column gets the sum over the coordinates
that follow its variable. Only the columns of a body's chain are touched (specification 001 section 3.2).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def place_body(
    b: int,
    coordinate: float,
    parent: int,
    revolute: bool,
    rotations: np.ndarray,
    translations: np.ndarray,
    axes: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
) -> None:
    """Placement ``R[b]``, ``p[b]`` and world axis ``a[b]`` of a body from those of its parent (A.2)."""
    ux, uy, uz = axes[b, 0], axes[b, 1], axes[b, 2]
    # R_fixed = R_parent R_joint, written out: no temporaries.
    for i in range(3):
        r0, r1, r2 = R[parent, i, 0], R[parent, i, 1], R[parent, i, 2]
        p[b, i] = p[parent, i] + r0 * translations[b, 0] + r1 * translations[b, 1] + r2 * translations[b, 2]
        f0 = r0 * rotations[b, 0, 0] + r1 * rotations[b, 1, 0] + r2 * rotations[b, 2, 0]
        f1 = r0 * rotations[b, 0, 1] + r1 * rotations[b, 1, 1] + r2 * rotations[b, 2, 1]
        f2 = r0 * rotations[b, 0, 2] + r1 * rotations[b, 1, 2] + r2 * rotations[b, 2, 2]
        R[b, i, 0] = f0
        R[b, i, 1] = f1
        R[b, i, 2] = f2
        a[b, i] = f0 * ux + f1 * uy + f2 * uz
    if revolute:
        c, s = math.cos(coordinate), math.sin(coordinate)
        t = 1.0 - c
        q00, q01, q02 = c + t * ux * ux, t * ux * uy - s * uz, t * ux * uz + s * uy
        q10, q11, q12 = t * ux * uy + s * uz, c + t * uy * uy, t * uy * uz - s * ux
        q20, q21, q22 = t * ux * uz - s * uy, t * uy * uz + s * ux, c + t * uz * uz
        for i in range(3):
            f0, f1, f2 = R[b, i, 0], R[b, i, 1], R[b, i, 2]
            R[b, i, 0] = f0 * q00 + f1 * q10 + f2 * q20
            R[b, i, 1] = f0 * q01 + f1 * q11 + f2 * q21
            R[b, i, 2] = f0 * q02 + f1 * q12 + f2 * q22
    else:
        for i in range(3):
            p[b, i] += coordinate * a[b, i]


@njit(cache=True)
def place_all(
    x: np.ndarray,
    kinds: np.ndarray,
    parents: np.ndarray,
    rotations: np.ndarray,
    translations: np.ndarray,
    axes: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    offsets: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
) -> None:
    """Placements of all bodies in one pass (block mode, specification 001 section 3.3)."""
    for b in range(1, len(parents)):
        coordinate = factors[b] * x[columns[b]] + offsets[b]
        place_body(b, coordinate, parents[b], kinds[b] == 0, rotations, translations, axes, R, p, a)


@njit(cache=True)
def place_chain(
    body: int,
    placed: np.ndarray,
    chain_offsets: np.ndarray,
    chain_bodies: np.ndarray,
    x: np.ndarray,
    kinds: np.ndarray,
    parents: np.ndarray,
    rotations: np.ndarray,
    translations: np.ndarray,
    axes: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    offsets: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
) -> int:
    """Placements of one body's chain, only of bodies whose flag in ``placed`` is down; how many were computed."""
    count = 0
    for i in range(chain_offsets[body], chain_offsets[body + 1]):
        b = chain_bodies[i]
        if not placed[b]:
            coordinate = factors[b] * x[columns[b]] + offsets[b]
            place_body(b, coordinate, parents[b], kinds[b] == 0, rotations, translations, axes, R, p, a)
            placed[b] = True
            count += 1
    return count


@njit(cache=True)
def point_jacobian(
    body: int,
    px: float,
    py: float,
    pz: float,
    kinds: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    chain_offsets: np.ndarray,
    chain_bodies: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
    J: np.ndarray,
) -> None:
    """(3, nx) Jacobian (3.23) of a body's point that is at (px, py, pz) in the world; ``J`` is zero before."""
    for i in range(chain_offsets[body], chain_offsets[body + 1]):
        k = chain_bodies[i]
        c, f = columns[k], factors[k]
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        if kinds[k] == 0:
            dx, dy, dz = px - p[k, 0], py - p[k, 1], pz - p[k, 2]
            J[0, c] += f * (ay * dz - az * dy)
            J[1, c] += f * (az * dx - ax * dz)
            J[2, c] += f * (ax * dy - ay * dx)
        else:
            J[0, c] += f * ax
            J[1, c] += f * ay
            J[2, c] += f * az


@njit(cache=True)
def direction_jacobian(
    body: int,
    ux: float,
    uy: float,
    uz: float,
    kinds: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    chain_offsets: np.ndarray,
    chain_bodies: np.ndarray,
    a: np.ndarray,
    J: np.ndarray,
) -> None:
    """(3, nx) Jacobian (3.26) of a body's direction that is (ux, uy, uz) in the world; ``J`` is zero before."""
    for i in range(chain_offsets[body], chain_offsets[body + 1]):
        k = chain_bodies[i]
        if kinds[k] == 0:
            c, f = columns[k], factors[k]
            ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
            J[0, c] += f * (ay * uz - az * uy)
            J[1, c] += f * (az * ux - ax * uz)
            J[2, c] += f * (ax * uy - ay * ux)


@njit(cache=True)
def centre_of_mass(masses: np.ndarray, coms: np.ndarray, R: np.ndarray, p: np.ndarray, G: np.ndarray) -> None:
    """Centre of mass of all bodies, (3,)."""
    total = 0.0
    G[0] = G[1] = G[2] = 0.0
    for b in range(1, len(masses)):
        m = masses[b]
        if m != 0.0:
            total += m
            for i in range(3):
                G[i] += m * (p[b, i] + R[b, i, 0] * coms[b, 0] + R[b, i, 1] * coms[b, 1] + R[b, i, 2] * coms[b, 2])
    if total > 0.0:
        for i in range(3):
            G[i] /= total


@njit(cache=True)
def centre_of_mass_jacobian(
    masses: np.ndarray,
    coms: np.ndarray,
    kinds: np.ndarray,
    parents: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
    moments: np.ndarray,
    J: np.ndarray,
) -> None:
    """(3, nx) Jacobian of the centre of mass; ``moments`` (nb, 4) is room for mass and first moment of subtrees."""
    count = len(masses)
    for b in range(count):
        m = masses[b]
        moments[b, 3] = m
        for i in range(3):
            moments[b, i] = m * (p[b, i] + R[b, i, 0] * coms[b, 0] + R[b, i, 1] * coms[b, 1] + R[b, i, 2] * coms[b, 2])
    for b in range(count - 1, 0, -1):
        for i in range(4):
            moments[parents[b], i] += moments[b, i]
    J[:] = 0.0
    total = moments[0, 3]
    if total == 0.0:
        return
    for k in range(1, count):
        m = moments[k, 3]
        c, f = columns[k], factors[k] / total
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        if kinds[k] == 0:
            dx, dy, dz = moments[k, 0] - m * p[k, 0], moments[k, 1] - m * p[k, 1], moments[k, 2] - m * p[k, 2]
            J[0, c] += f * (ay * dz - az * dy)
            J[1, c] += f * (az * dx - ax * dz)
            J[2, c] += f * (ax * dy - ay * dx)
        else:
            J[0, c] += f * m * ax
            J[1, c] += f * m * ay
            J[2, c] += f * m * az
