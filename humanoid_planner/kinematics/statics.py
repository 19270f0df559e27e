# SPDX-License-Identifier: Apache-2.0
"""Compiled statics: joint efforts and external wrench under gravity and forces, with derivatives.

Forces are given as entries: body, point, force and couple in the world. An entry may turn with a body (a force between
two links of the robot, the weight of a held thing seen from the hand); its ``turning`` body is 0 when it does not.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def place_entries(
    bodies: np.ndarray,
    locals_: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    points: np.ndarray,
) -> None:
    """World places (k, 3) of points fixed to bodies."""
    for j in range(len(bodies)):
        b = bodies[j]
        for i in range(3):
            points[j, i] = (
                p[b, i] + R[b, i, 0] * locals_[j, 0] + R[b, i, 1] * locals_[j, 1] + R[b, i, 2] * locals_[j, 2]
            )


@njit(cache=True)
def _collect(
    gravity: np.ndarray,
    masses: np.ndarray,
    coms: np.ndarray,
    parents: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    bodies: np.ndarray,
    points: np.ndarray,
    forces: np.ndarray,
    couples: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Force (0:3), couple (3:6) and sum of point times force (6:15, row-major) on the subtree of each body."""
    count = len(masses)
    sums[:] = 0.0
    for b in range(1, count):
        m = masses[b]
        if m != 0.0:
            for i in range(3):
                c = p[b, i] + R[b, i, 0] * coms[b, 0] + R[b, i, 1] * coms[b, 1] + R[b, i, 2] * coms[b, 2]
                sums[b, i] = m * gravity[i]
                for j in range(3):
                    sums[b, 6 + 3 * i + j] = m * c * gravity[j]
    for e in range(len(bodies)):
        b = bodies[e]
        for i in range(3):
            sums[b, i] += forces[e, i]
            sums[b, 3 + i] += couples[e, i]
            for j in range(3):
                sums[b, 6 + 3 * i + j] += points[e, i] * forces[e, j]
    for b in range(count - 1, 0, -1):
        for i in range(15):
            sums[parents[b], i] += sums[b, i]


@njit(cache=True)
def static_efforts(
    gravity: np.ndarray,
    masses: np.ndarray,
    coms: np.ndarray,
    kinds: np.ndarray,
    parents: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
    bodies: np.ndarray,
    points: np.ndarray,
    forces: np.ndarray,
    couples: np.ndarray,
    sums: np.ndarray,
    efforts: np.ndarray,
) -> None:
    """Efforts (nx,) that hold the robot still: tau = g(q) - J^T f (3.11)."""
    _collect(gravity, masses, coms, parents, R, p, bodies, points, forces, couples, sums)
    efforts[:] = 0.0
    for k in range(1, len(masses)):
        fx, fy, fz = sums[k, 0], sums[k, 1], sums[k, 2]
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        if kinds[k] == 0:
            # Moment about the joint: antisymmetric part of sum(r F^T), r from the joint, and the couples.
            px, py, pz = p[k, 0], p[k, 1], p[k, 2]
            mx = sums[k, 11] - sums[k, 13] - (py * fz - pz * fy) + sums[k, 3]
            my = sums[k, 12] - sums[k, 8] - (pz * fx - px * fz) + sums[k, 4]
            mz = sums[k, 7] - sums[k, 9] - (px * fy - py * fx) + sums[k, 5]
            efforts[columns[k]] -= factors[k] * (ax * mx + ay * my + az * mz)
        else:
            efforts[columns[k]] -= factors[k] * (ax * fx + ay * fy + az * fz)


