# SPDX-License-Identifier: Apache-2.0
"""What a program must be at the start of a solution."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError


def require_finite(objective: float, constraints: NDArray[np.float64]) -> None:
    """Raise InputError, which names the function, unless all values at the start are finite."""
    finite = np.isfinite(constraints)
    if not finite.all():
        row = int(np.argmin(finite))
        what = f"constraint {row} is {constraints[row]}"
    elif not math.isfinite(objective):
        what = f"the objective is {objective}"
    else:
        return
    raise InputError(f"{what} there", element="x0", remedy="Start where all functions are defined")
