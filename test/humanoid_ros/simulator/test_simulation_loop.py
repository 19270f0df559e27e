# SPDX-License-Identifier: Apache-2.0
"""The thread that runs a simulation, with a simulation that only counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("numba")

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.simulator import simulation_loop
from humanoid_ros.simulator.simulation_loop import LoopReport, LoopStoppedError, SimulationLoop


class Counter:
    """Counts steps; fails at one of them."""

    dt = 1e-3

    def __init__(self) -> None:
        self.step_count = 0
        self.fails_at = -1
        self.error: Exception = HumanoidError("it burst")

    @property
    def time(self) -> float:
        return self.step_count * self.dt

    def step(self, count: int) -> None:
        for _ in range(count):
            if self.step_count == self.fails_at:
                raise self.error
            self.step_count += 1

    def reset(self) -> None:
        self.step_count = 0


class Notes:
    """Notes what the loop does."""

    def __init__(self) -> None:
        self.before: list[int] = []
        self.after: list[int] = []
        self.jumps: list[int] = []
        self.reports: list[LoopReport] = []
        self.failures: list[tuple[str, str]] = []
        self.threads: set[int] = set()
        self.simulation: Any = None
        self.reported = threading.Event()
        self.command_steps = self.due_steps = 1
        self.looks = 0
        self.room_until = 1_000_000

    def before_step(self) -> int:
        self.before.append(self.simulation.step_count)
        self.threads.add(threading.get_ident())
        return self.command_steps

    def due(self) -> int:
        return self.due_steps - self.simulation.step_count % self.due_steps

    def room(self) -> int:
        return self.room_until - self.simulation.step_count

    def look(self) -> None:
        self.looks += 1

    def after_step(self) -> None:
        self.after.append(self.simulation.step_count)

    def after_jump(self) -> None:
        self.jumps.append(self.simulation.step_count)

    def report(self, report: LoopReport) -> None:
        self.reports.append(report)
        self.reported.set()

    def failed(self, message: str, details: str) -> None:
        self.failures.append((message, details))


@pytest.fixture
def notes() -> Notes:
    return Notes()


@pytest.fixture
def loop(notes: Notes) -> Iterator[SimulationLoop]:
    notes.simulation = Counter()
    loop = SimulationLoop(notes.simulation, notes, real_time_factor=0.0, paused=True)
    loop.start()
    yield loop
    loop.shutdown()
    assert not any(thread.name == "simulation" for thread in threading.enumerate())


def test_single_steps_are_exact(loop: SimulationLoop, notes: Notes) -> None:
    assert loop.step(1).result(60.0) == pytest.approx(1e-3)
    assert loop.step(41).result(60.0) == pytest.approx(42e-3)
    assert notes.simulation.step_count == 42
    assert notes.before == list(range(42))
    assert notes.after == list(range(1, 43))
    assert notes.jumps == [1, 42]


def test_actions_are_done_between_steps_in_order(loop: SimulationLoop, notes: Notes) -> None:
    loop.call(loop.resume).result(60.0)
    done: list[tuple[int, int]] = []

    def act(number: int) -> int:
        done.append((number, threading.get_ident()))
        return len(notes.before) - len(notes.after)

    answers = [loop.call(lambda number=number: act(number)) for number in range(50)]
    # Every step that was begun was ended: nothing happens inside one.
    assert {answer.result(60.0) for answer in answers} == {0}
    assert [number for number, _ in done] == list(range(50))
    loop.call(loop.pause).result(60.0)
    assert {thread for _, thread in done} <= notes.threads
    assert threading.get_ident() not in notes.threads


def test_what_an_action_raises_comes_back(loop: SimulationLoop) -> None:
    def fail() -> None:
        raise InputError("no")

    with pytest.raises(InputError, match=r"no\."):
        loop.call(fail).result(60.0)
    assert loop.step(1).result(60.0) == pytest.approx(1e-3)


@pytest.mark.parametrize("count", [0, -3])
def test_refuses_to_step_by(loop: SimulationLoop, count: int) -> None:
    with pytest.raises(InputError, match=f"steps: is {count}. Give at least 1."):
        loop.step(count).result(60.0)


def test_refuses_to_step_while_running(loop: SimulationLoop) -> None:
    loop.call(loop.resume).result(60.0)
    with pytest.raises(InputError, match="steps: can't do 2 single steps while the simulation runs"):
        loop.step(2).result(60.0)


def test_one_stepping_at_a_time_ended_by_a_pause(loop: SimulationLoop) -> None:
    long = loop.step(10**9)
    with pytest.raises(InputError, match="can't do 5 steps while"):
        loop.step(5).result(60.0)
    loop.call(loop.pause).result(60.0)
    with pytest.raises(HumanoidError, match="stopped by a pause"):
        long.result(60.0)
    assert loop.step(1).result(60.0) > 0.0


def test_resume_and_reset_end_stepping(loop: SimulationLoop, notes: Notes) -> None:
    long = loop.step(10**9)
    loop.call(loop.resume).result(60.0)
    with pytest.raises(HumanoidError, match="the simulation runs on"):
        long.result(60.0)
    loop.call(loop.pause).result(60.0)
    long = loop.step(10**9)
    loop.call(loop.reset).result(60.0)
    with pytest.raises(HumanoidError, match="stopped by a reset"):
        long.result(60.0)
    assert loop.call(lambda: (loop.paused, notes.simulation.step_count)).result(60.0) == (True, 0)


@pytest.mark.parametrize(
    ("error", "text", "has_details"),
    [
        (HumanoidError("it burst"), "it burst.", False),
        (ZeroDivisionError("x / 0"), "ZeroDivisionError: x / 0.", True),
    ],
)
def test_a_failure_pauses_until_reset(
    loop: SimulationLoop, notes: Notes, error: Exception, text: str, has_details: bool
) -> None:
    notes.simulation.fails_at, notes.simulation.error = 3, error
    with pytest.raises(HumanoidError, match=text):
        loop.step(10).result(60.0)
    assert loop.call(lambda: (loop.paused, loop.failure)).result(60.0) == (True, text)
    assert notes.failures[0][0] == text
    assert ("Traceback" in notes.failures[0][1]) == has_details
    assert notes.reports[-1].failure == text
    for request in (lambda: loop.step(1), lambda: loop.call(loop.resume)):
        with pytest.raises(HumanoidError, match="Reset it first"):
            request().result(60.0)
    notes.simulation.fails_at = -1
    loop.call(loop.reset).result(60.0)
    assert loop.call(lambda: (loop.paused, loop.failure)).result(60.0) == (True, "")
    assert loop.step(5).result(60.0) == pytest.approx(5e-3)


def test_a_failure_while_running_goes_on_after_reset(loop: SimulationLoop, notes: Notes) -> None:
    notes.simulation.fails_at = 20
    loop.call(loop.resume).result(60.0)
    while not notes.failures:
        notes.reported.clear()
        assert notes.reported.wait(60.0)
    notes.simulation.fails_at = -1
    loop.call(loop.reset).result(60.0)
    assert loop.call(lambda: (loop.paused, loop.failure)).result(60.0) == (False, "")


def test_reports_come_while_paused(loop: SimulationLoop, notes: Notes) -> None:
    for _ in range(3):
        notes.reported.clear()
        assert notes.reported.wait(60.0)
    assert all(report.paused and report.real_time_factor == 0.0 for report in notes.reports)


def test_a_report_that_fails_is_told(loop: SimulationLoop, notes: Notes) -> None:
    def burst(report: LoopReport) -> None:
        notes.reported.set()
        raise RuntimeError("no network")

    notes.report = burst  # type: ignore[method-assign]
    assert notes.reported.wait(60.0)
    assert loop.step(1).result(60.0) == pytest.approx(1e-3)
    assert "no network" in notes.failures[0][0]


def test_never_ahead_of_its_pace(notes: Notes) -> None:
    notes.simulation = Counter()
    loop = SimulationLoop(notes.simulation, notes, real_time_factor=0.5, report_period=0.05)
    simulated, passed = [], []
    start = time.perf_counter()
    loop.start()
    try:
        while len(notes.reports) < 6:
            notes.reported.clear()
            assert notes.reported.wait(60.0)
            simulated.append(notes.simulation.step_count * notes.simulation.dt)
            passed.append(time.perf_counter() - start)
    finally:
        loop.shutdown()
    # Half as fast as the wall clock since the start, but for the step under way. A busy machine may be slower, and
    # faster for a moment where it catches up.
    assert simulated[-1] > 0.0
    assert all(t <= 0.5 * wall + 2.0 * notes.simulation.dt for t, wall in zip(simulated, passed, strict=True))


def test_shutdown_answers_everybody(notes: Notes) -> None:
    notes.simulation = Counter()
    loop = SimulationLoop(notes.simulation, notes, paused=True)
    loop.start()
    long = loop.step(10**9)
    loop.call(lambda: None).result(60.0)
    loop.shutdown()
    late = [long, loop.call(lambda: None), loop.step(1)]
    loop.shutdown()
    for answer in late:
        with pytest.raises(LoopStoppedError, match="replaced or shut down"):
            answer.result(60.0)


def test_steps_until_something_is_due_are_made_at_once(loop: SimulationLoop, notes: Notes) -> None:
    notes.due_steps, notes.command_steps = 10, 1000
    loop.step(100).result(60.0)
    # The first one is made alone, which tells how long a step takes.
    assert {step for step in notes.after if step % 10 == 0} == set(range(10, 101, 10))
    assert len(notes.after) < 30
    assert notes.jumps == [100]


def test_commands_are_given_when_they_are_needed(loop: SimulationLoop, notes: Notes) -> None:
    notes.due_steps, notes.command_steps = 10, 4
    loop.step(40).result(60.0)
    assert notes.before[0] == 0
    assert all(0 < later - step <= 4 for step, later in zip(notes.before, [*notes.before[1:], 40], strict=True))


@pytest.mark.feature("000-F026")
def test_an_action_meets_the_state_of_its_time(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation_loop, "PATIENCE", 1e9)  # however busy the machine is
    monkeypatch.setattr(simulation_loop, "MAX_LAG", 1e9)
    notes.simulation = Counter()
    notes.due_steps = notes.command_steps = 10**6
    before = time.perf_counter()
    loop = SimulationLoop(notes.simulation, notes)
    after = time.perf_counter()
    loop.start()
    try:
        for _ in range(20):
            time.sleep(0.003)
            least = time.perf_counter() - after
            simulated = loop.call(lambda: notes.simulation.time).result(60.0)
            assert least - 1e-3 <= simulated <= time.perf_counter() - before + 2e-3
    finally:
        loop.shutdown()


@pytest.mark.feature("000-F026")
def test_a_thread_that_is_always_woken_late_makes_steps(notes: Notes, monkeypatch: pytest.MonkeyPatch) -> None:
    wait = SimulationLoop._wait

    def late(self: SimulationLoop, seconds: float) -> None:
        wait(self, seconds)
        time.sleep(2.0 * simulation_loop.MAX_LAG)

    monkeypatch.setattr(SimulationLoop, "_wait", late)
    notes.simulation = Counter()
    notes.due_steps = notes.command_steps = 10
    loop = SimulationLoop(notes.simulation, notes, report_period=60.0)
    loop.start()
    try:
        end = time.monotonic() + 60.0
        while notes.simulation.step_count < 100:
            assert time.monotonic() < end, "time stands still"
            time.sleep(0.01)
    finally:
        loop.shutdown()


@pytest.mark.feature("000-F029")
def test_time_that_waited_for_a_command_is_not_caught_up(notes: Notes) -> None:
    """It stands at the step for which one has to come, whoever acts meanwhile, and goes on at its pace."""
    notes.simulation = Counter()
    notes.room_until = 20
    loop = SimulationLoop(notes.simulation, notes, report_period=0.01)
    loop.start()
    try:
        end = time.monotonic() + 60.0
        while notes.simulation.step_count < 20:
            assert time.monotonic() < end, "time stands still"
            time.sleep(0.001)
        time.sleep(0.2)
        assert loop.call(lambda: notes.simulation.step_count).result(60.0) == 20
        begun = time.perf_counter()
        loop.call(lambda: setattr(notes, "room_until", 10_000)).result(60.0)
        while notes.simulation.step_count < 100:
            assert time.monotonic() < end, "time stands still"
            time.sleep(0.001)
        assert time.perf_counter() - begun > 0.077  # 79 ms, but for the step that was due
    finally:
        loop.shutdown()


@pytest.mark.feature("000-F026")
def test_an_action_that_had_to_wait_meets_the_state_of_when_it_came(
    notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulation_loop, "PATIENCE", 1e9)
    monkeypatch.setattr(simulation_loop, "MAX_LAG", 1e9)
    notes.simulation = Counter()
    notes.due_steps = notes.command_steps = 10**6
    held = threading.Event()
    before = time.perf_counter()
    loop = SimulationLoop(notes.simulation, notes)
    loop.start()
    try:
        loop.call(lambda: (held.set(), time.sleep(0.3)))
        assert held.wait(60.0)
        waits = loop.call(lambda: notes.simulation.time)
        came = time.perf_counter()
        assert waits.result(60.0) <= came - before + 2e-3
    finally:
        loop.shutdown()


def test_the_thread_goes_on_after_an_action_however_short_it_waits(
    loop: SimulationLoop, notes: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On CPython 3.11, SimpleQueue.get waits for ever if its time has passed before it waits."""
    monkeypatch.setattr(simulation_loop, "LOOK_PERIOD", 1e-9)

    def look() -> None:
        notes.looks += 1
        if notes.looks % 2:  # the other wait comes after the action and finds nothing
            loop.call(lambda: None)

    monkeypatch.setattr(notes, "look", look)
    while notes.looks < 60_000:
        seen, end = notes.looks, time.monotonic() + 10.0
        while notes.looks == seen:
            assert time.monotonic() < end, "it waits"
            time.sleep(0.001)


def test_a_failed_step_among_many_ends_them(loop: SimulationLoop, notes: Notes) -> None:
    notes.due_steps = notes.command_steps = 100
    notes.simulation.fails_at = 57
    with pytest.raises(HumanoidError, match="it burst"):
        loop.step(80).result(60.0)
    assert loop.call(lambda: (loop.paused, notes.simulation.step_count)).result(60.0) == (True, 57)
    assert max(notes.after) < 57


def test_listeners_are_looked_for_while_paused(loop: SimulationLoop, notes: Notes) -> None:
    end = time.monotonic() + 60.0
    while notes.looks < 3:
        assert time.monotonic() < end
        time.sleep(0.01)
