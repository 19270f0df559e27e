# SPDX-License-Identifier: Apache-2.0
"""Forces of contacts as affine functions of the controls, F = D(x) u + V(x) (specification 003 section 2.13.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.optimal_control.control_rows import ControlRow


def ground_force(model: PhaseModel, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """D (..., 2, N) and V (..., 2) of the force that the ground exerts on the tree in all: m (r_G'' + g Y).

    r_G'' = J v' + J' v with v' = M^-1 (p' - M' v), which is affine in the controls.

    Args:
        model: of the phase.
        q: (..., n) angles [rad].
        v: (..., n) rates [rad/s].
    """
    tree = model.tree
    J = tree.mass * tree.centre.jacobian(q)
    B = model.control_matrix(q)
    D = J @ np.linalg.solve(tree.mass_matrix(q), B)
    rest = model.acceleration(q, v, np.zeros(model.control_count))
    V = (J @ rest[..., None])[..., 0] + tree.mass * tree.centre.bias(q, v)
    V[..., 1] += tree.mass * tree.gravity
    return D, V


def affine_rows(model: PhaseModel, rows: Sequence[ControlRow], q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """D (..., rows, N) and V (..., rows) of rows of contact forces.

    Args:
        model: of the phase.
        rows: forces, or constraints on them.
        q: (..., n) angles [rad].
        v: (..., n) rates [rad/s].
    """
    D, V = ground_force(model, q, v)
    alpha = np.array([row.ground for row in rows])
    beta = np.array([row.controls for row in rows])
    by_control, rest = alpha @ D + beta, V @ alpha.T + np.array([row.constant for row in rows])
    if any(any(row.accelerations) for row in rows):
        kappa = np.array([row.on_accelerations(model.n) for row in rows])
        by_control = by_control + kappa @ np.linalg.solve(model.tree.mass_matrix(q), model.control_matrix(q))
        rest = rest + model.acceleration(q, v, np.zeros(model.control_count)) @ kappa.T
    return np.asarray(by_control), np.asarray(rest)
