# SPDX-License-Identifier: Apache-2.0
"""Interior points: the Nesterov-Todd scaling, and stacks that neither sweeps nor Newton can solve."""

import numpy as np
import pytest
from fixtures.hard_contact_problems import stack
from numpy.testing import assert_allclose

from humanoid_sim import solve_contacts
from humanoid_sim.contact.interior_point import nesterov_todd


def inside(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=3)
    x[0] = np.hypot(x[1], x[2]) + rng.uniform(1e-3, 2.0)
    return x


def test_scaling_maps_one_point_to_the_other() -> None:
    """Its square root is symmetric, positive definite, and takes both points to the same one between them."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        x, y = inside(rng), inside(rng)
        scaling, root = np.empty((3, 3)), np.empty((3, 3))
        nesterov_todd(x, y, scaling, root)
        assert_allclose(scaling @ x, y, atol=1e-9)
        assert_allclose(root @ root, scaling, atol=1e-8 * np.abs(scaling).max())
        assert_allclose(root, root.T, atol=1e-12 * np.abs(root).max())
        assert np.linalg.eigvalsh(root)[0] > 0.0
        middle = root @ x
        assert middle[0] > np.hypot(middle[1], middle[2])


@pytest.mark.parametrize("seed", range(5))
def test_heavy_bodies_on_light_ones(seed: int) -> None:
    """Mass ratio 1e4: the ground carries the whole weight and gives it back, body by body."""
    problem = stack(np.random.default_rng(seed), push=0.0)
    result = solve_contacts(problem, "interior_point", tolerance=1e-8, max_iterations=100)
    assert result.converged
    layers = result.impulses.reshape(6, 4, 3)[:, :, 0].sum(axis=1)
    masses = np.diff(np.append(-layers, 0.0)) / 9.81
    rng = np.random.default_rng(seed)
    expected = np.geomspace(1.0, 1e4, 6) * rng.uniform(0.5, 2.0, 6)
    assert_allclose(masses, expected, atol=1e-5 * expected.max())
