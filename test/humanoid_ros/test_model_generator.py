# SPDX-License-Identifier: Apache-2.0
"""The model generator node over DDS: what its services do, what they refuse, how it ends."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.illegal_urdfs import ILLEGAL_URDFS

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Vector3  # noqa: E402
from humanoid_stack.srv import GenerateModel, InverseDynamics  # noqa: E402
from rcl_interfaces.msg import ParameterType  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, ListParameters  # noqa: E402

from humanoid_codegen.generate import generate  # noqa: E402
from humanoid_model import load_robot  # noqa: E402

pytestmark = pytest.mark.ros
DOWN = Vector3(z=-9.81)


def generated(node: Any, **fields: Any) -> Any:
    defaults = {"robot": "tree4", "language": "c", "functions": ["idm"], "gravity": DOWN, "base_parameters": True}
    return node.call(GenerateModel, "generate_model", GenerateModel.Request(**{**defaults, **fields}), 200.0)


def efforts(node: Any, **fields: Any) -> Any:
    request = InverseDynamics.Request(**{"robot": "hrp2", "gravity": DOWN, **fields})
    return node.call(InverseDynamics, "inverse_dynamics", request)


# generate_model ---------------------------------------------------------------------------------------------------


def test_the_answer_is_what_generate_makes(model_generator: Any) -> None:
    answer = generated(model_generator, functions=["idm", "mass"], symbolic_parameters=True, gravity=Vector3(y=-1.0))
    assert answer.success, answer.message
    made = generate(
        "tree4", "c", ["inverse_dynamics", "mass_matrix"], symbolic_parameters=True, gravity=(0.0, -1.0, 0.0)
    )
    assert {file.name: file.text for file in answer.files} == made.files
    assert list(answer.joint_names) == list(made.joint_names)
    assert answer.time > 0.0
    for said, (function, count) in zip(answer.functions, made.functions, strict=True):
        assert said.name == function.name
        assert (said.additions, said.multiplications) == (count.additions, count.multiplications)
        assert (said.divisions, said.trigonometric) == (count.divisions, count.trigonometric)


def test_no_functions_are_all_of_them(model_generator: Any) -> None:
    answer = generated(model_generator, functions=[])
    names = [function.name for function in answer.functions]
    assert {"inverse_dynamics", "direct_dynamics", "mass_matrix", "kinematics", "regressor"} <= set(names)
    assert "inverse_dynamics_derivatives" not in names
    more = [function.name for function in generated(model_generator, functions=[], derivatives=True).functions]
    assert set(more) - set(names) == {"inverse_dynamics_derivatives", "direct_dynamics_derivatives"}


def test_base_and_parameters_are_chosen(model_generator: Any) -> None:
    def cost(**fields: Any) -> int:
        answer = generated(model_generator, robot="hrp2", **fields)
        assert answer.success, answer.message
        return int(answer.functions[0].multiplications)

    assert cost(floating_base=False) < cost(floating_base=True) < cost(floating_base=True, base_parameters=False)


@pytest.mark.feature("004-F37")
def test_files_are_written_where_asked(model_generator: Any, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    answer = generated(model_generator, folder=str(folder))
    assert answer.success, answer.message
    files = {path.name: path.read_text() for path in folder.iterdir()}
    assert files == {f.name: f.text for f in answer.files}
    assert generated(model_generator, folder=str(folder)).success  # they say that already
    changed = folder / answer.files[0].name
    changed.write_text("kept")
    answer = generated(model_generator, folder=str(folder))
    assert not answer.success
    assert f"folder: '{changed}' is there already" in answer.message
    assert {path.name: path.read_text() for path in folder.iterdir()} == {**files, changed.name: "kept"}


def test_a_robot_may_be_a_text(model_generator: Any) -> None:
    text = load_robot("tree4").urdf
    assert [f.text for f in generated(model_generator, robot=text).files] == [
        f.text for f in generated(model_generator, robot="tree4").files
    ]


@pytest.mark.parametrize(
    "language", ["python", "numba", "cpp", "matlab", "casadi", "sympy", "latex", "markdown", "script"]
)
def test_every_language_over_dds(model_generator: Any, language: str) -> None:
    answer = generated(model_generator, robot="robot_2r_b", language=language)
    assert answer.success, answer.message
    assert {file.name: file.text for file in answer.files} == generate(
        "robot_2r_b", language, ["inverse_dynamics"], floating_base=False
    ).files


def test_a_robot_called_like_a_keyword_is_answered(model_generator: Any, tmp_path: Path) -> None:
    text = load_robot("tree4").urdf.replace('name="tree4"', 'name="while"')
    answer = generated(model_generator, robot=text, folder=str(tmp_path / "out"))
    assert not answer.success
    assert "'while' is a word of C itself. Give the robot another name" in answer.message
    assert not (tmp_path / "out").exists()


# inverse_dynamics -------------------------------------------------------------------------------------------------


def test_efforts_over_dds_are_pinocchios(model_generator: Any) -> None:
    robot = load_robot("hrp2")
    rng = np.random.default_rng(7)
    q, v = pin.neutral(robot.model), np.zeros(robot.model.nv)
    names = list(robot.joint_names)
    for name in names:
        q[robot.index_q(name)], v[robot.index_v(name)] = rng.normal(size=2)
    answer = efforts(
        model_generator,
        joint_names=names,
        positions=[q[robot.index_q(name)] for name in names],
        velocities=[v[robot.index_v(name)] for name in names],
    )
    assert answer.success, answer.message
    tau = pin.rnea(robot.model, robot.model.createData(), q, v, 0.0 * v)
    np.testing.assert_allclose(answer.efforts, [tau[robot.index_v(name)] for name in answer.joint_names], rtol=1e-9)
    force, torque = answer.base_wrench.force, answer.base_wrench.torque
    np.testing.assert_allclose([force.x, force.y, force.z, torque.x, torque.y, torque.z], tau[:6], rtol=1e-9)


def test_a_long_generation_holds_nobody_up(model_generator: Any) -> None:
    assert efforts(model_generator).success
    client = model_generator.node.create_client(GenerateModel, "generate_model")
    assert client.wait_for_service(60.0)
    for number in range(5):  # it takes seconds, in which a busy machine may hold us up
        gravity = Vector3(z=-9.0 - number)
        request = GenerateModel.Request(robot="hrp2", language="c", floating_base=True, gravity=gravity)
        pending = client.call_async(request)
        answered = 0
        while not pending.done() and answered < 3:
            assert efforts(model_generator).success
            answered += 1
        done = pending.done()
        answer = model_generator.result(pending, 120.0)
        assert answer.success, answer.message
        if answered == 3 and not done:
            return
    raise AssertionError("nothing was answered before the generation was done")


# Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"robot": ""}, "robot: is empty. Give a name, the path of a URDF or its text."),
        ({"robot": "nobody"}, "unknown robot 'nobody'. Give the path"),
        ({"robot": "/dev/zero"}, "robot: '/dev/zero' is a pipe, a socket or a device. Name a plain file."),
        ({"language": "cobol"}, "unknown language 'cobol'. Choose from "),
        ({"language": ""}, "unknown language ''. Choose from "),
        ({"functions": ["idm", "speed"]}, "functions: unknown function 'speed'. Choose from inverse_dynamics"),
        ({"gravity": Vector3(x=float("nan"))}, "gravity: is [nan, 0.0, 0.0]. Give finite numbers."),
        ({"folder": "out"}, "folder: 'out' is relative to a folder that only the node knows. Give an absolute path."),
        ({"folder": "/proc/nowhere"}, "/proc/nowhere: can't be written"),
        ({"folder": "/dev/null/below"}, "/dev/null/below: can't be written"),
    ],
)
def test_a_bad_generation_request_is_answered(model_generator: Any, fields: dict[str, Any], message: str) -> None:
    answer = generated(model_generator, **fields)
    assert not answer.success
    assert message in answer.message
    assert not answer.files


@pytest.mark.parametrize("kind", [kind for kind in ILLEGAL_URDFS if kind not in ("a million links", "no robot")])
def test_an_illegal_robot_is_answered(model_generator: Any, kind: str, tmp_path: Path) -> None:
    text, message = ILLEGAL_URDFS[kind]
    answer = generated(model_generator, robot=text, folder=str(tmp_path / "out"))
    assert not answer.success
    assert f"URDF text{message}" in answer.message
    assert not (tmp_path / "out").exists()
    answer = efforts(model_generator, robot=text)
    assert not answer.success
    assert f"URDF text{message}" in answer.message


def test_bad_inverse_dynamics_requests_are_answered(model_generator: Any) -> None:
    answer = efforts(model_generator, joint_names=["NOSE"], positions=[0.0])
    assert not answer.success
    assert "joint_names[0]: the robot 'hrp2' has no joint 'NOSE'" in answer.message
    answer = efforts(model_generator, positions=[float("nan")])
    assert not answer.success
    assert "positions: has 1 values for 0 joint_names" in answer.message
    assert not answer.efforts
    assert efforts(model_generator).success


# Parameters and process -------------------------------------------------------------------------------------------


def test_parameters_are_typed_ranged_and_described(model_generator: Any) -> None:
    listed = model_generator.call(ListParameters, "model_generator/list_parameters", ListParameters.Request())
    rclpys = ("use_sim_time", "start_type", "qos_overrides")
    names = [name for name in listed.result.names if not name.startswith(rclpys)]
    assert names == ["cache_size"]
    request = DescribeParameters.Request(names=names)
    described = model_generator.call(DescribeParameters, "model_generator/describe_parameters", request)
    (cache_size,) = described.descriptors
    assert cache_size.type == ParameterType.PARAMETER_INTEGER
    assert cache_size.integer_range[0].from_value == 1
    assert "keeps" in cache_size.description


def test_a_bad_start_ends_with_a_message(start_node: Callable[..., Any], tmp_path: Path) -> None:
    client = start_node("model_generator", "-p", "cache_size:=0")
    assert client.process.wait(60.0) == 1
    text = (tmp_path / "model_generator.log").read_text()
    assert "cache_size" in text
    assert "Traceback" not in text


def test_who_waits_is_told_when_it_ends(start_node: Callable[..., Any]) -> None:
    client = start_node("model_generator")
    service = client.node.create_client(GenerateModel, "generate_model")
    assert service.wait_for_service(60.0)
    request = GenerateModel.Request(robot="robot_2r_b", language="c", gravity=DOWN)
    client.result(service.call_async(request), 200.0)
    slow = (GenerateModel.Request(robot="hrp2", language="c", gravity=Vector3(z=-9.0 - n)) for n in range(20))
    pending = [service.call_async(request) for request in slow]
    client.process.send_signal(signal.SIGINT)
    assert client.process.wait(60.0) == 0
    messages = {future.result().message for future in pending if future.done()}
    assert "The node is shut down." in messages
    assert messages <= {"", "The node is shut down."}  # some may have been served before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_while_it_generates(
    number: signal.Signals, start_node: Callable[..., Any], tmp_path: Path
) -> None:
    client = start_node("model_generator")
    service = client.node.create_client(GenerateModel, "generate_model")
    assert service.wait_for_service(60.0)
    out = tmp_path / "out"
    request = GenerateModel.Request(robot="hrp2", language="c", gravity=DOWN, folder=str(out))
    pending = [service.call_async(request) for _ in range(8)]
    assert client.result(pending[0], 200.0).success
    client.process.send_signal(number)
    assert client.process.wait(60.0) == 0
    answers = [future.result() for future in pending[1:] if future.done()]
    assert all(answer.success or answer.message == "The node is shut down." for answer in answers)
    assert "Traceback" not in (tmp_path / "model_generator.log").read_text()
    assert not [path for path in out.iterdir() if path.name.startswith(".")]
