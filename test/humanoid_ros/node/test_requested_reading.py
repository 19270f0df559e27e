# SPDX-License-Identifier: Apache-2.0
"""What texts of requests name in turn: nothing of a file that the asker couldn't read comes back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from humanoid_codegen.inverse_dynamics import ModelCache
from humanoid_kinematics.mad.load import read_scene
from humanoid_model import RobotWarning, load_robot, load_scene
from humanoid_model.description import Mesh
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_model.sole import read_soles
from humanoid_model.yaml_node import read_yaml
from humanoid_planner.posture.planning_cache import PlanningCache
from humanoid_ros.node.requested_files import VARIABLE, requested_reading
from humanoid_ros.simulator.scene_requests import read_scene_text

pytestmark = pytest.mark.feature("000-F008")

CANARY = "CANARY"
CONTENTS = {
    "secret.yaml": f"{CANARY}: 1\n",
    "secret.urdf": f"<{CANARY}/>",
    "secret.xml": f"<{CANARY}/>",
    "secret.csv": f"{CANARY},1\n2,3\n",
    "secret.wrl": CANARY,
    "secret.stl": CANARY,
}
SCENES = (
    "robots: {a: {robot: WHERE/secret.yaml}}",
    "robots: {a: {robot: WHERE/secret.urdf}}",
    "robots: {a: {robot: 'file://WHERE/secret.urdf'}}",
    "robots: {a: {robot: 'file:WHERE/secret.urdf'}}",
    "robots: {a: {robot: 'package://other/secret.urdf'}}",
    "bodies: {a: {shapes: [{height_field: WHERE/secret.csv, size: [1, 1]}]}}",
    "bodies: {a: {mass: 1, shapes: [{mesh: WHERE/secret.wrl}]}}",
    "<Universe><MultiBody id='a'><File>WHERE/secret.urdf</File></MultiBody></Universe>",
    "<mujoco><include file='WHERE/secret.xml'/></mujoco>",
    "<mujoco><asset><mesh name='m' file='WHERE/secret.stl'/></asset><worldbody><geom type='mesh' mesh='m'/>"
    "</worldbody></mujoco>",
    "<mujoco><asset><hfield name='h' size='1 1 1 1' file='WHERE/secret.csv'/></asset><worldbody>"
    "<geom type='hfield' hfield='h'/></worldbody></mujoco>",
)
ROBOTS = tuple(
    f"<robot name='a'><link name='a'><visual><geometry><mesh filename='{address}'/></geometry></visual></link></robot>"
    for address in ("file://WHERE/secret.stl", "WHERE/secret.stl", "package://other/secret.stl")
)


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that requests may name files of; the files of another one mustn't be told of."""
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
    for name, content in CONTENTS.items():
        (tmp_path / "other" / name).write_text(content)
    (tmp_path / "own" / "link").symlink_to(tmp_path / "other")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "own"))
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own"


@pytest.fixture(params=["there", "link", "up"])
def where(request: pytest.FixtureRequest, own: Path) -> str:
    """Ways out of the folder."""
    return {"there": f"{own.parent}/other", "link": f"{own}/link", "up": f"{own}/../other"}[request.param]


def refusal(error: pytest.ExceptionInfo[InputError]) -> str:
    message, cause = str(error.value), error.value
    while cause is not None:
        assert CANARY not in str(cause)
        cause = cause.__cause__
    return message


@pytest.mark.parametrize("text", SCENES)
def test_scenes(where: str, text: str) -> None:
    with pytest.raises(InputError) as error:
        read_scene_text(text.replace("WHERE", where))
    told = refusal(error)
    assert "requests may name files of" in told or "package://" in text
    with pytest.raises(InputError) as error:
        read_scene_text(text.replace("WHERE", where).replace("secret", "none"))
    assert str(error.value) == told.replace("secret", "none")  # nor whether there is such a file


def test_the_same_from_a_file_that_a_request_may_name(own: Path) -> None:
    scene = own / "scene.yaml"
    scene.write_text("robots: {a: {robot: ../other/secret.urdf}}")
    with requested_reading(str(scene)), pytest.raises(InputError) as error:
        load_scene(scene)
    assert f"{scene}:1: robots.a.robot: " in refusal(error)
    with pytest.raises(InputError, match=CANARY):  # a node that was started with it reads what its user has
        load_scene(scene)
    with requested_reading(""), pytest.raises(InputError, match=CANARY):
        load_scene(scene)


