# SPDX-License-Identifier: Apache-2.0
"""Drives of a parallel mechanism are strong enough for what they move together."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import Relay, load_mechanism
from humanoid_model.actuator import DEFAULT_FREQUENCY, default_gains


def test_each_leg_of_a_platform_carries_its_share() -> None:
    """Twice the kinetic energy of the whole platform while one drive moves at unit speed, by the relay's velocities."""
    gough = load_mechanism("gough")
    relay, model = Relay(gough), gough.model
    here = gough.initial[[gough.robot.index_q(joint) for joint in relay.driven]]
    tree, _ = default_gains(model, ())
    omega = 2.0 * math.pi * DEFAULT_FREQUENCY
    for speeds, joint in zip(np.eye(6), relay.driven, strict=True):
        state = relay.update(here, velocities=speeds)
        inertia = 2.0 * pin.computeKineticEnergy(model, model.createData(), state.q, state.v)
        stiffness = max(inertia * omega**2, tree[gough.robot.index_v(joint)])
        actuator = gough.robot.actuators[joint]
        assert actuator.stiffness == pytest.approx(stiffness, rel=1e-4)
        assert actuator.damping == pytest.approx(2.0 * stiffness / omega, rel=1e-4)


def test_a_tree_keeps_its_gains() -> None:
    scara = load_mechanism("scara")
    stiffness, _ = default_gains(scara.model, ())
    assert [own.stiffness for own in scara.robot.actuators.values()] == pytest.approx(stiffness.tolist())
