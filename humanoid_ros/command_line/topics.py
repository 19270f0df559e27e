# SPDX-License-Identifier: Apache-2.0
"""``topic``: list, info, type, echo, hz, pub."""

from __future__ import annotations

import argparse
import statistics
import time
from collections import deque
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from humanoid_model.errors import InputError
from humanoid_ros.command_line.interfaces import LONGEST, filled, interface_type, shown
from humanoid_ros.command_line.session import PATIENCE, Session, add_verb, print_names
from humanoid_ros.node.qos import quality_to_hear

RELIABILITIES = {"reliable": ReliabilityPolicy.RELIABLE, "best_effort": ReliabilityPolicy.BEST_EFFORT}
DURABILITIES = {"volatile": DurabilityPolicy.VOLATILE, "transient_local": DurabilityPolicy.TRANSIENT_LOCAL}
DEPTH = 10
"""Messages that wait to be shown or sent."""
REPORT = 1.0
"""Time between two rates that are told [s]."""


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "list", list_topics, "names of topics")
    own.add_argument("-t", "--show-types", action="store_true", help="with their types")
    own.add_argument("--include-hidden-topics", action="store_true", help="also those of actions")

    own = add_verb(verbs, "info", tell, "who publishes and hears a topic")
    own.add_argument("topic")
    own.add_argument("-v", "--verbose", action="store_true", help="names of nodes, quality of service")

    own = add_verb(verbs, "type", tell_type, "type of a topic")
    own.add_argument("topic")

    own = add_verb(verbs, "echo", echo, "show messages as they come")
    own.add_argument("topic")
    own.add_argument("type", nargs="?", help="of its messages; found by itself where somebody publishes")
    own.add_argument("--once", action="store_true", help="end after one message")
    own.add_argument("--timeout", type=float, metavar="SECONDS", help="end when so long no message has come")
    own.add_argument("--field", help="show this field only: pose.position")
    own.add_argument("-f", "--full-length", action="store_true", help="all of long lists and texts")
    own.add_argument("--no-arr", action="store_true", help="no lists")
    _add_quality(own)

    own = add_verb(verbs, "hz", tell_rate, "how often messages come")
    own.add_argument("topic")
    own.add_argument("-w", "--window", type=int, default=10000, metavar="COUNT", help="messages that count")
    _add_quality(own)

    own = add_verb(verbs, "pub", publish, "publish messages")
    own.add_argument("topic")
    own.add_argument("type", help="std_msgs/msg/String")
    own.add_argument("values", nargs="?", default="{}", help="fields in YAML: '{data: hello}'")
    own.add_argument("-r", "--rate", type=float, default=1.0, metavar="HZ", help="messages per second")
    own.add_argument("-1", "--once", action="store_const", const=1, dest="times", help="one message")
    own.add_argument("-t", "--times", type=int, metavar="COUNT", help="so many messages")
    own.add_argument(
        "-w", "--wait-matching-subscriptions", type=int, metavar="COUNT",
        help="listeners to wait for; 1 where messages are counted",
    )  # fmt: skip
    _add_quality(own)


def list_topics(asked: argparse.Namespace) -> None:
    """Print names of topics."""
    with Session(asked) as session:
        session.look_around()
        print_names(session.node.get_topic_names_and_types(), asked.show_types, asked.include_hidden_topics)


def tell(asked: argparse.Namespace) -> None:
    """Print who is at a topic."""
    with Session(asked) as session:
        topic, kind = _found(session, asked.topic)
        session.look_around()
        publishers = session.node.get_publishers_info_by_topic(topic)
        listeners = session.node.get_subscriptions_info_by_topic(topic)
        print(f"Type: {kind}")
        for what, ends in (("Publisher", publishers), ("Subscription", listeners)):
            print(f"{what} count: {len(ends)}")
            for end in ends if asked.verbose else ():
                quality = end.qos_profile
                print(f"\nNode name: {end.node_name}\nNode namespace: {end.node_namespace}")
                print(f"Topic type: {end.topic_type}\nEndpoint type: {end.endpoint_type.name}")
                print(
                    f"QoS profile:\n  Reliability: {quality.reliability.name}\n  Durability: {quality.durability.name}"
                )


def tell_type(asked: argparse.Namespace) -> None:
    """Print the type of a topic."""
    with Session(asked) as session:
        print(_found(session, asked.topic)[1])


