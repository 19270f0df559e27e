# SPDX-License-Identifier: Apache-2.0
"""BIP's screws map motors to joints and back, as closed forms, finite differences and the mechanisms themselves say."""

import math

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.screw_drive import Screw, ScrewDrive, bip_drives
from humanoid_model import InputError

RANGES = {  # degrees, published
    "ankle": ((-45, 45), (-20, 20)), "knee": ((0, 90),), "hip": ((-75, 20),), "trunk": ((-20, 10), (-10, 10))
}  # fmt: skip
DRIVES = bip_drives()


def postures(name, count=12, seed=1):
    low, high = np.radians(RANGES[name]).T
    return np.random.default_rng(seed).uniform(low, high, size=(count, len(low)))


@pytest.mark.parametrize(("name", "angle", "rod"), [("knee", -35.78, 106.2), ("hip", 35.0, 150.4)])
def test_one_screw_closes_its_triangle(name, angle, rod):
    tilt = math.radians(2.51)
    for (joint,) in postures(name):
        lever = math.radians(angle) + joint + tilt  # from the height of the screw, whose line is 49 mm off
        off, along = 55 * math.cos(lever) - 49, 55 * math.sin(lever)
        assert 1000 * DRIVES[name].nuts([joint])[0] == pytest.approx(along + math.sqrt(rod**2 - off**2), abs=1e-9)


@pytest.mark.parametrize("name", ["knee", "hip"])
def test_nuts_and_levers_of_the_mechanisms_are_a_rod_apart(name):
    mechanism = load_mechanism(f"bip_{name}")
    robot, drive = mechanism.robot, DRIVES[name]
    q = mechanism.initial.copy()
    for joint in postures(name):
        q[robot.index_q("joint_1")], q[robot.index_q("joint_2")] = joint[0], drive.nuts(joint)[0]
        places = robot.link_placements(q)
        between = places["link_2"].translation - places["frame_4"].translation
        assert np.linalg.norm(between) == pytest.approx(drive.screws[0].rod, abs=1e-8)
    limits = [robot.limits.lower[0], robot.limits.upper[0]]
    assert np.degrees(limits) == pytest.approx(RANGES[name][0])


def ankle(posture):
    """The ankle's mechanism in a posture of its file: its model, q, drive, joints and screws in q."""
    robot = load_mechanism("bip_ankle").robot
    names = ["l_ankle_pitch", "l_ankle_roll", "l_ankle_right_screw", "l_ankle_left_screw"]
    indices = [robot.index_q(name) for name in names]
    return robot, robot.posture(posture), indices


@pytest.mark.parametrize("posture", ["toes_down", "outer_edge_up", "both"])
def test_the_ankle_is_the_mechanism_of_its_urdf(posture):
    robot, q, indices = ankle(posture)
    drive = DRIVES["ankle"]
    moved = drive.nuts(q[indices[:2]]) - drive.nuts(np.zeros(2))
    assert moved == pytest.approx(q[indices[2:]], abs=1e-9)  # the file rounds to 9 digits
    # Speeds and forces, from the loops' own Jacobian: what the cut ball joints let pass.
    model = robot.model
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    rows = []
    for loop in robot.loops:
        ends = []
        for link, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b)):
            at = robot.parts.links[link]
            ends.append(pin.getFrameJacobian(model, data, at.joint_id, at.placement_joint_link * placement,
                                             pin.LOCAL_WORLD_ALIGNED)[:3])  # fmt: skip
        rows.append(ends[0] - ends[1])
    _, values, turned = np.linalg.svd(np.vstack(rows))
    assert values[-1] > 1e-3
    free = turned[len(values) :].T
    joints, screws = free[indices[:2]], free[indices[2:]]
    assert drive.jacobian(q[indices[:2]]) == pytest.approx(screws @ np.linalg.inv(joints), abs=1e-8)
    forces = np.array([800.0, -300.0])
    torques = drive.joint_torques(q[indices[:2]], forces)
    assert joints.T @ torques == pytest.approx(screws.T @ forces, abs=1e-5)


@pytest.mark.parametrize("name", DRIVES)
def test_jacobians_are_finite_differences(name):
    drive, step = DRIVES[name], 1e-6
    for joints in postures(name):
        columns = [
            (drive.nuts(joints + step * unit) - drive.nuts(joints - step * unit)) / (2 * step)
            for unit in np.eye(len(joints))
        ]
        assert drive.jacobian(joints) == pytest.approx(np.column_stack(columns), abs=1e-8)


@pytest.mark.parametrize("name", DRIVES)
def test_there_and_back_is_the_same_posture(name):
    drive = DRIVES[name]
    for joints in postures(name):
        start = joints + 0.1
        assert drive.joints(drive.nuts(joints), start) == pytest.approx(joints, abs=1e-10)
        assert drive.joints_of_motors(drive.motors(joints), start) == pytest.approx(joints, abs=1e-10)
    assert drive.motors(np.zeros(len(joints))) == pytest.approx(0)


@pytest.mark.parametrize("name", DRIVES)
def test_motors_give_the_power_that_the_joints_take(name):
    drive = DRIVES[name]
    for joints, torques, speeds in zip(postures(name), *np.random.default_rng(3).normal(size=(2, 12, 2)), strict=False):
        torques, speeds = torques[: len(joints)], speeds[: len(joints)]
        leads = np.array([screw.lead for screw in drive.screws])
        motors = 2 * math.pi / leads * (drive.jacobian(joints) @ speeds)
        assert drive.motor_torques(joints, torques) @ motors == pytest.approx(torques @ speeds)
        assert drive.joint_torques(joints, drive.forces(joints, torques)) == pytest.approx(torques)


def test_equal_screws_pitch_the_foot_and_opposite_ones_roll_it():
    drive = DRIVES["ankle"]
    zero = drive.nuts(np.zeros(2))
    pitch, roll = drive.joints(zero + 0.01, np.zeros(2))
    assert roll == pytest.approx(0, abs=1e-12)
    assert pitch > 0.1  # both nuts up: the heel comes up, the toes go down
    pitch, roll = drive.joints(zero + np.array([0.005, -0.005]), np.zeros(2))
    assert roll < -0.1
    assert abs(pitch) < 0.01


def test_what_can_not_be_reached_is_refused():
    knee = DRIVES["knee"]
    with pytest.raises(InputError, match=r"no angles of the joints for nuts at 500.00 mm. Give places within"):
        knee.joints(np.array([0.5]), np.array([0.5]))
    y, z = np.eye(3)[1:]
    short = ScrewDrive([y], [Screw(np.array([-0.2, 0, 0]), z, np.array([-0.05, 0, 0]), 0.1, 0.003)])
    with pytest.raises(InputError, match=r"rod 0 of 100.0 mm doesn't reach its lever 150.0 mm off the screw"):
        short.nuts(np.zeros(1))
    dead = ScrewDrive([y], [Screw(np.array([0.0, 0, 0]), z, np.array([0.0, 0, 0.05]), 0.1, 0.003)])
    with pytest.raises(InputError, match="a lever is in line with its rod"):
        dead.forces(np.zeros(1), np.ones(1))
    with pytest.raises(InputError, match="1 screws for 2 joints"):
        ScrewDrive([y, z], knee.screws)
