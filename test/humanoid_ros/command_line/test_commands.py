# SPDX-License-Identifier: Apache-2.0
"""Commands in the words of `ros2` against a small node over DDS."""

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import yaml
from fixtures.ros_domain import claim_domain

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.lifecycle import LifecycleNode
from rclpy.qos import QoSProfile
from std_msgs.msg import Float64, String
from std_srvs.srv import SetBool
from unique_identifier_msgs.msg import UUID

from humanoid_ros.command_line.command import GROUPS, main, parse
from humanoid_ros.node.qos import LATCHED, SENSOR
from test.humanoid_ros.conftest import wait_until

pytestmark = pytest.mark.feature("000-F028")

ROOT = Path(__file__).parents[3]
NOT_HERE = {"launch", "security", "pkg"}
"""Groups that are only beside ROS 2."""


class Probe(LifecycleNode):
    """A node with one of everything."""

    def __init__(self, context):
        super().__init__("probe", context=context)
        group = ReentrantCallbackGroup()
        self.declare_parameter("gain", 2.0)
        self.heard, self.alive = [], []
        self.sensor = self.create_publisher(Float64, "sensor", SENSOR)
        self.kept = self.create_publisher(String, "kept", LATCHED)
        self.kept.publish(String(data="text"))
        self.create_timer(0.02, lambda: self.sensor.publish(Float64(data=1.5)), callback_group=group)
        self.create_subscription(String, "ear", self.heard.append, QoSProfile(depth=10), callback_group=group)
        self.create_subscription(UUID, "follow/alive", self.alive.append, SENSOR, callback_group=group)
        self.create_service(SetBool, "switch", self._switch, callback_group=group)
        self.create_service(SetBool, "deaf", self._wait, callback_group=group)
        self.released = threading.Event()
        ActionServer(
            self, FollowJointTrajectory, "follow", self._follow, callback_group=group,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )  # fmt: skip

    @staticmethod
    def _switch(request, response):
        response.success, response.message = request.data, "heard"
        return response

    def _wait(self, _, response):
        self.released.wait(60.0)
        return response

    @staticmethod
    def _follow(goal):
        """Succeed at once, or wait for a cancel where joints are named."""
        if not goal.request.trajectory.joint_names:
            goal.publish_feedback(FollowJointTrajectory.Feedback(joint_names=["on the way"]))
            goal.succeed()
            return FollowJointTrajectory.Result(error_string="done")
        end = time.monotonic() + 60.0
        while not goal.is_cancel_requested and time.monotonic() < end:
            time.sleep(0.01)
        goal.canceled()
        return FollowJointTrajectory.Result(error_string="stopped")


def _ends(node):
    """What a node has found."""
    found = [*node.get_topic_names_and_types(), *node.get_service_names_and_types()]
    return {name for name, _ in found} | set(node.get_node_names()) - {"_keeper"}


@pytest.fixture(scope="module")
def probe():
    """The node, in this process but a context of its own."""
    context = rclpy.Context()
    domain = claim_domain()
    rclpy.init(context=context, domain_id=domain)
    node = Probe(context)
    executor = MultiThreadedExecutor(4, context=context)
    executor.add_node(node)
    stop = threading.Event()

    def spin():
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        # One participant of the middleware for all commands: to a second one of the same process it gives the name of
        # the first, which others take for an old one for a while.
        patch.setattr("humanoid_ros.command_line.session.stay_on_this_machine", lambda: None)
        rclpy.init()
        keeper = rclpy.create_node("_keeper")  # a participant ends with its last node
        wait_until(lambda: _ends(keeper) >= _ends(node), "the node isn't found")
        with pytest.MonkeyPatch.context() as kept:
            kept.setattr(rclpy, "init", lambda **_: None)
            kept.setattr(rclpy, "shutdown", lambda: None)
            yield node
        keeper.destroy_node()
        rclpy.shutdown()
    node.released.set()
    stop.set()
    thread.join()
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()


@pytest.fixture
def ros(probe, capsys):
    """Does a command; what it prints, or what it says is wrong where another exit code than 0 is awaited."""

    def run(command, code=0):
        capsys.readouterr()
        assert main(shlex.split(command)) == code
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    return run


def test_lists_name_what_there_is(ros):
    assert "/kept [std_msgs/msg/String]\n" in ros("topic list -t")
    assert "/_action/" not in ros("topic list")
    end = time.monotonic() + 180.0  # nodes of tests before may be remembered for a while
    while ros("node list") != "/probe\n":
        assert time.monotonic() < end
        time.sleep(0.2)
    assert "/switch [std_srvs/srv/SetBool]" in ros("service list -t")
    kind = "control_msgs/action/FollowJointTrajectory"
    assert f"/follow [{kind}]" in ros("action list -t")
    told = ros("node info /probe")
    assert re.search(rf"Action Servers:\n    /follow: {kind}\n", told)
    assert "    /kept: std_msgs/msg/String\n" in told
    assert "Action servers: 1\n    /probe" in ros("action info follow")


