# SPDX-License-Identifier: Apache-2.0
"""``run``: start a program of a package, in the place of this one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from humanoid_model.errors import InputError
from humanoid_ros.command_line.session import check_typed


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add what the group takes; it has no verbs."""
    parser.add_argument("package")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="--ros-args -p scene:=stand")
    parser.set_defaults(do=run)


def run(asked: argparse.Namespace) -> None:
    """Become the program."""
    try:
        folder = Path(get_package_prefix(asked.package)) / "lib" / asked.package
    except PackageNotFoundError as error:
        raise InputError(f"there is no package '{asked.package}'", remedy="Is it humanoid_stack?") from error
    programs = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    program = folder / check_typed(asked.program, programs, asked.package, "program")
    os.execv(program, [str(program), *asked.arguments])
