# SPDX-License-Identifier: Apache-2.0
"""Frames of contacts: a normal and two tangents."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted


@uncounted()
def tangents(n: np.ndarray, t1: np.ndarray, t2: np.ndarray) -> None:
    """Complete a unit normal to a right-handed contact frame.

    ``t1`` is orthogonal to the world axis that the normal is least aligned with, so that the frame
    doesn't turn as long as the normal doesn't (specification 000 §13.2).
    """
    axis = 0
    for r in range(1, 3):
        if abs(n[r]) < abs(n[axis]) - 1e-12:
            axis = r
    if axis == 0:
        t1[0], t1[1], t1[2] = 0.0, n[2], -n[1]
    elif axis == 1:
        t1[0], t1[1], t1[2] = -n[2], 0.0, n[0]
    else:
        t1[0], t1[1], t1[2] = n[1], -n[0], 0.0
    norm = math.sqrt(t1[0] ** 2 + t1[1] ** 2 + t1[2] ** 2)
    for r in range(3):
        t1[r] /= norm
    t2[0] = n[1] * t1[2] - n[2] * t1[1]
    t2[1] = n[2] * t1[0] - n[0] * t1[2]
    t2[2] = n[0] * t1[1] - n[1] * t1[0]
