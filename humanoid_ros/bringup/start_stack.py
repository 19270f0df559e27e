# SPDX-License-Identifier: Apache-2.0
"""Start the nodes of a launch file without `launch`: ``python -m humanoid_ros.bringup sim scene=stand``.

The arguments are those of ``launch/sim.launch.py``, and so are the nodes; without a name, of ``stack.launch.py``.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ament_index_python import PackageNotFoundError, get_package_prefix

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.bringup.node_list import (
    ARGUMENTS,
    NodeEntry,
    ParameterValue,
    list_nodes,
)
from humanoid_ros.bringup.supervisor import Process, Supervisor


def main(arguments: Sequence[str] | None = None) -> int:
    """Start the stack and look after it until Ctrl-C.

    Returns:
        Exit code, see `Supervisor.run`; 2 for arguments that can't be used.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    listed = words.pop(0) if words and words[0] in ARGUMENTS else "stack"
    if "-h" in words or "--help" in words:
        print(usage(listed))
        return 0
    try:
        return Supervisor(processes(list_nodes(listed, read_arguments(words)))).run()
    except HumanoidError as error:
        print(f"bringup: {error}", file=sys.stderr)
        return 2


def processes(nodes: Iterable[NodeEntry]) -> list[Process]:
    """Return the processes that run the given nodes.

    Raises:
        InputError: A package isn't installed, or has no such executable.
    """
    return [
        Process(
            name=node.name,
            command=(str(find_executable(node)), *node.arguments, *ros_arguments(node)),
            required=node.required,
            respawn=node.respawn,
            respawn_delay=node.respawn_delay,
        )
        for node in nodes
    ]


def find_executable(node: NodeEntry) -> Path:
    """Return the path of a node's program in the install prefix of its package.

    Raises:
        InputError: The package isn't installed, or has no such executable.
    """
    try:
        prefix = get_package_prefix(node.package)
    except PackageNotFoundError:
        raise InputError(
            f"package '{node.package}' is not installed",
            element=f"node {node.name}",
            remedy=f"Install it, or leave {node.name} out",
        ) from None
    path = Path(prefix) / "lib" / node.package / node.executable
    if not os.access(path, os.X_OK):
        raise InputError(
            f"package '{node.package}' has no executable '{node.executable}'",
            element=f"node {node.name}",
            remedy=f"Build the package again; {path} should be there",
        )
    return path


def ros_arguments(node: NodeEntry) -> list[str]:
    """Command-line arguments that give a node its name, namespace, parameters and remappings."""
    words = ["--ros-args", "--enclave", node.enclave, "-r", f"__node:={node.name}"]
    if node.namespace:
        words += ["-r", f"__ns:=/{node.namespace.strip('/')}"]
    if node.parameter_file:
        words += ["--params-file", node.parameter_file]
    for name, value in node.parameters.items():
        words += ["-p", f"{name}:={parameter_text(value)}"]
    for old, new in node.remappings:
        words += ["-r", f"{old}:={new}"]
    return words


def parameter_text(value: ParameterValue) -> str:
    """Return a parameter value as YAML that can't be read as another type: texts are quoted."""
    return json.dumps(value)


def read_arguments(words: Iterable[str]) -> dict[str, str]:
    """Arguments by name, from words as ``name=value``, or ``name:=value`` as launch has them.

    Raises:
        InputError: A word has no ``=``.
    """
    arguments = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise InputError(f"'{word}' is no argument", remedy="Write name=value, e.g. scene=stand")
        arguments[name.removesuffix(":")] = value
    return arguments


def usage(listed: str) -> str:
    """Return what the command line accepts for a launch file's nodes."""
    lines = [f"usage: bringup [{'|'.join(ARGUMENTS)}] [name=value ...]", "", f"arguments of {listed}:"]
    for argument in ARGUMENTS[listed]:
        default = argument.default or "empty"
        lines.append(f"  {argument.name:<15} {argument.description} (default: {default})")
    return "\n".join(lines)
