# SPDX-License-Identifier: Apache-2.0
"""A node of one's own that asks services and actions from any thread, and waits for the answers; a robot of a stack."""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
import traceback
from collections.abc import Callable, Collection
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import rclpy
from action_msgs.msg import GoalStatus
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from humanoid_model import Robot, load_robot
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_ros.node.clients import GuardedActionClient, RequestServer, service_is_ready, service_servers
from humanoid_ros.node.qos import SERVICE

T = TypeVar("T")
GLANCE = 0.02
"""Time between two looks at whether a wait should end [s]."""
_NUMBERS = itertools.count(1)
"""Clients of one process have different names in the graph."""
_FIELD = re.compile(r"([A-Za-z_][\w.]*(?:\[\d+\][\w.]*)*): (.+?)\.?", re.DOTALL)
"""A refusal: the field, and what is wrong with it."""
_ENDED = "The node that offers {} has ended, and the work with it. Ask again."


class StackError(HumanoidError):
    """The stack can't do what was asked: it isn't running, doesn't answer, or something came between."""


class Connection:
    """A node in a ROS context of its own, spun by a thread of its own.

    Attributes:
        node: for further subscriptions and publishers.
        patience: how long a node may take to be there, and to answer what takes no time [s].
    """

    def __init__(self, namespace: str, patience: float, check: Callable[[], None]) -> None:
        """Join the graph.

        Args:
            namespace: of the stack's nodes.
            patience: see the attribute.
            check: called again and again while something is waited for; raises what should end the wait.
        """
        self.patience = patience
        self._check = check
        self._context = rclpy.Context()
        # Ctrl-C is the script's.
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self.node: Node = rclpy.create_node(
            f"humanoid_stack_client_{os.getpid()}_{next(_NUMBERS)}", namespace=namespace, context=self._context
        )
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._services: dict[str, Client] = {}
        self._actions: dict[str, GuardedActionClient] = {}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._spin, name="humanoid stack client", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Leave the graph; a second time does nothing."""
        if self._closed.is_set():
            return
        self._executor.create_task(self._closed.set)
        while self._thread.is_alive():
            self._executor.wake()
            self._thread.join(GLANCE)
        self._executor.shutdown()
        for action in self._actions.values():
            action.destroy()  # it would keep its node in the graph until it is collected as garbage
        self.node.destroy_node()
        self._context.try_shutdown()

    def check_open(self) -> None:
        """Raise a StackError once the connection is closed."""
        if self._closed.is_set():
            raise StackError("The client is closed. Make another one.")

    def wait(self, done: Callable[[], T], what: str, timeout: float | None) -> T:
        """Return the value of a condition as soon as it is true.

        Args:
            done: the condition, looked at again and again.
            what: is waited for, for the error.
            timeout: longest wait [s]; None waits for ever.

        Raises:
            StackError: it didn't become true in time, or the connection is closed.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            self.check_open()
            if value := done():
                return value
            self._check()
            if end is not None and time.monotonic() > end:
                raise StackError(f"Waited {timeout:g} s in vain for {what}. Is the stack running?")
            time.sleep(GLANCE)

    def call(self, kind: Any, name: str, request: Any, timeout: float | None = None) -> Any:
        """Return the answer of a service.

        Args:
            kind: type of the service.
            name: of it.
            request: to send.
            timeout: longest wait for the answer [s]; None takes the patience.

        Raises:
            InputError: the request was refused for a field, which it names.
            StackError: nobody offers the service, or answers in time, or it can't be done now.
        """
        self.check_open()
        if name not in self._services:
            self._services[name] = self.node.create_client(kind, name, qos_profile=SERVICE)
        client = self._services[name]
        self.wait(partial(service_is_ready, self.node, client), f"the service {client.srv_name}", self.patience)
        taker = RequestServer(partial(service_servers, self.node, client))
        answered = self._finished(client.call_async(request))
        waiting = self.patience if timeout is None else timeout
        self.wait(lambda: answered.is_set() or taker.gone, f"an answer of {client.srv_name}", waiting)
        if not answered.is_set():
            raise StackError(_ENDED.format(client.srv_name))
        return answered.value

    def start(
        self,
        kind: Any,
        name: str,
        goal: Any,
        read: Callable[[int, Any], T],
        news: Callable[[Any], Progress],
    ) -> Task[T]:
        """Begin an action.

        Args:
            kind: type of the action.
            name: of it.
            goal: to send.
            read: makes the result of the goal's status and its result message.
            news: makes progress of a feedback message.

        Raises:
            StackError: nobody offers the action, or takes the goal.
        """
        self.check_open()
        if name not in self._actions:
            self._actions[name] = GuardedActionClient(self.node, kind, name)
        client = self._actions[name]
        self.wait(client.server_is_ready, f"the action {name}", self.patience)
        task = Task(self, name, RequestServer(client.servers), read, news)
        accepted = self._finished(client.send_goal_async(goal, lambda message: task.on_feedback(message.feedback)))
        self.wait(lambda: accepted.is_set() or task.done, f"an answer of the action {name}", self.patience)
        if not accepted.is_set():
            raise StackError(_ENDED.format(name))
        if not accepted.value.accepted:
            raise StackError(f"The action {name} takes no goal now.")
        task.begin(accepted.value, self._finished(accepted.value.get_result_async()))
        return task

    def _finished(self, future: Future) -> Finished:
        finished = Finished()
        future.add_done_callback(finished.set)
        return finished

    def _spin(self) -> None:
        while not self._closed.is_set():
            try:
                self._executor.spin_once()
            except Exception:
                self.node.get_logger().error(traceback.format_exc())


