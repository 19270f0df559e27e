# SPDX-License-Identifier: Apache-2.0
"""Equality of values that hold arrays, placements and other values."""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model.value_equality import ValueEquality


@dataclass(frozen=True, eq=False)
class Point(ValueEquality):
    xyz: np.ndarray
    source: str = field(compare=False, default="")


@dataclass(frozen=True, eq=False)
class Thing(ValueEquality):
    place: pin.SE3
    points: tuple[Point, ...]
    table: dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class OtherThing(ValueEquality):
    place: pin.SE3
    points: tuple[Point, ...]
    table: dict[str, np.ndarray]


def thing(x: float = 1.0, points: int = 2, key: str = "a", shift: float = 0.0, entry: float = 4.0) -> Thing:
    place = pin.SE3(np.eye(3), np.array([shift, 0.0, 0.0]))
    return Thing(place, tuple(Point(np.array([x, 2.0, 3.0])) for _ in range(points)), {key: np.array([entry])})


def test_equal_values_are_equal() -> None:
    assert thing() == thing()


@pytest.mark.parametrize("change", [{"x": 1.5}, {"points": 3}, {"key": "b"}, {"shift": 1e-12}, {"entry": 5.0}])
def test_any_difference_counts(change: dict[str, float]) -> None:
    assert thing() != thing(**change)  # type: ignore[arg-type]


def test_excluded_fields_do_not_count() -> None:
    assert Point(np.zeros(3), "a.urdf") == Point(np.zeros(3), "b.urdf")


def test_arrays_of_other_shape_or_no_array_differ() -> None:
    assert Point(np.zeros(3)) != Point(np.zeros(2))
    assert Point(np.zeros(1)) != Point(0.0)  # type: ignore[arg-type]


def test_other_types_differ() -> None:
    one = thing()
    assert one != OtherThing(one.place, one.points, one.table)
    assert one != "thing"


def test_values_with_arrays_are_not_hashable() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(thing())
