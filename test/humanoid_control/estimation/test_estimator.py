# SPDX-License-Identifier: Apache-2.0
"""The estimator on a walk with noise, and on what goes wrong in it."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import box, place

from benchmark.estimation import noisy, record
from humanoid_control.estimation import Estimate, Estimator, EstimatorSettings
from humanoid_control.estimation.filter_kernels import CONTACTS
from humanoid_control.walking import generate_walk, plan_footsteps
from humanoid_model import Robot, load_robot
from humanoid_model.contact import ContactLocation
from humanoid_model.controller import Measurement
from humanoid_model.errors import InputError
from humanoid_model.sensor import Sensor

Recorded = list[tuple[Measurement, pin.SE3, np.ndarray]]
PLAIN = load_robot("hrp2")
SOLES = ("right_sole", "left_sole")
ANKLES = {"right_sole": "right_ankle", "left_sole": "left_ankle"}
MIDDLE = 2000
"""A tick amid the walk: the second step swings."""


@pytest.fixture(scope="module")
def robot() -> Robot:
    return noisy("hrp2", np.random.default_rng(11))


@pytest.fixture(scope="module")
def walked(robot: Robot) -> Recorded:
    plan = plan_footsteps(robot, "half_sitting", steps=4, length=0.2, turn=0.1, step_time=0.8, lead=1.0, settle=0.5)
    return list(record(robot, generate_walk(robot, plan, "half_sitting"), 5))


def replay(robot: Robot, recorded: Recorded, change: Callable[[int, Measurement], Measurement | None] | None = None,
           settings: EstimatorSettings | None = None) -> list[Estimate]:  # fmt: skip
    """Estimates of all ticks; a change may exchange a measurement, None: the tick is left out."""
    estimator, estimates = Estimator(robot, settings), []
    for tick, (measurement, _, _) in enumerate(recorded):
        told = measurement if change is None else change(tick, measurement)
        if told is not None:
            estimate = estimator.update(measurement.time, told)
            assert estimate is not None
            estimates.append(estimate)
    return estimates


@pytest.fixture(scope="module")
def estimates(robot: Robot, walked: Recorded) -> list[Estimate]:
    return replay(robot, walked)


def tilts(estimates: list[Estimate], recorded: Recorded) -> np.ndarray:
    pairs = zip(estimates, recorded, strict=True)
    return np.array([np.linalg.norm(np.cross(e.base[2], truth.rotation[2])) for e, (_, truth, _) in pairs])


def slips(estimates: list[Estimate], recorded: Recorded) -> np.ndarray:
    pairs = zip(estimates, recorded, strict=True)
    return np.array([np.linalg.norm(e.v[:3] - twist[:3]) for e, (_, _, twist) in pairs])


def jumps(estimates: list[Estimate]) -> np.ndarray:
    return np.linalg.norm(np.diff([e.base[3] for e in estimates], axis=0), axis=1)


def seen_by_sensors(q: np.ndarray, bias: float = 0.0) -> Measurement:
    """What a robot at rest on both soles measures, without noise."""
    imu = PLAIN.sensors["imu"]
    placement = PLAIN.link_placements(q)[imu.link] * imu.placement_link_sensor
    positions = np.array([q[PLAIN.index_q(name)] for name in PLAIN.joint_names])
    load = 0.5 * 9.81 * PLAIN.total_mass
    wrenches = {name: np.array([0.0, 0.0, load, 0.0, 0.0, 0.0]) for name in ANKLES.values()}
    force = placement.rotation.T @ np.array([0.0, 0.0, 9.81]) + bias
    return Measurement(0.0, positions, np.zeros(len(positions)), np.zeros(3), force, wrenches)


def test_it_begins_upright_as_gravity_says_above_the_ground_of_its_feet() -> None:
    tilted = PLAIN.place_base(
        PLAIN.default_posture, pin.SE3(pin.rpy.rpyToMatrix(0.2, -0.1, 0.0), np.array([0.0, 0.0, 3.0]))
    )
    estimate = Estimator(PLAIN).update(7.0, seen_by_sensors(tilted))
    assert estimate is not None
    truth = PLAIN.placement_base(tilted)
    assert np.abs(estimate.placement_world_base.rotation[2] - truth.rotation[2]).max() < 1e-12
    assert estimate.base[1, 0] == pytest.approx(0.0, abs=1e-12)  # it heads along x
    heights = [contact.placement.translation[2] for contact in estimate.contacts.values()]
    assert min(heights) == pytest.approx(0.0, abs=1e-12)
    assert np.abs(estimate.base[3, :2]).max() < 1e-12
    assert np.abs(estimate.q[7:] - tilted[7:]).max() < 1e-15
    assert estimate.time == 7.0


def test_it_begins_where_it_is_told() -> None:
    placed, estimator = pin.SE3(pin.exp3(np.array([0.1, 0.2, 1.0])), np.array([1.0, 2.0, 0.6])), Estimator(PLAIN)
    estimator.reset(placed)
    estimate = estimator.update(0.0, seen_by_sensors(PLAIN.default_posture))
    assert estimate is not None
    assert estimate.placement_world_base.isApprox(placed, 1e-9)


HUNG = """<robot name="hung"><link name="frame"/>
<joint name="float" type="floating"><parent link="frame"/><child link="body"/>
<origin xyz="0.1 0.2 0.3" rpy="0.1 0.2 0.3"/></joint>
<link name="body"><inertial><origin xyz="0 0 0.1"/><mass value="5"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hip" type="revolute"><parent link="body"/><child link="foot"/><origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint><link name="foot"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_a_base_that_begins_elsewhere_than_at_the_origin_is_told_where_it_is() -> None:
    place = pin.SE3(np.eye(3), np.array([0.05, 0.0, 0.1]))
    foot = ContactLocation("foot", "foot", pin.SE3.Identity(), np.zeros((1, 2)), True)
    plain = load_robot(HUNG)
    robot = dataclasses.replace(plain, sensors={"imu": Sensor("imu", "imu", "body", place)}, contacts={"foot": foot})
    leaning = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 0.0), np.array([0.0, 0.0, 1.0]))
    q = robot.place_base(pin.neutral(robot.model), leaning)
    q[robot.index_q("hip")] = 0.4
    estimator = Estimator(robot)
    estimator.reset(robot.placement_base(q))
    force = robot.placement_base(q).rotation.T @ np.array([0.0, 0.0, 9.81])
    estimate = estimator.update(0.0, Measurement(0.0, np.array([0.4]), np.zeros(1), np.zeros(3), force))
    assert estimate is not None
    assert np.abs(estimate.q - q).max() < 1e-9
    sole = robot.link_placements(q)["foot"]
    assert estimate.contacts["foot"].placement.isApprox(sole, 1e-9)


