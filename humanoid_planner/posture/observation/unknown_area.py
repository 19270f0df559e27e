# SPDX-License-Identifier: Apache-2.0
"""How much of an image is taken by voxels that haven't been observed, occlusion considered (thesis section 3.6.2.2)."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import NDArray

from humanoid_planner.posture.observation.voxel_model import PinholeCamera, VoxelModel, VoxelState

#: Optical depth of one voxel in the smooth area: what is behind it is seen through it by exp(-8).
_OPACITY = 8.0
#: Samples on a ray per voxel size.
_SAMPLES = 3
#: A ray ends where less than this of it goes on.
_FAINTEST = 1e-9


def unknown_area(model: VoxelModel, camera: PinholeCamera, placement_world_camera: pin.SE3) -> float:
    """Share of the image in which an unknown voxel is the first that a ray meets; empty ones are seen through.

    This is the measure itself, a step function of the camera's place: what :class:`SmoothUnknownArea` is held
    against, and what tells in the end whether a view is better than another.
    """
    R, t = placement_world_camera.rotation, placement_world_camera.translation
    count = _cast_rays(model.states, model.origin, model.voxel_size, np.ascontiguousarray(R), t.copy(), camera.rays)
    return count / (camera.width * camera.height)


class SmoothUnknownArea:
    r"""The same share as a continuously differentiable function of the camera's place, with its gradient.

    Voxels become clouds: the indicator :math:`u` of the unknown voxels and :math:`s` of the surface's are smoothed
    by quadratic B-splines, and a ray that has an opacity :math:`\kappa(u + s)` per length sees the unknown by

    .. math:: \int \kappa u(l)\,\exp\Big(-\int_0^l\kappa(u + s)\Big)\,dl,

    which tends to 1 where the first voxel that isn't empty is unknown and to 0 where it is surface, as the opacity
    grows and the voxels shrink. The integral is summed at fixed distances from the camera; B-splines, sums and
    exponentials have continuous derivatives, so has the result. Its gradient is computed with it,
    by going back along each ray: an optimiser needs no finite differences, but they agree
    with it at steps much smaller than a voxel.

    Attributes:
        camera: rows and columns may be few: neighbouring rays should be no farther apart than voxels are.
    """

    def __init__(self, model: VoxelModel, camera: PinholeCamera) -> None:
        """Take what is known now; later changes of ``model`` don't count."""
        self.camera = camera
        self._origin, self._size = model.origin.copy(), model.voxel_size
        self._unknown = (model.states == VoxelState.UNKNOWN).astype(np.float64)
        self._surface = (model.states == VoxelState.SURFACE).astype(np.float64)
        self._rays = camera.rays
        longest = float(np.linalg.norm(np.array(model.states.shape) + 2.0))
        self._most = math.ceil(longest * _SAMPLES) + 2

    def evaluate(self, placement_world_camera: pin.SE3) -> tuple[float, NDArray[np.float64]]:
        """Area and gradient at a place of the optical frame.

        Returns:
            Share of the image, and (4, 3) its derivatives by the frame's three axes and by its origin, as the
            pre-gradients (3.24), (3.25) give the derivatives of those by the robot's variables.
        """
        gradient = np.zeros((4, 3))
        area = _smooth_area(
            self._unknown,
            self._surface,
            self._origin,
            self._size,
            np.ascontiguousarray(placement_world_camera.rotation),
            placement_world_camera.translation.copy(),
            self._rays,
            self._most,
            gradient,
        )
        return area, gradient


@njit(cache=True)
def _clip_ray(low: np.ndarray, high: np.ndarray, t: np.ndarray, dx: float, dy: float, dz: float) -> tuple[float, float]:
    """Return where a ray from ``t`` enters and leaves a box; entry beyond exit when it misses."""
    first, last = 0.0, 1e300
    for axis in range(3):
        d = dx if axis == 0 else (dy if axis == 1 else dz)
        if abs(d) < 1e-300:
            if t[axis] < low[axis] or t[axis] > high[axis]:
                return 1.0, 0.0
            continue
        a, b = (low[axis] - t[axis]) / d, (high[axis] - t[axis]) / d
        first, last = max(first, min(a, b)), min(last, max(a, b))
    return first, last


@njit(cache=True)
def _cast_rays(
    states: np.ndarray, origin: np.ndarray, size: float, R: np.ndarray, t: np.ndarray, rays: np.ndarray
) -> int:
    """Return the number of rays that meet an unknown voxel first (traversal after Amanatides and Woo 1987)."""
    shape = np.array(states.shape)
    high = origin + size * shape
    step = np.empty(3, dtype=np.int64)
    cell = np.empty(3, dtype=np.int64)
    crossing = np.empty(3)
    between = np.empty(3)
    count = 0
    for ray in range(len(rays)):
        d = R @ rays[ray]
        first, last = _clip_ray(origin, high, t, d[0], d[1], d[2])
        if first > last:
            continue
        for axis in range(3):
            inside = (t[axis] + first * d[axis] - origin[axis]) / size
            cell[axis] = min(max(math.floor(inside), 0), shape[axis] - 1)
            if abs(d[axis]) < 1e-300:
                step[axis], crossing[axis], between[axis] = 0, 1e300, 1e300
                continue
            step[axis] = 1 if d[axis] > 0 else -1
            border = origin[axis] + size * (cell[axis] + (1 if d[axis] > 0 else 0))
            crossing[axis] = (border - t[axis]) / d[axis]
            between[axis] = size / abs(d[axis])
        while True:
            state = states[cell[0], cell[1], cell[2]]
            if state != 2:
                count += state == 0
                break
            axis = 0
            if crossing[1] < crossing[axis]:
                axis = 1
            if crossing[2] < crossing[axis]:
                axis = 2
            cell[axis] += step[axis]
            crossing[axis] += between[axis]
            if cell[axis] < 0 or cell[axis] >= shape[axis]:
                break
    return count


