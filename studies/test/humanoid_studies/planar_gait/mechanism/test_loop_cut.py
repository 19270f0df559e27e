# SPDX-License-Identifier: Apache-2.0
"""Rules of cutting, and that the mechanism is the same wherever it is cut (specification 003 section 2.1)."""

import dataclasses

import numpy as np
import pytest
from fixtures.gait_models import BIP, FIVE_BAR, RABBIT
from fixtures.planar_mechanisms import OBJECT_BETWEEN_ARMS, PEDALLING, SKATE_FEET

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.lagrange import constrained_acceleration
from humanoid_studies.planar_gait.mechanism.loop_cut import choose_cuts
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism


@pytest.mark.feature("003-F004")
def test_rule_b_cuts_far_from_the_base():  # U-20, F-004
    assert choose_cuts(FIVE_BAR.mechanism()) == ("O3",)
    model = open_mechanism(FIVE_BAR.mechanism())
    q = np.random.default_rng(1).uniform(-3, 3, 4)
    M = model.tree.mass_matrix(q)
    assert np.all(M[:2, 2:] == 0.0)
    assert np.all(M[2:, :2] == 0.0)
    assert np.all(model.tree.mass_derivative(q, 0)[2:] == 0.0)


@pytest.mark.feature("003-F005")
def test_rule_u_cuts_at_the_front_contact():  # F-005
    assert choose_cuts(RABBIT.mechanism(0.45)) == ("front_tip",)
    assert choose_cuts(BIP.mechanism(0.5)) == ("front_heel",)
    assert choose_cuts(SKATE_FEET) == ("front_ankle",)
    assert choose_cuts(OBJECT_BETWEEN_ARMS) == ("B",)
    assert BIP.double_support(0.5).point_closures[0].point == "front_heel"
    lower = dict(zip(BIP.double_support(0.5).control_names, BIP.double_support(0.5).control_lower, strict=True))
    assert lower["F_B1"] == lower["F_B2"] == 0.0
    assert lower["F_B12"] == lower["C12"] == -np.inf


@pytest.mark.feature("003-F003")
def test_the_same_motion_and_forces_whichever_joint_is_cut():  # F-003
    at_base, at_apex = FIVE_BAR.phase("O5"), FIVE_BAR.phase("O3")
    q = FIVE_BAR.posture(0.13 + 0.55j)
    G = at_base.closure_jacobian(q)
    np.testing.assert_allclose(at_apex.closure_jacobian(q), G, atol=1e-14)
    v = np.array([1.0, -0.5, 0.3, 2.0])
    v -= np.linalg.pinv(G) @ (G @ v)
    torques = np.array([12.0, -7.0, 5.0, 3.0, -9.0])
    acceleration, base_force = constrained_acceleration(at_base, q, v, torques)
    again, apex_force = constrained_acceleration(at_apex, q, v, torques)
    np.testing.assert_allclose(again, acceleration, atol=1e-10)
    # Newton for bars 3 and 4: the force of bar 2 on them is minus that on bar 2, which the cut at the apex yields.
    push = -base_force.copy()
    for name in ("bar_3", "bar_4"):
        body = next(body for body in at_base.tree.bodies if body.name == name)
        centre = at_base.tree.point(name, body.centre)
        push += body.mass * (centre.jacobian(q) @ acceleration + centre.bias(q, v) + [0.0, 9.81])
    np.testing.assert_allclose(-apex_force, push, atol=1e-9)


