# SPDX-License-Identifier: Apache-2.0
"""Compiled kinematics of a tree: where its bodies are, Jacobians, and motion with a constant velocity.

Of the Jacobians only the columns of what moves a body are touched; configurations move on the manifold of the
joints.
"""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.arrays import Records
from humanoid_model.compiling import uncounted
from humanoid_model.tree.kinematic_tree import (
    FREE_FLYER,
    HELICAL,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    TRANSLATION,
    UNBOUNDED,
    UNIVERSAL,
    KinematicTree,
    Placements,
)

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


@uncounted()
def body_jacobian(tree: KinematicTree, body: int, point: np.ndarray, placed: Placements, J: np.ndarray) -> None:
    """Add the Jacobian of a body's point that is at ``point`` (3,) in the world to ``J`` (6, nx), in world axes.

    Rows of translation come first, then those of rotation (specification 001 (3.23), (3.26); 002 eq. 3.15, 3.16).
    """
    S, x, y, z = placed.S, point[0], point[1], point[2]
    k = tree.joints[body].last_dof
    while k >= 0:
        c, s = tree.dof_column[k], S[k]
        J[0, c] += s[0] + s[4] * z - s[5] * y
        J[1, c] += s[1] + s[5] * x - s[3] * z
        J[2, c] += s[2] + s[3] * y - s[4] * x
        J[3, c] += s[3]
        J[4, c] += s[4]
        J[5, c] += s[5]
        k = tree.dof_parent[k]


@uncounted()
def centre_of_mass(tree: KinematicTree, placed: Placements, moments: np.ndarray, G: np.ndarray) -> None:
    """Compute the centre of mass of all bodies.

    Args:
        tree: the tree.
        placed: where its bodies are.
        moments: receives first moment [kg m] and mass of what each joint carries, its subtree, shape (njoints, 4).
        G: receives the centre of mass [m], zero where nothing has mass, shape (3,).
    """
    joints, R, p = tree.joints, placed.rotations, placed.origins
    for j in range(joints.size):
        m, lever = joints[j].mass, joints[j].lever
        moments[j, 3] = m
        for r in range(3):
            moments[j, r] = m * (p[j, r] + R[j, r, 0] * lever[0] + R[j, r, 1] * lever[1] + R[j, r, 2] * lever[2])
    for j in range(joints.size - 1, 0, -1):
        above = moments[joints[j].parent]
        for r in range(4):
            above[r] += moments[j, r]
    total = moments[0, 3]
    for r in range(3):
        G[r] = moments[0, r] / total if total > 0.0 else 0.0


@uncounted()
def centre_of_mass_jacobian(tree: KinematicTree, placed: Placements, moments: np.ndarray, J: np.ndarray) -> None:
    """Write the (3, nx) Jacobian of the centre of mass over ``J``; ``moments`` are :func:`centre_of_mass`'."""
    J[:] = 0.0
    total = moments[0, 3]
    if not total > 0.0:
        return
    for k in range(tree.dof_joint.size):
        c, s, carried = tree.dof_column[k], placed.S[k], moments[tree.dof_joint[k]]
        x, y, z, m = carried[0] / total, carried[1] / total, carried[2] / total, carried[3] / total
        J[0, c] += m * s[0] + s[4] * z - s[5] * y
        J[1, c] += m * s[1] + s[5] * x - s[3] * z
        J[2, c] += m * s[2] + s[3] * y - s[4] * x


@uncounted()
def _turn(q: np.ndarray, x: float, y: float, z: float, out: np.ndarray) -> None:
    """Quaternion (x, y, z, w) turned by a rotation vector in its own frame, of unit length."""
    angle = math.sqrt(x * x + y * y + z * z)
    half = 0.5 * angle
    # sin(half) / angle, by its series where the quotient loses digits
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(half) / angle
    c = math.cos(half)
    x, y, z = s * x, s * y, s * z
    r_0 = q[3] * x + q[0] * c + q[1] * z - q[2] * y
    r_1 = q[3] * y + q[1] * c + q[2] * x - q[0] * z
    r_2 = q[3] * z + q[2] * c + q[0] * y - q[1] * x
    r_3 = q[3] * c - q[0] * x - q[1] * y - q[2] * z
    norm = 1.0 / math.sqrt(r_0 * r_0 + r_1 * r_1 + r_2 * r_2 + r_3 * r_3)
    out[0], out[1], out[2], out[3] = norm * r_0, norm * r_1, norm * r_2, norm * r_3


