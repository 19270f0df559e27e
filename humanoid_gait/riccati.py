# SPDX-License-Identifier: Apache-2.0
r"""Newton's linear equations of a program of stages, by dynamic programming with equality constraints.

Minimised is :math:`\sum_k\tfrac12 w_k^\top Q_kw_k+q_k^\top w_k` over :math:`w_k=(x_k,u_k)` with
:math:`x_{k+1}=D_kw_k+d_k` and rows :math:`C_kw_k+c_k=0`. Backward, rows are solved for as many controls as they have
(orthogonal factors with pivoting); what they can't decide is asked of the state, along with its own rows; the rest is a
positive definite step of Riccati's recursion (A. Laine, C. Tomlin, Efficient computation of feedback control for
equality-constrained LQR, ICRA 2019). A step that isn't positive definite shows that the whole isn't a minimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from humanoid_model.arrays import Array
from humanoid_model.compiling import counted

_RANK = 1e-9
"""Diagonal entries below this share of the greatest one are rows that depend on others."""
_PLAIN = 1e-4
"""Factors whose diagonals are above this share need no pivoting."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage, the state's unknowns first.

    Attributes:
        Q: (w, w) symmetric.
        q: (w,).
        D: (x, w) of the next state; None of the last stage.
        d: (x,).
        C: (r, w) rows.
        c: (r,).
        C_state: (s, x) rows of the state alone.
        c_state: (s,).
    """

    Q: Array
    q: Array
    D: Array | None
    d: Array
    C: Array
    c: Array
    C_state: Array
    c_state: Array


@dataclass(frozen=True, eq=False)
class _Step:
    """What a stage leaves for the way forward: constants in the last column.

    Rows are those of the stage, then those that its next state has to keep.
    """

    Q: Array
    reflectors: Array
    scales: Array
    order: NDArray[np.int64]
    rank: int
    R: Array
    fixed: Array
    free: Array
    P: Array
    E: Array


def solve_stages(stages: list[Stage]) -> tuple[list[Array], list[Array], list[Array]] | None:
    """Return unknowns of every stage, costates of the rows of dynamics, and multipliers of the other rows.

    Multipliers are those of the Lagrangian with :math:`x_{k+1}-D_kw_k-d_k`, :math:`C_kw_k+c_k` and, behind these, the
    rows of the state.

    Returns:
        None where the equations aren't those of a minimum.
    """
    steps: list[_Step] = []
    size = len(stages[-1].q)
    P: Array = np.zeros((size, size + 1))
    E: Array = np.zeros((0, size + 1))
    for stage in reversed(stages):
        made = _backward(stage, P, E)
        if made is None:
            return None
        steps.append(made[0])
        P, E = made[1], made[2]
    steps.reverse()
    whole = Stage(P[:, :-1], P[:, -1], None, np.zeros(0), E[:, :-1], E[:, -1], np.zeros((0, 0)), np.zeros(0))
    begin = _backward(whole, np.zeros((0, 1)), np.zeros((0, 1)), states=0)
    if begin is None:
        return None
    x, _, E_multipliers = _forward(begin[0], np.zeros(0), np.zeros(0))
    unknowns, costates, multipliers = [], [], []
    for stage, step in zip(stages, steps, strict=True):
        count = len(stage.C_state)
        own, passed = E_multipliers[:count], E_multipliers[count:]
        u, following, rows = _forward(step, x, passed)
        unknowns.append(np.concatenate([x, u]))
        multipliers.append(np.concatenate([rows[: len(stage.c)], own]))
        E_multipliers = rows[len(stage.c) :]
        if stage.D is not None:
            assert following is not None
            x = stage.D @ unknowns[-1] + stage.d
            costates.append(-(following[0] @ np.append(x, 1.0) + following[1][:, :-1].T @ E_multipliers))
    return unknowns, costates, multipliers


def _backward(stage: Stage, P: Array, E: Array, states: int | None = None) -> tuple[_Step, Array, Array] | None:
    """Return the step of a stage, and value (x, x + 1) and rows (r, x + 1) of its state."""
    Q, q, C = stage.Q, stage.q, np.column_stack([stage.C, stage.c])
    n = states
    if n is None:
        n = stage.C_state.shape[1]
    w = len(q)
    H = np.empty((w, w + 1))
    if stage.D is None:
        H[:, :w], H[:, w] = Q, q
    else:
        H[:, :w] = Q
        _add_product(stage.D, P[:, :-1].copy(), PD := np.zeros((w, len(P))))
        _add_product(stage.D, PD.T.copy(), H)
        H[:, w] = stage.D.T @ (P[:, :-1] @ stage.d + P[:, -1]) + q
        if len(E):
            more = np.column_stack([E[:, :-1] @ stage.D, E[:, :-1] @ stage.d + E[:, -1]])
            C = np.vstack([C, more])
    rest = np.append(np.arange(n), w)
    Cu, Cx = C[:, n:w], C[:, rest]
    m, count = w - n, len(C)
    if count and m:
        factor, scales, _, _ = lapack.dgeqrf(Cu.T, lwork=64 * count)
        order, diagonal = np.arange(count), np.abs(np.diag(factor))
        rank = count
        if len(diagonal) < count or diagonal.min() < _PLAIN * diagonal.max():
            factor, pivots, scales, _, _ = lapack.dgeqp3(Cu.T)
            order, diagonal = (pivots - 1).astype(np.int64), np.abs(np.diag(factor))
            rank = int(np.sum(diagonal > _RANK * diagonal[0])) if diagonal[0] > 0.0 else 0
    else:
        factor, scales, order, rank = np.zeros((m, 0)), np.zeros(0), np.arange(count), 0
    R = factor[:rank]  # below the diagonal are reflectors, which nothing here reads
    # Controls in the axes of the factors; the first `rank` of them are fixed by rows.
    if rank:
        Hu = _turned(factor, scales, H[n:])
        Huu = _turned(factor, scales, np.asfortranarray(Hu[:, n:w].T))
    else:
        Hu, Huu = H[n:], H[n:, n:w]
    Hux = np.column_stack([Hu[:, :n], Hu[:, w]])
    chosen = Cx[order[:rank]]
    fixed = -lapack.dtrtrs(R[:, :rank], chosen, trans=1)[0] if rank else np.zeros((0, n + 1))
    passed = Cx[order[rank:]] + R[:, rank:].T @ fixed
    Hbb, Hba = Huu[rank:, rank:], Huu[rank:, :rank]
    Hbx = Hux[rank:] + Hba @ fixed
    if m > rank:
        lower, info = lapack.dpotrf(Hbb, lower=1, clean=1)
        if info:
            return None
        half = lapack.dtrtrs(lower, Hbx, lower=1)[0]
        free = -lapack.dtrtrs(lower, half, lower=1, trans=1)[0]
    else:
        half, free = np.zeros((0, n + 1)), np.zeros((0, n + 1))
    Ha = Huu[:rank, :rank] @ fixed
    value = np.column_stack([H[:n, :n], H[:n, w]])
    value += fixed[:, :n].T @ (Ha + Hux[:rank]) + Hux[:rank, :n].T @ fixed - half[:, :n].T @ half
    value[:, :n] = 0.5 * (value[:, :n] + value[:, :n].T)
    rows = np.vstack([np.column_stack([stage.C_state, stage.c_state]), passed]) if states is None else passed
    # Stationarity along the fixed controls, of (x, 1): what their rows' multipliers balance.
    balance = Ha + Huu[rank:, :rank].T @ free + Hux[:rank]
    return _Step(balance, factor, scales, order, rank, R, fixed, free, P, E), value, rows


def _turned(factor: Array, scales: Array, values: Array) -> Array:
    """Orthogonal factor transposed, times values."""
    found, _, info = lapack.dormqr("L", "T", factor[:, : len(scales)], scales, values, max(1, 64 * values.shape[1]))
    assert info == 0
    return np.asarray(found)


def _forward(step: _Step, x: Array, passed: Array) -> tuple[Array, tuple[Array, Array] | None, Array]:
    """Return controls, what the next state's multipliers follow from, and multipliers of the rows.

    Args:
        step: of the stage.
        x: its state.
        passed: multipliers of the rows that were passed on to the state.
    """
    one = np.append(x, 1.0)
    turned = np.concatenate([step.fixed @ one, step.free @ one])
    rank = step.rank
    multipliers = np.zeros(len(step.order))
    multipliers[step.order[rank:]] = passed
    u = turned
    if rank:
        pull = step.Q @ one + step.R[:, rank:] @ passed
        multipliers[step.order[:rank]] = -lapack.dtrtrs(step.R[:, :rank], pull)[0]
        u, _, _ = lapack.dormqr("L", "N", step.reflectors[:, : len(step.scales)], step.scales, turned[:, None], 64)
        u = u[:, 0]
    return u, (step.P, step.E), multipliers


@counted()
def _add_product(D, values, found):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add D' times values to the first columns; few entries of D aren't zero."""
    for r in range(D.shape[0]):
        for c in range(D.shape[1]):
            value = D[r, c]
            if value != 0.0:
                for j in range(values.shape[1]):
                    found[c, j] += value * values[r, j]
