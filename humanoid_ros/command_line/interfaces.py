# SPDX-License-Identifier: Apache-2.0
"""``interface``: show; types by the names that a person gives, and what a message holds as text."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import get_package_share_directory
from ament_index_python.resources import get_resource, get_resources

from humanoid_model.errors import InputError
from humanoid_ros.command_line.session import add_verb, check_typed
from humanoid_ros.messages.message_fields import fill_fields, message_type, plain_fields
from humanoid_ros.messages.message_log import FIELD, PLAIN

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


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "show", show, "the definition of a type, with those that it is made of")
    own.add_argument("type", help="humanoid_stack/msg/ContactForces")


def show(asked: argparse.Namespace) -> None:
    """Print a definition."""
    name = interface_name(asked.type, "msg", "srv", "action")
    print("\n".join(_lines(name)))


def _lines(name: str, indent: str = "") -> list[str]:
    """Return the lines of a definition; below each message that it holds the fields of that one, without comments."""
    package, folder, kind = name.split("/")
    text = (Path(get_package_share_directory(package)) / folder / f"{kind}.{folder}").read_text()
    lines = []
    for line in text.splitlines():
        content = line.split("#")[0].rstrip()
        if indent and not content:
            continue
        lines.append(indent + (content if indent else line))
        found = FIELD.match(content)
        if found and found[1] not in PLAIN:
            parts = found[1].split("/")
            lines += _lines(f"{parts[0] if len(parts) > 1 else package}/msg/{parts[-1]}", indent + "\t")
    return lines
