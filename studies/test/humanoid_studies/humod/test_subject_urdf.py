# SPDX-License-Identifier: Apache-2.0
import dataclasses
import re
from pathlib import Path

import numpy as np
import pinocchio as pin

from humanoid_model.urdf import read_urdf
from humanoid_studies.humod.subject import SYNTHETIC_SUBJECT
from humanoid_studies.humod.subject_urdf import subject_urdf

SHIPPED = Path(__file__).parents[4] / "urdf" / "syn3p33r.urdf"


def without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->\n", "", text, flags=re.DOTALL)


def test_the_synthetic_lengths_give_the_shipped_robot() -> None:
    assert without_comments(subject_urdf(SYNTHETIC_SUBJECT)) == without_comments(SHIPPED.read_text())


def test_counts_are_those_of_the_specification() -> None:
    robot = read_urdf(subject_urdf(SYNTHETIC_SUBJECT))
    massive = [link for link in robot.links.values() if link.inertial is not None]
    parents = {joint.parent for joint in robot.joints.values()}
    assert len(robot.joints) == 36
    assert (len(massive), len(robot.links)) == (14, 14 + 22 + 1)
    assert {link for link in robot.links if link not in parents} == {
        "head", "lowerArm_R", "lowerArm_L", "foot_R", "foot_L",
    }  # fmt: skip
    assert abs(robot.total_mass - 57.231193) < 1e-6


def test_joints_lie_where_unequal_lengths_put_them() -> None:
    lengths = dict(SYNTHETIC_SUBJECT.lengths) | {"thorax": 0.31, "thigh_L": 0.40}
    offsets = dict(SYNTHETIC_SUBJECT.offsets) | {"SJ_R": np.array([0.01, -0.04, 0.17])}
    subject = dataclasses.replace(SYNTHETIC_SUBJECT, lengths=lengths, offsets=offsets)
    model = pin.buildModelFromXML(subject_urdf(subject))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    places = {name: data.oMi[model.getJointId(name)].translation for name in ("LNJ_x", "SJ_R_x", "AJ_L_x")}
    np.testing.assert_allclose(places["LNJ_x"], [0.0, 0.13 + 0.31, 0.0], atol=1e-12)
    np.testing.assert_allclose(places["SJ_R_x"], [0.01, 0.13 + 0.31 - 0.04, 0.17], atol=1e-12)
    np.testing.assert_allclose(places["AJ_L_x"], [0.0, -0.10 - 0.40 - 0.38, -0.08], atol=1e-12)
