# SPDX-License-Identifier: Apache-2.0
"""A Pinocchio model as flat arrays that compiled kernels read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

from humanoid_model.errors import RobotError

REVOLUTE, PRISMATIC, SPHERICAL, TRANSLATION, FREE_FLYER, PLANAR = range(6)
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


def _joint_kind(joint: pin.JointModel) -> tuple[int, NDArray[np.float64]]:
    """Kind and axis of a Pinocchio joint, read from its short name."""
    name = joint.shortname().removeprefix("JointModel")
    if name == "FreeFlyer":
        return FREE_FLYER, np.zeros(3)
    if name == "Spherical":
        return SPHERICAL, np.zeros(3)
    if name == "Translation":
        return TRANSLATION, np.zeros(3)
    if name == "Planar":
        return PLANAR, np.zeros(3)
    for prefix, kind in (("R", REVOLUTE), ("P", PRISMATIC)):
        if name.startswith(prefix) and name[len(prefix) :] in _AXES:
            return kind, np.array(_AXES[name[len(prefix) :]])
    unaligned = {"RevoluteUnaligned": REVOLUTE, "PrismaticUnaligned": PRISMATIC}
    if name in unaligned:
        concrete = joint.extract() if hasattr(joint, "extract") else joint
        return unaligned[name], np.array(concrete.axis).reshape(3)
    raise RobotError(
        f"the simulator has no joint of kind '{name}'",
        remedy="Use revolute, continuous, prismatic, spherical, planar or free-flying joints",
    )


@dataclass(frozen=True)
class FlatModel:
    """Topology and geometry of the joints of a model, index 0 being the universe.

    Attributes:
        kinds: kind of each joint, shape (njoints,).
        parents: parent joint, shape (njoints,).
        idx_q: first coordinate, shape (njoints,).
        idx_v: first velocity coordinate, shape (njoints,).
        axes: axis in the joint frame, shape (njoints, 3).
        rotations: rotation from the joint's fixed frame to the parent joint's frame, shape (njoints, 3, 3).
        translations: origin of the fixed frame in the parent joint's frame [m], shape (njoints, 3).
        dof_parent: for each velocity coordinate the one before it on the way to the root, or -1, shape (nv,).
        last_dof: for each joint the last velocity coordinate that moves it, or -1, shape (njoints,).
    """

    kinds: NDArray[np.int64]
    parents: NDArray[np.int64]
    idx_q: NDArray[np.int64]
    idx_v: NDArray[np.int64]
    axes: NDArray[np.float64]
    rotations: NDArray[np.float64]
    translations: NDArray[np.float64]
    dof_parent: NDArray[np.int64]
    last_dof: NDArray[np.int64]

    @classmethod
    def from_pinocchio(cls, model: pin.Model) -> FlatModel:
        """Read a Pinocchio model.

        Raises:
            RobotError: the model has a joint of a kind that the simulator doesn't know.
        """
        n = model.njoints
        kinds = np.zeros(n, dtype=np.int64)
        axes = np.zeros((n, 3))
        last_dof = np.full(n, -1, dtype=np.int64)
        dof_parent = np.full(model.nv, -1, dtype=np.int64)
        for j in range(1, n):
            joint = model.joints[j]
            kinds[j], axes[j] = _joint_kind(joint)
            previous = last_dof[model.parents[j]]
            for k in range(joint.idx_v, joint.idx_v + joint.nv):
                dof_parent[k] = previous
                previous = k
            last_dof[j] = previous
        placements = [model.jointPlacements[j] for j in range(n)]
        return cls(
            kinds,
            np.array([model.parents[j] for j in range(n)], dtype=np.int64),
            np.array([max(model.joints[j].idx_q, 0) for j in range(n)], dtype=np.int64),
            np.array([max(model.joints[j].idx_v, 0) for j in range(n)], dtype=np.int64),
            axes,
            np.array([placement.rotation for placement in placements]),
            np.array([placement.translation for placement in placements]),
            dof_parent,
            last_dof,
        )


@njit(cache=True)
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


@njit(cache=True)
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


@njit(cache=True)
def joint_placements(
    kinds: np.ndarray,
    parents: np.ndarray,
    idx_q: np.ndarray,
    axes: np.ndarray,
    rotations: np.ndarray,
    translations: np.ndarray,
    q: np.ndarray,
    R: np.ndarray,
    p: np.ndarray,
) -> None:
    """World placement of every joint frame; the first six arguments are fields of :class:`FlatModel`.

    Args:
        kinds: see :class:`FlatModel`.
        parents: see :class:`FlatModel`.
        idx_q: see :class:`FlatModel`.
        axes: see :class:`FlatModel`.
        rotations: see :class:`FlatModel`.
        translations: see :class:`FlatModel`.
        q: configuration, shape (nq,).
        R: receives rotations from joint frame to world, shape (njoints, 3, 3).
        p: receives origins in the world [m], shape (njoints, 3).
    """
    R_joint = np.empty((3, 3))
    R_local = np.empty((3, 3))
    p_local = np.empty(3)
    shift = np.empty(3)
    R[0] = np.eye(3)
    p[0] = 0.0
    for j in range(1, kinds.size):
        kind = kinds[j]
        k = idx_q[j]
        shift[:] = 0.0
        if kind == REVOLUTE:
            _rotation_about(axes[j], np.cos(q[k]), np.sin(q[k]), R_joint)
        elif kind == PRISMATIC:
            R_joint[:] = np.eye(3)
            for r in range(3):
                shift[r] = axes[j, r] * q[k]
        elif kind == SPHERICAL:
            _rotation_of_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3], R_joint)
        elif kind == TRANSLATION:
            R_joint[:] = np.eye(3)
            for r in range(3):
                shift[r] = q[k + r]
        elif kind == FREE_FLYER:
            _rotation_of_quaternion(q[k + 3], q[k + 4], q[k + 5], q[k + 6], R_joint)
            for r in range(3):
                shift[r] = q[k + r]
        else:  # PLANAR: x, y, cosine, sine
            R_joint[:] = np.eye(3)
            R_joint[0, 0] = R_joint[1, 1] = q[k + 2]
            R_joint[1, 0] = q[k + 3]
            R_joint[0, 1] = -q[k + 3]
            shift[0] = q[k]
            shift[1] = q[k + 1]
        R_fixed = rotations[j]
        for r in range(3):
            s = translations[j, r]
            for c in range(3):
                s += R_fixed[r, c] * shift[c]
            p_local[r] = s
            for c in range(3):
                R_local[r, c] = (
                    R_fixed[r, 0] * R_joint[0, c]
                    + R_fixed[r, 1] * R_joint[1, c]
                    + R_fixed[r, 2] * R_joint[2, c]
                )
        R_parent = R[parents[j]]
        p_parent = p[parents[j]]
        for r in range(3):
            p[j, r] = (
                p_parent[r]
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


@njit(cache=True)
def joint_twists(
    parents: np.ndarray,
    last_dof: np.ndarray,
    dof_parent: np.ndarray,
    J: np.ndarray,
    v: np.ndarray,
    twists: np.ndarray,
) -> None:
    """Spatial velocity of every joint's body, in the world frame at the world origin, linear part first.

    Args:
        parents: see :class:`FlatModel`.
        last_dof: see :class:`FlatModel`.
        dof_parent: see :class:`FlatModel`.
        J: joint Jacobian columns in the world frame (Pinocchio's ``data.J``), shape (6, nv).
        v: velocity, shape (nv,).
        twists: receives the twists, shape (njoints, 6).
    """
    twists[0] = 0.0
    for j in range(1, parents.size):
        parent = parents[j]
        for r in range(6):
            twists[j, r] = twists[parent, r]
        k = last_dof[j]
        while k != last_dof[parent]:
            for r in range(6):
                twists[j, r] += J[r, k] * v[k]
            k = dof_parent[k]


@njit(cache=True)
def joint_curvatures(
    parents: np.ndarray,
    last_dof: np.ndarray,
    dof_parent: np.ndarray,
    J: np.ndarray,
    v: np.ndarray,
    twists: np.ndarray,
    curvatures: np.ndarray,
) -> None:
    """Spatial acceleration of every joint's body while the velocity coordinates stay as they are.

    Args:
        parents: see :class:`FlatModel`.
        last_dof: see :class:`FlatModel`.
        dof_parent: see :class:`FlatModel`.
        J: joint Jacobian columns in the world frame, shape (6, nv).
        v: velocity, shape (nv,).
        twists: output of :func:`joint_twists`, shape (njoints, 6).
        curvatures: receives the accelerations in the world frame at the world origin, shape (njoints, 6).
    """
    own = np.empty(6)
    curvatures[0] = 0.0
    for j in range(1, parents.size):
        parent = parents[j]
        own[:] = 0.0
        k = last_dof[j]
        while k != last_dof[parent]:
            for r in range(6):
                own[r] += J[r, k] * v[k]
            k = dof_parent[k]
        for r in range(3):  # the joint's axes turn with its body: twist x own
            c1 = (r + 1) % 3
            c2 = (r + 2) % 3
            curvatures[j, r] = (
                curvatures[parent, r]
                + twists[j, 3 + c1] * own[c2]
                - twists[j, 3 + c2] * own[c1]
                + twists[j, c1] * own[3 + c2]
                - twists[j, c2] * own[3 + c1]
            )
            curvatures[j, 3 + r] = (
                curvatures[parent, 3 + r]
                + twists[j, 3 + c1] * own[3 + c2]
                - twists[j, 3 + c2] * own[3 + c1]
            )
