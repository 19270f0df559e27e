# SPDX-License-Identifier: Apache-2.0
"""Energy of a tree, and the inertia that each of its coordinates moves, without its mass matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_model.tree.kinematic_tree import KinematicTree
from humanoid_model.tree.tree_motion import TreeMotion


@dataclass(frozen=True)
class Energy:
    """Mechanical energy of the world.

    Attributes:
        kinetic: of all bodies and rotors [J].
        potential: in gravity [J].
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Sum of both [J]."""
        return self.kinetic + self.potential


def kinetic_energy(tree: KinematicTree, motion: TreeMotion, v: NDArray[np.float64]) -> float:
    """Of all bodies and rotors [J].

    Args:
        tree: the tree.
        motion: placements and twists at the state.
        v: velocity, shape (nv,).
    """
    linear, angular = motion.twists[:, :3], motion.twists[:, 3:]
    velocities = linear + np.cross(angular, _centres(tree, motion))
    spins = np.einsum("jrc,jr->jc", motion.rotations, angular)  # in the bodies' axes
    kinetic = tree.joints["mass"] @ np.einsum("ji,ji->j", velocities, velocities)
    kinetic += np.einsum("ji,jik,jk->", spins, tree.joints["inertia"], spins)
    return 0.5 * float(kinetic + tree.armature @ v**2)


def potential_energy(tree: KinematicTree, motion: TreeMotion) -> float:
    """Of all bodies in gravity, zero at the world's origin [J]; ``motion`` has the placements."""
    return -float(tree.joints["mass"] @ _centres(tree, motion) @ tree.gravity)


def moved_inertias(tree: KinematicTree, motion: TreeMotion) -> NDArray[np.float64]:
    """Return the diagonal of the mass matrix, armatures included [kg m^2 or kg], shape (nv,).

    Args:
        tree: the tree.
        motion: placements and subspaces at the configuration.
    """
    n = tree.joints.size
    centres = _centres(tree, motion)
    turned = motion.rotations @ tree.joints["inertia"] @ np.swapaxes(motion.rotations, 1, 2)
    cross = np.zeros((n, 3, 3))
    for (r, c), (axis, sign) in {
        (0, 1): (2, -1.0), (0, 2): (1, 1.0), (1, 0): (2, 1.0), (1, 2): (0, -1.0), (2, 0): (1, -1.0), (2, 1): (0, 1.0)
    }.items():  # fmt: skip
        cross[:, r, c] = sign * centres[:, axis]
    masses = tree.joints["mass"][:, None, None]
    inertias = np.zeros((n, 6, 6))  # at the world origin, linear part first
    inertias[:, :3, :3] = masses * np.eye(3)
    inertias[:, :3, 3:] = -masses * cross
    inertias[:, 3:, :3] = masses * cross
    inertias[:, 3:, 3:] = turned - masses * (cross @ cross)
    parents = tree.joints["parent"]
    for j in range(n - 1, 0, -1):  # children have higher numbers than their parents
        if parents[j] > 0:
            inertias[parents[j]] += inertias[j]
    return np.einsum("ki,kij,kj->k", motion.S, inertias[tree.dof_joint], motion.S) + tree.armature


def _centres(tree: KinematicTree, motion: TreeMotion) -> NDArray[np.float64]:
    """Return centres of mass in the world [m], shape (njoints, 3)."""
    return np.einsum("jrc,jc->jr", motion.rotations, tree.joints["lever"]) + motion.origins
