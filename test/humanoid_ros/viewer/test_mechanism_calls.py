# SPDX-License-Identifier: Apache-2.0
"""What a hand does on the page becomes a command that the mechanism follows as the hand means it."""

from __future__ import annotations

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import MechanismCommand  # noqa: E402

from humanoid_kinematics import load_mechanism  # noqa: E402
from humanoid_kinematics.live.live_mechanism import LiveMechanism  # noqa: E402
from humanoid_ros.kinematics.mechanism_messages import commands  # noqa: E402
from humanoid_ros.viewer.mechanism_calls import drag_target, drive_target  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*E10")


def follow(live: LiveMechanism, target: object, ticks: int = 100) -> None:
    live.give(*commands(MechanismCommand(targets=[target]), live))
    for _ in range(ticks):
        live.tick(0.001)


@pytest.mark.feature("002-F109")
def test_a_held_point_comes_under_the_pointer_and_its_depth_is_free() -> None:
    live = LiveMechanism(load_mechanism("cross"))
    point, eye = np.array([0.02, 0.01, 0.0]), np.array([3.0, -1.0, 1.0])
    to = live.solver.placement("link_5").act(point) + np.array([0.01, 0.02, 0.015])
    follow(live, drag_target("link_5", point, to, eye))
    ray = (to - eye) / np.linalg.norm(to - eye)
    place = live.mechanism.robot.link_placements(live.q)["link_5"]  # by Pinocchio
    away = place.act(point) - eye
    np.testing.assert_allclose(away - ray * (away @ ray), 0.0, atol=1e-6)
    assert live.gap < 1e-9


def test_what_is_in_the_way_of_a_hand_is_named() -> None:
    live = LiveMechanism(load_mechanism("macdac"))
    before, position = live.q, live.solver.placement("link_3").translation
    live.lock(*live.mechanism.robot.joint_names)
    to, eye = position + np.array([0.0, 0.1, 0.1]), position + np.array([3.0, 0.0, 0.0])
    follow(live, drag_target("link_3", np.zeros(3), to, eye))
    hindrances = live.state().in_the_way
    assert hindrances
    assert all(name.startswith("lock of joint_") for name in hindrances)
    np.testing.assert_array_equal(live.q, before)


@pytest.mark.feature("002-F108")
def test_a_tool_is_driven_along_axes_of_the_world_or_its_own() -> None:
    live = LiveMechanism(load_mechanism("redont"))
    tool = live.mechanism.tools[0].name
    begin = live.solver.placement(tool)
    turn = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # of a camera
    follow(live, drive_target(tool, (0.0, -0.1, 0.0, 0.0, 0.0, 0.0), turn), 50)
    np.testing.assert_allclose(live.solver.placement(tool).translation - begin.translation, [0, 0, -0.005], atol=1e-6)
    begin = live.solver.placement(tool)
    follow(live, drive_target(tool, (0.1, 0.0, 0.0, 0.0, 0.0, 0.0), None), 50)
    np.testing.assert_allclose(begin.actInv(live.solver.placement(tool).translation), [0.005, 0.0, 0.0], atol=1e-6)
