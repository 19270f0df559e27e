# SPDX-License-Identifier: Apache-2.0
"""Compiled forward kinematics: placements, centre of mass, and their derivatives.

Derivatives are with respect to the variables of a :class:`KinematicTree`; a column gets the sum over the coordinates
that follow its variable. Only the columns of a body's chain are touched (specification 001 section 3.2).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from humanoid_planner.kinematics.tree_table import REVOLUTE, Placements, TreeTable


@njit(cache=True)
def place_body(b: int, x: np.ndarray, tree: TreeTable, placed: Placements) -> None:
    """Place a body by its parent's placement and the variables (A.2)."""
    joint = tree.joints[b]
    R, p, a = placed
    parent, rotation, translation, axis = joint.parent, joint.rotation, joint.translation, joint.axis
    ux, uy, uz = axis[0], axis[1], axis[2]
    coordinate = joint.factor * x[joint.column] + joint.offset
    # R_fixed = R_parent R_joint, written out: no temporaries.
    for i in range(3):
        r0, r1, r2 = R[parent, i, 0], R[parent, i, 1], R[parent, i, 2]
        p[b, i] = p[parent, i] + r0 * translation[0] + r1 * translation[1] + r2 * translation[2]
        f0 = r0 * rotation[0, 0] + r1 * rotation[1, 0] + r2 * rotation[2, 0]
        f1 = r0 * rotation[0, 1] + r1 * rotation[1, 1] + r2 * rotation[2, 1]
        f2 = r0 * rotation[0, 2] + r1 * rotation[1, 2] + r2 * rotation[2, 2]
        R[b, i, 0] = f0
        R[b, i, 1] = f1
        R[b, i, 2] = f2
        a[b, i] = f0 * ux + f1 * uy + f2 * uz
    if joint.kind == REVOLUTE:
        c, s = math.cos(coordinate), math.sin(coordinate)
        t = 1.0 - c
        q00, q01, q02 = c + t * ux * ux, t * ux * uy - s * uz, t * ux * uz + s * uy
        q10, q11, q12 = t * ux * uy + s * uz, c + t * uy * uy, t * uy * uz - s * ux
        q20, q21, q22 = t * ux * uz - s * uy, t * uy * uz + s * ux, c + t * uz * uz
        for i in range(3):
            f0, f1, f2 = R[b, i, 0], R[b, i, 1], R[b, i, 2]
            R[b, i, 0] = f0 * q00 + f1 * q10 + f2 * q20
            R[b, i, 1] = f0 * q01 + f1 * q11 + f2 * q21
            R[b, i, 2] = f0 * q02 + f1 * q12 + f2 * q22
    else:
        for i in range(3):
            p[b, i] += coordinate * a[b, i]


@njit(cache=True)
def place_all(x: np.ndarray, tree: TreeTable, placed: Placements) -> None:
    """Place all bodies in one pass (block mode, specification 001 section 3.3)."""
    for b in range(1, len(tree.joints)):
        place_body(b, x, tree, placed)


@njit(cache=True)
def place_chain(body: int, known: np.ndarray, x: np.ndarray, tree: TreeTable, placed: Placements) -> int:
    """Place one body's chain, only bodies whose flag in ``known`` is down; how many were computed."""
    count = 0
    for i in range(tree.joints[body].chain_begin, tree.joints[body].chain_end):
        b = tree.chains[i]
        if not known[b]:
            place_body(b, x, tree, placed)
            known[b] = True
            count += 1
    return count


@njit(cache=True)
def point_jacobian(body: int, point: np.ndarray, tree: TreeTable, placed: Placements, J: np.ndarray) -> None:
    """(3, nx) Jacobian (3.23) of a body's point that is at ``point`` in the world; ``J`` is zero before."""
    p, a = placed.origins, placed.axes
    for i in range(tree.joints[body].chain_begin, tree.joints[body].chain_end):
        k = tree.chains[i]
        c, f = tree.joints[k].column, tree.joints[k].factor
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        if tree.joints[k].kind == REVOLUTE:
            dx, dy, dz = point[0] - p[k, 0], point[1] - p[k, 1], point[2] - p[k, 2]
            J[0, c] += f * (ay * dz - az * dy)
            J[1, c] += f * (az * dx - ax * dz)
            J[2, c] += f * (ax * dy - ay * dx)
        else:
            J[0, c] += f * ax
            J[1, c] += f * ay
            J[2, c] += f * az


@njit(cache=True)
def direction_jacobian(body: int, direction: np.ndarray, tree: TreeTable, placed: Placements, J: np.ndarray) -> None:
    """(3, nx) Jacobian (3.26) of a body's direction that is ``direction`` in the world; ``J`` is zero before."""
    ux, uy, uz = direction[0], direction[1], direction[2]
    for i in range(tree.joints[body].chain_begin, tree.joints[body].chain_end):
        k = tree.chains[i]
        if tree.joints[k].kind == REVOLUTE:
            c, f = tree.joints[k].column, tree.joints[k].factor
            ax, ay, az = placed.axes[k, 0], placed.axes[k, 1], placed.axes[k, 2]
            J[0, c] += f * (ay * uz - az * uy)
            J[1, c] += f * (az * ux - ax * uz)
            J[2, c] += f * (ax * uy - ay * ux)


@njit(cache=True)
def centre_of_mass(tree: TreeTable, placed: Placements, G: np.ndarray) -> None:
    """Compute the centre of mass of all bodies, (3,)."""
    R, p = placed.rotations, placed.origins
    total = 0.0
    G[0] = G[1] = G[2] = 0.0
    for b in range(1, len(tree.joints)):
        m, com = tree.joints[b].mass, tree.joints[b].com
        if m != 0.0:
            total += m
            for i in range(3):
                G[i] += m * (p[b, i] + R[b, i, 0] * com[0] + R[b, i, 1] * com[1] + R[b, i, 2] * com[2])
    if total > 0.0:
        for i in range(3):
            G[i] /= total


@njit(cache=True)
def centre_of_mass_jacobian(tree: TreeTable, placed: Placements, moments: np.ndarray, J: np.ndarray) -> None:
    """(3, nx) Jacobian of the centre of mass; ``moments`` (nb, 4) is room for mass and first moment of subtrees."""
    R, p, a = placed
    joints = tree.joints
    count = len(joints)
    for b in range(count):
        m, com = joints[b].mass, joints[b].com
        moments[b, 3] = m
        for i in range(3):
            moments[b, i] = m * (p[b, i] + R[b, i, 0] * com[0] + R[b, i, 1] * com[1] + R[b, i, 2] * com[2])
    for b in range(count - 1, 0, -1):
        for i in range(4):
            moments[joints[b].parent, i] += moments[b, i]
    J[:] = 0.0
    total = moments[0, 3]
    if total == 0.0:
        return
    for k in range(1, count):
        m = moments[k, 3]
        c, f = joints[k].column, joints[k].factor / total
        ax, ay, az = a[k, 0], a[k, 1], a[k, 2]
        if joints[k].kind == REVOLUTE:
            dx, dy, dz = moments[k, 0] - m * p[k, 0], moments[k, 1] - m * p[k, 1], moments[k, 2] - m * p[k, 2]
            J[0, c] += f * (ay * dz - az * dy)
            J[1, c] += f * (az * dx - ax * dz)
            J[2, c] += f * (ax * dy - ay * dx)
        else:
            J[0, c] += f * m * ax
            J[1, c] += f * m * ay
            J[2, c] += f * m * az
