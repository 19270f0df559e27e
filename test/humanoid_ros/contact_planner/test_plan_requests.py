# SPDX-License-Identifier: Apache-2.0
"""Contact plans over DDS: the library's own, what is told on the way, cancel, what is drawn, motions, refusals."""

from __future__ import annotations

import itertools
import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from fixtures.plan_requests import centre_of_mass_at, feet, stairs  # noqa: E402
from fixtures.ros_processes import children  # noqa: E402
from geometry_msgs.msg import Point  # noqa: E402
from humanoid_stack.action import GenerateMotion  # noqa: E402
from humanoid_stack.action import PlanContacts as PlanAction  # noqa: E402
from humanoid_stack.msg import (  # noqa: E402
    Contact,
    ContactCandidates,
    ContactLocation,
    ContactPair,
    ContactPlan,
    ContactPlanRequest,
    PlanPotential,
    Posture,
    PostureTask,
    Stance,
    StancePosture,
    StanceTerm,
    Surface,
    WholeBodyTrajectory,
)
from humanoid_stack.srv import CheckEquilibrium, PlanContacts, VerifyPlan  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

import humanoid_planner.contacts as library  # noqa: E402
from examples.contact_scenarios import TOP, five_stairs  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_planner.posture.tasks import centre_of_mass_at as centre_of_mass_task  # noqa: E402
from humanoid_ros.messages.conversions import array, seconds  # noqa: E402
from humanoid_ros.messages.posture_messages import configuration  # noqa: E402

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NAN = float("nan")
NODES = 12
"""Of plans that are long enough to look at."""


@pytest.fixture(scope="module")
def scenario() -> Any:
    return five_stairs()


@pytest.fixture(scope="module")
def own_plan(scenario: Any) -> library.ContactPlan:
    """The library's plan of the first nodes."""
    return library.plan_contacts(scenario.but(seed=2).problem, max_nodes=NODES)


