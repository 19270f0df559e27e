# SPDX-License-Identifier: Apache-2.0
"""Volumes kept on disk under a name made of what they are built from."""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.distance.sphere_torus_volume import SphereTorusVolume

_CONSTRUCTION = b"sphere-torus volume 1"
"""Changes whenever the construction gives other volumes: files of an older one are then not found."""


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
    where = store_folder() if folder is None else folder
    path = where / f"{hashlib.sha256(content).hexdigest()}.npz"
    with contextlib.suppress(InputError):
        return SphereTorusVolume.load(path)
    volume = SphereTorusVolume.from_points(cloud, r, R)
    with contextlib.suppress(OSError):
        where.mkdir(parents=True, exist_ok=True)
        volume.save(path)
    return volume