@uncounted()
def _shift(q: np.ndarray, v: np.ndarray, dt: float, out: np.ndarray) -> None:
    """Position of a free-flyer: its velocity is constant in its own turning frame (exponential map of SE(3))."""
    w_0, w_1, w_2 = dt * v[3], dt * v[4], dt * v[5]
    u_0, u_1, u_2 = dt * v[0], dt * v[1], dt * v[2]
    square = w_0 * w_0 + w_1 * w_1 + w_2 * w_2
    if square < 1e-8:
        a = 0.5 - square / 24.0
        b = 1.0 / 6.0 - square / 120.0
    else:
        angle = math.sqrt(square)
        a = (1.0 - math.cos(angle)) / square
        b = (angle - math.sin(angle)) / (square * angle)
    c_0, c_1, c_2 = w_1 * u_2 - w_2 * u_1, w_2 * u_0 - w_0 * u_2, w_0 * u_1 - w_1 * u_0
    s_0 = u_0 + a * c_0 + b * (w_1 * c_2 - w_2 * c_1)
    s_1 = u_1 + a * c_1 + b * (w_2 * c_0 - w_0 * c_2)
    s_2 = u_2 + a * c_2 + b * (w_0 * c_1 - w_1 * c_0)
    x, y, z, w = q[3], q[4], q[5], q[6]
    t_0, t_1, t_2 = 2.0 * (y * s_2 - z * s_1), 2.0 * (z * s_0 - x * s_2), 2.0 * (x * s_1 - y * s_0)
    out[0] = q[0] + s_0 + w * t_0 + y * t_2 - z * t_1
    out[1] = q[1] + s_1 + w * t_1 + z * t_0 - x * t_2
    out[2] = q[2] + s_2 + w * t_2 + x * t_1 - y * t_0


@uncounted()
def _turn_in_plane(q: np.ndarray, c: float, s: float, out: np.ndarray) -> None:
    """Cosine and sine of an angle increased by one of this cosine and sine, of unit length."""
    new_c, new_s = q[0] * c - q[1] * s, q[1] * c + q[0] * s
    norm = 1.0 / math.sqrt(new_c * new_c + new_s * new_s)
    out[0] = norm * new_c
    out[1] = norm * new_s


@apart(error_model="numpy", _nrt=False)
def integrate(tree: KinematicTree, q: np.ndarray, v: np.ndarray, dt: float, out: np.ndarray) -> None:
    """Compute the configuration after a time at a constant velocity, as ``pinocchio.integrate(model, q, dt * v)``.

    Args:
        tree: the tree.
        q: configuration, shape (nq,).
        v: velocity, shape (nv,).
        dt: time [s].
        out: receives the configuration; quaternions and cosine-sine pairs are of unit length, shape (nq,).
    """
    for j in range(1, tree.joints.size):
        joint = tree.joints[j]
        kind, i, k = joint.kind, joint.idx_q, joint.idx_v
        if kind == SPHERICAL:
            _turn(q[i : i + 4], dt * v[k], dt * v[k + 1], dt * v[k + 2], out[i : i + 4])
        elif kind == FREE_FLYER:
            _shift(q[i : i + 7], v[k : k + 6], dt, out[i : i + 3])
            _turn(q[i + 3 : i + 7], dt * v[k + 3], dt * v[k + 4], dt * v[k + 5], out[i + 3 : i + 7])
        elif kind == PLANAR:
            angle = dt * v[k + 2]
            c, s = math.cos(angle), math.sin(angle)
            if abs(angle) < 1e-4:
                a = 1.0 - angle * angle / 6.0
                b = 0.5 * angle
            else:
                a = s / angle
                b = (1.0 - c) / angle
            x = dt * (a * v[k] - b * v[k + 1])
            y = dt * (b * v[k] + a * v[k + 1])
            q_c, q_s = q[i + 2], q[i + 3]
            out[i] = q[i] + q_c * x - q_s * y
            out[i + 1] = q[i + 1] + q_s * x + q_c * y
            _turn_in_plane(q[i + 2 : i + 4], c, s, out[i + 2 : i + 4])
        elif kind == UNBOUNDED:
            _turn_in_plane(q[i : i + 2], math.cos(dt * v[k]), math.sin(dt * v[k]), out[i : i + 2])
        else:
            for r in range(joint.nv):
                out[i + r] = q[i + r] + dt * v[k + r]
