# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics of a tree: where bodies are, how they move with each velocity, centre of mass."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_kinematics.solver.tree_table import (
    BALL,
    FREE,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    TRANSLATION,
    UNBOUNDED,
    Placed,
    Tree,
)


@njit(cache=True, error_model="numpy", inline="never")
def _turn(R: np.ndarray, axis: np.ndarray, c: float, s: float) -> None:
    """Turn a frame about an axis of its own by an angle of this cosine and sine."""
    ux, uy, uz = axis[0], axis[1], axis[2]
    t = 1.0 - c
    q00, q01, q02 = c + t * ux * ux, t * ux * uy - s * uz, t * ux * uz + s * uy
    q10, q11, q12 = t * ux * uy + s * uz, c + t * uy * uy, t * uy * uz - s * ux
    q20, q21, q22 = t * ux * uz - s * uy, t * uy * uz + s * ux, c + t * uz * uz
    for i in range(3):
        f0, f1, f2 = R[i, 0], R[i, 1], R[i, 2]
        R[i, 0] = f0 * q00 + f1 * q10 + f2 * q20
        R[i, 1] = f0 * q01 + f1 * q11 + f2 * q21
        R[i, 2] = f0 * q02 + f1 * q12 + f2 * q22


@njit(cache=True, error_model="numpy", inline="never")
def _turn_by_quaternion(R: np.ndarray, q: np.ndarray, k: int) -> None:
    x, y, z, w = q[k], q[k + 1], q[k + 2], q[k + 3]
    n = math.sqrt(x * x + y * y + z * z)
    if n > 0.0:
        angle = 2.0 * math.atan2(n, w)
        _turn(R, np.array([x / n, y / n, z / n]), math.cos(angle), math.sin(angle))


@njit(cache=True, error_model="numpy")
def place(q: np.ndarray, tree: Tree, placed: Placed) -> None:
    """Place all bodies and the lines of all velocities (specification §3.4), each once."""
    rotations, origins, turning, sliding, points = placed
    for b in range(1, len(tree.joints)):
        joint = tree.joints[b]
        kind, k, v, axis = joint.kind, joint.idx_q, joint.idx_v, joint.axis
        P, R = rotations[joint.parent], rotations[b]
        for i in range(3):
            origins[b, i] = origins[joint.parent, i]
            for j in range(3):
                origins[b, i] += P[i, j] * joint.translation[j]
                R[i, j] = 0.0
                for n in range(3):
                    R[i, j] += P[i, n] * joint.rotation[n, j]
        if kind in (REVOLUTE, UNBOUNDED, HELICAL, PRISMATIC):
            for i in range(3):
                a = R[i, 0] * axis[0] + R[i, 1] * axis[1] + R[i, 2] * axis[2]
                turning[v, i] = 0.0 if kind == PRISMATIC else a
                sliding[v, i] = a if kind == PRISMATIC else joint.pitch * a
                origins[b, i] += sliding[v, i] * q[k]
                points[v, i] = origins[b, i]
            if kind == UNBOUNDED:
                _turn(R, axis, q[k], q[k + 1])
            elif kind != PRISMATIC:
                _turn(R, axis, math.cos(q[k]), math.sin(q[k]))
            continue
        slides = 0
        if kind in (FREE, TRANSLATION):
            slides = 3
        elif kind == PLANAR:
            slides = 2
        for i in range(3):
            for j in range(slides):
                origins[b, i] += R[i, j] * q[k + j]
        if kind == FREE:
            _turn_by_quaternion(R, q, k + 3)
        elif kind == BALL:
            _turn_by_quaternion(R, q, k)
        elif kind == PLANAR:
            _turn(R, np.array([0.0, 0.0, 1.0]), q[k + 2], q[k + 3])
        for j in range(slides):  # slides are along the body's own axes
            for i in range(3):
                turning[v + j, i] = 0.0
                sliding[v + j, i] = R[i, j]
                points[v + j, i] = origins[b, i]
        if kind == PLANAR:
            for i in range(3):
                turning[v + 2, i] = R[i, 2]
                points[v + 2, i] = origins[b, i]
        elif kind != TRANSLATION:
            for j in range(3):
                for i in range(3):
                    turning[v + slides + j, i] = R[i, j]
                    points[v + slides + j, i] = origins[b, i]


