# SPDX-License-Identifier: Apache-2.0
"""How the kernels of distances are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

from humanoid_model.compiling import plain_arguments

Function = TypeVar("Function", bound=Callable[..., Any])

# Without reference counting: the kernels pass a dozen arrays to functions of some 20 ns, where Numba's atomic counts
# took longer than the arithmetic (a walk 430 ns with, 160 ns without). They can't allocate then, which Numba checks at
# compile time: the caller keeps the arrays alive and brings the workspaces. Numba has the option for itself and
# leaves it out of its type hints. Divisions by zero give infinity, as in C, instead of a check each.
_compile = njit(cache=True, error_model="numpy", _nrt=False)  # type: ignore[call-overload]


def kernel(function: Function) -> Function:
    """Compile a kernel of distances, once for all constants that it is called with."""
    compiled: Function = plain_arguments(_compile(function))
    return compiled
