# SPDX-License-Identifier: Apache-2.0
"""Which triangle each pixel sees, and in which colour.

All is in the axes of a pinhole camera, x right, y down, z forward; the pixel in row i and column j sees along
((j + 1/2 - width / 2) / focal, (i + 1/2 - height / 2) / focal, 1). A triangle is hit where the ray's coordinates in
its three corners are not negative (Olano and Greer 1997), so that none needs to be clipped.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

NEAR = 0.01
"""What is nearer than this is not seen [m]."""
SHININESS = 25.6
"""Exponent of the reflection of lights: VRML's default [-]."""
REFLECTION = 0.2
"""Share of a light's specular colour that is reflected [-]."""


@njit(cache=True, nogil=True, error_model="numpy")
def place(R: np.ndarray, p: np.ndarray, body: np.ndarray, points: np.ndarray, placed: np.ndarray) -> None:
    """Write where points of bodies are.

    Args:
        R: rotations of the bodies, shape (b, 3, 3).
        p: their origins, shape (b, 3).
        body: of each triangle, shape (t,).
        points: three of each triangle in the frame of its body, shape (t, 3, 3).
        placed: the same elsewhere, is written.
    """
    for t in range(len(body)):
        turn, origin = R[body[t]], p[body[t]]
        for corner in range(3):
            for k in range(3):
                placed[t, corner, k] = origin[k] + (
                    turn[k, 0] * points[t, corner, 0] + turn[k, 1] * points[t, corner, 1]
                    + turn[k, 2] * points[t, corner, 2]
                )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def _ray_coordinates(corners: np.ndarray, inverse: np.ndarray) -> bool:
    """Write rows that give a ray's coordinates in a triangle's corners; False for one that looks away or on edge."""
    a, b, c = corners[0], corners[1], corners[2]
    for k in range(3):
        m, n = (k + 1) % 3, (k + 2) % 3
        inverse[0, k] = b[m] * c[n] - b[n] * c[m]
        inverse[1, k] = c[m] * a[n] - c[n] * a[m]
        inverse[2, k] = a[m] * b[n] - a[n] * b[m]
    volume = a[0] * inverse[0, 0] + a[1] * inverse[0, 1] + a[2] * inverse[0, 2]
    if volume > -1e-18:
        return False
    for i in range(3):
        for k in range(3):
            inverse[i, k] /= volume
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def find_nearest(
    corners: np.ndarray, focal: float, skip: np.ndarray, beyond: np.ndarray, seen: np.ndarray, depth: np.ndarray
) -> None:
    """Find the nearest triangle of each pixel.

    Args:
        corners: of the triangles, counter-clockwise from outside, in the camera's axes [m], shape (t, 3, 3).
        focal: distance of the picture's plane [px].
        skip: triangles that are left out, shape (t,).
        beyond: only what is further away than this is looked for [m], shape (height, width).
        seen: the triangle of each pixel, -1 for none; is written, shape (height, width).
        depth: its distance along the optical axis, infinite for none [m]; is written, shape (height, width).
    """
    height, width = depth.shape
    inverse = np.empty((3, 3))
    seen[:] = -1
    depth[:] = np.inf
    for t in range(len(corners)):
        if skip[t] or corners[t, :, 2].max() <= NEAR or not _ray_coordinates(corners[t], inverse):
            continue
        top, bottom = 0, height
        if corners[t, :, 2].min() > NEAR:
            first, last = np.inf, -np.inf
            for k in range(3):
                row = focal * corners[t, k, 1] / corners[t, k, 2] + 0.5 * height
                first, last = min(first, row), max(last, row)
            if last < 0.0 or first > height:
                continue
            top, bottom = max(int(first - 1.0), 0), min(int(last + 2.0), height)
        for i in range(top, bottom):
            y = (i + 0.5 - 0.5 * height) / focal
            least, most = 0.0, width - 1.0  # columns in which no coordinate is negative, a pixel more at each end
            for k in range(3):
                slope = inverse[k, 0] / focal
                at_zero = inverse[k, 0] * (0.5 - 0.5 * width) / focal + inverse[k, 1] * y + inverse[k, 2]
                if slope > 0.0:
                    least = max(least, -at_zero / slope - 1.0)
                elif slope < 0.0:
                    most = min(most, -at_zero / slope + 1.0)
                elif at_zero < 0.0:
                    most = -1.0
            if most < least:
                continue
            for j in range(int(least), int(most) + 1):
                x = (j + 0.5 - 0.5 * width) / focal
                u = inverse[0, 0] * x + inverse[0, 1] * y + inverse[0, 2]
                v = inverse[1, 0] * x + inverse[1, 1] * y + inverse[1, 2]
                w = inverse[2, 0] * x + inverse[2, 1] * y + inverse[2, 2]
                if u < 0.0 or v < 0.0 or w < 0.0 or u + v + w <= 0.0:
                    continue
                z = 1.0 / (u + v + w)
                if NEAR < z < depth[i, j] and z > beyond[i, j]:
                    depth[i, j], seen[i, j] = z, t


@njit(cache=True, nogil=True, error_model="numpy")
def _to_unit(vector: np.ndarray) -> None:
    """Scale a vector (3,) to unit length, unless it is zero."""
    length = math.sqrt(vector[0] ** 2 + vector[1] ** 2 + vector[2] ** 2)
    if length > 0.0:
        for k in range(3):
            vector[k] /= length


