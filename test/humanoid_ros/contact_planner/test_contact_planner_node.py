# SPDX-License-Identifier: Apache-2.0
"""The contact planner node over DDS: postures, equilibrium, what it draws, what it refuses, how it ends."""

from __future__ import annotations

import math
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

from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from geometry_msgs.msg import Point, PoseStamped, Quaternion, Vector3  # noqa: E402
from humanoid_stack.msg import (  # noqa: E402
    Contact,
    ContactLocation,
    LinkWrench,
    Posture,
    PostureReport,
    PostureTask,
    Stance,
    StancePosture,
    Surface,
)
from humanoid_stack.srv import CheckEquilibrium, GeneratePosture  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

import humanoid_model as library  # noqa: E402
from humanoid_model import Robot, Scene, load_robot, load_scene  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_planner.kinematics import RobotKinematics  # noqa: E402
from humanoid_planner.posture import LeastTorque, Load, NearReference, check_stance, generate_posture  # noqa: E402
from humanoid_ros.messages.conversions import array, placement  # noqa: E402
from humanoid_ros.messages.posture_messages import configuration, posture_message  # noqa: E402

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ASK = GeneratePosture.Request
CHECK = CheckEquilibrium.Request
NAN = float("nan")


def sole(side: str, x: float = 0.04, **fields: Any) -> Contact:
    y = 0.095 if side == "left" else -0.095
    return Contact(**{"location": f"{side}_sole", "surface": "floor", "x": x, "y": y, **fields})


FEET = Stance(contacts=[sole("left"), sole("right")])


@pytest.fixture(scope="module")
def hrp2() -> Robot:
    return load_robot("hrp2", geometry=False)


def feet(robot: Robot, scene: Scene) -> library.Stance:
    """FEET in the library's terms."""
    surfaces = {surface.name: surface for surface in scene.surfaces}
    sides = (("left", 0.095), ("right", -0.095))
    contacts = (library.Contact(robot.contacts[f"{side}_sole"], surfaces["floor"], 0.04, y, 0.0) for side, y in sides)
    return library.Stance(tuple(contacts))


def generated(node: Any, **fields: Any) -> Any:
    defaults = {"robot": "hrp2", "stance": FEET, "stability": ASK.CONTACT_FORCES, "criterion": ASK.NEAR_REFERENCE}
    defaults["time_limit"] = Duration(sec=100)  # functions may have to be compiled
    return node.call(GeneratePosture, "generate_posture", ASK(**{**defaults, **fields}), 120.0)


def checked(node: Any, **fields: Any) -> Any:
    defaults = {"robot": "hrp2", "stance": FEET, "method": CHECK.CONTACT_FORCES, "centre_of_mass": Point(x=0.04, z=0.8)}
    return node.call(CheckEquilibrium, "check_equilibrium", CHECK(**{**defaults, **fields}), 120.0)


def pose_of(answer: Any, robot: Robot, location: str) -> pin.SE3:
    """Where a contact location is in the posture of an answer."""
    q = configuration(answer.posture.posture, robot, "posture")
    place = robot.contacts[location]
    return robot.link_placements(q)[place.link] * place.placement_link_patch


# generate_posture -------------------------------------------------------------------------------------------------


