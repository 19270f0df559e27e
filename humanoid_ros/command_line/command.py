# SPDX-License-Identifier: Apache-2.0
"""The command: words in the order in which ``ros2`` takes them, each group of verbs in a file of its own."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from humanoid_model.errors import HumanoidError

GROUPS = {
    "action": ("actions", "list goals' actions, look at one, send a goal"),
    "bag": ("bags", "record topics, play and look at recordings"),
    "interface": ("interfaces", "show messages, services and actions"),
    "lifecycle": ("lifecycle", "states of managed nodes"),
    "node": ("nodes", "list nodes, look at one"),
    "param": ("parameters", "read and set parameters of nodes"),
    "run": ("programs", "start a program of a package"),
    "service": ("services", "list services, call one"),
    "topic": ("topics", "list topics, listen, publish"),
}
"""Groups of verbs: the file of each, and what it is for."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return what the words of a command line ask for: ``do`` does it. Words that make no command end the program."""
    parser = argparse.ArgumentParser(prog="ros", description="What `ros2` does, on ROS 2's wheels.")
    groups = parser.add_subparsers(dest="group", required=True, metavar="GROUP")
    for group, (file, purpose) in GROUPS.items():
        own = groups.add_parser(group, help=purpose, description=purpose)
        if group == next(iter(arguments), None):  # the others needn't be read
            import_module(f"humanoid_ros.command_line.{file}").add_verbs(own)
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Do what the words of a command line say.

    Returns:
        Exit code: 0; 1 for what can't be done or failed, 130 after Ctrl-C.
    """
    try:
        asked = parse(arguments)
        return int(asked.do(asked) or 0)
    except HumanoidError as error:
        print(f"ros: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
