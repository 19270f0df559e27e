# SPDX-License-Identifier: Apache-2.0
"""Numba's on-disk cache, kept honest.

Numba compiles a cached kernel anew when its own file changes, but not when a kernel that it calls, in
another file, changes: the old callee would live on inside it.
"""

from __future__ import annotations

from pathlib import Path


def drop_stale_kernels(package: Path) -> int:
    """Delete the cached kernels of a package if any of its sources is newer than one of them.

    Args:
        package: folder of the package.

    Returns:
        Number of files deleted.
    """
    indices = list(package.rglob("__pycache__/*.nbi"))
    if not indices:
        return 0
    oldest = min(path.stat().st_mtime for path in indices)
    if max(path.stat().st_mtime for path in package.rglob("*.py")) <= oldest:
        return 0
    dropped = 0
    for path in [*indices, *package.rglob("__pycache__/*.nbc")]:
        path.unlink(missing_ok=True)
        dropped += 1
    return dropped