def test_a_posture_holds_its_stance_and_is_in_balance(contact_planner: Any, hrp2: Robot) -> None:
    stance = Stance(contacts=[sole("left", 0.1, theta=0.2), sole("right")])
    answer = generated(contact_planner, stance=stance, torque_limits=True)
    assert answer.success, answer.message
    assert answer.report.code == PostureReport.SUCCESS
    assert answer.message == ""
    posture = answer.posture
    for contact in posture.stance.contacts:
        x, theta = (0.1, 0.2) if contact.location == "left_sole" else (0.04, 0.0)
        y = 0.095 if contact.location == "left_sole" else -0.095
        wanted = pin.SE3(pin.utils.rotate("z", theta), np.array([x, y, 0.0]))
        assert pose_of(answer, hrp2, contact.location).isApprox(wanted, 1e-4)
        assert placement(contact.pose, "pose").isApprox(wanted, 1e-4)
        np.testing.assert_allclose((contact.x, contact.y, contact.theta), (x, y, theta), atol=1e-4)
    total = np.sum([array(force.force) for force in posture.forces], axis=0)
    np.testing.assert_allclose(total, [0.0, 0.0, hrp2.total_mass * 9.81], atol=0.01)
    for force in posture.forces:
        assert {force.body_a, force.body_b} <= {"hrp2/LLEG_LINK5", "hrp2/RLEG_LINK5", "floor"}
        assert abs(force.position.z) < 1e-5
        assert math.hypot(force.force.x, force.force.y) <= force.friction * force.force.z + 1e-3
    q = configuration(posture.posture, hrp2, "posture")
    com = pin.centerOfMass(hrp2.model, hrp2.model.createData(), q)
    np.testing.assert_allclose(array(posture.centre_of_mass), com, atol=1e-9)
    assert posture.stability_margin > 0.0
    assert len(answer.support_polygon) >= 4
    limits = {name: hrp2.limits.effort[hrp2.index_v(name)] for name in hrp2.joint_names}
    assert list(posture.joint_names) == list(hrp2.joint_names)
    assert all(abs(e) <= 1.001 * limits[n] for n, e in zip(posture.joint_names, posture.efforts, strict=True))


def test_a_hand_pushes_on_a_surface_of_the_request(contact_planner: Any, hrp2: Robot) -> None:
    wall = Surface(name="wall", body="world")
    wall.pose.position.x, wall.pose.position.y, wall.pose.position.z = 0.45, -0.25, 1.0
    wall.pose.orientation = Quaternion(x=0.0, y=-math.sqrt(0.5), z=0.0, w=math.sqrt(0.5))  # normal along -x
    hand = Contact(location="right_hand_back", surface="wall")
    stance = Stance(contacts=[sole("left"), sole("right"), hand])
    answer = generated(contact_planner, surfaces=[wall], stance=stance)
    assert answer.success, answer.message
    reached = pose_of(answer, hrp2, "right_hand_back")
    np.testing.assert_allclose(reached.translation, [0.45, -0.25, 1.0], atol=1e-4)
    np.testing.assert_allclose(reached.rotation[:, 2], [-1.0, 0.0, 0.0], atol=1e-3)
    assert {force.body_b for force in answer.posture.forces} == {"floor", "world"}


@pytest.mark.feature("001-F009")
def test_a_hand_holds_the_side_of_a_pipe_of_the_request(contact_planner: Any, hrp2: Robot) -> None:
    sides = ((-0.1, -0.08), (0.1, -0.08), (0.1, 0.08), (-0.1, 0.08))
    outline = [Point(x=x, y=y) for x, y in sides]
    pipe = Surface(name="pipe", body="world", polygon=outline, form=Surface.CYLINDER, radius=0.06)
    pipe.pose.position = Point(x=0.3, y=-0.35, z=0.8)
    hand = Contact(location="right_hand_fingers", surface="pipe", x=0.04, y=-0.05, theta=0.4)
    answer = generated(contact_planner, surfaces=[pipe], stance=Stance(contacts=[*FEET.contacts, hand]))
    assert answer.success, answer.message
    # An arc of 0.05 to the right of the top, about an axis along x that is 0.06 below it.
    angle = 0.05 / 0.06
    normal = np.array([0.0, -math.sin(angle), math.cos(angle)])
    reached = pose_of(answer, hrp2, "right_hand_fingers")
    np.testing.assert_allclose(reached.translation, np.array([0.34, -0.35, 0.74]) + 0.06 * normal, atol=1e-4)
    np.testing.assert_allclose(reached.rotation[:, 2], normal, atol=1e-3)
    [told] = [item for item in answer.posture.stance.contacts if item.surface == "pipe"]
    np.testing.assert_allclose((told.x, told.y, told.theta), (0.04, -0.05, 0.4), atol=1e-3)


