# SPDX-License-Identifier: Apache-2.0
"""Pictures of bodies from a camera."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from humanoid_model.camera import Camera
from humanoid_model.errors import InputError
from humanoid_model.scene import Light
from humanoid_sim.imaging.drawn_shapes import DrawnShapes
from humanoid_sim.imaging.rasteriser import find_nearest, place, shade

BACKGROUND = np.array([0.95, 0.96, 0.98])
"""Colour where there is nothing."""
SAMPLES = 2
"""Edges are smooth because each pixel of a picture is the mean of so many along its width and its height."""
LAYERS = 8
"""So many surfaces are looked through at most."""
SHADOW_SIZE = 1024
"""Resolution with which a shadow is found [px]."""
SUN = Light(np.array([0.40, -0.45, 0.80, 0.0]), np.full(4, 0.45), np.full(4, 0.6), np.full(4, 0.5))
"""What lights a scene without lights."""
_VIEW = np.diag([1.0, -1.0, -1.0])
"""From OpenGL's axes of a camera (x right, y up, z back) to the picture's (x right, y down, z forward)."""


def take_picture(
    shapes: DrawnShapes, R: np.ndarray, p: np.ndarray, camera: Camera, size: tuple[int, int],
    lights: Sequence[Light] = (), behind: np.ndarray = BACKGROUND,
) -> np.ndarray:  # fmt: skip
    """Return what a camera sees.

    Args:
        shapes: of the bodies.
        R: rotations of the bodies in the world, shape (b, 3, 3).
        p: their origins [m], shape (b, 3).
        camera: in the world.
        size: width and height of the picture [px].
        lights: OpenGL's, of which the first one casts shadows; a sun if there are none.
        behind: colour where nothing is, shape (3,) or (height, width, 3).

    Returns:
        Red, green and blue in 0..1, shape (height, width, 3).

    Raises:
        InputError: a size or field of view that no picture has.
    """
    _check(camera, size)
    width, height = SAMPLES * size[0], SAMPLES * size[1]
    view, focal = _view(camera), _focal(camera, height)
    corners, normals = _placed(shapes, view, R, p)
    positions = np.array([light.position for light in lights or (SUN,)], dtype=float)
    positions[:, :3] = positions[:, :3] @ view.rotation.T + positions[:, 3:] * view.translation
    shares = np.array([[light.ambient[:3], light.diffuse[:3], light.specular[:3]] for light in lights or (SUN,)])
    shadow = _shadow(shapes, corners, positions[0])
    colour, left = np.zeros((height, width, 3)), np.ones((height, width))
    depth, seen = np.empty((height, width)), np.empty((height, width), np.int32)
    beyond: np.ndarray = np.zeros((height, width))
    nothing = np.zeros(len(corners), bool)
    for _ in range(LAYERS):
        find_nearest(corners, focal, nothing, beyond, seen, depth)
        shade(
            seen, depth, focal, (corners, normals, shapes.colours), shapes.textures, (positions, shares), shadow,
            colour, left,
        )  # fmt: skip
        if not np.any((seen >= 0) & (left > 0.0)):
            break
        beyond = np.where(left > 0.0, depth, np.inf)
    return np.minimum(_mean(colour) + _mean(left)[..., None] * behind, 1.0)


def take_depth(
    shapes: DrawnShapes, R: np.ndarray, p: np.ndarray, camera: Camera, size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far away what a camera sees is; arguments and errors are those of :func:`take_picture`.

    Returns:
        Distance along the optical axis in the middle of each pixel, infinite where nothing is [m], and the number of
        the body that is seen, -1 where nothing is; shape (height, width) both.
    """
    _check(camera, size)
    width, height = size
    corners, _ = _placed(shapes, _view(camera), R, p)
    depth, seen = np.empty((height, width)), np.empty((height, width), np.int32)
    skip = np.zeros(len(corners), bool)
    find_nearest(corners, _focal(camera, height), skip, np.zeros((height, width)), seen, depth)
    return depth, np.where(seen >= 0, np.append(shapes.body, -1)[seen], -1)


def _mean(samples: np.ndarray) -> np.ndarray:
    """Return the means of all samples of each pixel."""
    parts = [samples[i::SAMPLES, j::SAMPLES] for i in range(SAMPLES) for j in range(SAMPLES)]
    return np.asarray(sum(parts)) / len(parts)


def _check(camera: Camera, size: tuple[int, int]) -> None:
    if len(size) != 2 or not all(isinstance(side, int | np.integer) and side > 0 for side in size):
        raise InputError(f"size is {size}", element="size", remedy="Give width and height as whole numbers, 1 or more")
    if not 0.0 < camera.field_of_view < np.pi:
        raise InputError(
            f"field_of_view is {camera.field_of_view:g}",
            element="camera",
            remedy="Give an angle between 0 and pi [rad]",
        )


def _view(camera: Camera) -> pin.SE3:
    """Return the placement of the world in the picture's axes."""
    return pin.SE3(_VIEW, np.zeros(3)) * camera.placement.inverse()


def _focal(camera: Camera, height: int) -> float:
    return float(0.5 * height / np.tan(0.5 * camera.field_of_view))


def _placed(shapes: DrawnShapes, view: pin.SE3, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return corners and normals in the picture's axes."""
    R, p = np.ascontiguousarray(view.rotation @ R), p @ view.rotation.T + view.translation
    corners, normals = np.empty_like(shapes.corners), np.empty_like(shapes.normals)
    place(R, p, shapes.body, shapes.corners, corners)
    place(R, np.zeros_like(p), shapes.body, shapes.normals, normals)
    return corners, normals


def _shadow(
    shapes: DrawnShapes, corners: np.ndarray, position: np.ndarray
) -> tuple[np.ndarray, float, np.ndarray]:
    """Return what a light sees, at or towards a position (4,): see :func:`~humanoid_sim.imaging.rasteriser.shade`."""
    none = np.zeros((3, 4)), 1.0, np.zeros((0, 0))
    clear = shapes.ground | (shapes.colours[:, 3] < 1.0)
    casting = corners[~clear].reshape(-1, 3)
    if len(casting) == 0:
        return none
    low, high = casting.min(axis=0), casting.max(axis=0)
    centre, radius = 0.5 * (low + high), max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    away = position[:3] - position[3] * centre  # from an endlessly far light through a lens from far away
    away = away * (100.0 * radius / np.linalg.norm(away)) if position[3] == 0.0 else away / position[3]
    distance = float(np.linalg.norm(away))
    if distance <= radius:  # amidst what casts: all around it
        return none
    light = _view(Camera.looking_at(centre + away, centre))
    lit = corners @ light.rotation.T + light.translation
    seen, depth = np.empty((SHADOW_SIZE, SHADOW_SIZE), np.int32), np.empty((SHADOW_SIZE, SHADOW_SIZE))
    focal = 0.5 * SHADOW_SIZE * np.sqrt((distance / radius) ** 2 - 1.0)
    find_nearest(lit, focal, clear, np.zeros_like(depth), seen, depth)
    return np.column_stack([light.rotation, light.translation]), focal, depth
