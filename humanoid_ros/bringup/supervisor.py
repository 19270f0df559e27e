# SPDX-License-Identifier: Apache-2.0
"""Processes that are started, watched, shown and stopped together."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TextIO

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.bringup import orphan_guard
from humanoid_ros.bringup.orphan_guard import POLL, STOP_SIGNALS

COLOURS = (36, 33, 35, 32, 34, 96, 93, 95)
"""ANSI colours that processes get in turn; red stays for the supervisor's reports."""
LAST_WORDS = 5.0
"""Longest time in which what a process has said last is read; what it left behind may hold its output open [s]."""


class SupervisorError(HumanoidError):
    """A process that has to run doesn't."""


@dataclass(frozen=True)
class Process:
    """A program to run.

    Attributes:
        name: What its output is prefixed with.
        command: Program and arguments.
        required: Its end stops all others.
        respawn: It is started again when it ends by itself.
        respawn_delay: Time before that [s].
        environment: Variables beside those of this process.
    """

    name: str
    command: tuple[str, ...]
    required: bool = False
    respawn: bool = False
    respawn_delay: float = 1.0
    environment: Mapping[str, str] = field(default_factory=dict)


class _Running:
    """One process while it is looked after."""

    def __init__(self, process: Process, colour: int) -> None:
        self.process = process
        self.colour = colour
        self.popen: subprocess.Popen[str] | None = None
        self.reader: threading.Thread | None = None
        self.respawn_at: float | None = None

    @property
    def alive(self) -> bool:
        return self.popen is not None and self.popen.poll() is None


