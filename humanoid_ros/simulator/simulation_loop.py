# SPDX-License-Identifier: Apache-2.0
"""The thread in which a simulation runs, in pace with the wall clock or as fast as it can."""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol, TypeVar

from humanoid_model.errors import HumanoidError, InputError
from humanoid_sim import Simulation

T = TypeVar("T")

MAX_LAG = 0.02
"""A simulation catches up so much at most; what it is later is lost [s of wall-clock time].

It catches up ten times as fast as real time, which nobody who commands it can: windows of the controller bridge last
0.06 s at speed, of which most is needed for the way of clock and window.
"""
LOOK_PERIOD = 0.05
"""Time between two looks at who listens [s of wall-clock time]."""
PATIENCE = 0.005
"""Steps made at once take about this long at most, unless a single one takes longer [s of wall-clock time]."""


class LoopStoppedError(HumanoidError):
    """The simulation was shut down or replaced before it did what it was asked for."""


@dataclass(frozen=True)
class LoopReport:
    """How the simulation went since the last report.

    Attributes:
        paused: whether time stands still now.
        failure: why it stopped without a request; empty otherwise.
        real_time_factor: simulated over wall-clock time; 0 while paused.
        step_seconds: mean wall-clock time of a step with all that is done around it [s].
        max_step_seconds: longest such time [s]; steps made at once count as equally long.
    """

    paused: bool
    failure: str
    real_time_factor: float
    step_seconds: float
    max_step_seconds: float


class LoopListener(Protocol):
    """What is done around the steps, always in the simulation's thread."""

    def before_step(self) -> int:
        """Command the robots; returns for how many steps, 1 or more, they need no other command."""

    def after_step(self) -> None:
        """Look at the new state."""

    def due(self) -> int:
        """Return after how many steps, 1 or more, :meth:`after_step` has to see the state."""

    def room(self) -> int:
        """Return how many steps may be made until a command has to come; 0: it is waited for."""

    def look(self) -> None:
        """See who listens: once per LOOK_PERIOD."""

    def after_jump(self) -> None:
        """Look at a state that no ordinary step led to, or at the last one before a pause."""

    def report(self, report: LoopReport) -> None:
        """Tell how the simulation goes: once per period, and when it pauses, goes on or fails."""

    def failed(self, message: str, details: str) -> None:
        """Tell that the simulation could not do a step and is paused; details are empty for a foreseen error."""


