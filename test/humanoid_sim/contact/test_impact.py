# SPDX-License-Identifier: Apache-2.0
"""Impacts: closed forms of N7 and N8, restitution, energy, chains."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim.contact.impact import solve_impact
from humanoid_sim.contact.lemke import LcpStatus


def box(mass: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Normal Jacobian of the four lower corners of a uniform box, columns (v_z, w_x, w_y), and its inverse inertia."""
    corners = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]]) * 0.25
    J = np.column_stack([np.ones(4), corners[:, 1], -corners[:, 0]])
    inertia = mass * (0.5**2 + 0.1**2) / 12.0
    return J, np.diag([1.0 / mass, 1.0 / inertia, 1.0 / inertia])


@pytest.mark.feature("000-F065")
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_flat_box(e: float) -> None:
    """N7: the impulses sum to (1 + e) m v, the box leaves at e v, its energy is e^2 of what it was."""
    J, inverse = box()
    Lambda = J @ inverse @ J.T
    before = np.array([-3.0, 0.0, 0.0])
    result = solve_impact(Lambda, J @ before, e)
    assert result.status is LcpStatus.SOLVED
    assert result.impulses.sum() == pytest.approx((1.0 + e) * 2.0 * 3.0, rel=1e-12)
    assert_allclose(result.velocities, 3.0 * e, atol=1e-12)
    after = before + inverse @ J.T @ result.impulses  # thesis equation 3.9
    assert_allclose(J @ after, result.velocities, atol=1e-12)
    assert after @ np.linalg.solve(inverse, after) == pytest.approx(
        e**2 * before @ np.linalg.solve(inverse, before), abs=1e-12
    )


@pytest.mark.feature("000-F065")
@pytest.mark.parametrize("e", [0.0, 0.7, 1.0])
def test_rod_at_one_end(e: float) -> None:
    """N8: Lambda = 1/m + (l/2)^2 / (m l^2 / 12) = 4/m, impulse (1 + e) m v / 4."""
    m, length, v = 3.0, 1.7, 2.0
    Lambda = 1.0 / m + (length / 2.0) ** 2 / (m * length**2 / 12.0)
    assert pytest.approx(4.0 / m) == Lambda
    result = solve_impact([[Lambda]], [-v], e)
    assert result.impulses[0] == pytest.approx((1.0 + e) * m * v / 4.0)
    assert result.velocities[0] == pytest.approx(e * v)


@pytest.mark.feature("000-F068")
def test_restitution_per_contact() -> None:
    """Two separate bodies."""
    result = solve_impact(np.diag([1.0, 0.5]), [-1.0, -1.0], [0.0, 1.0])
    assert_allclose(result.impulses, [1.0, 4.0])
    assert_allclose(result.velocities, [0.0, 1.0])


def test_no_contact_is_slower_than_newtons_law() -> None:
    """A box that lands on one edge: every condition of (3.7), whatever the other corners do."""
    J, inverse = box()
    rng = np.random.default_rng(0)
    for _ in range(100):
        before = rng.normal(size=3) - [1.0, 0.0, 0.0]
        e = rng.uniform(0.0, 1.0, 4)
        v = J @ before
        result = solve_impact(J @ inverse @ J.T, v, e)
        slack = result.velocities + e * v
        assert result.impulses.min() >= 0.0
        assert slack.min() > -1e-9
        assert np.abs(slack * result.impulses).max() < 1e-8
        assert result.residual < 1e-9


def test_separating_contacts_are_left_alone() -> None:
    result = solve_impact(np.eye(2), [0.5, 0.0], 0.8)
    assert_allclose(result.impulses, 0.0, atol=0.0)
    assert_allclose(result.velocities, [0.5, 0.0], atol=0.0)


def test_a_gap_may_still_be_closed() -> None:
    """The approach that is left is the one allowed, and no push where the contact is slower anyway."""
    result = solve_impact(np.diag([2.0, 1.0]), [-1.0, -1.0], 0.0, allowed=[0.25, 1.5])
    assert_allclose(result.impulses, [0.375, 0.0], atol=1e-12)
    assert_allclose(result.velocities, [-0.25, -1.0], atol=1e-12)


def test_no_contacts_no_impulses() -> None:
    assert solve_impact(np.zeros((0, 0)), [], 0.5).impulses.size == 0


@pytest.mark.parametrize(
    ("Lambda", "v", "e", "says"),
    [
        (np.eye(2), [-1.0], 0.5, "Lambda_nn has shape"),
        (np.eye(1), [np.nan], 0.5, r"v_minus\[0\] is nan"),
        ([[np.inf]], [-1.0], 0.5, "Lambda_nn"),
        (np.eye(2), [-1.0, -1.0], [0.5, 1.1], r"e\[1\] is 1.1"),
        (np.eye(1), [-1.0], -0.1, r"e\[0\] is -0.1"),
        (np.eye(1), [-1.0], [0.5, 0.5], "e has shape"),
        ([[1.0, 0.5], [0.0, 1.0]], [-1.0, -1.0], 0.5, "not symmetric"),
        ([[1.0, 0.0], [0.0, 0.0]], [-1.0, -1.0], 0.5, r"Lambda_nn\[1, 1\] is 0"),
    ],
)
def test_bad_impacts_are_refused(Lambda: object, v: object, e: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_impact(Lambda, v, e)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("allowed", "says"),
    [([0.1, 0.1], "allowed has shape"), ([-0.1], r"allowed\[0\] is -0.1"), ([np.nan], r"allowed\[0\] is nan")],
)
def test_bad_allowed_speeds_are_refused(allowed: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        solve_impact([[1.0]], [-1.0], 0.0, allowed=allowed)  # type: ignore[arg-type]