class Goal:
    """A goal of the action and what is told of it."""

    def __init__(self, node: Any, request: ContactPlanRequest) -> None:
        self._node = node
        action = node.action(PlanAction, "plan_contacts")
        # Of what comes while nobody spins an action's client keeps ten.
        self._heard = node.listen(PlanAction.Impl.FeedbackMessage, "plan_contacts/_action/feedback")
        self.handle = node.result(action.send_goal_async(PlanAction.Goal(request=request)))

    @property
    def told(self) -> list[PlanAction.Feedback]:
        return [item.feedback for item in list(self._heard.messages) if item.goal_id == self.handle.goal_id]

    def wait_for(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + 180.0
        while not condition():
            assert time.monotonic() < end, "not told in time"
            time.sleep(0.01)

    def result(self) -> tuple[int, Any]:
        answer = self._node.result(self.handle.get_result_async())
        return answer.status, answer.result


PAIR = ContactPair(location="left_sole", surface="step_1")


def planned(node: Any, request: ContactPlanRequest) -> Any:
    return node.call(PlanContacts, "plan_contacts", PlanContacts.Request(request=request))


def postures(scenario: Any, plan: ContactPlan) -> list[np.ndarray]:
    return [configuration(step.posture, scenario.robot, "posture") for step in plan.steps]


# Plans ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("001-F023", "001-F024", "001-F251", "001-F259")
def test_the_action_gives_the_librarys_plan_and_tells_the_tree_as_it_grows(
    contact_planner: Any, scenario: Any, own_plan: library.ContactPlan
) -> None:
    goal = Goal(contact_planner, stairs(max_nodes=NODES))
    status, result = goal.result()
    assert status == GoalStatus.STATUS_ABORTED
    assert result.message == own_plan.explanation
    plan = result.plan
    np.testing.assert_allclose(postures(scenario, plan), own_plan.postures, atol=1e-9)
    for step, stance in zip(plan.steps, own_plan.stances, strict=True):
        assert [(c.location, c.surface, c.x, c.y, c.theta, c.kind) for c in step.stance.contacts] == [
            (c.location.name, c.surface.name, c.x, c.y, c.theta, c.kind) for c in stance.contacts
        ]
        total = np.sum([array(force.force) for force in step.forces], axis=0)
        np.testing.assert_allclose(total, [0.0, 0.0, scenario.robot.total_mass * 9.81], atol=0.01)
    assert [step.potential for step in plan.steps] == list(own_plan.potentials)
    spent = own_plan.statistics
    assert (plan.statistics.nodes, plan.statistics.expanded) == (spent.nodes, spent.expanded)
    assert sum(plan.statistics.code_counts) == plan.statistics.posture_calls == len(spent.calls)
    goal.wait_for(lambda: bool(goal.told) and goal.told[-1].statistics.nodes == spent.nodes)
    parents = [parent for item in goal.told for parent in item.parents]
    potentials = [value for item in goal.told for value in item.potentials]
    places = [place for item in goal.told for place in item.places]
    assert len(parents) == len(potentials) == len(places) == spent.nodes
    assert parents[0] == 0
    assert all(parent < child for child, parent in enumerate(parents[1:], start=1))
    best, partial = goal.told[-1], [item.partial_plan for item in goal.told if item.partial_plan.steps][-1]
    assert best.statistics.best_potential == min(potentials) == partial.steps[-1].potential
    assert partial.steps == plan.steps
    assert places[int(np.argmin(potentials))] == plan.steps[-1].centre_of_mass


@pytest.mark.feature("001-F025")
def test_a_plan_that_reaches_its_goal_is_shown_checked_and_drawn(contact_planner: Any, scenario: Any) -> None:
    near = centre_of_mass_at((0.15, 0.0, 0.75), 0.15)
    request = stairs(goal=[near], potentials=[PlanPotential(target=near.target)], shorten=True)
    answer = planned(contact_planner, request)
    assert answer.success, answer.message
    plan = answer.plan
    assert (plan.robot, plan.scene, plan.header.frame_id) == ("hrp2", "five_stairs", "world")
    assert contact_planner.listen(ContactPlan, "plan", LATCHED).wait() == plan
    assert np.linalg.norm(array(plan.steps[-1].centre_of_mass) - array(near.target)) < 0.15 + 1e-5
    markers = contact_planner.listen(MarkerArray, "plan_markers", LATCHED).wait().markers
    assert markers[0].action == Marker.DELETEALL
    numbers = [marker.text for marker in markers if marker.ns == "contact_numbers"]
    places = {(c.location, c.surface, c.x, c.y) for step in plan.steps for c in step.stance.contacts}
    assert numbers == [str(number) for number in range(1, len(places) + 1)]
    assert {"stances", "contacts", "contact_forces", "surfaces", "centre_of_mass"} <= {m.ns for m in markers}
    checked = contact_planner.call(VerifyPlan, "verify_plan", VerifyPlan.Request(plan=plan))
    assert checked.success, checked.message
    assert checked.valid, checked.violations
    assert checked.postures == len(plan.steps)
    assert 0.0 <= checked.max_drift < 1e-3
    assert 0.0 < checked.max_torque < 1.0
    strict = contact_planner.call(VerifyPlan, "verify_plan", VerifyPlan.Request(plan=plan, torque=0.01))
    assert {item.kind for item in strict.violations} == {"torque"}
    plan.steps[1].posture.base.position.z += 0.01
    lifted = contact_planner.call(VerifyPlan, "verify_plan", VerifyPlan.Request(plan=plan))
    assert lifted.success
    assert not lifted.valid
    assert {(item.step, item.kind) for item in lifted.violations} == {(1, "drift")}


@pytest.mark.feature("001-F159")
def test_failures_put_stances_off_as_in_the_library(contact_planner: Any, scenario: Any) -> None:
    """On the floor alone most contacts nearer to the goal have no posture.

    Which foot is lifted first is a tie of mirror images, which the last bits of the arithmetic break: what holds on any
    processor is what several seeds have in common.
    """
    plans = {
        (seed, penalty): library.plan_contacts(
            scenario.but(surfaces=["floor"], seed=seed, failure_penalty=penalty).problem, max_nodes=25
        )
        for seed in range(1, 7)
        for penalty in (1.0, 0.0)
    }
    expanded = {p: sum(plan.statistics.expanded for (_, own), plan in plans.items() if own == p) for p in (1.0, 0.0)}
    assert expanded[1.0] > 1.2 * expanded[0.0], "other stances than the ones that failed are tried"
    for penalty in (1.0, 0.0):
        plan = plans[2, penalty]
        answer = planned(
            contact_planner, stairs(used_surfaces=["floor"], max_nodes=25, failure_penalty=penalty)
        ).plan
        assert answer.statistics.posture_calls == len(plan.statistics.calls)
        assert answer.statistics.expanded == plan.statistics.expanded
        np.testing.assert_allclose(postures(scenario, answer), plan.postures, atol=1e-9)


@pytest.mark.feature("001-F159")
def test_few_children_and_contacts_at_the_end_are_asked_for_as_in_the_library(
    contact_planner: Any, scenario: Any
) -> None:
    """Nothing but the contacts is asked of the end: the first stance that holds both ends the search."""
    holds = [("left_sole", "step_5"), ("right_sole", "step_5")]
    anywhere = centre_of_mass_at((0.0, 0.0, 0.0), 9.0)
    goal = [centre_of_mass_task([0.0, 0.0, 0.0], 9.0)]
    plan = library.plan_contacts(scenario.but(goal=goal, children=2, goal_holds=holds, seed=2).problem, max_nodes=60)
    assert plan.success
    pairs = [ContactPair(location=location, surface=surface) for location, surface in holds]
    answer = planned(contact_planner, stairs(goal=[anywhere], children=2, goal_holds=pairs, max_nodes=60))
    assert answer.success, answer.message
    held = {(contact.location, contact.surface) for contact in answer.plan.steps[-1].stance.contacts}
    assert held == set(holds)
    assert answer.plan.statistics.posture_calls == len(plan.statistics.calls)
    np.testing.assert_allclose(postures(scenario, answer.plan), plan.postures, atol=1e-9)


@pytest.mark.feature("001-F210")
def test_a_smooth_plan_holds_the_same_and_is_shorter(contact_planner: Any, scenario: Any) -> None:
    near = centre_of_mass_at((0.15, 0.0, 0.75), 0.15)
    fields = {"goal": [near], "potentials": [PlanPotential(target=near.target)], "shorten": True}
    rough, smooth = (planned(contact_planner, stairs(**fields, smooth=one)).plan for one in (False, True))

    def places(plan: ContactPlan) -> list[list[tuple[str, str, float, float, int]]]:
        return [[(c.location, c.surface, c.x, c.y, c.kind) for c in step.stance.contacts] for step in plan.steps]

    def unevenness(plan: ContactPlan) -> float:
        pairs = itertools.pairwise(postures(scenario, plan))
        return float(sum(np.sum(pin.difference(scenario.robot.model, *pair) ** 2) for pair in pairs))

    assert places(smooth) == places(rough)
    assert unevenness(smooth) < 0.9 * unevenness(rough)
    checked = contact_planner.call(VerifyPlan, "verify_plan", VerifyPlan.Request(plan=smooth))
    assert checked.valid, checked.violations


def test_rviz_shows_plans(contact_planner: Any) -> None:
    with open(find_resource("config/humanoid_stack.rviz"), encoding="utf-8") as file:
        displays = yaml.safe_load(file)["Visualization Manager"]["Displays"]
    (topic,) = (display["Topic"] for display in displays if display["Name"] == "Contact plan")
    offered = contact_planner.offered(topic["Value"])
    assert offered.topic_type == "visualization_msgs/msg/MarkerArray"
    assert topic["Durability Policy"] == "Transient Local"


NOWHERE = centre_of_mass_at((9.0, 0.0, 1.0), 0.1)
"""Goal of a search that doesn't end by itself, however late one comes."""


def test_a_cancel_ends_at_once_with_the_path_to_the_best_node(contact_planner: Any) -> None:
    goal = Goal(contact_planner, stairs(goal=[NOWHERE]))
    goal.wait_for(lambda: any(len(item.partial_plan.steps) > 2 for item in goal.told))
    began = time.monotonic()
    contact_planner.result(goal.handle.cancel_goal_async())
    status, result = goal.result()
    assert time.monotonic() - began < 20.0  # of minutes
    assert status == GoalStatus.STATUS_CANCELED
    assert result.message == "Cancelled."
    best = result.plan.steps[-1].potential
    goal.wait_for(lambda: best == min(value for item in goal.told for value in item.potentials))


def test_others_are_served_meanwhile_and_a_worker_that_dies_is_named(contact_planner: Any) -> None:
    goal = Goal(contact_planner, stairs(goal=[NOWHERE]))
    goal.wait_for(lambda: any(item.partial_plan.steps for item in goal.told))
    check = CheckEquilibrium.Request(
        robot="hrp2",
        scene="five_stairs",
        stance=feet(),
        method=CheckEquilibrium.Request.CONTACT_FORCES,
        centre_of_mass=Point(x=-0.15, z=0.8),
    )
    assert contact_planner.call(CheckEquilibrium, "check_equilibrium", check).equilibrium
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children(contact_planner.process.pid)}
    (worker,) = (child for child, command in commands.items() if b"process_workers" in command)
    os.kill(worker, signal.SIGKILL)
    status, result = goal.result()
    assert status == GoalStatus.STATUS_ABORTED
    assert "The process that worked on it ended with code -9" in result.message
    assert result.plan.steps
    assert planned(contact_planner, stairs(max_nodes=1)).plan.steps


