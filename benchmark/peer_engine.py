# SPDX-License-Identifier: Apache-2.0
"""Engines of the peers' environment, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent / "peers"


class PeerEngine:
    """A script of ``benchmark/peers`` that answers line by line, the first time when it is ready."""

    def __init__(
        self, python: Path, script: str, task: dict[str, Any] | None = None, environment: dict[str, str] | None = None
    ) -> None:
        """Start it, with more variables in its environment, and hand the task over if it takes one.

        ``first`` is its first answer, which holds its version.
        """
        self.process = subprocess.Popen(
            [str(python), str(SCRIPTS / script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        self.first = self._read() if task is None else self.ask(json.dumps(task))
        self.version: str = self.first["version"]

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args} ended unexpectedly")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line and read the answer."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self._read()

    def run(self, steps: int) -> dict[str, Any]:
        """Time a block of steps."""
        return self.ask(str(steps))

    def close(self) -> None:
        """End it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def ask(python: Path, script: str, task: dict[str, Any]) -> Any:
    """Return what a script of ``benchmark/peers`` answers to a task, once."""
    done = subprocess.run(
        [str(python), str(SCRIPTS / script)], input=json.dumps(task), capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{script} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
