# SPDX-License-Identifier: Apache-2.0
"""What a node's command line takes: ROS' own arguments, ``--help``, and nothing else."""

from __future__ import annotations

import argparse
import inspect
import sys
import textwrap
from collections.abc import Callable
from typing import Any, cast

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.utilities import remove_ros_args

from humanoid_ros.node.answering_node import AnsweringNode


class _Listing:
    """Stands in the place of a node that declares its parameters, and keeps a line of each."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def declare_parameter(self, name: str, default: Any, descriptor: ParameterDescriptor) -> None:
        shown = ", ".join(filter(None, default)) if isinstance(default, list) else default
        shown = str(shown).lower() if isinstance(shown, bool) else f"{shown:g}" if isinstance(shown, float) else shown
        bounds = [*descriptor.floating_point_range, *descriptor.integer_range]
        values = "".join(f"; {bound.from_value:g} to {bound.to_value:g}" for bound in bounds)
        meaning = f"{descriptor.description} (default: {'empty' if shown == '' else shown}{values})"
        self.lines += [f"  {name}", textwrap.indent(textwrap.fill(meaning, 90), "      ")]


def read_command_line(name: str, make: Callable[[], AnsweringNode]) -> None:
    """Leave the command line to ROS; ``--help`` lists the node's parameters, without a running node, and ends.

    Args:
        name: of the node.
        make: its class; another callable that makes it has no parameters to list.

    Raises:
        SystemExit: code 0 after ``--help``, code 2 for words that neither ROS nor this reads.
    """
    words = remove_ros_args(sys.argv)[1:]
    if not words:
        return
    listing = _Listing()
    if isinstance(make, type) and issubclass(make, AnsweringNode):
        make._declare_parameters(cast(AnsweringNode, listing))
    summary = (inspect.getdoc(make) or name).split("\n\n")[0].replace("``", "")
    parser = argparse.ArgumentParser(
        prog=f"python -m humanoid_ros.{name}",
        usage="%(prog)s [-h] [--ros-args [-p PARAMETER:=VALUE ...] [--params-file FILE] [-r NAME:=OTHER ...]]",
        description=f"The node {name}. {summary}",
        epilog="\n".join(["parameters:", *listing.lines]) if listing.lines else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _, unknown = parser.parse_known_args(words)
    if unknown:
        parser.error(f"unknown: {' '.join(unknown)}. Write parameters as --ros-args -p name:=value; --help lists them")
