# SPDX-License-Identifier: Apache-2.0
"""HRP-2 in half-sitting: forces, feet, determinism, pushes, saturation, a passive fall."""

import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.stepping.contacts import ContactState
from humanoid_sim.world.simulated_robot import SimulatedRobot

WEIGHT = 58.0 * 9.81
SOLES = ("hrp2/r_sole", "hrp2/l_sole")


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


def soles(simulation: Simulation) -> np.ndarray:
    """Origins and axes of both sole frames, shape (2, 3, 4)."""
    return np.array([simulation.placement(name).homogeneous[:3] for name in SOLES])


def test_ten_seconds_of_standing(robot: Robot) -> None:
    """Normal forces sum to the weight within 1e-6, feet move less than 10 um, every solve converges."""
    simulation = Simulation("stand")
    start = soles(simulation)
    furthest = 0.0
    converged = []
    for step in range(10_000):
        simulation.step()
        converged.append(simulation.solver.converged if simulation.solver else False)
        if step % 50 == 0:
            furthest = max(furthest, float(np.abs(soles(simulation) - start).max()))
    contacts = simulation.contacts
    assert simulation.time == pytest.approx(10.0)
    assert len(contacts) == 8
    assert abs(contacts.normal_force.sum() / WEIGHT - 1.0) < 1e-6
    assert_allclose(contacts.force.sum(axis=0)[:2], 0.0, atol=1e-6 * WEIGHT)
    assert furthest < 1e-5
    assert all(converged)
    assert all(state == ContactState.STICK for state in contacts.state)
    centre = simulation.robots["hrp2"].centre_of_mass
    centre_of_pressure = contacts.normal_force @ contacts.position / contacts.normal_force.sum()
    assert_allclose(centre_of_pressure[:2], centre[:2], atol=1e-6)


def test_two_standing_runs_agree_bit_for_bit() -> None:
    first, second = Simulation("stand"), Simulation("stand")
    for simulation in (first, second):
        simulation.apply_wrench("hrp2/CHEST_LINK1", [50.0, 10.0, 0.0], duration=0.1)
        simulation.run(0.4)
    assert first.q.tobytes() == second.q.tobytes()
    assert first.contacts.force.tobytes() == second.contacts.force.tobytes()


@pytest.mark.feature("000-F061")
def test_warm_start_saves_most_sweeps() -> None:
    """Specification 000 F061: at most half the sweeps, over the steps of a robot that settles after a push."""
    simulation = Simulation("stand", method="nsgs")
    simulation.apply_wrench("hrp2/CHEST_LINK1", [40.0, 20.0, 0.0], duration=0.05)
    simulation.run(0.1)
    warm = cold = 0
    for _ in range(40):
        simulation.run(0.01)
        state = simulation.save_state()
        nothing = tuple(np.zeros_like(part) for part in state.stepping.forces)
        simulation.restore_state(
            dataclasses.replace(state, stepping=dataclasses.replace(state.stepping, forces=nothing))
        )
        simulation.step()
        assert simulation.solver is not None
        cold += simulation.solver.iterations
        simulation.restore_state(state)
        simulation.step()
        assert simulation.solver is not None
        warm += simulation.solver.iterations
    assert 2 * warm <= cold


def test_forces_follow_a_push() -> None:
    """While it is pushed and does not move, the ground answers with the push and its moment."""
    simulation = Simulation("stand")
    simulation.run(0.5)
    simulation.apply_wrench("hrp2/WAIST", [20.0, 10.0, -30.0], duration=2.0)
    simulation.run(1.5)
    assert_allclose(simulation.contacts.force.sum(axis=0), [-20.0, -10.0, WEIGHT + 30.0], atol=1e-3)


def test_a_push_within_reach_is_survived() -> None:
    """150 N for 0.1 s on the chest tips the stiff robot onto its toes; it comes back, rocking less and less."""
    simulation = Simulation("stand")
    simulation.run(0.2)
    simulation.apply_wrench("hrp2/CHEST_LINK1", [150.0, 0.0, 0.0], duration=0.1)
    tilts: list[float] = []

    def watch(running: Simulation) -> None:
        tilts.append(float(running.placement("hrp2/WAIST").rotation[0, 2]))

    simulation.run(6.0, watch)
    early, late = np.abs(tilts[:2000]).max(), np.abs(tilts[-2000:]).max()
    assert 0.01 < early < 0.3
    assert late < 0.5 * early
    assert simulation.placement("hrp2/WAIST").translation[2] > 0.64


