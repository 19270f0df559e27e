# SPDX-License-Identifier: Apache-2.0
"""Gaits on the viewer's page over DDS: a node of this test plays the gait generator."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.page_client import PageClient, start_viewer, wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.gait_requests import cycle  # noqa: E402
from humanoid_stack.action import GenerateGait  # noqa: E402
from humanoid_stack.msg import Gait, GaitSolverOptions  # noqa: E402
from rclpy.action import ActionServer, CancelResponse  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.executors import MultiThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402

from humanoid_model import load_robot  # noqa: E402
from humanoid_ros.gait_generator.gait_figure import figure_points  # noqa: E402
from humanoid_ros.gait_generator.gait_posture import trajectory_posture  # noqa: E402
from humanoid_ros.gait_generator.gait_request import GaitDefaults  # noqa: E402
from humanoid_ros.gait_generator.gait_task import generate  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()


@pytest.fixture(scope="module")
def gait() -> Gait:
    """RABBIT's published step, twice."""
    request = cycle(cycles=2, options=GaitSolverOptions(method="direct"))
    answer = generate(bytes(serialize_message(request)), GaitDefaults(), lambda _: None)
    assert answer.success
    return deserialize_message(answer.content, Gait)


class Generator(Node):
    """A gait generator that does as it is told.

    Attributes:
        asked: requests.
        answer: result of the next ones.
        hold: work goes on until it is set, or cancelled.
        cancelled: whether that happened.
    """

    def __init__(self, context: Any) -> None:
        super().__init__("generator", context=context)
        self.asked: list[Any] = []
        self.answer = GenerateGait.Result()
        self.hold = threading.Event()
        self.hold.set()
        self.cancelled = False
        self._server = ActionServer(
            self,
            GenerateGait,
            "generate_gait",
            self._execute,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
            callback_group=ReentrantCallbackGroup(),
        )

    def withdraw(self) -> None:
        self._server.destroy()

    def _execute(self, goal: Any) -> Any:
        self.asked.append(goal.request.request)
        feedback = GenerateGait.Feedback(phase=1, stage="continuation, r < 3", residual=2.5e-3, nodes=77, cost=0.125)
        goal.publish_feedback(feedback)
        end = time.monotonic() + 20.0
        while not self.hold.wait(0.02) and time.monotonic() < end:
            if goal.is_cancel_requested:
                self.cancelled = True
                goal.canceled()
                return GenerateGait.Result(message="Cancelled.")
        goal.succeed() if self.answer.success else goal.abort()
        return self.answer


