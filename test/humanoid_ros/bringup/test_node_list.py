# SPDX-License-Identifier: Apache-2.0
"""The node list: what arguments turn into which nodes, and that the build installs their programs."""

import os
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from humanoid_model.errors import InputError
from humanoid_ros.bringup.node_list import ARGUMENTS, list_nodes
from humanoid_ros.controller_bridge.guard import ENCLAVE
from humanoid_ros.viewer.entrance import VARIABLE

ROOT = Path(__file__).parents[3]


def test_the_stack_is_a_required_simulator_and_nodes_that_come_back():
    simulator, viewer, generator, planner, gaits = list_nodes("stack", {})
    assert (simulator.name, simulator.required) == ("simulator", True)
    assert simulator.parameters == {}
    assert (viewer.name, viewer.respawn, viewer.required) == ("viewer", True, False)
    assert viewer.parameters == {"host": "127.0.0.1", "port": 8080}
    assert (generator.name, generator.respawn, generator.required) == ("model_generator", True, False)
    assert (planner.name, planner.respawn, planner.required) == ("contact_planner", True, False)
    assert (gaits.name, gaits.respawn, gaits.required) == ("gait_generator", True, False)


@pytest.mark.feature("000-F019")
def test_a_page_that_is_started_again_lets_the_same_browsers_in(monkeypatch):
    """By the environment: other users read what is on a command line."""
    monkeypatch.setenv(VARIABLE, "")
    nodes = list_nodes("stack", {})
    token = os.environ[VARIABLE]
    assert len(token) == 32
    assert token not in repr(nodes)
    list_nodes("sim", {})
    assert os.environ[VARIABLE] == token


def test_arguments_reach_the_nodes():
    simulator, viewer, generator, planner, gaits = list_nodes(
        "stack", {"scene": "stairs", "port": "0", "namespace": "lab"}
    )
    assert simulator.parameters["scene"] == "stairs"
    assert viewer.parameters["port"] == 0
    assert planner.parameters["scene"] == "stairs"
    namespaces = {node.namespace for node in (simulator, viewer, generator, planner, gaits)}
    assert namespaces == {"lab"}


def test_all_but_the_simulator_can_be_left_out():
    names = [node.name for node in list_nodes("stack", {})]
    for left_out in ("viewer", "model_generator", "contact_planner", "gait_generator"):
        rest = [node.name for node in list_nodes("stack", {left_out: "false"})]
        assert rest == [name for name in names if name != left_out]


def test_the_bridge_goes_by_simulated_time_before_the_simulator_and_by_the_robots_alone():
    bridge = list_nodes("stack", {"bridge": "hrp2", "namespace": "lab"})[-1]
    assert (bridge.name, bridge.namespace, bridge.respawn) == ("controller_bridge", "lab", False)
    assert bridge.parameters == {"config": "hrp2", "use_sim_time": True}
    (alone,) = list_nodes("bridge", {"config": "talos", "autostart": "false"})
    assert alone.parameters == {"config": "talos", "log": "", "autostart": False}


@pytest.mark.feature("000-F029")
def test_a_robot_that_is_balanced_is_measured_often_and_with_noise():
    simulator, controller, *_ = list_nodes("sim", {"robot": "bip", "controller": "true"})
    assert (controller.name, controller.respawn) == ("controller", False)
    assert controller.parameters == {"robot": "bip", "use_sim_time": True}
    assert simulator.parameters["robot"] == "bip"
    assert simulator.parameters["sensor_noise"] == "usual"
    assert {simulator.parameters[f"{name}_rate"] for name in ("joint_state", "imu", "wrench")} == {250.0}
    assert "controller" not in [node.name for node in list_nodes("stack", {})]


def test_a_mechanism_runs_beside_the_stack_or_alone_with_the_page():
    beside = next(node for node in list_nodes("stack", {"kinematics": "gough"}) if node.name == "kinematics")
    assert beside.parameters == {"mechanism": "gough"}
    kinematics, viewer = list_nodes("kinematics", {"mechanism": "mine.urdf", "relay": "motors", "driven": "a, b"})
    assert kinematics.parameters == {
        "mechanism": "mine.urdf", "name": "", "relay": "motors", "driven": ["a", "b"], "relay_efforts": False,
    }  # fmt: skip
    assert (kinematics.required, viewer.name) == (True, "viewer")
    assert [node.name for node in list_nodes("kinematics", {"viewer": "false"})] == ["kinematics"]


