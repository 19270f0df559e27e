# SPDX-License-Identifier: Apache-2.0
"""Velocities and accelerations of robots along made-up motions of the planar models, against differences."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.gait_models import BIP, RABBIT

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.models.sagittal_projection import project_to_sagittal_plane
from humanoid_studies.planar_gait.trajectory.robot_motion import PlanarRootMotion, ProjectedMotion, sole_of


def off_the_hips(folder):
    """The planar BIP with its trunk's frame, that of its base, ahead of the hips and above them."""
    text = find_resource("urdf/bip_planar.urdf").read_text()
    for side in ("rear", "front"):
        start = text.index(f'<joint name="{side}_hip"')
        end = text.index("</joint>", start)
        text = text[:start] + text[start:end].replace("0 0 0", "-0.1 0 -0.2") + text[end:]
    (folder / "off.urdf").write_text(text)
    (folder / "off.yaml").write_text(find_resource("urdf/bip_planar.yaml").read_text())
    return load_robot(folder / "off.urdf")


@pytest.fixture(scope="module")
def motions(tmp_path_factory):
    return {
        "rabbit": PlanarRootMotion(load_robot("rabbit")),
        "bip_planar": PlanarRootMotion(load_robot("bip_planar")),
        "off": ProjectedMotion(project_to_sagittal_plane(off_the_hips(tmp_path_factory.mktemp("off")))),
        "bip": ProjectedMotion(project_to_sagittal_plane(load_robot("bip"))),
        "hrp2": ProjectedMotion(project_to_sagittal_plane(load_robot("hrp2")), "left_leg"),
    }


@pytest.mark.parametrize("name", ["rabbit", "bip_planar", "off", "bip", "hrp2"])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("double", [False, True])
def test_rates_are_differences(motions, name, swap, double):
    motion = motions[name]
    mechanism = RABBIT if name == "rabbit" else BIP
    model = mechanism.double_support(0.5) if double else mechanism.single_support()
    rng = np.random.default_rng(4)
    step = 1e-4
    for _ in range(3):
        q0 = np.array([1.2, 1.8, -1.2, -1.9, -0.7, 1.3])[: model.n] if not double else np.zeros(model.n)
        q0 = q0 + rng.uniform(-0.2, 0.2, model.n)
        v0, acceleration = rng.normal(size=model.n) * 3.0, rng.normal(size=model.n) * 20.0
        t = np.array([-step, 0.0, step])[:, None]
        q, v = q0 + t * v0 + 0.5 * t**2 * acceleration, v0 + t * acceleration
        states = motion.states(model, q, v, np.tile(acceleration, (3, 1)), np.array([0.4, -0.1]), swap)
        speed = pin.difference(motion.robot.model, states.q[0], states.q[2]) / (2 * step)
        np.testing.assert_allclose(speed, states.v[1], atol=1e-5)
        np.testing.assert_allclose((states.v[2] - states.v[0]) / (2 * step), states.acceleration[1], atol=1e-4)
        np.testing.assert_allclose((states.base[2] - states.base[0]) / (2 * step), states.base_velocity[1], atol=1e-5)
        rate = (states.base_velocity[2] - states.base_velocity[0]) / (2 * step)
        np.testing.assert_allclose(rate, states.base_acceleration[1], atol=1e-4)
        # Knees are where the models have them, on the leg that has the part.
        data = motion.robot.model.createData()
        pin.forwardKinematics(motion.robot.model, data, states.q[1])
        parts = ("rear", "front") if double else ("stance", "swing")
        for part, leg in zip(parts, motion.legs[::-1] if swap else motion.legs, strict=True):
            knee = next(joint for joint in motion.robot.limbs[leg] if joint in KNEES)
            if name in ("rabbit", "bip_planar", "off"):
                place = data.oMi[motion.robot.model.getJointId(knee)].translation[[0, 2]]
                planar = model.points[f"{part}_knee"].position(q[1]) + np.array([0.4, -0.1])
                np.testing.assert_allclose(place, planar, atol=1e-7)


KNEES = ("rear_knee", "front_knee", "r_knee", "l_knee", "RLEG_JOINT3", "LLEG_JOINT3")


def test_legs_and_soles(motions):
    assert (motions["bip"].legs, motions["bip"].soles) == (("right_leg", "left_leg"), ("right_sole", "left_sole"))
    assert (motions["hrp2"].legs, motions["hrp2"].soles) == (("left_leg", "right_leg"), ("left_sole", "right_sole"))
    assert sole_of(load_robot("rabbit"), "front_leg") == "front_tip"
    with pytest.raises(InputError, match="limb 'left_arm': ends in no support contact"):
        sole_of(load_robot("hrp2"), "left_arm")
