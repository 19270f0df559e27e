# SPDX-License-Identifier: Apache-2.0
"""While kernels compile: their user is told how far they are, the garbage collector waits, nothing is done twice."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core import event, types
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
