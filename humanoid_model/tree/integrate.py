# SPDX-License-Identifier: Apache-2.0
"""Motion of a configuration with a constant velocity, on the manifold of the joints."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.joint_kind import FREE_FLYER, PLANAR, SPHERICAL, UNBOUNDED
from humanoid_model.tree.kinematic_tree import KinematicTree


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
