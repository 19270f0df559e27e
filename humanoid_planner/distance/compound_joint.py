# SPDX-License-Identifier: Apache-2.0
"""Compound joints: revolute joints in a row whose axes meet in a point, such as a shoulder or a hip."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.description import Joint, RobotDescription

_MEETING = 1e-6
"""Axes nearer to each other than this [m] meet."""
_MOST = 3
"""Joints of a compound joint: three concurrent axes already give every orientation."""


@dataclass(frozen=True)
class CompoundJoint:
    """Two or three revolute joints in a row with concurrent axes (specification 001 section 4.8).

    Attributes:
        joints: their names, from the root outwards.
        links: the link that carries the first one, and the links that each of them moves.
        lower: lowest positions, shape (k,) [rad].
        upper: highest positions.
    """

    joints: tuple[str, ...]
    links: tuple[str, ...]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @property
    def name(self) -> str:
        """The joints' names, joined."""
        return "+".join(self.joints)

    def placements(
        self, description: RobotDescription, q: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return placements of the links in the frame of the first one.

        Args:
            description: of the robot.
            q: positions of the joints, shape (n, k) [rad].

        Returns:
            Rotations (n, k + 1, 3, 3) and origins (n, k + 1, 3) [m].
        """
        rotations = np.broadcast_to(np.eye(3), (len(q), len(self.links), 3, 3)).copy()
        origins = np.zeros((len(q), len(self.links), 3))
        for index, name in enumerate(self.joints):
            joint = description.joints[name]
            across = pin.skew(joint.axis)
            sine, cosine = np.sin(q[:, index])[:, None, None], np.cos(q[:, index])[:, None, None]
            turned = np.eye(3) + sine * across + (1.0 - cosine) * (across @ across)
            before = rotations[:, index]
            rotations[:, index + 1] = before @ joint.placement.rotation @ turned
            origins[:, index + 1] = origins[:, index] + before @ joint.placement.translation
        return rotations, origins


def compound_joints(description: RobotDescription) -> list[CompoundJoint]:
    """Return the compound joints of a robot, in the order of its joints.

    Joints that follow others or have no limits don't belong to one; a row of more than three is cut after the third.

    Args:
        description: of the robot.
    """
    found, used = [], set()
    for first in description.joints.values():
        if first.name in used or not _fits(first):
            continue
        row = [first]
        while len(row) < _MOST:
            following = [joint for joint in description.child_joints[row[-1].child] if _fits(joint)]
            if len(following) != 1 or len(description.child_joints[row[-1].child]) != 1:
                break
            if not _meets([*row, following[0]]):
                break
            row.append(following[0])
        if len(row) > 1:
            used |= {joint.name for joint in row}
            limits = [joint.limit for joint in row if joint.limit is not None]
            found.append(
                CompoundJoint(
                    joints=tuple(joint.name for joint in row),
                    links=(row[0].parent, *(joint.child for joint in row)),
                    lower=np.array([limit.lower for limit in limits]),
                    upper=np.array([limit.upper for limit in limits]),
                )
            )
    return found


def _fits(joint: Joint) -> bool:
    limit = joint.limit
    return (
        joint.type == "revolute"
        and joint.mimic is None
        and limit is not None
        and bool(np.isfinite([limit.lower, limit.upper]).all())
        and limit.upper > limit.lower
    )


def _meets(row: Sequence[Joint]) -> bool:
    """Return whether the axes of joints in a row go through one point, and no two next to each other are parallel."""
    placement, rows, sides, axes = pin.SE3.Identity(), [], [], []
    for index, joint in enumerate(row):
        if index:
            placement = placement * joint.placement
        axis = placement.rotation @ joint.axis
        across = np.eye(3) - np.outer(axis, axis)  # distance of a point p to the axis: |across (p - origin)|
        rows.append(across)
        sides.append(across @ placement.translation)
        axes.append(axis)
    if any(np.linalg.norm(np.cross(one, other)) < 1e-6 for one, other in itertools.pairwise(axes)):
        return False
    A, b = np.vstack(rows), np.concatenate(sides)
    point = np.linalg.lstsq(A, b, rcond=None)[0]
    return bool(np.abs(A @ point - b).max() <= _MEETING)