def test_the_base_moves_as_the_sensor_and_the_joints_between_them_do() -> None:
    """Where the sensor turns about itself, by Pinocchio's Jacobian of the sensor."""
    rng, model, q = np.random.default_rng(12), PLAIN.model, PLAIN.default_posture
    rate, rates, imu = rng.normal(size=3), rng.normal(size=model.nv - 6), PLAIN.sensors["imu"]
    told = dataclasses.replace(seen_by_sensors(q), angular_velocity=rate, joint_velocities=rates)
    estimate = Estimator(PLAIN).update(0.0, told)
    assert estimate is not None
    link, data = PLAIN.parts.links[imu.link], model.createData()
    J = pin.computeJointJacobian(model, data, q, link.joint_id)
    J = (link.placement_joint_link * imu.placement_link_sensor).toActionMatrixInverse() @ J
    wanted = np.linalg.solve(J[:, :6], np.concatenate([np.zeros(3), rate]) - J[:, 6:] @ rates)
    assert np.abs(estimate.v - np.concatenate([wanted, rates])).max() < 1e-9


def test_it_waits_for_what_it_needs_to_begin() -> None:
    whole, estimator = seen_by_sensors(PLAIN.default_posture), Estimator(PLAIN)
    holed = whole.joint_positions.copy()
    holed[3] = np.nan
    assert estimator.update(0.0, dataclasses.replace(whole, time=0.0, joint_positions=holed)) is None
    assert estimator.update(0.1, dataclasses.replace(whole, time=0.1, angular_velocity=None)) is None
    assert estimator.update(0.2, dataclasses.replace(whole, time=0.2)) is not None


