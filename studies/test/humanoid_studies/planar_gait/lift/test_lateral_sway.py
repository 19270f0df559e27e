# SPDX-License-Identifier: Apache-2.0
"""Sway over a given zero-moment point: the linear inverted pendulum's closed form, and integration forward."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.lift.lateral_sway import PendulumPhase, solve_pendulum


def phase(t, stiffness, zmp, first=0.0, last=0.0):
    t = np.asarray(t, dtype=float)
    return PendulumPhase(t, *(np.full(t.shape, 1.0) * value for value in (stiffness, zmp, first, last)))


def bump(t):
    s = (t - t[0]) / (t[-1] - t[0])
    return 16.0 * (s * (1.0 - s)) ** 2


def test_steps_without_double_support_are_hyperbolic_cosines():
    """Zero-moment point at a foot at p: y = p (1 - cosh(w (t - T/2)) / cosh(w T/2)), zero at both ends."""
    w, p, T = math.sqrt(9.81 / 0.95), 0.11, 0.7
    t = np.linspace(0.0, T, 281)
    motion = solve_pendulum([phase(t, w**2, p), phase(T + t, w**2, -p)])
    exact = p * (1.0 - np.cosh(w * (t - T / 2)) / np.cosh(w * T / 2))
    np.testing.assert_allclose(motion.position[0], exact, atol=2e-6)
    np.testing.assert_allclose(motion.position[1], -exact, atol=2e-6)
    assert motion.velocity[0][0] == pytest.approx(p * w * math.tanh(w * T / 2), rel=1e-4)


def test_the_error_is_of_second_order():
    w, p, T = 3.2, 0.11, 0.7
    errors = []
    for count in (15, 29, 57):
        t = np.linspace(0.0, T, count)
        y = solve_pendulum([phase(t, w**2, p), phase(T + t, w**2, -p)]).position[0]
        errors.append(np.abs(y - p * (1.0 - np.cosh(w * (t - T / 2)) / np.cosh(w * T / 2))).max())
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_from_rest_to_rest_integrating_forward_arrives_where_it_is_said_to():
    """Stiffness that varies and jumps, two shapes: another integrator follows the zero-moment point found."""
    stand, step, end = (np.linspace(a, b, n) for a, b, n in ((0.0, 1.0, 401), (1.0, 1.6, 241), (1.6, 2.6, 401)))
    s = stand**2 * (3.0 - 2.0 * stand)
    given = [
        phase(stand, 10.0, 0.09 * s, first=bump(stand)),
        phase(step, 10.5 + np.sin(7 * step), 0.09),
        phase(end, 9.5, 0.09 * (1 - s), last=bump(end)),
    ]
    motion = solve_pendulum(given, ((0.0, 0.0), (0.0, 0.0)))
    state = np.zeros(2)
    for own, zmp, y in zip(given, motion.zmp, motion.position, strict=True):
        solved = solve_ivp(
            lambda t, x, own=own, zmp=zmp: [
                x[1],
                np.interp(t, own.t, own.stiffness) * (x[0] - np.interp(t, own.t, zmp)),
            ],
            (own.t[0], own.t[-1]),
            state,
            rtol=1e-9,
            atol=1e-12,
            max_step=0.01,
        )
        state = solved.y[:, -1]
        assert state[0] == pytest.approx(y[-1], abs=1e-3)  # errors grow by exp(8)
    np.testing.assert_allclose(state, 0.0, atol=3e-3)
    assert np.abs(motion.amplitudes).max() < 0.08


@pytest.mark.parametrize(
    ("phases", "words"),
    [
        ([], "no phase"),
        ([phase([0.0, 0.1, 0.1], 10.0, 0.0)], "don't increase"),
        ([phase([0.0, 0.1], -1.0, 0.0)], "nothing presses"),
        ([phase([0.0, 0.1], 10.0, math.nan)], "not finite"),
        ([phase([0.0], 10.0, 0.0)], "samples"),
    ],
)
def test_bad_phases_are_refused(phases, words):
    with pytest.raises(InputError, match=words):
        solve_pendulum(phases)


def test_ends_that_no_shape_leads_to_are_refused():
    with pytest.raises(InputError, match="reach the given ends"):
        solve_pendulum([phase(np.linspace(0.0, 1.0, 11), 10.0, 0.1)], ((0.0, 0.0), (0.0, 0.0)))
    with pytest.raises(InputError, match="ends"):
        solve_pendulum([phase([0.0, 0.1], 10.0, 0.1)], ((0.0, math.inf), (0.0, 0.0)))
