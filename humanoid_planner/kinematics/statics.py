# SPDX-License-Identifier: Apache-2.0
"""Compiled statics: joint efforts and external wrench under gravity and forces, with derivatives.

Forces are given as entries: body, point, force and couple in the world, see :data:`ENTRY`. An entry may turn with a
body (a force between two links of the robot, the weight of a held thing seen from the hand); its ``turning`` body is 0
when it does not. Joints have one coordinate each; what is on their subtrees is summed at the world's origin, where
their motions ``S`` are.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Records
from humanoid_model.compiling import uncounted
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements

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


@uncounted()
def place_entries(entries: Records, placed: Placements) -> None:
    """World points of entries, fixed to their bodies."""
    R, p = placed.rotations, placed.origins
    for j in range(len(entries)):
        b, local, point = entries[j].body, entries[j].local, entries[j].point
        for i in range(3):
            point[i] = p[b, i] + R[b, i, 0] * local[0] + R[b, i, 1] * local[1] + R[b, i, 2] * local[2]


@uncounted()
def _collect(
    gravity: np.ndarray, tree: KinematicTree, placed: Placements, entries: Records, sums: np.ndarray
) -> None:
    """Force (0:3), couple (3:6) and sum of point times force (6:15, row-major) on the subtree of each body."""
    R, p = placed.rotations, placed.origins
    joints = tree.joints
    count = len(joints)
    sums[:] = 0.0
    for b in range(1, count):
        m, lever = joints[b].mass, joints[b].lever
        if m != 0.0:
            for i in range(3):
                c = p[b, i] + R[b, i, 0] * lever[0] + R[b, i, 1] * lever[1] + R[b, i, 2] * lever[2]
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


@uncounted()
def static_efforts(
    gravity: np.ndarray,
    tree: KinematicTree,
    placed: Placements,
    entries: Records,
    sums: np.ndarray,
    efforts: np.ndarray,
) -> None:
    """Efforts (nx,) that hold the robot still: tau = g(q) - J^T f (3.11)."""
    _collect(gravity, tree, placed, entries, sums)
    efforts[:] = 0.0
    for k in range(tree.dof_joint.size):
        s, w = placed.S[k], sums[tree.dof_joint[k]]
        # The moment: antisymmetric part of sum(r F^T), and the couples.
        mx, my, mz = w[11] - w[13] + w[3], w[12] - w[8] + w[4], w[7] - w[9] + w[5]
        efforts[tree.dof_column[k]] -= s[0] * w[0] + s[1] * w[1] + s[2] * w[2] + s[3] * mx + s[4] * my + s[5] * mz


@uncounted()
def static_efforts_jacobian(
    gravity: np.ndarray, tree: KinematicTree, placed: Placements, entries: Records, sums: np.ndarray, D: np.ndarray
) -> None:
    """(nx, nx) derivative of :func:`static_efforts` with respect to the variables, written over ``D``."""
    S, columns, joints = placed.S, tree.dof_column, tree.joints
    _collect(gravity, tree, placed, entries, sums)
    D[:] = 0.0
    for k in range(tree.dof_joint.size):
        s, w = S[k], sums[tree.dof_joint[k]]
        lx, ly, lz, ax, ay, az = s[0], s[1], s[2], s[3], s[4], s[5]
        fx, fy, fz = w[0], w[1], w[2]
        # Q = sum(r F^T).
        q00, q01, q02, q10, q11, q12, q20, q21, q22 = w[6], w[7], w[8], w[9], w[10], w[11], w[12], w[13], w[14]
        trace = q00 + q11 + q22
        mx, my, mz = q12 - q21 + w[3], q20 - q02 + w[4], q01 - q10 + w[5]
        # What a unit of k does to the moment of its subtree: sum((l + a x r) x F) = l x F + Q a - a tr Q.
        dx = ly * fz - lz * fy + q00 * ax + q01 * ay + q02 * az - ax * trace
        dy = lz * fx - lx * fz + q10 * ax + q11 * ay + q12 * az - ay * trace
        dz = lx * fy - ly * fx + q20 * ax + q21 * ay + q22 * az - az * trace
        row = columns[k]
        D[row, row] -= ax * dx + ay * dy + az * dz
        above = tree.dof_parent[k]
        while above >= 0:
            c, t = columns[above], S[above]
            bx, by, bz = t[3], t[4], t[5]
            if bx != 0.0 or by != 0.0 or bz != 0.0:  # a slide changes no effort above or below it
                nx, ny, nz = t[0], t[1], t[2]
                # This joint carries k: the motion of k turns, and so does all that hangs from k.
                gx = by * lz - bz * ly + ny * az - nz * ay
                gy = bz * lx - bx * lz + nz * ax - nx * az
                gz = bx * ly - by * lx + nx * ay - ny * ax
                tx, ty, tz = by * az - bz * ay, bz * ax - bx * az, bx * ay - by * ax
                ex = ny * fz - nz * fy + q00 * bx + q01 * by + q02 * bz - bx * trace
                ey = nz * fx - nx * fz + q10 * bx + q11 * by + q12 * bz - by * trace
                ez = nx * fy - ny * fx + q20 * bx + q21 * by + q22 * bz - bz * trace
                D[row, c] -= (
                    gx * fx + gy * fy + gz * fz + tx * mx + ty * my + tz * mz + ax * ex + ay * ey + az * ez
                )
                # k hangs from this joint: only the subtree of k moves.
                D[c, row] -= bx * dx + by * dy + bz * dz
            above = tree.dof_parent[above]
    for e in range(len(entries)):
        entry = entries[e]
        if entry.turning == 0:
            continue
        px, py, pz = entry.point[0], entry.point[1], entry.point[2]
        fx, fy, fz = entry.force[0], entry.force[1], entry.force[2]
        cx, cy, cz = entry.couple[0], entry.couple[1], entry.couple[2]
        above = joints[entry.turning].last_dof
        while above >= 0:
            bx, by, bz = S[above, 3], S[above, 4], S[above, 5]
            gx, gy, gz = by * fz - bz * fy, bz * fx - bx * fz, bx * fy - by * fx
            hx = by * cz - bz * cy + py * gz - pz * gy
            hy = bz * cx - bx * cz + pz * gx - px * gz
            hz = bx * cy - by * cx + px * gy - py * gx
            k = joints[entry.body].last_dof
            while k >= 0:
                s = S[k]
                D[columns[k], columns[above]] -= (
                    s[0] * gx + s[1] * gy + s[2] * gz + s[3] * hx + s[4] * hy + s[5] * hz
                )
                k = tree.dof_parent[k]
            above = tree.dof_parent[above]


@uncounted()
def static_efforts_by_force(tree: KinematicTree, placed: Placements, entries: Records, D: np.ndarray) -> None:
    """Add derivatives of :func:`static_efforts` by force variables to ``D`` (nx, 3 x contact points).

    An entry has the force ``frame @ f`` (3,), f beginning at column ``variable``.
    """
    for e in range(len(entries)):
        entry = entries[e]
        first = entry.variable
        if first < 0:
            continue
        px, py, pz, frame = entry.point[0], entry.point[1], entry.point[2], entry.frame
        k = tree.joints[entry.body].last_dof
        while k >= 0:
            s, row = placed.S[k], tree.dof_column[k]
            jx, jy, jz = s[0] + s[4] * pz - s[5] * py, s[1] + s[5] * px - s[3] * pz, s[2] + s[3] * py - s[4] * px
            for c in range(3):
                D[row, first + c] -= jx * frame[0, c] + jy * frame[1, c] + jz * frame[2, c]
            k = tree.dof_parent[k]


@uncounted()
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


@uncounted()
def external_wrench_jacobian(
    weight: np.ndarray,
    J_com: np.ndarray,
    centre: np.ndarray,
    tree: KinematicTree,
    placed: Placements,
    entries: Records,
    D: np.ndarray,
) -> None:
    """(6, n) derivative of :func:`external_wrench`: columns of the variables, then of the forces.

    Anchored entries act at a place that does not move with the robot. ``D`` is zero before.
    """
    S = placed.S
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
            px, py, pz = entry.place[0], entry.place[1], entry.place[2]
            k = tree.joints[entry.body].last_dof
            while k >= 0:
                s, c = S[k], tree.dof_column[k]
                jx, jy, jz = s[0] + s[4] * pz - s[5] * py, s[1] + s[5] * px - s[3] * pz, s[2] + s[3] * py - s[4] * px
                D[3, c] += jy * fz - jz * fy
                D[4, c] += jz * fx - jx * fz
                D[5, c] += jx * fy - jy * fx
                k = tree.dof_parent[k]
        if entry.turning != 0:
            tx, ty, tz = entry.couple[0], entry.couple[1], entry.couple[2]
            k = tree.joints[entry.turning].last_dof
            while k >= 0:
                c, ax, ay, az = tree.dof_column[k], S[k, 3], S[k, 4], S[k, 5]
                gx, gy, gz = ay * fz - az * fy, az * fx - ax * fz, ax * fy - ay * fx
                D[0, c] += gx
                D[1, c] += gy
                D[2, c] += gz
                D[3, c] += ry * gz - rz * gy + ay * tz - az * ty
                D[4, c] += rz * gx - rx * gz + az * tx - ax * tz
                D[5, c] += rx * gy - ry * gx + ax * ty - ay * tx
                k = tree.dof_parent[k]
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
