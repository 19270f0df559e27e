# SPDX-License-Identifier: Apache-2.0
r"""Values and derivatives of a transcription as numbers, stage by stage.

Points are evaluated all at once (:mod:`humanoid_gait.batched`). Costs are curved in efforts and in what they take
besides, efforts in coordinates and rates: with :math:`\tau(\zeta)` and the cost rate :math:`\ell(\tau,\zeta)`

.. math::

    \nabla^2\ell=J_\tau^\top\ell_{\tau\tau}J_\tau+J_\tau^\top\ell_{\tau\zeta}+\ell_{\tau\zeta}^\top J_\tau
    +\ell_{\zeta\zeta}+\sum_j\ell_{\tau_j}\nabla^2\tau_j,

and the last term goes with that of the rows' multipliers. The maps of an interval's unknowns to its points are those of
:meth:`Transcription.interval`: a small matrix for every coordinate alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from humanoid_gait.batched import BatchedFunction
from humanoid_gait.transcription import Rows, Transcription
from humanoid_model.arrays import Array
from humanoid_model.compiling import counted


@dataclass(frozen=True, eq=False)
class NodeRows:
    """Linearised rows of one node's state.

    Attributes:
        rows: (r,) their numbers.
        jacobian: (r, state).
    """

    rows: NDArray[np.int64]
    jacobian: Array


@dataclass(frozen=True, eq=False)
class Linearised:
    """First derivatives at one iterate.

    Attributes:
        gradient: (V,) of the cost.
        dynamics: by phase (N, state, stage) what the next state changes with the interval's unknowns.
        paths: by phase (N, rows, stage) Jacobian of the points' rows.
        nodes: by node, its rows.
        points: by phase, what the Hessian takes of the points.
    """

    gradient: Array
    dynamics: list[Array]
    paths: list[Array]
    nodes: list[list[NodeRows]]
    points: list[_PointDerivatives]


@dataclass(frozen=True, eq=False)
class _PointDerivatives:
    """Of the K points of a phase: zeta, weights, cost rates, their gradients, Jacobians, curvature of the cost."""

    zeta: Array
    weights: Array
    cost: Array
    gradient: Array
    efforts: Array
    held: Array
    by_effort: Array
    curvature: tuple[Array, Array, Array]


class _Node:
    """Rows of a kind as functions of the states they are of."""

    def __init__(self, kind: Rows, rows: NDArray[np.int64]) -> None:
        z, p = ca.SX.sym("z", kind.columns.shape[1]), ca.SX.sym("p", len(kind.parameters))
        values, factors = kind.function(z, p), ca.SX.sym("factors", rows.shape[1])
        self.kind, self.rows = kind, rows
        content = kind.function.serialize().encode()
        self._value, self._first, self._second = (BatchedFunction.stored(name + content, make) for name, make in (
            (b"value", lambda: ca.Function("value", [z, p], [ca.densify(values)])),
            (b"first", lambda: ca.Function("first", [z, p], [ca.jacobian(values, z)])),
            (b"second", lambda: ca.Function(
                "second", [z, p, factors], [ca.hessian(ca.dot(factors, values), z)[0]]
            )),
        ))  # fmt: skip

    def value(self, x: Array) -> Array:
        """(places, rows) values."""
        return self._value(x[self.kind.columns], self.kind.parameters)[0]

    def first(self, x: Array) -> Array:
        """(places, rows, unknowns) Jacobians."""
        return self._first.dense(0, self._first(x[self.kind.columns], self.kind.parameters)[0])

    def add_second(self, x: Array, multipliers: Array, found: list[Array]) -> None:
        """Add Hessians, with multipliers (places, rows), to those of their places."""
        (entries,) = self._second(x[self.kind.columns], self.kind.parameters, multipliers)
        rows, columns = self._second.patterns[0]
        for H, part in zip(found, entries, strict=True):
            H[rows, columns] += part


class Stages:
    """A transcription whose values and derivatives are numbers.

    Attributes:
        transcription: the program.
    """

    def __init__(self, transcription: Transcription) -> None:
        """Prepare what evaluations take."""
        self.transcription = transcription
        self._nodes = [
            _Node(kind, rows) for kind, (_, rows) in zip(transcription.node_rows, transcription.kinds, strict=True)
        ]
        self._place = [layout_places(transcription, index) for index in range(len(transcription.points))]

    def _interval_length(self, x: Array, index: int) -> Array:
        """(N,) lengths of a phase's intervals [s]."""
        layout = self.transcription.layout
        w = layout.stages(index)
        place = layout.durations.get(index)
        if place is None:
            return np.full(len(w), self.transcription.parameters(index)[0])
        return np.asarray(x[w[:, place]] / layout.phases[index].intervals)

    def _maps(self, h: Array) -> tuple[Array, Array]:
        """(N, s, 3, 2 + s) of y, rate and accelerations to those of the points, and its derivative by the length."""
        gauss, s = self.transcription.gauss, self.transcription.layout.points
        T, slope = np.zeros((len(h), s, 3, 2 + s)), np.zeros((len(h), s, 3, 2 + s))
        T[:, :, 0, 0] = T[:, :, 1, 1] = 1.0
        T[:, :, 0, 1] = h[:, None] * gauss.c
        T[:, :, 0, 2:] = h[:, None, None] ** 2 * gauss.twice
        T[:, :, 1, 2:] = h[:, None, None] * gauss.a
        T[:, :, 2, 2:] = np.eye(s)
        slope[:, :, 0, 1] = gauss.c
        slope[:, :, 0, 2:] = 2.0 * h[:, None, None] * gauss.twice
        slope[:, :, 1, 2:] = gauss.a
        return T, slope

    def _motion(self, w: Array) -> Array:
        """(N, 2 + s, n) coordinates, rates and accelerations of intervals' unknowns."""
        layout = self.transcription.layout
        n, first = layout.n, layout.state
        blocks = [w[:, :n], w[:, n : 2 * n]]
        blocks += [w[:, first + i * n : first + (i + 1) * n] for i in range(layout.points)]
        return np.stack(blocks, axis=1)

    def _zeta(self, x: Array, index: int) -> tuple[Array, Array, Array]:
        """Return the points' unknowns (K, m), motion of the intervals and their lengths."""
        layout = self.transcription.layout
        w, h = x[layout.stages(index)], self._interval_length(x, index)
        n, s, count = layout.n, layout.points, layout.multipliers[index]
        motion = self._motion(w)
        at = self._maps(h)[0] @ motion[:, None]
        forces = w[:, layout.state + s * n :].reshape(len(w), s, count)
        return np.concatenate([at.reshape(len(w), s, 3 * n), forces], axis=2).reshape(len(w) * s, -1), motion, h

    def _weights(self, index: int, h: Array) -> Array:
        """(N,) of intervals in what is summed up over time [s]; an impact counts as one second."""
        return np.ones(1) if self.transcription.points[index].impact else h

    def _step(self, index: int, h: Array) -> tuple[Array, Array]:
        """(N, 2, 2 + s) of y, rate and accelerations to the next y and rate, and its derivative by the length."""
        gauss, s = self.transcription.gauss, self.transcription.layout.points
        T, slope = np.zeros((len(h), 2, 2 + s)), np.zeros((len(h), 2, 2 + s))
        T[:, 0, 0] = T[:, 1, 1] = 1.0
        T[:, 0, 1] = h
        T[:, 0, 2:] = h[:, None] ** 2 * gauss.b * (1.0 - gauss.c)
        T[:, 1, 2:] = self._weights(index, h)[:, None] * gauss.b
        slope[:, 0, 1] = 1.0
        slope[:, 0, 2:] = 2.0 * h[:, None] * gauss.b * (1.0 - gauss.c)
        slope[:, 1, 2:] = gauss.b
        return T, slope

    def values(self, x: Array) -> tuple[float, Array]:
        """Return the cost and the rows (R,) of unknowns (V,)."""
        t = self.transcription
        layout, n = t.layout, t.layout.n
        cost, rows = 0.0, np.zeros(len(t.row_lower))
        states = x[layout.states()]
        for index, point in enumerate(t.points):
            zeta, motion, h = self._zeta(x, index)
            rate, own = point.batched_value(zeta, point.parameters)
            weights = np.repeat(self._weights(index, h), layout.points)
            cost += float(weights * np.tile(t.gauss.b, len(h)) @ rate[:, 0])
            rows[t.paths[index]] = own.reshape(len(h), -1)
            nodes = slice(layout.first[index], layout.first[index + 1])
            after = states[layout.first[index] + 1 : layout.first[index + 1] + 1] - states[nodes]
            after[:, : 2 * n] = states[layout.first[index] + 1 : layout.first[index + 1] + 1, : 2 * n]
            after[:, : 2 * n] -= (self._step(index, h)[0] @ motion).reshape(len(h), 2 * n)
            rows[t.gaps[nodes]] = after
        for node in self._nodes:
            rows[node.rows] = node.value(x)
        return cost, rows

    def linearised(self, x: Array) -> Linearised:
        """Return first derivatives at unknowns (V,)."""
        t = self.transcription
        layout, n, s = t.layout, t.layout.n, t.layout.points
        gradient = np.zeros(layout.unknowns)
        dynamics: list[Array] = []
        paths: list[Array] = []
        points = []
        for index, point in enumerate(t.points):
            zeta, motion, h = self._zeta(x, index)
            weights = np.repeat(self._weights(index, h), s) * np.tile(t.gauss.b, len(h))
            cost = point.batched_value(zeta, point.parameters)[0][:, 0]
            slopes, *parts = point.batched_first(zeta, point.parameters)
            first = point.batched_first
            J, held = (first.dense(1 + i, own) for i, own in enumerate(parts[:2]))
            curvature = parts[3], parts[4], parts[5]
            points.append(_PointDerivatives(zeta, weights, cost, slopes, J, held, parts[2], curvature))
            maps, bends = self._maps(h)
            place = self._place[index]
            path = self._path(index, J, held)
            count = path.shape[1]
            stage = layout.state + layout.controls(index)
            duration = (bends @ motion[:, None]).reshape(len(zeta), 3 * n) / layout.phases[index].intervals
            G = np.zeros((len(h), s * count, stage))
            _carry_rows(path, maps.reshape(-1, 3, 2 + s), duration, place.blocks, place.forces, place.duration, G)
            paths.append(G)
            D = np.zeros((len(h), layout.state, stage))
            D[:, np.arange(2 * n, layout.state), np.arange(2 * n, layout.state)] = 1.0
            steps, bent = self._step(index, h)
            for i in range(2):
                for j, first_column in enumerate(place.blocks):
                    D[:, i * n + np.arange(n), first_column + np.arange(n)] = steps[:, i, j, None]
            own = np.zeros((len(h), stage))
            _carry_rows(
                (weights[:, None] * slopes)[:, None, :], maps.reshape(-1, 3, 2 + s), duration, place.blocks,
                place.forces, place.duration, sums := np.zeros((len(h), s, stage)),
            )  # fmt: skip
            own += sums.sum(axis=1)
            if place.duration >= 0:
                D[:, : 2 * n, place.duration] = (bent @ motion).reshape(len(h), 2 * n) / layout.phases[index].intervals
                own[:, place.duration] += cost.reshape(len(h), s) @ t.gauss.b / layout.phases[index].intervals
            dynamics.append(D)
            gradient[layout.stages(index)] += own
        nodes: list[list[NodeRows]] = [[] for _ in layout.starts]
        for node in self._nodes:
            J = node.first(x)
            for place_, rows, own in zip(node.kind.stage.tolist(), node.rows, J, strict=True):
                nodes[place_].append(NodeRows(rows, own))
        return Linearised(gradient, dynamics, paths, nodes, points)

    def _path(self, index: int, efforts: Array, held: Array) -> Array:
        """(K, rows, m) Jacobians of the points' rows, of those of efforts and accelerations of contacts."""
        model, place = self.transcription.points[index].model, self._place[index]
        driven = efforts[:, place.limited] / place.limit[:, None]
        excess = self.transcription.points[index].excess
        excess = np.broadcast_to(excess, (len(efforts), *excess.shape))
        return np.concatenate([efforts[:, model.free] / model.weight, held, driven, excess], axis=1)

    def hessian(self, x: Array, at: Linearised, multipliers: Array, stiffness: Array) -> list[Array]:
        """Return the Lagrangian's Hessian by phase (N, stage, stage), and of the last node (1, state, state).

        Args:
            x: (V,) unknowns.
            at: first derivatives there.
            multipliers: (R,) of the rows.
            stiffness: (R,) weights of squares of the points' rows, which are added.
        """
        t = self.transcription
        layout, n, s = t.layout, t.layout.n, t.layout.points
        found: list[Array] = []
        for index, point in enumerate(t.points):
            own, place = at.points[index], self._place[index]
            mu = multipliers[t.paths[index]].reshape(len(own.zeta), -1)
            k = stiffness[t.paths[index]].reshape(len(own.zeta), -1)
            limited = slice(point.equalities, point.equalities + len(place.limited))
            model = point.model
            free = len(model.free)
            efforts = np.zeros((len(mu), n))
            efforts[:, model.driven] = own.weights[:, None] * own.by_effort
            efforts[:, model.free] += mu[:, :free] / model.weight
            efforts[:, place.limited] += mu[:, limited] / place.limit
            (entries,) = point.batched_second(own.zeta, point.parameters, efforts, mu[:, free : point.equalities])
            H = np.zeros((len(mu), point.size, point.size))
            rows, columns = point.batched_second.patterns[0]
            H[:, rows, columns] = entries
            below = rows >= 2 * n
            H[:, columns[below], rows[below]] = entries[:, below]
            by_both, crossed, by_zeta = (own.weights[:, None] * part for part in own.curvature)
            first = point.batched_first
            J = own.efforts[:, model.driven]
            turned = J.transpose(0, 2, 1)
            stiff = first.dense(4, by_both)
            stiff[:, place.limited_driven, place.limited_driven] += k[:, limited] / place.limit**2
            H += turned @ (stiff @ J)
            if crossed.shape[1]:
                cross = turned @ first.dense(5, crossed)
                H += cross + cross.transpose(0, 2, 1)
            H[:, first.patterns[6][0], first.patterns[6][1]] += by_zeta
            H += np.einsum("ri,kr,rj->kij", point.excess, k[:, limited.stop :], point.excess)
            h = self._interval_length(x, index)
            maps, bends = self._maps(h)
            motion = self._motion(x[layout.stages(index)])
            count = layout.phases[index].intervals
            duration = (bends @ motion[:, None]).reshape(len(mu), 3 * n) / count
            W = np.zeros((len(h), at.paths[index].shape[2], at.paths[index].shape[2]))
            _carry_hessian(H, maps.reshape(-1, 3, 2 + s), duration, place.blocks, place.forces, place.duration, W)
            if place.duration >= 0:
                self._bend(W, index, own, mu, multipliers, motion, h)
            found.append(W)
        last = np.zeros((1, layout.state, layout.state))
        found.append(last)
        for node in self._nodes:
            phases = np.searchsorted(layout.first, node.kind.stage, side="right") - 1
            at_nodes = zip(phases.tolist(), node.kind.stage.tolist(), strict=True)
            blocks = [found[phase][k - layout.first[phase]] for phase, k in at_nodes]
            node.add_second(x, multipliers[node.rows], blocks)
        return found

    def _bend(
        self, W: Array, index: int, own: _PointDerivatives, mu: Array, multipliers: Array, motion: Array, h: Array
    ) -> None:
        """Add what the maps bend with the duration, and the weights of the points with it."""
        t = self.transcription
        layout, n, s, gauss = t.layout, t.layout.n, t.layout.points, t.gauss
        place, count = self._place[index], layout.phases[index].intervals
        J = self._path(index, own.efforts, own.held)
        pull = own.weights[:, None] * own.gradient + np.einsum("kr,krm->km", mu, J)
        pull = pull[:, : 3 * n].reshape(len(h), s, 3, n)
        maps, bends = self._maps(h)
        bent = self._step(index, h)[1]
        nu = multipliers[t.gaps[layout.first[index] : layout.first[index + 1], : 2 * n]].reshape(len(h), 2, n)
        cross = np.einsum("kirj,kirn->kjn", bends, pull) - np.einsum("krj,krn->kjn", bent, nu)
        rates = own.gradient[:, : 3 * n].reshape(len(h), s, 3, n) * gauss.b[:, None, None]
        cross += np.einsum("kirj,kirn->kjn", maps, rates)
        d = place.duration
        for j, first in enumerate(place.blocks):
            columns = first + np.arange(n)
            W[:, columns, d] += cross[:, j] / count
            W[:, d, columns] += cross[:, j] / count
        forces = own.gradient[:, 3 * n :].reshape(len(h), s, -1) * gauss.b[:, None]
        for i, first in enumerate(place.forces):
            columns = first + np.arange(forces.shape[2])
            W[:, columns, d] += forces[:, i] / count
            W[:, d, columns] += forces[:, i] / count
        accelerations = motion[:, 2:]
        twice = 2.0 * np.einsum("kin,ij,kjn->k", pull[:, :, 0], gauss.twice, accelerations)
        twice -= 2.0 * np.einsum("kn,j,kjn->k", nu[:, 0], gauss.b * (1.0 - gauss.c), accelerations)
        twice += 2.0 * np.einsum("kirn,kirn->k", bends @ motion[:, None], rates)
        W[:, d, d] += twice / count**2


