# SPDX-License-Identifier: Apache-2.0
"""The launch files with the real `launch` and `launch_ros`, where they are installed."""

import asyncio
import importlib.util
import json
import os
import re
from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

launch = pytest.importorskip("launch", reason="launch is not installed (not on PyPI)")
pytest.importorskip("launch_ros", reason="launch_ros is not installed (not on PyPI)")

from launch.actions import (  # noqa: E402
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    RegisterEventHandler,
    SetEnvironmentVariable,
)
from launch.event_handlers import OnProcessExit, OnProcessIO  # noqa: E402
from launch.launch_description_source import LaunchDescriptionSource  # noqa: E402
from launch.utilities import perform_substitutions  # noqa: E402

from humanoid_ros.bringup.launch_description import launch_description, node_action  # noqa: E402
from humanoid_ros.bringup.node_list import LaunchArgument, NodeEntry, list_nodes  # noqa: E402
from humanoid_ros.bringup.start_stack import processes  # noqa: E402

LAUNCH = Path(__file__).parents[2] / "launch"
NODE = """#!/usr/bin/env python3
import json, rclpy
from rclpy.node import Node
rclpy.init()
node = Node("own_name", automatically_declare_parameters_from_overrides=True)
publisher = node.create_publisher(__import__("std_msgs.msg").msg.String, "topic", 1)
print(json.dumps({
    "name": node.get_fully_qualified_name(),
    "topic": publisher.topic_name,
    **{name: node.get_parameter(name).value for name in ("text", "number", "flag", "texts")},
}), flush=True)
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package 'small' whose executables are the files put into the returned folder."""
    folder = tmp_path / "lib" / "small"
    folder.mkdir(parents=True)
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    (index / "small").touch()
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}:{os.environ.get('AMENT_PREFIX_PATH', '')}")
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path / "log"))
    return folder


def install(folder, name, text):
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def load(name):
    spec = importlib.util.spec_from_file_location(name, LAUNCH / f"{name}.launch.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.generate_launch_description()


def run(description, arguments=(), stop_after=None):
    """Run a description; returns launch's exit code, output per process and exit codes in order."""
    output, exits = {}, []

    def on_output(event):
        output.setdefault(event.process_name, []).append(event.text.decode())

    def on_exit(event, context):
        exits.append((re.sub(r"-\d+$", "", event.process_name), event.returncode))

    included = IncludeLaunchDescription(
        LaunchDescriptionSource(description), launch_arguments=list(arguments)
    )
    service = launch.LaunchService()
    service.include_launch_description(
        launch.LaunchDescription(
            [
                RegisterEventHandler(OnProcessIO(on_stdout=on_output, on_stderr=on_output)),
                RegisterEventHandler(OnProcessExit(on_exit=on_exit)),
                SetEnvironmentVariable("PYTHONUNBUFFERED", "1"),
                included,
            ]
        )
    )

    async def main():
        task = asyncio.ensure_future(service.run_async())
        if stop_after is not None:
            for _ in range(600):
                if task.done() or stop_after(output, exits):
                    break
                await asyncio.sleep(0.1)
            await service.shutdown()
        return await asyncio.wait_for(task, 60.0)

    code = asyncio.new_event_loop().run_until_complete(main())
    lines = [line for texts in output.values() for line in "".join(texts).splitlines()]
    return code, lines, exits


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in LAUNCH.glob("*.launch.py")))
def test_launch_files_declare_described_arguments(name):
    actions = load(name).entities
    declared = [action for action in actions if isinstance(action, DeclareLaunchArgument)]
    everywhere = {"namespace", "params_file", "use_sim_time"} | ({"rviz"} if name != "bridge" else set())
    assert everywhere <= {argument.name for argument in declared}
    assert all(argument.description for argument in declared)


def test_launch_starts_the_programs_that_the_bringup_command_starts():
    nodes = list_nodes("stack", {"namespace": "lab", "port": "0"})
    context = launch.LaunchContext()
    for node, process in zip(nodes, processes(nodes), strict=True):
        action = node_action(node)
        action._perform_substitutions(context)
        assert action.node_name == f"/lab/{node.name}"
        assert perform_substitutions(context, action.cmd[0]) == process.command[0]


@pytest.mark.ros
def test_name_namespace_parameters_and_remappings_reach_a_node(package):
    install(package, "node", NODE)
    entry = NodeEntry(
        name="given",
        executable="node",
        package="small",
        namespace="lab",
        parameters={"text": "true", "number": 2.5, "flag": False, "texts": ["a b", "it's"]},
        remappings=(("topic", "other"),),
    )
    code, lines, exits = run(launch_description((), lambda values: (entry,)))
    assert code == 0
    assert exits == [("node", 0)]
    assert json.loads(next(line for line in lines if line.startswith("{"))) == {
        "name": "/lab/given",
        "topic": "/lab/other",
        "text": "true",
        "number": 2.5,
        "flag": False,
        "texts": ["a b", "it's"],
    }


