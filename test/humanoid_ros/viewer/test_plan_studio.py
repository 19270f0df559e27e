# SPDX-License-Identifier: Apache-2.0
"""Contact plans on the viewer's page over DDS: a node of this test plays simulator and contact planner."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.page_client import PageClient, wait_for, wait_for_place
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from fixtures.page_partner import ToldServer, Viewer, running_viewer, spun_node  # noqa: E402
from fixtures.standing_robot import HRP2, LATCHED, SQUAT, StandingRobot  # noqa: E402
from humanoid_stack.action import PlanContacts  # noqa: E402
from humanoid_stack.msg import (  # noqa: E402
    Contact,
    ContactForce,
    ContactPlan,
    PlanStatistics,
    PostureTask,
    Stance,
    StancePosture,
)

from humanoid_ros.messages.conversions import array, point  # noqa: E402
from humanoid_ros.messages.posture_messages import posture_message  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()
GHOST = "/plan/ghost_{}/CHEST_LINK1"


def step(q: np.ndarray, *contacts: Contact) -> StancePosture:
    """A step with one force."""
    force = ContactForce(body_a="hrp2/RLEG_LINK5", body_b="floor", friction=0.8)
    force.normal.z, force.force.z = 1.0, 500.0
    com = pin.centerOfMass(HRP2.model, HRP2.model.createData(), q)
    return StancePosture(
        posture=posture_message(HRP2, q), stance=Stance(contacts=contacts), forces=[force], centre_of_mass=point(com)
    )


def some_plan() -> ContactPlan:
    """Two steps: the right sole comes to the floor, and HRP-2 rises."""
    left = Contact(location="left_sole", surface="floor", y=0.1)
    right = Contact(location="right_sole", surface="floor", y=-0.1, kind=Contact.RELEASED)
    steps = [step(SQUAT, left), step(HRP2.postures["half_sitting"], left, right)]
    return ContactPlan(robot="hrp2", scene="stairs", steps=steps, statistics=PlanStatistics(nodes=9, time=1.5))


class Planner(StandingRobot):
    """HRP-2 on topics, and a contact planner that does as it is told."""

    def __init__(self, context: Any) -> None:
        super().__init__("planner", context)
        self.plan = self.create_publisher(ContactPlan, "plan", LATCHED)
        first = some_plan()
        first.steps = first.steps[:1]
        news = PlanContacts.Feedback(partial_plan=first, parents=[0, 0], potentials=[2.0, 1.25])
        news.places = [point((0.0, 0.0, 0.8)), point((0.1, 0.0, 0.8))]
        news.statistics = PlanStatistics(nodes=2, posture_calls=7, best_potential=1.25)
        more = PlanContacts.Feedback(parents=[1], potentials=[3.0], places=[point((0.2, 0.0, 0.8))])
        cancelled = PlanContacts.Result(message="Cancelled.", plan=first)
        self.server = ToldServer(self, PlanContacts, "plan_contacts", [news, more], cancelled)


@pytest.fixture(scope="module")
def planner() -> Iterator[Planner]:
    with spun_node(Planner, DOMAIN) as node:
        yield node


@pytest.fixture(scope="module")
def viewer(planner: Planner) -> Iterator[Viewer]:
    with running_viewer(DOMAIN) as viewer:
        yield viewer


@pytest.fixture
def page(planner: Planner, viewer: Viewer) -> Iterator[PageClient]:
    planner.server.begin()
    client = PageClient(viewer[1])
    wait_for(lambda: client.nodes["/robots/hrp2"]["visible"], "the robot is shown")
    wait_for(lambda: "stairs" in client.status, "it is told in which scene")
    label = wait_for(lambda: [each for each in ("Set goal", "Hide goal") if each in client.controls], "there is a goal")

    def offered() -> bool:
        """Asked again only after a while: a second press would take back the first."""
        end = time.monotonic() + 3.0
        if client.controls[label[0]]["label"] == "Set goal":
            client.set(label[0], True)
        while not client.controls["Plan contacts"].get("visible") and time.monotonic() < end:
            time.sleep(0.02)
        return bool(client.controls["Plan contacts"].get("visible"))

    wait_for(offered, "a plan may be asked for")
    yield client
    client.close()


def chest(posture: str) -> np.ndarray:
    """Where the chest's frame is in a posture."""
    return np.array(HRP2.link_placements(np.array(HRP2.postures[posture]))["CHEST_LINK1"].translation)


