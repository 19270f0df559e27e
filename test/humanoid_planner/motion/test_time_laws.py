# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

import numpy as np
import pytest

from humanoid_model.joint_trajectory import TimeLaw
from humanoid_planner.motion.time_laws import PathDynamics, PathLimits, SinusoidalLaw, fastest_law, rests, smoothed

NONE = np.zeros((1, 0))


def point(slope: float, bend: float = 0.0, weight: float = 0.0) -> PathDynamics:
    """A joint of inertia 2 on its own, with nothing to hold it."""
    return PathDynamics(
        np.array([slope]), np.array([bend]), 2.0 * np.array([slope]), 2.0 * np.array([bend]), np.array([weight]), NONE
    )


def limits(speed: float = 1e3, acceleration: float = 1e3, effort: float = 1e3) -> PathLimits:
    return PathLimits(np.array([speed]), np.array([acceleration]), np.array([effort]))


@pytest.mark.feature("001-F229")
@pytest.mark.parametrize(("degrees", "duration"), [(20.0, 3.1416), (45.0, 7.0686), (90.0, 14.1372)])
def test_the_sinusoidal_law_takes_the_thesis_durations(degrees: float, duration: float) -> None:
    """Specification 001, O1-12: 10 degrees per second, T a multiple of the control period."""
    slopes = np.full((101, 1), math.radians(degrees))
    law = SinusoidalLaw(slopes, np.array([math.radians(10.0)]), 5e-3)
    assert duration - 1e-4 <= law.duration < duration + 5e-3
    assert law.duration / 5e-3 == pytest.approx(round(law.duration / 5e-3), abs=1e-9)


@pytest.mark.feature("001-F228")
def test_the_sinusoidal_law_is_that_of_the_thesis() -> None:
    """Specification 001, E.5: T = 2 s."""
    law = SinusoidalLaw(np.zeros((3, 1)), np.ones(1), 1e-3).slower(2.0)
    assert law.at(0.5)[0] == pytest.approx(0.14645, abs=1e-5)
    assert law.at(1.0)[:2] == pytest.approx((0.5, math.pi / 4.0))
    assert law.at(1.5)[0] == pytest.approx(0.85355, abs=1e-5)
    assert [law.at(0.0)[1], law.at(2.0)[1]] == pytest.approx([0.0, 0.0], abs=1e-12)
    h = 1e-4
    assert law.at(0.3)[2] == pytest.approx((law.at(0.3 + h)[1] - law.at(0.3 - h)[1]) / (2 * h), rel=1e-6)


def test_the_fastest_law_of_one_joint_is_bang_bang() -> None:
    """A way L with an acceleration a takes 2 sqrt(L / a); by torque a is effort over inertia."""
    for bound in (limits(acceleration=2.0), limits(effort=4.0)):
        law = fastest_law([point(1.5)] * 61, bound)
        assert isinstance(law, TimeLaw)
        assert law.duration == pytest.approx(2.0 * math.sqrt(1.5 / 2.0), rel=1e-3)


def test_speed_limits_and_gravity_count() -> None:
    # Trapezium: t = L / v + v / a.
    law = fastest_law([point(1.0)] * 101, limits(speed=0.5, acceleration=2.0))
    assert isinstance(law, TimeLaw)
    assert law.duration == pytest.approx(1.0 / 0.5 + 0.5 / 2.0, rel=1e-2)
    # Against a weight of 3 of 4 N m upwards 0.5, downwards 3.5 per s^2: t = sqrt(2 L (1 / a + 1 / b)).
    law = fastest_law([point(1.0, weight=3.0)] * 101, limits(effort=4.0))
    assert isinstance(law, TimeLaw)
    assert law.duration == pytest.approx(math.sqrt(2.0 * (1.0 / 0.5 + 1.0 / 3.5)), rel=1e-2)


@pytest.mark.feature("001-F231")
@pytest.mark.parametrize("seed", range(4))
def test_no_law_stops_between_its_ends(seed: int) -> None:
    """On a path that bends to and fro the greatest speed at one place would leave none for the next."""
    bends = np.random.default_rng(seed).uniform(-60.0, 60.0, 31)
    law = fastest_law([point(2.0, bend) for bend in bends], limits(acceleration=5.0))
    assert isinstance(law, TimeLaw)
    assert law.speeds[1:-1].min() > 0.1
    squares = np.square(law.speeds)
    for ends in (slice(None, -1), slice(1, None)):
        assert np.abs(2.0 * law.accelerations + bends[ends] * squares[ends]).max() < 5.0 + 1e-6


def test_a_law_is_its_own_integral_and_stretches() -> None:
    bends = np.linspace(0.5, -0.3, 41)
    law = fastest_law([point(1.0, bend) for bend in bends], limits(speed=1.0, acceleration=2.0))
    assert isinstance(law, TimeLaw)
    for time in np.linspace(0.02, law.duration - 0.02, 7):
        s, rate, bend = law.at(time)
        assert (law.at(time + 1e-5)[0] - law.at(time - 1e-5)[0]) / 2e-5 == pytest.approx(rate, rel=1e-3, abs=1e-5)
        # The joint keeps its limits at the law's speed.
        assert abs(bend + float(np.interp(s, np.linspace(0.0, 1.0, 41), bends)) * rate**2) < 2.05
    soft = smoothed(law, 10)
    assert law.duration < soft.duration < 1.3 * law.duration
    assert (soft.speeds <= law.speeds + 1e-12).all()
    assert np.abs(np.diff(soft.accelerations)).max() < 0.5 * np.abs(np.diff(law.accelerations)).max()
    slow = law.slower(3.0 * law.duration)
    assert slow.duration == pytest.approx(3.0 * law.duration)
    assert slow.at(1.5)[0] == pytest.approx(law.at(0.5)[0])
    assert slow.at(1.5)[1] == pytest.approx(law.at(0.5)[1] / 3.0)


def test_a_base_needs_forces_in_their_cones() -> None:
    """A body of 1 kg on a point of friction 0.5 accelerates by 0.5 g / sqrt(2) at most along a pyramid's edge."""
    side = 0.5 / math.sqrt(2.0)
    edges = np.array([[side, side, -side, -side], [1.0, 1.0, 1.0, 1.0]])
    still = np.zeros(0)
    along = PathDynamics(still, still, np.array([1.0, 0.0]), np.zeros(2), np.array([0.0, 9.81]), edges)
    nothing = PathLimits(still, still, still)
    assert rests(along, nothing)
    law = fastest_law([along] * 61, nothing)
    assert isinstance(law, TimeLaw)
    assert law.duration == pytest.approx(2.0 * math.sqrt(1.0 / (9.81 * side)), rel=1e-3)
    hung = PathDynamics(still, still, np.array([1.0, 0.0]), np.zeros(2), np.array([0.0, -9.81]), edges)
    assert not rests(hung, nothing)
    assert not rests(point(1.0, weight=5.0), limits(effort=4.0))
