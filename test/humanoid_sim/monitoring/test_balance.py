# SPDX-License-Identifier: Apache-2.0
"""Balance of a simulated robot: analytic cases, momentum against Pinocchio, time series (specification 000, F150)."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import matplotlib
import numpy as np
import pinocchio as pin
import pytest
from fixtures.scenes import floor, scene, standing
from numpy.testing import assert_allclose

from humanoid_model import Robot, load_robot
from humanoid_model.convex_polygon import polygon_area, polygon_margin
from humanoid_model.errors import InputError
from humanoid_sim import Simulation
from humanoid_sim.monitoring import BalanceMonitor, FootForceMonitor
from humanoid_sim.monitoring.balance import horizontal_axes, robot_balance
from humanoid_sim.monitoring.zero_moment_point import MomentumMeter, inertial_zero_moment_point
from humanoid_sim.stepping.contacts import ContactState

matplotlib.use("Agg")

WEIGHT = 58.0 * 9.8


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2")


@pytest.fixture(scope="module")
def settled(hrp2: Robot) -> Simulation:
    simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
    simulation.run(1.5)
    return simulation


def test_at_rest_everything_is_below_the_centre_of_mass(settled: Simulation) -> None:
    balance = robot_balance(settled, "hrp2")
    com = settled.robots["hrp2"].centre_of_mass
    assert_allclose(balance.centre_of_mass, com, atol=1e-12)
    assert_allclose(balance.zero_moment_point, [*com[:2], 0.0], atol=1e-4)
    assert_allclose(balance.capture_point, [*com[:2], 0.0], atol=1e-4)
    assert_allclose(balance.force, [0.0, 0.0, WEIGHT], atol=0.01 * WEIGHT)
    # Two soles of 0.22 x 0.13 m, their centres 0.19 m apart: one rectangle.
    assert len(balance.support) == 4
    assert polygon_area(balance.support) == pytest.approx(0.22 * (0.13 + 0.19), rel=1e-3)
    assert balance.margin == pytest.approx(polygon_margin(balance.support, com[:2]), abs=1e-4)
    assert balance.margin > 0.03
    assert set(balance.centres_of_pressure) == {"hrp2/RLEG_LINK5", "hrp2/LLEG_LINK5"}
    right = balance.centres_of_pressure["hrp2/RLEG_LINK5"]
    assert right[1] == pytest.approx(-0.095, abs=0.066)
    both = np.array(list(balance.centres_of_pressure.values()))
    assert both[:, 1].min() < balance.zero_moment_point[1] < both[:, 1].max()


def test_it_does_not_matter_which_body_of_a_pair_the_robot_is(
    settled: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, contacts = robot_balance(settled, "hrp2"), settled.contacts
    swapped = dataclasses.replace(
        contacts,
        force=-contacts.force,
        normal=-contacts.normal,
        velocity=-contacts.velocity,
        bodies=[(b, a) for a, b in contacts.bodies],
    )
    monkeypatch.setattr(Simulation, "contacts", property(lambda _: swapped))
    second = robot_balance(settled, "hrp2")
    assert_allclose(second.zero_moment_point, first.zero_moment_point, atol=0)
    assert_allclose(second.force, first.force, atol=0)
    assert_allclose(second.support, first.support, atol=0)
    assert second.centres_of_pressure.keys() == first.centres_of_pressure.keys()


def test_a_corner_that_touches_supports_without_a_load(settled: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    first, contacts = robot_balance(settled, "hrp2"), settled.contacts
    outer = int(np.argmax(contacts.position @ [1.0, 1.0, 0.0]))
    state, force, gap = contacts.state.copy(), contacts.force.copy(), contacts.gap.copy()
    state[outer], force[outer], areas = ContactState.OPEN, 0.0, []
    for far in (False, True):
        gap[outer] = 1e-3 if far else contacts.gap[outer]
        changed = dataclasses.replace(contacts, state=state, force=force, gap=gap)
        monkeypatch.setattr(Simulation, "contacts", property(lambda _, changed=changed: changed))
        areas.append(polygon_area(robot_balance(settled, "hrp2").support))
    assert areas[0] == pytest.approx(polygon_area(first.support), rel=1e-9)
    assert areas[1] < 0.95 * areas[0]


def test_a_steady_push_moves_the_pressure_by_its_moment(hrp2: Robot) -> None:
    """A force F at height h moves the zero-moment point by F h over the weight."""
    simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
    simulation.run(0.5)
    height = 0.7
    push = np.array([15.0, -10.0, 0.0])
    simulation.apply_wrench("hrp2/WAIST", push, point=[0.0, 0.0, height], duration=3.0)
    simulation.run(2.0)
    balance = robot_balance(simulation, "hrp2")
    assert_allclose(
        balance.zero_moment_point[:2], balance.centre_of_mass[:2] + push[:2] * height / WEIGHT, atol=5e-4
    )


def test_momentum_agrees_with_pinocchio(hrp2: Robot) -> None:
    """Of a robot among other things, against the centroidal momentum of the robot's own model."""
    bip = standing(load_robot("bip"), "standing", "bip")
    simulation = Simulation(scene(robots=(bip, standing(hrp2))))
    rng = np.random.default_rng(0)
    robot = simulation.robots["hrp2"]
    v = rng.normal(size=hrp2.model.nv)
    robot.set_state(robot.q, v)
    other = simulation.robots["bip"]
    other.set_state(other.q, rng.normal(size=len(other.v)))
    measured = MomentumMeter(simulation, "hrp2").measure(simulation)
    data = hrp2.model.createData()
    expected = pin.computeCentroidalMomentum(hrp2.model, data, robot.q, v)
    assert measured.mass == pytest.approx(58.0)
    assert_allclose(measured.position, data.com[0], atol=1e-12)
    assert_allclose(measured.linear, expected.linear, atol=1e-9)
    assert_allclose(measured.angular, expected.angular, atol=1e-9)


