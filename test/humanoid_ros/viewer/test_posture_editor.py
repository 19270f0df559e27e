# SPDX-License-Identifier: Apache-2.0
"""The posture editor of the viewer over DDS: a node of this test plays simulator and contact planner."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.page_client import PageClient, wait_for, wait_for_place
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.page_partner import Viewer, running_viewer, spun_node  # noqa: E402
from fixtures.standing_robot import HRP2, SQUAT, StandingRobot  # noqa: E402
from humanoid_stack.msg import Contact, ContactForce  # noqa: E402
from humanoid_stack.srv import GeneratePosture  # noqa: E402
from rclpy.callback_groups import ReentrantCallbackGroup  # noqa: E402
from rclpy.task import Future  # noqa: E402

from humanoid_ros.messages.conversions import placement, point  # noqa: E402
from humanoid_ros.messages.posture_messages import configuration, posture_message  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()


class SquattingRobot(StandingRobot):
    """HRP-2 that squats on topics, and a planner that answers every request as it is told.

    Attributes:
        asked: requests for postures.
        answer: fills the answers.
        delay: time that an answer takes [s].
        most: largest number of requests that waited at the same time.
        dies: whether the next request is never answered.
    """

    def __init__(self, context: Any) -> None:
        super().__init__("squatting_robot", context)
        self.asked: list[Any] = []
        self.answer: Callable[[Any, Any], None] = squat
        self.delay = 0.0
        self.most = 0
        self.dies = False
        self._waiting = 0
        self._service: Any = None
        self.offer()

    def offer(self) -> None:
        group = ReentrantCallbackGroup()
        self._service = self.create_service(GeneratePosture, "generate_posture", self._serve, callback_group=group)

    def withdraw(self) -> None:
        self.destroy_service(self._service)

    async def _serve(self, request: Any, response: Any) -> Any:
        self.asked.append(request)
        if self.dies:
            self.dies = False
            await Future()
        self._waiting += 1
        self.most = max(self.most, self._waiting)
        time.sleep(self.delay)
        self._waiting -= 1
        self.answer(request, response)
        return response


def squat(request: Any, response: Any) -> None:
    """The answer that HRP-2 squats, pushed by one force."""
    response.success = True
    response.posture.posture = posture_message(HRP2, SQUAT)
    force = ContactForce(body_a="hrp2/RLEG_LINK5", body_b="floor", friction=0.8, state=ContactForce.STICK)
    force.normal.z, force.force.z = 1.0, 500.0
    response.posture.forces = [force]
    response.posture.centre_of_mass = point((0.0, 0.0, 0.6))
    response.posture.stability_margin = 12.5
    response.support_polygon = [point((0.0, 0.0, 0.0)), point((0.1, 0.0, 0.0)), point((0.0, 0.1, 0.0))]
    response.report.solver, response.report.iterations, response.report.time = "sqp", 7, 0.0123


def fail(request: Any, response: Any) -> None:
    """The answer that there is none, with the posture that comes nearest."""
    squat(request, response)
    response.success = False
    response.message = "No posture found: the arm is <too short>."


def refuse(request: Any, response: Any) -> None:
    """The answer that the request can't be used."""
    response.success = False
    response.message = "robot: unknown."


@pytest.fixture(scope="module")
def robot() -> Iterator[SquattingRobot]:
    with spun_node(SquattingRobot, DOMAIN) as node:
        yield node


@pytest.fixture(scope="module")
def viewer(robot: SquattingRobot) -> Iterator[Viewer]:
    with running_viewer(DOMAIN, "posture_rate:=20.0") as viewer:
        yield viewer


@pytest.fixture
def page(robot: SquattingRobot, viewer: Viewer) -> Iterator[PageClient]:
    """A page that shows the editor, its handles on the soles."""
    robot.answer, robot.delay = squat, 0.0
    client = PageClient(viewer[1])
    wait_for(lambda: "running" in client.status, "the page says that the simulation runs")
    wait_for(lambda: client.nodes["/robots/hrp2"]["visible"], "the robot is shown")
    wait_for(lambda: "Show posture" in client.controls or "Hide posture" in client.controls, "the editor is offered")
    if "Show posture" in client.controls:
        client.set("Show posture", True)
    wait_for(lambda: "Found" in client.texts, "a posture is found")
    yield client
    client.set(next(label for label in list(client.controls) if label in ("Show posture", "Hide posture")), True)
    wait_for(lambda: client.nodes["/posture"]["visible"] is False, "the editor is put away")
    client.close()


def handle(name: str) -> str:
    return f"/posture/handles/{name}"


