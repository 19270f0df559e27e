# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation, inverse dynamics and servos on all joint types (specification 000, F143, F044, F144)."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.actuation import FeedForward
from humanoid_sim.actuation.drives import friction_compensation

MACHINE = """<robot name="machine"><link name="world"/>{links}
<joint name="slide" type="prismatic"><parent link="world"/><child link="carriage"/><axis xyz="0 1 1"/>
<limit lower="-9" upper="9" effort="1e9" velocity="99"/></joint>
<joint name="hinge" type="continuous"><parent link="carriage"/><child link="arm"/><origin xyz="0.1 0 0"/>
<axis xyz="0 1 0"/><limit effort="1e9" velocity="99"/></joint>
<joint name="x" type="continuous"><parent link="arm"/><child link="i"/><origin xyz="0 0 -0.3"/>
<axis xyz="1 0 0"/></joint>
<joint name="y" type="continuous"><parent link="i"/><child link="j"/><axis xyz="0 1 0"/></joint>
<joint name="z" type="continuous"><parent link="j"/><child link="hand"/><axis xyz="0 0 1"/></joint></robot>"""
BODY = """<link name="{}"><inertial><origin xyz="0.05 0.02 -0.2"/><mass value="{}"/>
<inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.01"/></inertial></link>"""


def machine(tmp_path: Path, actuators: str, gravity: float = -9.8) -> Simulation:
    """A slide that carries a hinge that carries a ball joint, on the world."""
    links = "".join(BODY.format(name, mass) for name, mass in (("carriage", 3), ("arm", 2), ("hand", 1)))
    text = MACHINE.format(links=links + '<link name="i"/><link name="j"/>')
    (tmp_path / "machine.urdf").write_text(text)
    (tmp_path / "machine.yaml").write_text(f"ball_joints: {{ball: [x, y, z]}}\nactuators: {{{actuators}}}")
    robot = load_robot(tmp_path / "machine.urdf")
    return Simulation(scene(robots=(standing(robot, "zero"),), gravity=(0.0, 0.0, gravity)))


@pytest.mark.feature("000-F143")
def test_servos_of_all_joint_types_answer_as_damped_oscillators(tmp_path: Path) -> None:
    """With rotors far heavier than the links, each coordinate is I q'' = K (q_d - q) - D q': the closed form."""
    simulation = machine(tmp_path, '"*": {stiffness: 4e5, damping: 4e4, armature: 1000}', gravity=0.0)
    robot = simulation.robots["machine"]
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    model = simulation.world.model
    ball = model.joints[model.getJointId("machine/ball")].idx_q
    simulation.servos.q_target[:2] = [0.2, -0.5]
    simulation.servos.q_target[ball : ball + 4] = pin.Quaternion(pin.exp3(math.pi / 3 * axis)).coeffs()
    assert robot.joint_names[:2] == ("slide", "hinge")
    rows = []

    def watch(running: Simulation) -> None:
        turned = pin.log3(pin.Quaternion(running.q[ball : ball + 4]).matrix())
        rows.append([running.q[0] / 0.2, running.q[1] / -0.5, turned @ axis / (math.pi / 3)])

    simulation.run(0.5, watch)
    omega = 20.0  # critically damped: K/I = 400, D/I = 40
    t = simulation.dt * np.arange(1, 501)
    expected = 1.0 - np.exp(-omega * t) * (1.0 + omega * t)
    assert_allclose(np.array(rows), expected[:, None] * np.ones(3), atol=0.012)


@pytest.mark.feature("000-F044")
def test_a_ball_joint_settles_after_sixty_degrees_under_gravity(tmp_path: Path) -> None:
    """F044 with weight: PD alone sags, with gravity compensation it arrives."""
    reached = {}
    for law in ("none", "gravity"):
        simulation = machine(tmp_path, '"*": {stiffness: 200, damping: 20}')
        simulation.add_module(FeedForward("machine", law))  # type: ignore[arg-type]
        model = simulation.world.model
        ball = model.joints[model.getJointId("machine/ball")].idx_q
        target = pin.Quaternion(pin.exp3(math.pi / 3 * np.array([0.6, 0.8, 0.0])))
        simulation.servos.q_target[ball : ball + 4] = target.coeffs()
        simulation.run(3.0)
        reached[law] = float(pin.Quaternion(simulation.q[ball : ball + 4]).angularDistance(target))
    assert reached["none"] > 5e-3
    assert reached["gravity"] < 1e-4


def test_inverse_dynamics_makes_up_for_everything(tmp_path: Path) -> None:
    """With it a weak servo follows a fast motion of all joints to the order of the step."""
    errors = {}
    for law in ("none", "inverse_dynamics"):
        simulation = machine(tmp_path, '"*": {stiffness: 100, damping: 10, armature: 0.01}')
        robot = simulation.robots["machine"]
        simulation.add_module(FeedForward("machine", law))  # type: ignore[arg-type]
        largest = 0.0
        for _ in range(1000):
            t = simulation.time + simulation.dt
            phase, rate = 1.0 - math.cos(6 * t), 6 * math.sin(6 * t)
            shape = np.array([0.2, 0.5, 0.3, -0.2, 0.25])
            robot.set_position_target(shape * phase, shape * rate)
            # The module runs before the step, after this target.
            simulation.step()
            largest = max(largest, float(np.abs(robot.joint_positions - shape * phase).max()))
        errors[law] = largest
    assert errors["none"] > 0.1
    assert errors["inverse_dynamics"] < 0.01


