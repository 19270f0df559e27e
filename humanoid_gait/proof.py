# SPDX-License-Identifier: Apache-2.0
r"""Pontryagin's conditions of a solution, as numbers: costates from the multipliers of the transcription.

With costates :math:`p_y, p_v` of the state (y, v), multipliers :math:`\rho` of the rows r of the points, and

.. math::

    H = \ell + p_y\cdot v + p_v\cdot a + \rho\cdot r,

a minimum over the controls (a, lambda) has :math:`H_a=0`, :math:`\dot p_y=-H_y`, :math:`\dot p_v=-H_v`, H constant in
every phase whose rows don't know the time, and zero on average over phases of free duration. The costates of the nodes
are the multipliers of the intervals' rows; those of the points are carried there by the adjoint equations. At nodes the
controls are found anew, as the minimum of H: there states and costates are right to the order 2 s of the collocation,
and so is H.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from humanoid_gait.gait import GaitResult
from humanoid_gait.motion import phase_points
from humanoid_gait.point_model import PointModel
from humanoid_model.arrays import Array

_NEWTON = 8
"""Steps at most; one is enough where costs are quadratic."""


@dataclass(frozen=True, eq=False)
class PhaseProof:
    """Conditions of one phase.

    Attributes:
        times: (K,) of the points, from the phase's start [s].
        costates: (N + 1, 2 n) of the nodes.
        hamiltonian: (K,) at the points, cost per second.
        at_nodes: (N, 2) the same at both ends of every interval, less what rows that know the time have done to it.
        maximum: greatest component of H_a, of the largest costate.
        adjoint: greatest step of the costates from node to node that the adjoint equations don't make, likewise.
        spread: of the Hamiltonian at the nodes, of the largest Hamiltonian or cost rate.
        duration: Hamiltonian on average, likewise; 0 where the duration is given.
    """

    times: Array
    costates: Array
    hamiltonian: Array
    at_nodes: Array
    maximum: float
    adjoint: float
    spread: float
    duration: float


@dataclass(frozen=True, eq=False)
class GaitProof:
    """Conditions of a whole gait.

    Attributes:
        phases: of each phase.
        ends: greatest step of the costates between phases, and greatest costate at both ends of the gait, that rows
            there don't make, of the largest costate: transversality.
    """

    phases: tuple[PhaseProof, ...]
    ends: float

    @property
    def numbers(self) -> dict[str, float]:
        """The worst of every condition."""
        names = ("maximum", "adjoint", "spread", "duration")
        return {name: max(getattr(phase, name) for phase in self.phases) for name in names} | {"ends": self.ends}

    def report(self) -> str:
        """Return the numbers in words."""
        found = self.numbers
        return (
            f"H_a {found['maximum']:.0e}, adjoint equations {found['adjoint']:.0e}, "
            f"transversality {found['ends']:.0e}, "
            f"Hamiltonian: spread {found['spread']:.0e}, of free durations {found['duration']:.0e}"
        )


@threadpool_limits.wrap(limits=1, user_api="blas")
def gait_proof(result: GaitResult) -> GaitProof:
    """Return the conditions of all phases of a solution, and of what joins them."""
    transcription = result.transcription
    found = tuple(
        (_impact_proof if point.impact else phase_proof)(result, index)
        for index, point in enumerate(transcription.points)
    )
    n = transcription.layout.n
    nodes = transcription.layout.first
    pulls = _node_pulls(result, nodes)
    worst, none = 0.0, np.zeros(2 * n)
    after = -result.solution.multipliers[transcription.gaps[nodes[1:] - 1, : 2 * n]]
    for k, pull in enumerate(pulls):
        coming = found[k].costates[0] if k < len(found) else none
        going = after[k - 1] if k else none
        worst = max(worst, float(np.abs(coming + pull - going).max()))
    return GaitProof(found, worst / max(float(np.abs(phase.costates).max()) for phase in found))


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
    Hy = pulls[:, :, :n]
    back = gauss.b - gauss.a  # integrals from the points to the next node
    p_y = after[:, None, :n] + h * np.einsum("ij,kjn->kin", back, Hy)
    Hv = pulls[:, :, n : 2 * n] + p_y
    p_v = after[:, None, n:] + h * np.einsum("ij,kjn->kin", back, Hv)
    begins = np.hstack([after[:, k * n : (k + 1) * n] + h * np.einsum("j,kjn->kn", gauss.b, H)
                        for k, H in enumerate((Hy, Hv))])
    costates = np.vstack([begins[:1], after])
    off = begins[1:] + _node_pulls(result, np.arange(first + 1, end)) - after[:-1]
    size = max(float(np.abs(costates).max()), 1e-12)
    Ha = pulls[:, :, 2 * n : 3 * n] + p_v
    flat = np.hstack([p_y.reshape(count, n), p_v.reshape(count, n)])
    hamiltonian = cost + (flat * zeta[:, n : 3 * n]).sum(axis=1)
    scale = max(float(np.abs(hamiltonian).max()), float(np.abs(cost).max()), 1e-12)
    at_nodes = _at_nodes(
        point, solution.x[layout.states()[first : end + 1, : 2 * n]], (begins, after), zeta, rho, p_v.reshape(count, n)
    )
    free = layout.phases[index].free
    mean = float(own.weights[1:-1] @ hamiltonian) / float(own.times[-1])
    return PhaseProof(
        times, costates, hamiltonian, at_nodes, float(np.abs(Ha).max()) / size,
        float(np.abs(off).max(initial=0.0)) / size, float(np.ptp(at_nodes)) / scale, free * abs(mean) / scale,
    )  # fmt: skip


def _impact_proof(result: GaitResult, index: int) -> PhaseProof:
    """Return the conditions of an impact: how costates jump, and the gradient by the jump of the rates, which is 0."""
    transcription, solution = result.transcription, result.solution
    layout, n = transcription.layout, transcription.layout.n
    w, p = solution.x[layout.stages(index)[0]], transcription.parameters(index)
    _, slope, first, _ = transcription.stage(index)
    D, J = (np.asarray(part) for part in first(w, p))
    node = int(layout.first[index])
    nu = solution.multipliers[transcription.gaps[node]]
    pull = np.asarray(slope(w, p)).ravel() + D.T @ nu + J.T @ solution.multipliers[transcription.paths[index][0]]
    costates = np.array([pull[: 2 * n], -nu[: 2 * n]])
    size = max(float(np.abs(costates).max()), 1e-12)
    rates = pull[layout.state : layout.state + layout.points * n]
    none = np.zeros(1)
    return PhaseProof(none, costates, none, none[:, None], float(np.abs(rates).max()) / size, 0.0, 0.0, 0.0)


def _at_nodes(
    point: PointModel, states: Array, costates: tuple[Array, Array], zeta: Array, rho: Array, p_v: Array
) -> Array:
    """(N, 2) Hamiltonian at both ends of the intervals, less the steps that it makes with the costates at nodes."""
    n, s = point.model.n, len(zeta) // len(costates[0])
    found, rates = np.empty((len(costates[0]), 2)), np.empty((len(costates[0]), 2, 2 * n))
    for k, side in np.ndindex(found.shape):
        near, p = k * s + side * (s - 1), costates[side][k]
        at = _least(point, (zeta[near], rho[near], p_v[near]), states[k + side], p[n:])
        rates[k, side] = at[n : 3 * n]
        found[k, side] = float(point.value(at, point.parameters)[0]) + p @ rates[k, side]
    steps = ((costates[0][1:] - costates[1][:-1]) * 0.5 * (rates[1:, 0] + rates[:-1, 1])).sum(axis=1)
    found[1:] -= np.cumsum(steps)[:, None]
    return found


def _least(point: PointModel, near: tuple[Array, Array, Array], state: Array, p_v: Array) -> Array:
    """Return (size,) a state with the accelerations and multipliers that make H least.

    Newton's method on the conditions of the minimum. Bounds and rows are active that are so at the point beside: where
    a multiplier is greater than what is left to the bound.

    Args:
        point: of the phase.
        near: at the point beside: zeta (size,), multipliers of the rows, costates of the velocities (n,).
        state: (2 n,) of the node.
        p_v: (n,) costates of the velocities there.
    """
    n, equal = point.model.n, point.equalities
    zeta, rho = near[0].copy(), near[1].copy()

    def conditions(price: Array) -> tuple[Array, Array, Array, Array]:
        """Rows, their Jacobian, gradient by the controls and Hessian."""
        rows, J = (np.asarray(part) for part in point.first()(zeta, point.parameters))
        pull, H = (np.asarray(part) for part in point.second()(zeta, point.parameters, 1.0, rho))
        pull = pull.ravel()[2 * n :]
        pull[:n] += price
        return rows.ravel(), J, pull, H

    rows, _, pull, _ = conditions(near[2])
    lower = np.concatenate([np.full(n, -np.inf), *[own.lower / point.scale for own in point.loaded]])
    fixed = zeta[2 * n :] - lower < pull
    high, low = point.upper - rows < rho, rows - point.lower < -rho
    high[:equal] = True
    kept, target = high | low, np.where(high, point.upper, point.lower)
    columns = 2 * n + np.flatnonzero(~fixed)
    zeta[: 2 * n], rho[~kept] = state, 0.0
    zeta[2 * n :][fixed] = lower[fixed]
    for _ in range(_NEWTON):
        rows, J, pull, H = conditions(p_v)
        J = J[kept][:, columns]
        K = np.block([[H[np.ix_(columns, columns)], J.T], [J, np.zeros((len(J), len(J)))]])
        step = np.linalg.lstsq(K, -np.concatenate([pull[~fixed], (rows - target)[kept]]), rcond=1e-13)[0]
        zeta[columns] += step[: len(columns)]
        rho[kept] += step[len(columns) :]
        if np.abs(step).max(initial=0.0) < 1e-10 * max(float(np.abs(zeta).max()), 1.0):
            break
    return zeta


def _node_pulls(result: GaitResult, nodes: NDArray[np.int64]) -> Array:
    """(nodes, 2 n) what rows and bounds of the states pull at nodes."""
    transcription, solution = result.transcription, result.solution
    layout = transcription.layout
    columns = layout.states()[nodes, : 2 * layout.n]
    rows = np.concatenate([np.zeros(0, dtype=int), *[at.ravel() for _, at in transcription.kinds]])
    own = transcription.expressions
    jacobian = ca.Function("jacobian", [own.x], [own.jacobian])(solution.x).sparse()
    pulls = jacobian.T[:, rows] @ solution.multipliers[rows] + solution.bound_multipliers
    return np.asarray(pulls[columns])
