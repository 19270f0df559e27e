# SPDX-License-Identifier: Apache-2.0
"""Tasks in processes: news and results come back, a cancel ends them, what dies is replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from multiprocessing import Pipe
from pathlib import Path

import pytest
from fixtures.ros_processes import children

from humanoid_model.errors import InputError
from humanoid_ros.node.process_workers import ProcessWorkers, Task, WorkerError

TASKS = """
import ctypes, os, time
from humanoid_model.errors import InputError

def double(number, tell):
    tell(f"got {number}")
    return 2 * number, os.getpid()

def sleep(seconds, tell):
    tell(os.getpid())
    time.sleep(seconds)

def refuse(name, tell):
    raise InputError(f"is {name}", element="name", remedy="Give another one")

def fail(tell):
    return {}["nothing"]

def litter(tell):
    library = ctypes.CDLL(None)
    library.malloc.restype, library.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    pieces = [library.malloc(1000) for _ in range(60_000)]
    for piece in pieces:
        ctypes.memset(piece, 1, 1000)
    for piece in pieces[:-1]:
        library.free(piece)
    return os.getpid()
"""


@pytest.fixture
def workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProcessWorkers]:
    (tmp_path / "small_tasks.py").write_text(TASKS)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{Path(__file__).parents[3]}:{os.environ.get('PYTHONPATH', '')}")
    workers = ProcessWorkers(2, "small_tasks", 600.0)
    yield workers
    workers.close()
    assert workers.busy == 0


def sleeping(workers: ProcessWorkers) -> tuple[Task, int]:
    """A task that is under way, and the process that does it."""
    begun, told = threading.Event(), []
    task = workers.submit("small_tasks:sleep", (60.0,), lambda pid: (told.append(pid), begun.set()))
    assert begun.wait(60.0)
    return task, told[0]


def resident(pid: int) -> int:
    """Memory of a process [bytes]."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def gone(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_gone(pid: int) -> None:
    end = time.monotonic() + 60.0
    while not gone(pid):
        assert time.monotonic() < end, "it goes on"
        time.sleep(0.01)


def test_what_a_task_has_freed_is_given_back_though_the_last_piece_is_kept(workers: ProcessWorkers) -> None:
    _, pid = workers.submit("small_tasks:double", (1,), print).outcome.result(60.0)
    before = resident(pid)
    assert workers.submit("small_tasks:litter", (), print).outcome.result(60.0) == pid
    end = time.monotonic() + 60.0
    while resident(pid) > before + 30_000_000:
        assert time.monotonic() < end, f"{resident(pid)} bytes, {before} before"
        time.sleep(0.02)


@pytest.mark.feature("003-F111")
def test_processes_come_when_they_are_needed_and_go_when_they_are_idle(workers: ProcessWorkers) -> None:
    others = set(children("self"))
    started: list[int] = []

    def double(whose: ProcessWorkers) -> int:
        task = whose.submit("small_tasks:double", (1,), print, lambda: started.append(1))
        return int(task.outcome.result(60.0)[1])

    assert len({double(workers) for _ in range(10)}) == 1  # one is enough for who waits for each answer
    assert len(started) == 1
    assert len(set(children("self")) - others) == 1
    brief = ProcessWorkers(2, "small_tasks", 0.2)
    first = double(brief)
    wait_gone(first)
    assert double(brief) != first
    assert len(started) == 3
    tasks = [sleeping(brief) for _ in range(2)]
    assert len({pid for _, pid in tasks}) == 2
    time.sleep(0.5)  # one that works isn't idle
    assert not any(task.outcome.done() for task, _ in tasks)
    brief.close()
    for _, pid in tasks:
        wait_gone(pid)


def test_news_and_results_come_back_from_processes_that_stay(workers: ProcessWorkers) -> None:
    told: list[str] = []
    answers = [workers.submit("small_tasks:double", (n,), told.append).outcome.result(60.0) for n in (1, 2, 3, 4)]
    assert [value for value, _ in answers] == [2, 4, 6, 8]
    assert told == ["got 1", "got 2", "got 3", "got 4"]
    assert len({pid for _, pid in answers}) <= 2
    assert os.getpid() not in {pid for _, pid in answers}


def test_errors_come_back_as_they_are(workers: ProcessWorkers) -> None:
    with pytest.raises(InputError, match=r"name: is Tom\. Give another one\."):
        workers.submit("small_tasks:refuse", ("Tom",), print).outcome.result(60.0)
    with pytest.raises(WorkerError, match="KeyError: 'nothing'"):
        workers.submit("small_tasks:fail", (), print).outcome.result(60.0)
    with pytest.raises(WorkerError, match="no attribute 'nowhere'"):
        workers.submit("small_tasks:nowhere", (), print).outcome.result(60.0)
    assert workers.submit("small_tasks:double", (1,), print).outcome.result(60.0)[0] == 2


def test_a_cancel_ends_what_is_under_way_and_what_waits(workers: ProcessWorkers) -> None:
    tasks = [sleeping(workers) for _ in range(2)]
    waiting = workers.submit("small_tasks:sleep", (60.0,), print)
    assert workers.busy == 3
    waiting.cancel()
    with pytest.raises(CancelledError):
        waiting.outcome.result(60.0)
    task, pid = tasks[0]
    task.cancel()
    with pytest.raises(CancelledError):
        task.outcome.result(60.0)
    wait_gone(pid)
    assert workers.submit("small_tasks:double", (1,), print).outcome.result(60.0)[0] == 2  # by another one
    assert not tasks[1][0].outcome.done()
    tasks[1][0].cancel()


def test_a_process_that_dies_is_told_and_replaced(workers: ProcessWorkers) -> None:
    task, pid = sleeping(workers)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match="ended with code -9"):
        task.outcome.result(60.0)
    for n in range(3):
        assert workers.submit("small_tasks:double", (n,), print).outcome.result(60.0)[0] == 2 * n


def test_ctrl_c_does_not_reach_them_even_while_they_start(
    workers: ProcessWorkers, capfd: pytest.CaptureFixture[str]
) -> None:
    interrupted: set[int] = set()
    answers = [workers.submit("small_tasks:double", (n,), print).outcome for n in range(2)]
    end = time.monotonic() + 60.0
    while not all(answer.done() for answer in answers):
        assert time.monotonic() < end, "they do nothing"
        for pid in children("self"):
            os.kill(pid, signal.SIGINT)
            interrupted.add(pid)
        time.sleep(0.001)
    assert {answer.result()[1] for answer in answers} <= interrupted
    assert capfd.readouterr().err == ""


def test_closing_leaves_no_process(workers: ProcessWorkers) -> None:
    task, pid = sleeping(workers)
    workers.close()
    with pytest.raises(CancelledError):
        task.outcome.result(60.0)
    wait_gone(pid)
    with pytest.raises(CancelledError):
        workers.submit("small_tasks:double", (1,), print).outcome.result(60.0)


def test_closing_leaves_no_thread_that_waits_for_work() -> None:
    before = threading.active_count()
    for _ in range(5):
        ProcessWorkers(3, "small_tasks", 600.0).close()
    assert threading.active_count() == before


def test_one_whose_node_is_gone_before_it_is_ready_ends_without_a_word() -> None:
    ours, theirs = Pipe()
    ours.close()
    command = [sys.executable, "-m", "humanoid_ros.node.process_workers", str(theirs.fileno()), "math"]
    ended = subprocess.run(command, pass_fds=[theirs.fileno()], capture_output=True, timeout=60.0, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
