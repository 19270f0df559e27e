# SPDX-License-Identifier: Apache-2.0
"""Events are located, modes are exact between them (specification 000 §7.3, F079)."""

import math

import numpy as np
import pytest
from fixtures.integration_problems import advance
from numpy.testing import assert_allclose

from humanoid_model.errors import SimulationError
from humanoid_studies.integration.analytic_systems import FallingBall, PlanarBox, SlidingBlock
from humanoid_studies.integration.event_driven import EventDriven

G = 9.8


@pytest.mark.feature("000-F079")
@pytest.mark.parametrize("steps", [1, 7])
def test_impact_time_of_a_falling_ball(steps: int) -> None:
    """The velocity long after an elastic impact tells when it was: to a nanosecond."""
    height, duration = 1.0, 0.6
    speed = math.sqrt(2 * G * height)
    _, v = advance(EventDriven(), FallingBall(restitution=1.0), np.array([height]), np.zeros(1), duration, steps)
    # speed upwards after the impact, less what gravity took since
    assert duration - (speed - v[0]) / G == pytest.approx(speed / G, abs=1e-9)


def test_bounces_with_restitution_end_at_rest() -> None:
    """Height and velocity between bounces are those of the geometric series; then the ball carries its weight."""
    e, height = 0.5, 0.2
    first = math.sqrt(2 * height / G)
    system, integrator = FallingBall(mass=2.0, restitution=e), EventDriven()
    q, v = np.array([height]), np.zeros(1)
    time, dt = 0.0, 0.013
    while time < 3 * first + 0.2:
        q, v, forces = integrator.step(system, q, v, dt, time)
        time += dt
        after, up, start = time - first, e * math.sqrt(2 * G * height), first
        if after < 0.0:
            expected = height - 0.5 * G * time**2
        else:
            while start + 2 * up / G < time and up > 1e-4:
                start, up = start + 2 * up / G, e * up
            expected = up * (time - start) - 0.5 * G * (time - start) ** 2 if up > 1e-4 else 0.0
        assert q[0] == pytest.approx(expected, abs=2e-7)
    assert_allclose(forces.forces, [[2.0 * G, 0.0, 0.0]], rtol=1e-9)
    assert abs(v[0]) < 1e-9


@pytest.mark.feature("000-F079")
def test_sliding_ends_where_coulomb_says() -> None:
    """v^2 / (2 mu g) to rounding with steps of 50 ms: the end of sliding is an event."""
    q, v = advance(EventDriven(), SlidingBlock(), np.zeros(3), np.array([0.6, 0.8, 0.0]), 0.5, 10)
    assert_allclose(q, [0.6 / (2 * 0.4 * G), 0.8 / (2 * 0.4 * G), 0.0], atol=1e-11)
    assert_allclose(v, 0.0, atol=1e-10)


def test_a_block_pushed_uphill_stops_and_stays_or_comes_back() -> None:
    """On 15 degrees it stays; on 25 degrees it slides down again, with friction the other way."""
    slope = math.radians(15.0)
    q, v = advance(EventDriven(), SlidingBlock(slope), np.zeros(3), np.array([-1.0, 0.0, 0.0]), 0.4, 8)
    braking = G * (math.sin(slope) + 0.4 * math.cos(slope))
    assert_allclose(q[0], -0.5 / braking, atol=1e-11)
    assert_allclose(v, 0.0, atol=1e-10)
    slope = math.radians(25.0)
    q, v = advance(EventDriven(), SlidingBlock(slope), np.zeros(3), np.array([-1.0, 0.0, 0.0]), 0.4, 8)
    up = 1.0 / (G * (math.sin(slope) + 0.4 * math.cos(slope)))
    down = G * (math.sin(slope) - 0.4 * math.cos(slope))
    assert v[0] == pytest.approx(down * (0.4 - up), abs=1e-7)
    assert q[0] == pytest.approx(-0.5 * up + 0.5 * down * (0.4 - up) ** 2, abs=1e-7)


def test_a_tilting_box_switches_contacts() -> None:
    """Released on an edge it turns about it, and lands flat: energy is lost at impacts only."""
    system, integrator = PlanarBox(width=0.4, height=0.2, friction=1.0), EventDriven()
    tilt = 0.1
    corner = np.array([-0.2, -0.1])
    turned = np.array([[math.cos(tilt), -math.sin(tilt)], [math.sin(tilt), math.cos(tilt)]]) @ corner
    q, v = np.array([-turned[0], -turned[1], tilt]), np.zeros(3)
    inertia = (0.4**2 + 0.2**2) / 12.0 + corner @ corner
    for k in range(6):
        q, v, _ = integrator.step(system, q, v, 0.01, 0.01 * k)
    energy = 0.5 * inertia * v[2] ** 2 + G * q[1]
    assert q[2] < tilt - 0.01
    assert energy == pytest.approx(-G * turned[1], abs=1e-7)
    position = q[:2] + np.array([[math.cos(q[2]), -math.sin(q[2])], [math.sin(q[2]), math.cos(q[2])]]) @ corner
    assert_allclose(position, 0.0, atol=1e-8)
    for k in range(50):
        q, v, forces = integrator.step(system, q, v, 0.01, 0.01 * k)
    assert_allclose([q[1], q[2]], [0.1, 0.0], atol=1e-7)
    assert forces.forces[:, 0].sum() == pytest.approx(G, rel=1e-8)


def test_a_contact_opens_when_it_would_pull() -> None:
    """A ball on a floor that stops carrying: thrown up by its own efforts, it leaves when they exceed its weight."""

    class Lifted(FallingBall):
        def efforts(self, t, q, v):
            return super().efforts(t, q, v) + np.array([20.0 * t])

    q, v = advance(EventDriven(), Lifted(), np.zeros(1), np.zeros(1), 1.0, 7)
    after = 1.0 - G / 20.0
    assert v[0] == pytest.approx(10.0 * after**2, abs=2e-3)  # opening is located by its speed, 1e-8 m/s
    assert q[0] == pytest.approx(20.0 * after**3 / 6.0, abs=1e-3)


def test_painleves_paradox_is_said() -> None:
    """A rod that slides on its tip with mu = 2, leaning forward: no acceleration is possible."""
    rod = PlanarBox(width=2.0, height=1e-3, friction=2.0)
    lean = math.pi - math.atan(2.0)
    q = np.array([0.0, 0.0, lean])
    q[1] = -float(rod.contacts(q, np.zeros(3), 0.0).gaps.min())
    with pytest.raises(SimulationError, match="Painlevé"):
        EventDriven().step(rod, q, np.array([5.0, 0.0, 0.0]), 1e-3)
    step = EventDriven().step(rod, q, np.array([-5.0, 0.0, 0.0]), 1e-3)  # trailing it slides
    assert step.v[0] > -5.0