@pytest.mark.ros
def test_the_end_of_a_required_node_stops_the_others(package):
    install(package, "vital", "#!/bin/sh\nexit 3\n")
    install(package, "other", "#!/bin/sh\nexec sleep 60\n")
    nodes = (
        NodeEntry("other", "other", package="small"),
        NodeEntry("vital", "vital", package="small", required=True),
    )
    _, _, exits = run(launch_description((), lambda values: nodes))
    assert exits[0] == ("vital", 3)
    assert [name for name, _ in exits] == ["vital", "other"]


@pytest.mark.ros
def test_a_node_is_started_again_as_configured(package):
    install(package, "node", "#!/bin/sh\necho started\nexit 1\n")
    node = NodeEntry("node", "node", package="small", respawn=True, respawn_delay=0.1)
    _, lines, _ = run(
        launch_description((), lambda values: (node,)),
        stop_after=lambda output, exits: len(exits) >= 3,
    )
    assert sum("started" in line for line in lines) >= 3


@pytest.mark.ros
def test_values_of_arguments_reach_the_list(package):
    install(package, "node", "#!/bin/sh\nexit 0\n")
    seen = []

    def nodes(values):
        seen.append(dict(values))
        return (NodeEntry("node", "node", package="small"),)

    declared = (LaunchArgument("scene", "stand", "scene"), LaunchArgument("port", "1", "port"))
    run(launch_description(declared, nodes), [("scene", "stairs")])
    assert seen == [{"scene": "stairs", "port": "1"}]


@pytest.mark.slow
@pytest.mark.ros
def test_the_stack_comes_up_and_ends_cleanly(monkeypatch, tmp_path):
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))

    def up(output, exits):
        said = "".join(text for texts in output.values() for text in texts)
        words = (
            "the page is at http://127.0.0.1:",
            "scene 'stand' with hrp2",
            "generates models",
            "plans in the scene stand",
            "generates gaits",
        )
        return all(word in said for word in words)

    _, lines, exits = run(load("stack"), [("port", "0")], stop_after=up)
    assert up({"": lines}, exits)
    names = ("contact_planner", "gait_generator", "model_generator", "simulator", "viewer")
    assert sorted(exits) == [(name, 0) for name in names]


@pytest.mark.slow
@pytest.mark.ros
def test_two_robots_side_by_side_have_their_own_names_clock_and_transforms(monkeypatch, tmp_path):
    domain = claim_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_LOG_DIR", str(tmp_path))
    parameters = tmp_path / "lab.yaml"
    parameters.write_text("/**:\n  ros__parameters: {joint_state_rate: 20.0, scene: stand}\n")
    import rclpy
    from rosgraph_msgs.msg import Clock
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node("observer", context=context)
    executor = rclpy.executors.SingleThreadedExecutor(context=context)
    executor.add_node(node)
    heard = {}
    for name in ("left", "right"):
        for kind, topic in ((JointState, "joint_states"), (Clock, "clock"), (TFMessage, "tf")):
            topic = f"/{name}/{topic}"
            node.create_subscription(kind, topic, lambda message, topic=topic: heard.update({topic: message}), 10)

    def all_heard(output, exits):
        for _ in range(20):
            executor.spin_once(timeout_sec=0.005)
        return len(heard) == 6 or bool(exits)

    both = launch.LaunchDescription([
        IncludeLaunchDescription(
            LaunchDescriptionSource(load("sim")),
            launch_arguments=[
                ("namespace", name), ("robot", robot), ("headless", "true"), ("params_file", str(parameters)),
            ],
        )
        for name, robot in (("left", "hrp2"), ("right", "bip"))
    ])  # fmt: skip
    _, _, exits = run(both, stop_after=all_heard)
    executor.shutdown()
    node.destroy_node()
    context.try_shutdown()
    assert sorted(exits) == [("simulator", 0)] * 2
    assert len(heard) == 6
    names = {name: set(heard[f"/{name}/joint_states"].name) for name in ("left", "right")}
    assert "RLEG_JOINT0" in names["left"]
    assert names["left"].isdisjoint(names["right"])
    # The file's rate: 20 Hz are 50 ms.
    assert all(heard[f"/{name}/joint_states"].header.stamp.nanosec % 50_000_000 == 0 for name in names)
