# SPDX-License-Identifier: Apache-2.0
"""What is drawn of a gait is its trajectory."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from humanoid_stack.msg import Gait
from visualization_msgs.msg import Marker

from humanoid_model import load_robot
from humanoid_ros.gait_generator.gait_markers import footprints, gait_markers, sole_forces
from humanoid_ros.messages.conversions import array

SCALE = 1e-3


def test_soles_carry_the_forces_of_their_corners(gait: Gait) -> None:
    links, at, forces = sole_forces(gait.trajectory)
    assert len(links) == 2
    wanted = [sum(one.force.z for one in item.contacts) for item in gait.trajectory.forces]
    np.testing.assert_allclose(forces[:, :, 2].sum(axis=1), wanted)
    points = np.array([array(point) for point in gait.trajectory.zero_moment_point])
    pressed = (forces[:, :, 2, None] * at).sum(axis=1) / forces[:, :, 2].sum(axis=1)[:, None]
    np.testing.assert_allclose(pressed[:, :2], points[:, :2], atol=5e-3)


def test_markers_are_forces_prints_and_the_way(gait: Gait) -> None:
    robot = load_robot("hrp2", geometry=False)
    markers = gait_markers(gait.trajectory, robot, "odom", Time(sec=3), 5, SCALE).markers
    assert markers[0].action == Marker.DELETEALL
    assert {(marker.header.frame_id, marker.header.stamp.sec) for marker in markers} == {("odom", 3)}
    (way,) = [marker for marker in markers if marker.ns == "base"]
    assert [array(point).tolist() for point in way.points] == [
        array(pose.position).tolist() for pose in gait.trajectory.base
    ]
    prints = footprints(gait.trajectory, robot)
    # The last landing ends the motion.
    assert len(prints) == len([marker for marker in markers if marker.ns == "footprints"]) == 4
    middles = np.array(sorted(outline.mean(axis=0).tolist() for outline in prints))
    np.testing.assert_allclose(np.diff(middles[:, 0]), 0.2, atol=0.02)
    np.testing.assert_allclose(middles[:, 2], 0.0, atol=1e-4)  # the solver's tolerance
    _, at, forces = sole_forces(gait.trajectory)
    arrows = [marker for marker in markers if marker.ns == "foot_forces"]
    assert 5 <= len(arrows) <= 10
    ends = array(arrows[0].points[0]), array(arrows[0].points[1])
    np.testing.assert_allclose(ends[0], at[0, 0])
    np.testing.assert_allclose(ends[1], at[0, 0] + SCALE * forces[0, 0])
