# SPDX-License-Identifier: Apache-2.0
"""Friction found by pulling (specification 000, E17, N12, F148)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_model.sensor import Noise
from humanoid_sim.monitoring.friction_identification import FRICTION, MASS, PULLS, PullTest, identify_friction
from humanoid_sim.sensing.signals import NoisySignal

SLIP_FORCE = 114.06
"""N12: 0.983 times 11.84 kg times 9.8 m/s^2."""


@pytest.fixture(scope="module")
def pull_test() -> PullTest:
    return PullTest()


@pytest.mark.feature("000-F148")
def test_breakaway_is_the_coulomb_force(pull_test: PullTest) -> None:
    assert abs(FRICTION * MASS * 9.8 - SLIP_FORCE) < 0.005
    assert pull_test.pull(rate=200.0) == pytest.approx(SLIP_FORCE, rel=0.005)
    # Sharper with a slower pull, in any direction, and never before the Coulomb force.
    for direction in (0.0, 0.7, 2.5, -1.6):
        force = pull_test.pull(direction, rate=20.0, start=110.0)
        assert SLIP_FORCE - 0.01 < force < SLIP_FORCE * 1.002


@pytest.mark.feature("000-F148")
def test_friction_is_found_from_fifty_noisy_pulls(pull_test: PullTest) -> None:
    """The gauge has 2 N of noise and shows tenths of a newton; the mean is within 1 %, and within its own error."""
    rng = np.random.default_rng(0)
    gauge = NoisySignal([Noise(deviation=2.0, resolution=0.1)], 1e-3, rng)
    directions = rng.uniform(-np.pi, np.pi, PULLS)
    forces = [
        float(gauge.sample(np.array([pull_test.pull(angle, rate=200.0, start=100.0)]))[0]) for angle in directions
    ]
    found = identify_friction(forces, MASS)
    assert found.pulls == PULLS
    assert found.friction == pytest.approx(FRICTION, rel=0.01)
    assert abs(found.friction - FRICTION) < 4.0 * found.standard_error
    assert found.deviation == pytest.approx(2.0 / (MASS * 9.8), rel=0.3)


@pytest.mark.feature("000-F148")
def test_other_blocks_and_frictions() -> None:
    other = PullTest(mass=2.0, friction=0.1, gravity=9.81)
    assert other.pull(rate=5.0) == pytest.approx(0.1 * 2.0 * 9.81, rel=0.005)
    assert identify_friction([1.962], 2.0, 9.81).friction == pytest.approx(0.1)
    assert identify_friction([0.324], 2.0, 1.62).friction == pytest.approx(0.1)  # on the moon
    assert math.isnan(identify_friction([1.0], 2.0).deviation)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: identify_friction([], 1.0), "forces are"),
        (lambda: identify_friction([1.0, -1.0], 1.0), "forces are"),
        (lambda: identify_friction([math.nan], 1.0), "forces are"),
        (lambda: identify_friction([1.0], 0.0), "mass is 0"),
        (lambda: identify_friction([1.0], 1.0, math.inf), "gravity is inf"),
        (lambda: PullTest(mass=-1.0), "mass is -1"),
        (lambda: PullTest(friction=-0.1), "friction is -0.1"),
        (lambda: PullTest(friction=math.nan), "friction is nan"),
    ],
)
def test_bad_numbers_are_refused(call, says: str) -> None:
    with pytest.raises(InputError, match=says):
        call()


def test_bad_pulls_are_refused(pull_test: PullTest) -> None:
    for name, value in (("rate", 0.0), ("speed", -1.0), ("start", -1.0), ("direction", math.nan)):
        with pytest.raises(InputError, match=f"{name} is"):
            pull_test.pull(**{name: value})