@njit(cache=True)
def _spline(s: float, w: np.ndarray, d: np.ndarray) -> int:
    """Quadratic B-spline at ``s``: weights ``w`` (3,) of the nearest three nodes, slopes ``d``; the middle node."""
    middle = math.floor(s + 0.5)
    f = s - middle
    w[0], w[1], w[2] = 0.5 * (0.5 - f) ** 2, 0.75 - f * f, 0.5 * (0.5 + f) ** 2
    d[0], d[1], d[2] = f - 0.5, -2 * f, f + 0.5
    return middle


@njit(cache=True)
def _smooth_area(
    unknown: np.ndarray,
    surface: np.ndarray,
    origin: np.ndarray,
    size: float,
    R: np.ndarray,
    t: np.ndarray,
    rays: np.ndarray,
    most: int,
    gradient: np.ndarray,
) -> float:
    """Smooth area; arguments as in :meth:`SmoothUnknownArea.evaluate`, ``most`` samples on a ray at most."""
    nx, ny, nz = unknown.shape
    spacing = size / _SAMPLES
    low = origin - size
    high = origin + size * (np.array(unknown.shape) + 1.0)
    u, s = np.empty(most), np.empty(most)
    du, ds = np.empty((most, 3)), np.empty((most, 3))
    seen, through, distance = np.empty(most), np.empty(most), np.empty(most)
    w, d = np.empty((3, 3)), np.empty((3, 3))
    opacity = _OPACITY / _SAMPLES  # optical depth of a sample where the density is one
    total = 0.0
    for ray in range(len(rays)):
        direction = R @ rays[ray]
        first, last = _clip_ray(low, high, t, direction[0], direction[1], direction[2])
        if first > last:
            continue
        count = 0
        left = 1.0  # of the ray, before the sample
        for sample in range(math.ceil(first / spacing - 0.5), math.floor(last / spacing - 0.5) + 1):
            along = (sample + 0.5) * spacing
            middle_x = _spline((t[0] + along * direction[0] - origin[0]) / size - 0.5, w[0], d[0])
            middle_y = _spline((t[1] + along * direction[1] - origin[1]) / size - 0.5, w[1], d[1])
            middle_z = _spline((t[2] + along * direction[2] - origin[2]) / size - 0.5, w[2], d[2])
            here_u = here_s = 0.0
            ux = uy = uz = sx = sy = sz = 0.0
            for a in range(max(0, 1 - middle_x), min(3, nx + 1 - middle_x)):
                for b in range(max(0, 1 - middle_y), min(3, ny + 1 - middle_y)):
                    for c in range(max(0, 1 - middle_z), min(3, nz + 1 - middle_z)):
                        i, j, k = middle_x + a - 1, middle_y + b - 1, middle_z + c - 1
                        is_unknown, is_surface = unknown[i, j, k], surface[i, j, k]
                        if is_unknown == 0.0 and is_surface == 0.0:
                            continue
                        value = w[0, a] * w[1, b] * w[2, c]
                        x, y, z = d[0, a] * w[1, b] * w[2, c], w[0, a] * d[1, b] * w[2, c], w[0, a] * w[1, b] * d[2, c]
                        here_u += is_unknown * value
                        here_s += is_surface * value
                        ux, uy, uz = ux + is_unknown * x, uy + is_unknown * y, uz + is_unknown * z
                        sx, sy, sz = sx + is_surface * x, sy + is_surface * y, sz + is_surface * z
            density = here_u + here_s
            if density == 0.0:
                continue
            u[count], s[count], distance[count] = here_u, here_s, along
            du[count, 0], du[count, 1], du[count, 2] = ux / size, uy / size, uz / size
            ds[count, 0], ds[count, 1], ds[count, 2] = sx / size, sy / size, sz / size
            absorbed = -math.expm1(-opacity * density)
            through[count] = left
            seen[count] = left * absorbed * here_u / density
            total += seen[count]
            left *= 1.0 - absorbed
            count += 1
            if left < _FAINTEST:
                break
        behind = 0.0  # what is seen after the sample
        for sample in range(count - 1, -1, -1):
            density = u[sample] + s[sample]
            absorbed = -math.expm1(-opacity * density)
            # Both densities shade what is behind; the share u / density of what is absorbed here is seen.
            share = absorbed / density
            by_density = through[sample] * u[sample] * (opacity * (1.0 - absorbed) - share) / density
            by_surface = by_density - opacity * behind
            by_unknown = by_surface + through[sample] * share
            behind += seen[sample]
            for axis in range(3):
                g = by_unknown * du[sample, axis] + by_surface * ds[sample, axis]
                for column in range(3):
                    gradient[column, axis] += distance[sample] * rays[ray, column] * g
                gradient[3, axis] += g
    gradient /= len(rays)
    return total / len(rays)