@pytest.mark.parametrize("text", ROBOTS)
def test_robots(where: str, text: str) -> None:
    with requested_reading(text), pytest.raises(InputError) as error:
        load_robot(text.replace("WHERE", where))
    assert "requests may name files of" in refusal(error) or "package://" in text


def test_a_description_that_names_its_own_urdf(own: Path) -> None:
    (own / "a.yaml").write_text("urdf: ../other/secret.urdf\n")
    with requested_reading(str(own)), pytest.raises(InputError) as error:
        load_robot(own / "a.yaml")
    assert "a.yaml:1: urdf: " in refusal(error)


def test_soles(own: Path) -> None:
    (own / "a.yaml").write_text("foot: {shape: {type: mesh, path: ../other/secret.csv}}\n")
    hrp2 = load_robot("hrp2", geometry=False)
    contacts = {"foot": next(iter(hrp2.contacts.values()))}
    with requested_reading(str(own)), pytest.raises(InputError, match=r"foot.shape.path: .* requests may name"):
        read_soles(read_yaml(own / "a.yaml", InputError), contacts, own)


def test_drawings_of_mechanisms(own: Path, where: str) -> None:
    text = find_resource("urdf/mechanisms/fourbar.mad").read_text().replace("auto", f'"{where}/secret.wrl"')
    with requested_reading(text), pytest.warns(RobotWarning, match="secret.wrl' not found, automatic geometry"):
        mechanism = read_scene(text).mechanisms["fourbar"]
    shapes = [each.shape for link in mechanism.robot.description.links.values() for each in link.visuals]
    assert shapes
    assert not any(isinstance(shape, Mesh) for shape in shapes)


def ask_for_a_plan(robot: str) -> None:
    from humanoid_ros.contact_planner.posture_request import requested_scene

    requested_scene(PlanningCache(2, 0.01, 20.0), "", robot, "stand")


def ask_for_a_gait(robot: str) -> None:
    from humanoid_stack.msg import GaitRequest
    from rclpy.serialization import serialize_message

    from humanoid_ros.gait_generator.gait_request import GaitDefaults
    from humanoid_ros.gait_generator.gait_worker import generate

    generate(bytes(serialize_message(GaitRequest(robot=robot, length=0.2))), GaitDefaults(), lambda _: False)


def ask_for_efforts(robot: str) -> None:
    from humanoid_stack.srv import InverseDynamics

    from humanoid_ros.model_generator import answer_inverse_dynamics

    request = InverseDynamics.Request(robot=robot)
    request.base.orientation.w = 1.0
    answer_inverse_dynamics(ModelCache(1), request, InverseDynamics.Response())


def ask_for_a_model(robot: str) -> None:
    from humanoid_stack.srv import GenerateModel

    from humanoid_ros.model_generator import requested_robot

    requested_robot(GenerateModel.Request(robot=robot))


NODES = (ask_for_a_plan, ask_for_a_gait, ask_for_efforts, ask_for_a_model)


@pytest.mark.parametrize("ask", NODES, ids=lambda ask: ask.__name__)
def test_other_nodes(own: Path, ask: Callable[[str], None]) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    (own / "a.urdf").symlink_to(own.parent / "other" / "secret.urdf")
    (own / "b.urdf").write_text("<robot name='b'><link name='b'/></robot>")
    (own / "b.yaml").symlink_to(own.parent / "other" / "secret.yaml")  # read beside the URDF that is named
    for name in ("a.urdf", "b.urdf"):
        with pytest.raises(InputError) as error:
            ask(str(own / name))
        assert "requests may name files of" in refusal(error)


@pytest.mark.parametrize("name", ["scene", "robot"])
def test_parameters_that_are_set_while_a_node_runs(own: Path, name: str) -> None:
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from humanoid_ros.contact_planner.contact_planner_node import ContactPlannerNode
    from humanoid_ros.gait_generator.gait_generator_node import GaitGeneratorNode

    kind: Any = {"scene": ContactPlannerNode, "robot": GaitGeneratorNode}[name]
    node = SimpleNamespace(_cache=PlanningCache(2, 0.01, 20.0))
    (own / "linked.yaml").symlink_to(own.parent / "other" / "secret.yaml")
    for path in (own.parent / "other" / "secret.yaml", own / "linked.yaml"):
        with pytest.raises(InputError) as error:
            kind._check_parameters(node, {name: str(path)})
        assert "requests may name files of" in refusal(error)
