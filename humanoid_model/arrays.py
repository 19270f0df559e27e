# SPDX-License-Identifier: Apache-2.0
"""Types of arrays, by what is in them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Numbers of double precision, as kernels and files have them."""
Reals = NDArray[np.floating[Any]]
"""Numbers of any precision: what numpy says of its own results (``linspace``, ``mean``, ``interp``)."""
Records = NDArray[Any]
"""Rows of several named values of different types (numpy's structured arrays)."""
