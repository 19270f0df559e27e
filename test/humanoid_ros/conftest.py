# SPDX-License-Identifier: Apache-2.0
"""A node as a process of its own, and a client that talks to it over DDS."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fixtures.ros_domain import claim_domain
from fixtures.ros_processes import start_program

# Places that tests name in requests, some of which aren't there or hold no files.
PLACES = (tempfile.gettempdir(), "/dev", "/no", "/proc", "/nowhere.yaml")
os.environ.setdefault("HUMANOID_STACK_FILES", os.pathsep.join(PLACES))


class Listener:
    """Messages of one topic, as they come."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.drop_waiting: Callable[[], None] = lambda: None
        self._news = threading.Condition()

    def __call__(self, message: Any) -> None:
        with self._news:
            self.messages.append(message)
            self._news.notify_all()

    @property
    def last(self) -> Any:
        return self.messages[-1]

    def heard(self, timeout: float) -> bool:
        """Whether there is a message, now or soon."""
        with self._news:
            return self._news.wait_for(lambda: bool(self.messages), timeout)

    def clear(self) -> None:
        self.messages.clear()

    def wait(self, condition: Callable[[Any], bool] = lambda _: True, timeout: float = 60.0) -> Any:
        """First message, of those that are there and those still to come, that fulfils a condition."""
        with self._news:
            done = 0
            end = time.monotonic() + timeout
            while True:
                for message in self.messages[done:]:
                    if condition(message):
                        return message
                done = len(self.messages)
                left = end - time.monotonic()
                assert left > 0.0, f"no such message among {done} in {timeout} s"
                self._news.wait(left)

    def wait_new(self, condition: Callable[[Any], bool] = lambda _: True, timeout: float = 60.0) -> Any:
        """First message from now on that fulfils a condition; one that has come and wasn't taken yet is old."""
        self.drop_waiting()
        self.clear()
        return self.wait(condition, timeout)