def test_tasks_loads_and_places_of_the_request_are_used(contact_planner: Any, hrp2: Robot) -> None:
    tip = ContactLocation(name="tip", link="LARM_LINK6", patch=[Point()])
    target = Point(x=0.3, y=0.3, z=0.9)
    shelf = Surface(name="shelf", body="world")
    shelf.pose.position = target
    stance = Stance(contacts=[sole("left"), sole("right"), Contact(location="tip", surface="shelf", kind=4)])
    look = PostureTask(
        name="look", kind=PostureTask.GAZE, link="HEAD_LINK1", axis=Vector3(x=1.0), target=target, angle_tolerance=0.2
    )
    load = LinkWrench(link="RARM_LINK6")
    load.wrench.force.z = -30.0
    answer = generated(contact_planner, locations=[tip], surfaces=[shelf], stance=stance, tasks=[look], loads=[load])
    assert answer.success, answer.message
    q = configuration(answer.posture.posture, hrp2, "posture")
    links = hrp2.link_placements(q)
    np.testing.assert_allclose(links["LARM_LINK6"].translation, array(target), atol=1e-4)
    head = links["HEAD_LINK1"]
    sight = array(target) - head.translation
    assert math.acos(head.rotation[:, 0] @ sight / np.linalg.norm(sight)) <= 0.2 + 1e-4
    total = np.sum([array(force.force) for force in answer.posture.forces], axis=0)
    np.testing.assert_allclose(total, [0.0, 0.0, hrp2.total_mass * 9.81 + 30.0], atol=0.01)


@pytest.mark.parametrize("stability", [ASK.NO_STABILITY, ASK.SUPPORT_POLYGON, ASK.FORCE_POLYTOPE])
def test_every_stability_test_is_offered(contact_planner: Any, hrp2: Robot, stability: int) -> None:
    answer = generated(contact_planner, stability=stability)
    assert answer.success, answer.message
    if stability != ASK.NO_STABILITY:
        assert answer.posture.stability_margin >= -1e-4
        assert abs(answer.posture.centre_of_mass.y) < 0.17
        assert answer.support_polygon
    else:
        assert not answer.support_polygon


@pytest.mark.parametrize(
    "criterion",
    [
        ASK.NO_CRITERION,
        ASK.NEAR_MIDDLE,
        ASK.NEAR_GUIDE,
        ASK.CENTRE_IN_POLYGON,
        ASK.CENTRE_IN_WRENCHES,
        ASK.LEAST_TORQUE,
    ],
)
def test_every_criterion_is_offered(contact_planner: Any, hrp2: Robot, criterion: int) -> None:
    guide = [posture_message(hrp2, hrp2.postures[name]) for name in ("half_sitting", "squat")]
    answer = generated(contact_planner, criterion=criterion, guide=guide)
    assert answer.success, answer.message
    if criterion in (ASK.CENTRE_IN_POLYGON, ASK.CENTRE_IN_WRENCHES):
        centre = array(answer.posture.centre_of_mass)
        np.testing.assert_allclose(centre[:2], [0.04, 0.0], atol=5e-3)  # the middle of the rectangle of both soles


@pytest.mark.parametrize("solver", ["sqp", "ipopt", "feasible_sqp"])
def test_every_solver_is_offered(contact_planner: Any, solver: str) -> None:
    answer = generated(contact_planner, solver=solver)
    assert answer.success, answer.message
    assert answer.report.solver == solver
    assert answer.report.iterations > 0
    assert answer.report.evaluations > 0
    assert answer.report.time > 0.0


def test_a_failure_is_explained_and_the_best_posture_given(contact_planner: Any) -> None:
    far = Surface(name="far", body="world")
    far.pose.position.x, far.pose.position.z = 3.0, 1.0
    hand = Contact(location="right_hand_back", surface="far", kind=Contact.RELEASED)
    answer = generated(contact_planner, surfaces=[far], stance=Stance(contacts=[*FEET.contacts, hand]))
    assert not answer.success
    assert answer.report.code not in (PostureReport.SUCCESS, PostureReport.INVALID_REQUEST)
    assert answer.message == answer.report.explanation != ""
    assert any("right_hand_back" in violation.constraint for violation in answer.report.violations)
    worst = answer.report.violations[0]
    assert worst.value != worst.bound
    assert answer.report.residual > 0.1
    assert len(answer.posture.posture.joint_names) > 20


