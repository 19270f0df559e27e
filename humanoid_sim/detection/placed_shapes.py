# SPDX-License-Identifier: Apache-2.0
"""What kernels are told of joints and of the shapes on them, and where they write the shapes' places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class JointMotion(NamedTuple):
    """Where the joint frames are and how they move.

    Attributes:
        R: rotations to the world, shape (njoints, 3, 3).
        p: origins in the world [m], shape (njoints, 3).
        twists: world twists at the world origin, linear part first, shape (njoints, 6).
    """

    R: np.ndarray
    p: np.ndarray
    twists: np.ndarray


class AttachedShapes(NamedTuple):
    """Shapes on joints.

    Attributes:
        joint: joint that moves each shape, shape (n,).
        rotation: from the shape's frame to the joint frame, shape (n, 3, 3).
        origin: of the shape's frame in the joint frame [m], shape (n, 3).
    """

    joint: np.ndarray
    rotation: np.ndarray
    origin: np.ndarray


class PlacedShapes(NamedTuple):
    """Shapes in the world.

    Attributes:
        rotations: from the shapes' frames, shape (n, 3, 3).
        origins: of the shapes' frames [m], shape (n, 3).
        travels: how far each shape can move in two steps [m], shape (n,).
        boxes: around both: lower and upper corners along the world's axes [m], shape (n, 6).
    """

    rotations: np.ndarray
    origins: np.ndarray
    travels: np.ndarray
    boxes: np.ndarray

    @classmethod
    def of_size(cls, n: int) -> PlacedShapes:
        """Room for so many shapes."""
        return cls(np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(n), np.zeros((n, 6)))
