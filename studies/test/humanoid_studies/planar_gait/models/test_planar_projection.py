# SPDX-License-Identifier: Apache-2.0
"""Robots of any URDF as planar mechanisms: HRP-2's 14 lateral joints, RABBIT and the five-bar from their URDFs."""

import math
import re

import numpy as np
import pinocchio as pin
import pytest
from fixtures.gait_models import FIVE_BAR, RABBIT

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.mechanism.lagrange import constrained_acceleration
from humanoid_studies.planar_gait.mechanism.loop_cut import choose_cuts
from humanoid_studies.planar_gait.mechanism.open_mechanism import open_mechanism
from humanoid_studies.planar_gait.models.planar_projection import planar_mechanism


@pytest.mark.parametrize(("name", "posture"), [("hrp2", "half_sitting"), ("bip", "standing"), ("avatar", "zero")])
def test_free_robots_have_the_energies_that_pinocchio_tells(name, posture):
    robot = load_robot(name)
    mechanism = planar_mechanism(robot, posture)
    model = open_mechanism(mechanism, ())
    assert mechanism.kind == "open"
    assert model.tree.mass == pytest.approx(robot.total_mass)
    reference = robot.postures[posture]
    assert (robot.model.armature > 0.0).any()
    data = robot.model.createData()
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v = rng.uniform(-2.0, 2.0, model.n), rng.normal(size=model.n)
        full, velocity = reference.copy(), np.zeros(robot.model.nv)
        for joint, angle, rate in zip(model.joint_names, model.robot_angles(q), model.robot_rates(v), strict=True):
            full[robot.index_q(joint)], velocity[robot.index_v(joint)] = angle, rate
        turn = pin.SE3(pin.rpy.rpyToMatrix(0.0, -q[2], 0.0), np.array([q[0], 0.0, q[1]]))
        base = turn * robot.placement_base(reference)
        full = robot.place_base(full, base)
        spin = np.array([0.0, -v[2], 0.0])
        speed = np.array([v[0], 0.0, v[1]]) + np.cross(spin, base.translation - turn.translation)
        velocity[:6] = np.concatenate([base.rotation.T @ speed, base.rotation.T @ spin])
        inertia = pin.crba(robot.model, data, full)  # with the rotors, which the kinetic energy of some versions lacks
        kinetic = 0.5 * velocity @ (np.triu(inertia) + np.triu(inertia, 1).T) @ velocity
        assert kinetic == pytest.approx(0.5 * v @ model.tree.momentum(q, v), rel=1e-9)
        assert pin.computePotentialEnergy(robot.model, data, full) == pytest.approx(model.tree.potential(q), rel=1e-9)


def test_hrp2_moves_its_lateral_joints_alone():
    mechanism = planar_mechanism(load_robot("hrp2"))
    names = {pivot.name for pivot in mechanism.pivots}
    assert {"RLEG_JOINT2", "RLEG_JOINT3", "RLEG_JOINT4", "LARM_JOINT3", "CHEST_JOINT1"} <= names
    assert not names & {"RLEG_JOINT0", "RLEG_JOINT1", "RLEG_JOINT5", "CHEST_JOINT0"}
    legs = ("RLEG_JOINT2", "RLEG_JOINT3", "RLEG_JOINT4", "LLEG_JOINT2", "LLEG_JOINT3", "LLEG_JOINT4")
    assert len(planar_mechanism(load_robot("hrp2"), moving=legs).links) == 7