def test_ankle_sensors_carry_the_robot_above_them(robot: Robot) -> None:
    simulation = Simulation("stand")
    simulation.run(2.0)
    hrp2 = simulation.robots["hrp2"]
    feet = [robot.description.links[link] for link in ("RLEG_LINK5", "LLEG_LINK5")]
    foot_mass = sum(link.inertial.mass for link in feet if link.inertial)
    readings = [hrp2.wrench(name) for name in ("right_ankle", "left_ankle")]
    assert sum(wrench[2] for wrench in readings) == pytest.approx(WEIGHT - foot_mass * 9.81, abs=1e-2)
    # What a sensor reads about its origin is what the soles' contacts do there, less the foot's weight.
    contacts = simulation.contacts
    rows = [names[0] == "hrp2/RLEG_LINK5" for names in contacts.bodies]
    place = simulation.placement("hrp2/RLEG_LINK5") * robot.sensors["right_ankle"].placement_link_sensor
    arms = contacts.position[rows] - place.translation
    inertial = feet[0].inertial
    assert inertial is not None
    com = simulation.placement("hrp2/RLEG_LINK5").act(inertial.placement_link_com.translation)
    weight = np.array([0.0, 0.0, -9.81 * inertial.mass])
    force = contacts.force[rows].sum(axis=0) + weight
    moment = np.cross(arms, contacts.force[rows]).sum(axis=0) + np.cross(com - place.translation, weight)
    expected = np.concatenate([place.rotation.T @ force, place.rotation.T @ moment])
    assert_allclose(readings[0], expected, atol=1e-2)


def test_imu_at_rest_and_in_free_fall(robot: Robot) -> None:
    simulation = Simulation("stand")
    simulation.run(2.0)
    reading = simulation.robots["hrp2"].imu("imu")
    assert np.linalg.norm(reading.linear_acceleration) == pytest.approx(9.81, abs=1e-3)
    assert reading.linear_acceleration[2] > 9.8
    assert_allclose(reading.angular_velocity, 0.0, atol=1e-4)
    falling = Simulation(scene(robots=(standing(robot),), gravity=(0.0, 0.0, -9.81)))
    falling.run(0.1)
    assert_allclose(falling.robots["hrp2"].imu("imu").linear_acceleration, 0.0, atol=1e-2)


def test_imu_of_a_moving_robot_agrees_with_differences(robot: Robot) -> None:
    """Rotation and position of the sensor frame, differenced over the steps, give what the sensor reads."""
    simulation = Simulation(scene(robots=(standing(robot),), gravity=(0.0, 0.0, -9.81)))
    hrp2 = simulation.robots["hrp2"]
    rng = np.random.default_rng(0)
    velocity = np.concatenate([rng.normal(size=6), np.zeros(30)])
    hrp2.set_state(hrp2.q, velocity)
    local = robot.sensors["imu"].placement_link_sensor
    places = []
    for _ in range(3):
        simulation.step()
        places.append(simulation.placement("hrp2/CHEST_LINK1") * local)
    reading = hrp2.imu("imu")
    a, b, c = (place.translation for place in places)
    acceleration = (c - 2 * b + a) / simulation.dt**2
    falling = np.array([0.0, 0.0, -9.81])
    expected = places[1].rotation.T @ (acceleration - falling)
    assert_allclose(reading.linear_acceleration, expected, atol=0.05 * np.linalg.norm(expected))


def test_actuators_saturate_at_their_limits(robot: Robot) -> None:
    """A target out of reach asks for more than the knees can give: they give their limit, no more."""
    simulation = Simulation("stand")
    hrp2 = simulation.robots["hrp2"]
    hrp2.set_position_target([1.8, 1.8], joints=["RLEG_JOINT3", "LLEG_JOINT3"])
    simulation.step()
    efforts = dict(zip(hrp2.joint_names, hrp2.joint_efforts, strict=True))
    limit = robot.actuators["RLEG_JOINT3"].effort
    assert efforts["RLEG_JOINT3"] == pytest.approx(limit)
    assert efforts["LLEG_JOINT3"] == pytest.approx(limit)
    limits = [robot.actuators[name].effort for name in hrp2.joint_names]
    for _ in range(200):
        simulation.step()
        assert (np.abs(hrp2.joint_efforts) <= np.array(limits) * (1 + 1e-12)).all()


