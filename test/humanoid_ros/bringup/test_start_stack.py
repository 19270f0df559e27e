# SPDX-License-Identifier: Apache-2.0
"""The bring-up command, with a package of small executables installed for the test."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

from humanoid_model.errors import InputError
from humanoid_ros.bringup.node_list import NodeEntry, list_nodes
from humanoid_ros.bringup.start_stack import (
    find_executable,
    main,
    parameter_text,
    processes,
    read_arguments,
    ros_arguments,
)
from humanoid_ros.bringup.supervisor import Supervisor

NODE = """#!/usr/bin/env python3
import json, rclpy
from rclpy.node import Node
rclpy.init()
node = Node("own_name", automatically_declare_parameters_from_overrides=True)
publisher = node.create_publisher(__import__("std_msgs.msg").msg.String, "topic", 1)
print(json.dumps({
    "name": node.get_fully_qualified_name(),
    "topic": publisher.topic_name,
    **{name: node.get_parameter(name).value for name in ("text", "number", "flag", "texts", "whole")},
}))
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
    return folder


def install(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


@pytest.mark.ros
def test_name_namespace_parameters_and_remappings_reach_a_node(package, capsys):
    install(package, "node", NODE)
    node = NodeEntry(
        name="given",
        executable="node",
        package="small",
        namespace="lab",
        parameters={
            "text": "true",
            "number": 2.5,
            "whole": 3,
            "flag": False,
            "texts": ["a b", "it's"],
        },
        remappings=(("topic", "other"),),
    )
    assert Supervisor(processes([node]), output=sys.stdout).run() == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if "lab" in line)
    assert json.loads(line.removeprefix("[given] ")) == {
        "name": "/lab/given",
        "topic": "/lab/other",
        "text": "true",
        "number": 2.5,
        "whole": 3,
        "flag": False,
        "texts": ["a b", "it's"],
    }


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(InputError, match="node r: package 'nowhere' is not installed"):
        processes([NodeEntry("r", "r", package="nowhere")])


def test_an_executable_that_is_not_installed_is_named(package):
    with pytest.raises(InputError, match="node n: package 'small' has no executable 'absent'"):
        processes([NodeEntry("n", "absent", package="small")])


def test_arguments_of_the_program_come_before_those_of_ros():
    node = NodeEntry("n", "e", namespace="/a/", remappings=(("x", "y"),))
    assert ros_arguments(node) == [
        *("--ros-args", "--enclave", "/humanoid_stack/n"),
        *("-r", "__node:=n", "-r", "__ns:=/a", "-r", "x:=y"),
    ]


def test_texts_are_quoted_so_that_they_stay_texts():
    assert parameter_text("1") == '"1"'
    assert parameter_text(1) == "1"
    assert parameter_text(True) == "true"


def test_arguments_are_read_in_both_spellings():
    assert read_arguments(["scene=a=b", "port:=1"]) == {"scene": "a=b", "port": "1"}


def test_usage_lists_the_arguments(capsys):
    assert main(["--help"]) == 0
    assert "  scene           scene: a name" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["stand"], "'stand' is no argument. Write name=value, e.g. scene=stand."),
        (["speed=2"], "there is no argument 'speed'"),
        (["viewer=maybe"], "argument viewer: 'maybe' can't be used. Give true or false."),
    ],
)
def test_bad_arguments_end_the_command_with_a_message(words, message, capsys):
    assert main(words) == 2
    assert f"bringup: {message}" in capsys.readouterr().err


@pytest.mark.ros
def test_the_command_stops_its_nodes_when_it_is_interrupted(package, tmp_path):
    install(package, "node", "#!/bin/sh\necho up\nexec sleep 60\n")
    script = tmp_path / "run.py"
    script.write_text(
        "import sys\n"
        "from humanoid_ros.bringup.start_stack import processes\n"
        "from humanoid_ros.bringup.node_list import NodeEntry\n"
        "from humanoid_ros.bringup.supervisor import Supervisor\n"
        "sys.exit(Supervisor(processes([NodeEntry('n', 'node', package='small')])).run())\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as popen:
        assert popen.stdout.readline() == "[n] up\n"
        popen.terminate()
        assert popen.wait(50.0) == 0  # the node would sleep for longer


@pytest.mark.ros
def test_the_gait_generator_comes_up_with_the_stack_and_ends_with_it():
    left_out = [f"{name}=false" for name in ("viewer", "model_generator", "contact_planner")]
    with subprocess.Popen(
        [sys.executable, "-m", "humanoid_ros.bringup", *left_out],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "ROS_DOMAIN_ID": str(claim_domain())},
    ) as popen:
        lines = []
        for line in popen.stdout:
            lines.append(line)
            said = "".join(lines)
            if "scene 'stand' with hrp2" in said and "generates gaits of hrp2" in said:
                break
        assert any(line.startswith("[gait_generator]") for line in lines), "".join(lines)
        popen.terminate()
        rest = popen.stdout.read()
        assert popen.wait(60.0) == 0, rest
    assert "Traceback" not in "".join(lines) + rest


@pytest.mark.ros
@pytest.mark.parametrize("node", list_nodes("stack", {"bridge": "hrp2"}), ids=lambda node: node.name)
def test_ctrl_c_while_a_node_starts_ends_it_without_a_traceback(node):
    command = [str(find_executable(node)), *ros_arguments(node)]
    for _ in range(10):
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as popen:
            while "numpy" not in Path(f"/proc/{popen.pid}/maps").read_text():  # long before rclpy.init()
                assert popen.poll() is None
            popen.send_signal(signal.SIGINT)
            told = popen.communicate(timeout=60.0)[0]
        assert "Traceback" not in told
        if popen.returncode:  # else it had started by then: a busy machine may hold us up
            break
    assert (popen.returncode, told) == (-signal.SIGINT, "")
