# SPDX-License-Identifier: Apache-2.0
"""BIP2000's ankle, moved by two screws through closed loops, against the closed form of the mechanism."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generators import generator
from fixtures.scenes import scene
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.scene import SceneRobot
from humanoid_sim import Simulation
from humanoid_sim.world.simulated_robot import SimulatedRobot

ankle = generator("bip_ankle")
PREFIX = "l_ankle_"
SCREWS = [f"{PREFIX}{word}_screw" for word in ankle.SIDES]
GRAVITY = np.array([0.0, 0.0, -9.81])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("bip_ankle")


def simulate(robot: Robot, posture: str = "zero") -> tuple[Simulation, SimulatedRobot]:
    placed = SceneRobot("ankle", robot, posture, pin.SE3.Identity(), robot.postures[posture])
    simulation = Simulation(scene(robots=(placed,), gravity=(0.0, 0.0, -9.81)))
    return simulation, simulation.robots["ankle"]


def gap(simulation: Simulation, name: str, robot: Robot) -> float:
    """Largest distance between the two halves of a ball joint [m]."""
    ends = [
        simulation.placement(f"{name}/{loop.link_a}").act(loop.placement_a.translation)
        - simulation.placement(f"{name}/{loop.link_b}").act(loop.placement_b.translation)
        for loop in robot.loops
    ]
    return float(np.linalg.norm(ends, axis=1).max())


def configuration(robot: Robot, pitch: float, roll: float) -> np.ndarray:
    """Configuration of the whole mechanism by the closed form."""
    q = np.zeros(robot.model.nq)
    q[robot.index_q("l_ankle_pitch")], q[robot.index_q("l_ankle_roll")] = pitch, roll
    for name, value in ankle.joint_positions(pitch, roll).items():
        q[robot.index_q(PREFIX + name)] = value
    return q


def screws(pitch: float, roll: float) -> np.ndarray:
    """Positions of both screws by the closed form [m]."""
    places = ankle.joint_positions(pitch, roll)
    return np.array([places[f"{word}_screw"] for word in ankle.SIDES])


def transmission(pitch: float, roll: float) -> np.ndarray:
    """Derivatives of the screws by pitch and roll, by central differences, shape (2, 2)."""
    h = 1e-6
    return np.column_stack(
        [
            (screws(pitch + h, roll) - screws(pitch - h, roll)) / (2 * h),
            (screws(pitch, roll + h) - screws(pitch, roll - h)) / (2 * h),
        ]
    )


def attitude(placed: SimulatedRobot, robot: Robot) -> np.ndarray:
    return np.array([placed.q[robot.index_q(f"l_ankle_{name}")] for name in ("pitch", "roll")])


def test_published_figures_of_the_mechanism(robot: Robot) -> None:
    """Rod length, distance of screw and ankle, and the arms, measured on the loaded model."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, robot.postures["zero"])

    def place(link: str) -> pin.SE3:
        return data.oMf[model.getFrameId(link, pin.FrameType.BODY)]

    centre = place("l_foot").translation
    assert_allclose(centre, [0.0, 0.0, -0.410], atol=1e-12)
    assert_allclose(
        place("l_ankle_left_nut").translation - place("l_ankle_right_nut").translation, [0.0, 0.0758, 0.0], atol=1e-9
    )
    for loop in robot.loops:
        rod = place(loop.link_a)
        end = rod.act(loop.placement_a.translation)
        assert np.linalg.norm(end - rod.translation) == pytest.approx(0.1258, abs=1e-12)
        assert_allclose(end, place(loop.link_b).act(loop.placement_b.translation), atol=1e-9)
        assert np.linalg.norm((end - centre)[[0, 1]]) == pytest.approx(math.hypot(0.060, 0.0379), abs=1e-9)
        screw = place(loop.link_a.replace("rod", "nut"))
        assert math.degrees(math.acos(screw.rotation[2, 2])) == pytest.approx(5.78, abs=1e-6)
        to_centre = (screw.inverse().act(centre))[:2]
        assert abs(to_centre[0]) == pytest.approx(0.0512, abs=1e-9)
    actuator = robot.actuators[SCREWS[0]]
    assert actuator.gear_ratio == pytest.approx(2.0 * math.pi / 0.004, rel=1e-8)
    assert actuator.armature == pytest.approx(1.1e-5 * (2.0 * math.pi / 0.004) ** 2, rel=1e-6)


@pytest.mark.parametrize("name", ["zero", "toes_down", "outer_edge_up", "both"])
def test_postures_close_the_loops(robot: Robot, name: str) -> None:
    simulation, _ = simulate(robot, name)
    assert gap(simulation, "ankle", robot) < 1e-9


def test_the_rod_reaches_at_every_attitude() -> None:
    """Within the published range, pitch to 45 and roll to 20 degrees, the closed form keeps the rod's length."""
    for pitch in np.radians([-45.0, -20.0, 0.0, 20.0, 45.0]):
        for roll in np.radians([-20.0, 0.0, 20.0]):
            assert np.abs(screws(pitch, roll)).max() < ankle.TRAVEL
            for side in ankle.SIDES.values():
                length = np.linalg.norm(ankle.nut(side, pitch, roll) - ankle.ball(side, pitch, roll))
                assert length == pytest.approx(ankle.ROD, abs=1e-12)


