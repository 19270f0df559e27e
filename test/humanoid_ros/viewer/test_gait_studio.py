# SPDX-License-Identifier: Apache-2.0
"""Gaits on the viewer's page over DDS: a node of this test plays the gait generator."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pinocchio as pin
import pytest
from fixtures.page_client import PageClient, wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.page_partner import ToldServer, Viewer, running_viewer, spun_node  # noqa: E402
from humanoid_stack.action import GenerateGait  # noqa: E402
from humanoid_stack.msg import Gait, GaitPart  # noqa: E402
from rclpy.node import Node  # noqa: E402

from humanoid_model import Contact, Surface, load_robot  # noqa: E402
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory  # noqa: E402
from humanoid_ros.gait_generator.gait_replay import trajectory_posture  # noqa: E402
from humanoid_ros.messages.motion_messages import whole_body_message  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()
WAY = 0.4
"""Of the base [m]."""


@pytest.fixture(scope="module")
def gait() -> Gait:
    """HRP-2 glides ahead on one foot: a page draws what it is told."""
    robot = load_robot("hrp2", geometry=False)
    times = np.linspace(0.0, 0.5, 26)
    q = np.tile(robot.default_posture, (26, 1))
    q[:, 0] += WAY * times / times[-1]
    still = np.zeros((26, robot.model.nv))
    tau = np.full((26, robot.model.nv), 3.0)
    floor = Surface("ground", "ground", pin.SE3.Identity())
    span = ContactSpan(Contact(robot.contacts["left_sole"], floor, 0.0, 0.1, 0.0), 0.0, 0.5)
    force = PlannedForce("left_sole", "ground", np.zeros(3), np.array([0.0, 0.0, 1.0]), np.array([0, 0, 500.0]), 0.6)
    motion = WholeBodyTrajectory(robot, times, q, still, still, [span], tau=tau, forces=[[force]] * 26)
    part = GaitPart(name="cycle", success=True, iterations=25, time=4.5, proven=True, maximum=2e-9, adjoint=3e-10)
    return Gait(
        robot="hrp2", trajectory=whole_body_message(motion, "world"), parts=[part], speed=0.85, distance=WAY,
        duration=0.5, cost=0.042, cost_of_transport=0.3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def generator() -> Iterator[ToldServer]:
    news = GenerateGait.Feedback(stage="cycle: iterates, r < 3", iteration=7, residual=2.5e-3, cost=0.125)
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
    generator.answer = GenerateGait.Result(success=True, gait=gait)
    page.set("Walker", "hrp2")
    page.set("Step length [m]", 0.3)
    page.set("Single support [s]", 0.8)
    page.set("Steps", 2)
    page.set("From rest", False)
    request = generator.press(page, "Generate gait")
    assert (request.robot, request.steps, request.start, request.stop) == ("hrp2", 2, False, True)
    assert (request.length, list(request.single_support)) == (pytest.approx(0.3), [pytest.approx(0.8)])
    assert request.time_limit.sec == 120
    wait_for(lambda: "0.85 m/s, 0.40 m in 0.50 s" in page.texts, "the result is told")
    wait_for(lambda: "cycle: 25 iterations, 4.5 s, H_a 2e-09" in page.texts, "so is what proves it")
    wait_for(lambda: page.nodes["/gait/forces"], "forces are drawn")
    wait_for(lambda: page.nodes["/gait"]["position"][1] == pytest.approx(0.8), "it is beside the robot")
    robot = load_robot("hrp2")
    root = robot.description.root
    links = robot.link_placements(trajectory_posture(gait.trajectory, robot, 0))
    wait_for(lambda: f"/gait/robot/{root}" in page.nodes, "the robot is drawn")
    seen: set[tuple[float, ...]] = set()

    def walked() -> bool:
        seen.add(tuple(float(x) for x in page.nodes[f"/gait/robot/{root}"]["position"]))
        return len(seen) >= 4

    wait_for(walked, "the robot walks")
    places, first = np.array(sorted(seen)), links[root].translation
    assert (places[:, 0] >= first[0] - 1e-3).all()
    assert (places[:, 0] <= first[0] + WAY + 1e-3).all()
    np.testing.assert_allclose(places[:, 2], first[2], atol=1e-3)

    def charts() -> int:
        plots = [c for c in list(page._by_id.values()) if c.get("type") == "GuiUplotMessage"]
        return sum(plot["series"][0]["label"] == "t" for plot in plots)

    wait_for(lambda: charts() == 3, "three plots are drawn")
    page.set("Show gait", False)
    wait_for(lambda: page.nodes["/gait/forces"].get("visible") is False, "its forces are hidden")
    wait_for(lambda: page.nodes["/gait/robot"].get("visible") is False, "and the robot")
    page.set("Show gait", True)
    page.set("Aside [m]", -1.0)
    wait_for(lambda: page.nodes["/gait"]["position"][1] == pytest.approx(-1.0), "it is moved")


def test_progress_is_told_and_work_can_be_cancelled(generator: ToldServer, page: PageClient) -> None:
    generator.hold.clear()
    generator.press(page, "Generate gait")
    wait_for(lambda: "cycle: iterates, r &lt; 3" in page.texts, "the stage is told")
    wait_for(lambda: "iteration 7, cost 0.125, residual 2.5e-03" in page.texts, "so are its figures")
    wait_for(lambda: page.controls["Generate gait"]["disabled"], "no other is begun meanwhile")
    page.set("Cancel gait", True)
    wait_for(lambda: generator.cancelled, "it is cancelled")
    wait_for(lambda: "Cancelled." in page.texts, "that is told")
    wait_for(lambda: not page.controls["Generate gait"]["disabled"], "another one may be asked for")


def test_what_goes_wrong_is_told_in_plain_words(generator: ToldServer, page: PageClient) -> None:
    generator.answer = GenerateGait.Result(message="turn: is 0.3. Turn on level ground.")
    page.set("Prove optimality", True)
    assert generator.press(page, "Generate gait").proof
    wait_for(lambda: "turn: is 0.3. Turn on level ground." in page.texts, "the reason is told")
    generator.withdraw()
    wait_for(lambda: page.set("Generate gait", True) or "No node offers generate_gait" in page.texts, "nobody is there")


@pytest.mark.feature("000-F020")
def test_solvers_are_not_in_the_pages_memory() -> None:
    program = "import sys, humanoid_ros.viewer.viewer_node; sys.exit('casadi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