def test_collisions_are_avoided(contact_planner: Any) -> None:
    """Feet side by side need 0.13 m; nearer to each other they overlap."""
    near = Stance(contacts=[sole("left", y=0.04), sole("right", y=-0.04)])
    assert generated(contact_planner, stance=near).success
    answer = generated(contact_planner, stance=near, collisions=True)
    assert not answer.success
    assert any("RLEG_LINK5" in violation.constraint for violation in answer.report.violations)
    answer = generated(contact_planner, collisions=True, collision_margin=0.005)
    assert answer.success, answer.message


@pytest.mark.parametrize("criterion", [ASK.NEAR_REFERENCE, ASK.LEAST_TORQUE])
def test_the_answer_is_the_librarys(contact_planner: Any, hrp2: Robot, criterion: int) -> None:
    answer = generated(contact_planner, criterion=criterion, torque_limits=True)
    scene = load_scene("stand")
    robot = scene.robots[0].robot
    kinematics = RobotKinematics(robot)
    near = NearReference(kinematics, robot.default_posture)
    result = generate_posture(
        robot,
        feet(robot, scene),
        scene=scene,
        criterion=near if criterion == ASK.NEAR_REFERENCE else LeastTorque(kinematics, kinematics.total_mass * 9.81),
        stability="forces",
        torque_limits=True,
        largest_margin=True,
    )
    np.testing.assert_allclose(configuration(answer.posture.posture, hrp2, "posture"), result.q, atol=1e-12)
    np.testing.assert_allclose([array(force.force) for force in answer.posture.forces], result.forces, atol=1e-9)
    torques = dict(zip(result.torque_names, result.torques, strict=True))
    assert {name: torques[name] for name in answer.posture.joint_names} == dict(
        zip(answer.posture.joint_names, answer.posture.efforts, strict=True)
    )
    assert result.balance is not None
    assert answer.posture.stability_margin == result.balance.margin


# What is shown ----------------------------------------------------------------------------------------------------


def test_the_last_answer_is_drawn_for_those_who_come_late(contact_planner: Any, hrp2: Robot) -> None:
    answer = generated(contact_planner)
    assert answer.success, answer.message
    drawn = {"posture", "contact_patches", "contact_forces", "friction_cones", "support_polygon", "margins"}
    markers = contact_planner.listen(MarkerArray, "posture_markers", LATCHED)
    markers.wait(lambda message: {marker.ns for marker in message.markers} >= drawn)
    posture = contact_planner.listen(StancePosture, "posture", LATCHED).wait()
    assert posture == answer.posture
    joints = contact_planner.listen(JointState, "posture_joint_states", LATCHED).wait()
    assert dict(zip(joints.name, joints.position, strict=True)) == dict(
        zip(answer.posture.posture.joint_names, answer.posture.posture.positions, strict=True)
    )
    assert list(joints.effort) == list(answer.posture.efforts)
    base = contact_planner.listen(PoseStamped, "posture_base", LATCHED).wait()
    assert base.header.frame_id == "world"
    assert base.pose == answer.posture.posture.base


def test_rviz_shows_what_is_drawn(contact_planner: Any) -> None:
    with open(find_resource("config/humanoid_stack.rviz"), encoding="utf-8") as file:
        displays = yaml.safe_load(file)["Visualization Manager"]["Displays"]
    (topic,) = (display["Topic"] for display in displays if display["Name"] == "Posture")
    checked(contact_planner)
    offered = contact_planner.offered(topic["Value"])
    assert offered.topic_type == "visualization_msgs/msg/MarkerArray"
    assert offered.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
    assert (topic["Durability Policy"], topic["Reliability Policy"]) == ("Transient Local", "Reliable")


