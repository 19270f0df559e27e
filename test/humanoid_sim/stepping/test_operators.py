# SPDX-License-Identifier: Apache-2.0
"""What contacts yield at the least, between links that one joint connects."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_sim.contact.block_nsgs import CONTACT, UNILATERAL
from humanoid_sim.contact.nsgs_newton import nsgs_newton
from humanoid_sim.stepping.operators import add_compliance
from humanoid_sim.stepping.step_data import BlockArrays


def blocks_of(kinds: list[int], compliance: np.ndarray) -> BlockArrays:
    blocks = BlockArrays.of_size(len(kinds), len(compliance))
    blocks.starts[: len(kinds) + 1] = np.cumsum([0] + [3 if kind == CONTACT else 1 for kind in kinds])
    blocks.kinds[: len(kinds)] = kinds
    blocks.compliance[: len(compliance)] = compliance
    return blocks


def test_compliance_is_added_and_contacts_yield_to_every_force() -> None:
    J = np.random.default_rng(0).normal(size=(8, 1))  # one joint moves all: its limits, two contacts
    W = J @ J.T
    own = W.copy()
    compliance = np.array([0.0, 0.0, 0.5, 0.1, 0.0, 0.0, 0.0, 0.0])
    blocks = blocks_of([UNILATERAL, UNILATERAL, CONTACT, CONTACT], compliance)
    add_compliance(blocks, 0, 4, own)
    assert_allclose(own, W + np.diag(compliance), rtol=0, atol=1e-11 * np.trace(W))
    assert own[0, 0] == W[0, 0]
    size = np.trace(W[5:, 5:])
    assert 5e-13 * size < np.linalg.eigvalsh(own[5:, 5:])[0] < 2e-12 * size
    part = W[2:, 2:].copy()
    add_compliance(blocks, 2, 4, part)
    assert_allclose(part, own[2:, 2:], rtol=1e-15)


@pytest.mark.feature("000-F097")
@pytest.mark.parametrize("seed", range(10))
def test_rounding_makes_no_force(seed: int) -> None:
    """One joint, which the contact stops; a push along which it doesn't move is free, and rounding asks for one."""
    rng = np.random.default_rng(seed)
    J = np.array([[0.1], [1.0], [0.0]])
    W, pulled = J @ J.T, np.array([1.0, -0.1, 0.0])  # within the cone, and no motion
    v_free = J[:, 0] * rng.uniform(-1.0, 1.0) - rng.uniform(0.5, 2.0) * 1e-14 * pulled
    add_compliance(blocks_of([CONTACT], np.zeros(3)), 0, 1, W)
    f, v, residuals = np.zeros(3), np.empty(3), np.empty(5)
    nsgs_newton(W, v_free, np.array([0.6]), f, 1e-9, 1000, v, residuals)
    assert residuals[0] <= 1e-9
    assert np.abs(f).max() < 10.0
