# SPDX-License-Identifier: Apache-2.0
"""Rough ground: heights over a grid, from a file or made by a rule, and grains strewn on it (specification 000 §18)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.archive import BROKEN_ARCHIVE
from humanoid_model.description import Box, Geometry, Shape, Sphere
from humanoid_model.errors import InputError
from humanoid_model.files import check_size, read_text, require_file

#: Rules that make a height field, see :func:`generate_heights`.
GENERATORS = ("slope", "waves", "random")
#: Suffixes of the files that hold one.
GRID_SUFFIXES = (".npy", ".csv", ".png")


def read_heights(path: Path) -> np.ndarray:
    """Return heights of a grid in a file.

    Args:
        path: ``.npy`` (an array of two dimensions), ``.csv`` (a row of numbers per line) or ``.png`` (grey levels,
            black 0 and white 1, the upper edge at the largest y).

    Returns:
        (ny, nx) heights; rows go along y, columns along x.

    Raises:
        InputError: the file can't be read, or is no grid of at least 2 by 2 finite numbers, or of too many.
    """
    readers: dict[str, Callable[[Path], np.ndarray]] = {".npy": _read_array, ".csv": _read_table, ".png": _read_image}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"'{path.suffix}' is no kind of grid file", source=path, remedy=f"Use {', '.join(GRID_SUFFIXES)}"
        )
    require_file(path, remedy="Give a grid of numbers")
    try:
        heights = np.array(reader(path), dtype=float)
    except InputError:
        raise
    except BROKEN_ARCHIVE as problem:
        raise InputError(
            f"grid can't be read: {' '.join(str(problem).split())}", source=path, remedy="Give a grid of numbers"
        ) from None
    return checked_heights(heights, path)


def checked_heights(heights: np.ndarray, source: Path | str | None = None) -> np.ndarray:
    """Return the heights, if they are a grid of at least 2 by 2 finite numbers.

    Raises:
        InputError: they aren't.
    """
    if heights.ndim != 2 or min(heights.shape) < 2:
        raise InputError(
            f"grid has the shape {heights.shape}", source=source, remedy="Give at least 2 rows and 2 columns"
        )
    if not np.isfinite(heights).all():
        row, column = np.argwhere(~np.isfinite(heights))[0]
        raise InputError(
            f"height in row {row}, column {column} is {heights[row, column]}",
            source=source,
            remedy="Give finite heights",
        )
    return heights


def _check_points(count: int, path: Path) -> None:
    check_size(
        count, "points of height fields", lambda problem, remedy: InputError(problem, source=path, remedy=remedy)
    )


def _read_array(path: Path) -> np.ndarray:
    stored = np.load(path, mmap_mode="r", allow_pickle=False)  # reads the shape alone
    _check_points(np.size(stored), path)
    return np.asarray(stored)


def _read_table(path: Path) -> np.ndarray:
    text = read_text(path, remedy="Give a grid of numbers")
    _check_points(text.count(",") + text.count("\n"), path)
    return np.loadtxt(text.splitlines(), delimiter=",", ndmin=2)


def _read_image(path: Path) -> np.ndarray:
    from PIL import Image  # a picture is the only reader that needs it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # nothing is unpacked yet
        try:
            opened = Image.open(path)
        except Image.DecompressionBombError as problem:
            raise ValueError(str(problem)) from None
    with opened as image:
        _check_points(image.width * image.height, path)
        deep = image.mode.startswith("I")
        levels = np.asarray(image if deep else image.convert("L"), dtype=float)
    return levels[::-1] / (65535.0 if deep else 255.0)


def generate_heights(
    rule: str, size: np.ndarray, cells: tuple[int, int], height: float, wavelength: float, seed: int
) -> np.ndarray:
    """Return heights of a grid made by a rule.

    Args:
        rule: ``slope`` rises from 0 to ``height`` along x; ``waves`` are a sine along x times one along y, ``height``
            from trough to crest; ``random`` are independent heights in 0..``height``.
        size: (2,) extent along x and y [m].
        cells: number of cells along x and y.
        height: [m].
        wavelength: of the waves [m].
        seed: of the random heights.

    Returns:
        (ny + 1, nx + 1) heights [m].
    """
    x = np.linspace(0.0, size[0], cells[0] + 1)
    y = np.linspace(0.0, size[1], cells[1] + 1)
    if rule == "slope":
        return np.tile(height * x / size[0], (len(y), 1))
    if rule == "waves":
        wave = 2.0 * np.pi / wavelength
        return 0.5 * height * np.outer(np.sin(wave * y), np.sin(wave * x))
    assert rule == "random"
    return np.asarray(np.random.default_rng(seed).uniform(0.0, height, (len(y), len(x))))


def grid_triangles(size: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return triangles of a height field centred on its frame, their normals up.

    Args:
        size: (2,) extent along x and y [m].
        heights: (ny, nx) [m].

    Returns:
        (nx * ny, 3) points [m] and (2 (nx - 1) (ny - 1), 3) corners of the triangles.
    """
    ny, nx = heights.shape
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, nx) * size[0], np.linspace(-0.5, 0.5, ny) * size[1])
    points = np.column_stack([x.ravel(), y.ravel(), heights.ravel()])
    first = (np.arange(ny - 1)[:, None] * nx + np.arange(nx - 1)).ravel()
    lower = np.column_stack([first, first + 1, first + nx + 1])
    upper = np.column_stack([first, first + nx + 1, first + nx])
    return points, np.stack([lower, upper], axis=1).reshape(-1, 3)


#: Kinds of grains.
GRAIN_KINDS = ("spheres", "boxes")


def grains(
    kind: str,
    count: int,
    size: np.ndarray,
    radius: np.ndarray,
    sunk: float,
    seed: int,
    placement: pin.SE3,
    colour: np.ndarray,
) -> list[Geometry]:
    """Return shapes of grains at random places on the plane z = 0 of a frame.

    Args:
        kind: ``spheres``, or ``boxes``: cubes of the same volume turned at random.
        count: number of grains.
        size: (2,) extent along x and y of the area that holds their centres, centred on the frame [m].
        radius: (2,) least and largest radius [m].
        sunk: part of its diameter that a grain is below the plane, in 0..1.
        seed: the same seed makes the same grains.
        placement: of the frame in the body.
        colour: (4,) r, g, b, a.
    """
    rng = np.random.default_rng(seed)
    shapes = []
    for i in range(count):
        x, y = (rng.uniform(-0.5, 0.5, 2) * size).tolist()
        r = float(rng.uniform(*radius))
        turn = pin.Quaternion(rng.normal(size=4)).normalized().matrix()
        shape: Shape = Sphere(r) if kind == "spheres" else Box(np.full(3, r * (4.0 * np.pi / 3.0) ** (1.0 / 3.0)))
        place = pin.SE3(turn, np.array([x, y, r * (1.0 - 2.0 * sunk)]))
        shapes.append(Geometry(f"grain_{i}", shape, placement * place, np.array(colour)))
    return shapes