# Refusals ---------------------------------------------------------------------------------------------------------

SOLE = ["left_sole", "right_sole"]
HANDS = ContactCandidates(kind=1, places=[Contact(location="left_hand_back", surface="floor")])


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": "nobody"}, "unknown robot 'nobody'"),
        ({"robot": "robot_2r_a"}, "robot: 'robot_2r_a' is fixed to the world"),
        ({"scene": "moon"}, "unknown scene 'moon'"),
        ({"scene": "carrying"}, "surfaces: the scene 'carrying' has none that is fixed in the world"),
        ({"locations": [ContactLocation(name="tip", link="NOSE")]}, "locations[0].link: there is no link 'NOSE'"),
        ({"used_locations": ["tail"]}, "used_locations[0]: there is no contact location 'tail'"),
        ({"used_locations": [*SOLE, SOLE[0]]}, "used_locations[2]: 'left_sole' comes twice"),
        ({"used_surfaces": ["ceiling"]}, "used_surfaces[0]: there is no fixed surface 'ceiling'. Known are: floor"),
        ({"surfaces": [Surface(name="floor", body="world")]}, "surfaces[0].name: there is already a surface 'floor'"),
        ({"surfaces": [Surface(name="rail", body="world", form=1, radius=-1.0)]}, "surfaces[0].radius: is -1. Give"),
        ({"start": Stance()}, "start.contacts: is empty"),
        ({"start": feet("ceiling")}, "start.contacts[0].surface: there is no surface 'ceiling'"),
        ({"start": feet(x=NAN)}, "start.contacts[0].x: is nan"),
        ({"used_surfaces": ["step_1"]}, "start.contacts[0].surface: there is no used surface 'floor'"),
        ({"start": Stance(contacts=[Contact(location="left_sole", surface="floor", kind=1)])}, "kind: is 1 (SLIDING)"),
        ({"start_posture": Posture(joint_names=["RLEG_JOINT0"])}, "start_posture.positions: has 0 values for 1 joint"),
        ({"goal": []}, "goal: is empty"),
        ({"goal": [PostureTask(link="NOSE")]}, "goal[0].link: there is no link 'NOSE'"),
        ({"goal": [centre_of_mass_at((NAN, 0.0, 1.0), 0.1)]}, "goal[0].target: is [nan, 0.0, 1.0]"),
        (
            {"goal": [centre_of_mass_at(TOP, 0.2), centre_of_mass_at((9.0, 0.0, 1.0), 0.1, "far")]},
            "goal: no posture fulfils it, whatever it holds",
        ),
        ({"tasks": [PostureTask(kind=99)]}, "tasks[0].kind: is 99"),
        ({"forbidden": [ContactPair()]}, "forbidden[0]: names nothing"),
        ({"forbidden": [ContactPair(location="tail")]}, "forbidden[0].location: there is no used location"),
        ({"forbidden": [ContactPair(surface="tail")]}, "forbidden[0].surface: there is no used surface 'tail'"),
        ({"goal_holds": [ContactPair(location="tail")]}, "goal_holds[0].location: there is no used location 'tail'"),
        ({"goal_holds": [PAIR], "forbidden": [PAIR]}, "goal_holds: left_sole on step_1 is forbidden"),
        (
            {"goal_holds": [PAIR, ContactPair(location="left_sole", surface="step_2")]},
            "goal_holds: left_sole on step_1 and left_sole on step_2 are both of LLEG_LINK5. Give one",
        ),
        ({"pre_contact": 3}, "pre_contact: is 3. Give one of 0 (WHERE_CHOSEN), 1 (ALWAYS), 2 (NEVER)"),
        ({"children": 2, "pre_contact": ContactPlanRequest.ALWAYS}, "children: is 2. Give it with places"),
        ({"friction": -0.5}, "friction: is -0.5"),
        ({"terms": [StanceTerm(kind=4, names=["left_sole"])]}, "terms[0].names: has 1 names. Give the left and"),
        ({"candidates": ContactCandidates(kind=7)}, "candidates.kind: is 7. Give one of 0 (DRAWN)"),
        ({"candidates": ContactCandidates(density=0.0)}, "candidates.density: is 0. Give a finite number above 0"),
        ({"candidates": ContactCandidates(radius=1e9)}, "candidates.radius: is 1e+09"),
        ({"candidates": ContactCandidates(headings=[0.0, NAN])}, "candidates.headings[1]: is nan"),
        ({"candidates": ContactCandidates(kind=1)}, "candidates.places: is empty"),
        ({"candidates": HANDS}, "candidates.places[0].location: there is no used location 'left_hand_back'"),
        ({"method": 1}, "candidates.kind: are not CHOSEN, but the method is VBFP"),
        ({"method": 1, "candidates": ContactCandidates(kind=2)}, "criterion: is given, but the method is VBFP"),
        ({"method": 9}, "method: is 9. Give one of 0 (BFP), 1 (VBFP)"),
        ({"potentials": [PlanPotential(kind=9)]}, "potentials[0].kind: is 9"),
        ({"potentials": [PlanPotential(target=Point(z=math.inf))]}, "potentials[0].target: is [0.0, 0.0, inf]"),
        ({"potentials": [PlanPotential(kind=1)]}, "potentials[0].link: there is no link ''"),
        ({"potentials": [PlanPotential(kind=2)]}, "guide: has 0 postures. Give two or more."),
        ({"potentials": [PlanPotential(weight=-1.0)]}, "potentials[0].weight: is -1"),
        ({"terms": [StanceTerm(kind=1)]}, "terms[0].names: is empty"),
        ({"terms": [StanceTerm(kind=2, names=["tail"])]}, "terms[0].names[0]: there is no contact location or link"),
        ({"criterion": 4}, "criterion: is 4 (CENTRE_IN_POLYGON), which belongs to one stance"),
        ({"criterion": 6}, "stability: is 4, but the criterion is LEAST_TORQUE"),
        ({"stability": 5}, "stability: is 5. Give one of 0 (NO_STABILITY)"),
        ({"collision_margin": 0.1}, "collision_margin: is 0.1, but collisions are not avoided"),
        ({"joint_margin": NAN}, "joint_margin: is nan"),
        ({"failure_penalty": NAN}, "failure_penalty: is nan. Give a finite number of 0 or more"),
        ({"failure_penalty": -0.1}, "failure_penalty: is -0.1. Give a finite number of 0 or more"),
        ({"contact_spacing": 0.0}, "contact_spacing: is 0. Give a finite number above 0 [m]"),
        ({"max_potential": NAN}, "max_potential: is nan"),
        ({"time_limit": Duration(sec=-1)}, "time_limit: is -1 s"),
    ],
)
def test_bad_requests_are_answered(contact_planner: Any, fields: dict[str, Any], message: str) -> None:
    answer = planned(contact_planner, stairs(**fields))
    assert not answer.success
    assert message in answer.message
    assert not answer.plan.steps


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "plan.steps: is empty"),
        ({"plan": ContactPlan(robot="hrp2", scene="moon", steps=[StancePosture()])}, "unknown scene 'moon'"),
        ({"plan": ContactPlan(robot="hrp2", scene="stand", steps=[StancePosture()])}, "plan.steps[0].posture: names"),
        ({"drift": NAN}, "drift: is nan"),
        ({"torque": -1.0}, "torque: is -1. Give a finite number of 0 or more"),
    ],
)
def test_bad_plans_to_check_are_answered(contact_planner: Any, fields: dict[str, Any], message: str) -> None:
    answer = contact_planner.call(VerifyPlan, "verify_plan", VerifyPlan.Request(**fields))
    assert not answer.success
    assert message in answer.message


