# SPDX-License-Identifier: Apache-2.0
"""Volumes, and parts of meshes, kept on disk under a name made of what they are built from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.distance.archive import BROKEN_ARCHIVE, write_archive
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

_CONSTRUCTION = b"sphere-torus volume 1"
"""Changes whenever the construction gives other volumes: files of an older one are then not found."""
_DECOMPOSITION = b"convex parts 1"
"""Likewise for the parts of meshes."""


def store_folder() -> Path:
    """``$XDG_CACHE_HOME/humanoid_stack/volumes`` (``~/.cache``; ``~/Library/Caches`` on macOS)."""
    chosen = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(chosen):
        base = Path(chosen)
    else:
        base = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    return base / "humanoid_stack" / "volumes"


def stored_volume(
    points: NDArray[np.float64], r: float, R: float, folder: Path | None = None
) -> SphereTorusVolume:
    """Volume around points, taken from disk when it has been built before, else built and kept.

    A file that can't be read is built anew; a folder that can't be written to keeps nothing.

    Args:
        points: shape (n, 3) [m].
        r: small radius [m].
        R: big radius [m].
        folder: where volumes are kept; None is :func:`store_folder`.

    Raises:
        InputError: see :meth:`SphereTorusVolume.from_points`.
    """
    cloud = np.ascontiguousarray(points, dtype=np.float64)
    content = _CONSTRUCTION + struct.pack("<2d", r, R) + cloud.astype("<f8").tobytes()
    path = _path(content, folder)
    with contextlib.suppress(InputError):
        return SphereTorusVolume.load(path)
    volume = SphereTorusVolume.from_points(cloud, r, R)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        volume.save(path)
    return volume


def stored_parts(
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    decompose: Callable[[NDArray[np.float64], NDArray[np.int64]], list[RoundedHull]],
    folder: Path | None = None,
) -> list[RoundedHull]:
    """Convex parts of a mesh, taken from disk when it has been decomposed before, else made and kept.

    Args:
        vertices: shape (n, 3) [m].
        triangles: shape (m, 3).
        decompose: makes the parts.
        folder: where parts are kept; None is :func:`store_folder`.
    """
    content = _DECOMPOSITION + vertices.astype("<f8").tobytes() + triangles.astype("<i8").tobytes()
    path = _path(content, folder)
    with contextlib.suppress(*BROKEN_ARCHIVE), np.load(path, allow_pickle=False) as file:
        ends, points, radii = file["ends"], file["points"], file["radii"]
        return [
            RoundedHull(part, float(radius)) for part, radius in zip(np.split(points, ends[:-1]), radii, strict=True)
        ]
    parts = decompose(vertices, triangles)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(
            path,
            ends=np.cumsum([len(part.points) for part in parts]),
            points=np.vstack([part.points for part in parts]),
            radii=np.array([part.radius for part in parts]),
        )
    return parts


def _path(content: bytes, folder: Path | None) -> Path:
    return (store_folder() if folder is None else folder) / f"{hashlib.sha256(content).hexdigest()}.npz"