def echo(asked: argparse.Namespace) -> int:
    """Print messages."""
    with Session(asked) as session:
        last = [time.monotonic()]
        got: list[Any] = []

        def show(message: Any) -> None:
            if asked.once and got:
                return
            got.append(message)
            last[0] = time.monotonic()
            longest = None if asked.full_length else LONGEST
            print(shown(message, longest, not asked.no_arr, asked.field), end="---\n", flush=True)

        _listen(session, asked, asked.type, show)
        while not (asked.once and got):
            session.spin()
            if asked.timeout is not None and time.monotonic() > last[0] + asked.timeout:
                raise InputError(f"no message came in {asked.timeout:g} s", element=asked.topic)
    return 0


def tell_rate(asked: argparse.Namespace) -> None:
    """Print how often messages come, each second."""
    with Session(asked) as session:
        times: deque[float] = deque(maxlen=asked.window)
        _listen(session, asked, None, lambda _: times.append(time.monotonic()), raw=True)
        told, newest = time.monotonic(), 0.0
        while True:
            session.spin()
            if (now := time.monotonic()) < told + REPORT:
                continue
            told = now
            spans = [after - before for before, after in zip(times, list(times)[1:], strict=False)]
            if not spans or newest == times[-1]:
                print("no new messages", flush=True)
            else:
                print(f"average rate: {len(spans) / sum(spans):.3f}")
                spread = statistics.pstdev(spans)
                print(
                    f"\tmin: {min(spans):.4f}s max: {max(spans):.4f}s std dev: {spread:.5f}s window: {len(times)}",
                    flush=True,
                )
            newest = times[-1] if times else 0.0


def publish(asked: argparse.Namespace) -> None:
    """Publish messages."""
    if not asked.rate > 0.0:
        raise InputError(f"is {asked.rate:g}", element="--rate", remedy="Give a number above 0")
    kind = interface_type(asked.type, "msg")
    message = filled(kind(), asked.values)
    with Session(asked) as session:
        quality = QoSProfile(
            depth=DEPTH,
            reliability=RELIABILITIES[asked.qos_reliability or "reliable"],
            durability=DURABILITIES[asked.qos_durability or "transient_local"],
        )
        publisher = session.node.create_publisher(kind, f"/{asked.topic.lstrip('/')}", quality)
        listeners = asked.wait_matching_subscriptions
        if listeners is None:
            listeners = 0 if asked.times is None else 1
        patience = PATIENCE if asked.spin_time is None else asked.spin_time
        if not session.until(lambda: publisher.get_subscription_count() >= listeners, patience):
            raise InputError(
                f"{publisher.get_subscription_count()} listeners came in {patience:g} s instead of {listeners}",
                element=asked.topic,
                remedy="Look at its name and type with 'topic list -t', or publish to nobody with -w 0",
            )
        count, begin = 0, time.monotonic()
        while asked.times is None or count < asked.times:
            count += 1
            print(f"publishing #{count}: {asked.values}", flush=True)
            publisher.publish(message)
            due = begin + count / asked.rate
            while (asked.times is None or count < asked.times) and (left := due - time.monotonic()) > 0.0:
                session.spin(left)
        # What is on its way would go with the publisher.
        session.until(lambda: publisher.wait_for_all_acked(), PATIENCE)


def _add_quality(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--qos-reliability", choices=RELIABILITIES, help="which fits the others by itself")
    parser.add_argument("--qos-durability", choices=DURABILITIES, help="likewise")


def _found(session: Session, name: str) -> tuple[str, str]:
    return session.find_typed("topic", name, session.node.get_topic_names_and_types)


def _listen(session: Session, asked: argparse.Namespace, type_name: str | None, hear: Any, raw: bool = False) -> None:
    """Hear a topic, as soon as somebody publishes it, with what its publishers offer unless asked otherwise."""
    if type_name is None:
        topic, type_name = _found(session, asked.topic)
    else:
        topic = f"/{asked.topic.lstrip('/')}"
    kind = interface_type(type_name, "msg")
    found = session.until(lambda: session.node.get_publishers_info_by_topic(topic), getattr(asked, "timeout", None))
    quality = quality_to_hear([own.qos_profile for own in found], DEPTH)
    if asked.qos_reliability:
        quality.reliability = RELIABILITIES[asked.qos_reliability]
    if asked.qos_durability:
        quality.durability = DURABILITIES[asked.qos_durability]
    session.node.create_subscription(kind, topic, hear, quality, raw=raw)
