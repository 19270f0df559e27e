# SPDX-License-Identifier: Apache-2.0
"""Motion of all bodies of a tree in the world frame: joint axes, twists and what accelerates without effort."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import uncounted
from humanoid_model.tree.forward_kinematics import place_all
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements


class TreeMotion(NamedTuple):
    r"""Where the bodies of a tree are and how they move; spatial vectors are in the world frame at the world origin.

    Attributes:
        rotations: of the joint frames, shape (njoints, 3, 3).
        origins: of the joint frames in the world [m], shape (njoints, 3).
        S: motion of the joint's body for a unit of each velocity coordinate, linear part first, one per row, shape
            (nv, 6) (the thesis' :math:`J_i`).
        twists: spatial velocities of the bodies, shape (njoints, 6).
        biases: :math:`\\dot S_i \\dot q_i` of each joint, shape (njoints, 6).
        curvatures: spatial accelerations of the bodies while the velocity coordinates stay as they are, shape
            (njoints, 6).
    """

    rotations: NDArray[np.float64]
    origins: NDArray[np.float64]
    S: NDArray[np.float64]
    twists: NDArray[np.float64]
    biases: NDArray[np.float64]
    curvatures: NDArray[np.float64]

    @classmethod
    def of_size(cls, njoints: int, nv: int) -> TreeMotion:
        """Arrays for a model of ``njoints`` joints and ``nv`` velocity coordinates."""
        placed = Placements.of_size(njoints, nv)
        return cls(*placed, np.zeros((njoints, 6)), np.zeros((njoints, 6)), np.zeros((njoints, 6)))


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
def body_twists(tree: KinematicTree, v: np.ndarray, motion: TreeMotion) -> None:
    """Twists, biases and curvatures of all bodies for a velocity ``v``, shape (nv,); ``motion.S`` is read."""
    S, twists, biases, curvatures = motion.S, motion.twists, motion.biases, motion.curvatures
    for r in range(6):
        twists[0, r] = 0.0
        curvatures[0, r] = 0.0
    for j in range(1, tree.joints.size):
        parent = tree.joints[j].parent
        first = tree.joints[j].idx_v
        own_0 = own_1 = own_2 = own_3 = own_4 = own_5 = 0.0
        for k in range(first, first + tree.joints[j].nv):
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
        if tree.joints[j].nv == 2:  # the first axis of a universal joint turns with the parent only
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
def move_tree(tree: KinematicTree, q: np.ndarray, v: np.ndarray, motion: TreeMotion) -> None:
    """Placements, subspaces, twists, biases and curvatures for a configuration (nq,) and a velocity (nv,)."""
    place_all(tree, q, Placements(motion.rotations, motion.origins, motion.S))
    body_twists(tree, v, motion)