def test_diagnostics_count(contact_planner: Any) -> None:
    listener = contact_planner.listen(DiagnosticArray, "/diagnostics")
    generated(contact_planner, robot="nobody")

    def refused(message: DiagnosticArray) -> bool:
        values = {value.key: value.value for value in message.status[0].values}
        return "unknown robot 'nobody'" in values["last refusal"] and int(values["refused requests"]) > 0

    status = listener.wait(refused).status[0]
    assert status.name == "contact_planner: planning"


# check_equilibrium ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [CHECK.SUPPORT_POLYGON, CHECK.CONTACT_FORCES, CHECK.FORCE_POLYTOPE])
def test_equilibrium_is_answered_by_yes_and_no(contact_planner: Any, hrp2: Robot, method: int) -> None:
    yes = checked(contact_planner, method=method)
    assert yes.success, yes.message
    assert yes.equilibrium
    assert yes.margin > 0.0
    # The soles reach from x = -0.07 to 0.15: 0.11 m about 0.04.
    no = checked(contact_planner, method=method, centre_of_mass=Point(x=0.16, z=0.8))
    assert no.success, no.message
    assert not no.equilibrium
    assert no.margin < 0.0
    assert not no.forces
    edges = np.array([array(vertex) for vertex in yes.support_polygon])
    np.testing.assert_allclose([edges[:, 0].min(), edges[:, 0].max()], [-0.07, 0.15], atol=2e-3)
    if method == CHECK.SUPPORT_POLYGON:
        assert yes.margin == pytest.approx(0.11, abs=1e-9)
    else:
        total = np.sum([array(force.force) for force in yes.forces], axis=0)
        np.testing.assert_allclose(total, [0.0, 0.0, hrp2.total_mass * 9.81], atol=0.01)


def test_equilibrium_at_a_posture_is_the_librarys(contact_planner: Any, hrp2: Robot) -> None:
    load = LinkWrench(link="RARM_LINK6")
    load.wrench.force.z = -20.0
    found = generated(contact_planner)
    answer = checked(
        contact_planner, use_posture=True, posture=found.posture.posture, torque_limits=True, loads=[load]
    )
    assert answer.success, answer.message
    scene = load_scene("stand")
    robot = scene.robots[0].robot
    expected = check_stance(
        robot,
        feet(robot, scene),
        scene=scene,
        posture=configuration(found.posture.posture, hrp2, "posture"),
        loads=[Load("RARM_LINK6", [0.0, 0.0, -20.0])],
        torque_limits=True,
    )
    assert (answer.equilibrium, answer.margin) == (expected.equilibrium, expected.margin)
    np.testing.assert_array_equal([array(force.force) for force in answer.forces], expected.forces)
    assert dict(zip(answer.joint_names, answer.efforts, strict=True)) == expected.efforts


# Refusals ---------------------------------------------------------------------------------------------------------


def turned_pose(message: Any) -> Any:
    message.pose.orientation.w = 0.5
    return message


