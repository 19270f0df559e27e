# SPDX-License-Identifier: Apache-2.0
"""A Pinocchio model as flat arrays that compiled kernels read."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.compiling import counted, uncounted
from humanoid_model.errors import RobotError

REVOLUTE, PRISMATIC, SPHERICAL, TRANSLATION, FREE_FLYER, PLANAR, UNIVERSAL = range(7)
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def _joint_kind(joint: pin.JointModel) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
    """Kind and axes of a Pinocchio joint, read from its short name."""
    none = np.zeros(3)
    name = joint.shortname().removeprefix("JointModel")
    without_axis = {"FreeFlyer": FREE_FLYER, "Spherical": SPHERICAL, "Translation": TRANSLATION, "Planar": PLANAR}
    if name in without_axis:
        return without_axis[name], none, none
    for prefix, kind in (("R", REVOLUTE), ("P", PRISMATIC)):
        if name.startswith(prefix) and name[len(prefix) :] in _AXES:
            return kind, np.array(_AXES[name[len(prefix) :]]), none
    unaligned = {"RevoluteUnaligned": REVOLUTE, "PrismaticUnaligned": PRISMATIC}
    concrete = joint.extract() if hasattr(joint, "extract") else joint
    if name in unaligned:
        return unaligned[name], np.array(concrete.axis).reshape(3), none
    if name == "Universal":
        return UNIVERSAL, np.array(concrete.axis1).reshape(3), np.array(concrete.axis2).reshape(3)
    raise RobotError(
        f"the simulator has no joint of kind '{name}'",
        remedy="Use revolute, continuous, prismatic, universal, spherical, planar or free-flying joints",
    )


class FlatModel(NamedTuple):
    """Topology, geometry and inertia of the joints of a model, index 0 being the universe.

    Attributes:
        kinds: kind of each joint, shape (njoints,).
        parents: parent joint, shape (njoints,).
        idx_q: first coordinate, shape (njoints,).
        idx_v: first velocity coordinate, shape (njoints,).
        nvs: number of velocity coordinates, shape (njoints,).
        axes: axis in the joint frame, of a universal joint the first one in its fixed frame, shape (njoints, 3).
        second_axes: second axis of a universal joint, in the joint frame, shape (njoints, 3).
        rotations: rotation from the joint's fixed frame to the parent joint's frame, shape (njoints, 3, 3).
        translations: origin of the fixed frame in the parent joint's frame [m], shape (njoints, 3).
        masses: of what each joint carries rigidly [kg], shape (njoints,).
        levers: its centre of mass in the joint frame [m], shape (njoints, 3).
        inertias: its inertia about the centre of mass, in the axes of the joint frame [kg m^2], shape (njoints, 3, 3).
        armature: inertia of each coordinate's rotor as the joint feels it [kg m^2 or kg], shape (nv,).
        dof_parent: for each velocity coordinate the one before it on the way to the root, or -1, shape (nv,).
        dof_joint: joint of each velocity coordinate, shape (nv,).
        last_dof: for each joint the last velocity coordinate that moves it, or -1, shape (njoints,).
        trees: number of the tree that each joint belongs to; two joints that hang on the world separately are in two
            trees; -1 for the universe, shape (njoints,).
        gravity: acceleration [m/s^2], shape (3,).
    """

    kinds: NDArray[np.int64]
    parents: NDArray[np.int64]
    idx_q: NDArray[np.int64]
    idx_v: NDArray[np.int64]
    nvs: NDArray[np.int64]
    axes: NDArray[np.float64]
    second_axes: NDArray[np.float64]
    rotations: NDArray[np.float64]
    translations: NDArray[np.float64]
    masses: NDArray[np.float64]
    levers: NDArray[np.float64]
    inertias: NDArray[np.float64]
    armature: NDArray[np.float64]
    dof_parent: NDArray[np.int64]
    dof_joint: NDArray[np.int64]
    last_dof: NDArray[np.int64]
    trees: NDArray[np.int64]
    gravity: NDArray[np.float64]

    @classmethod
    def from_pinocchio(cls, model: pin.Model) -> FlatModel:
        """Read a Pinocchio model.

        Raises:
            RobotError: the model has a joint of a kind that the simulator doesn't know.
        """
        n = model.njoints
        kinds = np.zeros(n, dtype=np.int64)
        axes, second_axes = np.zeros((n, 3)), np.zeros((n, 3))
        last_dof = np.full(n, -1, dtype=np.int64)
        trees = np.full(n, -1, dtype=np.int64)
        dof_parent = np.full(model.nv, -1, dtype=np.int64)
        dof_joint = np.zeros(model.nv, dtype=np.int64)
        for j in range(1, n):
            joint = model.joints[j]
            kinds[j], axes[j], second_axes[j] = _joint_kind(joint)
            previous = last_dof[model.parents[j]]
            for k in range(joint.idx_v, joint.idx_v + joint.nv):
                dof_parent[k] = previous
                dof_joint[k] = j
                previous = k
            last_dof[j] = previous
            trees[j] = trees[model.parents[j]] if model.parents[j] > 0 else trees.max() + 1
        placements = [model.jointPlacements[j] for j in range(n)]
        return cls(
            kinds,
            np.array([model.parents[j] for j in range(n)], dtype=np.int64),
            np.array([max(model.joints[j].idx_q, 0) for j in range(n)], dtype=np.int64),
            np.array([max(model.joints[j].idx_v, 0) for j in range(n)], dtype=np.int64),
            np.array([0, *(model.joints[j].nv for j in range(1, n))], dtype=np.int64),
            axes,
            second_axes,
            np.array([placement.rotation for placement in placements]),
            np.array([placement.translation for placement in placements]),
            np.array([0.0, *(model.inertias[j].mass for j in range(1, n))]),
            np.array([np.zeros(3), *(model.inertias[j].lever for j in range(1, n))]),
            np.array([np.zeros((3, 3)), *(model.inertias[j].inertia for j in range(1, n))]),
            np.array(model.armature, dtype=float),
            dof_parent,
            dof_joint,
            last_dof,
            trees,
            np.array(model.gravity.linear, dtype=float),
        )


@uncounted()
def _rotation_about(axis: np.ndarray, c: float, s: float, R: np.ndarray) -> None:
    """Rodrigues' formula with the cosine and sine of the angle."""
    x, y, z = axis[0], axis[1], axis[2]
    t = 1.0 - c
    R[0, 0] = c + t * x * x
    R[0, 1] = t * x * y - s * z
    R[0, 2] = t * x * z + s * y
    R[1, 0] = t * x * y + s * z
    R[1, 1] = c + t * y * y
    R[1, 2] = t * y * z - s * x
    R[2, 0] = t * x * z - s * y
    R[2, 1] = t * y * z + s * x
    R[2, 2] = c + t * z * z


