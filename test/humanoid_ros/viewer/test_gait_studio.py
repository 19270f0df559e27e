# SPDX-License-Identifier: Apache-2.0
"""Gaits on the viewer's page over DDS: a node of this test plays the gait generator."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.gait_requests import cycle  # noqa: E402
from fixtures.page_partner import ToldServer, Viewer, running_viewer, spun_node  # noqa: E402
from humanoid_stack.action import GenerateGait  # noqa: E402
from humanoid_stack.msg import Gait, GaitSolverOptions  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402

from humanoid_model import load_robot  # noqa: E402
from humanoid_planner.gait.generation import LIFT  # noqa: E402
from humanoid_planner.gait.specification.gait_spec import DIRECT, INDIRECT  # noqa: E402
from humanoid_ros.gait_generator.gait_markers import figure_points  # noqa: E402
from humanoid_ros.gait_generator.gait_replay import trajectory_posture  # noqa: E402
from humanoid_ros.gait_generator.gait_request import GaitDefaults  # noqa: E402
from humanoid_ros.gait_generator.gait_worker import generate  # noqa: E402
from humanoid_ros.viewer import gait_studio  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()


@pytest.fixture(scope="module")
def gait() -> Gait:
    """RABBIT's published step, twice."""
    request = cycle(cycles=2, options=GaitSolverOptions(method="direct"))
    answer = generate(bytes(serialize_message(request)), GaitDefaults(), lambda _: None)
    assert answer.message.startswith("converged, but "), answer.message
    return deserialize_message(answer.content, Gait)


@pytest.fixture(scope="module")
def generator() -> Iterator[ToldServer]:
    news = GenerateGait.Feedback(phase=1, stage="continuation, r < 3", residual=2.5e-3, nodes=77, cost=0.125)
    with spun_node(lambda context: Node("generator", context=context), DOMAIN) as node:
        yield ToldServer(node, GenerateGait, "generate_gait", [news], GenerateGait.Result(message="Cancelled."))


@pytest.fixture(scope="module")
def viewer(generator: ToldServer) -> Iterator[Viewer]:
    with running_viewer(DOMAIN) as viewer:
        yield viewer


@pytest.fixture
def page(generator: ToldServer, viewer: Viewer) -> Iterator[PageClient]:
    generator.begin()
    client = PageClient(viewer[1])
    wait_for(lambda: "Generate gait" in client.controls, "the panel is there")
    yield client
    client.close()


def test_the_gait_that_was_asked_for_walks(generator: ToldServer, page: PageClient, gait: Gait) -> None:
    generator.answer = GenerateGait.Result(message="converged, but the <tip> pulls", gait=gait)
    page.set("Walker", "rabbit")
    page.set("Speed [m/s]", 0.85)
    page.set("Step length [m]", 0.45)
    page.set("Steps", 2)
    request = generator.press(page, "Generate gait")
    assert (request.model, request.cycles, len(request.phases)) == ("rabbit", 2, 0)
    assert (request.speed, request.step_length) == (pytest.approx(0.85), pytest.approx(0.45))
    assert (request.options.method, request.options.time_limit.sec) == ("direct", 120)
    wait_for(lambda: "0.85 m/s, steps of 0.45 m in 0.53 s" in page.texts, "the result is told")
    wait_for(lambda: "contact forces that the ground can&#x27;t give" in page.texts, "what is wrong is told")
    wait_for(lambda: "the &lt;tip&gt; pulls" in page.texts, "so is the message")
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


def test_progress_is_told_and_work_can_be_cancelled(generator: ToldServer, page: PageClient) -> None:
    generator.hold.clear()
    generator.press(page, "Generate gait")
    wait_for(lambda: "Phase 2: continuation, r &lt; 3" in page.texts, "the stage is told")
    wait_for(lambda: "cost 0.125, 77 nodes, residual 2.5e-03" in page.texts, "so are its figures")
    wait_for(lambda: page.controls["Generate gait"]["disabled"], "no other is begun meanwhile")
    page.set("Cancel gait", True)
    wait_for(lambda: generator.cancelled, "it is cancelled")
    wait_for(lambda: "Cancelled." in page.texts, "that is told")
    wait_for(lambda: not page.controls["Generate gait"]["disabled"], "another one may be asked for")


def test_what_goes_wrong_is_told_in_plain_words(generator: ToldServer, page: PageClient) -> None:
    generator.answer = GenerateGait.Result(message="speed: of 9 m/s takes steps of 2 m. Give less.")
    page.set("Whole robot", True)  # has a speed and step length of its own
    page.set("Prove optimality", True)
    request = generator.press(page, "Generate gait")
    assert (request.lift, request.speed, request.step_length, request.options.method) == (True, 0.0, 0.0, "indirect")
    wait_for(lambda: "speed: of 9 m/s takes steps of 2 m. Give less." in page.texts, "the reason is told")
    generator.withdraw()
    wait_for(lambda: page.set("Generate gait", True) or "No node offers generate_gait" in page.texts, "nobody is there")


@pytest.mark.feature("000-F020")
def test_words_are_the_librarys_and_its_solvers_are_not_in_the_pages_memory() -> None:
    words = DIRECT, INDIRECT, LIFT
    assert words == (gait_studio.DIRECT, gait_studio.INDIRECT, gait_studio.LIFT)
    program = "import sys, humanoid_ros.viewer.viewer_node; sys.exit('casadi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
