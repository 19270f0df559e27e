# SPDX-License-Identifier: Apache-2.0
"""Tasks in processes of their own, which a cancel ends wherever they are.

Threads would do for solvers that let Python go on, but a thread can't be stopped in the middle of a solve, and where
threads use IPOPT they take turns. A process that was ended is replaced; those that stay keep what they have compiled.
``python -m`` of this module is such a process.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from humanoid_model.errors import HumanoidError

READY, NEWS, RESULT, REFUSED, FAILED = "ready", "news", "result", "refused", "failed"
"""What a message is: the worker is up, something to tell on the way, the result, a HumanoidError, another exception."""


def serve(connection: Connection) -> None:
    """Do tasks until the other end closes.

    Args:
        connection: brings ("module:function", arguments) and takes (kind, content).
    """
    tasks: SimpleQueue[tuple[str, tuple[Any, ...]]] = SimpleQueue()

    def receive() -> None:
        # Reading all the time tells at once when whoever asked is gone, in the middle of a task as well.
        try:
            while True:
                tasks.put(connection.recv())
        except (EOFError, OSError):
            os._exit(0)

    def send(kind: str, content: Any) -> None:
        try:
            connection.send((kind, content))
        except OSError:  # who asked is gone, which the other thread may not have noticed yet
            os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    send(READY, None)
    while True:
        name, arguments = tasks.get()
        try:
            answer = RESULT, _function(name)(*arguments, lambda news: send(NEWS, news))
        except HumanoidError as error:
            answer = REFUSED, error
        except Exception as error:
            answer = FAILED, (f"{type(error).__name__}: {error}", traceback.format_exc())
        send(*answer)
        del answer, arguments
        give_back_memory()


def give_back_memory() -> None:
    """Give what is free back to the system.

    Symbolic problems are millions of small pieces. Where one of them stays in use, glibc keeps all memory below it, and
    a process grows by 10 MB with every gait.
    """
    with suppress(AttributeError, OSError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def main() -> None:
    """Serve the connection whose file descriptor the command line names."""
    importlib.import_module(sys.argv[2])
    serve(Connection(int(sys.argv[1])))


if __name__ == "__main__":
    main()


IDLE_TIME = 300.0
"""After which a process that has nothing to do ends, unless its node's user says otherwise [s]."""
IDLE_TIME_MEANING = "Time after which a process without work ends; the next request waits for a new one [s]"


class WorkerError(RuntimeError):
    """A task raised what it shouldn't have; its own traceback is part of the message."""


class WorkerEndedError(WorkerError, HumanoidError):
    """The process of a task ended on its way, by somebody else's hand or for want of memory; there is another one."""


@dataclass(eq=False)
class Task:
    """Something to do.

    Attributes:
        function: "module:function", called with ``arguments`` and a function that takes news.
        arguments: that can be pickled.
        news: called with each piece of news, in a thread of the workers.
        starting: called in such a thread when no process is there, and one is started.
        outcome: result, exception, or cancelled.
    """

    function: str
    arguments: tuple[Any, ...]
    news: Callable[[Any], None]
    starting: Callable[[], None]
    outcome: Future[Any] = field(default_factory=Future)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: subprocess.Popen[bytes] | None = None
    _cancelled: bool = False

    def cancel(self) -> None:
        """Give it up: at once, whether it is under way or waits."""
        with self._lock:
            waits = not self._cancelled and self._process is None and not self.outcome.done()
            self._cancelled = True
            if self._process is not None:
                self._process.kill()
        if waits:
            self.outcome.set_exception(CancelledError())

    def begin(self, process: subprocess.Popen[bytes]) -> bool:
        """Note the worker; False if the task is cancelled."""
        with self._lock:
            if not self._cancelled:
                self._process = process
            return not self._cancelled

    @property
    def cancelled(self) -> bool:
        """Whether it was given up."""
        return self._cancelled

    def end(self, result: Any, error: Exception | None, free: Callable[[], None]) -> None:
        """Note what came of it; an error of one that was cancelled is that it was.

        Args:
            result: of it.
            error: in its place.
            free: lets others have its process; called when no cancel reaches that any more, and before anybody knows
                of the end: who then asks once more finds the process.
        """
        with self._lock:
            self._process = None
            free()
            if error is not None and self._cancelled:
                error = CancelledError()
            if self.outcome.done():  # cancelled while it waited
                return
            if error is None:
                self.outcome.set_result(result)
            else:
                self.outcome.set_exception(error)


