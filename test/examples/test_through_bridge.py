# SPDX-License-Identifier: Apache-2.0
"""What an example says of a bridge that doesn't move its robot, or moves it late."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from examples import through_bridge
from examples.through_bridge import play_through_bridge
from humanoid_model import HumanoidError

pytestmark = pytest.mark.feature("000-F028")


class Stack:
    """A stack whose bridge tells what is given, among so many simulators."""

    def __init__(self, simulators: int, message: str = "") -> None:
        self.node = SimpleNamespace(
            get_publishers_info_by_topic=lambda topic: [topic] * simulators, create_subscription=lambda *_: None
        )
        self.robot = None
        self.state = SimpleNamespace(velocities={"knee": 0.0})
        self.stand = self.run = lambda _: None
        self.execute = lambda _, progress: SimpleNamespace(message=message, max_joint_error=0.0)


def test_a_bridge_that_doesnt_move_says_why_and_late_windows_name_the_pace(monkeypatch, capsys) -> None:
    monkeypatch.setattr(through_bridge, "whole_body_message", lambda motion, frame: motion)
    told = "time went back; windows came too late 3 times"
    with pytest.raises(HumanoidError, match="The bridge didn't move: time went back"):
        play_through_bridge(Stack(1, told), SimpleNamespace(duration=1.0))
    assert "--pace 0.5" in capsys.readouterr().out