BOTH = [
    ({"robot": ""}, "robot: is empty. Give a name (hrp2) or the path of a URDF."),
    ({"robot": "nobody"}, "unknown robot 'nobody'"),
    ({"robot": "/dev/zero"}, "robot: '/dev/zero' is a pipe, a socket or a device"),
    ({"scene": "moon"}, "unknown scene 'moon'"),
    ({"scene": "/nowhere.yaml"}, "/nowhere.yaml"),
    ({"locations": [ContactLocation(name="x", link="NOSE")]}, "locations[0].link: there is no link 'NOSE'"),
    ({"locations": [ContactLocation(name="x", link="WAIST")]}, "locations[0].patch: is empty"),
    ({"surfaces": [Surface(name="x", body="moon")]}, "surfaces[0].body: there is no body 'moon'"),
    ({"surfaces": [turned_pose(Surface(name="x", body="world"))]}, "surfaces[0].pose.orientation: the quaternion"),
    ({"stance": Stance(contacts=[Contact()])}, "stance.contacts[0].location: there is no contact location ''"),
    ({"stance": Stance(contacts=[sole("left", surface="moon")])}, "stance.contacts[0].surface: there is no surface"),
    ({"stance": Stance(contacts=[sole("left", x=NAN)])}, "stance.contacts[0].x: is nan"),
    ({"stance": Stance(contacts=[sole("left", x=-1e300)])}, "stance.contacts[0].x: is -1e+300. Give a finite"),
    ({"stance": Stance(contacts=[sole("left", kind=17)])}, "stance.contacts[0].kind: is 17. Give one of 0 (FIXED)"),
    ({"stance": Stance(contacts=[sole("left")] * 2)}, "'left_sole' and 'left_sole' are both on the link"),
    ({"stance": Stance()}, "stance: no contact bears force"),
    ({"stance": Stance(contacts=[sole("left", kind=4)])}, "stance: no contact bears force"),
    ({"scene": "stairs", "stance": Stance(contacts=[sole("left", surface="step_1", x=5.0)])}, "doesn't touch the surf"),
    ({"loads": [LinkWrench(link="NOSE")]}, "loads[0].link: there is no link 'NOSE'"),
    ({"loads": [LinkWrench(link="WAIST", point=Point(x=NAN))]}, "loads[0].point: is [nan, 0.0, 0.0]. Give finite"),
]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        *BOTH,
        ({"stability": 9}, "stability: is 9. Give one of 0 (NO_STABILITY), 1 (SUPPORT_POLYGON)"),
        ({"criterion": 9}, "criterion: is 9. Give one of 0 (NO_CRITERION)"),
        (
            {"stability": 1, "torque_limits": True},
            "stability: is 1 (SUPPORT_POLYGON), but torque_limits are set. Give 2",
        ),
        (
            {"stability": 3, "loads": [LinkWrench(link="WAIST")]},
            "stability: is 3 (FORCE_POLYTOPE), but there are loads",
        ),
        ({"stability": 0, "criterion": 6}, "stability: is 0 (NO_STABILITY), but the criterion is LEAST_TORQUE"),
        ({"criterion": 3}, "guide: has 0 postures. Give two or more."),
        ({"criterion": 3, "guide": [Posture(robot="bip")] * 2}, "guide[0].robot: is 'bip'"),
        (
            {"initial": Posture(joint_names=["NOSE"], positions=[0.0])},
            "initial.joint_names[0]: there is no joint 'NOSE'",
        ),
        ({"initial": Posture(joint_names=["RLEG_JOINT0"])}, "initial.positions: has 0 values for 1 joint_names"),
        ({"reference": Posture(joint_names=["CHEST_JOINT0"], positions=[NAN])}, "reference.positions: is [nan]"),
        (
            {"collisions": True, "collision_margin": -0.1},
            "collision_margin: is -0.1. Give a finite number of 0 or more",
        ),
        ({"collision_margin": 0.1}, "collision_margin: is 0.1, but collisions are not avoided. Set collisions"),
        ({"stability_margin": NAN}, "stability_margin: is nan. Give a finite number of 0 or more"),
        ({"stability_margin": 0.1, "stability": 0}, "stability_margin: is 0.1, but stability is 0 (NO_STABILITY)"),
        ({"joint_margin": -1.0}, "joint_margin: is -1. Give a finite number of 0 or more"),
        ({"joint_margin": 100.0}, "joint_margin: 100 leaves nothing of the range of joint"),
        (
            {"stability_margin": 1.0, "stability": 1},
            "the stability margin of 1 m leaves nothing of the support polygon",
        ),
        ({"solver": "magic"}, "solver: there is no solver 'magic'. Known are: sqp, ipopt, feasible_sqp."),
        ({"time_limit": Duration(sec=-1)}, "time_limit: is -1 s. Give a duration above 0"),
        ({"tasks": [PostureTask(kind=99)]}, "tasks[0].kind: is 99. Give one of 0 (POINT_AT)"),
        ({"tasks": [PostureTask(link="NOSE")]}, "tasks[0].link: there is no link 'NOSE'"),
        ({"tasks": [PostureTask(link="WAIST", target=Point(x=NAN))]}, "tasks[0].target: is [nan, 0.0, 0.0]"),
        ({"tasks": [PostureTask(link="WAIST", tolerance=-1.0)]}, "tasks[0].tolerance: is -1."),
        ({"tasks": [PostureTask(link="WAIST", kind=5, direction=Vector3(x=1.0))]}, "tasks[0].axis: is [0.0, 0.0, 0.0]"),
        ({"tasks": [PostureTask(link="WAIST", kind=2)]}, "tasks[0].direction: is [0.0, 0.0, 0.0], which has no direc"),
        ({"tasks": [PostureTask(link="WAIST", kind=4, angle_tolerance=4.0)]}, "tasks[0].angle_tolerance: is 4."),
        ({"tasks": [PostureTask(link="WAIST", kind=4, orientation=Quaternion(w=2.0))]}, "tasks[0].orientation: the"),
        ({"tasks": [PostureTask(link="NOSE", kind=8)]}, "tasks[0].link: there is no joint 'NOSE'"),
        ({"tasks": [PostureTask(link="CHEST_JOINT0", kind=8, value=NAN)]}, "tasks[0].value: is nan"),
    ],
)
def test_bad_posture_requests_are_answered(contact_planner: Any, fields: dict[str, Any], message: str) -> None:
    answer = generated(contact_planner, **fields)
    assert not answer.success
    assert message in answer.message
    assert answer.report.code == PostureReport.INVALID_REQUEST
    assert answer.report.explanation == answer.message
    assert not answer.posture.posture.joint_names


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        *BOTH[:-2],
        ({"method": 0}, "method: is 0. Give one of 1 (SUPPORT_POLYGON)"),
        ({"robot": "robot_2r_a", "stance": Stance()}, "robot: 'robot_2r_a' is fixed to the world"),
        ({"centre_of_mass": Point(z=1e5)}, "centre_of_mass: is [0.0, 0.0, 100000.0]. Give finite numbers of at most 1"),
        ({"centre_of_mass": Point(z=NAN)}, "centre_of_mass: is [0.0, 0.0, nan]. Give finite numbers."),
        ({"acceleration": Vector3(x=math.inf)}, "acceleration: is [inf, 0.0, 0.0]. Give finite numbers."),
        ({"loads": [LinkWrench(link="WAIST")]}, "loads: needs the posture"),
        ({"torque_limits": True}, "torque_limits: needs the posture"),
        ({"method": 1, "acceleration": Vector3(x=1.0)}, "acceleration: is given, but method SUPPORT_POLYGON knows"),
        (
            {"method": 1, "use_posture": True, "loads": [LinkWrench(link="WAIST")]},
            "loads: is given, but method SUPPORT_POLYGON knows the weight only",
        ),
        (
            {"method": 3, "use_posture": True, "torque_limits": True},
            "torque_limits: are set, but method FORCE_POLYTOPE knows no torques",
        ),
        (
            {"use_posture": True, "torque_limits": True, "acceleration": Vector3(x=1.0)},
            "torque_limits: are set, but what an acceleration of the centre of mass asks of the joints",
        ),
        ({"use_posture": True, "posture": Posture(robot="bip")}, "posture.robot: is 'bip'"),
        ({"use_posture": True, "loads": [LinkWrench(link="NOSE")]}, "loads[0].link: there is no link 'NOSE'"),
        (
            {"use_posture": True, "stance": Stance(contacts=[sole("left", 1.0)])},
            "posture: puts 'left_sole' from its contact on 'floor' 0.961 m away. Give a posture that holds the stance",
        ),
    ],
)
def test_bad_equilibrium_requests_are_answered(contact_planner: Any, fields: dict[str, Any], message: str) -> None:
    answer = checked(contact_planner, **fields)
    assert not answer.success
    assert message in answer.message
    assert not answer.equilibrium
    assert not answer.forces