def drag(page: PageClient, name: str, position: tuple[float, float, float]) -> None:
    path = handle(name)
    turn = tuple(float(number) for number in page.nodes[path].get("wxyz", (1.0, 0.0, 0.0, 0.0)))
    page.send("TransformControlsDragStartMessage", name=path, owner="")
    page.send("TransformControlsUpdateMessage", name=path, wxyz=turn, position=position, owner="")
    page.send("TransformControlsDragEndMessage", name=path, owner="")


def soles(posture: np.ndarray) -> dict[str, np.ndarray]:
    """Where the handles on a posture's soles are."""
    links = HRP2.link_placements(posture)
    places = [HRP2.contacts[name] for name in ("right_sole", "left_sole")]
    return {place.name: (links[place.link] * place.placement_link_patch).translation for place in places}


def test_handles_wait_until_it_is_known_how_the_robot_stands(robot: SquattingRobot) -> None:
    robot.tells_joints = False
    with running_viewer(DOMAIN) as viewer:
        page = PageClient(viewer[1])
        wait_for(lambda: page.nodes["/robots/hrp2"]["visible"], "the robot is shown")
        robot.asked.clear()
        page.set("Show posture", True)
        wait_for(lambda: "Nothing tells yet how the robot stands." in page.texts, "it says what it waits for")
        time.sleep(0.3)
        assert not robot.asked
        assert handle("right_sole") not in page.nodes
        robot.tells_joints = True
        wait_for(lambda: "Found" in page.texts, "a posture is found")
        for name, place in soles(SQUAT).items():
            wait_for_place(page, handle(name), place)
        page.close()


def test_handles_start_on_the_soles_and_the_ghost_follows(robot: SquattingRobot, page: PageClient) -> None:
    links = HRP2.link_placements(SQUAT)
    for name, place in soles(SQUAT).items():
        wait_for_place(page, handle(name), place)
    wait_for(lambda: page.nodes["/posture"]["visible"], "the posture is shown")
    wait_for(lambda: page.nodes["/posture/ghost_found"]["visible"], "the ghost is shown")
    wait_for_place(page, "/posture/ghost_found/CHEST_LINK1", links["CHEST_LINK1"].translation)
    wait_for(lambda: page.nodes["/posture/ghost_found/CHEST_LINK1/0"]["opacity"] == 0.5, "one looks through it")
    wait_for(lambda: any(n.startswith("/posture/contacts/forces/") for n in list(page.nodes)), "its force is drawn")
    polygon = wait_for(lambda: page.nodes["/posture/support_polygon"], "the support polygon is drawn")
    assert polygon["type"] == "LineSegmentsMessage"
    wait_for(lambda: "12 ms, 7 iterations of sqp, stability margin 12.5 N." in page.texts, "its figures are told")


def test_the_request_says_how_the_robot_stands_and_what_is_wanted(robot: SquattingRobot, page: PageClient) -> None:
    robot.asked.clear()
    page.set("Reset handles", True)
    request = wait_for(lambda: robot.asked[-1], "a posture is asked for")
    assert (request.robot, request.scene) == ("hrp2", "stairs")
    assert request.stability == GeneratePosture.Request.CONTACT_FORCES
    np.testing.assert_allclose(configuration(request.reference, HRP2, "reference"), SQUAT, atol=1e-9)
    assert {contact.location for contact in request.stance.contacts} == {"right_sole", "left_sole"}
    for contact in request.stance.contacts:
        assert (contact.surface, contact.kind, contact.bilateral) == ("floor", Contact.FIXED, False)
        assert contact.y == pytest.approx(0.095 if contact.location == "left_sole" else -0.095, abs=1e-3)
    assert not request.surfaces
    assert not request.collisions


def test_a_dragged_handle_is_asked_for_where_it_is(robot: SquattingRobot, page: PageClient) -> None:
    robot.asked.clear()
    drag(page, "right_sole", (0.5, -0.2, 0.13))
    right = wait_for(
        lambda: next((c for r in robot.asked for c in r.stance.contacts if c.surface == "step_1"), None),
        "the handle near the first step is asked for on it",
    )
    assert right.location == "right_sole"
    np.testing.assert_allclose((right.x, right.y), (0.05, -0.2), atol=1e-6)
    drag(page, "right_sole", (0.5, -0.2, 0.3))
    request = wait_for(lambda: next((r for r in robot.asked if r.surfaces), None), "in the air it has its own surface")
    assert [contact.surface for contact in request.stance.contacts if contact.location == "right_sole"] == [
        request.surfaces[0].name
    ]
    assert request.surfaces[0].body == "world"
    where = placement(request.surfaces[0].pose, "pose")
    assert where.isApprox(pin.SE3(np.eye(3), np.array([0.5, -0.2, 0.3])), 1e-6)
    page.set("Reset handles", True)
    wait_for(lambda: page.nodes[handle("right_sole")]["position"][2] < 0.01, "the handle is back on the sole")