def test_at_rest_the_gyroscope_s_bias_is_found_and_tilt_is_known_as_the_accelerometer_is() -> None:
    estimator, rng, bias = Estimator(PLAIN), np.random.default_rng(5), np.array([0.01, -0.02, 0.015])
    whole = seen_by_sensors(PLAIN.default_posture)
    for tick in range(2000):
        told = dataclasses.replace(
            whole, time=1e-3 * tick, angular_velocity=bias + 5e-3 * rng.normal(size=3),
            specific_force=whole.specific_force + 0.05 * rng.normal(size=3),
        )  # fmt: skip
        estimate = estimator.update(told.time, told)
    assert estimate is not None
    assert np.abs(estimate.biases[0] - bias).max() < 1e-3
    # 0.03 m/s² of unknown bias of the accelerometer over 9.81.
    assert estimate.tilt_deviation == pytest.approx(0.03 / 9.81, rel=0.1)
    assert np.abs(estimate.v[:6]).max() < 6e-3 + 5.0 * 5e-3  # the rate is one sample's
    assert np.abs(estimate.v[:3]).max() < 6e-3
    assert all(contact.held and contact.probability > 0.99 for contact in estimate.contacts.values())


def test_a_sole_pressed_at_its_edge_is_known_to_hold_less() -> None:
    """What the filter knows of the soles' turning against the sensor, pressed in the middle and at the toes."""
    known = []
    for lever in (0.03, 0.145):  # of the middle and of the front edge before the ankle
        estimator, whole = Estimator(PLAIN), seen_by_sensors(PLAIN.default_posture)
        wrenches = {name: np.array([0.0, 0.0, w[2], 0.0, -lever * w[2], 0.0]) for name, w in whole.wrenches.items()}
        for tick in range(100):
            told = dataclasses.replace(whole, time=1e-3 * tick, wrenches=wrenches)
            estimate = estimator.update(told.time, told)
        assert estimate is not None
        assert estimate.contacts["left_sole"].pressure[0] == pytest.approx(lever - 0.03, abs=6e-3)
        P, at = estimate.covariance, CONTACTS + 9
        known.append(P[at, at] + P[0, 0] - 2.0 * P[at, 0])
    assert known[1] > 1.5 * known[0]


def test_a_walk_is_known_within_the_bounds(estimates: list[Estimate], walked: Recorded) -> None:
    assert math.degrees(tilts(estimates, walked)[500:].max()) < 0.3
    assert slips(estimates, walked)[500:].max() < 0.05
    begin = walked[500][1].actInv(walked[-1][1]), estimates[500].placement_world_base.actInv(
        estimates[-1].placement_world_base
    )
    assert np.linalg.norm(begin[0].translation - begin[1].translation) < 0.01 * 0.6
    assert not [fault for estimate in estimates for fault in estimate.faults if "begins anew" not in fault]


def test_contacts_of_a_walk_are_those_that_bear(estimates: list[Estimate], walked: Recorded) -> None:
    for estimate, (measurement, _, _) in list(zip(estimates, walked, strict=True))[::10]:
        for sole in SOLES:
            load = measurement.wrenches[ANKLES[sole]][2] / (9.81 * PLAIN.total_mass)
            assert estimate.contacts[sole].held or load < 0.15
            assert not estimate.contacts[sole].held or load > 0.01
    swinging = [sum(not c.held for c in e.contacts.values()) for e in estimates]
    assert max(swinging) == 1
    assert sum(swinging) > 1500