# Parameters and process -------------------------------------------------------------------------------------------


def set_parameter(node: Any, name: str, value: ParameterValue) -> Any:
    request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
    return node.call(SetParameters, "contact_planner/set_parameters", request).results[0]


def text_value(value: str) -> ParameterValue:
    return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)


def test_parameters_are_typed_ranged_and_described(contact_planner: Any) -> None:
    listed = contact_planner.call(ListParameters, "contact_planner/list_parameters", ListParameters.Request())
    rclpys = ("use_sim_time", "start_type", "qos_overrides")
    names = [name for name in listed.result.names if not name.startswith(rclpys)]
    assert {"scene", "solver", "max_iterations", "time_limit", "small_radius", "big_radius", "cache_size"} <= set(names)
    request = DescribeParameters.Request(names=names)
    described = contact_planner.call(DescribeParameters, "contact_planner/describe_parameters", request)
    for descriptor in described.descriptors:
        assert descriptor.description, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            assert descriptor.floating_point_range, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_INTEGER:
            assert descriptor.integer_range, descriptor.name


def test_parameters_that_cannot_be_used_are_refused(contact_planner: Any) -> None:
    result = set_parameter(contact_planner, "scene", text_value("moon"))
    assert not result.successful
    assert "unknown scene 'moon'" in result.reason
    result = set_parameter(contact_planner, "solver", text_value("magic"))
    assert not result.successful
    assert "there is no solver 'magic'" in result.reason


