# SPDX-License-Identifier: Apache-2.0
"""How the kernels of distances are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from humanoid_model.compiling import plain_arguments, uncounted

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a kernel of distances, once for all constants that it is called with.

    They pass a dozen arrays to functions of some 20 ns, where counting took longer than the arithmetic (a walk 430 ns
    with, 160 ns without).
    """
    compiled: Function = plain_arguments(uncounted()(function))
    return compiled
