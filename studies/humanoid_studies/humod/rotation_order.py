# SPDX-License-Identifier: Apache-2.0
"""How the three angles of a joint group compose to a rotation: decided by the published joint positions.

HuMoD's library turns about moving axes, X then Y then Z; a public re-implementation multiplies the other way round
(specification 004 section 8.5), and so does the thesis' listing (defect D4). Only one of them puts the joints where the
data say they are.
"""

from __future__ import annotations

from enum import Enum

import numpy as np

from humanoid_model.description import RobotDescription
from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS
from humanoid_studies.humod.recording import KINDS, Recording


class RotationOrder(Enum):
    """Rotation of a link from its parent's rotation R and the group's angles."""

    MOVING_AXES = "R Rx Ry Rz"
    PARENT_AXES = "R Rz Ry Rx"
    WORLD_AXES = "Rz Ry Rx R"


def joint_positions(description: RobotDescription, q: np.ndarray, order: RotationOrder) -> np.ndarray:
    """Return places of the joints of ``POSITION_JOINTS`` under one reading of the angles.

    Args:
        description: a 3P33R robot without turned joint frames, as ``subject_urdf`` makes them.
        q: (N, 36) m and rad, columns as ``JOINTS``.
        order: the reading.

    Returns:
        (N, 13, 3) m, world axes.
    """
    rotation = {description.root: np.broadcast_to(np.eye(3), (len(q), 3, 3))}
    place = {description.root: np.zeros((len(q), 3))}
    found = {}
    waiting = list(description.joints.values())
    while waiting:
        joint = next(joint for joint in waiting if joint.parent in rotation)
        group = joint.name.rpartition("_")[0]
        chain = [joint]
        while chain[-1].child.endswith("_v"):
            chain.append(next(other for other in waiting if other.parent == chain[-1].child))
        for member in chain:
            waiting.remove(member)
        R, p = rotation[joint.parent], place[joint.parent]
        p = p + R @ joint.placement.translation
        turns = []
        for member in chain:
            value = q[:, JOINTS.index(member.name)]
            if member.type == "prismatic":
                p = p + np.outer(value, member.axis)
            else:
                turns.append(_rotation(member.axis, value))
        found[group] = p
        if order is not RotationOrder.MOVING_AXES:
            turns.reverse()
        product = turns[0]
        for turn in turns[1:]:
            product = product @ turn
        rotation[chain[-1].child] = product @ R if order is RotationOrder.WORLD_AXES else R @ product
        place[chain[-1].child] = p
    return np.stack([found[label] for label in POSITION_JOINTS], axis=1)


def rotation_order_errors(description: RobotDescription, recording: Recording) -> dict[RotationOrder, float]:
    """Root mean square distance, m, of the joints from the published ones under each reading, best first.

    The positions that HuMoD's own model gave (``smoothed``) are used where the file has them: they decide to the digit.
    """
    published = recording.positions[next(kind for kind in reversed(KINDS) if kind in recording.positions)]
    errors = {}
    for order in RotationOrder:
        difference = joint_positions(description, recording.q, order) - published
        errors[order] = float(np.sqrt((difference**2).sum(axis=2).mean()))
    return dict(sorted(errors.items(), key=lambda item: item[1]))


def _rotation(axis: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """Rodrigues' formula for one axis and many angles, (N, 3, 3)."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, c = np.sin(angle)[:, np.newaxis, np.newaxis], np.cos(angle)[:, np.newaxis, np.newaxis]
    return np.eye(3) + s * cross + (1 - c) * (cross @ cross)
