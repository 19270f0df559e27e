# SPDX-License-Identifier: Apache-2.0
"""The small mechanisms are consistent: derivatives, contact rows, and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_studies.integration.analytic_systems import (
    FallingBall,
    Pendulum,
    PlanarBox,
    SlidingBlock,
    Spring,
    SpringChain,
)
from humanoid_studies.integration.mechanical_system import MechanicalSystem


@pytest.mark.parametrize("system", [Pendulum(0.7, 0.3), Spring(50.0, 2.0, 3.0), SpringChain(4, 30.0, 2.0)])
def test_derivatives_are_those_of_the_efforts(system: MechanicalSystem) -> None:
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=system.nv), rng.normal(size=system.nv)
    for given, numeric in zip(
        system.derivatives(0.0, q, v), MechanicalSystem.derivatives(system, 0.0, q, v), strict=True
    ):
        assert_allclose(given, numeric, atol=1e-7)
    impedance = system.impedance(0.0, q, v)
    if impedance is not None:
        assert_allclose(impedance[0], -system.derivatives(0.0, q, v)[0])


@pytest.mark.parametrize(
    ("system", "q"),
    [
        (FallingBall(), np.array([0.3])),
        (SlidingBlock(0.2), np.array([0.1, 0.2, 0.3])),
        (PlanarBox(0.5, 0.2), np.array([0.1, 0.4, 0.7])),
        (SpringChain(3), np.array([0.1, 0.2, 0.3])),
    ],
)
def test_normal_rows_are_the_gradient_of_the_gap(system: MechanicalSystem, q: np.ndarray) -> None:
    contacts = system.contacts(q, np.zeros(system.nv), 0.0)
    for k in range(system.nv):
        step = np.zeros(system.nv)
        step[k] = 1e-6
        ahead = system.contacts(q + step, step, 0.0).gaps
        behind = system.contacts(q - step, step, 0.0).gaps
        assert_allclose(contacts.rows[:, 0, k], (ahead - behind) / 2e-6, atol=1e-8)


def test_tangential_rows_of_a_turned_box() -> None:
    """Turning by w about the centre moves a corner at height h below it by w h along x."""
    box, q = PlanarBox(0.4, 0.2), np.array([0.0, 0.5, 0.3])
    contacts = box.contacts(q, np.zeros(3), 0.0)
    assert_allclose(contacts.rows[:, 1, 2], 0.5 - contacts.gaps, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: FallingBall(mass=0.0), "mass is 0.0"),
        (lambda: Pendulum(length=-1.0), "length is -1.0"),
        (lambda: Spring(1.0, mass=float("nan")), "mass is nan"),
        (lambda: PlanarBox(width=0.0), "width is 0.0"),
        (lambda: SpringChain(links=0), "links is 0"),
    ],
)
def test_impossible_sizes_are_refused(make, says: str) -> None:
    with pytest.raises(InputError, match=says):
        make()
