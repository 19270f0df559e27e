# SPDX-License-Identifier: Apache-2.0
"""A robot that yields: (3.65), its limits, its refusals; and a user who disturbs a standing robot."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.interaction import AttachMode, ScriptedDevice
from humanoid_sim.interaction.device import DeviceSample
from humanoid_sim.interaction.interaction import BodyForce, Interaction
from humanoid_sim.interaction.joint_admittance import JointAdmittance

ARM = [f"RARM_JOINT{i}" for i in range(7)]
HAND = "hrp2/RARM_LINK6"


class SteadyHand(Interaction):
    """A user who pulls with the same force all the time."""

    def __init__(self, force: list[float]) -> None:
        super().__init__("attach", ScriptedDevice([0.0], np.zeros((1, 3))), 1.0)
        self.force = np.array(force)

    def feel(self, sample: DeviceSample, simulation: Simulation) -> tuple[np.ndarray, tuple[BodyForce, ...]]:
        return -self.force, (BodyForce(HAND, np.array([0.0, 0.0, -0.05]), self.force, np.zeros(3)),)


def yielding(force: list[float], **gains: float) -> tuple[Simulation, JointAdmittance]:
    simulation = Simulation("stand")
    simulation.add_module(SteadyHand(force))
    admittance = JointAdmittance("hrp2", ARM, **gains)  # type: ignore[arg-type]
    simulation.add_module(admittance)
    return simulation, admittance


@pytest.mark.feature("000-F117")
def test_steady_velocity_is_the_effort_over_the_damping() -> None:
    """F117: after ten time constants M_d / B_d; the Jacobian is a finite difference of the hand's place."""
    simulation, admittance = yielding([2.0, 1.0, 0.5], inertia=0.5, damping=10.0)
    simulation.run(0.5)
    robot = simulation.robots["hrp2"]
    model, q = robot.robot.model, robot.q
    link = robot.robot.parts.links["RARM_LINK6"]
    point = link.placement_joint_link.act(np.array([0.0, 0.0, -0.05]))

    def place(q: np.ndarray) -> np.ndarray:
        data = model.createData()
        pin.forwardKinematics(model, data, q)
        return np.array(data.oMi[link.joint_id].act(point))

    h = 1e-6
    for joint, velocity in zip(ARM, admittance.v_desired, strict=True):
        dv = np.zeros(model.nv)
        dv[robot.robot.index_v(joint)] = h
        column = (place(pin.integrate(model, q, dv)) - place(pin.integrate(model, q, -dv))) / (2 * h)
        assert velocity == pytest.approx(column @ [2.0, 1.0, 0.5] / 10.0, rel=0.02, abs=1e-4)
    assert np.abs(admittance.v_desired).max() > 0.02


def test_velocity_builds_up_as_explicit_euler_of_the_law_says() -> None:
    """First control periods: v_(k+1) = v_k + T (tau - B v_k) / M from rest, tau as good as constant."""
    simulation, admittance = yielding([0.0, 3.0, 0.0], inertia=2.0, damping=8.0)
    simulation.step()
    tau = admittance.efforts(simulation)
    v = 0.005 * tau / 2.0
    assert_allclose(admittance.v_desired, v, rtol=1e-3, atol=1e-6)
    simulation.run(0.005)
    v = v + 0.005 * (tau - 8.0 * v) / 2.0
    assert_allclose(admittance.v_desired, v, rtol=1e-3, atol=1e-6)


@pytest.mark.feature("000-F117")
def test_desired_positions_stop_at_the_joints_limits_and_come_back() -> None:
    simulation, admittance = yielding([40.0, 20.0, 60.0], inertia=0.05, damping=1.0)
    limits = simulation.robots["hrp2"].robot.limits
    places = [simulation.robots["hrp2"].robot.index_q(joint) for joint in ARM]
    reached = np.zeros(len(ARM), dtype=bool)
    for _ in range(700):
        simulation.step()
        above = admittance.q_desired >= limits.upper[places]
        below = admittance.q_desired <= limits.lower[places]
        assert (admittance.q_desired[above] == limits.upper[places][above]).all()
        assert (admittance.q_desired[below] == limits.lower[places][below]).all()
        assert (admittance.v_desired[above] <= 0.0).all()
        assert (admittance.v_desired[below] >= 0.0).all()
        reached |= above | below
    assert reached.sum() >= 2
    assert not (above | below)[reached].all()  # some have come back