def test_the_nodes_own_scene_serves_requests_that_name_none(contact_planner: Any) -> None:
    step = Stance(contacts=[Contact(location="left_sole", surface="step_1")])
    assert "there is no surface 'step_1'" in checked(contact_planner, stance=step).message
    assert set_parameter(contact_planner, "scene", text_value("stairs")).successful
    answer = checked(contact_planner, stance=step, centre_of_mass=Point(x=0.45, z=0.9))
    assert answer.success, answer.message
    assert answer.equilibrium
    assert set_parameter(contact_planner, "scene", text_value("stand")).successful


def test_a_long_search_holds_nobody_up(contact_planner: Any) -> None:
    checked(contact_planner)
    client = contact_planner.node.create_client(GeneratePosture, "generate_posture")
    assert client.wait_for_service(60.0)
    request = ASK(robot="hrp2", stance=FEET, stability=ASK.CONTACT_FORCES, criterion=ASK.NEAR_REFERENCE)
    for _ in range(5):  # a busy machine may hold us up meanwhile
        pending = [client.call_async(request) for _ in range(10)]
        answered = 0
        while not pending[-1].done() and answered < 3:
            assert checked(contact_planner).equilibrium
            answered += 1
        assert contact_planner.result(pending[-1], 120.0).success
        if answered == 3:
            return
    raise AssertionError("nothing was answered before the search was done")


BAD_STARTS = {"scene:=moon": "unknown scene 'moon'", "time_limit:=-1.0": "time_limit"}
"""Parameters that the node can't use, and what it says."""


@pytest.fixture(scope="module")
def bad_starts(start_badly: Callable[..., Any]) -> dict[str, tuple[int, str]]:
    return start_badly("contact_planner", list(BAD_STARTS))


@pytest.mark.parametrize("parameter", BAD_STARTS)
def test_a_bad_start_ends_with_a_message(bad_starts: dict[str, tuple[int, str]], parameter: str) -> None:
    code, text = bad_starts[parameter]
    assert code == 1
    assert BAD_STARTS[parameter] in text
    assert "Traceback" not in text


def test_who_waits_is_told_when_it_ends(start_node: Callable[..., Any], tmp_path: Path) -> None:
    client = start_node("contact_planner")
    service = client.node.create_client(GeneratePosture, "generate_posture")
    assert service.wait_for_service(60.0)
    request = ASK(robot="hrp2", stance=FEET, stability=ASK.CONTACT_FORCES, criterion=ASK.NEAR_REFERENCE)
    assert client.result(service.call_async(request), 120.0).success
    pending = [service.call_async(request) for _ in range(300)]
    end = time.monotonic() + 60.0
    while not any(future.done() for future in pending):
        assert time.monotonic() < end, "nothing is answered"
        time.sleep(0.01)
    client.process.send_signal(signal.SIGTERM)
    assert client.process.wait(60.0) == 0
    messages = {future.result().message for future in pending if future.done()}
    assert "The node is shut down." in messages
    assert messages <= {"", "The node is shut down."}  # some may have been served before
    assert "Traceback" not in (tmp_path / "contact_planner.log").read_text()