def test_soles_are_where_they_stand_at_the_height_of_the_ground(
    robot: Robot, estimates: list[Estimate], walked: Recorded
) -> None:
    """The ground is flat: by what soles tell of its height, and by what the covariance says of that."""
    last = estimates[-1]
    for sole in SOLES:
        height, doubt = float(last.contacts[sole].place[3, 2]), math.sqrt(last.place_covariance(sole)[2, 2])
        assert abs(height) < 5e-3
        assert abs(height) < 4.0 * doubt < 0.02
        links = robot.link_placements(robot.place_base(last.q, walked[-1][1]))
        contact = robot.contacts[sole]
        truth = links[contact.link] * contact.placement_link_patch
        own = walked[-1][1].actInv(truth)
        assert np.abs(last.placement_world_base.actInv(last.contacts[sole].placement).translation
                      - own.translation).max() < 1e-3  # fmt: skip


def test_the_height_of_unknown_ground_is_learned_by_the_soles(robot: Robot) -> None:
    """Both soles step onto a slab of 3 cm that nobody told of; the robot began on the floor."""
    slab = dataclasses.replace(box("slab", (1.0, 2.0, 0.03), place(0.68, 0.0, 0.015)), mass=0.0)
    plan = plan_footsteps(robot, "half_sitting", steps=3, length=0.25, step_time=0.9, lead=0.8, settle=0.5)
    recorded = list(record(robot, generate_walk(robot, plan, "half_sitting", swing_height=0.08), 7, [slab]))
    last = replay(robot, recorded)[-1]
    truth = recorded[-1][1]
    assert truth.translation[2] - recorded[0][1].translation[2] == pytest.approx(0.03, abs=0.01)
    for sole in SOLES:
        height, doubt = float(last.contacts[sole].place[3, 2]), math.sqrt(last.place_covariance(sole)[2, 2])
        assert last.contacts[sole].held
        assert height == pytest.approx(0.03, abs=4e-3)
        assert abs(height - 0.03) < 4.0 * doubt


def test_offsets_of_wrenches_are_learned_in_the_air(robot: Robot, estimates: list[Estimate]) -> None:
    for ankle in ANKLES.values():
        bias = np.array([robot.sensors[ankle].noise[kind].bias for kind in ("force", "torque")])
        found = estimates[-1].wrench_offsets[ankle]
        assert np.abs(bias[0]).max() > 2.0
        assert np.abs(found[:3] - bias[0]).max() < 1.5
        assert np.abs(found[3:] - bias[1]).max() < 0.3


def test_the_same_measurements_give_the_same_bit_for_bit(robot: Robot, walked: Recorded) -> None:
    first, estimator = Estimator(robot), Estimator(robot)
    for measurement, _, _ in walked[:MIDDLE]:
        estimator.update(measurement.time, measurement)
    estimator.reset()
    for measurement, _, _ in walked[:MIDDLE]:
        one, other = (each.update(measurement.time, measurement) for each in (first, estimator))
    copied = copy.deepcopy(estimator)
    assert copied.robot is robot
    for measurement, _, _ in walked[MIDDLE:]:
        one, other, third = (each.update(measurement.time, measurement) for each in (first, estimator, copied))
        assert one is not None
        for each in (other, third):
            assert each is not None
            assert np.array_equal(one.q, each.q)
            assert np.array_equal(one.v, each.v)
            assert np.array_equal(one.covariance, each.covariance)


def test_a_copy_leaves_the_original_as_it_is(robot: Robot, walked: Recorded) -> None:
    estimator = Estimator(robot)
    for measurement, _, _ in walked[:300]:
        estimator.update(measurement.time, measurement)
    one, two = copy.deepcopy(estimator), copy.deepcopy(estimator)
    for measurement, _, _ in walked[300:600]:
        one.update(measurement.time, measurement)
    late = [two.update(m.time, m) for m, _, _ in walked[300:310]]
    own = [estimator.update(m.time, m) for m, _, _ in walked[300:310]]
    assert all(a and b and np.array_equal(a.q, b.q) for a, b in zip(late, own, strict=True))


