# SPDX-License-Identifier: Apache-2.0
"""``--set`` changes what the class declares, to values of the same type."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_model.errors import InputError
from humanoid_sim.scenario import Scenario
from humanoid_sim.scenario.parameters import parameters_of, set_parameters


class Mine(Scenario):
    push = 40.0
    count = 3
    axis = (0.0, 0.0, 1.0)
    loud = False
    label = "first"


@pytest.mark.parametrize(
    ("assignment", "name", "value"),
    [
        ("push=60", "push", 60.0),
        ("push=1e-3", "push", 1e-3),
        ("count=5", "count", 5),
        ("axis=[1, 0, 0]", "axis", (1, 0, 0)),
        ("loud=true", "loud", True),
        ("label=80", "label", "80"),
        ("label=a=b", "label", "a=b"),
        ("dt=5e-4", "dt", 5e-4),
        ("scene=boxes", "scene", "boxes"),
    ],
)
def test_values_take_the_type_of_the_default(assignment: str, name: str, value: Any) -> None:
    scenario = Mine()
    set_parameters(scenario, [assignment])
    assert getattr(scenario, name) == value
    assert type(getattr(scenario, name)) is type(value)
    assert getattr(Mine, name) != value


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("push", "sets nothing"),
        ("pusch=3", "has no parameter 'pusch'.*axis, count"),
        ("push=much", "'push' is 'much'.*40.0"),
        ("count=2.5", "'count' is '2.5'"),
        ("loud=3", "'loud' is '3'"),
        ("init=3", "has no parameter 'init'"),
    ],
)
def test_what_does_not_fit_is_refused(assignment: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        set_parameters(Mine(), [assignment])


def test_parameters_are_those_of_the_class_and_its_bases() -> None:
    names = parameters_of(Mine())
    assert {"push", "axis", "loud", "scene", "dt", "duration", "solver"} <= set(names)
    assert not {"init", "loop", "end", "prepare"} & set(names)
