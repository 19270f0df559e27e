# SPDX-License-Identifier: Apache-2.0
"""Volumes, and parts of meshes, kept on disk under a name made of what they are built from."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_model.archive import cache_folder, content_path, stored_arrays
from humanoid_model.errors import InputError
from humanoid_planner.distance.rounded_hull import RoundedHull
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

_CONSTRUCTION = b"sphere-torus volume 1"
"""Changes whenever the construction gives other volumes: files of an older one are then not found."""
_DECOMPOSITION = b"convex parts 3"
"""Likewise for convex parts."""


def store_folder() -> Path:
    """Return the folder of volumes and parts."""
    return cache_folder("volumes")


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
    path = content_path(content, store_folder() if folder is None else folder)
    with contextlib.suppress(InputError):
        return SphereTorusVolume.load(path)
    volume = SphereTorusVolume.from_points(cloud, r, R)
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        volume.save(path)
    return volume


def stored_parts(
    content: bytes, make: Callable[[], list[RoundedHull]], folder: Path | None = None
) -> list[RoundedHull]:
    """Convex parts, taken from disk when they have been made of the same content before, else made and kept.

    Args:
        content: all that the parts depend on.
        make: makes them, at least one.
        folder: where parts are kept; None is :func:`store_folder`.
    """

    def arrays() -> dict[str, NDArray[Any]]:
        parts = make()
        return {
            "ends": np.cumsum([len(part.points) for part in parts]),
            "points": np.vstack([part.points for part in parts]),
            "radii": np.array([part.radius for part in parts]),
            "names": np.array([part.name for part in parts]),
        }

    kept = stored_arrays(_DECOMPOSITION + content, arrays, store_folder() if folder is None else folder)
    return [
        RoundedHull(part, float(radius), str(name))
        for part, radius, name in zip(
            np.split(kept["points"], kept["ends"][:-1]), kept["radii"], kept["names"], strict=True
        )
    ]
