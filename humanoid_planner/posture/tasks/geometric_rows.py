# SPDX-License-Identifier: Apache-2.0
r"""The library of scalar functions that contacts and tasks are made of, evaluated together by one compiled kernel.

A row is a function of at most two bodies a and b; body 0 is the world. P and u are a point and a direction fixed to
a, Q and w to b; all are given in body frames and meant in the world below (specification 001 sections 3.2 and 4.4).

============ ============================ ========================================================
kind         value                        used by
============ ============================ ========================================================
POINT        w . (P - Q)                  (3.28)-(3.30), (3.36), (3.40), half-planes of polygons
DOT          u . w                        (3.31)-(3.35), (3.37)-(3.39)
COM          w . (G - Q)                  support polygon (3.63), wrench polytopes
DISTANCE     \|P - Q\|                    keeping a point near to or away from another
ANGLE        angle between u and w        relaxed contacts, axes within a tolerance
AIM          angle between u and Q - P    gaze within a tolerance
TURN         angle of the rotation a to b orientations within a tolerance
JOINT        x[a]                         joints at a value; here ``a`` is the variable itself
COM_DISTANCE \|G - Q\|                  centre of mass in a sphere
ROTATION     w . (rotation vector b to a) orientations: zero only where the frames coincide
ALIGN        k(u . w) u . Q               directions: Q across w in b, k(cos t) = t / sin t
============ ============================ ========================================================

ROTATION and ALIGN stand where the thesis has the orthogonalities (3.31)-(3.33) and (3.37), (3.38) with the signs
(3.34), (3.35), (3.39). They vanish at the same postures, but are angles: far from the target they still pull, while an
orthogonality has no gradient where a hand points the wrong way, and holds it there.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_model.arrays import Records
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements
from humanoid_planner.distance.frames import Vector

POINT, DOT, COM, DISTANCE, ANGLE, AIM, TURN, JOINT, COM_DISTANCE, ROTATION, ALIGN = range(11)
_TINY = 1e-12

#: A row: kind, bodies a and b (``a`` is the variable itself of a JOINT); points P, Q and directions u, w (3,) in their
#: frames; orientations (3, 3) of frames in those of a and b. Kernels call arrays of them ``rows``, shape (m,).
ROW = np.dtype(
    [
        ("kind", np.int64),
        ("a", np.int64),
        ("b", np.int64),
        ("P", np.float64, (3,)),
        ("Q", np.float64, (3,)),
        ("u", np.float64, (3,)),
        ("w", np.float64, (3,)),
        ("frame_a", np.float64, (3, 3)),
        ("frame_b", np.float64, (3, 3)),
    ]
)


@njit(cache=True)
def _point(placed: Placements, b: int, v: np.ndarray) -> Vector:
    """Return a point fixed to a body, in the world."""
    R, p = placed.rotations, placed.origins
    x, y, z = v[0], v[1], v[2]
    return (
        p[b, 0] + R[b, 0, 0] * x + R[b, 0, 1] * y + R[b, 0, 2] * z,
        p[b, 1] + R[b, 1, 0] * x + R[b, 1, 1] * y + R[b, 1, 2] * z,
        p[b, 2] + R[b, 2, 0] * x + R[b, 2, 1] * y + R[b, 2, 2] * z,
    )


@njit(cache=True)
def _direction(placed: Placements, b: int, v: np.ndarray) -> Vector:
    """Return a direction fixed to a body, in the world."""
    R = placed.rotations
    x, y, z = v[0], v[1], v[2]
    return (
        R[b, 0, 0] * x + R[b, 0, 1] * y + R[b, 0, 2] * z,
        R[b, 1, 0] * x + R[b, 1, 1] * y + R[b, 1, 2] * z,
        R[b, 2, 0] * x + R[b, 2, 1] * y + R[b, 2, 2] * z,
    )


@njit(cache=True)
def _rotation_vector(R: np.ndarray, a: int, b: int, frame_a: np.ndarray, frame_b: np.ndarray) -> Vector:
    """Axis times angle, in the world, of the rotation that takes b's frame to a's; the angle is at most pi."""
    A = np.empty((3, 3))
    B = np.empty((3, 3))
    for r in range(3):
        for c in range(3):
            s = 0.0
            t = 0.0
            for k in range(3):
                s += R[a, r, k] * frame_a[k, c]
                t += R[b, r, k] * frame_b[k, c]
            A[r, c] = s
            B[r, c] = t
    M = np.empty((3, 3))
    for r in range(3):
        for c in range(3):
            M[r, c] = A[r, 0] * B[c, 0] + A[r, 1] * B[c, 1] + A[r, 2] * B[c, 2]
    # By the largest part of the quaternion: the skew part alone loses the axis near half a turn.
    trace = M[0, 0] + M[1, 1] + M[2, 2]
    if trace > max(M[0, 0], M[1, 1], M[2, 2]):
        w, x, y, z = 1.0 + trace, M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]
    elif M[0, 0] >= M[1, 1] and M[0, 0] >= M[2, 2]:
        w, x, y, z = M[2, 1] - M[1, 2], 1.0 + 2.0 * M[0, 0] - trace, M[0, 1] + M[1, 0], M[0, 2] + M[2, 0]
    elif M[1, 1] >= M[2, 2]:
        w, x, y, z = M[0, 2] - M[2, 0], M[0, 1] + M[1, 0], 1.0 + 2.0 * M[1, 1] - trace, M[1, 2] + M[2, 1]
    else:
        w, x, y, z = M[1, 0] - M[0, 1], M[0, 2] + M[2, 0], M[1, 2] + M[2, 1], 1.0 + 2.0 * M[2, 2] - trace
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(sine, w) / sine if sine > 1e-9 * w else 2.0 / w
    return x * scale, y * scale, z * scale


@njit(cache=True)
def _angle_over_sine(cosine: float, sine: float) -> tuple[float, float]:
    """K = t / sin t for the angle t between two directions, and dk / d cos t."""
    if sine < 1e-4 and cosine > 0.0:
        return 1.0 + sine * sine / 6.0, -1.0 / 3.0
    sine = max(sine, 1e-6)  # opposite directions have no axis between them
    angle = math.atan2(sine, cosine)
    k = angle / sine
    return k, (k * cosine - 1.0) / (sine * sine)


@njit(cache=True)
def row_values(rows: Records, x: np.ndarray, placed: Placements, G: np.ndarray, values: np.ndarray) -> None:
    """Values (m,) of all rows."""
    for i in range(len(rows)):
        row = rows[i]
        kind, a, b = row.kind, row.a, row.b
        if kind == JOINT:
            values[i] = x[a]
        elif kind in (DOT, ANGLE):
            ux, uy, uz = _direction(placed, a, row.u)
            wx, wy, wz = _direction(placed, b, row.w)
            dot = ux * wx + uy * wy + uz * wz
            if kind == DOT:
                values[i] = dot
            else:
                cx, cy, cz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
                values[i] = math.atan2(math.sqrt(cx * cx + cy * cy + cz * cz), dot)
        elif kind in (TURN, ROTATION):
            tx, ty, tz = _rotation_vector(placed.rotations, a, b, row.frame_a, row.frame_b)
            if kind == TURN:
                values[i] = math.sqrt(tx * tx + ty * ty + tz * tz)
            else:
                wx, wy, wz = _direction(placed, b, row.w)
                values[i] = wx * tx + wy * ty + wz * tz
        elif kind == ALIGN:
            ux, uy, uz = _direction(placed, a, row.u)
            wx, wy, wz = _direction(placed, b, row.w)
            mx, my, mz = _direction(placed, b, row.Q)
            cx, cy, cz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            k, _ = _angle_over_sine(ux * wx + uy * wy + uz * wz, math.sqrt(cx * cx + cy * cy + cz * cz))
            values[i] = k * (ux * mx + uy * my + uz * mz)
        else:
            qx, qy, qz = _point(placed, b, row.Q)
            if kind in (COM, COM_DISTANCE):
                dx, dy, dz = G[0] - qx, G[1] - qy, G[2] - qz
            else:
                px, py, pz = _point(placed, a, row.P)
                dx, dy, dz = px - qx, py - qy, pz - qz
            if kind in (DISTANCE, COM_DISTANCE):
                values[i] = math.sqrt(dx * dx + dy * dy + dz * dz)
            elif kind == AIM:
                ux, uy, uz = _direction(placed, a, row.u)
                cx, cy, cz = uy * dz - uz * dy, uz * dx - ux * dz, ux * dy - uy * dx
                dot = -(ux * dx + uy * dy + uz * dz)
                values[i] = math.atan2(math.sqrt(cx * cx + cy * cy + cz * cz), dot)
            else:
                wx, wy, wz = _direction(placed, b, row.w)
                values[i] = wx * dx + wy * dy + wz * dz


@njit(cache=True)
def add_twist_row(
    body: int, point: Vector, g: Vector, h: Vector, tree: KinematicTree, placed: Placements, row: np.ndarray
) -> None:
    """Add g . (velocity of the body's point) + h . (its angular velocity), as a row over the rates."""
    px, py, pz = point
    gx, gy, gz = g
    hx, hy, hz = h
    # g . (l + a x p) = g . l + a . (p x g)
    hx, hy, hz = hx + py * gz - pz * gy, hy + pz * gx - px * gz, hz + px * gy - py * gx
    k = tree.joints[body].last_dof
    while k >= 0:
        s = placed.S[k]
        row[tree.dof_column[k]] += gx * s[0] + gy * s[1] + gz * s[2] + hx * s[3] + hy * s[4] + hz * s[5]
        k = tree.dof_parent[k]


@njit(cache=True)
def row_jacobian(
    rows: Records, tree: KinematicTree, placed: Placements, G: np.ndarray, J_com: np.ndarray, J: np.ndarray
) -> None:
    """Compute the jacobian of all rows, in the first columns of ``J``, which is zero before."""
    for i in range(len(rows)):
        row = rows[i]
        kind, a, b = row.kind, row.a, row.b
        if kind == JOINT:
            J[i, a] = 1.0
            continue
        # For each body: a point, a force-like g on its velocity, a couple-like h on its angular velocity.
        ax, ay, az = 0.0, 0.0, 0.0
        bx, by, bz = 0.0, 0.0, 0.0
        gx, gy, gz = 0.0, 0.0, 0.0
        hax, hay, haz = 0.0, 0.0, 0.0
        hbx, hby, hbz = 0.0, 0.0, 0.0
        if kind in (DOT, ANGLE):
            ux, uy, uz = _direction(placed, a, row.u)
            wx, wy, wz = _direction(placed, b, row.w)
            cx, cy, cz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            scale = 1.0
            if kind == ANGLE:
                norm = math.sqrt(cx * cx + cy * cy + cz * cz)
                scale = -1.0 / norm if norm > _TINY else 0.0
            hax, hay, haz = scale * cx, scale * cy, scale * cz
            hbx, hby, hbz = -hax, -hay, -haz
        elif kind in (TURN, ROTATION):
            tx, ty, tz = _rotation_vector(placed.rotations, a, b, row.frame_a, row.frame_b)
            square = tx * tx + ty * ty + tz * tz
            angle = math.sqrt(square)
            if kind == TURN:
                scale = 1.0 / angle if angle > _TINY else 0.0
                hax, hay, haz = scale * tx, scale * ty, scale * tz
            else:
                # Inverse right Jacobian of the rotation vector t: w + t x w / 2 + beta t x (t x w).
                beta = 1.0 / 12.0 if angle < 1e-3 else 1.0 / square - 0.5 / (angle * math.tan(0.5 * angle))
                wx, wy, wz = _direction(placed, b, row.w)
                cx, cy, cz = ty * wz - tz * wy, tz * wx - tx * wz, tx * wy - ty * wx
                hax = wx + 0.5 * cx + beta * (ty * cz - tz * cy)
                hay = wy + 0.5 * cy + beta * (tz * cx - tx * cz)
                haz = wz + 0.5 * cz + beta * (tx * cy - ty * cx)
            hbx, hby, hbz = -hax, -hay, -haz
        elif kind == ALIGN:
            ux, uy, uz = _direction(placed, a, row.u)
            wx, wy, wz = _direction(placed, b, row.w)
            mx, my, mz = _direction(placed, b, row.Q)
            cx, cy, cz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
            k, slope = _angle_over_sine(ux * wx + uy * wy + uz * wz, math.sqrt(cx * cx + cy * cy + cz * cz))
            slope *= ux * mx + uy * my + uz * mz
            hax = k * (uy * mz - uz * my) + slope * cx
            hay = k * (uz * mx - ux * mz) + slope * cy
            haz = k * (ux * my - uy * mx) + slope * cz
            hbx, hby, hbz = -hax, -hay, -haz
        else:
            bx, by, bz = _point(placed, b, row.Q)
            if kind in (COM, COM_DISTANCE):
                ax, ay, az = G[0], G[1], G[2]
            else:
                ax, ay, az = _point(placed, a, row.P)
            dx, dy, dz = ax - bx, ay - by, az - bz
            if kind in (DISTANCE, COM_DISTANCE):
                norm = math.sqrt(dx * dx + dy * dy + dz * dz)
                scale = 1.0 / norm if norm > _TINY else 0.0
                gx, gy, gz = scale * dx, scale * dy, scale * dz
            elif kind == AIM:
                ux, uy, uz = _direction(placed, a, row.u)
                # e: unit axis of the turn from u to the target's direction -d.
                ex, ey, ez = uz * dy - uy * dz, ux * dz - uz * dx, uy * dx - ux * dy
                norm = math.sqrt(ex * ex + ey * ey + ez * ez)
                if norm > _TINY:
                    ex, ey, ez = ex / norm, ey / norm, ez / norm
                    hax, hay, haz = -ex, -ey, -ez
                    square = dx * dx + dy * dy + dz * dz
                    # The target's own motion v turns its direction about e by v . (e x -d) / |d|^2.
                    gx, gy, gz = (
                        (ey * dz - ez * dy) / square,
                        (ez * dx - ex * dz) / square,
                        (ex * dy - ey * dx) / square,
                    )
            else:
                gx, gy, gz = _direction(placed, b, row.w)
                hbx, hby, hbz = gy * dz - gz * dy, gz * dx - gx * dz, gx * dy - gy * dx
        if kind in (COM, COM_DISTANCE):
            for c in range(J_com.shape[1]):
                J[i, c] += gx * J_com[0, c] + gy * J_com[1, c] + gz * J_com[2, c]
        elif a != 0:
            add_twist_row(a, (ax, ay, az), (gx, gy, gz), (hax, hay, haz), tree, placed, J[i])
        if b != 0:
            add_twist_row(b, (bx, by, bz), (-gx, -gy, -gz), (hbx, hby, hbz), tree, placed, J[i])


#: Length or angle below which the curvature of its bound, one over it, no longer grows.
_FLATTENING = 1e-3


@njit(cache=True)
def add_row_curvature(
    rows: Records,
    multipliers: np.ndarray,
    values: np.ndarray,
    tree: KinematicTree,
    placed: Placements,
    G: np.ndarray,
    J_com: np.ndarray,
    J: np.ndarray,
    H: np.ndarray,
) -> None:
    """Add the curvature of lengths and angles, each times its multiplier where that is positive.

    A length |e| bends by (de^T de - d|e| d|e|^T) / |e|, which is never negative (Gauss-Newton in e). Without it the
    ball about a target that a point has to enter looks like a half-space from each iterate, another one each time.
    """
    n = H.shape[0]
    E = np.empty((3, n))
    axes = np.eye(3)
    for i in range(len(rows)):
        row = rows[i]
        kind, a, b = row.kind, row.a, row.b
        m = multipliers[i]
        if m <= 0.0 or kind not in (DISTANCE, COM_DISTANCE, ANGLE, AIM, TURN):
            continue
        E[:] = 0.0
        size = values[i]
        bx, by, bz = _point(placed, b, row.Q)
        ax, ay, az = _point(placed, a, row.P)
        # Rows of E: derivative of e along three axes; the row of J is that of its length.
        ux, uy, uz = 0.0, 0.0, 0.0
        if kind in (DISTANCE, COM_DISTANCE):
            if kind == COM_DISTANCE:
                ax, ay, az = G[0], G[1], G[2]
                for c in range(J_com.shape[1]):
                    for r in range(3):
                        E[r, c] = J_com[r, c]
            for r in range(3):
                gx, gy, gz = axes[r, 0], axes[r, 1], axes[r, 2]
                if kind == DISTANCE and a != 0:
                    add_twist_row(a, (ax, ay, az), (gx, gy, gz), (0.0, 0.0, 0.0), tree, placed, E[r])
                if b != 0:
                    add_twist_row(b, (bx, by, bz), (-gx, -gy, -gz), (0.0, 0.0, 0.0), tree, placed, E[r])
        else:
            # Angles: e is the turn between two frames or directions; its rate is the relative angular velocity, for
            # directions less the part about them, and for a sight also what moves its ends.
            if kind != TURN:
                ux, uy, uz = _direction(placed, a, row.u)
            dx, dy, dz = bx - ax, by - ay, bz - az
            square = dx * dx + dy * dy + dz * dz
            for r in range(3):
                hx, hy, hz = axes[r, 0], axes[r, 1], axes[r, 2]
                if kind != TURN:
                    dot = hx * ux + hy * uy + hz * uz
                    hx, hy, hz = hx - dot * ux, hy - dot * uy, hz - dot * uz
                gx, gy, gz = 0.0, 0.0, 0.0
                if kind == AIM and square > 0.0:
                    # The line of sight d turns at (d x velocity) / |d|^2.
                    gx, gy, gz = (
                        (hy * dz - hz * dy) / square,
                        (hz * dx - hx * dz) / square,
                        (hx * dy - hy * dx) / square,
                    )
                if a != 0:
                    add_twist_row(a, (ax, ay, az), (gx, gy, gz), (hx, hy, hz), tree, placed, E[r])
                if b != 0 and kind == AIM:
                    add_twist_row(b, (bx, by, bz), (-gx, -gy, -gz), (0.0, 0.0, 0.0), tree, placed, E[r])
                elif b != 0:
                    add_twist_row(b, (bx, by, bz), (0.0, 0.0, 0.0), (-hx, -hy, -hz), tree, placed, E[r])
        weight = m / max(size, _FLATTENING)
        for c in range(n):
            for d in range(n):
                dot = E[0, c] * E[0, d] + E[1, c] * E[1, d] + E[2, c] * E[2, d]
                H[c, d] += weight * (dot - J[i, c] * J[i, d])


@njit(cache=True)
def pair_distance_jacobian(
    bodies: np.ndarray,
    points_a: np.ndarray,
    points_b: np.ndarray,
    normals: np.ndarray,
    tree: KinematicTree,
    placed: Placements,
    J: np.ndarray,
) -> None:
    """Jacobian (3.56) of distances between bodies from witness points and normals; ``J`` is zero before."""
    still = (0.0, 0.0, 0.0)
    for i in range(len(bodies)):
        a, b = (points_a[i, 0], points_a[i, 1], points_a[i, 2]), (points_b[i, 0], points_b[i, 1], points_b[i, 2])
        nx, ny, nz = normals[i, 0], normals[i, 1], normals[i, 2]
        add_twist_row(bodies[i, 0], a, (nx, ny, nz), still, tree, placed, J[i])
        add_twist_row(bodies[i, 1], b, (-nx, -ny, -nz), still, tree, placed, J[i])