# Motions ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def short_plan(contact_planner: Any) -> ContactPlan:
    """One step ahead, with a reserve."""
    near = centre_of_mass_at((0.15, 0.0, 0.75), 0.15)
    fields = {"stability": 2, "stability_margin": 10.0, "torque_limits": True, "shorten": True}
    answer = planned(contact_planner, stairs(goal=[near], potentials=[PlanPotential(target=near.target)], **fields))
    assert answer.success, answer.message
    return answer.plan


@pytest.mark.feature("001-F023", "001-F220")
def test_a_plan_comes_with_its_motion(contact_planner: Any, scenario: Any) -> None:
    near = centre_of_mass_at((0.15, 0.0, 0.75), 0.15)
    potential = [PlanPotential(target=near.target)]
    answer = planned(contact_planner, stairs(goal=[near], potentials=potential, shorten=True, motion=True))
    assert answer.success, answer.message
    trajectory, steps = answer.plan.trajectory, answer.plan.steps
    assert contact_planner.listen(WholeBodyTrajectory, "trajectory", LATCHED).wait() == trajectory
    planned_holds, holds = (
        {
            (one.location, one.surface, round(one.x, 6), round(one.y, 6))
            for item in items
            for one in item.stance.contacts
        }
        for items in (steps, trajectory.contacts)
    )
    assert holds == planned_holds
    first, last = trajectory.joints.points[0], trajectory.joints.points[-1]
    assert not any(first.velocities)
    assert not any(last.velocities)
    spent = answer.plan.statistics
    assert spent.ways >= len(steps) - 1
    assert spent.ways_refused <= spent.ways - (len(steps) - 1)
    assert 0.0 < spent.ways_time < spent.time


