# SPDX-License-Identifier: Apache-2.0
"""A phantom stands where it is told to, translucent, beside a mechanism that stands elsewhere."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_ros.viewer.mechanisms.phantom import OPACITY, Phantom
from humanoid_ros.viewer.page import Page


@pytest.mark.feature("002-F181")
def test_joints_that_are_told_move_it_and_the_others_stay_with_the_mechanism(page: Page) -> None:
    mechanism = load_mechanism("puma")
    phantom = Phantom(page.server.scene, "/mechanisms/puma", mechanism)
    q, base = mechanism.initial.copy(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5]))
    phantom.tell({"joint_2": 0.3, "joint_3": float("nan"), "hatch": 1.0})
    phantom.draw(q, base)
    q[mechanism.robot.index_q("joint_2")] = 0.3
    expected = mechanism.robot.link_placements(q)
    for link, node in phantom._drawing._nodes.items():
        np.testing.assert_allclose(node.position, base.act(expected[link].translation), atol=1e-9)
    assert all(shape.opacity == OPACITY for shapes in phantom._drawing._shapes.values() for shape, _ in shapes)
