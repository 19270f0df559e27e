# SPDX-License-Identifier: Apache-2.0
"""The viewer node as a process over DDS, seen through its page: by protocol and by a browser.

A robot on topics (a node of this test) plays the simulator; the page is looked at by a client that
speaks viser's protocol as a browser does, and once by a real browser.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.page_client import PageClient, start_viewer, wait_for, wait_for_place
from fixtures.ros_domain import claim_domain
from PIL import Image

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import TransformStamped  # noqa: E402
from humanoid_stack.msg import ContactForce, ContactForces, SimulationStatus  # noqa: E402
from humanoid_stack.srv import ApplyWrench, LoadScene, StepSimulation  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from humanoid_model.scene import Light, Scene  # noqa: E402
from humanoid_model.sensor import Camera  # noqa: E402
from humanoid_ros.demo.headless_browser import HeadlessBrowser, find_browser  # noqa: E402
from humanoid_ros.messages.markers import scene_view  # noqa: E402

DOMAIN = claim_domain()
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SILENCE = 0.8

URDF = """
<robot name="post">
  <link name="foot">
    <inertial><mass value="8"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.05"/><geometry><box size="0.3 0.3 0.1"/></geometry>
      <material name="m"><color rgba="1 0 1 1"/></material></visual>
  </link>
  <link name="trunk">
    <inertial><origin xyz="0 0 0.7"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><origin xyz="0 0 0.7"/><geometry><box size="0.3 0.3 1.2"/></geometry>
      <material name="m"><color rgba="1 0 1 1"/></material></visual>
  </link>
  <joint name="waist" type="revolute">
    <parent link="foot"/><child link="trunk"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
