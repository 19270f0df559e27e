# SPDX-License-Identifier: Apache-2.0
"""The squat keeps soles flat and the centre of mass in place: checked by forward kinematics."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.robot import Robot
from humanoid_planner.posture.motion.squat import squat_motion

KNEE = np.deg2rad(95.0)


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2")


@pytest.fixture(scope="module")
def motion(robot: Robot) -> JointTrajectory:
    return squat_motion(robot, knee=KNEE, count=2, period=3.0)


def configurations(robot: Robot, motion: JointTrajectory) -> np.ndarray:
    """(k, nq) with the waist held in place; only the relative motion of waist and feet counts."""
    q = np.tile(robot.postures["half_sitting"], (len(motion.times), 1))
    for i, name in enumerate(motion.joint_names):
        q[:, robot.index_q(name)] = motion.positions[:, i]
    return q


def test_soles_stay_flat_and_apart_as_they_were(robot: Robot, motion: JointTrajectory) -> None:
    data = robot.model.createData()
    right, left = (robot.model.getFrameId(f"{side}LEG_LINK5") for side in "RL")
    waist = robot.model.getFrameId("WAIST")
    between = []
    for q in configurations(robot, motion):
        pin.framesForwardKinematics(robot.model, data, q)
        upright = data.oMf[waist].rotation
        for foot in (right, left):
            np.testing.assert_allclose(data.oMf[foot].rotation, upright, atol=1e-9)
        between.append((data.oMf[right].inverse() * data.oMf[left]).homogeneous)
    np.testing.assert_allclose(between, np.tile(between[0], (len(between), 1, 1)), atol=1e-9)


def test_centre_of_mass_stays_over_the_same_point_of_the_feet(robot: Robot, motion: JointTrajectory) -> None:
    data = robot.model.createData()
    foot = robot.model.getFrameId("RLEG_LINK5")
    over = []
    for q in configurations(robot, motion):
        com = pin.centerOfMass(robot.model, data, q)
        pin.updateFramePlacements(robot.model, data)
        over.append(data.oMf[foot].actInv(com))
    np.testing.assert_allclose(np.ptp(np.array(over)[:, :2], axis=0), 0.0, atol=1e-4)


def test_waist_goes_down_twice(robot: Robot, motion: JointTrajectory) -> None:
    data = robot.model.createData()
    foot = robot.model.getFrameId("LLEG_LINK5")
    heights = []
    for q in configurations(robot, motion):
        pin.framesForwardKinematics(robot.model, data, q)
        heights.append(-data.oMf[foot].translation[2])
    heights = np.array(heights) - heights[0]
    assert -0.3 < heights.min() < -0.08
    np.testing.assert_allclose(heights[[0, 30, 60]], 0.0, atol=1e-9)
    np.testing.assert_allclose(heights[[15, 45]], heights.min(), atol=1e-6)


def test_it_starts_and_ends_at_rest_in_the_posture(robot: Robot, motion: JointTrajectory) -> None:
    posture = [robot.postures["half_sitting"][robot.index_q(name)] for name in motion.joint_names]
    np.testing.assert_allclose(motion.positions[0], posture, atol=1e-9)
    np.testing.assert_allclose(motion.positions[-1], posture, atol=1e-9)
    np.testing.assert_allclose(motion.velocities[[0, -1]], 0.0, atol=1e-9)
    assert motion.times[0] == 0.0
    assert motion.times[-1] == 6.0


def test_velocities_are_the_derivatives_of_the_positions(motion: JointTrajectory) -> None:
    differences = np.gradient(motion.positions, motion.times, axis=0, edge_order=2)
    scale = np.abs(motion.velocities).max()
    np.testing.assert_allclose(motion.velocities[2:-2], differences[2:-2], atol=0.02 * scale)


def test_only_the_pitches_of_the_legs_move(motion: JointTrajectory) -> None:
    moving = np.ptp(motion.positions, axis=0) > 1e-9
    names = {name for name, moves in zip(motion.joint_names, moving, strict=True) if moves}
    assert names == {f"{side}LEG_JOINT{j}" for side in "RL" for j in (2, 3, 4)}


@pytest.mark.parametrize("knee", [2.9, -1.5])
def test_knee_out_of_reach_is_refused(robot: Robot, knee: float) -> None:
    with pytest.raises(InputError, match=r"knee|JOINT"):
        squat_motion(robot, knee=knee, count=1, period=3.0)


def test_robot_without_legs_is_refused(robot: Robot) -> None:
    with pytest.raises(InputError, match="right_leg"):
        squat_motion(replace(robot, limbs={}), knee=1.5, count=1, period=3.0)
