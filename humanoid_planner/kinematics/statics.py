# SPDX-License-Identifier: Apache-2.0
"""Compiled statics: joint efforts and external wrench under gravity and forces, with derivatives.

Forces are given as entries: body, point, force and couple in the world, see :data:`ENTRY`. An entry may turn with a
body (a force between two links of the robot, the weight of a held thing seen from the hand); its ``turning`` body is 0
when it does not.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from humanoid_model.arrays import Records
from humanoid_planner.kinematics.tree_table import REVOLUTE, Placements, TreeTable

#: A force: body that it acts on and ``turning`` body; variable that it begins at, negative for a known force; whether
#: its place in the world is fixed; that place as a point fixed to the body, in the body frame and in the world, and the
#: place itself, (3,) [m] each; force (3,) [N] and couple (3,) [N m] in the world; frame (3, 3) of its variables.
#: Kernels call arrays of them ``entries``, shape (e,).
ENTRY = np.dtype(
    [
        ("body", np.int64),
        ("turning", np.int64),
        ("variable", np.int64),
        ("anchored", np.bool_),
        ("local", np.float64, (3,)),
        ("point", np.float64, (3,)),
        ("place", np.float64, (3,)),
        ("force", np.float64, (3,)),
        ("couple", np.float64, (3,)),
        ("frame", np.float64, (3, 3)),
    ],
    align=True,
)


@njit(cache=True)
def place_entries(entries: Records, placed: Placements) -> None:
    """World points of entries, fixed to their bodies."""
    R, p = placed.rotations, placed.origins
    for j in range(len(entries)):
        b, local, point = entries[j].body, entries[j].local, entries[j].point
        for i in range(3):
            point[i] = p[b, i] + R[b, i, 0] * local[0] + R[b, i, 1] * local[1] + R[b, i, 2] * local[2]


@njit(cache=True)
def _collect(
    gravity: np.ndarray, tree: TreeTable, placed: Placements, entries: Records, sums: np.ndarray
) -> None:
    """Force (0:3), couple (3:6) and sum of point times force (6:15, row-major) on the subtree of each body."""
    R, p = placed.rotations, placed.origins
    joints = tree.joints
    count = len(joints)
    sums[:] = 0.0
    for b in range(1, count):
        m, com = joints[b].mass, joints[b].com
        if m != 0.0:
            for i in range(3):
                c = p[b, i] + R[b, i, 0] * com[0] + R[b, i, 1] * com[1] + R[b, i, 2] * com[2]
                sums[b, i] = m * gravity[i]
                for j in range(3):
                    sums[b, 6 + 3 * i + j] = m * c * gravity[j]
    for e in range(len(entries)):
        b, point, force, couple = entries[e].body, entries[e].point, entries[e].force, entries[e].couple
        for i in range(3):
            sums[b, i] += force[i]
            sums[b, 3 + i] += couple[i]
            for j in range(3):
                sums[b, 6 + 3 * i + j] += point[i] * force[j]
    for b in range(count - 1, 0, -1):
        for i in range(15):
            sums[joints[b].parent, i] += sums[b, i]


@njit(cache=True)
def static_efforts(
    gravity: np.ndarray,
    tree: TreeTable,
    placed: Placements,
    entries: Records,
    sums: np.ndarray,
    efforts: np.ndarray,
) -> None:
    """Efforts (nx,) that hold the robot still: tau = g(q) - J^T f (3.11)."""
    p, a = placed.origins, placed.axes
    joints = tree.joints
    _collect(gravity, tree, placed, entries, sums)
    efforts[:] = 0.0
    for k in range(1, len(joints)):
        fx, fy, fz = sums[k, 0], sums[k, 1], sums[k, 2]
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        if joints[k].kind == REVOLUTE:
            # Moment about the joint: antisymmetric part of sum(r F^T), r from the joint, and the couples.
            px, py, pz = p[k, 0], p[k, 1], p[k, 2]
            mx = sums[k, 11] - sums[k, 13] - (py * fz - pz * fy) + sums[k, 3]
            my = sums[k, 12] - sums[k, 8] - (pz * fx - px * fz) + sums[k, 4]
            mz = sums[k, 7] - sums[k, 9] - (px * fy - py * fx) + sums[k, 5]
            efforts[joints[k].column] -= joints[k].factor * (ax * mx + ay * my + az * mz)
        else:
            efforts[joints[k].column] -= joints[k].factor * (ax * fx + ay * fy + az * fz)


@njit(cache=True)
def static_efforts_jacobian(
    gravity: np.ndarray, tree: TreeTable, placed: Placements, entries: Records, sums: np.ndarray, D: np.ndarray
) -> None:
    """(nx, nx) derivative of :func:`static_efforts` with respect to the variables, written over ``D``."""
    p, a = placed.origins, placed.axes
    joints = tree.joints
    _collect(gravity, tree, placed, entries, sums)
    D[:] = 0.0
    for k in range(1, len(joints)):
        fx, fy, fz = sums[k, 0], sums[k, 1], sums[k, 2]
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        px, py, pz = p[k, 0], p[k, 1], p[k, 2]
        # Q = sum(r F^T) with r from the joint.
        q00, q01, q02 = sums[k, 6] - px * fx, sums[k, 7] - px * fy, sums[k, 8] - px * fz
        q10, q11, q12 = sums[k, 9] - py * fx, sums[k, 10] - py * fy, sums[k, 11] - py * fz
        q20, q21, q22 = sums[k, 12] - pz * fx, sums[k, 13] - pz * fy, sums[k, 14] - pz * fz
        trace = q00 + q11 + q22
        mx, my, mz = q12 - q21 + sums[k, 3], q20 - q02 + sums[k, 4], q01 - q10 + sums[k, 5]
        if joints[k].kind == REVOLUTE:
            # What a turn about k does to the moment of its subtree: sum((a x r) x F) = Q a - a tr Q.
            dx = q00 * ax + q01 * ay + q02 * az - ax * trace
            dy = q10 * ax + q11 * ay + q12 * az - ay * trace
            dz = q20 * ax + q21 * ay + q22 * az - az * trace
        else:
            dx, dy, dz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
        row = joints[k].column
        for i in range(joints[k].chain_begin, joints[k].chain_end):
            above = tree.chains[i]
            scale = joints[k].factor * joints[above].factor
            bx, by, bz = a[above, 0], a[above, 1], a[above, 2]
            if joints[above].kind == REVOLUTE:
                # This joint carries k: the axis of k turns, and so does all that hangs from k.
                tx, ty, tz = by * az - bz * ay, bz * ax - bx * az, bx * ay - by * ax
                if joints[k].kind == REVOLUTE:
                    ex = q00 * bx + q01 * by + q02 * bz - bx * trace
                    ey = q10 * bx + q11 * by + q12 * bz - by * trace
                    ez = q20 * bx + q21 * by + q22 * bz - bz * trace
                    D[row, joints[above].column] -= scale * (tx * mx + ty * my + tz * mz + ax * ex + ay * ey + az * ez)
                else:
                    D[row, joints[above].column] -= scale * (tx * fx + ty * fy + tz * fz)
                if above != k:
                    # k hangs from this joint: only the subtree of k moves.
                    D[joints[above].column, row] -= scale * (bx * dx + by * dy + bz * dz)
    for e in range(len(entries)):
        entry = entries[e]
        if entry.turning == 0:
            continue
        fx, fy, fz = entry.force[0], entry.force[1], entry.force[2]
        cx, cy, cz = entry.couple[0], entry.couple[1], entry.couple[2]
        for i in range(joints[entry.turning].chain_begin, joints[entry.turning].chain_end):
            above = tree.chains[i]
            if joints[above].kind != REVOLUTE:
                continue
            bx, by, bz = a[above, 0], a[above, 1], a[above, 2]
            gx, gy, gz = by * fz - bz * fy, bz * fx - bx * fz, bx * fy - by * fx
            hx, hy, hz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
            for j in range(joints[entry.body].chain_begin, joints[entry.body].chain_end):
                k = tree.chains[j]
                ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
                if joints[k].kind == REVOLUTE:
                    rx, ry, rz = entry.point[0] - p[k, 0], entry.point[1] - p[k, 1], entry.point[2] - p[k, 2]
                    value = (
                        ax * (ry * gz - rz * gy + hx) + ay * (rz * gx - rx * gz + hy) + az * (rx * gy - ry * gx + hz)
                    )
                else:
                    value = ax * gx + ay * gy + az * gz
                D[joints[k].column, joints[above].column] -= joints[k].factor * joints[above].factor * value


@njit(cache=True)
def static_efforts_by_force(tree: TreeTable, placed: Placements, entries: Records, D: np.ndarray) -> None:
    """Add derivatives of :func:`static_efforts` by force variables to ``D`` (nx, 3 x contact points).

    An entry has the force ``frame @ f`` (3,), f beginning at column ``variable``.
    """
    p, a = placed.origins, placed.axes
    joints = tree.joints
    for e in range(len(entries)):
        entry = entries[e]
        first = entry.variable
        if first < 0:
            continue
        for i in range(joints[entry.body].chain_begin, joints[entry.body].chain_end):
            k = tree.chains[i]
            ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
            if joints[k].kind == REVOLUTE:
                rx, ry, rz = entry.point[0] - p[k, 0], entry.point[1] - p[k, 1], entry.point[2] - p[k, 2]
                jx, jy, jz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
            else:
                jx, jy, jz = ax, ay, az
            for c in range(3):
                D[joints[k].column, first + c] -= joints[k].factor * (
                    jx * entry.frame[0, c] + jy * entry.frame[1, c] + jz * entry.frame[2, c]
                )


@njit(cache=True)
def external_wrench(
    weight: np.ndarray, G: np.ndarray, centre: np.ndarray, entries: Records, wrench: np.ndarray
) -> None:
    """Force and moment about ``centre`` (6,) of the weight at G and of all entries, which act at ``places`` (3.57)."""
    for i in range(3):
        wrench[i] = weight[i]
    rx, ry, rz = G[0] - centre[0], G[1] - centre[1], G[2] - centre[2]
    wrench[3] = ry * weight[2] - rz * weight[1]
    wrench[4] = rz * weight[0] - rx * weight[2]
    wrench[5] = rx * weight[1] - ry * weight[0]
    for e in range(len(entries)):
        entry = entries[e]
        fx, fy, fz = entry.force[0], entry.force[1], entry.force[2]
        rx, ry, rz = entry.place[0] - centre[0], entry.place[1] - centre[1], entry.place[2] - centre[2]
        wrench[0] += fx
        wrench[1] += fy
        wrench[2] += fz
        wrench[3] += ry * fz - rz * fy + entry.couple[0]
        wrench[4] += rz * fx - rx * fz + entry.couple[1]
        wrench[5] += rx * fy - ry * fx + entry.couple[2]


@njit(cache=True)
def external_wrench_jacobian(
    weight: np.ndarray,
    J_com: np.ndarray,
    centre: np.ndarray,
    tree: TreeTable,
    placed: Placements,
    entries: Records,
    D: np.ndarray,
) -> None:
    """(6, n) derivative of :func:`external_wrench`: columns of the variables, then of the forces.

    Anchored entries act at a place that does not move with the robot. ``D`` is zero before.
    """
    p, a = placed.origins, placed.axes
    joints = tree.joints
    first_force = J_com.shape[1]
    for c in range(J_com.shape[1]):
        gx, gy, gz = J_com[0, c], J_com[1, c], J_com[2, c]
        D[3, c] += gy * weight[2] - gz * weight[1]
        D[4, c] += gz * weight[0] - gx * weight[2]
        D[5, c] += gx * weight[1] - gy * weight[0]
    for e in range(len(entries)):
        entry = entries[e]
        fx, fy, fz = entry.force[0], entry.force[1], entry.force[2]
        rx, ry, rz = entry.place[0] - centre[0], entry.place[1] - centre[1], entry.place[2] - centre[2]
        if not entry.anchored:
            for i in range(joints[entry.body].chain_begin, joints[entry.body].chain_end):
                k = tree.chains[i]
                ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
                if joints[k].kind == REVOLUTE:
                    sx, sy, sz = entry.place[0] - p[k, 0], entry.place[1] - p[k, 1], entry.place[2] - p[k, 2]
                    jx, jy, jz = ay * sz - az * sy, az * sx - ax * sz, ax * sy - ay * sx
                else:
                    jx, jy, jz = ax, ay, az
                c, factor = joints[k].column, joints[k].factor
                D[3, c] += factor * (jy * fz - jz * fy)
                D[4, c] += factor * (jz * fx - jx * fz)
                D[5, c] += factor * (jx * fy - jy * fx)
        if entry.turning != 0:
            tx, ty, tz = entry.couple[0], entry.couple[1], entry.couple[2]
            for i in range(joints[entry.turning].chain_begin, joints[entry.turning].chain_end):
                k = tree.chains[i]
                if joints[k].kind != REVOLUTE:
                    continue
                ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
                gx, gy, gz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
                c, factor = joints[k].column, joints[k].factor
                D[0, c] += factor * gx
                D[1, c] += factor * gy
                D[2, c] += factor * gz
                D[3, c] += factor * (ry * gz - rz * gy + ay * tz - az * ty)
                D[4, c] += factor * (rz * gx - rx * gz + az * tx - ax * tz)
                D[5, c] += factor * (rx * gy - ry * gx + ax * ty - ay * tx)
        if entry.variable >= 0:
            for j in range(3):
                c = first_force + entry.variable + j
                ex, ey, ez = entry.frame[0, j], entry.frame[1, j], entry.frame[2, j]
                D[0, c] += ex
                D[1, c] += ey
                D[2, c] += ez
                D[3, c] += ry * ez - rz * ey
                D[4, c] += rz * ex - rx * ez
                D[5, c] += rx * ey - ry * ex
