# SPDX-License-Identifier: Apache-2.0
"""Two frames that should coincide, wholly or in some directions: how far they are apart, and the rows of that.

Loop closures hold two bodies together; commands hold a body to a frame of the world. Both are such pairs. The gap is
exact at any distance and the rows are its exact derivative, which the thesis' formulas are only at a closed loop
(specification §13, ERR-5 and ERR-6): translations are those of the second frame's origin in the first frame's axes;
rotations depend on how many of them are held:

- three: the rotation vector of ``R_a^T R_b``;
- two: the turn that brings the free axis of ``b`` onto that of ``a``, whatever the angle about it;
- one: the angle about its axis, what is left of the rotation when its swing is taken away.
"""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

from humanoid_model.arrays import Array, Records
from humanoid_model.loop_closure import ROWS
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements

#: A pair: bodies and frames on them; which of x y z, rx ry rz are held; how many rotations, and the axis that is held
#: alone or free alone; weights of its translations [1/m] and rotations; its rows, and where its velocities are.
PAIR = np.dtype(
    [
        ("body_a", np.int64),
        ("body_b", np.int64),
        ("rotation_a", np.float64, (3, 3)),
        ("translation_a", np.float64, (3,)),
        ("rotation_b", np.float64, (3, 3)),
        ("translation_b", np.float64, (3,)),
        ("held", np.int64, (6,)),
        ("rotations", np.int64),
        ("axis", np.int64),
        ("weight", np.float64, (2,)),
        ("row", np.int64),
        ("rows", np.int64),
        ("begin", np.int64),
        ("end", np.int64),
    ],
    align=True,
)


def fill_pair(pair: Records, a: tuple[int, pin.SE3], b: tuple[int, pin.SE3], rows: tuple[str, ...]) -> None:
    """Describe a pair by its bodies, the frames on them and the rows held, of ``loop_closure.ROWS``."""
    pair["body_a"], pair["body_b"] = a[0], b[0]
    pair["rotation_a"], pair["translation_a"] = a[1].rotation, a[1].translation
    pair["rotation_b"], pair["translation_b"] = b[1].rotation, b[1].translation
    held = np.array([row in rows for row in ROWS])
    pair["held"], pair["rows"], pair["rotations"] = held, held.sum(), held[3:].sum()
    if pair["rotations"] == 1:
        pair["axis"] = int(np.argmax(held[3:]))
    elif pair["rotations"] == 2:
        pair["axis"] = int(np.argmin(held[3:]))


def moving_columns(tree: KinematicTree, pairs: Records) -> tuple[NDArray[np.int64], Array]:
    """Velocities that move one body of a pair against the other, pair after pair, and their signs (+1 moves b).

    Those that move both, before the bodies' common ancestor, drop out (eq. 3.26). Fills ``begin`` and ``end``.
    """
    columns: list[int] = []
    signs: list[float] = []
    for pair in pairs:
        a, b = (tree.chain(int(pair[end])) for end in ("body_a", "body_b"))
        pair["begin"] = len(columns)
        for chain, other, sign in ((a, set(b), -1.0), (b, set(a), 1.0)):
            own = [k for k in chain if k not in other]
            columns += own
            signs += [sign] * len(own)
        pair["end"] = len(columns)
    return np.array(columns, np.int64), np.array(signs)


@njit(cache=True, error_model="numpy")
def _quaternion(R: np.ndarray, q: np.ndarray) -> None:
    """Quaternion x, y, z, w of a rotation, w not negative."""
    t = R[0, 0] + R[1, 1] + R[2, 2]
    if t > 0.0:
        s = 2.0 * math.sqrt(1.0 + t)
        q[3] = 0.25 * s
        q[0], q[1], q[2] = (R[2, 1] - R[1, 2]) / s, (R[0, 2] - R[2, 0]) / s, (R[1, 0] - R[0, 1]) / s
    else:
        i = 0
        if R[1, 1] > R[0, 0]:
            i = 1
        if R[2, 2] > R[i, i]:
            i = 2
        j, k = (i + 1) % 3, (i + 2) % 3
        s = 2.0 * math.sqrt(max(1.0 + R[i, i] - R[j, j] - R[k, k], 0.0))
        q[i] = 0.25 * s
        q[j], q[k] = (R[j, i] + R[i, j]) / s, (R[k, i] + R[i, k]) / s
        q[3] = (R[k, j] - R[j, k]) / s
        if q[3] < 0.0:
            for n in range(4):
                q[n] = -q[n]


