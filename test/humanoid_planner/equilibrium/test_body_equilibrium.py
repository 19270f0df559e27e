# SPDX-License-Identifier: Apache-2.0
"""The three tests of equilibrium on a square of four points, where all answers are known in closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.body_equilibrium import STILL, UNLOADED, EquilibriumMethod, HeldBody, check_body
from humanoid_planner.equilibrium.contact_points import ContactPoints

CORNERS = np.array([[-0.2, -0.1, 0.3], [0.2, -0.1, 0.3], [0.2, 0.1, 0.3], [-0.2, 0.1, 0.3]])
FRICTION, MASS, G = 0.5, 10.0, 10.0
SQUARE = ContactPoints.of_normals(CORNERS, [0.0, 0.0, 1.0], FRICTION)
FORCES, POLYGON, POLYTOPE = (
    EquilibriumMethod.CONTACT_FORCES,
    EquilibriumMethod.SUPPORT_POLYGON,
    EquilibriumMethod.FORCE_POLYTOPE,
)


def body(x: float = 0.0, y: float = 0.0, acceleration: np.ndarray = STILL, wrench: np.ndarray = UNLOADED) -> HeldBody:
    return HeldBody(MASS, np.array([x, y, 1.0]), np.array([0.0, 0.0, -G]), acceleration, wrench)


@pytest.mark.parametrize("method", EquilibriumMethod)
def test_the_centre_of_mass_is_held_above_the_square_only(method: EquilibriumMethod) -> None:
    inside, outside = check_body(method, SQUARE, body(0.19)), check_body(method, SQUARE, body(0.21))
    assert inside.equilibrium
    assert inside.margin > 0.0
    assert not outside.equilibrium
    assert outside.margin < 0.0
    assert len(outside.forces) == 0
    gaps = np.linalg.norm(inside.region[None] - CORNERS[:, None], axis=2)
    assert gaps.min(axis=1).max() < 1e-3  # what the region is found to
    assert (np.abs(inside.region) <= np.abs(CORNERS[0]) + 1e-6).all()


def test_margins_are_metres_and_newtons() -> None:
    assert check_body(POLYGON, SQUARE, body(0.15)).margin == pytest.approx(0.05)
    # Each of four equal forces of 25 N is mu n / sqrt(1 + mu^2) away from its cone.
    exact = 25.0 * FRICTION / math.sqrt(1.0 + FRICTION**2)
    assert check_body(FORCES, SQUARE, body()).margin == pytest.approx(exact, rel=1e-5)
    assert 0.8 * exact < check_body(POLYTOPE, SQUARE, body()).margin <= exact * (1.0 + 1e-9)


@pytest.mark.parametrize("method", [FORCES, POLYTOPE])
def test_forces_balance_weight_inertia_and_loads(method: EquilibriumMethod) -> None:
    acceleration = np.array([0.3, -0.2, 0.5])
    wrench = np.array([1.0, 2.0, -30.0, 0.4, 0.5, 0.1])
    there = body(0.05, 0.02, acceleration, wrench)
    answer = check_body(method, SQUARE, there)
    assert answer.equilibrium
    push = MASS * (acceleration - there.gravity)
    np.testing.assert_allclose(answer.forces.sum(axis=0) + wrench[:3], push, atol=1e-6)
    moments = np.cross(CORNERS, answer.forces).sum(axis=0) + wrench[3:]
    np.testing.assert_allclose(moments, np.cross(there.centre_of_mass, push), atol=1e-5)


@pytest.mark.parametrize("method", [FORCES, POLYTOPE])
def test_a_load_keeps_or_spoils_the_balance(method: EquilibriumMethod) -> None:
    def loaded(weight: float) -> bool:
        at, force = np.array([0.3, 0.0, 1.0]), np.array([0.0, 0.0, -weight])
        there = body(-0.25, wrench=np.concatenate([force, np.cross(at, force)]))
        return check_body(method, SQUARE, there).equilibrium

    # 100 N at x = -0.25 and a weight at 0.3: together above the square, which begins at -0.2, from 10 N on.
    assert not loaded(9.0)
    assert loaded(11.0)
    assert not loaded(-11.0)


@pytest.mark.parametrize("method", [FORCES, POLYTOPE])
def test_it_slips_beyond_friction(method: EquilibriumMethod) -> None:
    # The centre of mass is low enough that nothing tips over before it slips.
    def pushed(share: float) -> bool:
        acceleration = np.array([share * FRICTION * G, 0.0, 0.0])
        low = HeldBody(MASS, np.array([0.0, 0.0, 0.3]), np.array([0.0, 0.0, -G]), acceleration, UNLOADED)
        return check_body(method, SQUARE, low).equilibrium

    assert pushed(0.9)
    assert not pushed(1.01)


def test_torque_limits_hold_forces_back() -> None:
    def answer(limit: float) -> bool:
        A = np.zeros((1, 12))
        A[0, 2] = 1.0  # the normal force at the first corner
        return check_body(FORCES, SQUARE, body(-0.1, -0.05), (A, np.array([-limit]))).equilibrium

    # 75 N are on the left, 75 N in front: of 100 N, at least 50 N are on the corner that is both.
    assert answer(51.0)
    assert not answer(49.0)


def test_without_contacts_there_is_nothing_to_test() -> None:
    none = ContactPoints(np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros(0), np.zeros(0, dtype=bool))
    with pytest.raises(InputError, match="stance: no contact bears force"):
        check_body(POLYGON, none, body())
