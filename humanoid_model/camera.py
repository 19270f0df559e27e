# SPDX-License-Identifier: Apache-2.0
"""Where a picture is taken from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.value_equality import ValueEquality

FIELD_OF_VIEW = 0.62
"""Vertical angle of a picture whose camera names none [rad]."""
DIRECTION = np.array([0.83, -0.50, 0.24])
"""From what is looked at towards the camera: from the front, its right, a little above."""
MARGIN = 1.36
"""Height of the picture over the height of what is looked at."""


@dataclass(frozen=True, eq=False)
class Camera(ValueEquality):
    """A pinhole camera.

    Attributes:
        placement: in the world, or in the frame of what carries it; it looks along its -z axis, y up (OpenGL).
        field_of_view: vertical angle of the picture [rad].
    """

    placement: pin.SE3
    field_of_view: float = FIELD_OF_VIEW

    @classmethod
    def looking_at(cls, eye: ArrayLike, target: ArrayLike, field_of_view: float = FIELD_OF_VIEW) -> Camera:
        """Return an upright camera at ``eye`` with ``target`` in the middle of its picture, both (3,) [m]."""
        eye = np.array(eye, dtype=float)
        back = eye - np.asarray(target, dtype=float)
        back /= np.linalg.norm(back)
        up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
        right = np.cross(up, back)
        right /= np.linalg.norm(right)
        return cls(pin.SE3(np.column_stack([right, np.cross(back, right), back]), eye), field_of_view)

    @classmethod
    def framing(cls, centre: np.ndarray, height: float) -> Camera:
        """Return a camera that sees the whole of something.

        Args:
            centre: (3,) middle of it [m].
            height: its largest size [m].
        """
        distance = 0.5 * MARGIN * height / np.tan(0.5 * FIELD_OF_VIEW)
        return cls.looking_at(centre + distance * DIRECTION / np.linalg.norm(DIRECTION), centre)
