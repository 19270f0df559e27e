# SPDX-License-Identifier: Apache-2.0
"""Integrators are found by name; what all of them have in common."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_studies.integration.analytic_systems import FallingBall
from humanoid_studies.integration.catalogue import find_integrator
from humanoid_studies.registration import INTEGRATORS


def test_unknown_names_are_refused_with_the_list() -> None:
    with pytest.raises(InputError, match=r"no integrator 'magic'.*event_driven.*moreau.*verlet"):
        find_integrator("magic")


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("theta", {"theta": 1.5}, "theta is 1.5"),
        ("theta", {"theta": float("nan")}, "theta is nan"),
        ("jean", {"theta": 0.0}, "theta is 0.0"),
        ("gavrea", {"zeta": 0.0}, "zeta is 0.0"),
        ("gavrea", {"zeta": -0.1}, "zeta is -0.1"),
        ("stewart_trinkle", {"epsilon": -1e-3}, "epsilon is -0.001"),
        ("anitescu_hart", {"epsilon": 0.0}, "epsilon is 0.0"),
        ("studer_ggl", {"epsilon": float("inf")}, "epsilon is inf"),
        ("event_driven", {"rest_speed": 0.0}, "rest_speed is 0.0"),
        ("extrapolated", {"order": 0}, "order is 0"),
        ("extrapolated", {"tolerance": -1.0}, "tolerance is -1.0"),
        ("rk4", {"theta": 0.5}, "rk4"),
        ("penalty", {"stiffness": 0.0}, "stiffness is 0.0"),
        ("impulse", {"micro_speed": float("nan")}, "micro_speed is nan"),
        ("impulse", {"shortest": 0.0}, "shortest is 0.0"),
    ],
)
def test_options_out_of_range_are_refused(name: str, options: dict[str, float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        find_integrator(name, **options)


@pytest.mark.parametrize("name", sorted(set(INTEGRATORS) - {"penalty", "impulse"}))
def test_a_ball_at_rest_stays_at_rest_on_its_weight(name: str) -> None:
    """Height, velocity and force of a ball of 2 kg on the floor, for 50 steps."""
    system, integrator = FallingBall(mass=2.0, restitution=0.5), find_integrator(name)
    q, v = np.zeros(1), np.zeros(1)
    for k in range(50):
        q, v, forces = integrator.step(system, q, v, 1e-3, 1e-3 * k)
        assert_allclose(forces.forces.sum(axis=0), [2.0 * 9.8, 0.0, 0.0], atol=1e-8)
        assert forces.converged
    assert_allclose(q, 0.0, atol=2e-9)
    assert_allclose(v, 0.0, atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(INTEGRATORS) - {"penalty", "impulse"}))
def test_an_inelastic_fall_ends_at_rest_on_the_floor(name: str) -> None:
    """Dropped from 5 cm; the penetration that is left is that of one step."""
    system, integrator = FallingBall(), find_integrator(name)
    q, v, dt = np.array([0.05]), np.zeros(1), 1e-3
    for k in range(200):
        q, v, _ = integrator.step(system, q, v, dt, dt * k)
    assert abs(v[0]) <= 1e-6
    assert -1.0 * dt - 1e-9 <= q[0] <= 1e-9
