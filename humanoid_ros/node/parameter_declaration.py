# SPDX-License-Identifier: Apache-2.0
"""Declaring parameters with type, range and description, reading them, and refusing values that can't be used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from humanoid_model.errors import HumanoidError
from humanoid_model.fields import Description, descriptions

SMALLEST = 1e-300
"""Of what is above 0: ranges of parameters have their ends in them."""


def declare_number(
    node: Node,
    name: str,
    default: float,
    low: float,
    high: float,
    description: str,
    *,
    read_only: bool = False,
) -> None:
    """Declare a floating-point parameter with the range of its values."""
    node.declare_parameter(
        name,
        float(default),
        ParameterDescriptor(
            description=description,
            floating_point_range=[FloatingPointRange(from_value=low, to_value=high, step=0.0)],
            read_only=read_only,
        ),
    )


def declare_whole(
    node: Node,
    name: str,
    default: int,
    low: int,
    high: int,
    description: str,
    *,
    read_only: bool = False,
) -> None:
    """Declare an integer parameter with the range of its values."""
    node.declare_parameter(
        name,
        default,
        ParameterDescriptor(
            description=description,
            integer_range=[IntegerRange(from_value=low, to_value=high, step=1)],
            read_only=read_only,
        ),
    )


def declare_flag(node: Node, name: str, default: bool, description: str, *, read_only: bool = False) -> None:
    """Declare a boolean parameter."""
    node.declare_parameter(name, default, ParameterDescriptor(description=description, read_only=read_only))


def declare_text(node: Node, name: str, default: str, description: str, *, read_only: bool = False) -> None:
    """Declare a string parameter."""
    node.declare_parameter(name, default, ParameterDescriptor(description=description, read_only=read_only))


def declare_field(node: Node, name: str, field: Description, note: str = "", *, read_only: bool = False) -> None:
    """Declare a parameter that is a described field, with its default, range and meaning.

    Args:
        node: that has it.
        name: of the parameter.
        field: what it is; a number that is left open is 0, a text empty.
        note: what else is to be said.
        read_only: whether it can't be changed.
    """
    left_open = "; 0 leaves it open" if field.may_be_left_open and field.kind is not str else ""
    meaning = f"{field.summary[0].upper()}{field.summary[1:]}{left_open}{note}"
    default = field.kind() if field.may_be_left_open else field.default
    if field.kind is float:
        low = 0.0 if field.may_be_left_open else field.low + SMALLEST if field.above else field.low
        declare_number(node, name, default, low, field.high, meaning, read_only=read_only)
    elif field.kind is int:
        low = 0 if field.may_be_left_open else int(field.low)
        declare_whole(node, name, default, low, int(min(field.high, 2**31)), meaning, read_only=read_only)
    elif field.kind is bool:
        declare_flag(node, name, default, meaning, read_only=read_only)
    else:
        declare_text(node, name, default, meaning, read_only=read_only)


def declare_texts(
    node: Node, name: str, description: str, default: Sequence[str] = (), *, read_only: bool = False
) -> None:
    """Declare a parameter of several strings; empty ones don't count."""
    node.declare_parameter(name, [*default] or [""], ParameterDescriptor(description=description, read_only=read_only))


def values(node: Node, kind: type) -> dict[str, Any]:
    """Return what parameters say that are described fields of a dataclass, and have their names."""
    return {name: one.read(node.get_parameter(name).value) for name, one in descriptions(kind).items()}


def refuse_unusable(node: Node, check: Callable[[Mapping[str, Any]], None]) -> None:
    """Refuse changes of parameters that can't be used.

    Args:
        node: that has declared them.
        check: told new values by name before they are taken; a HumanoidError that it raises is the answer.
    """

    def judge(parameters: Sequence[Parameter]) -> SetParametersResult:
        try:
            check({parameter.name: parameter.value for parameter in parameters})
        except HumanoidError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    node.add_on_set_parameters_callback(judge)


def number(node: Node, name: str) -> float:
    """Return the value of a floating-point parameter."""
    return float(node.get_parameter(name).get_parameter_value().double_value)


def flag(node: Node, name: str) -> bool:
    """Return the value of a boolean parameter."""
    return bool(node.get_parameter(name).get_parameter_value().bool_value)


def text(node: Node, name: str) -> str:
    """Return the value of a string parameter."""
    return str(node.get_parameter(name).get_parameter_value().string_value)


def whole(node: Node, name: str) -> int:
    """Return the value of an integer parameter."""
    return int(node.get_parameter(name).get_parameter_value().integer_value)


def texts(node: Node, name: str) -> list[str]:
    """Return values of a parameter of several strings, empty ones left out."""
    return [word for word in node.get_parameter(name).get_parameter_value().string_array_value if word]