@njit(cache=True, error_model="numpy")
def advance(q: np.ndarray, dq: np.ndarray, tree: Tree, out: np.ndarray) -> None:
    """Move a configuration by a velocity for a unit of time, as Pinocchio's ``integrate`` does."""
    for b in range(1, len(tree.joints)):
        joint = tree.joints[b]
        kind, k, v = joint.kind, joint.idx_q, joint.idx_v
        if kind in (REVOLUTE, PRISMATIC, HELICAL):
            out[k] = q[k] + dq[v]
        elif kind == UNBOUNDED:
            c, s = math.cos(dq[v]), math.sin(dq[v])
            out[k], out[k + 1] = q[k] * c - q[k + 1] * s, q[k] * s + q[k + 1] * c
        elif kind == TRANSLATION:
            for i in range(3):
                out[k + i] = q[k + i] + dq[v + i]
        elif kind == PLANAR:
            c, s = q[k + 2], q[k + 3]
            w = dq[v + 2]
            # Exact motion on a circle; to first order at a small angle, where the quotients lose digits.
            a = math.sin(w) / w if abs(w) > 1e-6 else 1.0
            d = (1.0 - math.cos(w)) / w if abs(w) > 1e-6 else 0.5 * w
            x, y = a * dq[v] - d * dq[v + 1], d * dq[v] + a * dq[v + 1]
            out[k], out[k + 1] = q[k] + c * x - s * y, q[k + 1] + s * x + c * y
            cw, sw = math.cos(w), math.sin(w)
            out[k + 2], out[k + 3] = c * cw - s * sw, c * sw + s * cw
        else:
            slides = 3 if kind == FREE else 0
            k4, w3 = k + slides, v + slides
            wx, wy, wz = dq[w3], dq[w3 + 1], dq[w3 + 2]
            n2 = wx * wx + wy * wy + wz * wz
            n = math.sqrt(n2)
            x, y, z, w = q[k4], q[k4 + 1], q[k4 + 2], q[k4 + 3]
            if kind == FREE:
                # Position moves along the left Jacobian of the rotation, in the body's axes before the step.
                a = (1.0 - math.cos(n)) / n2 if n > 1e-5 else 0.5
                d = (n - math.sin(n)) / (n2 * n) if n > 1e-5 else 1.0 / 6.0
                vx, vy, vz = dq[v], dq[v + 1], dq[v + 2]
                cx, cy, cz = wy * vz - wz * vy, wz * vx - wx * vz, wx * vy - wy * vx
                ex = vx + a * cx + d * (wy * cz - wz * cy)
                ey = vy + a * cy + d * (wz * cx - wx * cz)
                ez = vz + a * cz + d * (wx * cy - wy * cx)
                tx, ty, tz = 2.0 * (y * ez - z * ey), 2.0 * (z * ex - x * ez), 2.0 * (x * ey - y * ex)
                out[k] = q[k] + ex + w * tx + y * tz - z * ty
                out[k + 1] = q[k + 1] + ey + w * ty + z * tx - x * tz
                out[k + 2] = q[k + 2] + ez + w * tz + x * ty - y * tx
            h = math.sin(0.5 * n) / n if n > 1e-8 else 0.5
            ax, ay, az, aw = h * wx, h * wy, h * wz, math.cos(0.5 * n)
            rx = w * ax + x * aw + y * az - z * ay
            ry = w * ay - x * az + y * aw + z * ax
            rz = w * az + x * ay - y * ax + z * aw
            rw = w * aw - x * ax - y * ay - z * az
            m = 1.0 / math.sqrt(rx * rx + ry * ry + rz * rz + rw * rw)
            out[k4], out[k4 + 1], out[k4 + 2], out[k4 + 3] = rx * m, ry * m, rz * m, rw * m


@njit(cache=True, error_model="numpy")
def point_velocity(k: int, point: np.ndarray, placed: Placed, out: np.ndarray) -> None:
    """Velocity of a point of the world, (3,), carried along by a unit of velocity ``k``."""
    a, o, s = placed.turning[k], placed.points[k], placed.sliding[k]
    x, y, z = point[0] - o[0], point[1] - o[1], point[2] - o[2]
    out[0] = a[1] * z - a[2] * y + s[0]
    out[1] = a[2] * x - a[0] * z + s[1]
    out[2] = a[0] * y - a[1] * x + s[2]


@njit(cache=True, error_model="numpy")
def body_jacobian(body: int, point: np.ndarray, tree: Tree, placed: Placed, J: np.ndarray) -> None:
    """(6, nv) Jacobian of a body at a point, rows of translation, then of rotation, in world axes (eq. 3.15, 3.16)."""
    J[:] = 0.0
    column = np.empty(3)
    for i in range(tree.joints[body].chain_begin, tree.joints[body].chain_end):
        k = tree.chains[i]
        point_velocity(k, point, placed, column)
        for j in range(3):
            J[j, k] = column[j]
            J[3 + j, k] = placed.turning[k, j]


@njit(cache=True, error_model="numpy")
def centre_of_mass(tree: Tree, placed: Placed, moments: np.ndarray, G: np.ndarray, J: np.ndarray) -> None:
    """Centre of mass ``G`` (3,) and its (3, nv) Jacobian; ``moments`` (nb, 4) is room for sums over subtrees."""
    joints = tree.joints
    count = len(joints)
    for b in range(count):
        m = joints[b].mass
        moments[b, 3] = m
        for i in range(3):
            com = joints[b].com
            R = placed.rotations[b]
            moments[b, i] = m * (placed.origins[b, i] + R[i, 0] * com[0] + R[i, 1] * com[1] + R[i, 2] * com[2])
    for b in range(count - 1, 0, -1):
        for i in range(4):
            moments[joints[b].parent, i] += moments[b, i]
    total = moments[0, 3]
    for i in range(3):
        G[i] = moments[0, i] / total if total > 0.0 else 0.0
    J[:] = 0.0
    if total == 0.0:
        return
    velocity, centre = np.empty(3), np.empty(3)
    for b in range(1, count):
        m = moments[b, 3]
        if m == 0.0:
            continue
        for i in range(3):
            centre[i] = moments[b, i] / m
        # The body's own velocities are the last of its chain.
        own = joints[b].chain_end - joints[b].chain_begin
        if joints[b].parent > 0:
            own -= joints[joints[b].parent].chain_end - joints[joints[b].parent].chain_begin
        for k in range(joints[b].idx_v, joints[b].idx_v + own):
            point_velocity(k, centre, placed, velocity)
            for i in range(3):
                J[i, k] = velocity[i] * m / total
