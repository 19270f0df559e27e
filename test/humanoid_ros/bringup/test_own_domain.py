# SPDX-License-Identifier: Apache-2.0
"""A stack that is started is alone in its ROS domain, or says that it isn't."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_model import HumanoidError
from humanoid_ros.bringup import own_domain

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
    monkeypatch.setattr(own_domain, "DOMAINS", range(110, 120))
    with listener(110, 0), listener(111, 15), own_domain.own_domain() as domain:
        assert domain >= 112
        assert os.environ["ROS_DOMAIN_ID"] == str(domain)
    assert "ROS_DOMAIN_ID" not in os.environ
    assert f"takes ROS_DOMAIN_ID={domain}" in capsys.readouterr().out


@pytest.mark.usefixtures("_unchosen")
def test_without_a_free_domain_it_says_so(monkeypatch) -> None:
    monkeypatch.setattr(own_domain, "DOMAINS", range(121, 122))
    problem = "Each ROS domain has somebody in it"
    with listener(121, 1), pytest.raises(HumanoidError, match=problem), own_domain.own_domain():
        pass


def test_a_domain_that_the_user_has_chosen_is_taken(monkeypatch, capsys) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "123")
    with listener(123, 0), own_domain.own_domain() as domain:
        assert domain == 123
    assert os.environ["ROS_DOMAIN_ID"] == "123"
    assert capsys.readouterr().out == ""


def among(simulators: int) -> SimpleNamespace:
    """A node that finds so many simulators."""
    return SimpleNamespace(get_publishers_info_by_topic=lambda topic: [topic] * simulators)


def test_a_second_simulator_is_told_of(monkeypatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "7")
    own_domain.check_alone(among(1))
    with pytest.raises(HumanoidError, match="Another simulator runs in ROS domain 7"):
        own_domain.check_alone(among(2))