def test_gravity_compensation_carries_a_standing_robot() -> None:
    """The knees of HRP-2 sag without; with it the posture is held a hundred times better."""
    errors = {}
    for law in ("none", "gravity"):
        simulation = Simulation(
            scene(floor(), robots=(standing(load_robot("hrp2")),), friction=0.8, gravity=(0.0, 0.0, -9.8))
        )
        simulation.add_module(FeedForward("hrp2", law))  # type: ignore[arg-type]
        simulation.run(1.0)
        errors[law] = np.abs(simulation.servos.error(simulation.world.model, simulation.q)[6:]).max()
        assert simulation.contacts.normal_force.sum() == pytest.approx(58.0 * 9.8, rel=1e-3)
    assert errors["gravity"] < 0.01 * errors["none"]


def test_supporting_points_accelerate_as_the_module_believes() -> None:
    """J a + drift of each supporting point is the second difference of its way."""
    simulation = Simulation("stand")
    module = FeedForward("hrp2", "inverse_dynamics")
    simulation.add_module(module)
    simulation.run(0.01)
    model, rng = simulation.world.model, np.random.default_rng(0)
    v, a = rng.normal(size=model.nv), rng.normal(size=model.nv)
    simulation.v[:] = v
    J, drift = module._support_motion(simulation)
    assert len(module._supports) == 8
    data, h = model.createData(), 1e-4
    ways = []
    for t in (-h, 0.0, h):
        pin.forwardKinematics(model, data, pin.integrate(model, simulation.q, t * v + 0.5 * t * t * a))
        ways.append([data.oMi[joint].copy() for joint, _ in module._supports])
    local = [now.actInv(place) for now, (_, place) in zip(ways[1], module._supports, strict=True)]
    points = np.array([[frame.act(p) for frame, p in zip(row, local, strict=True)] for row in ways])
    assert_allclose((points[2] - points[0]).ravel() / (2 * h), J @ v, atol=1e-6)
    assert_allclose((points[2] - 2 * points[1] + points[0]).ravel() / h**2, J @ a + drift, atol=1e-4)


def test_in_the_air_gravity_takes_no_efforts() -> None:
    """A robot in free fall keeps its posture by itself: the compensation gives nothing."""
    simulation = Simulation(scene(robots=(standing(load_robot("hrp2")),)))
    simulation.add_module(FeedForward("hrp2"))
    simulation.run(0.05)
    assert np.abs(simulation.servos.feedforward).max() < 1e-9


def test_joints_in_effort_mode_are_left_alone_and_removal_clears(tmp_path: Path) -> None:
    simulation = machine(tmp_path, '"*": {stiffness: 200, damping: 20, viscous_friction: 2, dry_friction: 3}')
    robot = simulation.robots["machine"]
    robot.set_effort([1.5], joints=["hinge"])
    simulation.add_module(FeedForward("machine", friction=True))
    simulation.v[0] = 0.5
    simulation.step()
    assert simulation.servos.feedforward[1] == 1.5
    # Slide along (0, 1, 1)/sqrt 2: 6 kg times g / sqrt 2, and friction at 0.5 m/s.
    assert simulation.servos.feedforward[0] == pytest.approx(6 * 9.8 / math.sqrt(2) + 2 * 0.5 + 3.0)
    simulation.remove_module("feedforward/machine")
    assert simulation.servos.feedforward[0] == 0.0
    assert simulation.servos.feedforward[1] == 1.5
    with pytest.raises(InputError, match="no law 'magic'"):
        FeedForward("machine", "magic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no robot 'hrp2'"):
        simulation.add_module(FeedForward("hrp2"))


def test_compensation_of_friction_is_the_law_with_a_smooth_sign() -> None:
    speeds = np.array([-2.0, -0.1, 0.1, 2.0])
    assert_allclose(friction_compensation(speeds, 0.5, 3.0), 0.5 * speeds + 3.0 * np.sign(speeds), atol=1e-7)
    assert friction_compensation(0.0, 0.5, 3.0) == 0.0


def test_points_that_lie_in_a_line_but_for_millimetres_take_no_large_efforts() -> None:
    """HRP-2 on three points, as where its feet roll: no joint is asked for more than its weight on a metre."""
    simulation = Simulation("stand")
    law = FeedForward("hrp2", "inverse_dynamics")
    simulation.add_module(law)
    simulation.run(0.05)
    joints = {joint for joint, _ in law._supports}
    first, second = sorted(joints)
    for offset in (1e-3, 1e-4, 1e-6):
        law._supports = [
            (joint, np.array([x, y, 0.0]))
            for joint, x, y in ((first, 0.0, -0.1), (second, 0.0, 0.06), (second, offset, 0.12))
        ]
        efforts = law._model_efforts(simulation)[law._drives.coordinates]
        assert np.abs(efforts).max() < simulation.robots["hrp2"].robot.total_mass * 9.81