def test_five_bar():
    mechanism = planar_mechanism(load_robot("five_bar"))
    assert mechanism.kind == "bilateral"
    assert choose_cuts(mechanism) == ("O3",)
    model, expected = open_mechanism(mechanism, ("O5",)), FIVE_BAR.phase()
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-3, 3, 4), rng.normal(size=4)
    # All bars lie along X at zero, so that the angles are the thesis'.
    np.testing.assert_allclose(model.tree.mass_matrix(q), expected.tree.mass_matrix(q), atol=1e-8)
    np.testing.assert_allclose(model.tree.potential_gradient(q), expected.tree.potential_gradient(q), atol=1e-7)
    np.testing.assert_allclose(model.closure(q), expected.closure(q), atol=1e-12)
    np.testing.assert_allclose(model.robot_angles(q)[:4], -expected.tree.relative_angles(q), atol=1e-15)
    u = rng.normal(size=6)
    assert model.robot_torques(u) @ model.robot_rates(v) == pytest.approx(u[:4] @ model.torque_rates(v))


def test_rabbit_on_its_two_tips():
    robot = load_robot("rabbit")
    mechanism = planar_mechanism(robot, contacts={"rear_tip": 0.0, "front_tip": 0.45})
    assert mechanism.kind == "unilateral"
    assert choose_cuts(mechanism) == ("front_tip",)
    model, expected = open_mechanism(mechanism), RABBIT.double_support(0.45)
    q = np.array([0.894567, 1.816106, -0.853506, -1.486040, 1.570796])
    G = expected.closure_jacobian(q)
    v = np.array([-0.7, -1.9, 0.3, -2.7, 0.2])
    v -= np.linalg.pinv(G) @ (G @ v)
    # The URDF's reference has the trunk up and the legs straight down: the thesis' rear leg points up then, at pi / 2.
    order = [expected.tree.index(name) for name in model.tree.coordinates]
    zero = np.array([np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, np.pi / 2])
    own, rates = (q - zero)[order], v[order]
    np.testing.assert_allclose(model.closure(own), expected.closure(q), atol=1e-12)
    np.testing.assert_allclose(
        model.tree.mass_matrix(own), expected.tree.mass_matrix(q)[np.ix_(order, order)], atol=1e-8
    )
    torques = dict(zip(("rear_knee", "rear_hip", "front_hip", "front_knee"), [-30.0, -4.0, -2.0, 20.0], strict=True))
    acceleration, force = constrained_acceleration(expected, q, v, list(torques.values()))
    signs = {"rear_knee": 1, "rear_hip": 1, "front_hip": -1, "front_knee": -1}  # of the thesis' torque in the robot's
    found, again = constrained_acceleration(
        model, own, rates, [-signs[t.name] * torques[t.name] for t in model.torques]
    )
    np.testing.assert_allclose(found, acceleration[order], atol=1e-5)
    np.testing.assert_allclose(again, force, atol=1e-5)
    lower = dict(zip(model.control_names, model.control_lower, strict=True))
    assert lower["F_front_tip_y"] == 0.0
    assert lower["F_front_tip_x"] == -math.inf


def test_what_is_refused(tmp_path):
    hrp2 = load_robot("hrp2")
    with pytest.raises(InputError, match="unknown joint 'TAIL'"):
        planar_mechanism(hrp2, moving=("TAIL",))
    with pytest.raises(InputError, match="joint 'RLEG_JOINT0' doesn't turn about the lateral axis"):
        planar_mechanism(hrp2, moving=("RLEG_JOINT0",))
    with pytest.raises(InputError, match="joint 'base_pitch' doesn't turn about the lateral axis, or is the base's"):
        planar_mechanism(load_robot("rabbit"), moving=("base_pitch",))
    with pytest.raises(InputError, match="unknown contact 'tail'"):
        planar_mechanism(hrp2, contacts={"tail": 0.0})
    for ending in ("urdf", "yaml"):
        text = find_resource(f"urdf/five_bar.{ending}").read_text().replace("rows: [x, z]", "rows: [x, y]")
        (tmp_path / f"five_bar.{ending}").write_text(text)
    with pytest.raises(InputError, match=re.escape("loop 'O5': holds x, y: no pin in the sagittal plane")):
        planar_mechanism(load_robot(tmp_path / "five_bar.urdf"))
