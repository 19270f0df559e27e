# SPDX-License-Identifier: Apache-2.0
"""Contact by collisions alone: bounces are right, rest trembles (specification 000 §5.3)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_studies.baselines.impulse_method import ImpulseMethod
from humanoid_studies.integration.analytic_systems import FallingBall, PlanarBox, SlidingBlock


@pytest.mark.feature("000-F049")
@pytest.mark.parametrize("restitution", [0.5, 0.8, 1.0])
def test_bounce_heights(restitution: float) -> None:
    """Each peak is e^2 of the one before, whatever the step."""
    system, integrator = FallingBall(restitution=restitution), ImpulseMethod()
    q, v, peaks, dt = np.array([1.0]), np.zeros(1), [], 2e-3
    for k in range(1000):
        q_new, v_new, _ = integrator.step(system, q, v, dt, k * dt)
        if v[0] > 0.0 >= v_new[0]:
            peaks.append(q[0] + v[0] ** 2 / (2 * 9.8))
        q, v = q_new, v_new
    assert len(peaks) >= 2
    assert_allclose(peaks[:2], [restitution**2, restitution**4], rtol=1e-6)


def test_a_ball_that_lies_trembles_but_neither_sinks_nor_rises() -> None:
    system, integrator = FallingBall(), ImpulseMethod(micro_speed=0.01)
    q, v, heights = np.array([0.02]), np.zeros(1), []
    for k in range(400):
        q, v, _ = integrator.step(system, q, v, 1e-3, 1e-3 * k)
        heights.append(q[0])
    assert min(heights) > -1e-6
    assert max(heights[200:]) < 0.01**2 / (2 * 9.8) + 1e-6
    assert abs(v[0]) > 1e-5  # it never comes to rest


def test_mean_force_of_the_collisions_is_the_weight() -> None:
    system, integrator = FallingBall(mass=2.0), ImpulseMethod()
    q, v, total = np.zeros(1), np.zeros(1), 0.0
    for k in range(500):
        q, v, forces = integrator.step(system, q, v, 1e-3, 1e-3 * k)
        total += 1e-3 * forces.forces[:, 0].sum()
    assert total == pytest.approx(2.0 * 9.8 * 0.5, rel=1e-3)


def test_friction_acts_in_every_collision() -> None:
    """A block that slides on the flat stops after about v^2 / (2 mu g)."""
    system, integrator = SlidingBlock(0.0, 0.4), ImpulseMethod()
    q, v = np.zeros(3), np.array([1.0, 0.0, 0.0])
    for k in range(500):
        q, v, _ = integrator.step(system, q, v, 1e-3, 1e-3 * k)
    assert q[0] == pytest.approx(1 / 7.84, rel=0.01)
    assert abs(v[0]) < 1e-3


def test_simultaneous_collisions_are_resolved_until_none_approaches() -> None:
    system, integrator = PlanarBox(restitution=0.5), ImpulseMethod()
    q, v = np.array([0.0, 0.05, 0.0]), np.array([0.3, -1.0, 0.2])
    q, v, forces = integrator.step(system, q, v, 1e-4)
    assert system.contacts(q, v, 0.0).velocities(v)[:2, 0].min() > -1e-3
    assert forces.forces[:, 0].min() >= 0.0
