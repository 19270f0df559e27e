# SPDX-License-Identifier: Apache-2.0
"""Pictures of bodies from a camera: everything of them that is drawn, as arrays of triangles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numba import njit

from humanoid_model.description import HalfSpace, HeightField, Shape
from humanoid_model.errors import InputError
from humanoid_model.scene import Light
from humanoid_model.sensor import Camera
from humanoid_model.shape_triangles import Triangles, textured_mesh, triangles
from humanoid_sim.imaging.rasteriser import find_nearest, place, shade

CREASE = np.cos(np.radians(30.0))
"""Cosine of the angle between two triangles up to which they are drawn as one round surface."""


@dataclass(frozen=True, eq=False)
class DrawnShapes:
    """Triangles in the frames of their bodies.

    Attributes:
        corners: counter-clockwise from outside [m], shape (t, 3, 3).
        normals: at the corners, of unit length, shape (t, 3, 3).
        colours: red, green, blue, opacity in 0..1, shape (t, 4).
        body: number of the body, shape (t,).
        ground: whether it is of a ground without end or a height field, shape (t,).
        textures: see :func:`~humanoid_sim.imaging.rasteriser.shade`.
    """

    corners: np.ndarray
    normals: np.ndarray
    colours: np.ndarray
    body: np.ndarray
    ground: np.ndarray
    textures: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

    @classmethod
    def of(cls, shapes: Iterable[tuple[int, Shape | Triangles, pin.SE3, np.ndarray]]) -> DrawnShapes:
        """Gather shapes.

        Args:
            shapes: number of the body, shape, its placement in the body's frame, its colour (4,).

        Raises:
            InputError: a mesh can't be read.
        """
        corners, normals, colours = [np.zeros((0, 3, 3))], [np.zeros((0, 3, 3))], [np.zeros((0, 4))]
        body, ground, texture = [np.zeros(0, np.int64)], [np.zeros(0, bool)], [np.zeros(0, np.int64)]
        coordinates: list[np.ndarray] = [np.zeros((0, 3, 2))]
        pixels: list[np.ndarray] = [np.zeros((0, 3))]
        sizes: list[np.ndarray] = [np.zeros((0, 3), np.int64)]
        for number, shape, placement, colour in shapes:
            image: Any = textured_mesh(shape)
            mesh = triangles(shape) if image is None else Triangles(np.asarray(image.vertices), np.asarray(image.faces))
            vertices = np.asarray(mesh.vertices, dtype=float) @ placement.rotation.T + placement.translation
            faces = np.ascontiguousarray(mesh.faces, dtype=np.int64)
            if isinstance(shape, Triangles):  # seen from both sides, as on the page
                faces = np.concatenate([faces, faces[:, ::-1]])
            corners.append(vertices[faces])
            _, same = np.unique(np.round(vertices, 6), axis=0, return_inverse=True)  # of files that repeat them
            normals.append(_corner_normals(corners[-1], same.reshape(-1)[faces]))
            colours.append(np.tile(colour, (len(faces), 1)))
            body.append(np.full(len(faces), number))
            ground.append(np.full(len(faces), isinstance(shape, HalfSpace | HeightField)))
            texture.append(np.full(len(faces), -1 if image is None else len(sizes) - 1))
            coordinates.append(np.zeros((len(faces), 3, 2)) if image is None else np.asarray(image.visual.uv)[faces])
            if image is not None:
                material = image.visual.material
                own = np.asarray((getattr(material, "image", None) or material.baseColorTexture).convert("RGB")) / 255.0
                sizes.append(np.array([[sum(len(part) for part in pixels), own.shape[1], own.shape[0]]]))
                pixels.append(own.reshape(-1, 3))
        return cls(
            np.concatenate(corners), np.concatenate(normals), np.concatenate(colours).astype(float),
            np.concatenate(body), np.concatenate(ground),
            (
                np.concatenate(texture), np.concatenate(coordinates), np.concatenate(pixels),
                np.concatenate(sizes),
            ),
        )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _corner_normals(corners: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Return normals at the corners: the mean, by their angles there, of the triangles that turn by less than a crease.

    Args:
        corners: shape (t, 3, 3).
        vertices: number of the point at each corner, shape (t, 3).
    """
    count = len(corners)
    angles, flat = np.empty((count, 3)), np.empty((count, 3))
    for t in range(count):
        for k in range(3):
            a, b = corners[t, (k + 1) % 3] - corners[t, k], corners[t, (k + 2) % 3] - corners[t, k]
            across = np.cross(a, b)
            area = np.sqrt((across**2).sum())
            angles[t, k] = np.arctan2(area, (a * b).sum())
            flat[t] = across / max(area, 1e-300)
    order = np.argsort(vertices.reshape(-1))
    sorted_vertices = vertices.reshape(-1)[order]
    normals = np.zeros((count, 3, 3))
    begin = 0
    while begin < len(order):
        end = begin
        while end < len(order) and sorted_vertices[end] == sorted_vertices[begin]:
            end += 1
        for at in order[begin:end]:
            total = np.zeros(3)
            for other in order[begin:end]:
                if (flat[at // 3] * flat[other // 3]).sum() > CREASE:
                    total += angles[other // 3, other % 3] * flat[other // 3]
            length = np.sqrt((total**2).sum())
            normals[at // 3, at % 3] = total / length if length > 0.0 else flat[at // 3]
        begin = end
    return normals


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