def moved(node: Any, goal: GenerateMotion.Goal) -> tuple[int, Any, list[GenerateMotion.Feedback]]:
    told: list[GenerateMotion.Feedback] = []
    action = node.action(GenerateMotion, "generate_motion")
    handle = node.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    answer = node.result(handle.get_result_async())
    return answer.status, answer.result, told


@pytest.mark.feature("001-F240")
def test_a_motion_without_time_says_where_it_ended(contact_planner: Any, short_plan: ContactPlan) -> None:
    goal = GenerateMotion.Goal(plan=short_plan, collisions=False, time_limit=Duration(nanosec=1))
    status, result, _ = moved(contact_planner, goal)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.message.startswith("Ended at step 0")
    assert "time limit" in result.message


def test_a_plan_becomes_a_motion_that_begins_and_ends_as_the_plan_and_is_within_speed(
    contact_planner: Any, scenario: Any, short_plan: ContactPlan
) -> None:
    goal = GenerateMotion.Goal(plan=short_plan, collisions=False, pause=0.2, period=0.01, speed=0.4)
    status, result, told = moved(contact_planner, goal)
    assert status == GoalStatus.STATUS_SUCCEEDED, result.message
    trajectory, robot = result.trajectory, scenario.robot
    assert contact_planner.listen(WholeBodyTrajectory, "trajectory", LATCHED).wait() == trajectory
    names = list(trajectory.joints.joint_names)
    times = np.array([seconds(item.time_from_start) for item in trajectory.joints.points])
    angles = np.array([item.positions for item in trajectory.joints.points])
    assert (np.diff(times) > 0.0).all()
    bounds = np.array([robot.limits.velocity[robot.index_v(name)] for name in names])
    assert (np.abs(np.diff(angles, axis=0) / np.diff(times)[:, None]) <= 0.4 * bounds + 1e-3).all()
    # The plan's posture is found again with a reserve: its contacts stay where they are.
    data = robot.model.createData()
    for point, base, step in (
        (angles[0], trajectory.base[0], short_plan.steps[0]),
        (angles[-1], trajectory.base[-1], short_plan.steps[-1]),
    ):
        q = configuration(Posture(joint_names=names, positions=point.tolist(), base=base), robot, "posture")
        pin.framesForwardKinematics(robot.model, data, q)
        for contact in step.stance.contacts:
            place = robot.contacts[contact.location]
            frame = data.oMf[robot.model.getFrameId(place.link)] * place.placement_link_patch
            np.testing.assert_allclose(frame.translation, array(contact.pose.position), atol=1e-3)
    assert [item.step for item in told] == sorted(item.step for item in told)
    assert {item.steps for item in told} <= {0, len(short_plan.steps)}
    assert any("right_sole" in item.stage for item in told)


