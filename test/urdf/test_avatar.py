# SPDX-License-Identifier: Apache-2.0
"""The human avatar: ball joints where the specification has them, moving as the URDF's revolute triples do."""

import numpy as np
import pinocchio as pin
import pytest
from fixtures.generators import assert_files_are_generated, generator
from numpy.testing import assert_allclose

from humanoid_model import load_robot
from humanoid_model.robot import Robot

pytestmark = pytest.mark.feature("000-F043")


@pytest.fixture(scope="module")
def avatar() -> Robot:
    return load_robot("avatar")


def test_files_equal_the_generators_output() -> None:
    assert_files_are_generated("avatar_generate")


def test_ball_joints_are_shoulders_wrists_hips_and_ankles(avatar: Robot) -> None:
    balls = {name for name in avatar.joint_names if avatar.model.joints[avatar.model.getJointId(name)].nv == 3}
    assert balls == {f"{side}_{joint}" for side in "rl" for joint in ("shoulder", "wrist", "hip", "ankle")}
    assert set(avatar.ball_joints) == balls
    single = [name for name in avatar.joint_names if name not in balls]
    assert all(avatar.model.joints[avatar.model.getJointId(name)].nv == 1 for name in single)
    assert len([name for name in single if "thumb" in name or "index" in name]) == 4
    assert set(avatar.actuators) == set(avatar.joint_names), "fingers too are actuated"


def test_masses_are_clausers_fractions(avatar: Robot) -> None:
    fractions = generator("avatar_generate").MASS
    middle = ("head", "pelvis", "abdomen", "thorax")
    total = sum(value * (1 if name in middle else 2) for name, value in fractions.items())
    assert total == pytest.approx(1.0, abs=1e-12)
    assert sum(fractions[name] for name in middle[1:]) == pytest.approx(0.507)
    assert avatar.total_mass == pytest.approx(75.0, abs=1e-9)
    hands = [
        link.inertial.mass
        for name, link in avatar.description.links.items()
        if name.startswith("r_") and link.inertial
        and name[2:] in ("palm", "thumb", "index", "middle", "ring", "little")
    ]  # fmt: skip
    assert len(hands) == 6
    assert sum(hands) == pytest.approx(0.007 * 75.0)


def test_every_posture_equals_the_revolute_triples(avatar: Robot) -> None:
    """Pinocchio's own reader, which knows no ball joint, finds the same places and torques."""
    script = generator("avatar_generate")
    model = pin.buildModelFromXML(avatar.urdf, pin.JointModelFreeFlyer())
    data, own = model.createData(), avatar.model.createData()
    for name, q in avatar.postures.items():
        angles = pin.neutral(model)
        angles[:7] = q[:7]
        for side, sign in (("r", 1), ("l", -1)):
            for joint, degrees in script.POSTURES.get(name, {}).items():
                turned = sign * degrees if joint.endswith(("_x", "_z")) else degrees
                angles[model.joints[model.getJointId(f"{side}_{joint}")].idx_q] = np.radians(turned)
        pin.framesForwardKinematics(model, data, angles)
        pin.forwardKinematics(avatar.model, own, q)
        for link in avatar.description.links:
            if link.endswith(("_x_link", "_y_link")):
                continue
            attachment = avatar.parts.links[link]
            place = own.oMi[attachment.joint_id] * attachment.placement_joint_link
            expected = data.oMf[model.getFrameId(link, pin.FrameType.BODY)]
            assert_allclose(place.homogeneous, expected.homogeneous, atol=1e-8, err_msg=link)
        # The other reader keeps the gravity torque of single joints.
        ours = pin.computeGeneralizedGravity(avatar.model, own, q)
        theirs = pin.computeGeneralizedGravity(model, data, angles)
        for joint in ("r_knee", "l_elbow", "neck", "r_index_joint"):
            index = model.joints[model.getJointId(joint)].idx_v
            assert ours[avatar.index_v(joint)] == pytest.approx(theirs[index], abs=1e-7)


@pytest.mark.parametrize("posture", ["zero", "standing", "arms_stretched"])
def test_postures_are_balanced(avatar: Robot, posture: str) -> None:
    q = avatar.postures[posture]
    data = avatar.model.createData()
    com = pin.centerOfMass(avatar.model, data, q)
    contact = avatar.contacts["right_sole"]
    foot = data.oMi[avatar.parts.links[contact.link].joint_id]
    sole = np.array([foot.act(vertex) for vertex in contact.vertices_link])
    assert abs(sole[:, 2].min()) < 1e-12
    assert np.ptp(sole[:, 2]) < 1e-9
    assert abs(com[1]) < 1e-9
    assert sole[:, 0].min() + 0.02 < com[0] < sole[:, 0].max() - 0.02