class Finished:
    """Whether a future is done, and what came of it."""

    def __init__(self) -> None:
        self._future: Future | None = None

    def set(self, future: Future) -> None:
        """Take note of the future that is done."""
        self._future = future

    def is_set(self) -> bool:
        """Return whether it is done."""
        return self._future is not None

    @property
    def value(self) -> Any:
        """What it brought."""
        assert self._future is not None
        return self._future.result()


class Task(Generic[T]):
    """Long work that is under way.

    Attributes:
        feedback: the newest feedback message, None before the first one.
    """

    def __init__(
        self,
        connection: Connection,
        name: str,
        taker: RequestServer,
        read: Callable[[int, Any], T],
        news: Callable[[Any], Progress],
    ) -> None:
        """Begin; see :meth:`Connection.start`."""
        self.feedback: Any = None
        self._connection = connection
        self._name = name
        self._taker = taker
        self._read = read
        self._news = news
        self._untold: SimpleQueue[Any] = SimpleQueue()
        self._handle: Any = None
        self._finished = Finished()

    @property
    def done(self) -> bool:
        """Whether it has ended, or its node has."""
        return self._finished.is_set() or self._taker.gone

    @property
    def goal_id(self) -> Any:
        """Id of the goal, as a message."""
        return self._handle.goal_id

    def cancel(self) -> None:
        """Ask for its end; :meth:`result` tells when it has come."""
        if self._handle is not None and not self.done:
            self._handle.cancel_goal_async()

    def result(self, timeout: float | None = None, progress: ProgressCallback | None = None) -> T:
        """Wait for the end. Ctrl-C, and an error in the callback, cancel the task and go on from here.

        Args:
            timeout: longest wait [s], after which the task is cancelled; None waits for ever.
            progress: told all news since the task began, in this thread; True cancels the task.

        Raises:
            InputError: the goal was refused for a field, which it names.
            StackError: it took too long, or the stack is gone.
        """

        def ended() -> bool:
            done = self.done  # news that came before the end is told before it
            while progress is not None and not self._untold.empty():
                if progress(self._news(self._untold.get())):
                    self.cancel()
            return done

        try:
            self._connection.wait(ended, f"the end of {self._name}", timeout)
        except BaseException:
            self.cancel()
            raise
        if not self._finished.is_set():
            raise StackError(_ENDED.format(self._name))
        return self._read(self._finished.value.status, self._finished.value.result)

    def begin(self, handle: Any, finished: Finished) -> None:
        """Take note of the accepted goal."""
        self._handle, self._finished = handle, finished

    def on_feedback(self, feedback: Any) -> None:
        """Take note of news."""
        self.feedback = feedback
        self._untold.put(feedback)


def refused(message: str) -> InputError | StackError:
    """Return the error that a refusal's message is: of an input where it begins with a field."""
    match = _FIELD.fullmatch(message)
    if match is None:
        return StackError(message)
    return InputError(match[2], element=match[1])


def checked(answer: Any) -> Any:
    """Return an answer whose request was served.

    Raises:
        InputError: it was refused for a field, which it names.
        StackError: it can't be served now.
    """
    if not answer.success:
        raise refused(answer.message)
    return answer


def succeeded(status: int) -> bool:
    """Return whether a goal's status says that it was reached."""
    return status == GoalStatus.STATUS_SUCCEEDED


LONG = 600.0
"""Longest wait for an answer that is computed, or for a scene [s]."""


def result_reader(refusals: Collection[int]) -> Callable[[int, Any], Any]:
    """Return what reads an action's result, and raises an InputError where its code is one of a refused field."""

    def read(status: int, result: Any) -> Any:
        if not succeeded(status) and result.code in refusals:
            error = refused(result.message)
            if isinstance(error, InputError):
                raise error
        return result

    return read


def path_progress(stage: str) -> Callable[[Any], Progress]:
    """Return what makes progress of feedback that has the time on a path, and its duration."""

    def read(feedback: Any) -> Progress:
        done = feedback.path_time / feedback.duration if feedback.duration > 0.0 else 1.0
        return Progress(stage, min(max(done, 0.0), 1.0), result=feedback)

    return read


class Member:
    """A robot of a stack, and the way to its nodes."""

    def __init__(
        self,
        robot: str = "hrp2",
        *,
        name: str = "",
        namespace: str = "",
        patience: float = 20.0,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        """Join the graph; whether the stack is there is seen by the first request.

        Args:
            robot: that is simulated, planned for and commanded: a name, or the path of a URDF or of its YAML.
            name: of it in the scene; empty takes its own.
            namespace: of the stack's nodes.
            patience: how long a node may take to be there, and to answer what takes no time [s].
            check: called again and again while something is waited for; raises what should end the wait.
        """
        self._wanted = robot
        self._name = name or self.robot.name
        self._connection = Connection(namespace, patience, check)

    @property
    def node(self) -> Node:
        """The node behind it, for topics of one's own; callbacks run in the client's thread."""
        return self._connection.node

    @cached_property
    def robot(self) -> Robot:
        """The robot, without shapes."""
        return load_robot(self._wanted, geometry=False)

    @property
    def _source(self) -> str:
        """The robot as nodes, whose working folder is another one, read it."""
        path = Path(self._wanted)
        return str(path.resolve()) if path.suffix and "://" not in self._wanted else self._wanted

    def _call(self, kind: Any, name: str, message: Any, timeout: float | None = None) -> Any:
        return checked(self._connection.call(kind, name, message, timeout))

    def _heard(self, value: Callable[[], Any], what: str) -> Any:
        return self._connection.wait(value, what, self._connection.patience)
