# SPDX-License-Identifier: Apache-2.0
"""Motion of all bodies of a tree in the world frame: joint axes, twists and what accelerates without effort.

The energy of a tree, and its mass matrix by the composite-rigid-body algorithm (thesis equations 2.9 and 2.10).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_model.apart import apart
from humanoid_model.compiling import FAST, counted, uncounted
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


@dataclass(frozen=True)
class Energy:
    """Mechanical energy of the world.

    Attributes:
        kinetic: of all bodies and rotors [J].
        potential: in gravity [J].
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Sum of both [J]."""
        return self.kinetic + self.potential


def kinetic_energy(tree: KinematicTree, motion: TreeMotion, v: NDArray[np.float64]) -> float:
    """Of all bodies and rotors [J].

    Args:
        tree: the tree.
        motion: placements and twists at the state.
        v: velocity, shape (nv,).
    """
    linear, angular = motion.twists[:, :3], motion.twists[:, 3:]
    velocities = linear + np.cross(angular, _centres(tree, motion))
    spins = np.einsum("jrc,jr->jc", motion.rotations, angular)  # in the bodies' axes
    kinetic = tree.joints["mass"] @ np.einsum("ji,ji->j", velocities, velocities)
    kinetic += np.einsum("ji,jik,jk->", spins, tree.joints["inertia"], spins)
    return 0.5 * float(kinetic + tree.armature @ v**2)


def potential_energy(tree: KinematicTree, motion: TreeMotion) -> float:
    """Of all bodies in gravity, zero at the world's origin [J]; ``motion`` has the placements."""
    return -float(tree.joints["mass"] @ _centres(tree, motion) @ tree.gravity)


def moved_inertias(tree: KinematicTree, motion: TreeMotion) -> NDArray[np.float64]:
    """Return the diagonal of the mass matrix, armatures included [kg m^2 or kg], shape (nv,).

    Args:
        tree: the tree.
        motion: placements and subspaces at the configuration.
    """
    n = tree.joints.size
    centres = _centres(tree, motion)
    turned = motion.rotations @ tree.joints["inertia"] @ np.swapaxes(motion.rotations, 1, 2)
    cross = np.zeros((n, 3, 3))
    for (r, c), (axis, sign) in {
        (0, 1): (2, -1.0), (0, 2): (1, 1.0), (1, 0): (2, 1.0), (1, 2): (0, -1.0), (2, 0): (1, -1.0), (2, 1): (0, 1.0)
    }.items():  # fmt: skip
        cross[:, r, c] = sign * centres[:, axis]
    masses = tree.joints["mass"][:, None, None]
    inertias = np.zeros((n, 6, 6))  # at the world origin, linear part first
    inertias[:, :3, :3] = masses * np.eye(3)
    inertias[:, :3, 3:] = -masses * cross
    inertias[:, 3:, :3] = masses * cross
    inertias[:, 3:, 3:] = turned - masses * (cross @ cross)
    parents = tree.joints["parent"]
    for j in range(n - 1, 0, -1):  # children have higher numbers than their parents
        if parents[j] > 0:
            inertias[parents[j]] += inertias[j]
    return np.einsum("ki,kij,kj->k", motion.S, inertias[tree.dof_joint], motion.S) + tree.armature


def _centres(tree: KinematicTree, motion: TreeMotion) -> NDArray[np.float64]:
    """Return centres of mass in the world [m], shape (njoints, 3)."""
    return np.einsum("jrc,jc->jr", motion.rotations, tree.joints["lever"]) + motion.origins


@counted(fastmath=FAST)
def _body_inertia(tree: KinematicTree, j: int, R: np.ndarray, p: np.ndarray, inertia: np.ndarray) -> None:
    """Spatial inertia of what a joint carries, in the world frame at the world origin (thesis equation 2.7), 6 x 6."""
    m, local = tree.joints[j].mass, tree.joints[j].inertia
    centre = np.empty(3)
    for r in range(3):
        centre[r] = p[r]
        for c in range(3):
            centre[r] += R[r, c] * tree.joints[j].lever[c]
    square = centre[0] ** 2 + centre[1] ** 2 + centre[2] ** 2
    for r in range(3):
        inertia[r, r] = m
        c, d = (r + 1) % 3, (r + 2) % 3
        inertia[3 + c, d] = inertia[d, 3 + c] = -m * centre[r]  # m [centre]x below, its transpose above
        inertia[3 + d, c] = inertia[c, 3 + d] = m * centre[r]
        for c in range(3):
            total = -m * centre[r] * centre[c]
            for x in range(3):
                for y in range(3):
                    total += R[r, x] * local[x, y] * R[c, y]
            inertia[3 + r, 3 + c] = total
        inertia[3 + r, 3 + r] += m * square


@uncounted(fastmath=FAST)
def composite_inertias(tree: KinematicTree, R: np.ndarray, p: np.ndarray, inertias: np.ndarray) -> None:
    r"""Inertia :math:`\hat I_i` of all that each joint carries, its subtree, at the world origin.

    Args:
        tree: the tree.
        R: rotations of the joint frames, shape (njoints, 3, 3).
        p: origins of the joint frames in the world [m], shape (njoints, 3).
        inertias: receives them, the fixed world's left zero, shape (njoints, 6, 6).
    """
    inertias[:] = 0.0
    for j in range(1, tree.joints.size):
        if tree.joints[j].mass > 0.0:
            _body_inertia(tree, j, R[j], p[j], inertias[j])
    for j in range(tree.joints.size - 1, 0, -1):
        parent = tree.joints[j].parent
        if parent > 0:
            for r in range(6):
                for c in range(6):
                    inertias[parent, r, c] += inertias[j, r, c]


@counted(fastmath=FAST)
def mass_matrix(tree: KinematicTree, q: np.ndarray) -> np.ndarray:
    r"""Joint-space inertia, rotors included: :math:`M_{kl} = S_k^T \hat I_k S_l` for l on the way from k to the root.

    Two coordinates of which none carries the other have none in common. The world frame needs no transformation
    between bodies; the precision goes with the square of the distance from its origin.

    Args:
        tree: the tree.
        q: configuration, shape (nq,).

    Returns:
        Symmetric and positive definite where every coordinate moves some inertia [kg, kg m, kg m^2], shape (nv, nv).
    """
    n, nv = tree.joints.size, tree.armature.size
    R, p, S = np.empty((n, 3, 3)), np.zeros((n, 3)), np.empty((nv, 6))
    R[0] = np.eye(3)
    place_all(tree, q, Placements(R, p, S))
    inertias = np.empty((n, 6, 6))
    composite_inertias(tree, R, p, inertias)
    M = np.zeros((nv, nv))
    momentum = np.empty(6)
    for k in range(nv):
        inertia = inertias[tree.dof_joint[k]]
        for r in range(6):
            total = 0.0
            for c in range(6):
                total += inertia[r, c] * S[k, c]
            momentum[r] = total
        on_the_way = k
        while on_the_way >= 0:
            total = 0.0
            for r in range(6):
                total += S[on_the_way, r] * momentum[r]
            M[k, on_the_way] = total
            M[on_the_way, k] = total
            on_the_way = tree.dof_parent[on_the_way]
        M[k, k] += tree.armature[k]
    return M
