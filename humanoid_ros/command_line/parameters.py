# SPDX-License-Identifier: Apache-2.0
"""``param``: list, get, set, describe, dump."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import yaml
from rcl_interfaces.msg import Parameter, ParameterDescriptor, ParameterType
from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters, SetParameters
from rclpy.parameter import get_parameter_value, parameter_value_to_python

from humanoid_model.errors import InputError
from humanoid_ros.command_line.session import Session, add_verb, check_typed
from humanoid_ros.messages.message_fields import plain_fields

KINDS = {
    ParameterType.PARAMETER_BOOL: "Boolean", ParameterType.PARAMETER_INTEGER: "Integer",
    ParameterType.PARAMETER_DOUBLE: "Double", ParameterType.PARAMETER_STRING: "String",
    ParameterType.PARAMETER_BYTE_ARRAY: "Byte", ParameterType.PARAMETER_BOOL_ARRAY: "Boolean values",
    ParameterType.PARAMETER_INTEGER_ARRAY: "Integer values", ParameterType.PARAMETER_DOUBLE_ARRAY: "Double values",
    ParameterType.PARAMETER_STRING_ARRAY: "String values",
}  # fmt: skip
"""How values of parameters are told."""


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "list", list_parameters, "names of parameters")
    own.add_argument("node", nargs="?", help="all nodes where there is none")

    own = add_verb(verbs, "get", get, "value of a parameter")
    own.add_argument("node")
    own.add_argument("parameter")

    own = add_verb(verbs, "set", set_value, "give a parameter a value")
    own.add_argument("node")
    own.add_argument("parameter")
    own.add_argument("value", help="in YAML")

    own = add_verb(verbs, "describe", describe, "meaning and range of parameters")
    own.add_argument("node")
    own.add_argument("parameter", nargs="+")

    own = add_verb(verbs, "dump", dump, "all values of a node, as its file of parameters")
    own.add_argument("node")


def list_parameters(asked: argparse.Namespace) -> None:
    """Print names of parameters."""
    with Session(asked) as session:
        if asked.node:
            print(*(f"  {name}" for name in _names(session, _found(session, asked.node))), sep="\n")
            return
        session.look_around()
        for node in session.node_names():
            offered = dict(session.node.get_service_names_and_types())
            if f"{node}/list_parameters" in offered:
                print(f"{node}:", *(f"  {name}" for name in _names(session, node)), sep="\n")


def get(asked: argparse.Namespace) -> None:
    """Print the value of a parameter."""
    with Session(asked) as session:
        node = _found(session, asked.node)
        (value,) = _values(session, node, [_known(session, node, asked.parameter)])
        kind = KINDS.get(value.type)
        plain = plain_fields(parameter_value_to_python(value))
        print("Parameter not set." if kind is None else f"{kind} {'are' if 'values' in kind else 'value is'}: {plain}")


def set_value(asked: argparse.Namespace) -> int:
    """Give a parameter a value; the node says why not."""
    with Session(asked) as session:
        node = _found(session, asked.node)
        own = Parameter(name=_known(session, node, asked.parameter), value=get_parameter_value(asked.value))
        answer = session.ask(SetParameters, f"{node}/set_parameters", SetParameters.Request(parameters=[own]))
        (result,) = answer.results
    print("Set parameter successful" if result.successful else f"Setting parameter failed: {result.reason}")
    return 0 if result.successful else 1


def describe(asked: argparse.Namespace) -> None:
    """Print what parameters mean."""
    with Session(asked) as session:
        node = _found(session, asked.node)
        names = [_known(session, node, name) for name in asked.parameter]
        answer = session.ask(DescribeParameters, f"{node}/describe_parameters", DescribeParameters.Request(names=names))
        for own in answer.descriptors:
            print("\n".join(_description(own)))


def dump(asked: argparse.Namespace) -> None:
    """Print all values of a node."""
    with Session(asked) as session:
        node = _found(session, asked.node)
        names = _names(session, node)
        nested: dict[str, Any] = {}
        for name, value in zip(names, _values(session, node, names), strict=True):
            *parts, last = name.split(".")
            folder = nested
            for part in parts:
                folder = folder.setdefault(part, {})
            folder[last] = plain_fields(parameter_value_to_python(value))
        print(yaml.safe_dump({node: {"ros__parameters": nested}}, sort_keys=True, allow_unicode=True), end="")


def _description(own: ParameterDescriptor) -> list[str]:
    lines = [f"Parameter name: {own.name}", f"  Type: {KINDS.get(own.type, 'not set').split()[0].lower()}"]
    if own.description:
        lines.append(f"  Description: {own.description}")
    constraints = [own.additional_constraints] if own.additional_constraints else []
    constraints += ["Read only: true"] if own.read_only else []
    for limits in (*own.floating_point_range, *own.integer_range):
        constraints += [f"Min value: {limits.from_value}", f"Max value: {limits.to_value}"]
        constraints += [f"Step: {limits.step}"] if limits.step else []
    return [*lines, *(["  Constraints:"] if constraints else []), *(f"    {line}" for line in constraints)]


def _found(session: Session, name: str) -> str:
    """Return the whole name of a node that has parameters."""
    ending = "/list_parameters"

    def known() -> list[str]:
        found = [service for service, _ in session.node.get_service_names_and_types()]
        return [service.removesuffix(ending) for service in found if service.endswith(ending)]

    return session.find("node", name, known)


def _names(session: Session, node: str) -> list[str]:
    answer = session.ask(ListParameters, f"{node}/list_parameters", ListParameters.Request())
    return sorted(answer.result.names)


def _known(session: Session, node: str, name: str) -> str:
    return check_typed(name, _names(session, node), node, "parameter")


def _values(session: Session, node: str, names: Sequence[str]) -> Any:
    values = session.ask(GetParameters, f"{node}/get_parameters", GetParameters.Request(names=names)).values
    if len(values) != len(names):
        raise InputError("changes its parameters just now", element=node, remedy="Ask once more")
    return values