@pytest.mark.feature("000-F143")
def test_position_targets_are_reached_and_efforts_applied(robot: Robot) -> None:
    simulation = Simulation("stand")
    hrp2 = simulation.robots["hrp2"]
    hrp2.set_position_target([-1.0, 0.5], joints=["RARM_JOINT3", "HEAD_JOINT0"])
    hrp2.set_effort([1.5], joints=["LARM_JOINT2"])
    simulation.run(1.0)
    positions = dict(zip(hrp2.joint_names, hrp2.joint_positions, strict=True))
    assert positions["RARM_JOINT3"] == pytest.approx(-1.0, abs=0.02)
    assert positions["HEAD_JOINT0"] == pytest.approx(0.5, abs=0.02)
    assert dict(zip(hrp2.joint_names, hrp2.joint_efforts, strict=True))["LARM_JOINT2"] == 1.5
    hrp2.hold()
    held = hrp2.joint_positions
    simulation.run(1.0)
    assert np.abs(hrp2.joint_positions - held).max() < 0.05


def test_passive_fall_never_gains_energy(robot: Robot) -> None:
    """All motors off, dropped from 10 cm: the robot collapses; no step adds more than 1e-5 of the energy.

    What little is added comes from moving joints along straight lines in joint space, an error of the
    step size squared, and from lifting penetrations of micrometres.
    """
    placed = standing(robot)
    raised = placed.q.copy()
    raised[2] += 0.1
    simulation = Simulation(
        scene(floor(), robots=(dataclasses.replace(placed, q=raised),), friction=0.8)
    )
    simulation.robots["hrp2"].set_effort(np.zeros(30))
    energies = [simulation.energy().total]
    simulation.run(1.5, lambda s: energies.append(s.energy().total))
    assert np.diff(energies).max() < 1e-5 * energies[0]
    assert energies[-1] < 0.4 * energies[0]
    assert min(simulation.contacts.gap) > -1e-3


@pytest.mark.feature("000-F001")
def test_state_goes_in_and_out_as_pinocchio_tells_it(robot: Robot) -> None:
    """The base twist is told in the base frame although the simulator steps it in the world's axes."""
    simulation = Simulation(scene(robots=(standing(robot),)))
    hrp2 = simulation.robots["hrp2"]
    q = hrp2.q
    q[3:7] = [0.0, 0.0, math.sin(0.5), math.cos(0.5)]
    v = np.random.default_rng(0).normal(size=36)
    hrp2.set_state(q, v)
    assert_allclose(hrp2.q, q, atol=1e-12)
    assert_allclose(hrp2.v, v, atol=1e-12)
    assert_allclose(hrp2.twist_base, v[:6], atol=1e-12)
    turn = hrp2.placement_world_base.rotation
    assert_allclose(simulation.v[:3], turn @ v[:3], atol=1e-12)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda r: r.set_position_target([0.0], joints=["RLEG_JOINT9"]), "no joint 'RLEG_JOINT9'"),
        (lambda r: r.set_position_target([0.0, 0.0], joints=["RLEG_JOINT0"] * 2), "named twice"),
        (lambda r: r.set_position_target([0.0, 0.0]), "positions has 2 values.*30"),
        (lambda r: r.set_position_target([math.nan], joints=["RLEG_JOINT0"]), r"positions\[0\] is nan"),
        (lambda r: r.set_position_target([0.0], [math.inf], joints=["RLEG_JOINT0"]), r"velocities\[0\] is inf"),
        (lambda r: r.set_effort([math.nan], joints=["RLEG_JOINT0"]), r"efforts\[0\] is nan"),
        (lambda r: r.set_gains([-1.0], [0.0], joints=["RLEG_JOINT0"]), r"stiffness\[0\] is -1"),
        (lambda r: r.set_state(np.zeros(36)), "q has 36 values.*37"),
        (lambda r: r.set_state(np.zeros(37)), "unit length"),
        (lambda r: r.set_state(r.q, np.full(36, math.nan)), r"v\[0\] is nan"),
        (lambda r: r.wrench("imu"), "no force_torque sensor 'imu'.*right_ankle"),
        (lambda r: r.imu("nose"), "no imu sensor 'nose'"),
        (lambda r: r.placement("NOSE"), "no body 'hrp2/NOSE'"),
    ],
)
def test_bad_commands_are_refused(call: Callable[[SimulatedRobot], object], says: str) -> None:
    simulation = Simulation("stand")
    before = simulation.save_state()
    with pytest.raises(InputError, match=says):
        call(simulation.robots["hrp2"])
    assert simulation.q.tobytes() == before.q.tobytes()
    assert simulation.servos.q_target.tobytes() == before.servos.q_target.tobytes()
