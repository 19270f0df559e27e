# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from fixtures.gait_models import CYCLIC

from humanoid_model.errors import InputError
from humanoid_model.resources import find_resource
from humanoid_planner.gait.specification.gait_model import load_gait_model
from humanoid_planner.gait.specification.walker import BipWalker, RabbitWalker


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