class Client:
    """A node that listens and asks, spun by a thread of its own.

    Attributes:
        process: The node's process.
        domain: ROS domain that both are in.
    """

    def __init__(self, process: subprocess.Popen[bytes], domain: int) -> None:
        import rclpy
        from rclpy.callback_groups import ReentrantCallbackGroup
        from rclpy.executors import SingleThreadedExecutor

        self.process = process
        self.domain = domain
        self.context = rclpy.Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = rclpy.create_node("test_client", context=self.context)
        self._group = ReentrantCallbackGroup()
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._clients: dict[str, Any] = {}
        self._heard: list[Any] = []
        self._stop = False
        CLIENTS.append(self)
        self._thread = threading.Thread(target=self._spin)
        self._thread.start()

    def _spin(self) -> None:
        while not self._stop:
            self._executor.spin_once(timeout_sec=0.1)

    def close(self) -> None:
        CLIENTS.remove(self)
        self._stop = True
        self._thread.join()
        self._executor.shutdown()
        self.node.destroy_node()
        self.context.try_shutdown()

    def listen(self, kind: type, topic: str, qos: Any = 100) -> Listener:
        """A listener that whoever publishes on the topic now has found."""
        listener = Listener()
        subscription = self.node.create_subscription(kind, topic, listener, qos, callback_group=self._group)
        self._heard.append(subscription)

        def take() -> None:
            while subscription.handle.take_message(subscription.msg_type, subscription.raw) is not None:
                pass

        listener.drop_waiting = lambda: self._spun(take)
        self._meet(self.node.get_publishers_info_by_topic, subscription.topic_name)
        return listener

    def _spun(self, task: Callable[[], None]) -> None:
        """Do something in the spinning thread: it must not find that taken or destroyed which it is about to use."""
        self.result(self._executor.create_task(task), 60.0)

    def _meet(self, ends: Callable[[str], list[Any]], topic: str) -> None:
        """Wait until the other nodes at a topic have found what this one has.

        Each side finds the other in its own time. A node answers only whom it has found, and finds what a node has in
        the order in which that was made: so each is asked by a new client.
        """
        from rcl_interfaces.srv import GetParameters

        met = {"/test_client"}
        end = time.monotonic() + 60.0
        while strangers := {f"{found.node_namespace.rstrip('/')}/{found.node_name}" for found in ends(topic)} - met:
            name = strangers.pop()
            assert time.monotonic() < end, f"{name} doesn't answer"
            if "UNKNOWN" in name:  # not yet told by its process
                time.sleep(0.01)
                continue
            client = self.node.create_client(GetParameters, f"{name}/get_parameters", callback_group=self._group)
            done = threading.Event()
            if client.wait_for_service(1.0):
                client.call_async(GetParameters.Request()).add_done_callback(lambda _, done=done: done.set())
                if done.wait(5.0):
                    met.add(name)
            self._spun(lambda client=client: self.node.destroy_client(client))

    @property
    def listeners(self) -> int:
        """How many listeners there are."""
        return len(self._heard)

    def forget(self, kept: int) -> None:
        """Listen no more on behalf of any but the first so many listeners."""
        forgotten, self._heard = self._heard[kept:], self._heard[:kept]

        def destroy() -> None:
            for subscription in forgotten:
                self.node.destroy_subscription(subscription)

        if forgotten:
            # In the spinning thread: it must not find one destroyed whose message it is about to take.
            self._executor.create_task(destroy)

    def publisher(self, kind: type, topic: str, qos: Any = 10) -> Any:
        """A publisher that has found the node, and been found by it."""
        publisher = self.node.create_publisher(kind, topic, qos)
        wait_until(lambda: publisher.get_subscription_count() > 0, "nobody listens to " + topic)
        self._meet(self.node.get_subscriptions_info_by_topic, publisher.topic_name)
        return publisher

    def offered(self, topic: str) -> Any:
        """What is known of the one who publishes a topic, as soon as it is found."""
        name = self.node.resolve_topic_name(topic)
        wait_until(lambda: bool(self.node.get_publishers_info_by_topic(name)), f"nobody publishes {topic}")
        (found,) = self.node.get_publishers_info_by_topic(name)
        return found

    def call(self, kind: type, name: str, request: Any, timeout: float = 120.0) -> Any:
        """Answer of a service."""
        if name not in self._clients:
            self._clients[name] = self.node.create_client(kind, name, callback_group=self._group)
            assert self._clients[name].wait_for_service(timeout), name
        return self.result(self._clients[name].call_async(request), timeout)

    def action(self, kind: type, name: str) -> Any:
        from humanoid_ros.node.clients import GuardedActionClient

        key = f"action {name}"  # a service may have the same name
        if key not in self._clients:
            self._clients[key] = GuardedActionClient(self.node, kind, name, callback_group=self._group)
            assert self._clients[key].wait_for_server(60.0), name
            self._meet(self.node.get_publishers_info_by_topic, self.node.resolve_topic_name(f"{name}/_action/feedback"))
        return self._clients[key]

    @staticmethod
    def result(future: Any, timeout: float = 120.0) -> Any:
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        assert done.wait(timeout), f"no answer in {timeout} s"
        return future.result()


CLIENTS: list[Client] = []
"""All that are there."""


@pytest.fixture(autouse=True)
def _listen_no_longer_than_a_test() -> Iterator[None]:
    """Listeners of earlier tests would cost each later one the time that it takes to receive all that they hear."""
    before = {id(client): client.listeners for client in CLIENTS}
    yield
    for client in CLIENTS:
        client.forget(before.get(id(client), 0))


def wait_until(condition: Callable[[], bool], problem: str, timeout: float = 60.0) -> None:
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, problem
        time.sleep(0.01)


@contextmanager
def running_node(name: str, folder: Path, *arguments: str) -> Iterator[Client]:
    """A node in a ROS domain of its own; it has to end well after SIGINT."""
    domain = claim_domain()
    path = folder / "log"
    with path.open("wb") as log:
        process = start_program(name, domain, *arguments, log=log)
        client = Client(process, domain)
        try:
            yield client
        finally:
            client.close()
            process.send_signal(signal.SIGINT)
            code = process.wait(60.0)
    text = path.read_text(errors="replace")
    assert code == 0, text
    assert "Traceback" not in text, text


