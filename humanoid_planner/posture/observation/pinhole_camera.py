# SPDX-License-Identifier: Apache-2.0
"""A camera without distortion, and what it saw."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model.checks import check_positive
from humanoid_model.errors import InputError


@dataclass(frozen=True)
class PinholeCamera:
    """A camera in its optical frame: z along the view, x to the right of the image, y down.

    Attributes:
        width: of the image, pixels.
        height: likewise.
        focal: focal length, pixels; pixels are square, the optical axis goes through the image's middle.

    Raises:
        InputError: no pixels, or a focal length that isn't positive.
    """

    width: int
    height: int
    focal: float

    def __post_init__(self) -> None:
        for field in ("width", "height"):
            if getattr(self, field) < 1:
                raise InputError(f"is {getattr(self, field)}", element=f"camera {field}", remedy="Give at least 1")
        check_positive(self.focal, "camera focal", "number of pixels")

    @classmethod
    def with_field_of_view(cls, width: int, height: int, angle: float) -> PinholeCamera:
        """Return a camera whose image spans an angle [rad] from left to right.

        Raises:
            InputError: an angle that isn't between 0 and pi.
        """
        if not 0 < angle < math.pi:
            raise InputError(f"is {angle}", element="field of view", remedy="Give an angle between 0 and pi, in rad")
        return cls(width, height, width / (2 * math.tan(angle / 2)))

    @property
    def rays(self) -> NDArray[np.float64]:
        """(height * width, 3) unit vectors through the pixels' middles, row by row, in the optical frame."""
        u, v = np.meshgrid(np.arange(self.width), np.arange(self.height))
        x, y = u + 0.5 - self.width / 2, v + 0.5 - self.height / 2
        rays = np.stack([x, y, np.full(x.shape, self.focal)], axis=-1).reshape(-1, 3)
        return np.asarray(rays / np.linalg.norm(rays, axis=1)[:, None])


@dataclass(frozen=True, eq=False)
class DepthView:
    """What a stereoscopic camera saw from one place: silhouette and surface of the object (thesis section 3.6.2.2).

    Attributes:
        camera: that looked.
        placement_world_camera: of its optical frame.
        depth: (height, width) depth of the seen surface along the optical axis [m]; infinite outside the silhouette.

    Raises:
        InputError: the image hasn't the camera's size, or holds depths that aren't positive.
    """

    camera: PinholeCamera
    placement_world_camera: pin.SE3
    depth: NDArray[np.float64]

    def __post_init__(self) -> None:
        shape = (self.camera.height, self.camera.width)
        if self.depth.shape != shape:
            raise InputError(
                f"has shape {self.depth.shape}",
                element="depth image",
                remedy=f"Give the camera's rows and columns {shape}",
            )
        if not (self.depth > 0).all():
            raise InputError(
                f"holds {float(np.min(self.depth))}",
                element="depth image",
                remedy="Give positive depths, and infinity outside the silhouette",
            )


def look_at(eye: NDArray[np.float64], target: NDArray[np.float64]) -> pin.SE3:
    """World placement of the optical frame of a camera that looks from a place to another, the image upright.

    Raises:
        InputError: both are the same place, or one is right above the other.
    """
    forward = np.asarray(target, dtype=float) - np.asarray(eye, dtype=float)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    if np.linalg.norm(right) < 1e-9:
        raise InputError(
            f"looks along {forward.tolist()}", element="camera", remedy="Look at another place, not straight up or down"
        )
    forward /= np.linalg.norm(forward)
    right /= np.linalg.norm(right)
    return pin.SE3(np.column_stack([right, np.cross(forward, right), forward]), np.array(eye, dtype=float))