@uncounted()
def _rotation_of_quaternion(x: float, y: float, z: float, w: float, R: np.ndarray) -> None:
    R[0, 0] = 1.0 - 2.0 * (y * y + z * z)
    R[0, 1] = 2.0 * (x * y - w * z)
    R[0, 2] = 2.0 * (x * z + w * y)
    R[1, 0] = 2.0 * (x * y + w * z)
    R[1, 1] = 1.0 - 2.0 * (x * x + z * z)
    R[1, 2] = 2.0 * (y * z - w * x)
    R[2, 0] = 2.0 * (x * z - w * y)
    R[2, 1] = 2.0 * (y * z + w * x)
    R[2, 2] = 1.0 - 2.0 * (x * x + y * y)


@uncounted()
def _place_revolute(model: FlatModel, j: int, c: float, s: float, R: np.ndarray, p: np.ndarray) -> None:
    """World placement of the frame of a revolute joint, by far the most frequent kind, without any work space."""
    parent = model.parents[j]
    A, F, a, t, above, own = R[parent], model.rotations[j], model.axes[j], model.translations[j], p[parent], R[j]
    t_0, t_1, t_2 = t[0], t[1], t[2]
    x, y, z = a[0], a[1], a[2]
    u = 1.0 - c
    q_00, q_01, q_02 = c + u * x * x, u * x * y - s * z, u * x * z + s * y  # Rodrigues' formula
    q_10, q_11, q_12 = u * x * y + s * z, c + u * y * y, u * y * z - s * x
    q_20, q_21, q_22 = u * x * z - s * y, u * y * z + s * x, c + u * z * z
    f_00, f_01, f_02 = F[0, 0], F[0, 1], F[0, 2]
    f_10, f_11, f_12 = F[1, 0], F[1, 1], F[1, 2]
    f_20, f_21, f_22 = F[2, 0], F[2, 1], F[2, 2]
    for r in range(3):
        a_0, a_1, a_2 = A[r, 0], A[r, 1], A[r, 2]
        p[j, r] = above[r] + a_0 * t_0 + a_1 * t_1 + a_2 * t_2
        b_0 = a_0 * f_00 + a_1 * f_10 + a_2 * f_20
        b_1 = a_0 * f_01 + a_1 * f_11 + a_2 * f_21
        b_2 = a_0 * f_02 + a_1 * f_12 + a_2 * f_22
        own[r, 0] = b_0 * q_00 + b_1 * q_10 + b_2 * q_20
        own[r, 1] = b_0 * q_01 + b_1 * q_11 + b_2 * q_21
        own[r, 2] = b_0 * q_02 + b_1 * q_12 + b_2 * q_22


