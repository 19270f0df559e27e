# SPDX-License-Identifier: Apache-2.0
"""A plan's motion on the viewer's page over DDS: a node of this test plays planner, simulator and bridge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fixtures.page_client import PageClient, wait_for
from fixtures.ros_domain import claim_domain

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from fixtures.page_partner import ToldServer, Viewer, running_viewer, spun_node  # noqa: E402
from fixtures.standing_robot import HRP2, LATCHED, SQUAT, StandingRobot  # noqa: E402
from humanoid_stack.action import ExecuteTrajectory, GenerateMotion  # noqa: E402
from humanoid_stack.msg import Contact, ContactPlan, Stance, StancePosture, WholeBodyTrajectory  # noqa: E402
from humanoid_stack.srv import SetState  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from humanoid_ros.messages.conversions import duration  # noqa: E402
from humanoid_ros.messages.posture_messages import posture_message  # noqa: E402
from humanoid_ros.node.qos import SENSOR  # noqa: E402

pytestmark = pytest.mark.ros
DOMAIN = claim_domain()
LENGTH = 2.5
"""Of the motion [s]."""


def motion() -> WholeBodyTrajectory:
    """One joint, from 0.3 to 0.4 rad."""
    made = WholeBodyTrajectory(robot="hrp2")
    made.joints.joint_names = ["HEAD_JOINT0"]
    for time, position in ((0.0, 0.3), (LENGTH, 0.4)):
        made.joints.points.append(JointTrajectoryPoint(positions=[position], time_from_start=duration(time)))
    made.base = [posture_message(HRP2, SQUAT).base] * 2
    return made


class Partners(StandingRobot):
    """HRP-2 on topics, and the nodes that make, play and run a motion, which do as they are told.

    Attributes:
        states: that were asked for.
        refusal: of the next one; empty: none.
        signs: of life, ids of goals as they came.
    """

    def __init__(self, context: Any) -> None:
        super().__init__("partners", context)
        self.states: list[SetState.Request] = []
        self.refusal = ""
        self.signs: list[bytes] = []
        self._plan = self.create_publisher(ContactPlan, "plan", LATCHED)
        self._stamp = 0
        step = GenerateMotion.Feedback(step=1, steps=3, stage="left_sole from floor to step_1")
        self.maker = ToldServer(
            self, GenerateMotion, "generate_motion", [step], GenerateMotion.Result(message="Cancelled.")
        )
        follow = FollowJointTrajectory.Feedback()
        follow.desired.time_from_start = duration(0.5)
        held = FollowJointTrajectory.Result(error_string="The joints are held.")
        name = "whole_body_controller/follow_joint_trajectory"
        self.player = ToldServer(self, FollowJointTrajectory, name, [follow], held)
        path = ExecuteTrajectory.Feedback(path_time=1.0, duration=LENGTH, speed=0.5, max_joint_error=2e-3)
        stopped = ExecuteTrajectory.Result(code=ExecuteTrajectory.Result.STOPPED, message="stands at 1.000 s")
        self.bridge = ToldServer(self, ExecuteTrajectory, "execute_trajectory", [path], stopped)
        self.create_service(SetState, "set_state", self._set_state)
        self.create_subscription(UUID, "execute_trajectory/alive", self._on_sign, SENSOR)

    def tell_plan(self, steps: int = 2, **fields: Any) -> None:
        """Publish another plan of so many steps."""
        self._stamp += 1
        left = Contact(location="left_sole", surface="floor", y=0.1)
        step = StancePosture(posture=posture_message(HRP2, SQUAT), stance=Stance(contacts=[left]))
        plan = ContactPlan(robot="hrp2", scene="stairs", steps=[step] * steps, **fields)
        plan.header.stamp.sec = self._stamp
        self._plan.publish(plan)

    def begin(self) -> None:
        for server in (self.maker, self.player, self.bridge):
            server.begin()
        self.maker.answer = GenerateMotion.Result(success=True, trajectory=motion())
        self.states.clear()
        self.signs.clear()
        self.refusal = ""

    def _set_state(self, request: SetState.Request, response: SetState.Response) -> SetState.Response:
        self.states.append(request)
        response.success, response.message = not self.refusal, self.refusal
        return response

    def _on_sign(self, message: UUID) -> None:
        self.signs.append(bytes(message.uuid))


@pytest.fixture(scope="module")
def partners() -> Iterator[Partners]:
    with spun_node(Partners, DOMAIN) as node:
        yield node


@pytest.fixture(scope="module")
def viewer(partners: Partners) -> Iterator[Viewer]:
    with running_viewer(DOMAIN) as viewer:
        yield viewer


@pytest.fixture
def page(partners: Partners, viewer: Viewer) -> Iterator[PageClient]:
    """A page with a new plan, of which no motion is there."""
    partners.begin()
    client = PageClient(viewer[1])
    wait_for(lambda: client.nodes["/robots/hrp2"]["visible"], "the robot is shown")
    wait_for(lambda: not client.controls["Cancel motion"].get("visible"), "nothing is under way")
    partners.tell_plan()
    wait_for(lambda: "2 stances" in client.texts, "the plan is shown")
    wait_for(lambda: client.controls["Play"].get("visible") is False, "there is no motion yet")
    yield client
    client.close()


def make(partners: Partners, page: PageClient) -> GenerateMotion.Goal:
    """Make the motion; returns what was asked."""
    asked = partners.maker.press(page, "Make motion")
    wait_for(lambda: "A motion of 2.5 s." in page.texts, "it is told")
    wait_for(lambda: page.controls["Play"]["visible"] and not page.controls["Play"]["disabled"], "it may be played")
    return asked


@pytest.mark.feature("000-F019")
def test_a_plan_is_made_a_motion_which_is_played_from_its_start(partners: Partners, page: PageClient) -> None:
    page.set("Move clear", False)
    asked = make(partners, page)
    assert (asked.plan.header.stamp.sec, asked.collisions) == (partners._stamp, False)
    page.set("Move clear", True)
    partners.player.answer = FollowJointTrajectory.Result(error_string="Goal reached.")
    partners.player.hold.clear()
    goal = partners.player.press(page, "Play")
    wait_for(lambda: "0.5 of 2.5 s" in page.texts, "how far it is")
    (state,) = partners.states
    assert (list(state.joint_names), list(state.joint_positions)) == (["HEAD_JOINT0"], [0.3])
    assert state.set_pose
    assert state.pose.position == motion().base[0].position
    np.testing.assert_allclose([point.positions[0] for point in goal.trajectory.points], [0.3, 0.4])
    page.set("Cancel motion", True)
    wait_for(lambda: "The joints are held." in page.texts, "that is told")
    assert partners.player.cancelled


def test_a_motion_that_can_not_be_made_is_told_and_not_offered(partners: Partners, page: PageClient) -> None:
    partners.maker.hold.clear()
    partners.maker.press(page, "Make motion")
    wait_for(lambda: "step 1 of 3: left_sole from floor to step_1" in page.texts, "how far it is")
    page.set("Cancel motion", True)
    wait_for(lambda: "Cancelled." in page.texts, "that is told")
    partners.maker.begin()
    partners.maker.answer = GenerateMotion.Result(message="step 2 has no way", trajectory=motion())
    partners.maker.press(page, "Make motion")
    wait_for(lambda: "step 2 has no way" in page.texts, "so is why there is none")
    assert page.controls["Play"]["visible"] is False


@pytest.mark.feature("000-F019")
def test_a_motion_of_the_plan_before_is_not_taken(partners: Partners, page: PageClient) -> None:
    partners.maker.hold.clear()
    partners.maker.press(page, "Make motion")
    partners.tell_plan(3)
    wait_for(lambda: "3 stances" in page.texts, "another plan is shown")
    partners.maker.hold.set()
    wait_for(lambda: "made of the plan before this one" in page.texts, "that is told")
    assert page.controls["Play"]["visible"] is False


@pytest.mark.feature("000-F019")
def test_a_plan_that_has_its_motion_is_played_as_it_comes(partners: Partners, page: PageClient) -> None:
    partners.tell_plan(4, trajectory=motion())
    wait_for(lambda: page.controls["Play"].get("visible") is True, "it may be played")
    assert "A motion of 2.5 s." in page.texts
    partners.player.answer = FollowJointTrajectory.Result(error_string="Goal reached.")
    goal = partners.player.press(page, "Play")
    np.testing.assert_allclose([point.positions[0] for point in goal.trajectory.points], [0.3, 0.4])


def test_the_simulator_s_refusal_is_told(partners: Partners, page: PageClient) -> None:
    make(partners, page)
    partners.refusal = "joint_positions: beyond a limit"
    page.set("Put at start", True)
    wait_for(lambda: "set_state: joint_positions: beyond a limit" in page.texts, "that is told")
    partners.refusal = ""
    page.set("Put at start", True)
    wait_for(lambda: "stands where the motion begins" in page.texts, "it stands there")
    assert not partners.player.asked


@pytest.mark.feature("000-F019")
def test_the_bridge_runs_it_as_long_as_the_browser_that_asked_is_there(
    partners: Partners, page: PageClient, viewer: Viewer
) -> None:
    make(partners, page)
    page.set("Speed of the bridge", 0.5)
    partners.bridge.hold.clear()
    goal = partners.bridge.press(page, "Run through bridge")
    assert goal.speed_scale == 0.5
    assert goal.dead_man.sec + 1e-9 * goal.dead_man.nanosec == 1.0
    assert goal.trajectory.joints == motion().joints
    wait_for(lambda: "1.0 of 2.5 s, speed 0.50, joints within 2.0 mrad" in page.texts, "how far it is")
    wait_for(lambda: len(partners.signs) > 3, "signs of life come")
    assert len(set(partners.signs)) == 1
    other = PageClient(viewer[1])
    wait_for(lambda: other.controls["Cancel motion"]["visible"], "another browser sees it")
    page.kill()

    def silent() -> bool:
        partners.signs.clear()
        return not wait(lambda: bool(partners.signs))

    wait_for(silent, "signs end with the browser, and not with the page")
    other.set("Cancel motion", True)
    wait_for(lambda: "stands at 1.000 s" in other.texts, "the other one may cancel")
    assert partners.bridge.cancelled
    other.close()


def wait(condition: Any) -> bool:
    """Whether a condition becomes true in the time of ten signs."""
    try:
        return bool(wait_for(condition, "it is", 2.0))
    except AssertionError:
        return False


def test_what_the_bridge_refuses_is_told(partners: Partners, page: PageClient) -> None:
    make(partners, page)
    wrong = ExecuteTrajectory.Result.WRONG_START
    partners.bridge.answer = ExecuteTrajectory.Result(code=wrong, message="points[0].positions: begins elsewhere")
    partners.bridge.press(page, "Run through bridge")
    wait_for(lambda: "points[0].positions: begins elsewhere" in page.texts, "that is told")
    wait_for(lambda: not page.controls["Run through bridge"]["disabled"], "it may be asked again")
