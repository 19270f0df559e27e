# SPDX-License-Identifier: Apache-2.0
"""Bad scenes, commands and wrenches at the simulator node: refused or paused with a reason, and the node lives."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Point, Quaternion, Twist, Vector3
from humanoid_stack.msg import ContactForces, JointCommand
from humanoid_stack.srv import ApplyWrench, LoadScene, SetState, StepSimulation
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import SetBool, Trigger

SCENE = """bodies:
  floor: {{shapes: [{{half_space: true}}]}}
  block: {{mass: {mass}, xyz: [0, 0, {z}], shapes: [{{box: [0.2, 0.2, 0.2]}}]{more}}}
{rest}"""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SIMULATOR_ARGUMENTS = ("-p", "paused:=true")
NAN, INF = float("nan"), float("inf")


def scene(**fields: str) -> str:
    return SCENE.format(**{"mass": "1", "z": "0.1", "more": "", "rest": "", **fields})


def ask(simulator: Any, kind: type, name: str, **fields: Any) -> Any:
    return simulator.call(kind, name, kind.Request(**fields))


def text_value(text: str) -> ParameterValue:
    return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=text)


@pytest.fixture
def block(simulator: Any) -> Iterator[Any]:
    """The simulator with a block on the floor, paused at the start; it must be alive at the end."""
    answer = ask(simulator, LoadScene, "load_scene", text=scene())
    assert answer.success, answer.message
    assert ask(simulator, SetBool, "pause", data=True).success
    yield simulator
    assert simulator.process.poll() is None
    assert ask(simulator, Trigger, "reset").success
    assert ask(simulator, StepSimulation, "step", steps=3).success


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"mass": ".nan"}, "text:3: bodies.block.mass: is .nan. Give a finite number"),
        ({"mass": "-1"}, "text:3: bodies.block.mass: is -1. Give 0 or more"),
        ({"mass": "0"}, "nothing moves in the scene"),
        ({"z": ".inf"}, "bodies.block.xyz[2]: is .inf"),
        ({"more": ", inertia: [-1, 0, 0, 0, 1, 0, 0, 0, 1]"}, "bodies.block.inertia: inertia is not positive"),
        ({"more": ", inertia: [0, 0, 0, 0, 0, 0, 0, 0, 0]"}, "could spin about an axis without inertia"),
        ({"rest": 'pairs: [{between: ["*", "*"], friction: -0.5}]'}, "pairs[0].friction: is -0.5. Give 0 or more"),
        ({"rest": "pairs: [{between: [block, moon], friction: 1}]"}, "nothing in the scene is called 'moon'"),
        ({"rest": "time_step: 0"}, "time_step: is 0. Give more than 0"),
        ({"rest": "time_step: -1"}, "time_step: is -1. Give more than 0"),
    ],
)
def test_bad_scenes_are_refused_and_the_old_one_goes_on(block: Any, fields: dict[str, str], problem: str) -> None:
    answer = ask(block, LoadScene, "load_scene", text=scene(**fields))
    assert not answer.success
    assert problem in answer.message
    assert list(answer.bodies) == ["floor", "block"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"twist": Twist(linear=Vector3(x=NAN))}, "twist: is [nan, 0.0"),
        ({"position": Point(z=INF)}, "pose.position: is [0.0, 0.0, inf]"),
        ({"orientation": Quaternion(w=0.0)}, "pose.orientation: the quaternion [0.0, 0.0, 0.0, 0.0] has the length 0"),
        ({"orientation": Quaternion(w=NAN)}, "pose.orientation: is [0.0, 0.0, 0.0, nan]"),
        ({"name": "moon"}, "name: there is no robot or body 'moon'. Name one of floor, block"),
        ({"name": "floor"}, "the body 'floor' is fixed"),
    ],
)
def test_bad_states_are_refused(block: Any, fields: dict[str, Any], problem: str) -> None:
    request = SetState.Request(name=fields.get("name", "block"), set_pose=True, twist=fields.get("twist", Twist()))
    request.pose.position = fields.get("position", Point())
    request.pose.orientation = fields.get("orientation", Quaternion(w=1.0))
    answer = block.call(SetState, "set_state", request)
    assert not answer.success
    assert problem in answer.message


def test_a_wrench_beyond_all_bounds_is_refused(block: Any) -> None:
    push = ApplyWrench.Request(body="block", duration=Duration(sec=1))
    push.wrench.force.x = 1e300
    answer = block.call(ApplyWrench, "apply_wrench", push)
    assert not answer.success
    assert answer.message.startswith("force")
    assert "1e+09" in answer.message


@pytest.mark.parametrize(
    ("topic", "fields", "problem"),
    [
        ("position", {"names": ["HEAD_JOINT0"], "positions": [NAN]}, "commands/position: positions: is [nan]"),
        ("position", {"names": ["HEAD_JOINT0"], "positions": [0.1], "velocities": [INF]}, "velocities: is [inf]"),
        ("position", {"names": ["TAIL"], "positions": [0.1]}, "TAIL"),
        ("effort", {"names": ["HEAD_JOINT0"], "efforts": [-INF]}, "commands/effort: efforts: is [-inf]"),
    ],
)
def test_bad_commands_are_refused(simulator: Any, topic: str, fields: dict[str, Any], problem: str) -> None:
    if "hrp2" not in ask(simulator, LoadScene, "load_scene", scene="stand").robots:
        raise AssertionError("no robot")
    diagnostics = simulator.listen(DiagnosticArray, "/diagnostics")
    publisher = simulator.publisher(JointCommand, f"commands/{topic}")
    publisher.publish(JointCommand(**fields))
    diagnostics.wait(lambda d: any(problem in value.value for value in d.status[0].values))
    assert ask(simulator, StepSimulation, "step", steps=2).success
    assert simulator.process.poll() is None


@pytest.mark.feature("000-F008")
@pytest.mark.parametrize("kind", ["scene", "text", "file"])
def test_nothing_of_a_file_elsewhere_is_told(block: Any, kind: str) -> None:
    diagnostics = block.listen(DiagnosticArray, "/diagnostics")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        path = Path(folder) / "secret.yaml"
        path.write_text("CANARY: 1")
        if kind == "file":
            block_set = SetParameters.Request(parameters=[Parameter(name="solver_file", value=text_value(str(path)))])
            (answer,) = block.call(SetParameters, "simulator/set_parameters", block_set).results
            message = answer.reason
        elif kind == "scene":
            message = ask(block, LoadScene, "load_scene", scene=str(path)).message
        else:
            message = ask(block, LoadScene, "load_scene", text=f"robots: {{a: {{robot: {path}}}}}").message
    assert "requests may name files of" in message
    assert "CANARY" not in message
    if kind != "file":
        told = diagnostics.wait(lambda d: any(str(path) in value.value for value in d.status[0].values))
        assert "CANARY" not in str(told)


def test_thousands_of_contacts_step_and_the_node_answers(block: Any) -> None:
    """A quarter of what the library's test takes: each body has its transforms and markers here."""
    boxes = "\n".join(
        f"  box{i}: {{mass: 1, xyz: [{0.2 * (i % 25)}, {0.2 * (i // 25)}, 0.05], shapes: [{{box: [0.1, 0.1, 0.1]}}]}}"
        for i in range(625)
    )
    contacts = block.listen(ContactForces, "contacts")
    answer = ask(block, LoadScene, "load_scene", text=f"bodies:\n  floor: {{shapes: [{{half_space: true}}]}}\n{boxes}")
    assert answer.success, answer.message
    assert len(answer.bodies) == 626
    assert ask(block, StepSimulation, "step", steps=3).success
    message = contacts.wait(lambda m: len(m.contacts) == 2500)
    assert sum(contact.force.z for contact in message.contacts) == pytest.approx(625 * 9.81, rel=1e-6)
    assert ask(block, SetBool, "pause", data=False).success
    assert ask(block, SetBool, "pause", data=True).success