</robot>
"""


class RobotOnTopics(Node):
    """Publishes a robot as simulator and real robot do, and notes what services are asked.

    Attributes:
        angle: Position of the waist [rad].
        force: Of each contact [N].
        ahead: Where links are said to be along x, beside where they are [m].
        speaking: Whether anything is published.
        asked: Requests received, in order.
    """

    def __init__(self, context: Any) -> None:
        super().__init__("robot_on_topics", context=context)
        self.angle = 0.0
        self.speaking = True
        self.force = 24.525
        self.ahead = 0.0
        self.asked: list[Any] = []
        self.refusal = ""
        self._description: Any = None
        self._tf = self.create_publisher(TFMessage, "/tf", 100)
        self._contacts = self.create_publisher(ContactForces, "contacts", 10)
        self._status = self.create_publisher(SimulationStatus, "status", LATCHED)
        self._markers = self.create_publisher(MarkerArray, "scene_markers", LATCHED)
        self._view = self.create_publisher(MarkerArray, "scene_view", LATCHED)
        services = {
            "pause": SetBool,
            "reset": Trigger,
            "step": StepSimulation,
            "load_scene": LoadScene,
            "apply_wrench": ApplyWrench,
        }
        for name, kind in services.items():
            self.create_service(kind, name, self._answer)
        self.describe(URDF)
        self.create_timer(0.02, self._speak)
        self._start = time.monotonic()

    def describe(self, text: str) -> None:
        if self._description is None:
            self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=text))

    def leave(self) -> None:
        """Take the description off the graph, as a simulator does that loads another scene."""
        self.destroy_publisher(self._description)
        self._description = None

    def tell_view(self, camera: Camera | None, *lights: Light) -> None:
        told = Scene("view", (), (), camera=camera, lights=lights)
        self._view.publish(scene_view(told, "world"))

    def show_box(self, x: float, action: int = Marker.ADD, rgb: tuple[float, float, float] = (0.0, 1.0, 0.0)) -> None:
        marker = Marker(ns="box", id=3, type=Marker.CUBE, action=action)
        marker.header.frame_id = "world"
        marker.pose.position.x = x
        marker.pose.orientation.w = 1.0
        marker.scale.x = marker.scale.y = marker.scale.z = 0.25
        marker.color.a = 1.0
        marker.color.r, marker.color.g, marker.color.b = rgb
        self._markers.publish(MarkerArray(markers=[marker]))

    def placement_trunk(self) -> pin.SE3:
        return pin.SE3(pin.utils.rotate("z", self.angle), np.array([0.0, 0.0, 0.1]))

    def _answer(self, request: Any, response: Any) -> Any:
        self.asked.append(request)
        response.success = not self.refusal
        response.message = self.refusal
        return response

    def _speak(self) -> None:
        if not self.speaking:
            return
        now = self.get_clock().now().to_msg()
        frames = TFMessage()
        for link, placement in (
            ("foot", pin.SE3.Identity()),
            ("trunk", self.placement_trunk()),
        ):
            frame = TransformStamped(child_frame_id=link)
            frame.header.frame_id, frame.header.stamp = "world", now
            move, turn = frame.transform.translation, frame.transform.rotation
            move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w = pin.SE3ToXYZQUAT(placement).tolist()
            move.x += self.ahead
            frames.transforms.append(frame)
        self._tf.publish(frames)
        contacts = ContactForces()
        contacts.header.stamp = now
        for x in (-0.15, 0.15):
            for y in (-0.15, 0.15):
                contact = ContactForce(body_a="post/foot", body_b="floor", friction=0.8, state=1)
                contact.position.x, contact.position.y = x, y
                contact.normal.z = 1.0
                contact.force.z = self.force
                contacts.contacts.append(contact)
        self._contacts.publish(contacts)
        status = SimulationStatus(scene="stand", time=time.monotonic() - self._start, real_time_factor=0.93)
        self._status.publish(status)


@pytest.fixture(scope="module")
def robot() -> Iterator[RobotOnTopics]:
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    node = RobotOnTopics(context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin, daemon=True)
    thread.start()
    yield node
    executor.shutdown()
    thread.join(5.0)
    node.destroy_node()
    rclpy.shutdown(context=context)


@pytest.fixture(scope="module")
def viewer(robot: RobotOnTopics) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    process, address, output = start_viewer(DOMAIN, f"silence:={SILENCE}")
    assert address, "".join(output)
    yield process, address, output
    process.send_signal(signal.SIGINT)
    assert process.wait(60.0) == 0, "".join(output)
    assert "Traceback" not in "".join(output)


@pytest.fixture
def page(viewer: tuple[subprocess.Popen[str], str, list[str]]) -> Iterator[PageClient]:
    client = PageClient(viewer[1])
    wait_for(lambda: "running" in client.status, "the page says that the simulation runs")
    yield client
    client.close()


def test_robot_of_the_description_is_on_the_page(page: PageClient) -> None:
    wait_for(lambda: page.nodes["/robots/post"]["visible"], "the robot is shown")
    box = wait_for(lambda: page.nodes["/robots/post/trunk/0"], "so is its box")
    assert box["type"] == "BoxMessage"
    assert tuple(box["dimensions"]) == pytest.approx((0.3, 0.3, 1.2))
    np.testing.assert_allclose(box["position"], [0.0, 0.0, 0.7])


@pytest.mark.feature("000-F020")
def test_links_follow_tf(robot: RobotOnTopics, page: PageClient) -> None:
    for angle in (0.7, -0.4, 0.0):
        robot.angle = angle
        expected = pin.Quaternion(robot.placement_trunk().rotation).coeffs()
        wait_for(
            lambda expected=expected: (
                abs(np.roll(page.nodes["/robots/post/trunk"]["wxyz"], -1) @ expected) > 1.0 - 1e-9
            ),
            f"the trunk is turned by {angle} rad",
        )


def test_state_and_forces_are_told(page: PageClient) -> None:
    wait_for(lambda: "98.1 N of 98.1 N" in page.status, "forces and weight are told")
    wait_for(lambda: "0.93" in page.status and "stand" in page.status, "so are scene and real-time factor")
    wait_for(lambda: "/contacts/cones" in page.nodes, "there are cones")

    def lines() -> list[str]:
        chart = page.controls.get("GuiUplotMessage", {"series": ()})  # another one as soon as the weight is known
        return [series["label"] for series in chart["series"]]

    wait_for(lambda: lines()[-3:] == ["foot", "sum", "weight"], "forces, their sum and the weight are plotted")
    # Centre of mass by hand: 8 kg at 0, 2 kg at 0.8 m.
    wait_for_place(page, "/balance/post/com", [0, 0, 0.16])


@pytest.mark.feature("000-F020")
@pytest.mark.parametrize("number", [1e308, np.nan, -np.inf])
def test_numbers_that_can_not_be_drawn_are_told_and_the_next_ones_are_drawn(
    robot: RobotOnTopics, page: PageClient, number: float
) -> None:
    robot.force = robot.ahead = number
    wait_for(lambda: "contacts: 4 have a number that is none, or beyond" in page.texts, "that is told")
    time.sleep(0.3)
    robot.force, robot.ahead = 24.525, 0.5
    wait_for(lambda: "98.1 N of 98.1 N" in page.status, "the forces are back")
    wait_for_place(page, "/robots/post/foot", [0.5, 0.0, 0.0])
    wait_for_place(page, "/balance/post/com", [0.5, 0.0, 0.16])
    wait_for_place(page, "/balance/post/pressure_mark", [0.0, 0.0, 0.004])
    robot.ahead = 0.0
    wait_for_place(page, "/robots/post/foot", [0.0, 0.0, 0.0])


@pytest.mark.feature("000-F019")
def test_a_push_without_end_is_refused_and_the_next_one_acts(robot: RobotOnTopics, page: PageClient) -> None:
    robot.asked.clear()
    page.set("Body", "trunk")
    page.set("Duration [s]", -0.5)
    page.set("Push", True)
    wait_for(lambda: "for -0.5 s can&#x27;t act" in page.texts, "it is refused")
    page.set("Duration [s]", 1e300)
    page.set("Duration [s]", 0.15)
    page.set("Push", True)
    wait_for(lambda: robot.asked and robot.asked[-1].duration.nanosec == 150_000_000, "the next one acts")
    assert len(robot.asked) == 1


@pytest.mark.feature("000-F019")
def test_buttons_call_services(robot: RobotOnTopics, page: PageClient) -> None:
    robot.asked.clear()
    wait_for(lambda: page.controls["Body"]["options"] == ["foot", "trunk"], "bodies are offered")
    page.set("Pause", True)
    page.set("Reset", True)
    page.set("Load", True)
    page.set("Body", "trunk")
    page.set("Push", True)
    wait_for(lambda: len(robot.asked) >= 4, "four services are asked")
    pause, _, load, push = sorted(robot.asked, key=lambda r: "PRLA".index(_letter(r)))
    assert pause.data is True
    assert load.scene == "stand"
    assert push.body == "trunk"
    assert push.wrench.force.x == pytest.approx(90.0)
    assert push.duration.nanosec == 150_000_000


def _letter(request: Any) -> str:
    kinds = {SetBool.Request: "P", Trigger.Request: "R", LoadScene.Request: "L"}
    return kinds.get(type(request), "A")


def test_refusal_is_told_on_the_page(robot: RobotOnTopics, page: PageClient) -> None:
    robot.refusal = "scene: no scene named <stand>"
    page.set("Load", True)
    wait_for(lambda: "no scene named &lt;stand&gt;" in page.texts, "the refusal is told")
    robot.refusal = ""


def test_dragged_handle_pulls_the_link_until_its_browser_vanishes(
    robot: RobotOnTopics, viewer: tuple[subprocess.Popen[str], str, list[str]], page: PageClient
) -> None:
    other = PageClient(viewer[1])
    wait_for(lambda: "trunk" in other.controls["Link"]["options"], "links are offered")
    other.set("Link", "trunk")
    handle = "/pull/handle"
    wait_for(lambda: other.nodes[handle]["visible"], "the handle is shown")
    wait_for(lambda: abs(other.nodes[handle]["position"][2] - 0.8) < 1e-6, "it rides on the link")
    robot.asked.clear()
    other.send("TransformControlsDragStartMessage", name=handle, owner="")
    other.send(
        "TransformControlsUpdateMessage",
        name=handle,
        wxyz=(1.0, 0.0, 0.0, 0.0),
        position=(0.1, 0.0, 0.8),
        owner="",
    )
    wait_for(
        lambda: [r for r in robot.asked if r.wrench.force.x == pytest.approx(60.0)],
        "the spring of 600 N/m pulls by 60 N over 0.1 m",
    )
    pull = next(r for r in robot.asked if r.wrench.force.x == pytest.approx(60.0))
    assert pull.body == "trunk"
    assert pull.at_point
    assert pull.point.z == pytest.approx(0.8)

    # The wrenches cover the simulated time without gap or overlap on average: wall time here.
    def covered() -> float:
        """Of a second, which a busy machine may take from one of both."""
        start, before = time.monotonic(), sum(_seconds(r) for r in robot.asked)
        time.sleep(1.0)
        return sum(_seconds(r) for r in robot.asked) - before - (time.monotonic() - start)

    wait_for(lambda: abs(covered()) < 0.25, "the wrenches cover the time")
    other.kill()

    def is_quiet() -> bool:
        count = len(robot.asked)
        time.sleep(0.5)
        return len(robot.asked) == count

    wait_for(is_quiet, "nobody pulls any more")
    page.set("Link", "no link")


def _seconds(request: ApplyWrench.Request) -> float:
    return float(request.duration.sec + 1e-9 * request.duration.nanosec)


def test_scene_items_come_move_and_go(robot: RobotOnTopics, page: PageClient) -> None:
    def boxes() -> list[dict[str, Any]]:
        return [
            page.nodes[name.removesuffix("/shape")]
            for name in list(page.nodes)
            if name.startswith("/scene/") and name.endswith("/shape")
        ]

    robot.show_box(1.0)
    wait_for(lambda: boxes()[0]["position"][0] == 1.0, "the box is drawn")
    robot.show_box(2.0)
    wait_for(lambda: boxes()[0]["position"][0] == 2.0, "the box moved")
    assert len(boxes()) == 1
    robot.show_box(0.0, Marker.DELETE)
    wait_for(lambda: not boxes(), "the box is gone")


BLACK, RED, BLUE = ([0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.5, 1.0])


def light(position: list[float], ambient: list[float], diffuse: list[float]) -> Light:
    return Light(np.array(position), np.array(ambient), np.array(diffuse), np.ones(4))


@pytest.mark.feature("000-F012", "000-F013", "002-F149")
def test_the_page_is_seen_and_lit_as_the_scene_says(robot: RobotOnTopics, page: PageClient) -> None:
    eye, target = np.array([2.0, -1.0, 1.5]), np.array([0.0, 0.0, 0.7])
    lamp, sun = light([2.0, 4.0, 6.0, 2.0], BLUE, RED), light([0.0, 3.0, 4.0, 0.0], BLACK, [0.2, 0.1, 0.4, 1.0])
    robot.tell_view(Camera.looking_at(eye, target), lamp, sun)
    wait_for(lambda: np.allclose(page.settings["SetCameraPositionMessage"]["position"], eye), "the camera is there")

    def at() -> np.ndarray:
        return np.array(page.settings["SetCameraLookAtMessage"]["look_at"])

    # On the line of sight, next to the middle of the robot, which is 1.4 m high.
    wait_for(lambda: np.linalg.norm(np.cross(at() - eye, target - eye)) < 1e-9, "it looks where it should")
    assert (at() - [0.0, 0.0, 0.7]) @ (target - eye) == pytest.approx(0.0, abs=1e-9)
    wait_for(lambda: np.allclose(page.settings["SetCameraUpDirectionMessage"]["position"], (0.0, 0.0, 1.0)), "up is up")

    wait_for(lambda: "/light_1_diffuse" in page.nodes, "the lights are there")
    ambient, diffuse = page.nodes["/light_0_ambient"], page.nodes["/light_0_diffuse"]
    assert (ambient["type"], diffuse["type"]) == ("AmbientLightMessage", "PointLightMessage")
    assert (tuple(ambient["color"]), ambient["intensity"]) == ((0, 0, 255), pytest.approx(0.5 * np.pi))
    assert (tuple(diffuse["color"]), diffuse["intensity"], diffuse["decay"]) == ((255, 0, 0), pytest.approx(np.pi), 0)
    wait_for_place(page, "/light_0_diffuse", [1.0, 2.0, 3.0])
    far = page.nodes["/light_1_diffuse"]
    assert far["type"] == "DirectionalLightMessage"
    assert (tuple(far["color"]), far["intensity"]) == ((128, 64, 255), pytest.approx(0.4 * np.pi))
    wait_for(lambda: np.allclose(far["position"] / np.linalg.norm(far["position"]), [0, 0.6, 0.8]), "the sun is there")
    assert (diffuse["cast_shadow"], far["cast_shadow"]) == (True, False), "the first one casts shadows"
    assert np.linalg.norm(far["position"]) < 500.0, "as far as the page's shadows reach"
    wait_for(lambda: page.settings["EnableLightsMessage"]["enabled"] is False, "the page's own light is off")
    wait_for(lambda: page.settings["EnvironmentMapMessage"]["hdri_data"] is None, "so are its surroundings")

    robot.tell_view(None)
    wait_for(lambda: page.settings["EnableLightsMessage"]["enabled"], "the page's own light is back")
    wait_for(lambda: not [name for name in list(page.nodes) if name.startswith("/light")], "the scene's are gone")
    wait_for(lambda: page.settings["EnvironmentMapMessage"]["hdri_data"], "its surroundings are back")
    wait_for(lambda: not np.allclose(page.settings["SetCameraPositionMessage"]["position"], eye), "so is its camera")


@pytest.mark.feature("000-F012")
def test_a_camera_that_is_turned_keeps_what_is_up(robot: RobotOnTopics, page: PageClient) -> None:
    placement = Camera.looking_at([3.0, 0.0, 0.7], [0.0, 0.0, 0.7]).placement
    robot.tell_view(Camera(placement * pin.SE3(pin.utils.rotate("z", 0.5), np.zeros(3))))
    # Turned by 0.5 about what it looks away from, +x: up goes from z towards -y.
    up = np.array([0.0, -np.sin(0.5), np.cos(0.5)])
    wait_for(lambda: np.allclose(page.settings["SetCameraUpDirectionMessage"]["position"], up), "up is turned")
    robot.tell_view(None)
    wait_for(
        lambda: np.allclose(page.settings["SetCameraUpDirectionMessage"]["position"], [0.0, 0.0, 1.0]), "z is up again"
    )


def test_a_light_without_a_colour_is_told(robot: RobotOnTopics, page: PageClient) -> None:
    broken = scene_view(Scene("view", (), (), lights=(light([0, 0, 1, 1], BLUE, RED),)), "world")
    broken.markers = [marker for marker in broken.markers if marker.ns != "diffuse"]
    robot._view.publish(broken)
    wait_for(lambda: "light 0 has no diffuse" in page.texts, "the fault is told")
    robot.tell_view(None)


def test_silent_simulator_is_told_and_recovered_from(robot: RobotOnTopics, page: PageClient) -> None:
    robot.speaking = False
    wait_for(lambda: "no simulator" in page.status, "the page says that there is no simulator")
    wait_for(lambda: page.controls["Pause"]["disabled"], "there is nothing to pause")
    robot.speaking = True
    wait_for(lambda: "running" in page.status, "the simulator is back")
    wait_for(lambda: not page.controls["Pause"]["disabled"], "it can be paused again")


def test_robot_that_left_the_scene_leaves_the_page_and_may_come_back(robot: RobotOnTopics, page: PageClient) -> None:
    robot.leave()
    wait_for(lambda: "/robots/post" not in page.nodes, "the robot is gone")
    robot.describe(URDF)
    wait_for(lambda: page.nodes["/robots/post"]["visible"], "it is back")


def test_bad_description_is_told_and_the_next_one_drawn(robot: RobotOnTopics, page: PageClient) -> None:
    robot.describe("<robot name='broken'><link/></robot>")
    wait_for(lambda: "robot_description can&#x27;t be read" in page.texts, "the fault is told")
    robot.describe(URDF.replace("1.2", "1.3"))
    wait_for(
        lambda: page.nodes["/robots/post/trunk/0"]["dimensions"][2] == pytest.approx(1.3),
        "the other robot is drawn",
    )
    robot.describe(URDF)


def test_clients_that_vanish_leave_no_mess(
    robot: RobotOnTopics, viewer: tuple[subprocess.Popen[str], str, list[str]], page: PageClient
) -> None:
    process, address, output = viewer
    folder = f"/proc/{process.pid}/fd"
    time.sleep(0.5)
    before = len(os.listdir(folder))
    clients = [PageClient(address) for _ in range(4)]
    for client in clients:
        wait_for(lambda client=client: "running" in client.status, "each client sees the page")
    for client in clients[:2]:
        client.kill()
    for client in clients[2:]:
        client.close()
    wait_for(lambda: len(os.listdir(folder)) <= before, "their sockets are closed")
    count = page.messages
    robot.angle = 0.5
    wait_for(lambda: page.messages > count, "the page goes on")
    robot.angle = 0.0
    assert process.poll() is None
    assert "Traceback" not in "".join(output)


BAD_STARTS = {
    "host:=192.0.2.1": "can't listen on 192.0.2.1",
    "rate:=1000.0": "rate",
    "port:=70000": "port",
    "gravity:=heavy": "gravity",
}
"""Parameters that the node can't use, and what it says."""