def test_echo_hears_with_what_publishers_offer(ros):
    assert ros("topic echo /sensor --once --timeout 60") == "data: 1.5\n---\n"  # best effort
    assert ros("topic echo kept --once --timeout 60") == "data: text\n---\n"  # said before anybody listened
    assert ros("topic echo /kept std_msgs/msg/String --once --field data --timeout 60") == "text\n---\n"
    told = ros("topic echo /kept --once --qos-durability volatile --qos-reliability best_effort --timeout 0.5", code=1)
    assert told == "ros: /kept: no message came in 0.5 s.\n"
    told = ros("topic info -v /sensor")
    assert "Publisher count: 1\n\nNode name: probe" in told
    assert "BEST_EFFORT" in told
    assert ros("topic type /sensor") == "std_msgs/msg/Float64\n"


def test_rates_are_told(ros, capsys, monkeypatch):
    """As the clock of the one who listens has it; the sender's timer gives 50 Hz at most in the long run."""
    told = []

    def take(*words, **_):
        told.append(" ".join(map(str, words)))
        if any("average rate" in line for line in told) and "window" in told[-1]:
            raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", take)
    assert main(["topic", "hz", "/sensor"]) == 130
    (rate,) = [float(line.split(":")[1]) for line in told if "average rate" in line]
    (window,) = [int(line.rsplit(" ", 1)[1]) for line in told if "window" in line]
    assert 0.0 < rate < 100.0
    assert window >= 2


def test_what_is_published_arrives(ros, probe):
    probe.heard.clear()
    ros("topic pub -1 /ear std_msgs/msg/String '{data: one}'")
    ros("topic pub -t 2 -r 50 /ear std_msgs/String '{data: two}'")
    end = time.monotonic() + 60.0
    while len(probe.heard) < 3 and time.monotonic() < end:
        time.sleep(0.01)
    assert [message.data for message in probe.heard] == ["one", "two", "two"]
    told = ros("topic pub -1 /nobody std_msgs/msg/String --spin-time 0.2", code=1)
    assert "/nobody: 0 listeners came in 0.2 s instead of 1" in told


def test_services_answer(ros):
    assert ros("service call /switch std_srvs/srv/SetBool '{data: true}'").endswith(
        "response:\nsuccess: true\nmessage: heard\n"
    )
    assert ros("service type /switch") == "std_srvs/srv/SetBool\n"
    assert "/switch has std_srvs/srv/SetBool" in ros("service call /switch std_srvs/srv/Trigger", code=1)
    assert ros("service call /deaf std_srvs/srv/SetBool --timeout 0.3", code=1) == "ros: /deaf: no answer in 0.3 s.\n"


def test_what_is_not_there_is_named_with_what_is_like_it(ros):
    assert "there is no topic '/kep'. Known are: /kept" in ros("topic echo kep --spin-time 0.2", code=1)
    assert "there is no service '/swich'. Known are: /switch" in ros("service type /swich --spin-time 0.2", code=1)
    assert "there is no node '/prob'. Known are: /probe" in ros("param list /prob --spin-time 0.2", code=1)
    assert "std_srvs: there is no type 'srv/SetBol'. Known are: srv/SetBool" in ros(
        "service call /a std_srvs/SetBol", code=1
    )
    assert "there is no package of types 'std_msg'. Known are: std_msgs" in ros("topic pub /a std_msg/String", code=1)
    assert "dat: there is no field 'dat'. Known are: data" in ros("topic pub /a std_msgs/String '{dat: 1}'", code=1)
    assert "which is no YAML" in ros("topic pub /a std_msgs/String '{data: ['", code=1)


def test_parameters_are_read_and_set(ros, probe):
    assert "  gain\n" in ros("param list /probe")
    assert "/probe:\n  gain\n" in ros("param list")
    assert ros("param get /probe gain") == "Double value is: 2.0\n"
    assert ros("param set /probe gain 3.5") == "Set parameter successful\n"
    assert probe.get_parameter("gain").value == 3.5
    assert yaml.safe_load(ros("param dump /probe"))["/probe"]["ros__parameters"]["gain"] == 3.5
    assert "Parameter name: gain\n  Type: double\n" in ros("param describe /probe gain")
    assert "there is no parameter 'gian'. Known are: gain" in ros("param get /probe gian", code=1)
    assert main(["param", "set", "/probe", "gain", "word"]) == 1  # the node says why


