# SPDX-License-Identifier: Apache-2.0
"""``interface``: show."""

from __future__ import annotations

import argparse
from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from humanoid_ros.command_line.interface_types import interface_name
from humanoid_ros.command_line.session import add_verb
from humanoid_ros.messages.message_log import FIELD, PLAIN


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
