# SPDX-License-Identifier: Apache-2.0
"""Kernels compiled by numba: while they compile, and their cache on disk.

While kernels compile, their user is told how far they are, the garbage collector waits, nothing is done twice. Numba
compiles a cached kernel anew when its own file changes, but not when a kernel that it calls, or a constant that it
reads, in another file, changes: the old one would live on inside it (:func:`drop_stale_kernels`).
"""

from __future__ import annotations

import ast
import gc
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit
from numba.core import event, types
from numba.core.caching import _CacheLocator
from numba.misc.appdirs import AppDirs
from tqdm import tqdm

Kernel = TypeVar("Kernel")

_njit: Any = njit
"""Numba has ``_nrt``, whether references are counted, for itself and leaves it out of its type hints."""
_PATIENCE = 1.0
"""Compiling for longer than this is told [s]."""
_NEWS, _GLANCE, _PAUSE = 5.0, 0.1, 1.0
"""Between two lines, between two looks, and without a kernel after which all of them are taken for done [s]."""
_USUAL = {"humanoid_sim": 172, "humanoid_planner": 94, "humanoid_kinematics": 89}
"""How many kernels the first use of a package compiles, numba's own too, as `benchmark/first_step.py` counts them."""


def counted(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a kernel that makes arrays or returns them, cached, as ``numba.njit`` does.

    Divisions by zero give infinity, as in C, instead of a check each.

    Args:
        options: for ``numba.njit``.
    """
    return _njit(cache=True, error_model="numpy", _nrt=True, **options)


def uncounted(**options: Any) -> Callable[[Kernel], Kernel]:
    """Compile a kernel that doesn't count who uses its arrays, see :func:`counted`.

    Counting takes a call or two for each array and each row that is looked at, longer than the arithmetic of a short
    kernel. The caller keeps the arrays alive; the kernel can't make any, nor return any of its own, which numba checks.

    Args:
        options: for ``numba.njit``.
    """
    return _njit(cache=True, error_model="numpy", _nrt=False, **options)


def plain_arguments(kernel: Kernel) -> Kernel:
    """Let one copy of a kernel serve all constants that other kernels pass to it.

    Numba takes a constant for a type of its own and compiles a copy for each: half of the time that some kernels took.

    Args:
        kernel: what ``numba.njit`` has made.

    Returns:
        The same.
    """
    dispatcher: Any = kernel
    template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return template(
            tuple(types.unliteral(kind) for kind in args), {name: types.unliteral(kind) for name, kind in kws.items()}
        )

    dispatcher.get_call_template = get_call_template
    return kernel


class _Compilation(event.Listener):
    """Follows the compilation of this stack's kernels; those that come from the cache aren't compiled.

    A compiler makes objects by the million that live until it ends: a third of its time went to the garbage collector
    that looked at them over and over. Who waits is told by a thread, for one kernel may take ten seconds: on a terminal
    by a bar, else by a line now and then.

    Attributes:
        kernel: the one that is being compiled in this process; empty for none.
        count: of kernels that this process has begun to compile, numba's own among them.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._package = ""
        self._collects = False
        self._begun = self._ended = 0.0
        self._lock = threading.Lock()
        self._teller: threading.Thread | None = None
        self.kernel = ""
        self.count = 0

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        package = dispatcher.py_func.__module__.split(".")[0]
        self.kernel = dispatcher.py_func.__name__.strip("_").replace("_", " ")
        self.count += 1
        if self._depth == 0:
            self._package = package
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        if package.startswith("humanoid_"):  # nobody calls kernels from C or passes them as values
            dispatcher.targetoptions.setdefault("no_cfunc_wrapper", True)
        with self._lock:
            if self._teller is None or not self._teller.is_alive():
                self._begun = time.monotonic()
                self._teller = threading.Thread(target=self._tell, name="kernels")
                self._teller.start()

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        self._ended = time.monotonic()
        if self._depth == 0:
            self.kernel = ""
            if self._collects:
                gc.enable()

    def _tell(self) -> None:
        said, bar = -_NEWS, None
        while self._goes_on():
            passed = time.monotonic() - self._begun
            if passed > _PATIENCE and self._depth:
                usual = _USUAL.get(self._package, 0)
                if self.count > usual:
                    usual = 0  # a node uses more than its package alone: how many more isn't known
                if sys.stderr.isatty():
                    look = "{desc}: {n} of about {total} |{bar}| {elapsed}" if usual else "{desc}: {n} {elapsed}"
                    bar = bar or tqdm(desc=f"{self._package}: compiling kernels, once for this machine", leave=False,
                                      file=sys.stderr)  # fmt: skip
                    bar.bar_format, bar.total, bar.n = look, usual, self.count
                    bar.refresh()
                elif passed - said >= _NEWS:
                    said = passed
                    about = f" of about {usual}" if usual else ""
                    print(
                        f"{self._package}: compiling kernels, once for this machine: {self.count}{about}",
                        file=sys.stderr, flush=True,
                    )  # fmt: skip
            time.sleep(_GLANCE)
        if bar is not None:
            bar.close()

    def _goes_on(self) -> bool:
        """Whether a kernel compiles or another one may be about to; a process that ends waits for nobody's news."""
        with self._lock:
            quiet = not self._depth and time.monotonic() - self._ended > _PAUSE
            if quiet or not threading.main_thread().is_alive():
                self._teller = None
            return self._teller is not None


follower = _Compilation()
event.register("numba:compile", follower)


FAST = {"nsz", "arcp", "contract", "reassoc"}
"""Floating-point freedoms of the compiled kernels that keep infinities and not-a-numbers what they are."""


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