@pytest.fixture(scope="module")
def simulator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A running simulator; the module's ``SIMULATOR_ARGUMENTS`` are passed to it."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    arguments = getattr(request.module, "SIMULATOR_ARGUMENTS", ())
    with running_node("simulator", tmp_path_factory.mktemp("simulator"), *arguments) as client:
        yield client


@pytest.fixture(scope="module")
def controller(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A running controller; the module's ``CONTROLLER_ARGUMENTS`` are passed to it."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    arguments = getattr(request.module, "CONTROLLER_ARGUMENTS", ())
    with running_node("controller", tmp_path_factory.mktemp("controller"), *arguments) as client:
        yield client


@pytest.fixture(scope="module")
def model_generator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A running model generator."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    with running_node("model_generator", tmp_path_factory.mktemp("model_generator")) as client:
        yield client


@pytest.fixture(scope="module")
def contact_planner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A running contact planner."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    with running_node("contact_planner", tmp_path_factory.mktemp("contact_planner")) as client:
        yield client


@pytest.fixture(scope="module")
def gait_generator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A running gait generator."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    with running_node("gait_generator", tmp_path_factory.mktemp("gait_generator")) as client:
        yield client


@pytest.fixture(scope="module")
def kinematics(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A running kinematics node; the module's ``KINEMATICS_ARGUMENTS`` are passed to it."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    arguments = getattr(request.module, "KINEMATICS_ARGUMENTS", ())
    with running_node("kinematics", tmp_path_factory.mktemp("kinematics"), *arguments) as client:
        yield client


@pytest.fixture(scope="session")
def start_badly(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Sequence[str]], dict[str, tuple[int, str]]]:
    """Starts a program once with each of several parameters that it can't use, all at the same time.

    What comes back is, for each parameter, with which code the program ended by itself and what it had printed.
    """
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")

    def start(name: str, parameters: Sequence[str]) -> dict[str, tuple[int, str]]:
        domain, folder = claim_domain(), tmp_path_factory.mktemp("bad_starts")
        logs = {parameter: folder / f"{number}.log" for number, parameter in enumerate(parameters)}
        processes = {}
        try:
            for parameter, path in logs.items():
                with path.open("wb") as log:
                    processes[parameter] = start_program(name, domain, "-p", parameter, log=log)
            codes = {parameter: process.wait(120.0) for parameter, process in processes.items()}
        finally:
            for process in processes.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()
        return {parameter: (codes[parameter], path.read_text(errors="replace")) for parameter, path in logs.items()}

    return start


@pytest.fixture
def start_node(tmp_path: Path) -> Iterator[Callable[..., Client]]:
    """Starts further nodes, each in a domain of its own, which the test ends; what they print is in ``tmp_path``."""
    pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    clients = []

    def start(name: str, *arguments: str) -> Client:
        domain = claim_domain()
        with (tmp_path / f"{name}.log").open("wb") as log:
            clients.append(Client(start_program(name, domain, *arguments, log=log), domain))
        return clients[-1]

    yield start
    for client in clients:
        client.close()
        if client.process.poll() is None:
            client.process.kill()
            client.process.wait()


@pytest.fixture
def answering_and_asking() -> Iterator[tuple[Any, Any]]:
    """An `AnsweringNode` and a client's node in this process, spun by a thread."""
    rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")
    from rclpy.executors import SingleThreadedExecutor

    from humanoid_ros.node.answering_node import AnsweringNode

    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    executor = SingleThreadedExecutor(context=context)
    nodes = AnsweringNode("server", context=context), rclpy.create_node("client", context=context)
    for node in nodes:
        executor.add_node(node)
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin)
    thread.start()
    yield nodes
    stop.set()
    thread.join()
    executor.shutdown()
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()