@counted()
def joint_placements(model: FlatModel, q: np.ndarray, R: np.ndarray, p: np.ndarray) -> None:
    """World placement of every joint frame.

    Args:
        model: the tree.
        q: configuration, shape (nq,).
        R: receives rotations from joint frame to world, shape (njoints, 3, 3).
        p: receives origins in the world [m], shape (njoints, 3).
    """
    _joint_placements(model, q, R, p, np.empty((3, 3, 3)), np.empty((2, 3)))


@uncounted()
def _joint_placements(
    model: FlatModel, q: np.ndarray, R: np.ndarray, p: np.ndarray, matrices: np.ndarray, vectors: np.ndarray
) -> None:
    """:func:`joint_placements` in this work space, shapes (3, 3, 3) and (2, 3)."""
    R_joint, R_second, R_local = matrices[0], matrices[1], matrices[2]
    p_local, shift = vectors[0], vectors[1]
    for r in range(3):
        p[0, r] = 0.0
        for c in range(3):
            R[0, r, c] = 1.0 if r == c else 0.0
    for j in range(1, model.kinds.size):
        kind = model.kinds[j]
        k = model.idx_q[j]
        if kind == REVOLUTE:
            _place_revolute(model, j, math.cos(q[k]), math.sin(q[k]), R, p)
            continue
        R_fixed = model.rotations[j]
        shift[0] = shift[1] = shift[2] = 0.0
        if kind == PRISMATIC:
            for r in range(3):
                shift[r] = model.axes[j, r] * q[k]
        elif kind == SPHERICAL:
            _rotation_of_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3], R_joint)
        elif kind == TRANSLATION:
            for r in range(3):
                shift[r] = q[k + r]
        elif kind == FREE_FLYER:
            _rotation_of_quaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6], R_joint)
            for r in range(3):
                shift[r] = q[k + r]
        elif kind == UNIVERSAL:
            _rotation_about(model.axes[j], math.cos(q[k]), math.sin(q[k]), R_local)
            _rotation_about(model.second_axes[j], math.cos(q[k + 1]), math.sin(q[k + 1]), R_second)
            for r in range(3):
                for c in range(3):
                    R_joint[r, c] = (
                        R_local[r, 0] * R_second[0, c]
                        + R_local[r, 1] * R_second[1, c]
                        + R_local[r, 2] * R_second[2, c]
                    )
        else:  # PLANAR: x, y, cosine, sine
            for r in range(3):
                for c in range(3):
                    R_joint[r, c] = 1.0 if r == c else 0.0
            R_joint[0, 0] = R_joint[1, 1] = q[k + 2]
            R_joint[1, 0] = q[k + 3]
            R_joint[0, 1] = -q[k + 3]
            shift[0] = q[k]
            shift[1] = q[k + 1]
        if kind in (PRISMATIC, TRANSLATION):
            for r in range(3):
                for c in range(3):
                    R_local[r, c] = R_fixed[r, c]
        else:
            for r in range(3):
                for c in range(3):
                    R_local[r, c] = (
                        R_fixed[r, 0] * R_joint[0, c]
                        + R_fixed[r, 1] * R_joint[1, c]
                        + R_fixed[r, 2] * R_joint[2, c]
                    )
        for r in range(3):
            p_local[r] = (
                model.translations[j, r]
                + R_fixed[r, 0] * shift[0]
                + R_fixed[r, 1] * shift[1]
                + R_fixed[r, 2] * shift[2]
            )
        parent = model.parents[j]
        if parent == 0:
            for r in range(3):
                p[j, r] = p_local[r]
                for c in range(3):
                    R[j, r, c] = R_local[r, c]
            continue
        R_parent = R[parent]
        for r in range(3):
            p[j, r] = (
                p[parent, r]
                + R_parent[r, 0] * p_local[0]
                + R_parent[r, 1] * p_local[1]
                + R_parent[r, 2] * p_local[2]
            )
            for c in range(3):
                R[j, r, c] = (
                    R_parent[r, 0] * R_local[0, c]
                    + R_parent[r, 1] * R_local[1, c]
                    + R_parent[r, 2] * R_local[2, c]
                )