@dataclass(frozen=True, eq=False)
class _Places:
    """Where blocks of an interval's unknowns are: of y, rate and accelerations; forces of each point; the duration."""

    blocks: NDArray[np.int64]
    forces: NDArray[np.int64]
    duration: int
    limited: NDArray[np.int64]
    limited_driven: NDArray[np.int64]
    limit: Array


def layout_places(t: Transcription, index: int) -> _Places:
    """Return the places of a phase."""
    layout, n, s = t.layout, t.layout.n, t.layout.points
    blocks = [0, n, *(layout.state + i * n for i in range(s))]
    forces = [layout.state + s * n + i * layout.multipliers[index] for i in range(s)]
    limited, model = t.points[index].limited, t.points[index].model
    return _Places(
        np.array(blocks, dtype=np.int64), np.array(forces, dtype=np.int64), layout.durations.get(index, -1),
        model.driven[limited], limited, model.limit[limited],
    )  # fmt: skip


@counted()
def _carry_rows(rows, maps, duration, blocks, forces, place, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Rows' derivatives by the points' unknowns (K, r, m) become those by the intervals' (N, s r, stage)."""
    points, count, size = rows.shape
    n, s = duration.shape[1] // 3, len(forces)
    for k in range(points):
        i = k % s
        for r in range(count):
            out, row = found[k // s, i * count + r], rows[k, r]
            for j in range(len(blocks)):
                a, b, c = maps[k, 0, j], maps[k, 1, j], maps[k, 2, j]
                for q in range(n):
                    out[blocks[j] + q] = a * row[q] + b * row[n + q] + c * row[2 * n + q]
            for q in range(size - 3 * n):
                out[forces[i] + q] = row[3 * n + q]
            if place >= 0:
                total = 0.0
                for q in range(3 * n):
                    total += row[q] * duration[k, q]
                out[place] = total


@counted()
def _carry_hessian(H, maps, duration, blocks, forces, place, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Hessians by the points' unknowns (K, m, m) become those by the intervals' (N, stage, stage), summed up."""
    points, size = H.shape[0], H.shape[1]
    n, s, width = duration.shape[1] // 3, len(forces), len(blocks)
    count = size - 3 * n
    right = np.empty((size, found.shape[1]))
    for k in range(points):
        i, out = k % s, found[k // s]
        right[:] = 0.0
        for r in range(size):
            row, own = H[k, r], right[r]
            for j in range(width):
                a, b, c = maps[k, 0, j], maps[k, 1, j], maps[k, 2, j]
                for q in range(n):
                    own[blocks[j] + q] = a * row[q] + b * row[n + q] + c * row[2 * n + q]
            for q in range(count):
                own[forces[i] + q] = row[3 * n + q]
            if place >= 0:
                total = 0.0
                for q in range(3 * n):
                    total += row[q] * duration[k, q]
                own[place] = total
        for j in range(width):
            a, b, c = maps[k, 0, j], maps[k, 1, j], maps[k, 2, j]
            for q in range(n):
                target = out[blocks[j] + q]
                one, two, three = right[q], right[n + q], right[2 * n + q]
                for v in range(len(target)):
                    target[v] += a * one[v] + b * two[v] + c * three[v]
        for q in range(count):
            out[forces[i] + q] += right[3 * n + q]
        if place >= 0:
            for q in range(3 * n):
                out[place] += duration[k, q] * right[q]
