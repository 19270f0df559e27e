# SPDX-License-Identifier: Apache-2.0
"""Tasks in processes of their own, which a cancel ends wherever they are.

Threads would do for solvers that let Python go on, but a thread can't be stopped in the middle of a solve, and where
threads use IPOPT they take turns. A process that was ended is replaced; those that stay keep what they have compiled.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from multiprocessing import Pipe
from typing import Any

from humanoid_model.errors import HumanoidError
from humanoid_ros.node.worker_process import FAILED, NEWS, READY, REFUSED, RESULT


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
        outcome: result, exception, or cancelled.
    """

    function: str
    arguments: tuple[Any, ...]
    news: Callable[[Any], None]
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

    def end(self, result: Any, error: Exception | None) -> None:
        """Note what came of it; an error of one that was cancelled is that it was."""
        with self._lock:
            self._process = None
            if error is not None and self._cancelled:
                error = CancelledError()
            if error is None:
                self.outcome.set_result(result)
            else:
                self.outcome.set_exception(error)


class ProcessWorkers:
    """Processes that do tasks.

    Args:
        count: of processes.
        module: that they import when they start, so that tasks find it in memory.
    """

    def __init__(self, count: int, module: str) -> None:
        self._module = module
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._under_way: set[Task] = set()
        self._threads = [threading.Thread(target=self._work, name=f"worker {i}", daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    @property
    def busy(self) -> int:
        """Tasks that aren't done, those that wait included."""
        return len(self._under_way)

    def submit(self, function: str, arguments: tuple[Any, ...], news: Callable[[Any], None]) -> Task:
        """Have something done by the first process that is free.

        Args:
            function: "module:function".
            arguments: that can be pickled.
            news: takes what the function tells on its way, in a thread of the workers.
        """
        task = Task(function, arguments, news)
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

    def _forget(self, task: Task) -> None:
        with self._lock:
            self._under_way.discard(task)

    def _work(self) -> None:
        """One process, and another one whenever it has ended."""
        # Ctrl-C reaches all of a program's processes, but the node decides what becomes of its workers. They inherit
        # what this thread blocks, and so never see it, not even while their interpreter starts.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        worker: _Worker | None = None
        while not self._closing.is_set():
            if worker is None or worker.process.poll() is not None:
                if worker is not None:
                    worker.close()
                worker = _Worker(self._module)
            task = self._tasks.get()
            if task is not None:
                self._do(worker, task)
        if worker is not None:
            worker.close()
        while True:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                return
            if task is not None:
                task.cancel()

    def _do(self, worker: _Worker, task: Task) -> None:
        if not task.begin(worker.process):
            return
        try:
            result, error = worker.run(task), None
        except Exception as problem:
            result, error = None, problem
        task.end(result, error)


class _Worker:
    """A process and the way to it."""

    def __init__(self, module: str) -> None:
        self.connection, other = Pipe()
        with other:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "humanoid_ros.node.worker_process", str(other.fileno()), module],
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