@pytest.fixture(scope="module")
def bad_starts(start_badly: Callable[..., Any]) -> dict[str, tuple[int, str]]:
    return start_badly("viewer", list(BAD_STARTS))


@pytest.mark.parametrize("parameter", BAD_STARTS)
def test_bad_parameter_ends_the_node_with_its_name(bad_starts: dict[str, tuple[int, str]], parameter: str) -> None:
    code, text = bad_starts[parameter]
    assert code == 1
    assert BAD_STARTS[parameter] in text
    assert "Traceback" not in text


def test_parameters_are_described(viewer: tuple[subprocess.Popen[str], str, list[str]]) -> None:
    from rcl_interfaces.srv import DescribeParameters, ListParameters

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=DOMAIN)
    node = Node("asks", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def ask(kind: Any, service: str, request: Any) -> Any:
        client = node.create_client(kind, service)
        assert client.wait_for_service(60.0)
        future = client.call_async(request)
        executor.spin_until_future_complete(future, 60.0)
        return future.result()

    try:
        names = ask(ListParameters, "/viewer/list_parameters", ListParameters.Request()).result.names
        own = [name for name in names if "." not in name and name != "use_sim_time"]
        answer = ask(
            DescribeParameters,
            "/viewer/describe_parameters",
            DescribeParameters.Request(names=own),
        )
        assert {"host", "port", "rate", "cone_scale"} <= set(own)
        for descriptor in answer.descriptors:
            assert descriptor.description, descriptor.name
            if descriptor.type == 3:  # double
                assert descriptor.floating_point_range, descriptor.name
    finally:
        executor.shutdown()
        node.destroy_node()
        rclpy.shutdown(context=context)


@pytest.mark.skipif(find_browser() is None, reason="needs a browser: apt install chromium")
def test_browser_draws_the_robot_where_it_stands_and_may_be_killed(
    viewer: tuple[subprocess.Popen[str], str, list[str]], page: PageClient
) -> None:
    """Magenta, which only the robot is, in the middle of the picture; none once it is hidden."""
    process, address, output = viewer
    wait_for(lambda: page.nodes["/robots/post"]["visible"], "the robot is shown")
    with HeadlessBrowser(900, 400) as browser:  # wide: panel and notices are beside the middle, not over it
        browser.open(address)
        browser.wait_for("document.body.innerText.includes('running')")
        browser.wait_for("document.querySelectorAll('canvas').length > 0")

        def magenta() -> np.ndarray:
            browser.wait_for_frames(2)
            picture = np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("RGB"))
            red, green, blue = np.moveaxis(picture[:, 300:600].astype(int), 2, 0)
            return (red > green + 60) & (blue > green + 60)

        wait_for(lambda: magenta().mean() > 0.02, "it is drawn", 120.0)
        rows, columns = np.nonzero(magenta())
        # The camera looks at its middle: it spans the picture's height, standing upright.
        assert np.ptp(rows) > 0.4 * 400
        assert np.ptp(rows) > 1.5 * np.ptp(columns)
        page.set("Robot", False)
        wait_for(lambda: magenta().mean() < 1e-4, "it is hidden", 200.0)
        page.set("Robot", True)
        os.killpg(browser.process.pid, signal.SIGKILL)
    count = page.messages
    wait_for(lambda: page.messages > count, "the page goes on for others")
    assert process.poll() is None
    assert "Traceback" not in "".join(output)