@pytest.mark.feature("003-F006")
def test_both_contacts_released():  # F-006
    mechanism = RABBIT.mechanism(0.45)
    cuts = choose_cuts(mechanism, release_all_contacts=True)
    assert cuts == ("rear_tip", "front_tip")
    floating = open_mechanism(mechanism, cuts)
    assert floating.tree.coordinates[:2] == ("x", "y")
    assert floating.n == RABBIT.double_support(0.45).n + 2  # the rear shank's angle is there already
    assert floating.closure_count == 4
    rooted = RABBIT.double_support(0.45)
    q = np.array([0.894567, 1.816106, -0.853506, -1.486040, 1.570796])
    G = rooted.closure_jacobian(q)
    v = np.array([-0.7, -1.9, 0.3, -2.7, 0.2])
    v -= np.linalg.pinv(G) @ (G @ v)
    torques = np.array([-30.0, -4.0, -2.0, 20.0])
    acceleration, front = constrained_acceleration(rooted, q, v, torques)
    free_acceleration, forces = constrained_acceleration(
        floating, np.concatenate([[0, 0], q]), np.concatenate([[0, 0], v]), torques
    )
    np.testing.assert_allclose(free_acceleration, np.concatenate([[0, 0], acceleration]), atol=1e-9)
    # A contact's force acts on its parent: the ground for the rear tip, the front shank for the other one.
    rear, front_again = forces[:2], forces[2:]
    np.testing.assert_allclose(front_again, front, atol=1e-8)
    centre = rooted.tree.centre
    total = rooted.tree.mass * (centre.jacobian(q) @ acceleration + centre.bias(q, v) + [0.0, 9.81])
    np.testing.assert_allclose(rear + front_again, total, atol=1e-8)


@pytest.mark.feature("003-F007")
def test_several_loops():  # F-007, F-115
    cuts = choose_cuts(PEDALLING)
    assert len(cuts) == 2
    model = open_mechanism(PEDALLING, cuts)
    assert model.n == 7
    assert model.closure_count == 4
    assert model.control_count == 6 + 4
    q = np.array([0.3, -0.4, -1.9, -0.5, -0.9, -2.1, -0.3])
    assert np.linalg.matrix_rank(model.closure_jacobian(q)) == 4
    assert model.redundancy(q) == 3
    other = open_mechanism(PEDALLING, ("left_ankle", "axle"))
    rng = np.random.default_rng(3)
    # Both trees close at the same configurations: put the legs on the pedals by Newton's method.
    for _ in range(50):
        q = q - np.linalg.pinv(model.closure_jacobian(q)) @ model.closure(q)
    np.testing.assert_allclose(model.closure(q), 0.0, atol=1e-13)
    np.testing.assert_allclose(other.closure(q), 0.0, atol=1e-13)
    v = rng.normal(size=7)
    G = model.closure_jacobian(q)
    v -= np.linalg.pinv(G) @ (G @ v)
    torques = rng.normal(size=6)
    np.testing.assert_allclose(
        constrained_acceleration(model, q, v, torques)[0], constrained_acceleration(other, q, v, torques)[0], atol=1e-9
    )


def test_welds_turn_with_what_carries_them():
    """The five-bar's load is welded to the second bar, or the second bar to the load: the same mechanism."""
    mechanism = FIVE_BAR.mechanism()
    weld = mechanism.pivot("load_weld")
    turned = dataclasses.replace(
        weld, parent=weld.child, at_parent=weld.at_child, child=weld.parent, at_child=weld.at_parent
    )
    pivots = tuple(turned if pivot is weld else pivot for pivot in mechanism.pivots)
    other = open_mechanism(dataclasses.replace(mechanism, pivots=pivots), ("O5",))
    model = FIVE_BAR.phase()
    x, u = np.random.default_rng(4).normal(size=8), np.random.default_rng(5).normal(size=7)
    np.testing.assert_allclose(other.state_rate(x, u), model.state_rate(x, u), atol=1e-12)
    # A joint that starts on a welded link counts from what carries it.
    moved = tuple(
        dataclasses.replace(pivot, parent="load", at_parent=0.0) if pivot.name == "O3" else pivot for pivot in pivots
    )
    hanging = open_mechanism(dataclasses.replace(mechanism, pivots=moved), ("O5",))
    np.testing.assert_allclose(hanging.state_rate(x, u), model.state_rate(x, u), atol=1e-12)
    np.testing.assert_array_equal(hanging.torque_matrix, model.torque_matrix)


def test_what_is_refused():
    with pytest.raises(InputError, match="a loop is left, through"):
        open_mechanism(PEDALLING, ("axle",))
    with pytest.raises(InputError, match="bar_3: hangs on nothing"):
        open_mechanism(FIVE_BAR.mechanism(), ("O3", "O4", "O5"))
    with pytest.raises(InputError, match="load_weld: is a weld"):
        open_mechanism(FIVE_BAR.mechanism(), ("load_weld",))
    with pytest.raises(InputError, match="unknown joint 'O9'"):
        FIVE_BAR.phase("O9")
