# SPDX-License-Identifier: Apache-2.0
"""An answer that the middleware drops is sent again; quality of service is a parameter."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

import rclpy
from fixtures.ros_domain import claim_domain
from rclpy.node import Node
from rclpy.service import Service
from std_msgs.msg import String
from std_srvs.srv import Trigger

from humanoid_model.errors import InputError
from humanoid_ros.node.answering_node import ATTEMPTS, LOST, AnsweringNode, send_until_heard
from humanoid_ros.node.qos import LATCHED, SENSOR


class Middleware:
    """Drops the first answers it is given, as rclpy tells of it."""

    def __init__(self, dropped: int) -> None:
        self.dropped = dropped
        self.sent = 0

    def __call__(self) -> None:
        self.sent += 1
        if self.sent <= self.dropped:
            warnings.warn(f"{LOST}: client will not receive response", RuntimeWarning, stacklevel=2)


@pytest.mark.parametrize("dropped", [0, 1, 7])
def test_an_answer_is_sent_until_it_is_heard(dropped: int) -> None:
    middleware = Middleware(dropped)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        send_until_heard(middleware)
    assert middleware.sent == dropped + 1


def test_in_the_end_the_loss_is_told() -> None:
    middleware = Middleware(1000)
    with pytest.warns(RuntimeWarning, match="client will not receive response"):
        send_until_heard(middleware)
    assert middleware.sent == ATTEMPTS


def test_other_warnings_are_passed_on_and_nothing_is_sent_twice() -> None:
    sent = []

    def send() -> None:
        sent.append(1)
        warnings.warn("the answer is long", UserWarning, stacklevel=2)

    with pytest.warns(UserWarning, match="the answer is long"):
        send_until_heard(send)
    assert len(sent) == 1


def test_a_client_gets_its_answer_although_the_first_ones_were_dropped(
    answering_and_asking: tuple[AnsweringNode, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, client = answering_and_asking
    middleware = Middleware(2)
    send = Service.send_response

    def send_response(service: Any, response: Any, header: Any) -> None:
        middleware()
        if middleware.sent > middleware.dropped:
            send(service, response, header)

    monkeypatch.setattr(Service, "send_response", send_response)

    def answer(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = True
        return response

    server.create_service(Trigger, "greet", answer)
    greet = client.create_client(Trigger, "greet")
    assert greet.wait_for_service(60.0)
    done = threading.Event()
    future = greet.call_async(Trigger.Request())
    future.add_done_callback(lambda _: done.set())
    assert done.wait(60.0)
    assert future.result().success
    assert middleware.sent == 3


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("simulator", "SimulatorNode"),
        ("model_generator", "ModelGeneratorNode"),
        ("contact_planner", "ContactPlannerNode"),
        ("gait_generator", "GaitGeneratorNode"),
        ("viewer", "ViewerNode"),
    ],
)
def test_every_node_of_the_stack_is_one(folder: str, name: str) -> None:
    module = import_module(f"humanoid_ros.{folder}.{folder}_node")
    assert issubclass(getattr(module, name), AnsweringNode)


@pytest.fixture
def overridden() -> Iterator[Callable[..., AnsweringNode]]:
    """Makes a node with parameters; all are destroyed."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=claim_domain())
    nodes = []

    def make(*words: str) -> AnsweringNode:
        arguments = ["--ros-args", *(part for word in words for part in ("-p", word))]
        nodes.append(AnsweringNode("overridden", context=context, cli_args=arguments))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()
    context.try_shutdown()


def test_quality_of_service_is_a_parameter(overridden: Callable[..., AnsweringNode]) -> None:
    node = overridden(
        *("qos_overrides./imu.publisher.reliability:=reliable", "qos_overrides./imu.publisher.depth:=3"),
        *("qos_overrides./imu.subscription.history:=keep_all", "use_sim_time:=true"),
    )
    before = SENSOR.reliability, SENSOR.depth, SENSOR.history
    for _ in range(2):  # as when a scene is replaced
        topic = node.create_publisher(String, "imu", SENSOR)
        (told,) = node.get_publishers_info_by_topic("/imu")
        assert told.qos_profile.reliability.name == "RELIABLE"
        node.destroy_publisher(topic)
    node.create_subscription(String, "imu", print, SENSOR)
    (told,) = node.get_subscriptions_info_by_topic("/imu")
    assert told.qos_profile.reliability.name == "BEST_EFFORT"
    assert node.get_parameter("qos_overrides./imu.publisher.depth").value == 3
    assert node.get_parameter("qos_overrides./imu.subscription.history").value == "keep_all"
    assert (SENSOR.reliability, SENSOR.depth, SENSOR.history) == before


def test_what_is_kept_for_late_listeners_stays_as_it_is(overridden: Callable[..., AnsweringNode]) -> None:
    node = overridden("qos_overrides./plan.publisher.reliability:=best_effort")
    node.create_publisher(String, "plan", LATCHED)
    (told,) = node.get_publishers_info_by_topic("/plan")
    assert told.qos_profile.reliability.name == "RELIABLE"


def test_a_word_that_ros_doesnt_know_is_refused(overridden: Callable[..., AnsweringNode]) -> None:
    node = overridden("qos_overrides./imu.publisher.reliability:=sometimes")
    with pytest.raises(InputError, match=r"qos_overrides of imu.*sometimes.*best_effort"):
        node.create_publisher(String, "imu", SENSOR)
