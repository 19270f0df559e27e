# SPDX-License-Identifier: Apache-2.0
"""What pushes against what, where there is no posture."""

import numpy as np

from humanoid_planner.posture.explanation import _pushes


def test_pushes_balance_a_pull_as_well_as_can_be() -> None:
    """Optimality of non-negative least squares, where columns depend on each other and repeat."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, k = int(rng.integers(5, 40)), int(rng.integers(2, 60))
        rank = int(rng.integers(1, n + 1))
        columns = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, k)) * 10.0 ** rng.uniform(-2, 2, size=k)
        columns = np.hstack([columns, columns[:, :2], -columns[:, 1:3], np.zeros((n, 1))])
        pull = rng.normal(size=n)
        pushes = _pushes(columns, pull)
        lengths = np.linalg.norm(columns, axis=0)
        unit = columns / np.where(lengths > 0.0, lengths, 1.0)
        slope = unit.T @ (unit @ pushes + pull)
        assert pushes.min() >= 0.0
        assert slope.min() > -1e-6
        assert np.abs(slope * pushes).max() < 1e-6 * max(1.0, pushes.max())