class Supervisor:
    """Starts processes, prefixes what they print, restarts or reports those that die, stops all.

    Every process leads a process group of its own, so that Ctrl-C in a terminal reaches it through
    the supervisor only, once, and what it started itself ends with it. Where the supervisor is
    killed, its `orphan_guard` ends them.

    Use it as a context manager around the code that needs the processes, with `check` in between, or
    call `run`, which returns when they have ended.

    Args:
        processes: What to run; names are unique.
        output: Where their output goes.
        colour: Colour the prefixes; None: when the output is a terminal.
        patience: Time that a process has to end after SIGINT, and again after SIGTERM [s].

    Raises:
        InputError: Two processes have the same name.
    """

    def __init__(
        self,
        processes: Iterable[Process],
        *,
        output: TextIO | None = None,
        colour: bool | None = None,
        patience: tuple[float, float] = (5.0, 2.0),
    ) -> None:
        self._output = sys.stdout if output is None else output
        self._colour = self._output.isatty() if colour is None else colour
        self._patience = patience
        self._lock = threading.Lock()
        self._all = [
            _Running(process, COLOURS[index % len(COLOURS)])
            for index, process in enumerate(processes)
        ]
        names = [running.process.name for running in self._all]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two processes are named '{name}'", remedy="Names must differ")
        self._width = max((len(name) for name in names), default=0)
        self._guard: subprocess.Popen[str] | None = None
        self._failure: str | None = None
        self._exit_code = 0
        self._interrupts = 0

    def __enter__(self) -> Supervisor:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start all processes, in order.

        Raises:
            SupervisorError: A program can't be started; those started before it are stopped.
        """
        self._guard = subprocess.Popen(
            [sys.executable, "-I", "-S", orphan_guard.__file__, *map(str, self._patience)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        for running in self._all:
            try:
                self._spawn(running)
            except OSError as error:
                self.stop()
                raise SupervisorError(
                    f"{running.process.name}: {running.process.command[0]} can't be started: "
                    f"{error.strerror}"
                ) from error

    def check(self) -> None:
        """Look at the processes: report and restart those that ended.

        Raises:
            SupervisorError: A required process has ended; the message says how.
        """
        for running in self._all:
            if running.popen is not None and not running.alive:
                self._ended(running)
            if running.respawn_at is not None and time.monotonic() >= running.respawn_at:
                running.respawn_at = None
                self._report(f"starting {running.process.name} again")
                self._respawn(running)
        if self._failure is not None:
            raise SupervisorError(self._failure)

    def run(self) -> int:
        """Start all, look after them until they have ended or Ctrl-C is pressed, and stop all.

        A second Ctrl-C while they are stopping sends SIGTERM, a third SIGKILL. Call it in the main
        thread.

        Returns:
            Exit code: 0 after Ctrl-C or when all ended well; else that of the process that failed,
            128 + n when signal n killed it.
        """
        signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.signal(number, self._on_signal) for number in signals}
        try:
            self.start()
            while self._interrupts == 0 and any(
                running.popen is not None or running.respawn_at is not None
                for running in self._all
            ):
                self.check()
                time.sleep(POLL)
        except SupervisorError as error:
            self._report(str(error))
            self._exit_code = self._exit_code or 1
        finally:
            self.stop()
            for number, handler in before.items():
                signal.signal(number, handler)
        return self._exit_code

    def stop(self) -> None:
        """End all processes: SIGINT, then SIGTERM, then SIGKILL, each after its patience.

        Ctrl-C meanwhile goes on to the next signal at once.
        """
        for running in self._all:
            running.respawn_at = None
        for number, patience in zip(STOP_SIGNALS, (*self._patience, math.inf), strict=True):
            self._signal_all(number)
            interrupts = self._interrupts
            end = time.monotonic() + patience
            while (
                any(running.alive for running in self._all)
                and time.monotonic() < end
                and (self._interrupts == interrupts or number == signal.SIGKILL)
            ):
                try:
                    time.sleep(POLL)
                except KeyboardInterrupt:
                    self._interrupts += 1
        for running in self._all:
            self._finish(running)
        if self._guard is not None:
            self._guard.communicate()

    def _spawn(self, running: _Running) -> None:
        process = running.process
        running.popen = subprocess.Popen(
            process.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            bufsize=1,
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **process.environment},
        )
        self._tell_guard(running.popen)
        running.reader = threading.Thread(
            target=self._copy_output, args=(running, running.popen), daemon=True
        )
        running.reader.start()

    def _tell_guard(self, group: subprocess.Popen[str]) -> None:
        """Tell that a process group has begun, or that it has ended."""
        assert self._guard is not None
        assert self._guard.stdin is not None
        with suppress(BrokenPipeError):  # somebody has killed it: the nodes go on
            self._guard.stdin.write(f"{group.pid}\n")
            self._guard.stdin.flush()

    def _respawn(self, running: _Running) -> None:
        try:
            self._spawn(running)
        except OSError as error:
            self._report(f"{running.process.name} can't be started again: {error.strerror}")
            self._exit_code = self._exit_code or 1

    def _copy_output(self, running: _Running, popen: subprocess.Popen[str]) -> None:
        assert popen.stdout is not None
        for line in popen.stdout:
            self._print(running.process.name, line.rstrip("\n"), running.colour)

    def _ended(self, running: _Running) -> None:
        """Take note of a process that ended by itself."""
        assert running.popen is not None
        code = running.popen.returncode
        self._finish(running)
        process = running.process
        how = f"{process.name} {describe_exit(code)}"
        if process.required:
            self._failure = f"{how}; nothing works without it"
            self._exit_code = 128 - code if code < 0 else code
        elif process.respawn:
            running.respawn_at = time.monotonic() + process.respawn_delay
            self._report(f"{how}; starting it again in {process.respawn_delay:g} s")
        else:
            self._report(f"{how}; the others go on" if code else how)
            if code:
                self._exit_code = self._exit_code or (128 - code if code < 0 else code)

    def _finish(self, running: _Running) -> None:
        """Wait for the rest of the output of a process that has ended, end what it left behind."""
        if running.popen is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(running.popen.pid, signal.SIGKILL)
        if running.reader is not None:
            running.reader.join(LAST_WORDS)
        running.popen.wait()
        self._tell_guard(running.popen)
        running.popen = None

    def _signal_all(self, number: signal.Signals) -> None:
        for running in self._all:
            if running.alive and running.popen is not None:
                if number != STOP_SIGNALS[0]:
                    self._report(f"{running.process.name} still runs: {number.name}")
                with suppress(ProcessLookupError):
                    os.killpg(running.popen.pid, number)

    def _on_signal(self, number: int, frame: object) -> None:
        self._interrupts += 1

    def _report(self, text: str) -> None:
        self._print("bringup", text, 31)

    def _print(self, name: str, line: str, colour: int) -> None:
        prefix = f"[{name}]".ljust(self._width + 2)
        if self._colour:
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
        with self._lock:
            print(prefix, line, file=self._output, flush=True)


def describe_exit(code: int) -> str:
    """Return how a process ended, in words, from its return code as `subprocess` gives it."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"
