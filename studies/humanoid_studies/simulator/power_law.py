# SPDX-License-Identifier: Apache-2.0
"""How a cost grows with a size."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def log_log_slope(sizes: ArrayLike, costs: ArrayLike) -> float:
    """Exponent p of the power law cost = c size^p that fits best, by least squares of the logarithms.

    Args:
        sizes: two or more different positive ones, shape (n,).
        costs: positive, shape (n,).
    """
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(costs, dtype=float)), 1)[0])