def test_it_starts_amid_a_walk(robot: Robot, walked: Recorded) -> None:
    rest = walked[MIDDLE:]
    estimates = replay(robot, rest)
    assert math.degrees(tilts(estimates, rest)[500:].max()) < 1.5
    assert slips(estimates, rest)[500:].max() < 0.1


def quiet(measurement: Measurement) -> Measurement:
    return dataclasses.replace(measurement, angular_velocity=None, specific_force=None)


def broken(measurement: Measurement) -> Measurement:
    return dataclasses.replace(measurement, angular_velocity=np.array([0.0, np.nan, 0.0]))


def wild(measurement: Measurement) -> Measurement:
    return dataclasses.replace(measurement, specific_force=np.array([0.0, 0.0, 1e5]))


@pytest.mark.parametrize("lost", [quiet, broken, wild])
def test_without_inertial_readings_contacts_hold_it(
    robot: Robot, walked: Recorded, lost: Callable[[Measurement], Measurement]
) -> None:
    """A fifth of a second amid a step is bridged; then it is as it was."""
    gap = range(MIDDLE, MIDDLE + 200)
    estimates = replay(robot, walked, lambda tick, told: lost(told) if tick in gap else told)
    assert all("no inertial reading" in " ".join(estimates[tick].faults) for tick in gap)
    assert slips(estimates, walked)[MIDDLE:].max() < 0.25
    assert math.degrees(tilts(estimates, walked)[MIDDLE:].max()) < 1.0
    assert slips(estimates, walked)[MIDDLE + 700 :].max() < 0.05
    doubt = [np.trace(estimates[tick].twist_covariance[:3, :3]) for tick in (MIDDLE - 1, MIDDLE + 199)]
    assert doubt[1] > 4.0 * doubt[0]


@pytest.mark.parametrize("blind", [False, True])
def test_a_state_that_is_not_finite_begins_anew_where_the_base_was(
    robot: Robot, walked: Recorded, blind: bool
) -> None:
    estimator, estimates = Estimator(robot), []
    for tick, (measurement, _, _) in enumerate(walked[:1000]):
        if tick == 700:
            for part in (estimator._filter.covariance, estimator._filter.velocity, estimator._filter.rotation):
                part[:] = math.nan
        lost = blind and 650 < tick < 710
        estimates.append(estimator.update(measurement.time, quiet(measurement) if lost else measurement))
    told = [estimate for estimate in estimates if estimate is not None]
    assert "the state is not finite: all begins anew where the base was" in told[700].faults
    assert jumps(told)[699] < 2e-3
    assert all(np.isfinite(estimate.v).all() for estimate in told)
    assert slips(told, walked[:1000])[900:].max() < 0.05


def test_without_inertial_readings_a_robot_at_rest_stays_at_rest() -> None:
    estimator, whole = Estimator(PLAIN), seen_by_sensors(PLAIN.default_posture)
    rng, means = np.random.default_rng(9), []
    for tick in range(1000):
        positions = whole.joint_positions + 2e-4 * rng.normal(size=len(whole.joint_positions))
        told = dataclasses.replace(whole, time=1e-3 * tick, joint_positions=positions)
        estimate = estimator.update(told.time, quiet(told) if tick >= 200 else told)
        assert estimate is not None
        means.append(estimate.v[:6])
    assert np.abs(np.mean(means[300:], axis=0)).max() < 3e-3
    assert np.abs(estimate.base[3, 2] - PLAIN.default_posture[2]) < 2e-3


def test_nothing_new_is_said_and_corrects_nothing(robot: Robot, walked: Recorded) -> None:
    stuck = range(MIDDLE, MIDDLE + 15)
    estimates = replay(robot, walked, lambda tick, told: walked[MIDDLE - 1][0] if tick in stuck else told)
    assert all("nothing new: nothing is corrected" in estimates[tick].faults for tick in stuck)
    assert slips(estimates, walked)[MIDDLE:].max() < 0.1
    sizes = [np.trace(estimates[tick].covariance) for tick in stuck]
    assert all(after > before for before, after in itertools.pairwise(sizes))