@pytest.mark.feature("000-F013")
@pytest.mark.skipif(find_browser() is None, reason="no Chromium is installed")
def test_browser_shows_a_white_box_in_the_colour_of_the_light(
    robot: RobotOnTopics, viewer: tuple[subprocess.Popen[str], str, list[str]], page: PageClient
) -> None:
    """A red light before the box, then behind it with blue light from everywhere."""
    robot.show_box(1.5, rgb=(1.0, 1.0, 1.0))
    camera = Camera.looking_at(np.array([2.6, 0.0, 0.0]), np.array([1.5, 0.0, 0.0]))
    robot.tell_view(camera, light([5.0, 0.0, 0.0, 1.0], BLACK, RED))
    with HeadlessBrowser(960, 360) as browser:
        browser.open(viewer[1])
        browser.wait_for("document.body.innerText.includes('running')")
        browser.wait_for("document.querySelectorAll('canvas').length > 0")

        def pure(channel: int) -> float:
            """Part of the picture that is of one colour; nothing else on the page is, whatever lies over the box."""
            browser.wait_for_frames(2)
            picture = np.asarray(Image.open(io.BytesIO(browser.screenshot())).convert("RGB"))
            others = np.delete(picture, channel, axis=2)
            return float(((picture[..., channel] > 150) & (others.max(axis=2) < 60)).mean())

        wait_for(lambda: pure(0) > 0.01 and pure(2) < 1e-3, "the box is red", 200.0)
        robot.tell_view(camera, light([-5.0, 0.0, 0.0, 1.0], BLUE, RED))
        wait_for(lambda: pure(2) > 0.01 and pure(0) < 1e-3, "the box is blue", 200.0)
    robot.tell_view(None)
    robot.show_box(0.0, Marker.DELETE)
