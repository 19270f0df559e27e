# SPDX-License-Identifier: Apache-2.0
"""The syntaxeur's delta against its printed numbers, finite differences, virtual work and the general solver."""

import numpy as np
import pytest

from humanoid_kinematics import JointGoal, MechanismSolver, load_mechanism
from humanoid_kinematics.devices.syntaxeur import DeltaArm
from humanoid_kinematics.solver.mechanism_solver import SolverOptions
from humanoid_model import InputError

ARM = DeltaArm()
PRINTED = {
    (0, 0, 0): (0, 0, 51.2348),
    (30, 30, 30): (0, 0, 195.3785),
    (45, 45, 45): (0, 0, 270.6096),
    (0, 20, 40): (36.0793, 24.4107, 139.6017),
    (10, -10, 30): (2.6832, 28.2097, 94.5844),
}


@pytest.mark.parametrize(("angles", "place"), PRINTED.items())
def test_forward_and_inverse_are_as_printed_orc_18(angles, place):
    np.testing.assert_allclose(1e3 * ARM.forward(np.radians(angles)), place, atol=1e-4)
    np.testing.assert_allclose(np.degrees(ARM.inverse(1e-3 * np.array(place))), angles, atol=1e-3)


@pytest.mark.feature("002-F112")
def test_jacobian_is_as_printed_and_as_finite_differences_say_orc_18():
    J = 1e3 * ARM.jacobian(np.radians([30.0, 30.0, 30.0]))
    np.testing.assert_allclose(
        J, [[-98.0098, 49.0049, 49.0049], [0, -84.8790, 84.8790], [101.3258, 101.3258, 101.3258]], atol=1e-4
    )
    assert np.linalg.cond(J) == pytest.approx(1.46206, abs=1e-5)
    angles, h = np.radians([5.0, 40.0, 20.0]), 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        difference = (ARM.forward(angles + step) - ARM.forward(angles - step)) / (2 * h)
        np.testing.assert_allclose(ARM.jacobian(angles)[:, k], difference, atol=1e-8)


def test_the_general_solver_puts_its_plate_where_the_closed_form_does():
    delta = MechanismSolver(load_mechanism("syntaxeur_delta"), SolverOptions(reach=1e-11))
    angles = np.radians([12.0, 31.0, 23.0])
    for _ in range(20):
        motion = delta.command(*(JointGoal(f"joint_{1 + 10 * k}", angle) for k, angle in enumerate(angles)))
    assert motion.status == "reached"
    np.testing.assert_allclose(delta.placement("frame_103").translation, ARM.forward(angles), atol=1e-9)


@pytest.mark.feature("002-F112")
def test_motors_do_the_work_of_the_hand():
    angles, force = np.radians([20.0, 35.0, 10.0]), np.array([1.0, -2.0, 4.0])
    turn = np.array([0.1, -0.2, 0.3])
    plate = (ARM.forward(angles + 1e-6 * turn) - ARM.forward(angles - 1e-6 * turn)) / 2e-6
    motors = 16.0 * turn
    assert ARM.motor_torques(angles, force) @ motors == pytest.approx(force @ plate, rel=1e-6)


@pytest.mark.feature("002-F112")
def test_the_workspace_of_the_thesis_is_within_reach():
    """A cylinder of radius 170 mm, 150 mm high (§6.1.3.2)."""
    for z in np.linspace(0.110, 0.260, 7):
        for turn in np.linspace(0.0, 2 * np.pi, 37):
            place = np.array([0.170 * np.cos(turn), 0.170 * np.sin(turn), z])
            np.testing.assert_allclose(ARM.forward(ARM.inverse(place)), place, atol=1e-12)


def test_what_is_out_of_reach_is_refused():
    with pytest.raises(InputError, match="place within reach"):
        ARM.inverse([0.0, 0.0, 1.0])
    with pytest.raises(InputError, match="bars don't meet"):
        DeltaArm(bar=0.08).forward([0.0, 0.0, 0.0])