def test_places_are_used_as_the_panel_says(robot: SquattingRobot, page: PageClient) -> None:
    robot.asked.clear()
    page.set("right hand back", "grasps")
    page.set("seat", "touches")
    page.set("left sole", "free")
    page.set("Torque limits", True)
    page.set("Balance", "none")
    page.set("Avoid collisions", True)
    page.set("Posture", "any")

    def wanted() -> Any:
        request = robot.asked[-1]
        found = {c.location: (c.kind, c.bilateral) for c in request.stance.contacts}
        hand, seat = (Contact.FIXED, True), (Contact.RELEASED, False)
        expected = {"right_sole": (Contact.FIXED, False), "right_hand_back": hand, "seat": seat}
        options = request.torque_limits, request.collisions, request.stability, request.criterion
        kinds = GeneratePosture.Request.NO_STABILITY, GeneratePosture.Request.NO_CRITERION
        return found == expected and options == (True, True, *kinds)

    wait_for(wanted, "all of it is asked for")
    wait_for(lambda: handle("left_sole") not in page.nodes, "the handle of the free sole is gone")
    links = HRP2.link_placements(SQUAT)
    place = HRP2.contacts["seat"]
    wait_for_place(page, handle("seat"), links[place.link].act(place.placement_link_patch.translation))
    page.set("Reset handles", True)
    wait_for(lambda: handle("seat") not in page.nodes and handle("left_sole") in page.nodes, "the handles are back")
    page.set("Torque limits", False)
    page.set("Balance", "contact forces")
    page.set("Avoid collisions", False)
    page.set("Posture", "near the robot's")


def test_one_request_at_a_time_and_the_newest_wins(robot: SquattingRobot, page: PageClient) -> None:
    robot.asked.clear()
    robot.delay, robot.most = 0.3, 0
    began = time.monotonic()
    for step in range(1, 21):
        drag(page, "right_sole", (0.01 * step, -0.2, 0.3))
        time.sleep(0.03)
    wait_for(lambda: robot.asked[-1].surfaces[0].pose.position.x == pytest.approx(0.2), "the last place is asked for")
    assert robot.most == 1
    assert len(robot.asked) <= (time.monotonic() - began) / robot.delay + 1  # of 20
    robot.delay = 0.0
    page.set("Reset handles", True)


def test_a_failure_is_told_in_red_with_the_nearest_posture(robot: SquattingRobot, page: PageClient) -> None:
    robot.answer = fail
    page.set("Reset handles", True)
    wait_for(lambda: "the arm is &lt;too short&gt;" in page.texts, "the reason is told")
    wait_for(lambda: page.nodes["/posture/ghost_failed"]["visible"], "the red ghost is shown")
    wait_for(lambda: not page.nodes["/posture/ghost_found"]["visible"], "instead of the green one")
    robot.answer = refuse
    page.set("Reset handles", True)
    wait_for(lambda: "robot: unknown." in page.texts, "a refusal is told")
    wait_for(lambda: not page.nodes["/posture/ghost_failed"]["visible"], "there is nothing to show")
    robot.answer = squat
    page.set("Reset handles", True)
    wait_for(lambda: page.nodes["/posture/ghost_found"]["visible"], "the green ghost is back")


def test_without_a_planner_the_page_says_so(robot: SquattingRobot, page: PageClient) -> None:
    robot.withdraw()
    time.sleep(0.5)
    page.set("Reset handles", True)
    wait_for(lambda: "No node offers" in page.texts, "the page says that nobody answers")
    robot.offer()
    wait_for(lambda: "Found" in page.texts, "a planner that comes back is asked")


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_planner_that_dies_over_a_request_is_not_waited_for(
    robot: SquattingRobot, page: PageClient, comes_back: bool
) -> None:
    """Started again at once it is asked again, after a while; gone for good, the page says so."""
    robot.asked.clear()
    robot.dies = True
    page.set("Reset handles", True)
    wait_for(lambda: robot.asked, "it is asked")
    if comes_back:
        wait_for(lambda: len(robot.asked) == 2, "it is asked again")
    else:
        robot.withdraw()
        wait_for(lambda: "No node offers" in page.texts, "the page says that nobody answers")
        robot.offer()
    wait_for(lambda: "Found" in page.texts, "a posture is found")
