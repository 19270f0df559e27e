# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics of a tree: where its bodies are, and the motion that each velocity coordinate makes."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.arrays import Records
from humanoid_model.compiling import uncounted
from humanoid_model.tree.joint_kind import (
    FREE_FLYER,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    TRANSLATION,
    UNBOUNDED,
    UNIVERSAL,
)
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements

_Turn = tuple[float, float, float, float, float, float, float, float, float]
"""A rotation matrix, row by row, in local variables."""


@uncounted()
def _about(axis: np.ndarray, c: float, s: float) -> _Turn:
    """Rodrigues' formula with the cosine and sine of the angle."""
    x, y, z = axis[0], axis[1], axis[2]
    u = 1.0 - c
    return (
        c + u * x * x, u * x * y - s * z, u * x * z + s * y,
        u * x * y + s * z, c + u * y * y, u * y * z - s * x,
        u * x * z - s * y, u * y * z + s * x, c + u * z * z,
    )  # fmt: skip


@uncounted()
def _of_quaternion(q: np.ndarray, i: int) -> _Turn:
    x, y, z, w = q[i], q[i + 1], q[i + 2], q[i + 3]
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@uncounted()
def _product(a: _Turn, b: _Turn) -> _Turn:
    return (
        a[0] * b[0] + a[1] * b[3] + a[2] * b[6],
        a[0] * b[1] + a[1] * b[4] + a[2] * b[7],
        a[0] * b[2] + a[1] * b[5] + a[2] * b[8],
        a[3] * b[0] + a[4] * b[3] + a[5] * b[6],
        a[3] * b[1] + a[4] * b[4] + a[5] * b[7],
        a[3] * b[2] + a[4] * b[5] + a[5] * b[8],
        a[6] * b[0] + a[7] * b[3] + a[8] * b[6],
        a[6] * b[1] + a[7] * b[4] + a[8] * b[7],
        a[6] * b[2] + a[7] * b[5] + a[8] * b[8],
    )


