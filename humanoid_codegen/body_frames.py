# SPDX-License-Identifier: Apache-2.0
"""Body frames in which most of a robot's constants are zero.

A frame fixed to a body can be turned and moved as long as the joint's motion looks the same in it: a skew axis is
turned onto a coordinate axis, and the origin slides along the joint axis to where it has fewest coordinates in the
parent's frame. (The modified Denavit-Hartenberg frames of Khalil and Kleinfinger do the same with another choice of
axes.)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin


def choose_frames(model: pin.Model, directions: Sequence[np.ndarray]) -> list[pin.SE3]:
    """Return the placement of each body's new frame in its joint frame.

    Args:
        model: the robot.
        directions: axis of each joint in its frame, (3,) each; zero where the frame must stay as it is.
    """
    frames: list[pin.SE3] = []
    for i, direction in enumerate(directions):
        frame = pin.SE3.Identity()
        one_axis = model.joints[i + 1].nv == 1
        if one_axis:
            frame.rotation = _onto_coordinate_axis(direction)
            parent = int(model.parents[i + 1]) - 1
            parent_frame = pin.SE3.Identity() if parent < 0 else frames[parent]
            placement = parent_frame.actInv(model.jointPlacements[i + 1])
            frame.translation = direction * _slide(placement.translation, placement.rotation @ direction)
        frames.append(frame)
    return frames


def _onto_coordinate_axis(direction: np.ndarray) -> np.ndarray:
    """Rotation whose column along the largest component of a direction is that direction, (3, 3)."""
    axis = int(np.argmax(np.abs(direction)))
    target = np.zeros(3)
    target[axis] = np.sign(direction[axis])
    if np.abs(direction - target).max() < 1e-12:
        return np.eye(3)
    return np.asarray(pin.Quaternion.FromTwoVectors(target, direction).matrix())


def _slide(origin: np.ndarray, axis: np.ndarray) -> float:
    """Distance along an axis to the point with most zero coordinates, the nearest of such points [m].

    Args:
        origin: a point of the axis, (3,).
        axis: its unit direction, (3,).
    """
    candidates = [0.0] + [-origin[k] / axis[k] for k in range(3) if abs(axis[k]) > 1e-6]
    return min(candidates, key=lambda d: (np.count_nonzero(np.abs(origin + d * axis) > 1e-12), abs(d)))
