# SPDX-License-Identifier: Apache-2.0
"""The node list: what arguments turn into which nodes, and that the build installs their programs."""

import re
from pathlib import Path

import pytest

from humanoid_model.errors import InputError
from humanoid_ros.bringup.node_list import STACK_ARGUMENTS, bridge_nodes, simulator_nodes, stack_nodes

ROOT = Path(__file__).parents[3]


def test_the_stack_is_a_required_simulator_and_nodes_that_come_back():
    simulator, viewer, generator, planner, gaits = stack_nodes({})
    assert (simulator.name, simulator.required) == ("simulator", True)
    assert simulator.parameters == {"scene": "stand"}
    assert (viewer.name, viewer.respawn, viewer.required) == ("viewer", True, False)
    assert viewer.parameters == {"host": "127.0.0.1", "port": 8080}
    assert (generator.name, generator.respawn, generator.required) == ("model_generator", True, False)
    assert (planner.name, planner.respawn, planner.required) == ("contact_planner", True, False)
    assert (gaits.name, gaits.respawn, gaits.required) == ("gait_generator", True, False)


def test_arguments_reach_the_nodes():
    simulator, viewer, generator, planner, gaits = stack_nodes({"scene": "stairs", "port": "0", "namespace": "lab"})
    assert simulator.parameters["scene"] == "stairs"
    assert viewer.parameters["port"] == 0
    assert planner.parameters["scene"] == "stairs"
    namespaces = {node.namespace for node in (simulator, viewer, generator, planner, gaits)}
    assert namespaces == {"lab"}


def test_all_but_the_simulator_can_be_left_out():
    names = [node.name for node in stack_nodes({})]
    for left_out in ("viewer", "model_generator", "contact_planner", "gait_generator"):
        rest = [node.name for node in stack_nodes({left_out: "false"})]
        assert rest == [name for name in names if name != left_out]
    assert [node.name for node in simulator_nodes({})] == ["simulator"]


def test_the_bridge_goes_by_simulated_time_before_the_simulator_and_by_the_robots_alone():
    bridge = stack_nodes({"bridge": "hrp2", "namespace": "lab"})[-1]
    assert (bridge.name, bridge.namespace, bridge.respawn) == ("controller_bridge", "lab", False)
    assert bridge.parameters == {"config": "hrp2", "use_sim_time": True}
    (alone,) = bridge_nodes({"config": "talos", "autostart": "false"})
    assert alone.parameters == {"config": "talos", "log": "", "use_sim_time": False, "autostart": False}


def test_rviz_shows_the_stack():
    rviz = stack_nodes({"rviz": "true", "viewer": "false"})[-1]
    assert (rviz.package, rviz.executable) == ("rviz2", "rviz2")
    assert Path(rviz.arguments[1]).is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"viewr": "true"}, "there is no argument 'viewr'. Arguments are scene, namespace, viewer"),
        ({"viewer": "yes"}, "argument viewer: 'yes' can't be used. Give true or false."),
        ({"port": "-1"}, "argument port: '-1' is no TCP port"),
        ({"port": "65536"}, "'65536' is no TCP port"),
        ({"port": "http"}, "'http' is no TCP port"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        stack_nodes(arguments)


def test_every_node_of_this_package_has_an_executable_that_the_build_makes():
    executables = re.search(r"foreach\(node ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text())
    assert executables is not None
    everything = {argument.name: "true" for argument in STACK_ARGUMENTS if argument.choices}
    needed = {
        node.executable for node in stack_nodes(everything) if node.package == "humanoid_stack"
    }
    assert needed <= set(executables[1].split())