@njit(cache=True)
def static_efforts_jacobian(
    gravity: np.ndarray,
    masses: np.ndarray,
    coms: np.ndarray,
    kinds: np.ndarray,
    parents: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    chain_offsets: np.ndarray,
    chain_bodies: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
    bodies: np.ndarray,
    turning: np.ndarray,
    points: np.ndarray,
    forces: np.ndarray,
    couples: np.ndarray,
    sums: np.ndarray,
    D: np.ndarray,
) -> None:
    """(nx, nx) derivative of :func:`static_efforts` with respect to the variables, written over ``D``."""
    _collect(gravity, masses, coms, parents, R, p, bodies, points, forces, couples, sums)
    D[:] = 0.0
    for k in range(1, len(masses)):
        fx, fy, fz = sums[k, 0], sums[k, 1], sums[k, 2]
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        px, py, pz = p[k, 0], p[k, 1], p[k, 2]
        # Q = sum(r F^T) with r from the joint.
        q00, q01, q02 = sums[k, 6] - px * fx, sums[k, 7] - px * fy, sums[k, 8] - px * fz
        q10, q11, q12 = sums[k, 9] - py * fx, sums[k, 10] - py * fy, sums[k, 11] - py * fz
        q20, q21, q22 = sums[k, 12] - pz * fx, sums[k, 13] - pz * fy, sums[k, 14] - pz * fz
        trace = q00 + q11 + q22
        mx, my, mz = q12 - q21 + sums[k, 3], q20 - q02 + sums[k, 4], q01 - q10 + sums[k, 5]
        if kinds[k] == 0:
            # What a turn about k does to the moment of its subtree: sum((a x r) x F) = Q a - a tr Q.
            dx = q00 * ax + q01 * ay + q02 * az - ax * trace
            dy = q10 * ax + q11 * ay + q12 * az - ay * trace
            dz = q20 * ax + q21 * ay + q22 * az - az * trace
        else:
            dx, dy, dz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
        row = columns[k]
        for i in range(chain_offsets[k], chain_offsets[k + 1]):
            above = chain_bodies[i]
            scale = factors[k] * factors[above]
            bx, by, bz = a[above, 0], a[above, 1], a[above, 2]
            if kinds[above] == 0:
                # This joint carries k: the axis of k turns, and so does all that hangs from k.
                tx, ty, tz = by * az - bz * ay, bz * ax - bx * az, bx * ay - by * ax
                if kinds[k] == 0:
                    ex = q00 * bx + q01 * by + q02 * bz - bx * trace
                    ey = q10 * bx + q11 * by + q12 * bz - by * trace
                    ez = q20 * bx + q21 * by + q22 * bz - bz * trace
                    D[row, columns[above]] -= scale * (tx * mx + ty * my + tz * mz + ax * ex + ay * ey + az * ez)
                else:
                    D[row, columns[above]] -= scale * (tx * fx + ty * fy + tz * fz)
                if above != k:
                    # k hangs from this joint: only the subtree of k moves.
                    D[columns[above], row] -= scale * (bx * dx + by * dy + bz * dz)
    for e in range(len(bodies)):
        if turning[e] == 0:
            continue
        fx, fy, fz = forces[e, 0], forces[e, 1], forces[e, 2]
        cx, cy, cz = couples[e, 0], couples[e, 1], couples[e, 2]
        for i in range(chain_offsets[turning[e]], chain_offsets[turning[e] + 1]):
            above = chain_bodies[i]
            if kinds[above] != 0:
                continue
            bx, by, bz = a[above, 0], a[above, 1], a[above, 2]
            gx, gy, gz = by * fz - bz * fy, bz * fx - bx * fz, bx * fy - by * fx
            hx, hy, hz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
            for j in range(chain_offsets[bodies[e]], chain_offsets[bodies[e] + 1]):
                k = chain_bodies[j]
                ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
                if kinds[k] == 0:
                    rx, ry, rz = points[e, 0] - p[k, 0], points[e, 1] - p[k, 1], points[e, 2] - p[k, 2]
                    value = (
                        ax * (ry * gz - rz * gy + hx) + ay * (rz * gx - rx * gz + hy) + az * (rx * gy - ry * gx + hz)
                    )
                else:
                    value = ax * gx + ay * gy + az * gz
                D[columns[k], columns[above]] -= factors[k] * factors[above] * value


@njit(cache=True)
def static_efforts_by_force(
    kinds: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    chain_offsets: np.ndarray,
    chain_bodies: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
    bodies: np.ndarray,
    points: np.ndarray,
    frames: np.ndarray,
    variables: np.ndarray,
    D: np.ndarray,
) -> None:
    """Derivative of :func:`static_efforts` with respect to force variables, added to ``D`` (nx, 3 x contact points).

    Entry e has the force ``frames[e] @ f`` (3,), f beginning at column ``variables[e]``; entries with a negative one
    are no variables.
    """
    for e in range(len(bodies)):
        first = variables[e]
        if first < 0:
            continue
        for i in range(chain_offsets[bodies[e]], chain_offsets[bodies[e] + 1]):
            k = chain_bodies[i]
            ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
            if kinds[k] == 0:
                rx, ry, rz = points[e, 0] - p[k, 0], points[e, 1] - p[k, 1], points[e, 2] - p[k, 2]
                jx, jy, jz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
            else:
                jx, jy, jz = ax, ay, az
            for c in range(3):
                D[columns[k], first + c] -= factors[k] * (
                    jx * frames[e, 0, c] + jy * frames[e, 1, c] + jz * frames[e, 2, c]
                )


