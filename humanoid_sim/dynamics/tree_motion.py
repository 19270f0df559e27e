# SPDX-License-Identifier: Apache-2.0
"""Motion of all bodies of a tree in the world frame: joint axes, twists and what accelerates without effort."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_sim.dynamics.flat_model import (
    FREE_FLYER,
    PLANAR,
    PRISMATIC,
    REVOLUTE,
    SPHERICAL,
    TRANSLATION,
    FlatModel,
    joint_placements,
)


class TreeMotion(NamedTuple):
    r"""Where the bodies of a tree are and how they move; spatial vectors are in the world frame at the world origin.

    Attributes:
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames in the world [m], shape (njoints, 3).
        S: motion of the joint's body for a unit of each velocity coordinate, linear part first, one per row, shape
            (nv, 6) (the thesis' :math:`J_i`).
        twists: spatial velocities of the bodies, shape (njoints, 6).
        biases: :math:`\\dot S_i \\dot q_i` of each joint, shape (njoints, 6).
        curvatures: spatial accelerations of the bodies while the velocity coordinates stay as they are, shape
            (njoints, 6).
    """

    R: NDArray[np.float64]
    p: NDArray[np.float64]
    S: NDArray[np.float64]
    twists: NDArray[np.float64]
    biases: NDArray[np.float64]
    curvatures: NDArray[np.float64]

    @classmethod
    def of_size(cls, njoints: int, nv: int) -> TreeMotion:
        """Arrays for a model of ``njoints`` joints and ``nv`` velocity coordinates."""
        R = np.zeros((njoints, 3, 3))
        R[:] = np.eye(3)
        return cls(
            R,
            np.zeros((njoints, 3)),
            np.zeros((nv, 6)),
            np.zeros((njoints, 6)),
            np.zeros((njoints, 6)),
            np.zeros((njoints, 6)),
        )


@uncounted()
def _angular(S: np.ndarray, k: int, x: float, y: float, z: float, p: np.ndarray) -> None:
    """Compute the row of a rotation about the axis (x, y, z) through the point p."""
    S[k, 0] = p[1] * z - p[2] * y
    S[k, 1] = p[2] * x - p[0] * z
    S[k, 2] = p[0] * y - p[1] * x
    S[k, 3] = x
    S[k, 4] = y
    S[k, 5] = z


@uncounted()
def _linear(S: np.ndarray, k: int, x: float, y: float, z: float) -> None:
    """Compute the row of a translation along (x, y, z)."""
    S[k, 0] = x
    S[k, 1] = y
    S[k, 2] = z
    S[k, 3] = S[k, 4] = S[k, 5] = 0.0


@uncounted()
def joint_subspaces(model: FlatModel, R: np.ndarray, p: np.ndarray, S: np.ndarray) -> None:
    """Motion subspaces of all joints in the world frame (thesis equations 2.8 and 3.50).

    Args:
        model: the tree.
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames in the world [m], shape (njoints, 3).
        S: receives one row per velocity coordinate, shape (nv, 6).
    """
    for j in range(1, model.kinds.size):
        kind = model.kinds[j]
        k = model.idx_v[j]
        R_j = R[j]
        p_j = p[j]
        if kind in (REVOLUTE, PRISMATIC):
            a = model.axes[j]
            x = R_j[0, 0] * a[0] + R_j[0, 1] * a[1] + R_j[0, 2] * a[2]
            y = R_j[1, 0] * a[0] + R_j[1, 1] * a[1] + R_j[1, 2] * a[2]
            z = R_j[2, 0] * a[0] + R_j[2, 1] * a[1] + R_j[2, 2] * a[2]
            if kind == REVOLUTE:
                _angular(S, k, x, y, z, p_j)
            else:
                _linear(S, k, x, y, z)
        elif kind == SPHERICAL:
            for c in range(3):
                _angular(S, k + c, R_j[0, c], R_j[1, c], R_j[2, c], p_j)
        elif kind == TRANSLATION:  # the axes of the fixed frame, from which the joint frame isn't turned
            for c in range(3):
                _linear(S, k + c, R_j[0, c], R_j[1, c], R_j[2, c])
        elif kind == FREE_FLYER:
            for c in range(3):
                _linear(S, k + c, R_j[0, c], R_j[1, c], R_j[2, c])
                _angular(S, k + 3 + c, R_j[0, c], R_j[1, c], R_j[2, c], p_j)
        elif kind == PLANAR:
            _linear(S, k, R_j[0, 0], R_j[1, 0], R_j[2, 0])
            _linear(S, k + 1, R_j[0, 1], R_j[1, 1], R_j[2, 1])
            _angular(S, k + 2, R_j[0, 2], R_j[1, 2], R_j[2, 2], p_j)
        else:  # UNIVERSAL: the first axis is fixed in the parent, the second in the body
            parent = model.parents[j]
            a = model.axes[j]
            fixed = model.rotations[j]
            f_0 = fixed[0, 0] * a[0] + fixed[0, 1] * a[1] + fixed[0, 2] * a[2]
            f_1 = fixed[1, 0] * a[0] + fixed[1, 1] * a[1] + fixed[1, 2] * a[2]
            f_2 = fixed[2, 0] * a[0] + fixed[2, 1] * a[1] + fixed[2, 2] * a[2]
            R_p = R[parent]
            _angular(
                S,
                k,
                R_p[0, 0] * f_0 + R_p[0, 1] * f_1 + R_p[0, 2] * f_2,
                R_p[1, 0] * f_0 + R_p[1, 1] * f_1 + R_p[1, 2] * f_2,
                R_p[2, 0] * f_0 + R_p[2, 1] * f_1 + R_p[2, 2] * f_2,
                p_j,
            )
            b = model.second_axes[j]
            _angular(
                S,
                k + 1,
                R_j[0, 0] * b[0] + R_j[0, 1] * b[1] + R_j[0, 2] * b[2],
                R_j[1, 0] * b[0] + R_j[1, 1] * b[1] + R_j[1, 2] * b[2],
                R_j[2, 0] * b[0] + R_j[2, 1] * b[1] + R_j[2, 2] * b[2],
                p_j,
            )


@uncounted()
def _add_motion_cross(a: np.ndarray, b_0: float, b_1: float, b_2: float, b_3: float, b_4: float, b_5: float,
                      out: np.ndarray) -> None:  # fmt: skip
    """Add the spatial cross product of a twist ``a`` with a motion vector, linear parts first (§2)."""
    out[0] += a[4] * b_2 - a[5] * b_1 + a[1] * b_5 - a[2] * b_4
    out[1] += a[5] * b_0 - a[3] * b_2 + a[2] * b_3 - a[0] * b_5
    out[2] += a[3] * b_1 - a[4] * b_0 + a[0] * b_4 - a[1] * b_3
    out[3] += a[4] * b_5 - a[5] * b_4
    out[4] += a[5] * b_3 - a[3] * b_5
    out[5] += a[3] * b_4 - a[4] * b_3


@uncounted()
def body_twists(model: FlatModel, v: np.ndarray, motion: TreeMotion) -> None:
    """Twists, biases and curvatures of all bodies for a velocity ``v``, shape (nv,); ``motion.S`` is read."""
    S, twists, biases, curvatures = motion.S, motion.twists, motion.biases, motion.curvatures
    for r in range(6):
        twists[0, r] = 0.0
        curvatures[0, r] = 0.0
    for j in range(1, model.kinds.size):
        parent = model.parents[j]
        first = model.idx_v[j]
        own_0 = own_1 = own_2 = own_3 = own_4 = own_5 = 0.0
        for k in range(first, first + model.nvs[j]):
            rate = v[k]
            own_0 += S[k, 0] * rate
            own_1 += S[k, 1] * rate
            own_2 += S[k, 2] * rate
            own_3 += S[k, 3] * rate
            own_4 += S[k, 4] * rate
            own_5 += S[k, 5] * rate
        twists[j, 0] = twists[parent, 0] + own_0
        twists[j, 1] = twists[parent, 1] + own_1
        twists[j, 2] = twists[parent, 2] + own_2
        twists[j, 3] = twists[parent, 3] + own_3
        twists[j, 4] = twists[parent, 4] + own_4
        twists[j, 5] = twists[parent, 5] + own_5
        bias = biases[j]
        for r in range(6):
            bias[r] = 0.0
        if model.nvs[j] == 2:  # the first axis of a universal joint turns with the parent only
            rate = v[first]
            f_0, f_1, f_2 = S[first, 0] * rate, S[first, 1] * rate, S[first, 2] * rate
            f_3, f_4, f_5 = S[first, 3] * rate, S[first, 4] * rate, S[first, 5] * rate
            _add_motion_cross(twists[parent], f_0, f_1, f_2, f_3, f_4, f_5, bias)
            _add_motion_cross(
                twists[j], own_0 - f_0, own_1 - f_1, own_2 - f_2, own_3 - f_3, own_4 - f_4, own_5 - f_5, bias
            )
        else:  # the axes turn with the body
            _add_motion_cross(twists[j], own_0, own_1, own_2, own_3, own_4, own_5, bias)
        for r in range(6):
            curvatures[j, r] = curvatures[parent, r] + bias[r]


@apart(error_model="numpy", _nrt=False)
def move_tree(model: FlatModel, q: np.ndarray, v: np.ndarray, motion: TreeMotion) -> None:
    """Placements, subspaces, twists, biases and curvatures for a configuration (nq,) and a velocity (nv,)."""
    joint_placements(model, q, motion.R, motion.p)
    joint_subspaces(model, motion.R, motion.p, motion.S)
    body_twists(model, v, motion)
