# SPDX-License-Identifier: Apache-2.0
import json
from dataclasses import replace

import pytest

from humanoid_model.errors import InputError
from humanoid_planner.contacts import load_plan, plan_contacts, save_plan


@pytest.fixture(scope="module")
def saved(can, tmp_path_factory):
    plan = plan_contacts(can.problem)
    path = tmp_path_factory.mktemp("plan") / "plan.json"
    save_plan(path, can.robot, can.scene, plan.stances, plan.postures)
    return plan, path


@pytest.mark.feature("001-F023")
def test_a_plan_comes_back_as_it_was(can, saved):
    plan, path = saved
    stances, postures = load_plan(path, can.robot, can.scene)
    assert stances == plan.stances
    assert len(postures) == len(plan.postures)
    assert all((one == other).all() for one, other in zip(postures, plan.postures, strict=True))


def test_plan_files_that_cannot_be_used_are_named(can, saved, tmp_path):
    _, path = saved
    data, spoilt = json.loads(path.read_text()), tmp_path / "spoilt.json"
    step = data["steps"][0]
    hand = ["tail", *step["contacts"][0][1:]]
    for change, message in (
        ({"format": "other"}, "is of another format"),
        ({"steps": [{**step, "contacts": [hand]}]}, "spoilt: KeyError.*tail"),
        ({"steps": [{**step, "posture": [0.0]}]}, "a posture has 1 numbers"),
    ):
        spoilt.write_text(json.dumps({**data, **change}))
        with pytest.raises(InputError, match=f"plan file '{spoilt}'.*{message}"):
            load_plan(spoilt, can.robot, can.scene)
    spoilt.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match="is cut short"):
        load_plan(spoilt, can.robot, can.scene)
    with pytest.raises(InputError, match="belongs to the problem 'hrp2 in can_on_table'"):
        load_plan(path, can.robot, replace(can.scene, name="elsewhere"))