@njit(cache=True, nogil=True, error_model="numpy")
def _lit(point: np.ndarray, facing: float, sun: np.ndarray, focal: float, shadow: np.ndarray) -> float:
    """Share of a light that reaches a point, by what the light sees: the mean over nine of its pixels.

    Args:
        point: in the camera's axes.
        facing: cosine of the angle between its normal and the light, more than 0.
        sun: (3, 4) placement of the camera's axes in the light's.
        focal: of the light [px].
        shadow: what the light sees, shape (s, s).
    """
    size = len(shadow)
    x = sun[0, 0] * point[0] + sun[0, 1] * point[1] + sun[0, 2] * point[2] + sun[0, 3]
    y = sun[1, 0] * point[0] + sun[1, 1] * point[1] + sun[1, 2] * point[2] + sun[1, 3]
    z = sun[2, 0] * point[0] + sun[2, 1] * point[1] + sun[2, 2] * point[2] + sun[2, 3]
    column, row = int(focal * x / z + 0.5 * size), int(focal * y / z + 0.5 * size)
    if not (0 < column < size - 1 and 0 < row < size - 1):
        return 1.0
    free = 0
    slack = (2.0 + 3.0 * math.sqrt(1.0 - min(facing, 1.0) ** 2) / facing) * z / focal  # a slope is a stair of pixels
    for i in range(row - 1, row + 2):
        for j in range(column - 1, column + 2):
            free += shadow[i, j] > z - slack
    return free / 9.0


@njit(cache=True, nogil=True, error_model="numpy")
def shade(
    seen: np.ndarray, depth: np.ndarray, focal: float,
    triangles: tuple[np.ndarray, np.ndarray, np.ndarray], textures: tuple[np.ndarray, ...],
    lights: tuple[np.ndarray, np.ndarray], shadow: tuple[np.ndarray, float, np.ndarray],
    colour: np.ndarray, left: np.ndarray,
) -> None:  # fmt: skip
    """Add the colour of what each pixel sees, by OpenGL's law of ambient, diffuse and specular light.

    Args:
        seen: triangle of each pixel, from :func:`find_nearest`, shape (height, width).
        depth: likewise.
        focal: distance of the picture's plane [px].
        triangles: corners and normals at them in the camera's axes, shape (t, 3, 3) both, and colours, shape (t, 4).
        textures: of each triangle the texture's number, -1 for none, shape (t,); where its corners are on it, shape
            (t, 3, 2); pixels of all textures, shape (k, 3); first pixel, width and height of each, shape (n, 3).
        lights: positions in the camera's axes, w = 0 for a direction, shape (l, 4); ambient, diffuse and specular
            colours, shape (l, 3, 3).
        shadow: of the first light: placement of the camera's axes in the light's, shape (3, 4); its focal length [px];
            the depth that it sees [m], shape (s, s), with s = 0 for a light that casts none.
        colour: of the picture; is added to, shape (height, width, 3).
        left: share of light that comes from further away; is lessened, shape (height, width).
    """
    corners, normals, colours = triangles
    texture, coordinates, pixels, sizes = textures
    positions, shares = lights
    height, width = depth.shape
    inverse, point, weights, normal = np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    own, light, half = np.empty(3), np.empty(3), np.empty(3)
    for i in range(height):
        for j in range(width):
            t = seen[i, j]
            if t < 0 or left[i, j] == 0.0:
                continue
            _ray_coordinates(corners[t], inverse)
            z = depth[i, j]
            point[0], point[1], point[2] = (j + 0.5 - 0.5 * width) / focal * z, (i + 0.5 - 0.5 * height) / focal * z, z
            for k in range(3):
                weights[k] = inverse[k, 0] * point[0] + inverse[k, 1] * point[1] + inverse[k, 2] * z
            for k in range(3):
                normal[k] = (
                    weights[0] * normals[t, 0, k] + weights[1] * normals[t, 1, k] + weights[2] * normals[t, 2, k]
                )
                own[k] = colours[t, k]
            _to_unit(normal)
            if texture[t] >= 0:
                first, columns, rows = sizes[texture[t]]
                s = weights[0] * coordinates[t, 0, 0] + weights[1] * coordinates[t, 1, 0]
                s += weights[2] * coordinates[t, 2, 0]
                r = weights[0] * coordinates[t, 0, 1] + weights[1] * coordinates[t, 1, 1]
                r += weights[2] * coordinates[t, 2, 1]
                s, r = s - math.floor(s), 1.0 - (r - math.floor(r))  # a texture goes on, its origin at the lower left
                pixel = first + min(int(r * rows), rows - 1) * columns + min(int(s * columns), columns - 1)
                for k in range(3):
                    own[k] = pixels[pixel, k]
            share = left[i, j] * colours[t, 3]
            distance = math.sqrt(point[0] ** 2 + point[1] ** 2 + z * z)
            for n in range(len(positions)):
                for k in range(3):
                    light[k] = positions[n, k] - positions[n, 3] * point[k]
                _to_unit(light)
                facing = normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2]
                reaching, shine = 0.0, 0.0
                if facing > 0.0:
                    reaching = 1.0
                    if n == 0 and len(shadow[2]) > 0:
                        reaching = _lit(point, facing, shadow[0], shadow[1], shadow[2])
                    for k in range(3):
                        half[k] = light[k] - point[k] / distance
                    _to_unit(half)
                    shine = max(normal[0] * half[0] + normal[1] * half[1] + normal[2] * half[2], 0.0) ** SHININESS
                for k in range(3):
                    colour[i, j, k] += share * (
                        own[k] * (shares[n, 0, k] + reaching * facing * shares[n, 1, k])
                        + reaching * shine * REFLECTION * shares[n, 2, k]
                    )
            left[i, j] -= share
