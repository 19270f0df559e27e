# SPDX-License-Identifier: Apache-2.0
"""Preview control of the zero-moment point against the Riccati equation and a long-horizon quadratic program."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_control.walking import PreviewController
from humanoid_model.errors import InputError

HEIGHT, DT, GRAVITY = 0.8, 0.01, 9.81


def test_the_riccati_equation_holds_and_the_loop_is_stable() -> None:
    """P satisfies the equation written out by hand, and the gains are its; the closed loop's poles lie inside."""
    controller = PreviewController(HEIGHT, dt=DT, error_weight=2.0, input_weight=1e-5)
    A, B, C = controller.A, controller.B, controller.C
    F = np.vstack([C @ A, A])
    full = np.column_stack([[1.0, 0.0, 0.0, 0.0], F])
    b = np.concatenate([[C @ B], B])
    P = controller.riccati
    gain = (b @ P @ full) / (1e-5 + b @ P @ b)
    residual = full.T @ P @ full - full.T @ P @ np.outer(b, gain) + np.diag([2.0, 0.0, 0.0, 0.0]) - P
    assert np.abs(residual).max() < 1e-8 * np.abs(P).max()
    assert_allclose([controller.integral_gain, *controller.state_gain], gain, rtol=1e-9)
    assert np.abs(np.linalg.eigvals(full - np.outer(b, gain))).max() < 1.0


def test_it_moves_as_the_optimum_of_a_long_horizon() -> None:
    """With two seconds of preview the cart moves as the dense least-squares optimum over 6 s says."""
    k, weight = 600, 1e-6
    reference = np.interp(DT * np.arange(k), [0.0, 2.5, 2.6, 3.6, 3.7], [0.0, 0.0, 0.1, 0.1, -0.05])
    controller = PreviewController(HEIGHT, dt=DT, horizon=2.5, gravity=GRAVITY, input_weight=weight)
    motion = controller.track(reference[:, None])
    # p_i as a linear function of the jerk's differences, each of which goes on for ever.
    A, B, C = controller.A, controller.B, controller.C
    response = np.empty(k)
    state = np.zeros(3)
    for i in range(k):
        response[i] = C @ state
        state = A @ state + B
    columns = np.array([np.concatenate([np.zeros(j), response[: k - j]]) for j in range(k - 1)]).T
    system = np.vstack([columns, math.sqrt(weight) * np.eye(k - 1)])
    best = np.linalg.lstsq(system, np.concatenate([reference, np.zeros(k - 1)]), rcond=None)[0]
    middle = slice(0, 480)  # later the program knows that time ends
    assert_allclose(motion.zero_moment_point[middle, 0], (columns @ best)[middle], atol=1e-4)


def test_cart_and_point_agree_and_what_is_not_seen_is_not_done() -> None:
    """p = x - z/g x'' holds; the cart rests until the reference comes into view and settles under its end."""
    controller = PreviewController(HEIGHT, dt=DT, horizon=1.0)
    reference = np.full((900, 2), 0.3)
    reference[300:] = [0.4, 0.1]
    motion = controller.track(reference)
    assert_allclose(
        motion.zero_moment_point, motion.position - HEIGHT / GRAVITY * motion.acceleration, atol=1e-12
    )
    assert_allclose(motion.position[:200], 0.3, atol=1e-12)
    assert_allclose(motion.position[-1], [0.4, 0.1], atol=1e-6)
    assert motion.position[299, 0] > 0.32


def test_it_can_start_beside_the_reference() -> None:
    """A start of its own is where the cart rests at first; it then goes to the reference."""
    motion = PreviewController(HEIGHT, dt=DT).track(np.full((600, 1), 0.02), start=np.zeros(1))
    assert motion.position[0, 0] == 0.0
    assert_allclose(motion.position[-1], 0.02, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"height": 0.0}, "height"),
        ({"dt": -1.0}, "dt"),
        ({"horizon": 1e-4}, "horizon"),
        ({"gravity": math.nan}, "gravity"),
        ({"input_weight": 0.0}, "input_weight"),
    ],
)
def test_wrong_numbers_are_named(change: dict[str, float], name: str) -> None:
    with pytest.raises(InputError, match=name):
        PreviewController(**{"height": HEIGHT, **change})


@pytest.mark.parametrize("reference", [np.zeros((0, 2)), np.full((3, 1), np.nan), np.zeros(3)])
def test_a_wrong_reference_is_named(reference: np.ndarray) -> None:
    with pytest.raises(InputError, match="reference"):
        PreviewController(HEIGHT).track(reference)
