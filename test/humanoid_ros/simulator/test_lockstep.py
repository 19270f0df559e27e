# SPDX-License-Identifier: Apache-2.0
"""Simulated time waits for commands that were promised, and no longer than it is told to."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from sensor_msgs.msg import TimeReference

from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import stamp
from humanoid_ros.simulator.lockstep import Lockstep

pytestmark = pytest.mark.feature("000-F029")

DT = 1e-3
FREE = 1000
"""So many steps and more: nobody is waited for."""


class Bench:
    """Two controllers that move, and what they are promised."""

    def __init__(self) -> None:
        self.servers = [
            SimpleNamespace(name=name, newest=-1.0, controller=SimpleNamespace(moving=True))
            for name in ("left", "right")
        ]
        self.warnings: list[str] = []
        servers: Any = self.servers
        self.commands = SimpleNamespace(name="commands", due=math.inf, awaited=False)
        commands: Any = [self.commands]
        self.lockstep = Lockstep(servers, commands, self.warnings.append)

    def promise(self, name: str, start: float, until: float) -> None:
        message = TimeReference(source=name, time_ref=stamp(until))
        message.header.stamp = stamp(start)
        self.lockstep.promise(message)

    def room(self, now: float, patience: float = 60.0) -> int:
        return self.lockstep.room(now, DT, patience)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_time_goes_as_far_as_the_last_trajectory_leads(bench: Bench) -> None:
    assert bench.room(0.0) > FREE
    bench.promise("left", 1.0, 1.06)
    bench.servers[0].newest = 1.0
    assert bench.room(1.0) == 60
    assert bench.room(1.0594) == 0
    assert bench.lockstep.waits
    bench.promise("left", 1.05, 1.11)
    bench.servers[0].newest = 1.05
    assert bench.room(1.06) == 50
    assert not bench.lockstep.waits


def test_a_promise_counts_when_its_trajectory_is_there(bench: Bench) -> None:
    """Whichever comes first: messages of two topics may overtake each other."""
    bench.promise("left", 1.0, 1.06)
    assert bench.room(1.0) > FREE
    bench.servers[0].newest = 1.0
    bench.promise("left", 1.05, 1.2)
    assert bench.room(1.06) == 0
    bench.servers[0].newest = 1.05
    assert bench.room(1.06) == 140


def test_the_controller_that_is_led_least_counts_and_one_at_rest_does_not(bench: Bench) -> None:
    for server, until in zip(bench.servers, (1.2, 1.1), strict=True):
        bench.promise(server.name, 1.0, until)
        server.newest = 1.0
    assert bench.room(1.0) == 100
    bench.servers[1].controller.moving = False
    assert bench.room(1.0) == 200


@pytest.mark.parametrize(
    "ends",
    [lambda server: setattr(server.controller, "moving", False), lambda server: setattr(server, "newest", -math.inf)],
    ids=["rest", "goal"],
)
def test_what_was_promised_of_a_motion_does_not_hold_for_the_next(bench: Bench, ends: Any) -> None:
    bench.promise("left", 1.0, 1.06)
    bench.servers[0].newest = 1.0
    assert bench.room(1.06) == 0
    ends(bench.servers[0])
    assert bench.room(1.06) > FREE
    bench.servers[0].controller.moving, bench.servers[0].newest = True, 2.0
    assert bench.room(2.0) > FREE


def test_behind_the_last_trajectory_nobody_is_waited_for(bench: Bench) -> None:
    bench.promise("left", 1.0, 1.06)
    bench.servers[0].newest = 1.0
    assert bench.room(1.06) == 0
    bench.promise("left", 1.06, 0.0)
    bench.servers[0].newest = 1.06
    assert bench.room(1.06) > FREE


def test_without_patience_nobody_is_waited_for(bench: Bench) -> None:
    bench.promise("left", 1.0, 1.06)
    bench.servers[0].newest = 1.0
    assert bench.room(1.06, patience=0.0) > FREE
    assert not bench.warnings


def test_who_does_not_keep_a_promise_is_told_of_and_waited_for_no_longer(bench: Bench) -> None:
    bench.promise("left", 1.0, 1.06)
    bench.servers[0].newest = 1.0
    begun = time.monotonic()
    while bench.room(1.06, patience=0.05) == 0:
        assert time.monotonic() - begun < 20.0, "it is waited for without end"
        time.sleep(0.001)
    assert time.monotonic() - begun >= 0.05
    assert bench.warnings == [
        "'left' was promised another command for 1.060 s, which hasn't come within 0.05 s; time goes on without it"
    ]
    assert bench.room(1.07, patience=0.05) > FREE


def test_a_controller_that_is_not_there_is_refused(bench: Bench) -> None:
    with pytest.raises(InputError, match="there is no controller 'tail'"):
        bench.promise("tail", 1.0, 1.1)


def test_time_waits_for_a_command_on_a_topic_that_was_promised(bench: Bench) -> None:
    bench.commands.due, bench.commands.awaited = 1.004, True
    assert bench.room(1.0) == 4
    assert bench.room(1.004) == 0
    assert bench.lockstep.waits
    assert bench.room(1.004, patience=1e-9) > FREE
    assert len(bench.warnings) == 1
    assert "1.004" in bench.warnings[0]
    assert bench.room(1.004) > FREE, "it is excused until it promises again"
    bench.commands.awaited = True
    assert bench.room(1.002, patience=0.0) > FREE