@njit(cache=True)
def external_wrench(
    weight: np.ndarray,
    G: np.ndarray,
    centre: np.ndarray,
    bodies: np.ndarray,
    places: np.ndarray,
    forces: np.ndarray,
    couples: np.ndarray,
    wrench: np.ndarray,
) -> None:
    """Force and moment about ``centre`` (6,) of the weight at G and of all entries, which act at ``places`` (3.57)."""
    for i in range(3):
        wrench[i] = weight[i]
    rx, ry, rz = G[0] - centre[0], G[1] - centre[1], G[2] - centre[2]
    wrench[3] = ry * weight[2] - rz * weight[1]
    wrench[4] = rz * weight[0] - rx * weight[2]
    wrench[5] = rx * weight[1] - ry * weight[0]
    for e in range(len(bodies)):
        fx, fy, fz = forces[e, 0], forces[e, 1], forces[e, 2]
        rx, ry, rz = places[e, 0] - centre[0], places[e, 1] - centre[1], places[e, 2] - centre[2]
        wrench[0] += fx
        wrench[1] += fy
        wrench[2] += fz
        wrench[3] += ry * fz - rz * fy + couples[e, 0]
        wrench[4] += rz * fx - rx * fz + couples[e, 1]
        wrench[5] += rx * fy - ry * fx + couples[e, 2]


@njit(cache=True)
def external_wrench_jacobian(
    weight: np.ndarray,
    J_com: np.ndarray,
    centre: np.ndarray,
    kinds: np.ndarray,
    columns: np.ndarray,
    factors: np.ndarray,
    chain_offsets: np.ndarray,
    chain_bodies: np.ndarray,
    p: np.ndarray,
    a: np.ndarray,
    bodies: np.ndarray,
    turning: np.ndarray,
    anchored: np.ndarray,
    places: np.ndarray,
    forces: np.ndarray,
    couples: np.ndarray,
    frames: np.ndarray,
    variables: np.ndarray,
    first_force: int,
    D: np.ndarray,
) -> None:
    """(6, n) derivative of :func:`external_wrench`: columns 0.. of the variables, ``first_force``.. of the forces.

    Anchored entries act at a place that does not move with the robot. ``D`` is zero before.
    """
    for c in range(J_com.shape[1]):
        gx, gy, gz = J_com[0, c], J_com[1, c], J_com[2, c]
        D[3, c] += gy * weight[2] - gz * weight[1]
        D[4, c] += gz * weight[0] - gx * weight[2]
        D[5, c] += gx * weight[1] - gy * weight[0]
    for e in range(len(bodies)):
        fx, fy, fz = forces[e, 0], forces[e, 1], forces[e, 2]
        rx, ry, rz = places[e, 0] - centre[0], places[e, 1] - centre[1], places[e, 2] - centre[2]
        if not anchored[e]:
            for i in range(chain_offsets[bodies[e]], chain_offsets[bodies[e] + 1]):
                k = chain_bodies[i]
                ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
                if kinds[k] == 0:
                    sx, sy, sz = places[e, 0] - p[k, 0], places[e, 1] - p[k, 1], places[e, 2] - p[k, 2]
                    jx, jy, jz = ay * sz - az * sy, az * sx - ax * sz, ax * sy - ay * sx
                else:
                    jx, jy, jz = ax, ay, az
                c, factor = columns[k], factors[k]
                D[3, c] += factor * (jy * fz - jz * fy)
                D[4, c] += factor * (jz * fx - jx * fz)
                D[5, c] += factor * (jx * fy - jy * fx)
        if turning[e] != 0:
            tx, ty, tz = couples[e, 0], couples[e, 1], couples[e, 2]
            for i in range(chain_offsets[turning[e]], chain_offsets[turning[e] + 1]):
                k = chain_bodies[i]
                if kinds[k] != 0:
                    continue
                ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
                gx, gy, gz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
                c, factor = columns[k], factors[k]
                D[0, c] += factor * gx
                D[1, c] += factor * gy
                D[2, c] += factor * gz
                D[3, c] += factor * (ry * gz - rz * gy + ay * tz - az * ty)
                D[4, c] += factor * (rz * gx - rx * gz + az * tx - ax * tz)
                D[5, c] += factor * (rx * gy - ry * gx + ax * ty - ay * tx)
        if variables[e] >= 0:
            for j in range(3):
                c = first_force + variables[e] + j
                ex, ey, ez = frames[e, 0, j], frames[e, 1, j], frames[e, 2, j]
                D[0, c] += ex
                D[1, c] += ey
                D[2, c] += ez
                D[3, c] += ry * ez - rz * ey
                D[4, c] += rz * ex - rx * ez
                D[5, c] += rx * ey - ry * ex
