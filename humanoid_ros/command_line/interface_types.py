# SPDX-License-Identifier: Apache-2.0
"""Types of messages, services and actions by the names that a person gives, and what a message holds as text."""

from __future__ import annotations

from typing import Any

import yaml
from ament_index_python.resources import get_resource, get_resources

from humanoid_model.errors import InputError
from humanoid_ros.command_line.similar_names import check_typed
from humanoid_ros.messages.message_fields import fill_fields, message_type, plain_fields

LONGEST = 128
"""Items of a list, and characters of a text, that are shown unless all are asked for."""


def interface_type(name: str, folder: str) -> Any:
    """Return the class of a type, which is one of its package.

    Args:
        name: of it: ``std_msgs/msg/String``, or ``std_msgs/String`` for short.
        folder: ``msg``, ``srv`` or ``action``.

    Raises:
        InputError: there is none.
    """
    return message_type(interface_name(name, folder))


def interface_name(name: str, *folders: str) -> str:
    """Return the whole name of a type.

    Args:
        name: of it; the middle may be left out.
        folders: what it may be, the first one by default.

    Raises:
        InputError: there is none.
    """
    package, _, kind = name.partition("/")
    if "/" not in kind:
        kind = f"{folders[0]}/{kind}"
    check_typed(package, get_resources("rosidl_interfaces"), name, "package of types")
    files = [own.rsplit(".", 1) for own in get_resource("rosidl_interfaces", package)[0].split()]
    kinds = {own for own, _ in files if own.split("/")[0] in folders}
    check_typed(kind, kinds, package, "type")
    return f"{package}/{kind}"


def filled(message: Any, text: str) -> Any:
    """Return a message with the fields that a text in YAML gives.

    Raises:
        InputError: it is no YAML, or a field doesn't fit.
    """
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"is {text!r}, which is no YAML", element="values", remedy="Give '{field: value}'") from error
    fill_fields(message, {} if values is None else values)
    return message


def shown(message: Any, longest: int | None = None, arrays: bool = True, field: str | None = None) -> str:
    """Return a message, or a field of it, as YAML.

    Args:
        message: to be shown.
        longest: items of a list and characters of a text that are shown; None: all.
        arrays: whether lists are shown.
        field: name of the field, those in fields with dots; None: all.

    Raises:
        InputError: there is no such field.
    """
    value = plain_fields(message, longest, arrays)
    for name in field.split(".") if field else ():
        if not isinstance(value, dict):
            raise InputError(f"there is no field '{name}'", element=str(field), remedy="What is before it is a value")
        value = value[check_typed(name, value, str(field), "field")]
    if not isinstance(value, dict | list):
        return f"{value}\n"
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=float("inf"), default_flow_style=False)