class ProcessWorkers:
    """Processes that do tasks; they are started when there are tasks, and ended when there were none for a while.

    Args:
        count: of processes at most.
        module: that they import when they start, so that tasks find it in memory.
        idle_time: after which a process that has nothing to do ends [s].
    """

    def __init__(self, count: int, module: str, idle_time: float) -> None:
        self._module = module
        self._idle_time = idle_time
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._under_way: set[Task] = set()
        self._idle: list[tuple[float, _Worker]] = []
        """Since when they are, in that order."""
        self._threads = [threading.Thread(target=self._work, name=f"worker {i}", daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def busy(self) -> int:
        """Tasks that aren't done, those that wait included."""
        return len(self._under_way)

    def submit(
        self,
        function: str,
        arguments: tuple[Any, ...],
        news: Callable[[Any], None],
        starting: Callable[[], None] = lambda: None,
    ) -> Task:
        """Have something done by the first process that is free.

        Args:
            function: "module:function".
            arguments: that can be pickled.
            news: takes what the function tells on its way, in a thread of the workers.
            starting: told, in such a thread, that a process is started first.
        """
        task = Task(function, arguments, news, starting)
        with self._lock:
            self._under_way.add(task)
        task.outcome.add_done_callback(lambda _: self._forget(task))
        if self._closing.is_set():
            task.outcome.set_exception(CancelledError())
        else:
            self._tasks.put(task)
        return task

    def close(self) -> None:
        """End all processes; what isn't done is cancelled."""
        self._closing.set()
        with self._lock:
            under_way = tuple(self._under_way)
        for task in under_way:
            task.cancel()
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join(5.0)
        while not self._tasks.empty():  # after the threads, each of which takes one end
            left = self._tasks.get()
            if left is not None:
                left.cancel()

    def _forget(self, task: Task) -> None:
        with self._lock:
            self._under_way.discard(task)

    def _work(self) -> None:
        """One task after the other, each by the process that was idle last, or by a new one."""
        # Ctrl-C reaches all of a program's processes, but the node decides what becomes of its workers. They inherit
        # what this thread blocks, and so never see it, not even while their interpreter starts.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        while not self._closing.is_set():
            try:
                task = self._tasks.get(timeout=self._end_idle(self._idle_time))
            except queue.Empty:
                continue
            if task is not None:
                self._do(task)
        self._end_idle(0.0)

    def _end_idle(self, idle_time: float) -> float | None:
        """End processes that have been idle for so long; return the time until the next one is, None without any."""
        now = time.monotonic()
        with self._lock:
            ended = [worker for since, worker in self._idle if now - since >= idle_time]
            self._idle = [own for own in self._idle if now - own[0] < idle_time]
            left = self._idle[0][0] + idle_time - now if self._idle else None
        for worker in ended:
            worker.close()
        return left

    def _do(self, task: Task) -> None:
        worker: _Worker | None = None
        result, error = None, None
        try:
            if not task.cancelled:
                worker = self._take(task)
                if task.begin(worker.process):
                    result = worker.run(task)
        except Exception as problem:
            error = problem
        task.end(result, error, lambda: self._put(worker))

    def _take(self, task: Task) -> _Worker:
        while True:
            with self._lock:
                worker = self._idle.pop()[1] if self._idle else None
            if worker is None:
                task.starting()
                return _Worker(self._module)
            if worker.process.poll() is None:
                return worker
            worker.close()

    def _put(self, worker: _Worker | None) -> None:
        if worker is not None:
            with self._lock:
                self._idle.append((time.monotonic(), worker))


class _Worker:
    """A process and the way to it."""

    def __init__(self, module: str) -> None:
        self.connection, other = Pipe()
        with other:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "humanoid_ros.node.process_workers", str(other.fileno()), module],
                pass_fds=(other.fileno(),),
                # Solvers here are small: threads of the linear algebra only get into each other's way.
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
            )

    def run(self, task: Task) -> Any:
        """Return the result of a task.

        Raises:
            HumanoidError: the task refuses what it was given.
            WorkerError: anything else went wrong.
        """
        try:
            self.connection.send((task.function, task.arguments))
            while True:
                kind, content = self.connection.recv()
                if kind == NEWS:
                    task.news(content)
                elif kind == RESULT:
                    return content
                elif kind == REFUSED:
                    assert isinstance(content, HumanoidError)
                    raise content
                elif kind == FAILED:
                    message, trace = content
                    raise WorkerError(f"{message}\n{trace}")
                else:
                    assert kind == READY
        except (EOFError, OSError):
            code = self.process.wait()
            raise WorkerEndedError(f"The process that worked on it ended with code {code}. Ask again.") from None

    def close(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()
        self.connection.close()
