# SPDX-License-Identifier: Apache-2.0
"""The tree of joints as flat arrays that compiled kernels read: kinds of joints, topology, geometry and inertia."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array, Records
from humanoid_model.errors import RobotError

#: Coordinates are an angle; its cosine and sine; a length; an angle that a length follows; a quaternion x, y, z, w; a
#: point; a point and a quaternion; two lengths, cosine and sine; two angles. All but the second are the orders in which
#: Pinocchio has them, too.
REVOLUTE, UNBOUNDED, PRISMATIC, HELICAL, SPHERICAL, TRANSLATION, FREE_FLYER, PLANAR, UNIVERSAL = range(9)

_SEVERAL = {
    "Spherical": SPHERICAL,
    "Translation": TRANSLATION,
    "FreeFlyer": FREE_FLYER,
    "Planar": PLANAR,
    "Universal": UNIVERSAL,
}
_SLIDES = {PRISMATIC: 1, TRANSLATION: 3, FREE_FLYER: 3, PLANAR: 2}


class JointMotion(NamedTuple):
    """How a joint moves its body.

    Attributes:
        kind: one of this module's.
        axis: (3,) unit vector in the joint frame; of a universal joint the first one, in its fixed frame; zero for
            kinds without.
        second_axis: (3,) of a universal joint, in the joint frame; zero for others.
        pitch: slide for a unit of the coordinate: of a helical joint [m/rad], 1 of a prismatic one, 0 of others.
    """

    kind: int
    axis: Array
    second_axis: Array
    pitch: float


def joint_motion(model: pin.Model, j: int) -> JointMotion:
    """Read the kind and the axes of a model's joint.

    Raises:
        RobotError: a joint of another kind, as composite ones are.
    """
    joint, none = model.joints[j], np.zeros(3)
    name = joint.shortname().removeprefix("JointModel")
    if name == "Universal":
        concrete = joint.extract() if hasattr(joint, "extract") else joint
        return JointMotion(UNIVERSAL, np.array(concrete.axis1).ravel(), np.array(concrete.axis2).ravel(), 0.0)
    if name in _SEVERAL:
        return JointMotion(_SEVERAL[name], none, none, 0.0)
    if joint.nv == 1 and "Composite" not in name and "Mimic" not in name:
        data = joint.createData()
        joint.calc(data, pin.neutral(model))
        S = np.array(data.S).ravel()
        slide, turn = S[:3], S[3:]
        if not turn.any():
            return JointMotion(PRISMATIC, slide, none, 1.0)
        if joint.nq == 2:
            return JointMotion(UNBOUNDED, turn, none, 0.0)
        return JointMotion(HELICAL if slide.any() else REVOLUTE, turn, none, float(slide @ turn))
    raise RobotError(
        f"no joint of kind '{name}' can be moved here",
        element=f"joint '{model.names[j]}'",
        remedy="Use revolute, continuous, prismatic, helical, universal, spherical, planar, translational or "
        "free-flying joints",
    )


def slide_count(kind: int) -> int:
    """Return how many of a joint's velocity coordinates, the first ones, are of lengths; the others are of angles."""
    return _SLIDES.get(kind, 0)


#: A joint and the body that it moves: kind, parent; where its coordinates and its velocity coordinates begin, and how
#: many of the latter there are; the last velocity coordinate that moves the body, -1 for none; rotation (3, 3) and
#: translation (3,) [m] of its fixed frame in the parent; axes (3,) and pitch, see ``joint_kind.JointMotion``;
#: factor and offset of a joint of one coordinate that follows another one's: its own is ``factor * q + offset``; of
#: what it carries rigidly the mass [kg], centre of mass (3,) [m] and inertia about that (3, 3) [kg m^2], in its frame.
JOINT = np.dtype(
    [
        ("kind", np.int64),
        ("parent", np.int64),
        ("idx_q", np.int64),
        ("idx_v", np.int64),
        ("nv", np.int64),
        ("last_dof", np.int64),
        ("rotation", np.float64, (3, 3)),
        ("translation", np.float64, (3,)),
        ("axis", np.float64, (3,)),
        ("second_axis", np.float64, (3,)),
        ("pitch", np.float64),
        ("factor", np.float64),
        ("offset", np.float64),
        ("mass", np.float64),
        ("lever", np.float64, (3,)),
        ("inertia", np.float64, (3, 3)),
    ],
    align=True,
)


