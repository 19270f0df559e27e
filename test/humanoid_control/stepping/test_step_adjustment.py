# SPDX-License-Identifier: Apache-2.0
"""Place, time and pressure of a step against a general solver, and the walk that repeats itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from humanoid_control.stepping.step_adjustment import StepBounds, StepWeights, adjust_step, wanted_offset

OMEGA = 3.7
SOLE = np.array([[-0.1, -0.06], [0.1, 0.06]])
PLACES = np.array([[-0.5, 0.15], [0.5, 0.45]])
NOMINAL = {"pressure": np.zeros(2), "place": np.array([0.1, 0.19]), "offset": np.array([0.015, -0.03])}


def cost(x, axis, dcm, rest, weights):
    """Of pressure and place on an axis, as the module's docstring has it."""
    p, u = x
    landing = p + (dcm[axis] - p) * math.exp(OMEGA * rest)
    return (
        weights.pressure * (p - NOMINAL["pressure"][axis]) ** 2
        + weights.place * (u - NOMINAL["place"][axis]) ** 2
        + weights.offset * (landing - u - NOMINAL["offset"][axis]) ** 2
    )


def adjusted(dcm, elapsed, span, swing, weights, speed=2.0):
    bounds = StepBounds(SOLE, PLACES, np.array(span), speed)
    return adjust_step(
        dcm, OMEGA, elapsed, duration=0.5, swing=np.array(swing), bounds=bounds, weights=weights, **NOMINAL
    )


@pytest.mark.parametrize("seed", range(12))
def test_pressure_and_place_are_the_best_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    dcm, elapsed, duration = rng.normal(scale=0.12, size=2), rng.uniform(0.05, 0.35), 0.5
    swing, weights = rng.uniform([-0.2, 0.15], [0.2, 0.3]), StepWeights()
    step = adjusted(dcm, elapsed, (duration, duration), swing, weights)
    assert step.duration == duration
    rest = duration - elapsed
    for axis in range(2):
        way = 2.0 * rest
        low = min(max(PLACES[0, axis], swing[axis] - way), PLACES[1, axis])
        high = max(min(PLACES[1, axis], swing[axis] + way), low)
        best = min(
            (
                minimize(cost, start, (axis, dcm, rest, weights), bounds=[SOLE[:, axis], (low, high)], tol=1e-14)
                for start in ([0.0, 0.5 * (low + high)], [SOLE[0, axis], low], [SOLE[1, axis], high])
            ),
            key=lambda found: found.fun,
        )
        ours = (step.pressure[axis], step.place[axis])
        assert cost(ours, axis, dcm, rest, weights) <= best.fun * (1.0 + 1e-6) + 1e-9
        assert SOLE[0, axis] <= ours[0] <= SOLE[1, axis]
        assert low - 1e-12 <= ours[1] <= high + 1e-12
        landing = ours[0] + (dcm[axis] - ours[0]) * math.exp(OMEGA * rest)
        assert step.offset_error[axis] == pytest.approx(landing - ours[1] - NOMINAL["offset"][axis], abs=1e-12)


def test_an_undisturbed_step_is_the_wanted_one():
    rest = 0.3
    dcm = (NOMINAL["place"] + NOMINAL["offset"]) * math.exp(-OMEGA * rest)
    step = adjusted(dcm, 0.2, (0.3, 0.7), [0.0, 0.19], StepWeights())
    assert step.duration == pytest.approx(0.5)
    np.testing.assert_allclose(step.pressure, 0.0, atol=1e-9)
    np.testing.assert_allclose(step.place, NOMINAL["place"], atol=1e-9)


def test_a_push_makes_the_step_longer_and_shorter_in_time():
    rest = 0.3
    dcm = (NOMINAL["place"] + NOMINAL["offset"]) * math.exp(-OMEGA * rest)
    step = adjusted(dcm + np.array([0.15, 0.0]), 0.2, (0.3, 0.7), [0.0, 0.19], StepWeights())
    assert step.place[0] > NOMINAL["place"][0] + 0.1
    assert step.pressure[0] > 0.05
    assert step.duration < 0.5


@pytest.mark.parametrize("way", [(0.0, 0.0), (0.2, 0.0), (-0.1, 0.05), (0.1, -0.08)])
def test_the_wanted_offset_repeats_itself_after_two_steps(way):
    duration = 0.6
    across = np.array([0.0, 0.19])
    one, other = np.array(way) + across, np.array(way) - across
    offset = wanted_offset(one, other, OMEGA, duration)
    # Integrate the pendulum itself over two steps, the centre of pressure under each foot in turn.
    foot = np.zeros(2)
    dcm, growth = foot + offset, math.exp(OMEGA * duration)
    for step in (other, one):
        dcm = foot + (dcm - foot) * growth
        foot = foot + step
    np.testing.assert_allclose(dcm - foot, offset, atol=1e-9)