@njit(cache=True, error_model="numpy")
def _rotation_gap(R: np.ndarray, count: int, axis: int, gap: np.ndarray, G: np.ndarray) -> None:
    """Gap (3,) of a rotation of b in a, and its derivative ``G`` (3, 3) by the angular velocity of b in a's axes."""
    i, j, k = (axis + 1) % 3, (axis + 2) % 3, axis
    G[:] = 0.0
    gap[:] = 0.0
    if count == 2:
        # n: the free axis of b in a's axes. The gap is alpha (e_k x n) / |e_k x n|, f = alpha / sin(alpha).
        n = R[:, k]
        s, c = math.sqrt(n[i] * n[i] + n[j] * n[j]), n[k]
        alpha = math.atan2(s, c)
        if s > 1e-4:
            f, df = alpha / s, (alpha * c - s) / (s * s * s)
        elif c > 0.0:
            f, df = 1.0 + s * s / 6.0, -1.0 / 3.0
        else:
            f, df = math.pi / max(s, 1e-9), 0.0  # the opposite axis: the turn has no direction yet
            if s < 1e-9:
                gap[i] = math.pi
                G[i, i], G[j, j] = 1.0, 1.0
                return
        gap[i], gap[j] = -f * n[j], f * n[i]
        # dn = w x n
        for m in range(3):
            w0, w1, w2 = 1.0 * (m == 0), 1.0 * (m == 1), 1.0 * (m == 2)
            d0, d1, d2 = w1 * n[2] - w2 * n[1], w2 * n[0] - w0 * n[2], w0 * n[1] - w1 * n[0]
            dn = (d0, d1, d2)
            G[i, m] = -f * dn[j] - df * dn[k] * n[j]
            G[j, m] = f * dn[i] + df * dn[k] * n[i]
        return
    q = np.empty(4)
    _quaternion(R, q)
    if count == 1:
        gap[k] = 2.0 * math.atan2(q[k], q[3])
        n2 = max(q[k] * q[k] + q[3] * q[3], 1e-18)
        G[k, k] = (q[3] * q[3] + q[k] * q[k]) / n2
        G[k, i] = (q[3] * q[j] + q[k] * q[i]) / n2
        G[k, j] = (q[k] * q[j] - q[3] * q[i]) / n2
        return
    length = math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2])
    theta = 2.0 * math.atan2(length, q[3])
    stretch = theta / length if length > 1e-9 else 2.0
    for m in range(3):
        gap[m] = stretch * q[m]
    # Inverse of the left Jacobian: 1 - [phi] / 2 + h [phi]^2.
    h = (1.0 - 0.5 * theta / math.tan(0.5 * theta)) / (theta * theta) if theta > 1e-3 else 1.0 / 12.0
    p2 = theta * theta
    for m in range(3):
        for o in range(3):
            G[m, o] = h * gap[m] * gap[o]
        G[m, m] += 1.0 - h * p2
    G[0, 1] += 0.5 * gap[2]
    G[1, 0] -= 0.5 * gap[2]
    G[2, 0] += 0.5 * gap[1]
    G[0, 2] -= 0.5 * gap[1]
    G[1, 2] += 0.5 * gap[0]
    G[2, 1] -= 0.5 * gap[0]


@njit(cache=True, error_model="numpy")
def pair_rows(
    pairs: Records, columns: np.ndarray, signs: np.ndarray, placed: Placements, gap: np.ndarray, J: np.ndarray
) -> None:
    """Weighted gaps (m,) of pairs and their derivative (m, nv)."""
    A, B, R, G = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    a, b, turn, velocity, world = np.empty(3), np.empty(3), np.empty(3), np.empty(3), np.empty((6, 3))
    for number in range(len(pairs)):
        pair = pairs[number]
        Ra, Rb = placed.rotations[pair.body_a], placed.rotations[pair.body_b]
        for m in range(3):
            a[m] = placed.origins[pair.body_a, m]
            b[m] = placed.origins[pair.body_b, m]
            for o in range(3):
                a[m] += Ra[m, o] * pair.translation_a[o]
                b[m] += Rb[m, o] * pair.translation_b[o]
                A[m, o] = B[m, o] = 0.0
                for n in range(3):
                    A[m, o] += Ra[m, n] * pair.rotation_a[n, o]
                    B[m, o] += Rb[m, n] * pair.rotation_b[n, o]
        if pair.rotations > 0:
            for m in range(3):
                for o in range(3):
                    R[m, o] = A[0, m] * B[0, o] + A[1, m] * B[1, o] + A[2, m] * B[2, o]
            _rotation_gap(R, pair.rotations, pair.axis, turn, G)
        row = pair.row
        # Each row is a direction of the world: along it for translations, about it for rotations.
        slides = 0
        for m in range(6):
            if pair.held[m] == 0:
                continue
            if m < 3:
                w = pair.weight[0]
                gap[row] = w * (A[0, m] * (b[0] - a[0]) + A[1, m] * (b[1] - a[1]) + A[2, m] * (b[2] - a[2]))
                for n in range(3):
                    world[slides, n] = w * A[n, m]
                slides += 1
            else:
                w = pair.weight[1]
                gap[row] = w * turn[m - 3]
                for n in range(3):
                    world[row - pair.row, n] = w * (
                        A[n, 0] * G[m - 3, 0] + A[n, 1] * G[m - 3, 1] + A[n, 2] * G[m - 3, 2]
                    )
            for n in range(J.shape[1]):
                J[row, n] = 0.0
            row += 1
        for c in range(pair.begin, pair.end):
            k, sign = columns[c], signs[c]
            s = placed.S[k]
            velocity[0] = s[0] + s[4] * b[2] - s[5] * b[1]
            velocity[1] = s[1] + s[5] * b[0] - s[3] * b[2]
            velocity[2] = s[2] + s[3] * b[1] - s[4] * b[0]
            for r in range(pair.rows):
                u = velocity if r < slides else s[3:]
                J[pair.row + r, k] = sign * (world[r, 0] * u[0] + world[r, 1] * u[1] + world[r, 2] * u[2])
