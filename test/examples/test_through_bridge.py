# SPDX-License-Identifier: Apache-2.0
"""A stack that an example starts is alone in its ROS domain, or says that it isn't."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from examples import through_bridge
from examples.through_bridge import check_alone, own_domain, play_through_bridge
from humanoid_model import HumanoidError

pytestmark = pytest.mark.feature("000-F028")


@pytest.fixture
def _unchosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)


def listener(domain: int, offset: int) -> socket.socket:
    """Somebody at a port of a domain."""
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.bind(("127.0.0.1", 7400 + 250 * domain + offset))
    return found


@pytest.mark.usefixtures("_unchosen")
def test_a_domain_with_somebody_in_it_is_left_alone(monkeypatch, capsys) -> None:
    """Domains above 100 are those of no test."""
    monkeypatch.setattr(through_bridge, "DOMAINS", range(110, 120))
    with listener(110, 0), listener(111, 15), own_domain() as domain:
        assert domain >= 112
        assert os.environ["ROS_DOMAIN_ID"] == str(domain)
    assert "ROS_DOMAIN_ID" not in os.environ
    assert f"takes ROS_DOMAIN_ID={domain}" in capsys.readouterr().out


@pytest.mark.usefixtures("_unchosen")
def test_without_a_free_domain_it_says_so(monkeypatch) -> None:
    monkeypatch.setattr(through_bridge, "DOMAINS", range(121, 122))
    with listener(121, 1), pytest.raises(HumanoidError, match="Each ROS domain has somebody in it"), own_domain():
        pass


def test_a_domain_that_the_user_has_chosen_is_taken(monkeypatch, capsys) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "123")
    with listener(123, 0), own_domain() as domain:
        assert domain == 123
    assert os.environ["ROS_DOMAIN_ID"] == "123"
    assert capsys.readouterr().out == ""


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


def test_a_second_simulator_is_told_of(monkeypatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")
    check_alone(Stack(1))
    with pytest.raises(HumanoidError, match="Another simulator runs in ROS domain 7"):
        check_alone(Stack(2))


def test_a_bridge_that_doesnt_move_says_why_and_late_windows_name_the_pace(monkeypatch, capsys) -> None:
    monkeypatch.setattr(through_bridge, "whole_body_message", lambda motion, frame: motion)
    told = "time went back; windows came too late 3 times"
    with pytest.raises(HumanoidError, match="The bridge didn't move: time went back"):
        play_through_bridge(Stack(1, told), SimpleNamespace(duration=1.0))
    assert "--pace 0.5" in capsys.readouterr().out
