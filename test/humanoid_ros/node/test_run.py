# SPDX-License-Identifier: Apache-2.0
"""What a node's main function does around it."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

run = pytest.importorskip("humanoid_ros.node.run", reason="ROS 2 is not installed")

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from humanoid_stack.srv import GenerateModel  # noqa: E402

from humanoid_ros.node.clients import GuardedActionClient  # noqa: E402
from test.humanoid_ros.conftest import Client, running_node  # noqa: E402

LATE = """
import time
from control_msgs.action import FollowJointTrajectory
from humanoid_ros.node.answering_node import AnsweringActionServer
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.service_workers import waking_future
from humanoid_ros.node.run import run
class Server(AnsweringActionServer):
    async def _execute_get_result_request(self, request):
        await super()._execute_get_result_request(request)
        print("asked", flush=True)
    async def _execute_goal(self, execute, goal):
        await super()._execute_goal(execute, goal)
        time.sleep(0.3)  # the result is queued: what comes now mustn't overtake it
class Late(AnsweringNode):
    busy = False
    def __init__(self):
        super().__init__("late")
        self.ended = waking_future(self)
        Server(self, FollowJointTrajectory, "follow", self.execute)
    async def execute(self, goal):
        self.busy = True
        await self.ended
        self.busy = False
        goal.abort()
        return FollowJointTrajectory.Result(error_code=3)
    async def close(self):
        self.ended.set_result(None)
run("late", Late)
"""
"""A node that isn't busy any more some time before its last answer has left."""


class Ring:
    """Refers to itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _unfrozen() -> object:
    yield
    gc.unfreeze()


def test_what_stays_is_looked_at_no_more() -> None:
    before = len(gc.get_objects())
    run.settle_memory()
    assert len(gc.get_objects()) < 0.1 * before


def test_garbage_of_before_is_freed_also_when_it_stayed_once() -> None:
    ring = Ring()
    run.settle_memory()
    gone = weakref.ref(ring)
    del ring
    gc.collect()
    assert gone() is not None  # what this is about
    run.settle_memory()
    assert gone() is None


def listening(pid: int, domain: int) -> set[str]:
    """Addresses, in hexadecimal digits, at which a process hears what comes to the ports of a domain."""
    sockets = {str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    found = set()
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        fields = line.split()
        address, port = fields[1].split(":")
        if f"socket:[{fields[9]}]" in sockets and 0 <= int(port, 16) - (7400 + 250 * domain) < 250:
            found.add(address)
    return found


@pytest.mark.parametrize(("reach", "address"), [("", "0100007F"), ("SUBNET", "00000000")])
def test_a_node_listens_on_this_machine_alone_unless_told_otherwise(
    reach: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROS_AUTOMATIC_DISCOVERY_RANGE", raising=False)
    monkeypatch.delenv("FASTRTPS_DEFAULT_PROFILES_FILE", raising=False)
    if reach:
        monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", reach)
    with running_node("model_generator", tmp_path) as client:
        answer = client.call(GenerateModel, "generate_model", GenerateModel.Request(robot="nobody"))
        assert "unknown robot 'nobody'" in answer.message
        assert listening(client.process.pid, client.domain) == {address}
        if not reach:  # who follows a killed process in shared memory misses messages
            assert "/dev/shm/fast" not in Path(f"/proc/{client.process.pid}/maps").read_text()


@pytest.mark.feature("000-F029")
def test_the_answer_that_a_node_is_giving_when_it_ends_leaves() -> None:
    domain = claim_domain()
    environment = {**os.environ, "ROS_DOMAIN_ID": str(domain)}
    process = subprocess.Popen([sys.executable, "-c", LATE], stdout=-1, env=environment)
    client = Client(process, domain)
    try:
        action = GuardedActionClient(client.node, FollowJointTrajectory, "follow")
        assert action.wait_for_server(60.0)
        handle = client.result(action.send_goal_async(FollowJointTrajectory.Goal()))
        answer = handle.get_result_async()
        assert process.stdout is not None
        assert process.stdout.readline() == b"asked\n"
        process.send_signal(signal.SIGTERM)
        assert client.result(answer, 30.0).result.error_code == 3
        assert process.wait(30.0) == 0
    finally:
        process.kill()
        process.wait()
        client.close()