class SimulationLoop:
    """Runs a simulation in a thread of its own; everybody else talks to it between steps.

    Only this thread touches the simulation. Others pass it actions through :meth:`call`; they are done in order, each
    between two steps. An exception in a step pauses the simulation and is reported; the thread goes on.

    Steps are made when someone can tell: before a state is published, before an action and before a report, all that
    the wall clock asks for by then at once. An action so meets the state that it would if every step were made at its
    own time, also where this thread is late and the action has waited, and the processor isn't woken a thousand times
    per second.

    Attributes:
        simulation: the simulation; touch it in actions and listeners only.
    """

    def __init__(
        self,
        simulation: Simulation,
        listener: LoopListener,
        *,
        real_time_factor: float = 1.0,
        paused: bool = False,
        report_period: float = 0.1,
    ) -> None:
        """Prepare the thread.

        Args:
            simulation: what to run.
            listener: what to do around the steps.
            real_time_factor: simulated seconds per second to aim at; 0: as fast as it can.
            paused: whether to begin paused.
            report_period: wall-clock time between two reports [s].
        """
        self.simulation = simulation
        self._listener = listener
        self._real_time_factor = real_time_factor
        self._report_period = report_period
        self._paused = paused
        self._paused_before_failure = paused
        self._failure = ""
        self._actions: deque[tuple[float, Callable[[], None]]] = deque()
        # Free when an action has come. SimpleQueue.get of CPython 3.11 may wait for ever, whatever its timeout: where
        # it finds its own lock free, and nothing to take, it waits for what is left of the time, and below zero that
        # means without end.
        self._came = threading.Lock()
        self._came.acquire()
        self._stopping = threading.Event()
        self._steps_wanted = 0
        self._steps_answer: Future[float] | None = None
        self._thread = threading.Thread(target=self._run, name="simulation")
        self._step_time = math.inf
        self._report_longest = 0.0
        self._forget_pace()
        self._begin_report()

    # From any thread ------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def shutdown(self) -> None:
        """End the thread; who still waits for an answer gets a LoopStoppedError."""
        self._stopping.set()
        self._put(lambda: None)
        if self._thread.is_alive():
            self._thread.join()
        self._drop_steps()
        while self._actions:
            self._actions.popleft()[1]()

    def call(self, action: Callable[[], T]) -> Future[T]:
        """Do something between two steps.

        Args:
            action: what to do; it may touch the simulation, and must be short.

        Returns:
            What it returned or raised, once it is done.
        """
        answer: Future[T] = Future()

        def run() -> None:
            if self._stopping.is_set():
                answer.set_exception(_stopped())
                return
            try:
                result = action()
            except Exception as error:
                answer.set_exception(error)
            else:
                answer.set_result(result)

        self._put(run)
        return answer

    def step(self, count: int) -> Future[float]:
        """Do a number of steps of a paused simulation.

        Args:
            count: number of steps, at least 1.

        Returns:
            Simulated time when they are done [s]; an InputError if there are no steps to do or the
            simulation is not paused; a HumanoidError if they can't be done, or a pause ends them.
        """
        answer: Future[float] = Future()

        def begin() -> None:
            try:
                if self._stopping.is_set():
                    raise _stopped()
                self._check_can_step(count)
            except HumanoidError as error:
                answer.set_exception(error)
            else:
                self._steps_wanted = count
                self._steps_answer = answer

        self._put(begin)
        return answer

    def _put(self, action: Callable[[], None]) -> None:
        self._actions.append((time.perf_counter(), action))
        with suppress(RuntimeError):  # free already: another action has come meanwhile
            self._came.release()

    # In the simulation's thread -------------------------------------------------------------------

    @property
    def paused(self) -> bool:
        """Whether time stands still, single steps aside."""
        return self._paused

    @property
    def failure(self) -> str:
        """Why the simulation can't go on; empty while it can."""
        return self._failure

    @property
    def real_time_factor(self) -> float:
        """Simulated seconds per second that are aimed at; 0: as fast as possible."""
        return self._real_time_factor

    @real_time_factor.setter
    def real_time_factor(self, value: float) -> None:
        self._real_time_factor = value
        self._forget_pace()

    @property
    def report_period(self) -> float:
        """Wall-clock time between two reports [s]."""
        return self._report_period

    @report_period.setter
    def report_period(self, value: float) -> None:
        self._report_period = value

    def pause(self) -> None:
        """Let time stand still; ends single steps that are under way."""
        self._drop_steps(f"step: stopped by a pause at {self.simulation.time:g} s.")
        if not self._paused:
            self._paused = True
            self._listener.after_jump()
        self._report()

    def resume(self) -> None:
        """Let time go on.

        Raises:
            HumanoidError: a step failed; only a reset or another scene helps.
        """
        if self._failure:
            raise HumanoidError(f"The simulation can't go on: {self._failure} Reset it first.")
        self._drop_steps(f"step: the simulation runs on from {self.simulation.time:g} s.")
        self._paused = False
        self._forget_pace()
        self._report()

    def reset(self) -> None:
        """Go back to the start, and on as before: paused or not, a failure is forgotten."""
        self.jump(self.simulation.reset, "a reset")

    def jump(self, action: Callable[[], object], name: str) -> None:
        """Go to another state, and on as before: paused or not, a failure is forgotten.

        Args:
            action: puts the simulation there, or raises and leaves it as it is.
            name: of the jump, for those whose single steps it ends.

        Raises:
            Exception: what the action raised; nothing has changed then.
        """
        action()
        self._drop_steps(f"step: stopped by {name}.")
        if self._failure:
            self._failure = ""
            self._paused = self._paused_before_failure
        self._forget_pace()
        self._listener.after_jump()
        self._report()

    def _check_can_step(self, count: int) -> None:
        if count < 1:
            raise InputError(f"is {count}", element="steps", remedy="Give at least 1")
        if self._failure:
            raise HumanoidError(f"The simulation can't go on: {self._failure} Reset it first.")
        if not self._paused:
            raise InputError(
                f"can't do {count} single steps while the simulation runs",
                element="steps",
                remedy="Pause it first",
            )
        if self._steps_answer is not None:
            raise InputError(
                f"can't do {count} steps while {self._steps_wanted} others are still to be done",
                element="steps",
                remedy="Wait for them, or pause to end them",
            )

    def _run(self) -> None:
        next_look = 0.0
        while not self._stopping.is_set():
            while self._actions:
                self._do(*self._actions.popleft())
            now = time.perf_counter()
            if now >= next_look:
                next_look = now + LOOK_PERIOD
                self._listener.look()
            if now >= self._next_report:
                self._catch_up(now)
                self._report()
            if self._steps_wanted:
                made = self._advance(self._steps_wanted)
                if self._steps_answer is not None:  # else they have failed
                    self._steps_wanted -= made
                    if self._steps_wanted == 0:
                        self._finish_steps()
                continue
            wait = min(self._next_report, next_look) - now
            room = 0 if self._paused else self._listener.room()
            if room > 0:
                ahead = min(self._listener.due(), room)
                lead = self._lead(ahead, now)
                if lead <= 0.0:
                    self._advance(ahead)
                    continue
                wait = min(wait, lead)
            if wait > 0.0:
                self._wait(wait)

    def _wait(self, seconds: float) -> None:
        """Wait for an action for so long at most."""
        self._came.acquire(timeout=seconds)

    def _do(self, came: float, action: Callable[[], None]) -> None:
        """Do what was asked for at a time of the wall clock [s]."""
        self._catch_up(came)
        action()

    def _lead(self, ahead: int, now: float) -> float:
        """Wall-clock time until the last of so many steps, the next one being the first, is due [s]."""
        if self._real_time_factor == 0.0:
            return 0.0
        per_step = self.simulation.dt / self._real_time_factor
        lead = self._pace_start + (self.simulation.step_count - self._pace_step) * per_step - now
        if lead < -MAX_LAG:
            # Not all of it: a thread that is always woken late would have nothing to do, and wait again.
            self._pace_start -= lead + MAX_LAG
            lead = -MAX_LAG
        return lead + (ahead - 1) * per_step

    def _catch_up(self, until: float) -> None:
        """Make the steps that were due by a time of the wall clock [s], but for those of one that is too slow."""
        if self._paused or self._real_time_factor == 0.0:
            return
        now = time.perf_counter()
        end = now + PATIENCE
        late = 1 + math.floor((until - now - self._lead(1, now)) * self._real_time_factor / self.simulation.dt)
        while late > 0 and not self._paused and time.perf_counter() < end:
            room = self._listener.room()
            if room <= 0:
                self._forget_pace()  # what is waited for a command isn't caught up
                break
            late -= self._advance(min(late, room))

    def _forget_pace(self) -> None:
        self._pace_start = time.perf_counter()
        self._pace_step = self.simulation.step_count

    def _advance(self, most: int) -> int:
        """Make some steps, and publish if something is due; returns how many."""
        start = time.perf_counter()
        first = self.simulation.step_count
        try:
            at_once = max(int(PATIENCE / self._step_time), 1)
            steps = min(most, self._listener.before_step(), self._listener.due(), at_once)
            self.simulation.step(steps)
            self._listener.after_step()
        except Exception as error:
            self._fail(error)
            return self.simulation.step_count - first
        duration = time.perf_counter() - start
        self._step_time = duration / steps
        self._report_steps += steps
        self._report_seconds += duration
        self._report_longest = max(self._report_longest, self._step_time)
        return steps

    def _fail(self, error: Exception) -> None:
        """Pause because a step was not possible."""
        expected = isinstance(error, HumanoidError)
        text = str(error) if expected else f"{type(error).__name__}: {error}"
        self._failure = text if text.endswith(".") else f"{text}."
        self._paused_before_failure = self._paused
        self._paused = True
        self._drop_steps(f"The simulation can't go on: {self._failure}")
        self._listener.failed(self._failure, "" if expected else traceback.format_exc())
        self._report()

    def _finish_steps(self) -> None:
        self._listener.after_jump()
        self._report()
        answer, self._steps_answer = self._steps_answer, None
        if answer is not None:
            answer.set_result(self.simulation.time)

    def _drop_steps(self, reason: str = "") -> None:
        answer, self._steps_answer = self._steps_answer, None
        self._steps_wanted = 0
        if answer is not None:
            answer.set_exception(HumanoidError(reason) if reason else _stopped())

    def _begin_report(self) -> None:
        self._report_start = time.perf_counter()
        self._next_report = self._report_start + self._report_period
        self._report_steps = 0
        self._report_seconds = 0.0
        self._report_longest = 0.0

    def _report(self) -> None:
        """Tell the listener; what it raises must not end the thread."""
        elapsed = time.perf_counter() - self._report_start
        simulated = self._report_steps * self.simulation.dt
        report = LoopReport(
            self._paused,
            self._failure,
            simulated / elapsed if elapsed > 0.0 and not self._paused else 0.0,
            self._report_seconds / max(self._report_steps, 1),
            self._report_longest,
        )
        try:
            self._listener.report(report)
        except Exception as error:
            self._listener.failed(f"the report: {error}", traceback.format_exc())
        self._begin_report()


def _stopped() -> LoopStoppedError:
    return LoopStoppedError("The simulation was replaced or shut down before it could answer.")
