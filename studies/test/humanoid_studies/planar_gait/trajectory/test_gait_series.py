# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT_WALK

from humanoid_studies.planar_gait.trajectory.gait_series import gait_series, leg_roles


@pytest.fixture(scope="module")
def series(bip_gait):
    return gait_series(bip_gait)


@pytest.fixture(scope="module")
def rabbit(rabbit_gait):
    return gait_series(rabbit_gait)


def transitions(series):
    return np.flatnonzero(np.diff(series.phase))


def test_legs_take_turns(bip_gait):
    roles = [leg_roles(bip_gait.plan, index) for index in range(4)]
    assert roles == [
        {"rear": "left", "front": "right"},
        {"stance": "right", "swing": "left"},
        {"rear": "right", "front": "left"},
        {"stance": "left", "swing": "right"},
    ]


@pytest.mark.parametrize("name", ["series", "rabbit"])
def test_the_robot_moves_on_through_transitions(name, request):
    series = request.getfixturevalue(name)
    places = transitions(series)
    assert len(places) == 3
    for k in places:
        assert series.t[k] == series.t[k + 1]
        np.testing.assert_allclose(series.angles[k], series.angles[k + 1], atol=1e-12)
        np.testing.assert_allclose(series.rates[k], series.rates[k + 1], atol=1e-8)
        for point in series.points.values():
            np.testing.assert_allclose(point[k], point[k + 1], atol=1e-12)
        np.testing.assert_allclose(series.hip_velocity[k], series.hip_velocity[k + 1], atol=1e-9)
        assert series.energy[k] == pytest.approx(series.energy[k + 1])


def test_half_a_cycle_later_the_other_leg_does_the_same(series):
    half = len(series.t) // 2
    for j, name in enumerate(series.joints):
        other = name.replace("left", "*").replace("right", "left").replace("*", "right")
        k = series.joints.index(other)
        np.testing.assert_array_equal(series.angles[:half, j], series.angles[half:, k])
        np.testing.assert_array_equal(series.torques[:half, j], series.torques[half:, k])
    np.testing.assert_array_equal(series.forces["left"].normal[:half], series.forces["right"].normal[half:])
    step = np.array([0.5, 0.0])
    np.testing.assert_allclose(series.points["hip"][:half] + step, series.points["hip"][half:], atol=1e-12)
    np.testing.assert_allclose(series.points["left_heel"][:half] + step, series.points["right_heel"][half:], atol=1e-9)


def test_standing_foot_stays_where_it_is(series):
    alone = series.phase == 1
    np.testing.assert_allclose(series.points["right_toe"][alone], [[0.5, 0.0]] * alone.sum(), atol=1e-12)
    np.testing.assert_allclose(series.points["right_heel"][alone], [[0.21, 0.0]] * alone.sum(), atol=1e-12)
    assert series.points["left_toe"][series.phase == 0] == pytest.approx(0.0)


def test_angles_are_the_robots_own(series):
    """Knees by the cosine rule from the places in the world, hips and ankles by directions."""
    for leg in ("left", "right"):
        hip, knee, ankle, toe = (
            series.points[name][:, 0] + 1j * series.points[name][:, 1]
            for name in ("hip", f"{leg}_knee", f"{leg}_ankle", f"{leg}_toe")
        )
        flexion = np.angle((knee - hip) / (ankle - knee))
        np.testing.assert_allclose(series.angles[:, series.joints.index(f"{leg}_knee")], flexion, atol=1e-9)
        assert (flexion > 0.0).all()
        swing = np.angle((knee - hip) / -np.exp(1j * series.trunk))
        np.testing.assert_allclose(
            np.abs(series.angles[:, series.joints.index(f"{leg}_hip")]), np.abs(swing), atol=1e-9
        )
        tilt = np.angle((toe - ankle) / (knee - ankle)) + math.pi / 2 + BIP.foot.toe_angle
        np.testing.assert_allclose(
            np.abs(series.angles[:, series.joints.index(f"{leg}_ankle")]), np.abs(tilt), atol=1e-9
        )


@pytest.mark.parametrize("name", ["series", "rabbit"])
def test_power_is_torque_times_rate(name, request):
    series = request.getfixturevalue(name)
    power = (series.torques * series.rates).sum(axis=1)
    if name == "series":
        np.testing.assert_allclose(series.power, power, atol=1e-8)
        assert not series.ground_torque.any()
    else:  # the torque at the stance tip works on the shank
        single = np.isin(series.phase, (1, 3))
        np.testing.assert_allclose(series.power[~single], power[~single], atol=1e-9)
        assert series.ground_torque[single].any()
        assert not series.ground_torque[~single].any()


def test_energy_is_the_audits(bip_gait, series):
    assert series.energy[-1] == pytest.approx(bip_gait.totals.energy)
    assert series.energy[0] == 0.0
    assert (np.diff(series.energy) >= 0.0).all()


def test_zero_moment_point_balances_the_angular_momentum(bip_gait, series):
    """About the rear toe the sum of all momenta p is the angular momentum: sum N x = d/dt sum p + m g x_G."""
    solution = bip_gait.phases[0]
    tree = solution.problem.model.tree
    rate = np.gradient(solution.p.sum(axis=1), solution.t)
    centre = tree.centre.position(solution.q)[:, 0]
    rows = series.phase == 0
    total = sum(foot.total[rows] for foot in series.forces.values())
    moment = series.zero_moment_point[rows] * total
    np.testing.assert_allclose(moment[5:-5], (rate + tree.mass * tree.gravity * centre)[5:-5], rtol=0.01, atol=2.0)


def test_forces_belong_to_the_legs_that_bear(series, bip_gait):
    double, single = series.phase == 0, series.phase == 1
    left, right = series.forces["left"], series.forces["right"]
    assert left.bears[double].all()
    assert right.bears[double].all()
    assert not left.bears[single].any()
    assert not left.total[single].any()
    np.testing.assert_array_equal(left.normal[double, 1], bip_gait.phases[0].forces["rear_toe"].normal[:, 0])
    np.testing.assert_array_equal(right.normal[single], bip_gait.phases[1].forces["stance"].normal)
    np.testing.assert_allclose(left.pressure[double], 0.0, atol=1e-12)
    assert np.isnan(series.clearance[double]).all()
    assert series.clearance[single].min() > -2e-3


def test_rabbit_has_tips(rabbit):
    assert rabbit.forces["left"].places == ("tip",)
    assert rabbit.joints == ("left_hip", "left_knee", "right_hip", "right_knee")
    assert rabbit.points["left_tip"][0] == pytest.approx([0.0, 0.0])
    assert rabbit.t[-1] == pytest.approx(2 * RABBIT_WALK.duration)


def test_columns_have_every_sample(series):
    columns = series.columns()
    assert {len(column) for column in columns.values()} == {len(series.t)}
    assert columns["phase"].max() == 4
    for name in ("angle.left_knee", "torque.right_ankle", "force.left.heel", "pressure.right", "vx.hip"):
        assert name in columns
    assert columns["vx.hip"][0] == pytest.approx(CYCLIC.step.initial_hip_velocity.real)
