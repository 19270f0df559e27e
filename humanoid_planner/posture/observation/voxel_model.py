# SPDX-License-Identifier: Apache-2.0
"""What is known of an object after looking at it with a camera: voxels, carved by silhouettes and depths (F098)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import ArrayLike, NDArray

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


class VoxelState(IntEnum):
    """What is known of a voxel. Those that are EMPTY or SURFACE have been observed."""

    UNKNOWN = 0
    """Not observed yet: hidden behind a surface."""
    SURFACE = 1
    """A point of the object's surface was seen in it."""
    EMPTY = 2
    """Carved: seen through."""


class VoxelModel:
    """A block of voxels out of which views carve an object (space carving, thesis section 3.6.2.2).

    Attributes:
        origin: (3,) corner of the block with the smallest coordinates, world frame [m].
        voxel_size: edge length [m].
        states: (nx, ny, nz) of :class:`VoxelState`.
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike, voxel_size: float) -> None:
        """Make a block of unknown voxels that covers a box.

        Args:
            lower: (3,) the box's corner with the smallest coordinates, world frame [m].
            upper: (3,) the opposite corner.
            voxel_size: edge length [m].

        Raises:
            InputError: no box, or no positive size.
        """
        self.origin = np.array(lower, dtype=float)
        extent = np.asarray(upper, dtype=float) - self.origin
        if extent.shape != (3,) or not (np.isfinite(extent).all() and (extent > 0).all()):
            raise InputError(
                f"goes from {np.asarray(lower).tolist()} to {np.asarray(upper).tolist()}",
                element="voxel block",
                remedy="Give two corners, the second beyond the first along all three axes",
            )
        check_positive(voxel_size, "voxel_size", "length in metres")
        self.voxel_size = float(voxel_size)
        # A length that is a whole number of voxels must not gain one by rounding.
        shape = np.ceil(extent / voxel_size - 1e-9).astype(int)
        self.states = np.full(shape, VoxelState.UNKNOWN, dtype=np.int64)

    def carve(self, view: DepthView) -> int:
        """Return takes in what a view shows.

        An unknown voxel becomes empty when every pixel that it touches in the image is outside the silhouette or
        shows a surface behind it; so no voxel that holds a part of the object wider than a pixel goes. Voxels
        that reach out of the image, or behind the camera, are left alone. Then the voxels in which the surface was
        seen are marked.

        Args:
            view: camera, where it was, and what it saw.

        Returns:
            Number of voxels that were unknown and are known now.
        """
        unknown = self.count(VoxelState.UNKNOWN)
        placement = view.placement_world_camera
        _carve(
            self.states,
            self.origin,
            self.voxel_size,
            np.ascontiguousarray(placement.rotation),
            np.ascontiguousarray(placement.translation),
            view.camera.focal,
            np.ascontiguousarray(view.depth, dtype=np.float64),
        )
        points = self._surface_points(view)
        index = np.floor((points - self.origin) / self.voxel_size).astype(int)
        index = index[((index >= 0) & (index < self.states.shape)).all(axis=1)]
        self.states[tuple(index.T)] = VoxelState.SURFACE
        return unknown - self.count(VoxelState.UNKNOWN)

    def count(self, state: VoxelState) -> int:
        """Return the number of voxels in a state."""
        return int((self.states == state).sum())

    def centres(self, state: VoxelState) -> NDArray[np.float64]:
        """(k, 3) middles of the voxels in a state, world frame [m]."""
        return np.asarray(self.origin + (np.argwhere(self.states == state) + 0.5) * self.voxel_size)

    @property
    def bounding_ball(self) -> tuple[NDArray[np.float64], float]:
        """Centre (3,) and radius [m] of the ball around the block."""
        half = 0.5 * self.voxel_size * np.array(self.states.shape)
        return self.origin + half, float(np.linalg.norm(half))

    def _surface_points(self, view: DepthView) -> NDArray[np.float64]:
        """(k, 3) what the pixels in the silhouette show, world frame."""
        rays = view.camera.rays
        depth = view.depth.ravel()
        seen = np.isfinite(depth)
        local = rays[seen] * (depth[seen] / rays[seen, 2])[:, None]
        placement = view.placement_world_camera
        return np.asarray(local @ placement.rotation.T + placement.translation)


@njit(cache=True)
def _carve(
    states: np.ndarray,
    origin: np.ndarray,
    size: float,
    R: np.ndarray,
    t: np.ndarray,
    focal: float,
    depth: np.ndarray,
) -> None:
    """Empty the unknown voxels that a view sees through; arguments as in :meth:`VoxelModel.carve`."""
    height, width = depth.shape
    for i in range(states.shape[0]):
        for j in range(states.shape[1]):
            for k in range(states.shape[2]):
                if states[i, j, k] != 0:
                    continue
                low_u = low_v = 1e300
                high_u = high_v = far = -1e300
                in_front = True
                for corner in range(8):
                    x = origin[0] + (i + (corner & 1)) * size - t[0]
                    y = origin[1] + (j + ((corner >> 1) & 1)) * size - t[1]
                    z = origin[2] + (k + (corner >> 2)) * size - t[2]
                    along = R[0, 2] * x + R[1, 2] * y + R[2, 2] * z
                    if along <= 1e-6:
                        in_front = False
                        break
                    u = focal * (R[0, 0] * x + R[1, 0] * y + R[2, 0] * z) / along + 0.5 * width
                    v = focal * (R[0, 1] * x + R[1, 1] * y + R[2, 1] * z) / along + 0.5 * height
                    low_u, high_u = min(low_u, u), max(high_u, u)
                    low_v, high_v = min(low_v, v), max(high_v, v)
                    far = max(far, along)
                if not in_front or low_u < 0 or low_v < 0 or high_u > width or high_v > height:
                    continue
                # Pixel p covers [p, p + 1], its ray goes through p + 0.5: the rays around the voxel decide too.
                first_u, last_u = max(math.floor(low_u - 0.5), 0), min(math.ceil(high_u - 0.5), width - 1)
                first_v, last_v = max(math.floor(low_v - 0.5), 0), min(math.ceil(high_v - 0.5), height - 1)
                clear = True
                for row in range(first_v, last_v + 1):
                    for column in range(first_u, last_u + 1):
                        if depth[row, column] < far:
                            clear = False
                            break
                    if not clear:
                        break
                if clear:
                    states[i, j, k] = 2
