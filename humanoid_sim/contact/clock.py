# SPDX-License-Identifier: Apache-2.0
"""The time, asked for from compiled code."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numba import types

from humanoid_model.apart import waited
from humanoid_model.compiling import uncounted

_MONOTONIC = {"linux": 1, "darwin": 6}.get(sys.platform, -1)
_clock_gettime: Any = types.ExternalFunction("clock_gettime", types.intc(types.intc, types.CPointer(types.int64)))

if _MONOTONIC >= 0:

    @uncounted()
    def seconds(work: np.ndarray) -> float:
        """Seconds since some time in the past; while kernels are compiled that this one calls, the clock stands still.

        Args:
            work: work space, integers, shape (2,).
        """
        _clock_gettime(_MONOTONIC, work.ctypes)
        return float(work[0]) + 1e-9 * float(work[1] - waited())  # type: ignore[call-arg]

else:

    @uncounted()
    def seconds(work: np.ndarray) -> float:
        """Zero: this system's C library has no clock of that name, and stages are not told apart."""
        return 0.0
