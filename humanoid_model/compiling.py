# SPDX-License-Identifier: Apache-2.0
"""While kernels compile: their user is told, the garbage collector waits, and nothing is compiled twice."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit
from numba.core import event, types

Kernel = TypeVar("Kernel")

_njit: Any = njit
"""Numba has ``_nrt``, whether references are counted, for itself and leaves it out of its type hints."""
_PATIENCE = 1.0
"""Compiling for longer than this is told [s]."""


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
    that looked at them over and over.

    Attributes:
        kernel: the one that is being compiled in this process; empty for none.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._package = ""
        self._collects = False
        self._seconds = 0.0
        self._begun = 0.0
        self._told = False
        self.kernel = ""

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        package = dispatcher.py_func.__module__.split(".")[0]
        self.kernel = dispatcher.py_func.__name__.strip("_").replace("_", " ")
        if self._depth == 0:
            self._package = package
            self._begun = time.monotonic()
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1
        if package.startswith("humanoid_"):  # nobody calls kernels from C or passes them as values
            dispatcher.targetoptions.setdefault("no_cfunc_wrapper", True)
        if not self._told and self._seconds + time.monotonic() - self._begun > _PATIENCE:
            self._told = True
            print(
                f"{self._package}: compiling kernels, once for this machine: some seconds to a minute",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.kernel = ""
            self._seconds += time.monotonic() - self._begun
            if self._collects:
                gc.enable()


follower = _Compilation()
event.register("numba:compile", follower)