@pytest.mark.parametrize("moved", [-3.0, 0.5])
def test_a_jump_of_the_clock_begins_contacts_anew_and_nothing_jumps(
    robot: Robot, walked: Recorded, moved: float
) -> None:
    estimator, estimates = Estimator(robot), []
    for tick, (measurement, _, _) in enumerate(walked):
        time = measurement.time + (moved if tick >= MIDDLE else 0.0)
        estimates.append(estimator.update(time, dataclasses.replace(measurement, time=time)))
    told = [estimate for estimate in estimates if estimate is not None]
    assert [tick for tick, e in enumerate(told) if any("clock jumped" in fault for fault in e.faults)] == [MIDDLE]
    assert jumps(told)[500:].max() < 2e-3
    before, after = (np.diag(told[tick].covariance) for tick in (MIDDLE - 1, MIDDLE))
    assert (after[3:6] > before[3:6] + 0.05).all()
    assert (after[:3] > before[:3] + 5e-4).all()
    assert math.degrees(tilts(told, walked)[MIDDLE:].max()) < 0.5
    assert slips(told, walked)[MIDDLE + 300 :].max() < 0.05


def test_an_estimate_at_which_nothing_stands_still_begins_anew(robot: Robot, walked: Recorded) -> None:
    """It began in free fall, lying and at 5 m/s: gravity and the feet tell better."""
    estimator, fell = Estimator(robot), walked[500:1500]
    estimator.reset(pin.SE3(pin.rpy.rpyToMatrix(0.0, 1.0, 0.3), np.array([1.0, 2.0, 3.0])))
    estimates = []
    for tick, (measurement, _, _) in enumerate(fell):
        if tick == 1:
            estimator._filter.velocity[:] = 5.0, 0.0, 0.0
        estimates.append(estimator.update(measurement.time, measurement))
    told = [estimate for estimate in estimates if estimate is not None]
    anew = [k for k, e in enumerate(told) if any("nothing that bears stands still" in fault for fault in e.faults)]
    assert 150 < anew[0] < 300
    assert len(anew) == 1
    assert math.degrees(tilts(told, fell)[anew[0] + 200 :].max()) < 1.0
    assert slips(told, fell)[anew[0] + 200 :].max() < 0.1
    assert math.atan2(told[-1].base[1, 0], told[-1].base[0, 0]) == pytest.approx(0.3, abs=0.1)


def test_an_encoder_that_jumps_moves_no_base(robot: Robot, walked: Recorded) -> None:
    knee = PLAIN.joint_names.index("LLEG_JOINT3")

    def jump(tick: int, told: Measurement) -> Measurement:
        positions = told.joint_positions.copy()
        positions[knee] += 0.05 * (tick >= 700)
        return dataclasses.replace(told, joint_positions=positions)

    estimates = replay(robot, walked[:1000], jump)
    assert any("'left_sole' isn't where it was" in fault for fault in estimates[700].faults)
    assert estimates[700].contacts["left_sole"].slipped
    assert jumps(estimates)[500:].max() < 2e-3
    assert slips(estimates, walked[:1000])[500:].max() < 0.05


def test_a_silent_encoder_is_bridged(robot: Robot, walked: Recorded) -> None:
    knee, gap = PLAIN.joint_names.index("RLEG_JOINT3"), range(MIDDLE, MIDDLE + 100)

    def silent(tick: int, told: Measurement) -> Measurement:
        if tick not in gap:
            return told
        positions = told.joint_positions.copy()
        positions[knee] = np.nan
        return dataclasses.replace(told, joint_positions=positions)

    estimates = replay(robot, walked, silent)
    assert all(any("RLEG_JOINT3" in fault for fault in estimates[tick].faults) for tick in gap)
    assert slips(estimates, walked)[500:].max() < 0.1
    assert math.degrees(tilts(estimates, walked)[500:].max()) < 0.5