@uncounted(forceinline=True)
def place_joint(joints: Records, j: int, q: np.ndarray, placed: Placements) -> None:
    """Place a joint frame by its parent's placement, and compute its rows of ``placed.S``.

    Args:
        joints: records of :data:`~humanoid_model.tree.kinematic_tree.JOINT`.
        j: the joint.
        q: configuration, shape (nq,).
        placed: receives them.
    """
    joint, p, S = joints[j], placed.origins[j], placed.S
    kind, i, k, axis, factor = joint.kind, joint.idx_q, joint.idx_v, joint.axis, joint.factor
    u_0 = u_1 = u_2 = 0.0  # slide in the fixed frame
    turn = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    about_axis = kind in (REVOLUTE, UNBOUNDED, HELICAL, UNIVERSAL)
    if about_axis:
        if kind == UNBOUNDED:
            cosine, sine = q[i], q[i + 1]
        else:
            angle = factor * q[i] + joint.offset
            cosine, sine = math.cos(angle), math.sin(angle)
        turn = _about(axis, cosine, sine)
        if kind == UNIVERSAL:
            turn = _product(turn, _about(joint.second_axis, math.cos(q[i + 1]), math.sin(q[i + 1])))
    elif kind == PLANAR:  # x, y, cosine, sine
        turn = (q[i + 2], -q[i + 3], 0.0, q[i + 3], q[i + 2], 0.0, 0.0, 0.0, 1.0)
    elif kind in (SPHERICAL, FREE_FLYER):
        turn = _of_quaternion(q, i + 3 if kind == FREE_FLYER else i)
    if kind in (PRISMATIC, HELICAL):
        slide = joint.pitch * (factor * q[i] + joint.offset)
        u_0, u_1, u_2 = axis[0] * slide, axis[1] * slide, axis[2] * slide
    elif kind in (TRANSLATION, FREE_FLYER):
        u_0, u_1, u_2 = q[i], q[i + 1], q[i + 2]
    elif kind == PLANAR:
        u_0, u_1 = q[i], q[i + 1]
    q_00, q_01, q_02, q_10, q_11, q_12, q_20, q_21, q_22 = turn
    A, F, t, above, R = (
        placed.rotations[joint.parent], joint.rotation, joint.translation, placed.origins[joint.parent],
        placed.rotations[j],
    )  # fmt: skip
    t_0, t_1, t_2 = t[0], t[1], t[2]
    f_00, f_01, f_02 = F[0, 0], F[0, 1], F[0, 2]
    f_10, f_11, f_12 = F[1, 0], F[1, 1], F[1, 2]
    f_20, f_21, f_22 = F[2, 0], F[2, 1], F[2, 2]
    for r in range(3):
        a_0, a_1, a_2 = A[r, 0], A[r, 1], A[r, 2]
        b_0 = a_0 * f_00 + a_1 * f_10 + a_2 * f_20
        b_1 = a_0 * f_01 + a_1 * f_11 + a_2 * f_21
        b_2 = a_0 * f_02 + a_1 * f_12 + a_2 * f_22
        p[r] = above[r] + a_0 * t_0 + a_1 * t_1 + a_2 * t_2 + b_0 * u_0 + b_1 * u_1 + b_2 * u_2
        R[r, 0] = b_0 * q_00 + b_1 * q_10 + b_2 * q_20
        R[r, 1] = b_0 * q_01 + b_1 * q_11 + b_2 * q_21
        R[r, 2] = b_0 * q_02 + b_1 * q_12 + b_2 * q_22
    for c in range(joint.nv):
        turns, pitch = about_axis, 0.0
        if kind == UNIVERSAL and c == 0:  # fixed in the parent
            f_0 = f_00 * axis[0] + f_01 * axis[1] + f_02 * axis[2]
            f_1 = f_10 * axis[0] + f_11 * axis[1] + f_12 * axis[2]
            f_2 = f_20 * axis[0] + f_21 * axis[1] + f_22 * axis[2]
            x = A[0, 0] * f_0 + A[0, 1] * f_1 + A[0, 2] * f_2
            y = A[1, 0] * f_0 + A[1, 1] * f_1 + A[1, 2] * f_2
            z = A[2, 0] * f_0 + A[2, 1] * f_1 + A[2, 2] * f_2
        elif about_axis or kind == PRISMATIC:
            a = joint.second_axis if kind == UNIVERSAL else axis
            x = factor * (R[0, 0] * a[0] + R[0, 1] * a[1] + R[0, 2] * a[2])
            y = factor * (R[1, 0] * a[0] + R[1, 1] * a[1] + R[1, 2] * a[2])
            z = factor * (R[2, 0] * a[0] + R[2, 1] * a[1] + R[2, 2] * a[2])
            pitch = joint.pitch
        else:  # along the body's own axes first, then about them
            x, y, z = R[0, c % 3], R[1, c % 3], R[2, c % 3]
            turns = c >= 3 or kind == SPHERICAL or (kind == PLANAR and c == 2)
            pitch = 0.0 if turns else 1.0
        s = S[k + c]
        s[0], s[1], s[2] = pitch * x, pitch * y, pitch * z
        s[3] = s[4] = s[5] = 0.0
        if turns:
            s[0] += p[1] * z - p[2] * y
            s[1] += p[2] * x - p[0] * z
            s[2] += p[0] * y - p[1] * x
            s[3], s[4], s[5] = x, y, z


@apart(error_model="numpy", _nrt=False)
def place_all(tree: KinematicTree, q: np.ndarray, placed: Placements) -> None:
    """Place all bodies in one pass, and compute the motion of each velocity coordinate.

    Args:
        tree: the tree.
        q: configuration, shape (nq,).
        placed: receives them; the world's own placement is read.
    """
    for j in range(1, tree.joints.size):
        place_joint(tree.joints, j, q, placed)


@uncounted()
def place_chain(tree: KinematicTree, body: int, known: np.ndarray, q: np.ndarray, placed: Placements) -> int:
    """Place a body and those that carry it, only those whose flag in ``known`` is down; how many were placed."""
    joints, count = tree.joints, 0
    while not known[body]:
        j = body
        while not known[joints[j].parent]:
            j = joints[j].parent
        place_joint(joints, j, q, placed)
        known[j] = True
        count += 1
    return count
