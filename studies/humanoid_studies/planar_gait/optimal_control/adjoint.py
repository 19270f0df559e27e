# SPDX-License-Identifier: Apache-2.0
"""The adjoint equation written out (specification 003 section 2.23), as the plain counterpart of the compiled one.

With v = M^-1 p, damping -D v, and sums over k of a_k M_{,k} = diag(a) N - N diag(a), where N is the turning matrix,

    s = w_q + (sum_i w_p,i M_{,i}) v - D^T w_p - dl_r/dv,       eta = M^-1 s,       w_p' = -eta,
    w_q,k' = eta^T M_{,k} v - 1/2 sum_i w_p,i v^T M_{,ik} v + sum_i w_p,i V_{,ik} - w_p^T B_{,k} u + dl_r/dq_k.
"""

from __future__ import annotations

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem


def adjoint_rates(problem: PhaseProblem, x: Reals, w: Reals, u: Reals) -> Reals:
    """(K, 2n) w' at states x (K, 2n), costates w (K, 2n) and controls u (K, N), for closure and slap penalties.

    Inequality penalties and constraints that depend on the state aren't in this form.
    """
    model, tree = problem.scaled_model, problem.tree
    n = model.n
    q, p = x[:, :n], x[:, n:]
    w_q, w_p = w[:, :n], w[:, n:]
    turning = tree.turning.astype(float)
    M, N = tree.mass_matrix(q), tree.turning_matrix(q)
    turned_part = M - tree.rotors
    v = np.linalg.solve(M, p[..., None])[..., 0]

    def times(matrix: Reals, vector: Reals) -> Reals:
        return np.asarray((matrix @ vector[..., None])[..., 0])

    turned = w_p * turning
    s = w_q + turned * times(N, v) - times(N, turned * v) - w_p @ model.damping
    eta = np.linalg.solve(M, s[..., None])[..., 0]
    # eta^T M_{,k} v, then 1/2 sum_i w_i v^T M_{,ik} v: for i = k the row -M_kj, for others the entries M_ik.
    rate = turning * (eta * times(N, v) + v * times(N, eta))
    moving = v * turning
    diagonal = turned_part[..., np.arange(n), np.arange(n)]
    off = times(turned_part, v) - diagonal * v
    second = -turned * v * off + moving * (times(turned_part, turned * v) - diagonal * turned * v)
    rate -= turning * second
    rate += w_p * tree.potential_curvature(q)
    # w_p^T B_{,k} u: the Jacobian of a point has its own curvature on the diagonal alone.
    for column, force in enumerate(model.cut_forces, start=model.torque_count):
        H = model.points[force.point].hessian(q)
        curvature = complex(force.direction).real * H[..., 0, :] + complex(force.direction).imag * H[..., 1, :]
        rate -= w_p * curvature * u[:, column, None]
    penalties = problem.penalties
    if model.point_closures and not problem.hard_closure:
        gap, G = model.closure(q), model.closure_jacobian(q)
        rate += penalties.closure * np.einsum("kij,ki->kj", G, gap)
    for closure, angle in zip(model.angle_closures, np.moveaxis(model.slap(q), -1, 0), strict=True):
        rate[:, tree.index(closure.coordinate)] += penalties.slap * angle
    return np.concatenate([rate, -eta], axis=1)