@pytest.fixture(scope="module")
def generator() -> Iterator[Generator]:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    node = Generator(context)
    executor = MultiThreadedExecutor(4, context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield node
    executor.shutdown()
    thread.join(5.0)
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture(scope="module")
def viewer(generator: Generator) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    process, address, output = start_viewer(DOMAIN)
    assert address, "".join(output)
    yield process, address, output
    process.send_signal(signal.SIGINT)
    assert process.wait(15.0) == 0
    assert "Traceback" not in "".join(output)


@pytest.fixture
def page(generator: Generator, viewer: tuple[subprocess.Popen[str], str, list[str]]) -> Iterator[PageClient]:
    generator.asked.clear()
    generator.hold.set()
    client = PageClient(viewer[1])
    wait_for(lambda: "Generate gait" in client.controls, "the panel is there")
    yield client
    client.close()


def ask(page: PageClient, generator: Generator) -> Any:
    """Press the button until the generator is asked: the viewer may not have found it yet."""
    end = time.monotonic() + 20.0
    while not generator.asked and time.monotonic() < end:
        page.set("Generate gait", True)
        time.sleep(0.3)
    return wait_for(lambda: generator.asked[-1], "a gait is asked for")


def test_the_gait_that_was_asked_for_walks(generator: Generator, page: PageClient, gait: Gait) -> None:
    generator.answer = GenerateGait.Result(success=True, message="phases[1]: the <tip> pulls", gait=gait)
    page.set("Walker", "rabbit")
    page.set("Speed [m/s]", 0.85)
    page.set("Step length [m]", 0.45)
    page.set("Steps", 2)
    request = ask(page, generator)
    assert (request.model, request.cycles, len(request.phases)) == ("rabbit", 2, 0)
    assert (request.speed, request.step_length) == (pytest.approx(0.85), pytest.approx(0.45))
    assert (request.options.method, request.options.time_limit.sec) == ("direct", 120)
    wait_for(lambda: "0.85 m/s, steps of 0.45 m in 0.53 s" in page.texts, "the result is told")
    assert "contact forces that the ground can&#x27;t give" in page.texts
    assert "the &lt;tip&gt; pulls" in page.texts
    wait_for(lambda: page.nodes["/gait/figure"], "the figure is drawn")
    wait_for(lambda: page.nodes["/gait"]["position"][1] == pytest.approx(0.8), "it is beside the robot")
    names = list(gait.figure.point_names)
    hip = figure_points(gait.figure)[:, names.index("hip")]
    links = load_robot("rabbit").link_placements(trajectory_posture(gait.trajectory, load_robot("rabbit"), 0))
    trunk = next(name for name in links if "trunk" in name)
    wait_for(lambda: f"/gait/robot/{trunk}" in page.nodes, "the robot is drawn")
    seen: set[tuple[float, ...]] = set()

    def walked() -> bool:
        seen.add(tuple(float(x) for x in page.nodes[f"/gait/robot/{trunk}"]["position"]))
        return len(seen) >= 4

    wait_for(walked, "the robot walks with it")
    places = np.array(sorted(seen))
    assert (places[:, 0] >= hip[0, 0] - 1e-3).all()
    assert (places[:, 0] <= hip[-1, 0] + 1e-3).all()
    np.testing.assert_allclose(places[:, 2], 0.7, atol=0.1)  # the trunk's frame is at the hips

    def charts() -> int:
        plots = [c for c in list(page._by_id.values()) if c.get("type") == "GuiUplotMessage"]
        return sum(plot["series"][0]["label"] == "t" for plot in plots)

    wait_for(lambda: charts() == 3, "three plots are drawn")
    page.set("Figure", "all along")
    wait_for(lambda: page.nodes["/gait/figure"].get("visible") is False, "only the way is shown")
    wait_for(lambda: page.nodes["/gait/robot"].get("visible") is False, "without the robot")
    page.set("Figure", "walks, all along")
    page.set("Aside [m]", -1.0)
    wait_for(lambda: page.nodes["/gait"]["position"][1] == pytest.approx(-1.0), "it is moved")


def test_progress_is_told_and_work_can_be_cancelled(generator: Generator, page: PageClient) -> None:
    generator.hold.clear()
    generator.cancelled = False
    ask(page, generator)
    wait_for(lambda: "Phase 2: continuation, r &lt; 3" in page.texts, "the stage is told")
    assert "cost 0.125, 77 nodes, residual 2.5e-03" in page.texts
    assert page.controls["Generate gait"]["disabled"]
    page.set("Cancel gait", True)
    wait_for(lambda: generator.cancelled, "it is cancelled")
    wait_for(lambda: "Cancelled." in page.texts, "that is told")
    wait_for(lambda: not page.controls["Generate gait"]["disabled"], "another one may be asked for")


def test_what_goes_wrong_is_told_in_plain_words(generator: Generator, page: PageClient) -> None:
    generator.answer = GenerateGait.Result(message="speed: of 9 m/s takes steps of 2 m. Give less.")
    ask(page, generator)
    wait_for(lambda: "speed: of 9 m/s takes steps of 2 m. Give less." in page.texts, "the reason is told")
    generator.withdraw()
    wait_for(lambda: page.set("Generate gait", True) or "No node offers generate_gait" in page.texts, "nobody is there")
