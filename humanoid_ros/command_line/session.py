# SPDX-License-Identifier: Apache-2.0
"""A command's own node, and how it finds what it is asked for by the names that a person types."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from typing import Any, TypeVar

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.node.clients import RequestServer, service_servers
from humanoid_ros.node.run import stay_on_this_machine

SHOWN = 6
"""Names that are told in place of one that isn't there."""


def check_typed(name: str, names: Iterable[str], field: str | None, what: str) -> str:
    """Return a name that exists.

    Args:
        name: the name.
        names: that exist.
        field: where it is looked for, None: everywhere.
        what: is named, for the message: "topic".

    Raises:
        InputError: it doesn't.
    """
    known = set(names)
    if name not in known:
        nearest = sorted(known, key=lambda own: (-SequenceMatcher(None, own, name).ratio(), own))
        more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
        remedy = f"Known are: {', '.join(nearest[:SHOWN])}{more}" if known else "There is none at all"
        raise InputError(f"there is no {what} '{name}'", element=field, remedy=remedy)
    return name


T = TypeVar("T")
GLANCE = 0.05
"""Longest time between two looks at what is waited for [s]."""
QUIET = 0.7
"""Everything is found when nothing has been found for so long [s]."""
LOOK = 5.0
"""Time in which nodes are looked for at most, also where they come and go [s]."""
PATIENCE = 10.0
"""Time in which something that is named has to be found [s]."""


class Session:
    """A hidden node, spun while something is waited for. A context manager, which ends ROS."""

    def __init__(self, asked: argparse.Namespace) -> None:
        """Begin.

        Args:
            asked: options of the command line: ``spin_time``, how long to look for others [s].
        """
        self._look: float | None = asked.spin_time
        stay_on_this_machine()
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self.node = rclpy.create_node(
            f"_ros_command_{os.getpid()}", start_parameter_services=False, enable_rosout=False
        )
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown()

    # Waiting ----------------------------------------------------------------------------------------------------------

    def spin(self, seconds: float = GLANCE) -> None:
        """Take what comes in, once, waiting for it so long [s]."""
        self._executor.spin_once(timeout_sec=seconds)

    def until(self, found: Callable[[], T], patience: float | None) -> T:
        """Return what is found as soon as it isn't empty, or what it is after so long [s]; None: however long."""
        end = None if patience is None else time.monotonic() + patience
        while not (own := found()) and (end is None or time.monotonic() < end):
            self.spin(GLANCE if end is None else max(0.0, min(GLANCE, end - time.monotonic())))
        return own

    def look_around(self) -> None:
        """Find all nodes and what they have, until nothing more comes."""
        last: object = None
        begin = changed = time.monotonic()
        while (now := time.monotonic()) < begin + (LOOK if self._look is None else self._look):
            seen = self._seen()
            if seen != last:
                last, changed = seen, now
            if self._look is None and now > changed + QUIET:
                return
            self.spin()

    def _seen(self) -> object:
        return (
            sorted(self.node.get_node_names_and_namespaces()),
            sorted(name for name, _ in self.node.get_topic_names_and_types()),
            sorted(name for name, _ in self.node.get_service_names_and_types()),
        )

    # Finding ----------------------------------------------------------------------------------------------------------

    def find(self, what: str, name: str, known: Callable[[], Iterable[str]]) -> str:
        """Return the whole name of something, as soon as somebody has it.

        Args:
            what: it is, for the message: "topic".
            name: of it; one without a slash is one of the root namespace.
            known: tells the names that there are now.

        Raises:
            InputError: nobody has it.
        """
        name = f"/{name.lstrip('/')}"
        patience = PATIENCE if self._look is None else self._look
        if not self.until(lambda: name in known(), patience):
            check_typed(name, known(), None, what)
        return name

    def find_typed(
        self, what: str, name: str, known: Callable[[], Iterable[tuple[str, list[str]]]]
    ) -> tuple[str, str]:
        """Return the whole name of something and its type, see :meth:`find`; what is known are names and types."""
        found = self.find(what, name, lambda: dict(known()))
        return found, dict(known())[found][0]

    def node_names(self, hidden: bool = False) -> list[str]:
        """Return the whole names of all nodes; those that begin with an underscore are hidden."""
        found = self.node.get_node_names_and_namespaces()
        return sorted(f"{space.rstrip('/')}/{name}" for name, space in found if hidden or not name.startswith("_"))

    def ask(self, kind: Any, name: str, request: Any, timeout: float = PATIENCE) -> Any:
        """Return the answer of a service that has been found.

        Args:
            kind: of the service.
            name: of it.
            request: what is asked.
            timeout: for the answer [s].

        Raises:
            HumanoidError: there is none.
        """
        client = self.node.create_client(kind, name)
        if not self.until(client.service_is_ready, PATIENCE):
            raise InputError(f"{name} isn't a {kind.__name__} here", element="service", remedy="Give its own type")
        server = RequestServer(lambda: service_servers(self.node, client))
        future = client.call_async(request)
        self.until(lambda: future.done() or server.gone, timeout)
        self.node.destroy_client(client)
        if not future.done():
            why = "its node has ended" if server.gone else f"no answer in {timeout:g} s"
            raise HumanoidError(f"{name}: {why}.")
        return future.result()


def print_names(found: Iterable[tuple[str, list[str]]], types: bool, hidden: bool = True) -> None:
    """Print names, with their types or without, with hidden ones or without."""
    for name, kinds in sorted(found):
        if hidden or not topic_or_service_is_hidden(name):
            print(f"{name} [{', '.join(kinds)}]" if types else name)


def add_verb(
    verbs: Any, name: str, do: Callable[[argparse.Namespace], int | None], purpose: str
) -> argparse.ArgumentParser:
    """Return the parser of a verb, for its arguments.

    Args:
        verbs: of a group, as argparse has them.
        name: the word.
        do: does it, and returns the exit code if there is one.
        purpose: what it is for.
    """
    parser: argparse.ArgumentParser = verbs.add_parser(name, help=purpose, description=purpose)
    parser.add_argument("--spin-time", type=float, metavar="SECONDS", help="how long to look for others")
    parser.set_defaults(do=do)
    return parser