@pytest.mark.feature("000-F150")
def test_contacts_and_motion_tell_the_same_zero_moment_point(hrp2: Robot) -> None:
    """While the robot waves its arms: from the contact forces, and from the rates of its momenta."""
    simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
    simulation.run(0.5)
    robot, meter = simulation.robots["hrp2"], MomentumMeter(simulation, "hrp2")
    arms = ["RARM_JOINT0", "LARM_JOINT0"]
    ranges, errors = [], []
    before = meter.measure(simulation)
    for step in range(300):
        angle = 0.26 + 0.4 * (1.0 - np.cos(12.0 * step * simulation.dt))
        robot.set_position_target([angle, -angle], joints=arms)
        simulation.step()
        now = meter.measure(simulation)
        balance = robot_balance(simulation, "hrp2", meter)
        motion = inertial_zero_moment_point(
            0.5 * (before.position + now.position),
            (now.linear - before.linear) / simulation.dt,
            (now.angular - before.angular) / simulation.dt,
            before.mass,
            np.array([0.0, 0.0, -9.8]),
            balance.ground,
        )
        before = now
        ranges.append(balance.zero_moment_point[0] - balance.centre_of_mass[0])
        errors.append(np.abs(motion - balance.zero_moment_point).max())
    assert np.ptp(ranges) > 0.01
    assert np.median(errors) < 0.02 * np.ptp(ranges)


def test_in_the_air_there_is_nothing_to_press(hrp2: Robot) -> None:
    simulation = Simulation(scene(robots=(standing(hrp2),)))
    simulation.run(0.01)
    balance = robot_balance(simulation, "hrp2")
    assert np.isnan(balance.zero_moment_point).all()
    assert np.isnan(balance.margin)
    assert len(balance.support) == 0
    assert not balance.centres_of_pressure
    assert_allclose(balance.momentum.velocity, [0.0, 0.0, -9.8 * 0.01], atol=1e-6)