def test_a_click_on_a_step_is_where_the_plan_is_to_lead(planner: Planner, page: PageClient) -> None:
    com = pin.centerOfMass(HRP2.model, HRP2.model.createData(), SQUAT)
    wait_for_place(page, "/plan_goal", com + np.array([0.4, 0.0, 0.0]))
    # Straight down onto the first step of the scene, 0.1 m high.
    page.send(
        "ScenePointerMessage",
        event_type="click",
        ray_origin=(0.45, 0.05, 3.0),
        ray_direction=(0.0, 0.0, -1.0),
        screen_pos=((0.5, 0.5),),
        modifier="shift",
    )
    usual = pin.centerOfMass(HRP2.model, HRP2.model.createData(), HRP2.default_posture)[2]
    wait_for_place(page, "/plan_goal", [0.45, 0.05, 0.1 + usual])
    planner.server.answer = PlanContacts.Result(success=True, plan=some_plan())
    request = planner.server.press(page, "Plan contacts")
    assert (request.robot, request.scene, list(request.used_locations)) == (
        "hrp2",
        "stairs",
        [name for name, place in HRP2.contacts.items() if place.support],
    )
    links = HRP2.link_placements(SQUAT)
    for contact in request.start.contacts:
        place = HRP2.contacts[contact.location]
        where = links[place.link] * place.placement_link_patch
        assert (contact.surface, contact.x, contact.y) == ("floor", *(pytest.approx(x) for x in where.translation[:2]))
    (goal,), (potential,) = request.goal, request.potentials
    assert goal.kind == PostureTask.CENTRE_OF_MASS
    np.testing.assert_allclose(array(goal.target), [0.45, 0.05, 0.1 + usual], atol=1e-6)
    assert potential.target == goal.target
    assert request.collisions


def test_the_slider_goes_over_the_postures_of_what_was_found(planner: Planner, page: PageClient) -> None:
    planner.server.answer = PlanContacts.Result(success=True, plan=some_plan())
    planner.server.press(page, "Plan contacts")
    wait_for(lambda: "2 stances, 9 nodes, 1.5 s" in page.texts, "the result is told")
    wait_for_place(page, GHOST.format("found"), chest("half_sitting"))
    wait_for(lambda: page.nodes["/plan/ghost_found"]["visible"], "it is green")
    wait_for(lambda: "right_sole on floor (without force)" in page.texts, "the stance is told")
    wait_for(lambda: "/plan/number_2" in page.nodes, "its contacts are numbered")
    assert "/plan/number_3" not in page.nodes
    page.set("Stance", 0)
    wait_for_place(page, GHOST.format("found"), chest("squat"))
    wait_for(lambda: "stance 0: left_sole on floor" in page.texts, "the stance is told")
    page.set("Show plan", False)
    wait_for(lambda: page.nodes["/plan"].get("visible") is False, "it is hidden")
    page.set("Show plan", True)


def test_the_tree_is_drawn_as_it_grows_and_the_search_can_be_cancelled(planner: Planner, page: PageClient) -> None:
    planner.server.hold.clear()
    planner.server.press(page, "Plan contacts")
    wait_for(lambda: page.nodes["/plan/ghost_failed"]["visible"], "the way to the best node is shown, in red")
    wait_for(lambda: page.nodes["/plan/tree"]["visible"], "so is the tree")
    page.set("Search tree", False)
    wait_for(lambda: page.nodes["/plan/tree"]["visible"] is False, "the tree is hidden")
    page.set("Search tree", True)
    wait_for(lambda: page.controls["Plan contacts"]["disabled"], "no other is begun meanwhile")
    page.set("Cancel plan", True)
    wait_for(lambda: "Cancelled." in page.texts, "that is told")
    wait_for(lambda: not page.controls["Plan contacts"]["disabled"], "another one may be asked for")


@pytest.mark.feature("000-F020")
def test_a_plan_of_places_that_the_robot_has_not_is_told_and_the_next_one_shown(
    planner: Planner, page: PageClient
) -> None:
    """From the planner that was asked, and from somebody else; the panel may ask again."""
    strange = some_plan()
    strange.steps[1].stance.contacts[1].location = "third_sole"
    planner.server.answer = PlanContacts.Result(success=True, plan=strange)
    planner.server.press(page, "Plan contacts")
    wait_for(lambda: "A plan can&#x27;t be shown" in page.texts and "third_sole" in page.texts, "that is told")
    wait_for(lambda: not page.controls["Plan contacts"]["disabled"], "another one may be asked for")
    page.set("Stance", 0)
    strange.header.stamp.sec = 5
    planner.plan.publish(strange)
    wait_for(lambda: "A plan can&#x27;t be shown" in page.texts, "that is told again")
    private = some_plan()
    private.robot, private.header.stamp.sec = "/etc/robot.yaml", 6
    planner.plan.publish(private)
    wait_for(lambda: "isn&#x27;t in a folder that requests may name files of" in page.texts, "no file is opened")
    good = some_plan()
    good.header.stamp.sec = 8
    planner.plan.publish(good)
    wait_for(lambda: "2 stances" in page.texts, "the next one is shown")


def test_plans_of_others_are_shown_and_what_goes_wrong_is_told(planner: Planner, page: PageClient) -> None:
    other = some_plan()
    other.header.stamp.sec = 7
    planner.plan.publish(other)
    wait_for(lambda: page.nodes["/plan/ghost_found"]["visible"], "it is shown")
    wait_for_place(page, GHOST.format("found"), chest("half_sitting"))
    planner.server.answer = PlanContacts.Result(message="goal: no posture fulfils it.")
    planner.server.press(page, "Plan contacts")
    wait_for(lambda: "goal: no posture fulfils it." in page.texts, "the reason is told")
    planner.server.withdraw()
    wait_for(lambda: page.set("Plan contacts", True) or "No node offers plan_contacts" in page.texts, "nobody is there")
