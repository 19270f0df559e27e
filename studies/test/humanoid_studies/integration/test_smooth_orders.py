# SPDX-License-Identifier: Apache-2.0
"""Orders of all schemes in smooth motion (specification 000 §§7.1, 7.2 and 7.4, oracle N18), and stiff stability."""

import numpy as np
import pytest
from fixtures.integration_problems import DrivenPendulum, advance, measured_order
from numpy.testing import assert_allclose

from humanoid_studies.integration.analytic_systems import Spring
from humanoid_studies.integration.catalogue import find_integrator

ORDERS = [
    ("explicit_euler", {}, 1),
    ("verlet", {}, 2),
    ("rk2", {}, 2),
    ("rk4", {}, 4),
    ("implicit_euler", {}, 1),
    ("theta", {"theta": 0.5}, 2),
    ("theta", {"theta": 0.8}, 1),
    ("moreau", {}, 1),
    ("jean", {"theta": 0.5}, 2),
    ("jean", {"theta": 1.0}, 1),
    ("foerg", {}, 1),
    ("stewart_trinkle", {}, 1),
    ("anitescu_potra_1997", {}, 1),
    ("anitescu_potra_2002", {}, 1),
    ("anitescu_hart", {}, 1),
    ("potra_trapezoid", {}, 2),
    ("gavrea", {"zeta": 0.5}, 2),
    ("gavrea", {"zeta": 0.75}, 1),
    ("gavrea", {"zeta": 1.0}, 1),
    ("studer_ggl", {}, 1),
    ("studer_preconditioned", {}, 1),
    ("event_driven", {}, 4),
    ("extrapolated", {"tolerance": 1e9}, 2),  # Moreau's scheme, one order better
    ("penalty", {}, 4),
    ("impulse", {}, 2),
]


@pytest.mark.feature("000-F076", "000-F077", "000-F078", "000-F087")
@pytest.mark.parametrize(("name", "options", "order"), ORDERS)
def test_order(name: str, options: dict[str, float], order: int) -> None:
    """A driven pendulum with nonlinear drag against scipy; the slope is within a tenth of the order."""
    system, duration = DrivenPendulum(), 0.8
    reference = system.reference(duration)

    def error(steps: int) -> float:
        q, v = advance(find_integrator(name, **options), system, *system.start, duration, steps)
        return float(np.hypot(q[0] - reference[0], v[0] - reference[1]))

    counts = (160, 320, 640) if order == 1 else (40, 80, 160)
    assert measured_order(error, counts) == pytest.approx(order, abs=0.1)


@pytest.mark.feature("000-F076")
def test_explicit_euler_is_as_the_thesis_prints_it() -> None:
    """The position moves with the old velocity."""
    system, (q, v) = DrivenPendulum(), DrivenPendulum.start
    step = find_integrator("explicit_euler").step(system, q, v, 0.01, 0.3)
    assert_allclose(step.q, q + 0.01 * v, rtol=1e-15)
    assert_allclose(step.v, v + 0.01 * system.efforts(0.3, q, v) / 2.0, rtol=1e-15)


@pytest.mark.feature("000-F078")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("implicit_euler", {}),
        ("theta", {"theta": 0.5}),
        ("theta", {"theta": 0.75}),
        ("jean", {}),
        ("anitescu_potra_2002", {}),
        ("potra_trapezoid", {}),
    ],
)
def test_stiff_spring_is_stable_at_one_millisecond(name: str, options: dict[str, float]) -> None:
    """10 rad per step: the energy never grows, whatever the step."""
    stiffness = 1e8
    q, v = advance(find_integrator(name, **options), Spring(stiffness), np.array([1e-3]), np.zeros(1), 0.3, 300)
    assert 0.5 * v[0] ** 2 + 0.5 * stiffness * q[0] ** 2 <= 0.5 * stiffness * 1e-6 * (1 + 1e-9)


@pytest.mark.parametrize(("name", "options"), [("rk4", {}), ("verlet", {}), ("theta", {"theta": 0.45})])
def test_stiff_spring_is_unstable_elsewhere(name: str, options: dict[str, float]) -> None:
    q, _ = advance(find_integrator(name, **options), Spring(1e8), np.array([1e-3]), np.zeros(1), 0.1, 100)
    assert not abs(q[0]) < 1.0


def test_trapezoid_keeps_the_energy_of_a_linear_spring() -> None:
    for name in ("theta", "potra_trapezoid"):
        q, v = advance(find_integrator(name), Spring(400.0), np.array([0.1]), np.zeros(1), 10.0, 200)
        assert 0.5 * v[0] ** 2 + 200.0 * q[0] ** 2 == pytest.approx(2.0, rel=1e-10)


def test_theta_zero_is_explicit_euler() -> None:
    system, (q, v) = DrivenPendulum(), DrivenPendulum.start
    explicit = find_integrator("explicit_euler").step(system, q, v, 0.02)
    zero = find_integrator("theta", theta=0.0).step(system, q, v, 0.02)
    assert_allclose([zero.q, zero.v], [explicit.q, explicit.v], atol=0.0)
