# SPDX-License-Identifier: Apache-2.0
"""What follows answers: only the last of several, one after the other, and nothing once the node ends."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_ros.node.service_workers import ServiceWorkers


@pytest.fixture
def workers() -> Iterator[ServiceWorkers]:
    errors: list[str] = []
    logger: Any = SimpleNamespace(error=errors.append, warning=errors.append)
    node: Any = SimpleNamespace(get_logger=lambda: logger, errors=errors)
    with warnings.catch_warnings():  # a node of its own process keeps them
        yield ServiceWorkers(node)


def test_of_several_that_wait_the_last_one_counts(workers: ServiceWorkers) -> None:
    begun, go, end, done = threading.Event(), threading.Event(), threading.Event(), []

    def first() -> None:
        begun.set()
        assert go.wait(60.0)
        done.append(0)

    workers.follow_up(first)
    assert begun.wait(60.0)
    for number in (1, 2, 3):
        workers.follow_up(lambda number=number: done.append(number))  # type: ignore[misc]
    workers.follow_up(lambda: (done.append(4), end.set()))
    go.set()
    assert end.wait(60.0)
    workers.close()
    assert done == [0, 4]


def test_what_goes_wrong_is_logged_and_the_next_is_done(workers: ServiceWorkers) -> None:
    done = threading.Event()
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise ValueError("no pencil")

    workers.follow_up(fail)
    assert failed.wait(60.0)
    workers.follow_up(done.set)
    assert done.wait(60.0)
    assert "no pencil" in workers._node.errors[0]
    workers.close()
