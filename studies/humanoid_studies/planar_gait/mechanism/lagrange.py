# SPDX-License-Identifier: Apache-2.0
"""Lagrange's equations with multipliers, the reference form of a mechanism with loops (specification 003 section 2.4).

    M v' + B(q, v) = -V_{,q} - D v + Q + G_r^T lambda,   g(q) = 0.          (I.7)

The closures g are a phase model's; its cut forces are these multipliers, each component on its own control.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.mechanism.planar_tree import PlanarTree


def christoffel_symbols(tree: PlanarTree, q: ArrayLike) -> Array:
    """(n, n, n) Gamma_{i,jk} = (M_{ij,k} + M_{ki,j} - M_{jk,i}) / 2 at angles (n,)."""
    D = np.array([tree.mass_derivative(q, k) for k in range(tree.n)])  # D[k, i, j] = M_{ij,k}
    return np.asarray(0.5 * (np.einsum("kij->ijk", D) + np.einsum("jki->ijk", D) - D))


def velocity_forces(tree: PlanarTree, q: ArrayLike, v: ArrayLike) -> Array:
    """(n,) B_i = Gamma_{i,jk} v_j v_k [N m]: centrifugal; absolute angles have no Coriolis terms."""
    velocity = np.asarray(v, dtype=float)
    return np.asarray(np.einsum("ijk,j,k->i", christoffel_symbols(tree, q), velocity, velocity))


def closure_bias(model: PhaseModel, q: ArrayLike, v: ArrayLike) -> Array:
    """(..., m) v^T H_e v: what the closures accelerate by at zero v', equation (I.15) [m/s²]."""
    return np.asarray((model.closure_hessian(q) * np.asarray(v, dtype=float)[..., None, :] ** 2).sum(axis=-1))


def constrained_acceleration(model: PhaseModel, q: ArrayLike, v: ArrayLike, torques: ArrayLike) -> tuple[Array, Array]:
    """Accelerations and multipliers of the closed mechanism from one system (KKT), equation (I.7) twice derived.

    Args:
        model: with its closures.
        q: (n,) angles that close the loops [rad].
        v: (n,) rates that keep them closed [rad/s].
        torques: (n_a,) of the actuators [N m].

    Returns:
        v' (n,) and lambda (m,): forces along X and Y at each closing point [N].

    Raises:
        InputError: the closures depend on each other at this configuration.
    """
    velocity = np.asarray(v, dtype=float)
    G = model.closure_jacobian(q)
    m, n = G.shape
    _independent(model, G)
    matrix = np.block([[model.tree.mass_matrix(q), -G.T], [G, np.zeros((m, m))]])
    forces = (
        model.torque_matrix @ np.asarray(torques, dtype=float)
        - model.tree.potential_gradient(q)
        - model.damping @ velocity
        - velocity_forces(model.tree, q, velocity)
    )
    solution = np.linalg.solve(matrix, np.concatenate([forces, -closure_bias(model, q, velocity)]))
    return solution[:n], solution[n:]


def _independent(model: PhaseModel, G: Array) -> None:
    if len(G) and int(np.linalg.matrix_rank(G)) < len(G):
        raise InputError(
            f"closures have rank {np.linalg.matrix_rank(G)}, not {len(G)}",
            element=model.name,
            remedy="Choose a configuration that isn't singular",
        )
