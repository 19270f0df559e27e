# SPDX-License-Identifier: Apache-2.0
"""Keep numba's on-disk cache consistent with the sources.

Numba compiles a cached kernel anew when its own file changes, but not when a kernel that it calls, or a constant that
it reads, in another file, changes: the old one would live on inside it.
"""

from __future__ import annotations

import ast
import os
from pathlib import Path

import humanoid_model.compiling  # noqa: F401  who waits for kernels is told


def drop_stale_kernels(package: Path) -> int:
    """Delete the cached kernels of a package that may hold something older than what the sources say now.

    A kernel is stale if its own file or any file of this tree that this one imports, directly or not, is newer.

    Args:
        package: folder of the package.

    Returns:
        Number of files deleted.
    """
    indices = {path: path.stat().st_mtime for path in package.rglob("__pycache__/*.nbi")}
    if not indices:
        return 0
    root = package.parent
    while (root / "__init__.py").exists():
        root = root.parent
    sources = [path for top in {package, *root.glob("humanoid_*")} for path in top.rglob("*.py")]
    if max(path.stat().st_mtime for path in sources) <= min(indices.values()):
        return 0
    imports = _Imports(root, set(sources))
    dropped = 0
    for index, written in indices.items():
        module = index.name.split(".", 1)[0]
        source = index.parent.parent / f"{module}.py"
        if not source.exists() or imports.newest(source) > written:
            for path in index.parent.glob(index.name.removesuffix(".nbi") + "*.nb?"):
                path.unlink(missing_ok=True)
                dropped += 1
        else:
            os.utime(index)  # seen to be fresh: the next import need not look again
    return dropped


class _Imports:
    """Which files of this tree a file imports; libraries beside them, where all are installed, are not of it."""

    def __init__(self, root: Path, tree: set[Path]) -> None:
        self._root = root
        self._tree = tree
        self._imported: dict[Path, set[Path]] = {}

    def newest(self, source: Path) -> float:
        """Latest change of a file and of all that it imports."""
        reached, waiting = {source}, [source]
        while waiting:
            for path in self._imports(waiting.pop()) - reached:
                reached.add(path)
                waiting.append(path)
        return max(path.stat().st_mtime for path in reached)

    def _imports(self, source: Path) -> set[Path]:
        if source not in self._imported:
            names = set()
            for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
                    names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
            places = [self._root.joinpath(*name.split(".")) for name in names]
            candidates = [path.with_name(path.name + ".py") for path in places] + [p / "__init__.py" for p in places]
            self._imported[source] = self._tree.intersection(candidates)
        return self._imported[source]
