# SPDX-License-Identifier: Apache-2.0
"""The system's C compiler."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

#: Nothing here changes a result by more than rounding, and NaN stays NaN. Looking for statements that could share a
#: vector takes two thirds of the time of long functions, and what is found is no faster.
_FLAGS = (
    "-std=c99",
    "-O2",
    "-shared",
    "-fPIC",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fno-tree-slp-vectorize",
)


class CompilerError(Exception):
    """The compiler doesn't take the text, or what it made can't be loaded."""


@dataclass(frozen=True)
class Compiler:
    """A C compiler on this machine.

    Attributes:
        command: with the options that the environment variable ``CC`` gives.
        target: options that choose this machine's instructions, empty where the compiler knows none.
        identity: version and instructions: objects of equal identity and source are equal.
    """

    command: tuple[str, ...]
    target: tuple[str, ...]
    identity: str

    @property
    def flags(self) -> tuple[str, ...]:
        """Options of every compilation."""
        return (*_FLAGS, *self.target)

    def compile(self, source: str, target: Path) -> None:
        """Make a shared object.

        Args:
            source: C text.
            target: file to write, in a folder of one's own.

        Raises:
            CompilerError: the compiler refuses.
        """
        command = [*self.command, *self.flags, "-x", "c", "-o", str(target), "-", "-lm"]
        done = _run(command, source)
        if done.returncode != 0 or not target.exists():
            raise CompilerError(f"{shlex.join(self.command)} fails: {done.stderr.strip()[-500:]}")


def find_compiler() -> Compiler | None:
    """Return the compiler that ``CC`` names, else cc, gcc or clang; None where there is none that works."""
    chosen = os.environ.get("CC", "").strip()
    candidates = [tuple(shlex.split(chosen))] if chosen else [("cc",), ("gcc",), ("clang",)]
    for command in candidates:
        path = shutil.which(command[0])
        if path is not None:
            compiler = _examine((path, *command[1:]))
            if compiler is not None:
                return compiler
    return None


@cache
def _examine(command: tuple[str, ...]) -> Compiler | None:
    """Ask for version and predefined macros; the latter tell the instructions that may be used."""
    version = _run([*command, "--version"], "")
    if version.returncode != 0:
        return None
    for target in (("-march=native",), ("-mcpu=native",), ()):
        macros = _run([*command, *target, "-dM", "-E", "-x", "c", "-"], "")
        if macros.returncode == 0:
            identity = "\n".join((*command, version.stdout, platform.platform(), macros.stdout))
            return Compiler(command, target, identity)
    return None


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    except OSError as problem:
        return subprocess.CompletedProcess(command, 1, "", str(problem))