class KinematicTree(NamedTuple):
    """Joints in an order in which parents come first; index 0 is the world.

    Attributes:
        joints: (njoints,) records of :data:`JOINT`.
        dof_parent: (nv,) the velocity coordinate before each one on the way to the root, or -1.
        dof_joint: (nv,) joint of each velocity coordinate.
        dof_column: (nv,) column of Jacobians that each velocity coordinate adds to: its own, but for joints that follow
            others.
        trees: (njoints,) number of the tree that each joint belongs to; two joints that hang on the world separately
            are in two trees; -1 for the world.
        armature: (nv,) inertia of each coordinate's rotor as the joint feels it [kg m^2 or kg].
        gravity: (3,) acceleration [m/s^2].
    """

    joints: Records
    dof_parent: NDArray[np.int64]
    dof_joint: NDArray[np.int64]
    dof_column: NDArray[np.int64]
    trees: NDArray[np.int64]
    armature: Array
    gravity: Array

    @classmethod
    def from_pinocchio(cls, model: pin.Model) -> KinematicTree:
        """Read a Pinocchio model.

        Raises:
            RobotError: a joint of a kind that isn't known.
        """
        joints = np.zeros(model.njoints, JOINT)
        for j in range(1, model.njoints):
            joint, row, inertia = model.joints[j], joints[j], model.inertias[j]
            row["kind"], row["axis"], row["second_axis"], row["pitch"] = joint_motion(model, j)
            row["parent"], row["nv"] = model.parents[j], joint.nv
            row["idx_q"], row["idx_v"] = joint.idx_q, joint.idx_v
            placement = model.jointPlacements[j]
            row["rotation"], row["translation"] = placement.rotation, placement.translation
            row["mass"], row["lever"], row["inertia"] = inertia.mass, inertia.lever, inertia.inertia
        joints["factor"] = 1.0
        gravity = np.array(model.gravity.linear, dtype=float)
        return cls.of_joints(joints, np.arange(model.nv), np.array(model.armature, dtype=float), gravity)

    @classmethod
    def of_joints(
        cls, joints: Records, columns: NDArray[np.int64], armature: Array, gravity: Array
    ) -> KinematicTree:
        """Complete a tree by what follows from its joints, whose ``last_dof`` is written.

        Args:
            joints: (njoints,) records of :data:`JOINT`.
            columns: (nv,) ``dof_column``.
            armature: (nv,) of each velocity coordinate.
            gravity: (3,) acceleration [m/s^2].
        """
        dof_parent = np.full(len(columns), -1, dtype=np.int64)
        dof_joint = np.zeros(len(columns), dtype=np.int64)
        trees = np.full(len(joints), -1, dtype=np.int64)
        joints["last_dof"][:1] = -1
        for j in range(1, len(joints)):
            parent, first = int(joints["parent"][j]), int(joints["idx_v"][j])
            previous = int(joints["last_dof"][parent])
            for k in range(first, first + int(joints["nv"][j])):
                dof_parent[k], dof_joint[k] = previous, j
                previous = k
            joints["last_dof"][j] = previous
            trees[j] = trees[parent] if parent > 0 else trees.max() + 1
        return cls(joints, dof_parent, dof_joint, columns.astype(np.int64), trees, armature, gravity)

    def chain(self, body: int) -> list[int]:
        """Velocity coordinates that move a body, from the root to it."""
        chain = []
        k = int(self.joints["last_dof"][body])
        while k >= 0:
            chain.append(k)
            k = int(self.dof_parent[k])
        return chain[::-1]

    def is_length(self) -> NDArray[np.bool_]:
        """(nv,) whether a velocity coordinate is of a length; the others are of angles."""
        lengths = np.zeros(len(self.dof_joint), dtype=bool)
        for joint in self.joints[1:]:
            lengths[joint["idx_v"] : joint["idx_v"] + slide_count(int(joint["kind"]))] = True
        return lengths


class Placements(NamedTuple):
    """Where the bodies are in the world, and how each velocity coordinate moves what it carries.

    Attributes:
        rotations: (njoints, 3, 3) orientations of the joint frames; the world's own, index 0, is whoever's it is to
            choose, else the identity.
        origins: (njoints, 3) their origins [m].
        S: (nv, 6) motion of the joint's body for a unit of each velocity coordinate, as a spatial vector in the world
            frame at the world origin, linear part first (thesis equations 2.8 and 3.50).
    """

    rotations: Array
    origins: Array
    S: Array

    @classmethod
    def of_size(cls, njoints: int, nv: int) -> Placements:
        """Room for a tree of ``njoints`` joints and ``nv`` velocity coordinates, all at the world's origin."""
        return cls(np.tile(np.eye(3), (njoints, 1, 1)), np.zeros((njoints, 3)), np.zeros((nv, 6)))
