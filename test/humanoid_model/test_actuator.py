# SPDX-License-Identifier: Apache-2.0
"""Default gains against oscillators worked out by hand and against the inertia matrix."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.random_tree import random_tree
from numpy.testing import assert_allclose

from humanoid_model.actuator import DEFAULT_FREQUENCY, default_gains

OMEGA = 2 * math.pi * DEFAULT_FREQUENCY


def point_mass(mass: float, x: float, y: float, z: float) -> pin.Inertia:
    return pin.Inertia(mass, np.array([x, y, z]), np.zeros((3, 3)))


def leg() -> pin.Model:
    """A trunk of 10 kg, 0.2 m above a hip, a shank of 3 kg half-way down, a foot of 2 kg 0.5 m below the hip."""
    model = pin.Model()
    base = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    model.appendBodyToJoint(base, point_mass(10.0, 0.0, 0.0, 0.2), pin.SE3.Identity())
    hip = model.addJoint(base, pin.JointModelRY(), pin.SE3.Identity(), "hip")
    model.appendBodyToJoint(hip, point_mass(3.0, 0.0, 0.0, -0.25), pin.SE3.Identity())
    below = pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.5]))
    ankle = model.addJoint(hip, pin.JointModelRY(), below, "ankle")
    model.appendBodyToJoint(ankle, point_mass(2.0, 0.1, 0.0, 0.0), pin.SE3.Identity())
    return model


def test_joints_of_a_leg_carry_what_is_above_them() -> None:
    model = leg()
    stiffness, damping = default_gains(model, [model.getJointId("ankle")])
    carried = np.array([10 * 0.2**2, 10 * 0.7**2 + 3 * 0.25**2])
    assert_allclose(stiffness[6:], carried * OMEGA**2)
    assert_allclose(damping[6:], 2 * carried * OMEGA)


def test_other_joints_carry_what_hangs_from_them() -> None:
    stiffness, _ = default_gains(leg(), [])
    carried = np.array([3 * 0.25**2 + 2 * (0.5**2 + 0.1**2), 2 * 0.1**2])
    assert_allclose(stiffness[6:], carried * OMEGA**2)


def test_armature_is_carried_too() -> None:
    model = leg()
    model.armature[7] = 0.5
    plain, _ = default_gains(leg(), [])
    stiffness, _ = default_gains(model, [])
    assert_allclose(stiffness - plain, [0] * 7 + [0.5 * OMEGA**2], atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_hanging_inertias_are_the_inertia_matrix_diagonal(seed: int) -> None:
    model = random_tree(np.random.default_rng(seed), 8)
    stiffness, damping = default_gains(model, [])
    diagonal = np.diag(pin.crba(model, model.createData(), pin.neutral(model)))
    assert_allclose(stiffness, diagonal * OMEGA**2, rtol=1e-9)
    # Critical damping: the two roots of I s^2 + d s + k coincide.
    assert_allclose(damping**2, 4 * diagonal * stiffness, rtol=1e-9)
