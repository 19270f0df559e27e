# SPDX-License-Identifier: Apache-2.0
"""A Pinocchio model as flat arrays that compiled kernels read, and room for where its bodies are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.arrays import Array, Records
from humanoid_model.errors import RobotError

#: Kinds of joints: angle, cosine and sine of an angle, length, length with an angle, ball, floating, in a plane.
REVOLUTE, UNBOUNDED, PRISMATIC, HELICAL, BALL, FREE, PLANAR, TRANSLATION = range(8)
_COLUMNS = {REVOLUTE: 1, UNBOUNDED: 1, PRISMATIC: 1, HELICAL: 1, BALL: 3, FREE: 6, PLANAR: 3, TRANSLATION: 3}

#: A joint and the body that it moves: kind, parent body, rotation (3, 3) and translation (3,) [m] of its fixed frame in
#: the parent, axis (3,) in that frame, pitch [m/rad] of a screw, where its positions and velocities begin, mass [kg]
#: and centre of mass (3,) [m] of the body, where the velocities that move it are in ``Tree.chains``. 0 is the world.
JOINT = np.dtype(
    [
        ("kind", np.int64),
        ("parent", np.int64),
        ("rotation", np.float64, (3, 3)),
        ("translation", np.float64, (3,)),
        ("axis", np.float64, (3,)),
        ("pitch", np.float64),
        ("idx_q", np.int64),
        ("idx_v", np.int64),
        ("mass", np.float64),
        ("com", np.float64, (3,)),
        ("chain_begin", np.int64),
        ("chain_end", np.int64),
    ],
    align=True,
)


class Tree(NamedTuple):
    """Joints, and the velocities that move each body.

    Attributes:
        joints: (nb,) records of JOINT, in the model's order.
        chains: velocities from the root to a body, body after body, shape (any,).
    """

    joints: Records
    chains: NDArray[np.int64]


class Placed(NamedTuple):
    """Where the bodies are in the world, and the line that each velocity turns about or slides along.

    Attributes:
        rotations: (nb, 3, 3) orientations.
        origins: (nb, 3) [m].
        turning: (nv, 3) unit axis of the turn; zero for a slide.
        sliding: (nv, 3) velocity of the axis' point for a unit of velocity; zero for a turn.
        points: (nv, 3) a point on the axis [m].
    """

    rotations: Array
    origins: Array
    turning: Array
    sliding: Array
    points: Array


def tree_of(model: pin.Model) -> Tree:
    """Flatten a model.

    Args:
        model: Pinocchio's, of revolute, prismatic, helical, ball, planar, translation and floating joints.

    Raises:
        RobotError: a joint of another kind.
    """
    joints = np.zeros(model.njoints, JOINT)
    chains: list[int] = []
    chain_of: list[list[int]] = [[]]
    for i in range(1, model.njoints):
        joint, row = model.joints[i], joints[i]
        row["kind"], row["axis"], row["pitch"] = _kind(model, i)
        row["parent"], row["idx_q"], row["idx_v"] = model.parents[i], joint.idx_q, joint.idx_v
        row["rotation"], row["translation"] = model.jointPlacements[i].rotation, model.jointPlacements[i].translation
        row["mass"], row["com"] = model.inertias[i].mass, model.inertias[i].lever
        chain = chain_of[model.parents[i]] + list(range(joint.idx_v, joint.idx_v + joint.nv))
        chain_of.append(chain)
        row["chain_begin"], row["chain_end"] = len(chains), len(chains) + len(chain)
        chains += chain
    return Tree(joints, np.array(chains, np.int64))


def room_for(tree: Tree) -> Placed:
    """Allocate placements; the world is at the origin."""
    nb = len(tree.joints)
    nv = 1 + int(tree.chains.max()) if len(tree.chains) else 0
    rotations = np.tile(np.eye(3), (nb, 1, 1))
    return Placed(rotations, np.zeros((nb, 3)), np.zeros((nv, 3)), np.zeros((nv, 3)), np.zeros((nv, 3)))


def _kind(model: pin.Model, i: int) -> tuple[int, Array, float]:
    joint = model.joints[i]
    name = joint.shortname()
    data = joint.createData()
    several = {
        "JointModelSpherical": BALL,
        "JointModelFreeFlyer": FREE,
        "JointModelPlanar": PLANAR,
        "JointModelTranslation": TRANSLATION,
    }
    if name in several:
        return several[name], np.zeros(3), 0.0
    if joint.nv == 1 and "Composite" not in name and "Mimic" not in name:
        q = pin.neutral(model)
        joint.calc(data, q)
        S = np.asarray(data.S).ravel()
        slide, turn = S[:3], S[3:]
        if not turn.any():
            return PRISMATIC, slide, 0.0
        if joint.nq == 2:
            return UNBOUNDED, turn, 0.0
        return (HELICAL if slide.any() else REVOLUTE), turn, float(slide @ turn)
    raise RobotError(
        f"kind {name} isn't one that the kinematics move", element=f"joint '{model.names[i]}'",
        remedy="Revolute, prismatic, helical, ball, planar, translation and floating joints are",
    )  # fmt: skip


def is_length(tree: Tree) -> NDArray[np.bool_]:
    """(nv,) whether a velocity is of a length; the others are of angles."""
    lengths = []
    for row in tree.joints[1:]:
        kind = int(row["kind"])
        count = _COLUMNS[kind]
        slides = {PRISMATIC: 1, FREE: 3, PLANAR: 2, TRANSLATION: 3}.get(kind, 0)
        lengths += [True] * slides + [False] * (count - slides)
    return np.array(lengths, bool)
