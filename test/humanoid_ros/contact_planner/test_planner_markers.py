# SPDX-License-Identifier: Apache-2.0
"""Markers of a posture: what is drawn, where, and that nothing of the last answer stays."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from humanoid_stack.msg import ContactForce
from visualization_msgs.msg import Marker

from humanoid_model import load_robot
from humanoid_ros.contact_planner.planner_markers import FAILED, FOUND, ShownPosture, posture_markers
from humanoid_ros.messages.conversions import array, fill_vector, placement

SQUARE = np.array([[0.0, 0.0, 0.1], [1.0, 0.0, 0.1], [1.0, 1.0, 0.1], [0.0, 1.0, 0.1]])


def force(z: float, friction: float = 0.5) -> ContactForce:
    message = ContactForce(friction=friction)
    fill_vector(message.position, (0.1, 0.2, 0.3))
    fill_vector(message.normal, (0.0, 0.0, 1.0))
    fill_vector(message.force, (10.0, 0.0, z))
    return message


@pytest.fixture(scope="module")
def shown() -> ShownPosture:
    robot = load_robot("hrp2")
    com = np.array([0.3, 0.4, 0.8])
    q = np.array(robot.postures["squat"])
    return ShownPosture(robot, q, [SQUARE, SQUARE[:1]], [force(100.0), force(-50.0)], com, SQUARE, True, "fine")


def markers(shown: ShownPosture) -> dict[str, list[Marker]]:
    found: dict[str, list[Marker]] = {}
    array = posture_markers(shown, "world", Time(sec=3), cone_scale=0.002, arrow_scale=0.001)
    assert array.markers[0].action == Marker.DELETEALL
    assert {marker.header.frame_id for marker in array.markers} == {"world"}
    assert {marker.header.stamp.sec for marker in array.markers} == {3}
    for marker in array.markers[1:]:
        found.setdefault(marker.ns, []).append(marker)
    for group in found.values():
        assert len({marker.id for marker in group}) == len(group)
    return found


def test_the_robot_stands_in_its_posture(shown: ShownPosture) -> None:
    ghost = markers(shown)["posture"]
    visuals = [(link.name, visual) for link in shown.robot.description.links.values() for visual in link.visuals]
    assert shown.q is not None
    placements = shown.robot.link_placements(shown.q)
    capsules = len(ghost) - len(visuals)  # of a capsule there are three markers
    assert capsules >= 0
    name, visual = visuals[0]
    expected = placements[name] * visual.placement
    assert placement(ghost[0].pose, "pose").isApprox(expected, 1e-9)
    assert all(marker.color == FOUND for marker in ghost)
    failed = markers(dataclasses.replace(shown, good=False))["posture"]
    assert all(marker.color == FAILED for marker in failed)


def test_patches_forces_and_cones(shown: ShownPosture) -> None:
    found = markers(shown)
    face, dot = found["contact_patches"]
    np.testing.assert_array_equal([array(p) for p in face.points], [*SQUARE, SQUARE[0]])
    assert (face.type, dot.type) == (Marker.LINE_STRIP, Marker.SPHERE_LIST)
    push, pull = found["contact_forces"]
    np.testing.assert_allclose(array(push.points[1]) - array(push.points[0]), [0.01, 0.0, 0.1])
    np.testing.assert_allclose(array(pull.points[1]) - array(pull.points[0]), [0.01, 0.0, -0.05])
    (cone,) = found["friction_cones"]  # a grasp that pulls has none
    np.testing.assert_allclose(array(cone.points[0]) - array(cone.points[1]), [0.0, 0.0, 0.2])
    assert cone.scale.y == pytest.approx(2.0 * 0.5 * 0.2)  # diameter of the half-angle atan 0.5


def test_balance_and_text(shown: ShownPosture) -> None:
    found = markers(shown)
    ball, mark, _ = found["centre_of_mass"]
    np.testing.assert_allclose(array(ball.pose.position), shown.centre_of_mass)
    np.testing.assert_allclose(array(mark.pose.position)[:2], shown.centre_of_mass[:2])
    assert abs(mark.pose.position.z - 0.1) < 0.01
    (polygon,) = found["support_polygon"]
    assert len(polygon.points) == 5
    assert found["margins"][0].text == "fine"


def test_what_is_not_known_is_not_drawn(shown: ShownPosture) -> None:
    bare = dataclasses.replace(shown, q=None, patches=[], forces=[], support_polygon=np.zeros((0, 3)), text="")
    assert set(markers(bare)) == {"centre_of_mass"}
