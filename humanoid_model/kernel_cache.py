# SPDX-License-Identifier: Apache-2.0
"""Keep numba's on-disk cache consistent with the sources.

Numba compiles a cached kernel anew when its own file changes, but not when a kernel that it calls, or a constant that
it reads, in another file, changes: the old one would live on inside it.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from numba import config
from numba.core.caching import _CacheLocator
from numba.misc.appdirs import AppDirs

import humanoid_model.compiling  # noqa: F401  who waits for kernels is told


def drop_stale_kernels(package: Path) -> int:
    """Delete the cached kernels of a package that may hold something older than what the sources say now.

    A kernel is stale if its own file or any file of this tree that this one imports, directly or not, is newer. It is
    found in each place where numba may have put it.

    Args:
        package: folder of the package.

    Returns:
        Number of files deleted.
    """
    root = package.parent
    while (root / "__init__.py").exists():
        root = root.parent
    tops = {str(package), *map(str, root.glob("humanoid_*"))}
    times = {source: changed for top in tops for source, changed in _files(top, ".py")}
    below = os.path.join(package, "")
    indices = {
        index: (folder, written)
        for folder in {os.path.dirname(source) for source in times if source.startswith(below)}
        for place in _places(folder)
        for index, written in _files(place, ".nbi")
    }
    if not indices or max(times.values()) <= min(written for _, written in indices.values()):
        return 0
    imports = _Imports(root, times)
    dropped = 0
    for index, (folder, written) in indices.items():
        source = os.path.join(folder, os.path.basename(index).split(".", 1)[0] + ".py")
        if source not in times or imports.newest(source) > written:
            for path in Path(index).parent.glob(os.path.basename(index).removesuffix(".nbi") + "*.nb?"):
                path.unlink(missing_ok=True)
                dropped += 1
        else:
            os.utime(index)  # seen to be fresh: the next import need not look again
    return dropped


def _places(folder: str) -> tuple[str, str]:
    """Where numba keeps kernels of a folder's sources: beside them, or where its user, or else it itself, says."""
    elsewhere = vars(config)["CACHE_DIR"] or AppDirs(appname="numba", appauthor=False).user_cache_dir
    own = _CacheLocator.get_suitable_cache_subpath(os.path.join(folder, "__init__.py"))
    return os.path.join(folder, "__pycache__"), os.path.join(elsewhere, own)


def _files(top: str, ending: str) -> Iterator[tuple[str, float]]:
    """Files in a folder, which need not be there, and below it, and when they were changed last."""
    waiting = [top]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(ending):
                    yield entry.path, entry.stat().st_mtime
                elif entry.name != "__pycache__" and entry.is_dir():
                    waiting.append(entry.path)


class _Imports:
    """Which files of this tree a file imports; libraries beside them, where all are installed, are not of it."""

    def __init__(self, root: Path, times: Mapping[str, float]) -> None:
        self._root = root
        self._times = times
        self._imported: dict[str, set[str]] = {}

    def newest(self, source: str) -> float:
        """Latest change of a file and of all that it imports."""
        reached, waiting = {source}, [source]
        while waiting:
            for path in self._imports(waiting.pop()) - reached:
                reached.add(path)
                waiting.append(path)
        return max(self._times[path] for path in reached)

    def _imports(self, source: str) -> set[str]:
        if source not in self._imported:
            names = set()
            for node in ast.walk(ast.parse(Path(source).read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
                    names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            places = [os.path.join(self._root, *name.split(".")) for name in names]
            candidates = {place + ending for place in places for ending in (".py", f"{os.sep}__init__.py")}
            self._imported[source] = candidates & self._times.keys()
        return self._imported[source]
