# SPDX-License-Identifier: Apache-2.0
r"""Pontryagin's conditions of a solution, as numbers: costates from the multipliers of the transcription.

With costates :math:`p_y, p_v` of the state (y, v), multipliers :math:`\rho` of the rows r of the points, and

.. math::

    H = \ell + p_y\cdot v + p_v\cdot a + \rho\cdot r,

a minimum over the controls (a, lambda) has :math:`H_a=0`, :math:`\dot p_y=-H_y`, :math:`\dot p_v=-H_v`, H constant in
every phase whose rows don't know the time, and H equal to that of the neighbouring phases, and to zero at a free end,
where durations are free. The costates of the nodes are the multipliers of the intervals' rows; those of the points
follow from :math:`H_a=0`, and have to be the ones that the adjoint equations carry there.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from humanoid_gait.gait import GaitResult
from humanoid_gait.motion import phase_points
from humanoid_model.arrays import Array


@dataclass(frozen=True, eq=False)
class PhaseProof:
    """Conditions of one phase; all numbers are relative to the largest costate or Hamiltonian of the phase.

    Attributes:
        times: (K,) of the points, from the phase's start [s].
        costates: (N + 1, 2 n) of the nodes.
        hamiltonian: (K,) at the points, cost per second.
        maximum: greatest component of H_a, costates carried from nodes to points by the adjoint equations.
        adjoint: greatest step of the costates from node to node that the adjoint equations don't make.
        spread: of the Hamiltonian.
    """

    times: Array
    costates: Array
    hamiltonian: Array
    maximum: float
    adjoint: float
    spread: float


def phase_proof(result: GaitResult, index: int) -> PhaseProof:
    """Return the conditions of a phase of a solution.

    Between nodes where soles have to be off the ground costates jump, by the multipliers of these rows; that is part of
    the adjoint equations and is taken out.

    Args:
        result: solved, of any problem.
        index: of the phase.
    """
    transcription, solution = result.transcription, result.solution
    layout, gauss, point = transcription.layout, transcription.gauss, transcription.points[index]
    n, s = layout.n, layout.points
    first, end = layout.first[index : index + 2].tolist()
    own = phase_points(transcription, solution.x, index)
    zeta, times, h = own.zeta[1:-1], own.times[1:-1], float(own.times[-1]) / (end - first)
    factors = solution.multipliers[transcription.paths[index]].reshape(len(zeta), -1)
    rho = factors / own.weights[1:-1, None]
    count, surfaces = len(zeta), np.tile(point.parameters[:, None], len(zeta))
    cost = np.asarray(point.value.map(count)(zeta.T, surfaces)[0]).ravel()
    pull = np.asarray(point.second().map(count)(zeta.T, surfaces, np.ones((1, count)), rho.T)[0]).T
    # Rows are x+ - F(x, u): after an interval the costate is minus their multiplier.
    after = -solution.multipliers[transcription.gaps[first:end, : 2 * n]]
    pulls = pull.reshape(end - first, s, -1)
    # H_y at the points, and H_v with the p_y that is there.
    costates = np.empty((end - first + 1, 2 * n))
    costates[1:] = after
    Hy = pulls[:, :, :n]
    back = gauss.b - gauss.a  # integrals from the points to the next node
    p_y = after[:, None, :n] + h * np.einsum("ij,kjn->kin", back, Hy)
    Hv = pulls[:, :, n : 2 * n] + p_y
    p_v = after[:, None, n:] + h * np.einsum("ij,kjn->kin", back, Hv)
    before = [after[:, k * n : (k + 1) * n] + h * np.einsum("j,kjn->kn", gauss.b, H) for k, H in enumerate((Hy, Hv))]
    begins = np.hstack(before)
    costates[0] = begins[0]
    jumps = _node_pulls(result, first, end)
    off = begins[1:] + jumps - after[:-1]
    size = max(float(np.abs(costates).max()), 1e-12)
    Ha = pulls[:, :, 2 * n : 3 * n] + p_v
    flat = np.hstack([p_y.reshape(count, n), p_v.reshape(count, n)])
    hamiltonian = cost + (flat * zeta[:, n : 3 * n]).sum(axis=1)
    scale = max(float(np.abs(hamiltonian).max()), 1e-12)
    return PhaseProof(
        times, costates, hamiltonian, float(np.abs(Ha).max()) / size,
        float(np.abs(off).max(initial=0.0)) / size, float(np.ptp(hamiltonian)) / scale,
    )  # fmt: skip


def _node_pulls(result: GaitResult, first: int, end: int) -> Array:
    """(nodes between, 2 n) what rows and bounds of the states pull at inner nodes of a phase."""
    transcription, solution = result.transcription, result.solution
    layout = transcription.layout
    columns = layout.states()[first + 1 : end, : 2 * layout.n]
    rows = np.concatenate([np.zeros(0, dtype=int), *[at.ravel() for _, at in transcription.kinds]])
    jacobian = ca.Function("jacobian", [transcription.x], [transcription.jacobian])(solution.x).sparse()
    pulls = jacobian.T[:, rows] @ solution.multipliers[rows] + solution.bound_multipliers
    return np.asarray(pulls[columns])