def stuck_force(told: Measurement, tick: int) -> Measurement:
    return dataclasses.replace(
        told, wrenches={**told.wrenches, "left_ankle": np.array([0.0, 0.0, 400.0, 0.0, 0.0, 0.0])}
    )


def no_force(told: Measurement, tick: int) -> Measurement:
    return dataclasses.replace(told, wrenches={**told.wrenches, "left_ankle": np.full(6, np.nan)})


def wrong_flags(told: Measurement, tick: int) -> Measurement:
    """The switches say the opposite of the truth."""
    loads = {sole: told.wrenches[ankle][2] for sole, ankle in ANKLES.items()}
    return dataclasses.replace(told, contacts={sole: float(load < 50.0) for sole, load in loads.items()})


@pytest.mark.parametrize("fault", [stuck_force, no_force, wrong_flags])
def test_contacts_sensed_where_there_are_none_move_it_little(
    robot: Robot, walked: Recorded, fault: Callable[[Measurement, int], Measurement]
) -> None:
    estimates = replay(robot, walked, lambda tick, told: fault(told, tick))
    assert slips(estimates, walked)[500:].max() < 0.15
    assert math.degrees(tilts(estimates, walked)[500:].max()) < 0.5


@pytest.mark.parametrize("speed", [0.1, 0.4])
def test_a_sole_that_slides_moves_the_base_little(speed: float) -> None:
    """The left sole of a robot at rest, which bears as much as the right one, is pulled outwards by 4 cm."""
    q, estimator, rng = PLAIN.default_posture, Estimator(PLAIN), np.random.default_rng(6)
    hip, ankle = "LLEG_JOINT1", "LLEG_JOINT5"
    reach, length = 0.04 / 0.57, 0.04 / speed
    estimates = []
    for tick in range(1500):
        time = 1e-3 * tick
        moved, rates = q.copy(), np.zeros(len(PLAIN.joint_names))
        for joint, sign in ((hip, 1.0), (ankle, -1.0)):
            moved[PLAIN.index_q(joint)] += sign * reach * min(max((time - 1.0) / length, 0.0), 1.0)
            rates[PLAIN.joint_names.index(joint)] = sign * reach / length if 0.0 < time - 1.0 < length else 0.0
        told = seen_by_sensors(moved)
        told = dataclasses.replace(
            told, time=time, joint_positions=told.joint_positions + 2e-4 * rng.normal(size=len(rates)),
            joint_velocities=rates, angular_velocity=5e-3 * rng.normal(size=3),
            specific_force=told.specific_force + 0.05 * rng.normal(size=3),
        )  # fmt: skip
        estimates.append(estimator.update(time, told))
    told_all = [estimate for estimate in estimates if estimate is not None]
    sliding = [e.contacts["left_sole"] for e in told_all[1000 : 1000 + round(1e3 * length)]]
    assert any(contact.slipped or not contact.held for contact in sliding)
    assert np.linalg.norm(told_all[-1].base[3] - told_all[990].base[3]) < 6e-3
    assert max(np.linalg.norm(e.v[:3]) for e in told_all[1000:]) < 0.05


def test_an_edge_and_a_hand_hold_a_place_only(robot: Robot, walked: Recorded) -> None:
    settings = EstimatorSettings(contacts=("right_sole", "left_heel", "right_hand_back"))
    estimates = replay(robot, walked[:900], settings=settings)
    last = estimates[-1]
    assert [last.contacts[name].held for name in settings.contacts] == [True, True, False]
    turns = [np.diag(last.covariance)[CONTACTS + 6 * k + 3 : CONTACTS + 6 * k + 6] for k in range(3)]
    assert turns[0].min() > 0.0
    assert not np.any(turns[1:])
    assert slips(estimates, walked[:900])[500:].max() < 0.05