def test_series_and_saving(hrp2: Robot, tmp_path: Path) -> None:
    from humanoid_sim.monitoring.balance import plot_balance

    simulation = Simulation(scene(floor(), robots=(standing(hrp2),), friction=0.8))
    monitor = BalanceMonitor("hrp2", interval=5)
    simulation.add_module(monitor)
    with pytest.raises(InputError, match="nothing has been recorded"):
        plot_balance(monitor, tmp_path / "balance.png")
    assert monitor.series.time.shape == (0,)
    simulation.run(0.2)
    simulation.apply_wrench("hrp2/CHEST_LINK1", [0.0, 60.0, 0.0], duration=0.1)
    simulation.run(0.1)
    series = monitor.series
    assert_allclose(series.time, 0.005 * np.arange(1, 61))
    assert series.centres_of_pressure["hrp2/LLEG_LINK5"].shape == (60, 3)
    assert series.zero_moment_point[-1, 1] > series.zero_moment_point[35, 1] + 0.02
    assert series.angular_momentum[-1, 0] < -1e-3  # tips to the left: about -x
    state = simulation.save_state()
    simulation.run(0.05)
    simulation.restore_state(state)
    assert len(monitor.series.time) == 60
    plot_balance(monitor, tmp_path / "balance.png")
    assert (tmp_path / "balance.png").stat().st_size > 20_000


def test_axes_follow_gravity() -> None:
    up, axes = horizontal_axes(np.array([0.0, 0.0, -9.8]))
    assert_allclose(np.vstack([axes, up]), np.eye(3), atol=0)
    for gravity in ([3.0, -1.0, -9.0], [-9.8, 0.0, 0.0]):
        up, axes = horizontal_axes(np.array(gravity))
        frame = np.vstack([axes, up])
        assert_allclose(frame @ frame.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(frame) == pytest.approx(1.0)
        assert up @ gravity == pytest.approx(-np.linalg.norm(gravity))


def test_what_has_no_balance_is_refused(hrp2: Robot) -> None:
    simulation = Simulation("stand")
    with pytest.raises(InputError, match=r"no robot 'bip'.*hrp2"):
        simulation.add_module(BalanceMonitor("bip"))
    with pytest.raises(InputError, match="interval is 0"):
        BalanceMonitor("hrp2", 0)
    weightless = Simulation(scene(robots=(standing(hrp2),), gravity=(0.0, 0.0, 0.0)))
    with pytest.raises(InputError, match="gravity is zero"):
        weightless.add_module(BalanceMonitor("hrp2"))


def test_soles_bear_the_weight_and_hold_against_a_pull():
    simulation = Simulation("stand")
    monitor = FootForceMonitor("hrp2")
    simulation.add_module(monitor)
    simulation.run(0.3)
    simulation.apply_wrench("hrp2/WAIST", [20.0, 0.0, 0.0], duration=1.0)
    simulation.run(0.7)
    series = monitor.series
    assert set(series.force) == {"right_sole", "left_sole"}
    np.testing.assert_allclose(series.time, (np.arange(1000) + 0.5) * simulation.dt)
    total = series.force["right_sole"] + series.force["left_sole"]
    weight = simulation.robots["hrp2"].robot.total_mass * 9.81
    np.testing.assert_allclose(total[250:300].mean(axis=0), [0.0, 0.0, weight], atol=0.01 * weight)
    assert total[-100:, 0].mean() == pytest.approx(-20.0, abs=2.0)
    # The place that the resultant acts at is where it has the moment of all contacts.
    contacts = simulation.contacts
    right = [i for i, names in enumerate(contacts.bodies) if "hrp2/RLEG_LINK5" in names]
    moment = np.cross(contacts.position[right], contacts.force[right]).sum(axis=0)
    told = np.cross(series.centre_of_pressure["right_sole"][-1], series.force["right_sole"][-1])
    np.testing.assert_allclose(told[:2], moment[:2], atol=1e-9)
    state = simulation.save_state()
    simulation.run(0.01)
    simulation.restore_state(state)
    assert len(monitor.series.time) == 1000


def test_in_the_air_nothing_presses():
    simulation = Simulation(scene(robots=(standing(load_robot("hrp2")),)))
    monitor = FootForceMonitor("hrp2")
    simulation.add_module(monitor)
    simulation.run(0.005)
    assert not monitor.series.force["left_sole"].any()
    assert np.isnan(monitor.series.centre_of_pressure["left_sole"]).all()


def test_what_cannot_be_watched_is_refused():
    simulation = Simulation("stand")
    with pytest.raises(InputError, match=r"no robot 'bip'.*hrp2"):
        simulation.add_module(FootForceMonitor("bip"))
    arm = Simulation(scene(floor(), robots=(standing(load_robot("robot_2r_a"), "zero", "arm"),)))
    with pytest.raises(InputError, match="robot 'arm': has no support contact"):
        arm.add_module(FootForceMonitor("arm"))
