# SPDX-License-Identifier: Apache-2.0
"""Stages solved by dynamic programming are the solution of the whole system of linear equations."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_gait.riccati import Stage, solve_stages
from humanoid_model.arrays import Array

pytestmark = pytest.mark.feature("003-F093")
N, X = 4, 4


def stages(controls: int, rows: int, first: int, last: int, reached: int, seed: int) -> list[Stage]:
    """Random stages; controls from ``reached`` on don't move the state."""
    draw = np.random.default_rng(seed).standard_normal
    found = []
    for k in range(N + 1):
        ends = k == N
        w, r, own = (X if ends else X + controls), (0 if ends else rows), {0: first, N: last}.get(k, 0)
        A = draw((w, w))
        D = draw((X, w))
        D[:, X + reached :] = 0.0
        D, d = (None, np.zeros(0)) if ends else (D, draw(X))
        found.append(Stage(A @ A.T + np.eye(w), draw(w), D, d, draw((r, w)), draw(r), draw((own, X)), draw(own)))
    return found


def whole(given: list[Stage]) -> tuple[Array, Array]:
    """Return the matrix and the right side of all conditions: unknowns, then multipliers of dynamics and of rows."""
    starts = np.concatenate([[0], np.cumsum([len(stage.q) for stage in given])])
    Q, q, gaps, rows = np.zeros((starts[-1], starts[-1])), np.zeros(starts[-1]), [], []
    for k, stage in enumerate(given):
        own = slice(starts[k], starts[k + 1])
        Q[own, own], q[own] = stage.Q, stage.q
        for C, c in ((stage.C, stage.c), (stage.C_state, stage.c_state)):
            for row, value in zip(C, c, strict=True):
                full = np.zeros(starts[-1] + 1)
                full[starts[k] : starts[k] + len(row)], full[-1] = row, value
                rows.append(full)
        if stage.D is not None:
            part = np.zeros((X, starts[-1] + 1))
            part[:, own], part[:, starts[k + 1] : starts[k + 1] + X], part[:, -1] = -stage.D, np.eye(X), -stage.d
            gaps.append(part)
    A = np.vstack([*gaps, *rows])
    zero = np.zeros((len(A), len(A)))
    return np.block([[Q, A[:, :-1].T], [A[:, :-1], zero]]), -np.concatenate([q, A[:, -1]])


@pytest.mark.parametrize(
    ("controls", "rows", "first", "last", "reached"),
    [(6, 2, 4, 0, 6), (6, 2, 0, 3, 6), (3, 1, 2, 4, 3), (4, 1, 1, 4, 1)],
    ids=["start", "end", "both", "end that one stage can't reach"],
)
def test_unknowns_and_multipliers(controls: int, rows: int, first: int, last: int, reached: int) -> None:
    given = stages(controls, rows, first, last, reached, 3)
    found = solve_stages(given)
    assert found is not None
    expected = np.linalg.solve(*whole(given))
    np.testing.assert_allclose(np.concatenate([part for parts in found for part in parts]), expected, atol=1e-8)


def test_what_is_no_minimum_is_seen() -> None:
    given = stages(6, 2, 4, 0, 6, 4)
    bent = given[1].Q.copy()
    bent[X:, X:] -= 100.0 * np.eye(6)
    given[1] = Stage(bent, *(getattr(given[1], name) for name in ("q", "D", "d", "C", "c", "C_state", "c_state")))
    assert solve_stages(given) is None
