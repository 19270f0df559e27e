# SPDX-License-Identifier: Apache-2.0
"""Kinds of joints, and the one reader of what Pinocchio says about a joint."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
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
