# SPDX-License-Identifier: Apache-2.0
"""Messages of the stack's errors, and their journey between processes."""

import pickle

import pytest

from humanoid_model.errors import HumanoidError, InputError, RobotError, SceneError


def test_message_names_file_line_element_problem_and_remedy() -> None:
    error = RobotError(
        "axis is (0, 0, 0)",
        source="robots/x.urdf",
        line=12,
        element="<joint name='a'>",
        remedy="Give a non-zero axis",
    )
    assert str(error) == "robots/x.urdf:12: <joint name='a'>: axis is (0, 0, 0). Give a non-zero axis."


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        ({}, "is 3."),
        ({"line": 4}, "line 4: is 3."),
        ({"source": "a.yaml"}, "a.yaml: is 3."),
        ({"element": "mass"}, "mass: is 3."),
        ({"element": "mass", "remedy": "Give 2"}, "mass: is 3. Give 2."),
    ],
)
def test_parts_left_out_leave_no_trace(details: dict[str, object], expected: str) -> None:
    assert str(InputError("is 3", **details)) == expected  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [InputError, RobotError, SceneError])
def test_every_input_error_is_a_value_error_of_the_stack(kind: type[InputError]) -> None:
    assert issubclass(kind, HumanoidError)
    assert issubclass(kind, ValueError)


@pytest.mark.parametrize("kind", [InputError, RobotError, SceneError])
def test_pickle_keeps_type_parts_and_message(kind: type[InputError]) -> None:
    error = kind("is 3", source="a.yaml", line=7, element="mass", remedy="Give 2")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert (copy.problem, copy.source, copy.line, copy.element, copy.remedy) == (
        "is 3", "a.yaml", 7, "mass", "Give 2",
    )  # fmt: skip