def test_covariances_of_pose_and_twist_are_those_of_differences(robot: Robot, estimates: list[Estimate]) -> None:
    own, h = estimates[MIDDLE], 1e-6
    n = len(own.covariance)
    R, p, base = own.imu[:3], own.imu[3], own.base
    rng = np.random.default_rng(8)
    velocity, rate = rng.normal(size=3), rng.normal(size=3)  # any: only their errors count

    def told(e: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Place and rotation of the base in the world and its twist in the base, with an error of the filter."""
        turn, mean = pin.exp3(e[:3]), np.eye(3)
        inside, lever = R.T @ base[:3], R.T @ (base[3] - p)
        rotation, place = turn @ R, turn @ p + mean @ e[6:9]
        omega = rate - e[9:12] + noise
        linear = rotation.T @ (turn @ velocity + e[3:6]) + np.cross(omega, lever)
        return place + rotation @ lever, rotation @ inside, np.concatenate([inside.T @ linear, inside.T @ omega])

    zero = told(np.zeros(n), np.zeros(3))
    pose, twist, white = np.zeros((6, n)), np.zeros((6, n)), np.zeros((6, 3))
    for j in range(n):
        place, rotation, motion = told(h * np.eye(n)[j], np.zeros(3))
        pose[:3, j], pose[3:, j] = (place - zero[0]) / h, pin.log3(rotation @ zero[1].T) / h
        twist[:, j] = (motion - zero[2]) / h
    for j in range(3):
        white[:, j] = (told(np.zeros(n), h * np.eye(3)[j])[2] - zero[2]) / h
    assert np.abs(own.pose_covariance - pose @ own.covariance @ pose.T).max() < 1e-4 * np.abs(own.pose_covariance).max()
    turned = np.kron(np.eye(2), base[:3].T @ R)
    wanted = twist @ own.covariance @ twist.T + own.gyro_variance * white @ white.T
    wanted += turned @ own.rate_covariance @ turned.T
    assert np.abs(own.twist_covariance - wanted).max() < 1e-4 * np.abs(wanted).max()
    assert own.gyro_variance == pytest.approx(EstimatorSettings().gyro_noise ** 2 / 1e-3)


@pytest.mark.parametrize(
    ("what", "change", "message"),
    [
        ("positions", {"joint_positions": np.zeros(3)}, "measurement.joint_positions"),
        ("rates", {"joint_velocities": np.zeros(3)}, "measurement.joint_velocities"),
        ("rate", {"angular_velocity": np.zeros(4)}, "measurement.angular_velocity"),
        ("force", {"specific_force": np.zeros(2)}, "measurement.specific_force"),
        ("sensor", {"wrenches": {"nose": np.zeros(6)}}, "measurement.wrenches.*nose"),
        ("wrench", {"wrenches": {"left_ankle": np.zeros(5)}}, "left_ankle"),
        ("contact", {"contacts": {"nose": 1.0}}, "measurement.contacts.*nose"),
    ],
)
def test_measurements_of_another_robot_are_refused(what: str, change: dict[str, object], message: str) -> None:
    told = dataclasses.replace(seen_by_sensors(PLAIN.default_posture), **change)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        Estimator(PLAIN).update(0.0, told)


def test_robots_and_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InputError, match="fixed to the world"):
        Estimator(load_robot("hrp2", floating_base=False))
    with pytest.raises(InputError, match="sensor of the type imu"):
        Estimator(dataclasses.replace(PLAIN, sensors={}))
    with pytest.raises(InputError, match=r"settings\.imu"):
        Estimator(PLAIN, EstimatorSettings(imu="right_ankle"))
    with pytest.raises(InputError, match=r"settings\.contacts"):
        Estimator(PLAIN, EstimatorSettings(contacts=("nose",)))
    with pytest.raises(InputError, match=r"settings\.gate: is -1"):
        EstimatorSettings(gate=-1.0)
    with pytest.raises(InputError, match=r"^t: is nan"):
        Estimator(PLAIN).update(math.nan, seen_by_sensors(PLAIN.default_posture))