def test_rviz_shows_the_stack():
    rviz = list_nodes("stack", {"rviz": "true", "viewer": "false"})[-1]
    assert (rviz.package, rviz.executable) == ("rviz2", "rviz2")
    assert Path(rviz.arguments[1]).is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"viewr": "true"}, "there is no argument 'viewr'. Arguments are scene, robot, controller, headless"),
        ({"viewer": "yes"}, "argument viewer: 'yes' can't be used. Give true or false."),
        ({"port": "-1"}, "argument port: '-1' is no TCP port"),
        ({"port": "65536"}, "'65536' is no TCP port"),
        ({"port": "http"}, "'http' is no TCP port"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        list_nodes("stack", arguments)


def test_every_node_of_this_package_has_an_executable_that_the_build_makes():
    executables = re.search(r"foreach\(node ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text())
    assert executables is not None
    nodes = [node for name in ARGUMENTS for node in list_nodes(name, {})]
    needed = {node.executable for node in nodes if node.package == "humanoid_stack"}
    known = {"simulator", "viewer", "contact_planner", "gait_generator", "model_generator", "controller_bridge"}
    known |= {"kinematics"}
    needed |= {node.executable for node in list_nodes("sim", {"controller": "true"})}
    known |= {"controller"}
    assert known <= needed
    assert needed <= set(executables[1].split())


def test_every_launch_file_has_its_nodes():
    files = {path.name.removesuffix(".launch.py"): path for path in (ROOT / "launch").iterdir()}
    assert set(files) == set(ARGUMENTS)
    for name, path in files.items():
        assert f'launch_description(ARGUMENTS["{name}"], partial(list_nodes, "{name}"))' in path.read_text()
    names = {name: [node.name for node in list_nodes(name, {})] for name in ("sim", "planning", "gait")}
    assert names == {"sim": ["simulator", "viewer"], "planning": ["contact_planner"], "gait": ["gait_generator"]}
    assert [node.name for node in list_nodes("sim", {"headless": "true", "rviz": "true"})] == ["simulator"]


def test_a_robot_is_simulated_or_asked_for():
    assert list_nodes("sim", {"robot": "talos"})[0].parameters == {"robot": "talos"}
    assert list_nodes("gait", {"robot": "bip"})[0].parameters == {"robot": "bip"}
    assert all("model" not in node.parameters for node in list_nodes("stack", {"robot": "talos"}))


def test_simulated_time_is_for_all_but_its_source():
    simulator, *others = list_nodes("stack", {"use_sim_time": "true"})
    assert "use_sim_time" not in simulator.parameters
    assert all(node.parameters["use_sim_time"] is True for node in others)


def test_a_namespace_has_its_own_clock_and_transforms():
    for node in list_nodes("stack", {"namespace": "left", "rviz": "true"}):
        assert node.remappings == (("/clock", "clock"), ("/tf", "tf"), ("/tf_static", "tf_static"))
    assert all(node.remappings == () for node in list_nodes("stack", {}))


def test_a_parameter_file_reaches_every_node():
    assert {node.parameter_file for node in list_nodes("stack", {"params_file": "lab.yaml"})} == {"lab.yaml"}


POLICY = ElementTree.parse(ROOT / "config/security/policy.xml").getroot()
RIGHTS = {"topics": {"publish", "subscribe"}, "services": {"reply", "request"}, "actions": {"call", "execute"}}


def test_every_own_node_is_started_in_an_enclave_of_the_policy():
    """ROS starts no node without its enclave's keys where security is enforced."""
    listed = {node.enclave for name in ARGUMENTS for node in list_nodes(name, {}) if node.package == "humanoid_stack"}
    assert len(listed) > 5
    assert listed | {ENCLAVE} <= {enclave.get("path") for enclave in POLICY.iter("enclave")}


def test_the_policy_is_one_that_sros2_reads():
    """By its schema policy.xsd: `ros2 security generate_artifacts` refuses all else."""
    assert (POLICY.tag, POLICY.attrib) == ("policy", {"version": "0.2.0"})
    assert [element.tag for element in POLICY] == ["enclaves"]
    for enclave in POLICY[0]:
        assert (enclave.tag, [*enclave.attrib], [part.tag for part in enclave]) == ("enclave", ["path"], ["profiles"])
        for profile in enclave[0]:
            assert (profile.tag, {*profile.attrib}) == ("profile", {"ns", "node"})
            for group in profile:
                assert group.attrib.keys() <= RIGHTS[group.tag]
                assert {*group.attrib.values()} <= {"ALLOW", "DENY"}
                assert {item.tag for item in group} == {group.tag.removesuffix("s")}
