# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_studies.humod.coordinates import COLUMNS, POSITION_JOINTS
from humanoid_studies.humod.synthetic import FORCE_RATE, MOTION_RATE, synthetic_recording

ROBOT = load_robot("syn3p33r")
RUN = synthetic_recording(ROBOT, duration=2.0)
GROUND = RUN.ground


def test_rates_are_those_of_the_database() -> None:
    assert GROUND is not None
    assert RUN.time[-1] == GROUND.time[-1] == 2.0
    assert (len(RUN.time), len(GROUND.time)) == (2 * MOTION_RATE + 1, 2 * FORCE_RATE + 1)


def test_velocities_and_accelerations_are_derivatives() -> None:
    dt = 1 / MOTION_RATE
    for values, rates in ((RUN.q, RUN.v), (RUN.v, RUN.a)):
        # Simpson's rule over two frames; the jerk jumps where feet land and lift off.
        steps = (rates[:-2] + 4 * rates[1:-1] + rates[2:]) * dt / 3
        np.testing.assert_allclose(values[2:] - values[:-2], steps, atol=3e-4)


def test_the_person_runs() -> None:
    """Feet leave the ground, land in turn, and neither sink into it nor hover over it while they carry."""
    assert GROUND is not None
    on_ground = GROUND.force[..., 1] > 0
    assert not on_ground.all(axis=1).any()
    flight = ~on_ground.any(axis=1)
    assert 0.2 < flight.mean() < 0.5
    assert (on_ground.mean(axis=0) > 0.2).all()
    ankles = RUN.positions["smoothed"][:, [POSITION_JOINTS.index("AJ_L"), POSITION_JOINTS.index("AJ_R")], 1]
    assert ankles.min() > 0.03
    assert ankles[on_ground[::2]].max() < 0.25
    knees = RUN.q[:, [COLUMNS.index("rKJZ_L"), COLUMNS.index("rKJZ_R")]]
    assert knees.max() < 0.05  # a knee bends one way only


def test_the_pressure_acts_on_the_ground_under_the_sole() -> None:
    assert GROUND is not None
    on_ground = GROUND.force[::2, :, 1] > 0
    point = GROUND.point[::2]
    assert np.isnan(point[~on_ground]).all()
    assert not point[on_ground][:, 1].any()
    ankles = RUN.positions["smoothed"][:, [POSITION_JOINTS.index("AJ_L"), POSITION_JOINTS.index("AJ_R")]]
    reach = (point - ankles)[on_ground]
    assert reach[:, 0].min() >= -0.05 - 1e-12
    assert reach[:, 0].max() <= 0.16 + 1e-12
    assert np.abs(reach[:, 2]).max() <= 0.04 + 1e-12


def test_positions_and_noise() -> None:
    difference = RUN.positions["estimated"] - RUN.positions["smoothed"]
    assert difference.std() == pytest.approx(0.003)
    assert np.abs(difference).max() < 0.02
    quiet = synthetic_recording(ROBOT, duration=0.1, noise=0.0)
    np.testing.assert_array_equal(quiet.positions["estimated"], quiet.positions["smoothed"])


def test_a_heading_turns_the_run() -> None:
    heading = -0.7
    turned = synthetic_recording(ROBOT, duration=0.5, heading=heading, noise=0.0)
    straight = synthetic_recording(ROBOT, duration=0.5, noise=0.0)
    # The lower lumbar joint is the base: its path turns only as far as the turned pelvis leaves the rest alone.
    assert turned.ground is not None
    assert straight.ground is not None
    np.testing.assert_allclose(turned.ground.force, straight.ground.force @ pin.utils.rotate("y", heading).T, atol=1e-9)
    column = COLUMNS.index("rBJY")
    np.testing.assert_allclose(turned.q[:, column] - straight.q[:, column], heading)