def test_states_of_managed_nodes(ros):
    assert ros("lifecycle get /probe") == "unconfigured [1]\n"
    assert "- configure [1]\n\tStart: unconfigured\n" in ros("lifecycle list /probe")
    assert "there is no transition now 'activate'. Known are: configure" in ros("lifecycle set /probe activate", code=1)
    assert ros("lifecycle set /probe configure") == "Transitioning successful\n"
    assert ros("lifecycle get /probe") == "inactive [2]\n"
    assert "/probe\n" in ros("lifecycle nodes")


def test_goals_tell_how_far_they_are_and_how_they_end(ros):
    told = ros("action send_goal /follow control_msgs/action/FollowJointTrajectory '{}' --feedback")
    assert re.search(r"Feedback:\n(.*\n)*?joint_names:\n- on the way", told)
    assert "error_string: done" in told
    assert told.endswith("Goal finished with status: SUCCEEDED\n")
    assert "/follow has" in ros("action send_goal /follow humanoid_stack/action/PlanContacts '{}'", code=1)


def test_ctrl_c_cancels_a_goal_and_what_watches_its_client_hears_it(probe):
    probe.alive.clear()
    goal = ["/follow", "control_msgs/action/FollowJointTrajectory", "{trajectory: {joint_names: [a]}}"]
    command = [sys.executable, "-m", "humanoid_ros.command_line", "action", "send_goal", *goal]
    asking = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        text = ""
        while "Goal accepted" not in text:
            text += (line := asking.stdout.readline())
            assert line, text
        end = time.monotonic() + 60.0
        while not probe.alive and time.monotonic() < end:
            time.sleep(0.01)
        assert bytes(probe.alive[-1].uuid).hex() in text
        asking.send_signal(signal.SIGINT)
        text += asking.communicate(timeout=60.0)[0]
    finally:
        asking.kill()
    assert "Canceling goal..." in text
    assert "error_string: stopped" in text
    assert "Goal finished with status: CANCELED" in text
    assert asking.returncode == 1


def test_recordings(ros, probe, tmp_path):
    """The recorder and the replay are processes of their own; their tests are at their nodes."""
    for number, seconds in enumerate((0.5, 5.0, 30.0)):  # what a busy machine needs to write a message
        path = tmp_path / f"{number}.mcap"
        words = ["bag", "record", "-o", str(path), "/sensor", "kept"]
        recorder = subprocess.Popen([sys.executable, "-m", "humanoid_ros.command_line", *words], cwd=ROOT)
        try:
            wait_until(
                lambda: probe.sensor.get_subscription_count() * probe.kept.get_subscription_count(), "no recorder"
            )
            time.sleep(seconds)
        finally:
            recorder.send_signal(signal.SIGINT)
            assert recorder.wait(60.0) == 0
        if "/sensor" in (told := ros(f"bag info {path}")) and "/kept" in told:
            break
    assert re.search(r"Topic: /sensor \| Type: std_msgs/msg/Float64 \| Count: [1-9]", told)
    assert "Topic: /kept | Type: std_msgs/msg/String | Count: 1 " in told
    assert "is there already" in ros(f"bag record -o {path}", code=1)


def test_definitions_are_shown_with_what_they_are_made_of(ros):
    told = ros("interface show std_msgs/msg/Header")
    assert "builtin_interfaces/Time stamp\n\tint32 sec\n\tuint32 nanosec\n" in told
    assert ros("interface show std_srvs/srv/SetBool").count("---") == 1
    assert "uint8 FALL=10" in ros("interface show humanoid_stack/action/ExecuteTrajectory")


def test_programs_are_run_by_their_names(monkeypatch, ros):
    started = []
    monkeypatch.setattr(os, "execv", lambda program, words: started.append((Path(program).name, words[1:])))
    assert main(shlex.split("run humanoid_stack viewer --ros-args -p port:=8081")) == 0
    assert started == [("viewer", ["--ros-args", "-p", "port:=8081"])]
    assert "humanoid_stack: there is no program 'vewer'. Known are: viewer" in ros("run humanoid_stack vewer", code=1)


def documented():
    """Commands in the pages, as in `ros2 topic echo /joint_states`."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = set()
    for page in pages:
        for command in re.findall(r"\b(?:ros2|scripts/ros) (\w+[^`\n#]*)", page.read_text()):
            if command.split()[0] not in NOT_HERE:
                found.add(command.replace("$(", "").strip())
    return sorted(found)


@pytest.mark.parametrize("command", documented())
def test_words_of_the_pages_make_commands(command):
    words = shlex.split(command)
    assert words[0] in GROUPS
    if len(words) < 3 or words[-1] == "--help":  # only named
        words = [*words[:2], "--help"]
        with pytest.raises(SystemExit, match="0"):
            parse(words)
    else:
        assert parse(words).do


def test_pages_have_commands():
    assert any(command.startswith("topic pub") for command in documented())
    assert any(command.startswith("lifecycle set") for command in documented())
