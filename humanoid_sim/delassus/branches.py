# SPDX-License-Identifier: Apache-2.0
"""Coordinates on the branches from the world to the bodies that constraints act on."""

from __future__ import annotations

import numpy as np

from humanoid_model.apart import apart
from humanoid_model.compiling import plain_arguments, uncounted
from humanoid_model.tree.kinematic_tree import KinematicTree


@plain_arguments
@uncounted()
def mark_branch(model: KinematicTree, joint: int, marks: np.ndarray, found: np.ndarray, count: int) -> int:
    """Add the coordinates that move a joint's body and aren't marked yet to a list.

    Args:
        model: the tree.
        joint: the joint, 0 for the world.
        marks: 1 for coordinates that are in the list, shape (nv,).
        found: the list, shape (nv,).
        count: its length.

    Returns:
        The new length.
    """
    k = model.joints[joint].last_dof
    while k >= 0 and marks[k] == 0:
        marks[k] = 1
        found[count] = k
        count += 1
        k = model.dof_parent[k]
    return count


@apart(error_model="numpy")
def _sort(found: np.ndarray, count: int) -> None:
    """Sort the first numbers of a list."""
    found[:count].sort()


@plain_arguments
@uncounted()
def sort_branches(found: np.ndarray, count: int, marks: np.ndarray) -> None:
    """Sort a list of coordinates from the roots to the tips and clear its marks, shapes (nv,)."""
    if 8 * count < marks.size:
        _sort(found, count)
        for i in range(count):
            marks[found[i]] = 0
        return
    i = 0
    for k in range(marks.size):
        if marks[k] != 0:
            marks[k] = 0
            found[i] = k
            i += 1
