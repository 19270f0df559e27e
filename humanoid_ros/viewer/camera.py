# SPDX-License-Identifier: Apache-2.0
"""Where the view is seen from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from humanoid_model.camera import FIELD_OF_VIEW
from humanoid_model.camera import Camera as SceneCamera

EYES = 1.0 / 30.0
"""Distance of the eyes over that of what is looked at, which photographers take for comfortable."""
UPRIGHT = 1e-6
"""A camera whose right is level up to this stands upright [-]."""


@dataclass(frozen=True)
class Camera:
    """A camera.

    Attributes:
        position: (3,) world frame [m].
        look_at: (3,) point in the middle of the picture [m].
        field_of_view: Vertical angle of the picture [rad].
        up: (3,) What is up in the picture, and what the view is turned about; the world's z axis for an upright one.
    """

    position: np.ndarray
    look_at: np.ndarray
    field_of_view: float = FIELD_OF_VIEW
    up: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    @classmethod
    def framing(cls, centre: np.ndarray, height: float) -> Camera:
        """Return a camera that sees the whole of something.

        Args:
            centre: (3,) middle of it [m].
            height: Its largest size [m].
        """
        return cls(np.array(SceneCamera.framing(centre, height).placement.translation), np.array(centre))

    @classmethod
    def placed(cls, placement: pin.SE3, centre: np.ndarray) -> Camera:
        """Return a camera at a place, which turns about the point of its view that is next to something.

        Args:
            placement: Of the camera in the world, looking along its -z, y up.
            centre: (3,) middle of what it looks at [m].
        """
        right, up, back = np.array(placement.rotation).T
        position = np.array(placement.translation)
        depth = float((position - centre) @ back)
        level = abs(right[2]) < UPRIGHT and up[2] > UPRIGHT
        return cls(
            position,
            position - (depth if depth > 0.1 else 1.0) * back,
            up=np.array([0.0, 0.0, 1.0]) if level else up,
        )

    @property
    def right_eye(self) -> Camera:
        """The camera of the right eye, if this is the left: beside it, looking in parallel."""
        forward = self.look_at - self.position
        right = np.cross(forward, self.up)
        shift = EYES * np.linalg.norm(forward) * right / np.linalg.norm(right)
        return Camera(self.position + shift, self.look_at + shift, self.field_of_view, self.up)

    @property
    def scene_camera(self) -> SceneCamera:
        """The same camera as a scene has it."""
        back = self.position - self.look_at
        back = back / np.linalg.norm(back)
        right = np.cross(self.up, back)
        right /= np.linalg.norm(right)
        placement = pin.SE3(np.column_stack([right, np.cross(back, right), back]), self.position)
        return SceneCamera(placement, self.field_of_view)

    def project(self, points: np.ndarray, width: int, height: int) -> np.ndarray:
        """Return pixels of points.

        Args:
            points: (..., 3) world frame [m].
            width: Of the picture [px].
            height: Of the picture [px].

        Returns:
            (..., 3) column, row and depth [m]; a depth of zero or less lies behind the camera.
        """
        axes = self.scene_camera.placement.rotation.T * np.array([[1.0], [-1.0], [-1.0]])
        local = (points - self.position) @ axes.T
        depth = local[..., 2:]
        focal = 0.5 * height / np.tan(0.5 * self.field_of_view)
        with np.errstate(divide="ignore", invalid="ignore"):
            pixels = focal * local[..., :2] / depth + 0.5 * np.array([width, height])
        return np.concatenate([pixels, depth], axis=-1)