def test_screws_move_the_foot_as_the_closed_form_says(robot: Robot) -> None:
    """Three seconds of pitch and roll together: loops stay closed, positions and speeds are those of the mechanism."""
    simulation, placed = simulate(robot)
    widest, furthest, swing = 0.0, 0.0, np.zeros(2)
    for step in range(3200):
        t = simulation.time
        wanted = 0.35 * math.sin(2.0 * t), 0.12 * math.sin(3.0 * t)
        rate = 0.7 * math.cos(2.0 * t), 0.36 * math.cos(3.0 * t)
        placed.set_position_target(screws(*wanted), transmission(*wanted) @ rate, joints=SCREWS)
        simulation.step()
        if step % 10:
            continue
        widest = max(widest, gap(simulation, "ankle", robot))
        now = attitude(placed, robot)
        swing = np.maximum(swing, np.abs(now))
        own = np.array([placed.q[robot.index_q(name)] for name in SCREWS])
        furthest = max(furthest, float(np.abs(own - screws(*now)).max()))
        speeds = np.array([placed.v[robot.index_v(name)] for name in SCREWS])
        rates = np.array([placed.v[robot.index_v(f"l_ankle_{name}")] for name in ("pitch", "roll")])
        assert_allclose(speeds, transmission(*now) @ rates, atol=2e-4 * (1.0 + np.abs(rates).max()))
    assert widest < 1e-6
    assert furthest < 1e-6
    assert_allclose(swing, [0.35, 0.12], rtol=0.02)


@pytest.mark.parametrize("posture", ["zero", "toes_down", "both"])
def test_forces_of_the_screws_balance_a_moment_by_virtual_work(robot: Robot, posture: str) -> None:
    r"""At rest :math:`f^T \partial s/\partial\theta + \tau - \partial U/\partial\theta = 0` for pitch and roll."""
    simulation, placed = simulate(robot, posture)
    moment = np.array([8.0, 60.0, 0.0])
    simulation.apply_wrench("ankle/l_foot", [0.0, 0.0, 0.0], moment, duration=3.0)
    simulation.run(2.5)
    assert np.abs(simulation.v).max() < 1e-6
    pitch, roll = attitude(placed, robot)
    efforts = dict(zip(placed.joint_names, placed.joint_efforts, strict=True))
    forces = np.array([efforts[name] for name in SCREWS])
    axes = np.array([[0.0, 1.0, 0.0], [math.cos(pitch), 0.0, -math.sin(pitch)]])
    model, data, h = robot.model, robot.model.createData(), 1e-5
    model.gravity.linear = GRAVITY
    slope = [
        (
            pin.computePotentialEnergy(model, data, configuration(robot, pitch + h * a, roll + h * b))
            - pin.computePotentialEnergy(model, data, configuration(robot, pitch - h * a, roll - h * b))
        )
        / (2 * h)
        for a, b in ((1, 0), (0, 1))
    ]
    assert_allclose(forces @ transmission(pitch, roll), slope - axes @ moment, rtol=1e-4, atol=1e-3)


def test_bip_stands_on_its_screws() -> None:
    """Pushed by 60 N, its feet stay, loops stay closed, and the screws carry what the plain model's ankle motors do."""
    simulation, plain = Simulation("bip_screws_stand"), Simulation("bip_stand")
    for running in (simulation, plain):
        running.apply_wrench("bip/trunk", [60.0, 0.0, 0.0], duration=5.0)
    placed, robot = simulation.robots["bip"], simulation.robots["bip"].robot
    height = simulation.q[2]
    simulation.run(1.0)
    feet = [simulation.placement(f"bip/{side}_foot").homogeneous for side in "rl"]
    widest = 0.0
    for _ in range(20):
        simulation.run(0.1)
        widest = max(widest, gap(simulation, "bip", robot))
    assert widest < 1e-6
    assert simulation.q[2] == pytest.approx(height, abs=1e-3)
    for side, before in zip("rl", feet, strict=True):
        assert np.abs(simulation.placement(f"bip/{side}_foot").homogeneous - before).max() < 1e-6
    contacts = simulation.contacts
    assert len(contacts) == 8
    assert contacts.normal_force.sum() == pytest.approx(104.81 * 9.81, rel=1e-6)
    plain.run(3.0)
    motors = dict(zip(plain.robots["bip"].joint_names, plain.robots["bip"].joint_efforts, strict=True))
    efforts = dict(zip(placed.joint_names, placed.joint_efforts, strict=True))
    for side in "rl":
        forces = np.array([efforts[f"{side}_ankle_{word}_screw"] for word in ankle.SIDES])
        arms = transmission(placed.q[robot.index_q(f"{side}_ankle_pitch")], 0.0)[:, 0]
        lifted = float(arms.sum()) * (ankle.NUT_MASS + ankle.ROD_MASS) * 9.81  # nuts and rods weigh on the screws too
        assert forces @ arms - lifted == pytest.approx(motors[f"{side}_ankle_pitch"], abs=0.03)
        assert motors[f"{side}_ankle_pitch"] > 20.0
