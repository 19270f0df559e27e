# SPDX-License-Identifier: Apache-2.0
"""Transforms of robots with floating, fixed and ball-jointed trees, against Pinocchio's frames."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("geometry_msgs", reason="ROS 2 is not installed")

from humanoid_model import load_robot
from humanoid_ros.messages.conversions import stamp
from humanoid_ros.messages.link_transforms import LinkTransforms


@pytest.mark.parametrize(
    ("name", "floating"),
    [("hrp2", True), ("hrp2", False), ("hrp2_bushing", True), ("avatar", True), ("bip", True)],
)
def test_chain_of_transforms_is_forward_kinematics(name: str, floating: bool) -> None:
    robot = load_robot(name, floating_base=floating)
    model = robot.model
    # A robot fixed to the world is placed there by the scene, not by its own model.
    shift = pin.SE3.Identity() if floating else pin.SE3.Random()
    transforms = LinkTransforms(robot, "world", "left/", shift)
    limits = np.where(np.isfinite(model.upperPositionLimit), model.upperPositionLimit, 1.0)
    q = pin.randomConfiguration(model, -np.abs(limits), np.abs(limits))
    moving = transforms.update(q, stamp(2.5))
    frames = {}
    for message in [*moving, *transforms.fixed]:
        move, turn = message.transform.translation, message.transform.rotation
        values = np.array([move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w])
        assert message.child_frame_id not in frames
        frames[message.child_frame_id] = (message.header.frame_id, pin.XYZQUATToSE3(values))
    assert all(message.header.stamp.sec == 2 for message in moving)

    def placement(frame: str) -> pin.SE3:
        if frame == "world":
            return pin.SE3.Identity()
        parent, local = frames[frame]
        return placement(parent) * local

    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    for link, attachment in robot.parts.links.items():
        np.testing.assert_allclose(
            placement(f"left/{link}").homogeneous,
            (shift * data.oMf[attachment.frame_id]).homogeneous,
            atol=1e-9,
        )
    assert len(frames) == len(robot.description.links) + len(robot.sensors)
    parents = {f"left/{j.child}": f"left/{j.parent}" for j in robot.description.joints.values()}
    for child, parent in parents.items():
        assert frames[child][0] == parent