def test_a_user_leads_the_arm_and_its_oscillation_decays() -> None:
    """E10 as far as it needs no gripper: the hand follows the pointer along x, and comes to rest after release."""
    simulation = Simulation("stand")
    hand = simulation.robots["hrp2"].placement("RARM_LINK6").translation.copy()
    device = ScriptedDevice([0.0, 0.2, 1.2], [hand, hand, hand + np.array([0.1, 0.0, 0.03])], presses=[(0.1, 1.8)])
    hold = AttachMode(device, body=HAND, stiffness=400.0)
    simulation.add_module(hold)
    simulation.add_module(JointAdmittance("hrp2", ARM, inertia=0.1, damping=1.0))
    xs: list[float] = []
    simulation.run(1.8, lambda s: xs.append(s.robots["hrp2"].placement("RARM_LINK6").translation[0] - hand[0]))
    assert np.abs(xs[:100]).max() < 0.01
    assert xs[-1] == pytest.approx(0.1, abs=0.03)
    speeds: list[float] = []
    simulation.run(0.6, lambda s: speeds.append(float(np.abs(s.robots["hrp2"].joint_velocities).max())))
    assert hold.held is None
    blocks = np.array(speeds).reshape(6, 100).max(axis=1)
    assert (np.diff(blocks) < 1e-3).all()
    assert blocks[-1] < 0.2 * blocks[0]
    assert simulation.robots["hrp2"].centre_of_mass[2] > 0.7  # it still stands


def test_a_user_disturbs_a_robot_at_work() -> None:
    """F118: HRP-2 moves its head up and down while a user pulls at its chest; it goes on standing, and is pulled."""
    places = {}
    for disturbed in (False, True):
        simulation = Simulation("stand")
        robot = simulation.robots["hrp2"]
        chest = robot.placement("CHEST_LINK1").translation.copy()
        device = ScriptedDevice(
            [0.0, 0.1, 0.4, 0.8], [chest] * 2 + [chest + np.array([0, 0.15, 0]), chest], presses=[(0.05, 0.7)]
        )
        if disturbed:
            simulation.add_module(AttachMode(device, body="hrp2/CHEST_LINK1", stiffness=600.0))
        start = robot.joint_positions[robot.joint_names.index("HEAD_JOINT1")]
        largest = 0.0
        for _ in range(1500):
            robot.set_position_target([start + 0.1 * np.sin(6.0 * simulation.time)], joints=["HEAD_JOINT1"])
            simulation.step()
            largest = max(largest, abs(robot.placement("CHEST_LINK1").translation[1]))
        places[disturbed] = largest
        assert robot.centre_of_mass[2] > 0.7
        assert np.abs(robot.joint_velocities).max() < 1.5
    assert places[True] > places[False] + 2e-3


def test_what_cannot_yield_is_refused() -> None:
    for wrong, message in (
        ({"inertia": 0.0, "damping": 1.0}, "inertia is"),
        ({"inertia": 1.0, "damping": -1.0}, "damping is"),
        ({"inertia": 1.0, "damping": np.nan}, "damping is"),
        ({"inertia": 0.001, "damping": 1.0}, "diverges at a period of 0.005 s"),
    ):
        with pytest.raises(InputError, match=message):
            JointAdmittance("hrp2", ARM, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no joint is named"):
        JointAdmittance("hrp2", [], inertia=1.0, damping=1.0)
    simulation = Simulation("stand")
    with pytest.raises(InputError, match="requires the module 'attach'"):
        simulation.add_module(JointAdmittance("hrp2", ARM, inertia=1.0, damping=1.0))
    simulation.add_module(SteadyHand([0, 0, 0]))
    with pytest.raises(InputError, match="no driven joint 'TAIL'"):
        simulation.add_module(JointAdmittance("hrp2", ["TAIL"], inertia=1.0, damping=1.0))
    with pytest.raises(InputError, match="no robot 'nao'"):
        simulation.add_module(JointAdmittance("nao", ARM, inertia=1.0, damping=1.0))
