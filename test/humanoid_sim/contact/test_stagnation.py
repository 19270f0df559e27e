# SPDX-License-Identifier: Apache-2.0
"""Solves that can't reach their tolerance end with a good answer, long before the iterations that they may make."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_sim.contact.block_nsgs import CONTACT, GOOD_RESIDUAL, BlockProblem, block_nsgs
from humanoid_sim.contact.nsgs_newton import nsgs_newton

NEVER = 1e-300
"""Residual that no solve reaches but that of forces without any rounding error."""
MANY = 100_000


@pytest.mark.parametrize("seed", range(3))
def test_newton_and_sweeps_end_where_nothing_gets_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m = 12
    J = rng.normal(size=(3 * m, 20))
    W, v_free, mu = J @ J.T, rng.normal(size=3 * m), np.full(m, 0.5)
    f, v, residuals = np.zeros(3 * m), np.zeros(3 * m), np.zeros(5)
    assert nsgs_newton(W, v_free, mu, f, NEVER, MANY, v, residuals) < 2000
    assert residuals[0] <= GOOD_RESIDUAL
    f[:] = 0.0
    numbers = np.arange(m)
    problem = BlockProblem(W, v_free, 3 * np.arange(m + 1), np.full(m, CONTACT), mu, numbers)
    assert block_nsgs(problem, f, NEVER, MANY, v, residuals) < MANY
    assert residuals[0] <= GOOD_RESIDUAL
