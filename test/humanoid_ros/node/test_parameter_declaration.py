# SPDX-License-Identifier: Apache-2.0
"""Described fields as parameters: range, meaning, and what is left open."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from rcl_interfaces.msg import ParameterDescriptor

from humanoid_model.fields import Described, choice, count, descriptions, flag, number, text
from humanoid_ros.node.parameter_declaration import declare_field, values


@dataclass(frozen=True)
class Heater(Described):
    """What heats."""

    power: float = number(5.0, "of the coil; 0: off", "W", low=0.0, high=10.0)
    target: float | None = number(None, "to keep to", "K", low=0.0, above=True, high=400.0)
    gain: float = number(2.0, "of the loop", low=0.0, above=True, high=9.0)
    stages: int = count(2, "one after the other", low=1, high=4)
    mode: str = choice("slow", ("slow", "fast"), "how soon")
    name: str | None = text(None, "of it")
    fan: bool = flag(True, "blows")


class Node:
    """Keeps what is declared."""

    def __init__(self) -> None:
        self.declared: dict[str, tuple[Any, ParameterDescriptor]] = {}

    def declare_parameter(self, name: str, default: Any, descriptor: ParameterDescriptor) -> None:
        self.declared[name] = default, descriptor

    def get_parameter(self, name: str) -> SimpleNamespace:
        return SimpleNamespace(value=self.declared[name][0])


@pytest.fixture
def node() -> Node:
    made = Node()
    for name, field in descriptions(Heater).items():
        declare_field(made, name, field, ". Counts at once", read_only=name == "fan")  # type: ignore[arg-type]
    return made


def test_parameters_have_the_fields_defaults_ranges_and_meanings(node: Node) -> None:
    ranges = {
        name: [(one.from_value, one.to_value) for one in (*about.floating_point_range, *about.integer_range)]
        for name, (_, about) in node.declared.items()
    }
    assert ranges["power"] == [(0.0, 10.0)]
    assert ranges["target"] == [(0.0, 400.0)]
    ((low, high),) = ranges["gain"]
    assert 0.0 < low < 1e-200
    assert high == 9.0
    assert ranges["stages"] == [(1, 4)]
    meanings = {name: about.description for name, (_, about) in node.declared.items()}
    assert meanings["power"] == "Of the coil [W]; 0: off. Counts at once"
    assert meanings["target"] == "To keep to [K]; 0 leaves it open. Counts at once"
    assert meanings["mode"] == "How soon: slow, fast. Counts at once"
    assert [name for name, (_, about) in node.declared.items() if about.read_only] == ["fan"]


def test_what_is_declared_reads_as_the_dataclass_has_it(node: Node) -> None:
    assert node.declared["target"][0] == 0.0
    assert node.declared["name"][0] == ""
    assert Heater(**values(node, Heater)) == Heater()  # type: ignore[arg-type]
