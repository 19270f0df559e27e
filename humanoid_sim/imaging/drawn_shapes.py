# SPDX-License-Identifier: Apache-2.0
"""Everything of some bodies that is drawn, as arrays of triangles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numba import njit

from humanoid_model.description import HalfSpace, HeightField, Shape
from humanoid_model.shape_triangles import Triangles, textured_mesh, triangles

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
