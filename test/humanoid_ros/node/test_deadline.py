# SPDX-License-Identifier: Apache-2.0
"""SIGTERM ends a node soon, whatever it computes, and lets a bridge finish what it stops."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from fixtures.ros_domain import claim_domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_stack.srv import GenerateModel, LoadScene

pytestmark = pytest.mark.feature("000-F018")

SOON = 15.0
"""Much longer than two seconds on any machine, and much less than what is computed takes [s]."""
PROGRAM = """
import signal, time
from humanoid_ros.node.run import end_after, give_more_time
heard = []
signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
end_after(signal.SIGTERM, 1.0)
print("ready", flush=True)
"""
HELD = "sum(range(10**13))"  # in C, which holds the interpreter's lock for days
WAITING = "while not heard: time.sleep(0.01)\n"


SLOW = """
import math, time
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.run import run
class Slow(AnsweringNode):
    patience, until = 30.0, math.inf
    busy = property(lambda self: time.monotonic() < self.until)
    async def close(self):
        self.until = time.monotonic() + 3.0
def make():
    node = Slow("slow")
    node.create_timer(0.2, lambda: print("ready", flush=True))
    return node
run("slow", make)
print("stopped")
"""


def end(program: str, *numbers: signal.Signals) -> tuple[int, str, str, float]:
    """Code, output, errors and seconds from the first of some signals, 0.2 s apart, to the end of a program.

    The seconds are infinite if it outlives the signals and more than one was sent.
    """
    environment = {**os.environ, "ROS_DOMAIN_ID": str(claim_domain())}
    process = subprocess.Popen([sys.executable, "-c", program], stdout=-1, stderr=-1, text=True, env=environment)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)  # let it begin
        begun = time.monotonic()
        for number in numbers:
            process.send_signal(number)
            time.sleep(0.2)
            if process.poll() is not None:
                break
        late = len(numbers) > 1 and process.poll() is None
        output, errors = process.communicate(timeout=SOON)
        return process.returncode, output, errors, math.inf if late else time.monotonic() - begun
    finally:
        process.kill()
        process.wait()


def test_a_signal_ends_what_holds_the_interpreters_lock_and_tells_where() -> None:
    code, _, errors, seconds = end(PROGRAM + HELD, signal.SIGTERM)
    assert code == -signal.SIGALRM
    assert "most recent call first" in errors
    assert seconds >= 1.0


def test_the_handler_in_python_is_called_and_may_end_it_before() -> None:
    code, output, errors, _ = end(PROGRAM + WAITING + "print(heard)", signal.SIGTERM)
    assert (code, output, errors) == (0, f"[{int(signal.SIGTERM)}]\n", "")


def test_the_same_signal_again_gives_no_more_time() -> None:
    code, _, _, seconds = end(PROGRAM + HELD, *[signal.SIGTERM] * 40)  # for 8 s
    assert code == -signal.SIGALRM
    assert seconds < math.inf


def test_more_time_can_be_given() -> None:
    program = PROGRAM + WAITING + "give_more_time(30)\ntime.sleep(1.5)\nprint('done')"
    code, output, _, seconds = end(program, signal.SIGTERM)
    assert (code, output) == (0, "done\n")
    assert seconds >= 1.5


def test_a_node_with_patience_takes_the_time_that_it_needs_to_stop() -> None:
    code, output, errors, seconds = end(SLOW, signal.SIGTERM)
    assert code == 0, errors
    assert output.endswith("stopped\n")
    assert seconds >= 3.0


def ended_by(client: Any, number: signal.Signals) -> float:
    """Seconds from a signal to the end of a node."""
    begun = time.monotonic()
    client.process.send_signal(number)
    client.process.wait(60.0)
    return time.monotonic() - begun


def test_a_node_ends_while_it_builds_a_scene(start_node: Callable[..., Any]) -> None:
    client = start_node("simulator")
    field = "{height_field: random, size: [9, 9], height: 0.1, cells: [450, 450]}"  # 12 s and more
    text = f"bodies:\n  ground: {{shapes: [{field}]}}\n  ball: {{mass: 1, xyz: [0, 0, 2], shapes: [{{sphere: 0.1}}]}}\n"
    asked = client.node.create_client(LoadScene, "load_scene")
    assert asked.wait_for_service(240.0)  # it may compile kernels first
    answer = asked.call_async(LoadScene.Request(text=text))
    time.sleep(2.0)
    assert not answer.done()  # it builds
    assert ended_by(client, signal.SIGTERM) < SOON


def test_a_node_ends_in_a_flood_of_requests(start_node: Callable[..., Any]) -> None:
    client = start_node("model_generator")
    request = GenerateModel.Request(robot="nobody")
    client.call(GenerateModel, "generate_model", request)
    asked = client.node.create_client(GenerateModel, "generate_model")
    assert asked.wait_for_service(60.0)
    done = threading.Event()

    def flood() -> None:
        while not done.is_set():
            with suppress(Exception):  # nobody is there any more
                asked.call_async(request)
            time.sleep(0.0005)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        time.sleep(1.0)
        assert ended_by(client, signal.SIGTERM) < SOON
    finally:
        done.set()
        thread.join()
