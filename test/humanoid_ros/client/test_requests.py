# SPDX-License-Identifier: Apache-2.0
"""Library objects as fields of requests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.msg import ContactPlanRequest, WholeBodyTrajectory
from humanoid_stack.srv import CheckEquilibrium, InverseDynamics
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage

from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_planner.posture import Load
from humanoid_ros.client import HumanoidStack
from humanoid_ros.client.connection import Connection
from humanoid_ros.client.requests import request, trajectory_message


def test_trajectory_message_carries_the_motion() -> None:
    times = np.array([0.0, 0.3, 2.9999999999999996])
    motion = JointTrajectory(("a", "b"), times, np.arange(6.0).reshape(3, 2), np.ones((3, 2)))
    message = trajectory_message(motion)
    assert message.joint_names == ["a", "b"]
    assert [list(point.positions) for point in message.points] == [[0, 1], [2, 3], [4, 5]]
    stamps = [(p.time_from_start.sec, p.time_from_start.nanosec) for p in message.points]
    assert stamps == [(0, 0), (0, 300_000_000), (3, 0)]


def test_a_robot_of_ones_own_is_asked_for_by_its_own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the URDF of a package that it names, which knows no contacts, and that no node may read."""
    urdf = find_resource("urdf/robot_2r_a.urdf")
    (tmp_path / "own.yaml").write_text(f"urdf: {urdf}\npostures:\n  bent: {{joint1: 0.5}}\n")
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def call(self: Connection, kind: object, name: str, message: InverseDynamics.Request, *_: object) -> object:
        asked.append(message.robot)
        return InverseDynamics.Response(success=True)

    monkeypatch.setattr(Connection, "call", call)
    for robot in ("own.yaml", "robot_2r_a"):
        with HumanoidStack(robot) as stack:
            stack.inverse_dynamics({"joint1": 0.0})
    assert asked == [str(tmp_path.resolve() / "own.yaml"), "robot_2r_a"]


def test_messages_stay_as_they_are() -> None:
    message = JointTrajectoryMessage(joint_names=["a"])
    assert trajectory_message(message) is message
    assert trajectory_message(WholeBodyTrajectory(joints=message)) == message


def test_fields_are_written_as_messages() -> None:
    asked = request(
        CheckEquilibrium.Request,
        None,
        {"centre_of_mass": (0.1, 0.2, 0.3), "loads": [Load("HAND", [0.0, 0.0, -5.0], [0.1, 0.0, 0.0])], "method": 2},
    )
    assert (asked.centre_of_mass.x, asked.centre_of_mass.z) == (0.1, 0.3)
    (load,) = asked.loads
    assert (load.link, load.wrench.force.z, load.point.x) == ("HAND", -5.0, 0.1)
    assert asked.method == 2


def test_messages_in_messages_are_written_by_their_fields() -> None:
    wanted = {"goal": [{"name": "up", "target": (1.0, 2.0, 3.0)}], "candidates": {"headings": [0.5]}, "seed": 7}
    asked = request(ContactPlanRequest, None, wanted)
    (task,) = asked.goal
    assert (task.name, task.target.z, list(asked.candidates.headings), asked.seed) == ("up", 3.0, [0.5], 7)
    with pytest.raises(InputError, match="goal: there is no field 'aim'"):
        request(ContactPlanRequest, None, {"goal": [{"aim": 1}]})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"centre": 1.0}, "centre: there is no field 'centre'. Known are: robot, scene"),
        ({"use_posture": "yes"}, "use_posture: is 'yes'. Give what fits boolean."),
        ({"centre_of_mass": "middle"}, "centre_of_mass: is 'middle'. Give what fits geometry_msgs/Point."),
    ],
)
def test_what_does_not_fit_is_refused(fields: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError) as refused:
        request(CheckEquilibrium.Request, None, fields)
    assert problem in str(refused.value)
