# SPDX-License-Identifier: Apache-2.0
"""Which numbers can be drawn: a browser computes in single precision, with squares and cubes of lengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

LARGEST = 1e9
"""Largest number on the page, of whatever unit."""


def drawable(numbers: ArrayLike) -> bool:
    """Whether all numbers are finite, and none is beyond :data:`LARGEST`."""
    return bool(np.all(drawable_rows(np.reshape(numbers, (-1, 1)))))


def drawable_rows(numbers: np.ndarray) -> np.ndarray:
    """Return which rows of numbers (m, n) can be drawn (m,)."""
    return np.all(np.abs(numbers) <= LARGEST, axis=1)  # a number that is none isn't
