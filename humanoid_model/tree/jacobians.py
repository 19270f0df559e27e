# SPDX-License-Identifier: Apache-2.0
"""Compiled Jacobians of a tree's bodies and of its centre of mass; only columns of what moves them are touched."""

from __future__ import annotations

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_model.tree.kinematic_tree import KinematicTree, Placements


@uncounted()
def body_jacobian(tree: KinematicTree, body: int, point: np.ndarray, placed: Placements, J: np.ndarray) -> None:
    """Add the Jacobian of a body's point that is at ``point`` (3,) in the world to ``J`` (6, nx), in world axes.

    Rows of translation come first, then those of rotation (specification 001 (3.23), (3.26); 002 eq. 3.15, 3.16).
    """
    S, x, y, z = placed.S, point[0], point[1], point[2]
    k = tree.joints[body].last_dof
    while k >= 0:
        c, s = tree.dof_column[k], S[k]
        J[0, c] += s[0] + s[4] * z - s[5] * y
        J[1, c] += s[1] + s[5] * x - s[3] * z
        J[2, c] += s[2] + s[3] * y - s[4] * x
        J[3, c] += s[3]
        J[4, c] += s[4]
        J[5, c] += s[5]
        k = tree.dof_parent[k]


@uncounted()
def centre_of_mass(tree: KinematicTree, placed: Placements, moments: np.ndarray, G: np.ndarray) -> None:
    """Compute the centre of mass of all bodies.

    Args:
        tree: the tree.
        placed: where its bodies are.
        moments: receives first moment [kg m] and mass of what each joint carries, its subtree, shape (njoints, 4).
        G: receives the centre of mass [m], zero where nothing has mass, shape (3,).
    """
    joints, R, p = tree.joints, placed.rotations, placed.origins
    for j in range(joints.size):
        m, lever = joints[j].mass, joints[j].lever
        moments[j, 3] = m
        for r in range(3):
            moments[j, r] = m * (p[j, r] + R[j, r, 0] * lever[0] + R[j, r, 1] * lever[1] + R[j, r, 2] * lever[2])
    for j in range(joints.size - 1, 0, -1):
        above = moments[joints[j].parent]
        for r in range(4):
            above[r] += moments[j, r]
    total = moments[0, 3]
    for r in range(3):
        G[r] = moments[0, r] / total if total > 0.0 else 0.0


@uncounted()
def centre_of_mass_jacobian(tree: KinematicTree, placed: Placements, moments: np.ndarray, J: np.ndarray) -> None:
    """Write the (3, nx) Jacobian of the centre of mass over ``J``; ``moments`` are :func:`centre_of_mass`'."""
    J[:] = 0.0
    total = moments[0, 3]
    if not total > 0.0:
        return
    for k in range(tree.dof_joint.size):
        c, s, carried = tree.dof_column[k], placed.S[k], moments[tree.dof_joint[k]]
        x, y, z, m = carried[0] / total, carried[1] / total, carried[2] / total, carried[3] / total
        J[0, c] += m * s[0] + s[4] * z - s[5] * y
        J[1, c] += m * s[1] + s[5] * x - s[3] * z
        J[2, c] += m * s[2] + s[3] * y - s[4] * x