@pytest.mark.slow
@pytest.mark.feature("003-F031")
def test_a_motion_in_stride_takes_a_part_of_the_time(contact_planner: Any, short_plan: ContactPlan) -> None:
    ends = []
    for in_stride in (False, True):
        goal = GenerateMotion.Goal(plan=short_plan, collisions=False, in_stride=in_stride)
        status, result, _ = moved(contact_planner, goal)
        assert status == GoalStatus.STATUS_SUCCEEDED, result.message
        assert not result.message
        ends.append(result.trajectory)
    last = [one.joints.points[-1] for one in ends]
    assert seconds(last[1].time_from_start) < 0.5 * seconds(last[0].time_from_start)
    np.testing.assert_allclose(last[1].positions, last[0].positions, atol=1e-4)
    held = [
        [sorted(contact.location for contact in phase.stance.contacts) for phase in one.contacts] for one in ends
    ]
    assert held[1][0] == held[0][0]
    assert held[1][-1] == held[0][-1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"plan": ContactPlan()}, "plan.steps: is empty"),
        ({"law": 7}, "law: is 7. Give one of 0 (FASTEST), 1 (SINUSOIDAL)"),
        ({"speed": NAN}, "speed: is nan"),
        ({"effort": 2.0}, "effort: is 2. Give a finite number above 0, at most 1"),
        ({"tasks": [PostureTask(link="NOSE")]}, "tasks[0].link: there is no link 'NOSE'"),
    ],
)
def test_bad_motion_requests_are_answered(
    contact_planner: Any, short_plan: ContactPlan, fields: dict[str, Any], message: str
) -> None:
    status, result, _ = moved(contact_planner, GenerateMotion.Goal(**{"plan": short_plan, **fields}))
    assert status == GoalStatus.STATUS_ABORTED
    assert message in result.message
    assert not result.trajectory.joints.points
