# SPDX-License-Identifier: Apache-2.0
"""Step adaptation and extrapolation: more accuracy for less cost (F089)."""

import numpy as np
import pytest
from fixtures.integration_problems import BallInAir, advance

from humanoid_studies.integration.analytic_systems import FallingBall, SlidingBlock
from humanoid_studies.integration.extrapolated import Extrapolated
from humanoid_studies.integration.moreau import Moreau

START = np.array([1.0]), np.zeros(1)


class CountedBall(BallInAir):
    evaluations = 0

    def efforts(self, t, q, v):
        self.evaluations += 1
        return super().efforts(t, q, v)


def error_and_cost(integrator, steps: int) -> tuple[float, int]:
    """Error after a fall, a bounce and half a rise, and evaluations of the efforts."""
    system = CountedBall(restitution=0.8)
    q, v = advance(integrator, system, *START, 0.7, steps)
    reference = BallInAir.reference(1.0, 0.8, 0.7)
    return float(np.abs(np.concatenate([q, v]) - reference).max()), system.evaluations


@pytest.mark.feature("000-F089")
def test_half_the_cost_gives_five_times_the_accuracy() -> None:
    fixed_error, fixed_cost = error_and_cost(Moreau(), 8000)
    error, cost = error_and_cost(Extrapolated(tolerance=1e-6, smallest=2.0**-16), 14)
    assert error < fixed_error / 5
    assert cost < fixed_cost / 2


def test_error_follows_the_tolerance() -> None:
    errors = [
        error_and_cost(Extrapolated(tolerance=tolerance, smallest=2.0**-18), 14)[0] for tolerance in (1e-4, 1e-5, 1e-6)
    ]
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2]


def test_extrapolation_doesnt_reach_through_an_impact() -> None:
    """Inelastic: extrapolating across the change would give the ball a velocity again."""
    q, v = advance(Extrapolated(), FallingBall(), np.array([0.05]), np.zeros(1), 0.3, 30)
    assert v[0] == pytest.approx(0.0, abs=1e-12)
    assert -1e-3 < q[0] < 1e-9


@pytest.mark.parametrize("height", [0.0501, 0.052, 0.0537, 0.0551])
def test_no_tolerance_lets_an_impact_be_extrapolated(height: float) -> None:
    """Where the whole part sees the floor and its halves don't, the difference is no error to extrapolate."""
    q, v, integrator = np.array([height]), np.zeros(1), Extrapolated(tolerance=1e9, smallest=0.25)
    for k in range(40):
        q, v, _ = integrator.step(FallingBall(), q, v, 0.004, 0.004 * k)
        assert -np.sqrt(2 * 9.8 * height) - 0.05 < v[0] <= 1e-12


def test_sliding_stops() -> None:
    q, v = advance(Extrapolated(), SlidingBlock(), np.zeros(3), np.array([1.0, 0.0, 0.0]), 0.5, 50)
    assert q[0] == pytest.approx(1 / 7.84, abs=1e-5)
    assert np.abs(v).max() < 1e-10


def test_length_of_the_next_part_is_saved() -> None:
    integrator, system = Extrapolated(tolerance=1e-7), BallInAir(restitution=0.8)
    q, v, _ = integrator.step(system, *START, 0.05)
    state = integrator.save()
    first = integrator.step(system, q, v, 0.05, 0.05)
    integrator.restore(state)
    again = integrator.step(system, q, v, 0.05, 0.05)
    assert first.q == again.q
    assert first.v == again.v
    fresh = Extrapolated(tolerance=1e-7).step(system, q, v, 0.05, 0.05)
    assert fresh.v != first.v
