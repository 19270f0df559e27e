# SPDX-License-Identifier: Apache-2.0
import dataclasses
import math

import pytest
from fixtures.gait_models import CYCLIC

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.global_step.solve_whole import whole_settings
from humanoid_studies.planar_gait.models.sagittal_projection import SagittalProjection
from humanoid_studies.planar_gait.specification.gait_model import load_gait_model
from humanoid_studies.planar_gait.specification.gait_spec import GaitBounds, GaitSpec
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

pytestmark = pytest.mark.feature("003-F106")


def test_names_files_and_robots(tmp_path):
    bip, rabbit = load_gait_model("bip").with_contacts(0.3).walker, load_gait_model("rabbit").walker
    assert isinstance(bip, BipWalker)
    assert bip.double_support(CYCLIC.step).contacts[0].friction == 0.3
    assert isinstance(rabbit, RabbitWalker)
    assert not rabbit.ankle_torque
    mine = tmp_path / "mine.yaml"
    mine.write_text(find_resource("config/gait/rabbit.yaml").read_text().replace("mass: 20", "mass: 25"))
    assert load_gait_model(str(mine)).walker.rabbit.trunk.mass == 25.0
    hrp2 = load_gait_model("hrp2").walker
    assert isinstance(hrp2, BipWalker)
    assert hrp2.bip.foot.length > 0.1


@pytest.mark.parametrize(
    ("name", "contacts", "words"),
    [
        ("ostrich", {}, "model: there is no model or robot 'ostrich'. Give bip, rabbit, five_bar, the path"),
        ("missing.yaml", {}, "missing.yaml"),
        ("five_bar", {}, "model: 'five_bar' doesn't walk. Give a model with two legs"),
        ("bip", {"friction": 0.0}, "friction: is 0.0"),
        ("bip", {"friction": math.nan}, "friction: is nan"),
        ("bip", {"min_toe_force": -1.0}, "min_toe_force: is -1.0"),
        ("bip", {"min_toe_force": math.inf}, "min_toe_force: is inf"),
    ],
)
def test_bad_input(name, contacts, words):
    with pytest.raises(InputError, match=words):
        load_gait_model(name).with_contacts(**contacts)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gravity: 9.81\n", "'model' is missing"),
        ("model: ostrich\n", "is 'ostrich'. Use one of bip, rabbit, five_bar"),
        ("- a\n", "not a mapping"),
        ("model: bip\n", "is missing"),
        ("", "empty"),
    ],
)
def test_bad_files(tmp_path, text, words):
    file = tmp_path / "robot.yaml"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        load_gait_model(str(file))


def test_rabbit_has_the_rates_and_torques_of_its_robot() -> None:
    model, robot = load_gait_model("rabbit"), load_robot("rabbit")
    names = ("rear_knee", "rear_hip")
    columns = [robot.index_v(name) for name in names]
    walker = model.walking()
    assert isinstance(walker, RabbitWalker)
    assert [walker.rabbit.joints[name.partition("_")[2]].rate for name in names] == list(robot.limits.velocity[columns])
    assert [model.torque_limits[name.partition("_")[2]] for name in names] == list(robot.limits.effort[columns])


@pytest.mark.parametrize(("name", "limits"), [("bip", (300, 400, 250)), ("hrp2", None)])
def test_torque_limits_are_those_of_the_weaker_leg(name: str, limits: tuple[float, ...] | None) -> None:
    model = load_gait_model(name)
    if limits is None:
        projection = model.robot
        assert isinstance(projection, SagittalProjection)
        robot = projection.robot
        limits = tuple(float(robot.limits.effort[robot.index_v(joint)]) for joint in projection.rear.joints)
    assert tuple(model.torque_limits[kind] for kind in ("hip", "knee", "ankle")) == limits
    assert dataclasses.replace(model, robot=None).torque_limits == {}


def test_one_problem_keeps_to_the_robots_torques_unless_others_are_given() -> None:
    model = load_gait_model("rabbit")
    assert whole_settings(GaitSpec("rabbit", speed=0.5), model).torque_limits == {"knee": 150.0, "hip": 150.0}
    given = GaitBounds(min_controls=(-90.0,) * 4, max_controls=(90.0,) * 4)
    limits = whole_settings(GaitSpec("rabbit", speed=0.5, bounds=given), model).torque_limits
    assert limits == {"knee": 90.0, "hip": 90.0}
