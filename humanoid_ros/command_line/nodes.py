# SPDX-License-Identifier: Apache-2.0
"""``node``: list, info."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from rclpy.action import get_action_client_names_and_types_by_node, get_action_server_names_and_types_by_node
from rclpy.topic_or_service_is_hidden import topic_or_service_is_hidden

from humanoid_ros.command_line.session import Session, add_verb


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "list", list_nodes, "names of nodes")
    own.add_argument("-a", "--all", action="store_true", help="also hidden ones")

    own = add_verb(verbs, "info", tell, "what a node says, hears, offers and asks for")
    own.add_argument("node")


def list_nodes(asked: argparse.Namespace) -> None:
    """Print names of nodes."""
    with Session(asked) as session:
        session.look_around()
        print(*session.node_names(hidden=asked.all), sep="\n")


def tell(asked: argparse.Namespace) -> None:
    """Print what a node has."""
    with Session(asked) as session:
        name = session.find("node", asked.node, partial(session.node_names, True))
        session.look_around()
        space, _, own = name.rpartition("/")
        node = session.node
        parts: dict[str, list[tuple[str, list[str]]]] = {
            "Subscribers": node.get_subscriber_names_and_types_by_node(own, space or "/"),
            "Publishers": node.get_publisher_names_and_types_by_node(own, space or "/"),
            "Service Servers": node.get_service_names_and_types_by_node(own, space or "/"),
            "Service Clients": node.get_client_names_and_types_by_node(own, space or "/"),
            "Action Servers": get_action_server_names_and_types_by_node(node, own, space or "/"),
            "Action Clients": get_action_client_names_and_types_by_node(node, own, space or "/"),
        }
        print(name)
        for title, found in parts.items():
            print(f"  {title}:")
            _print(found)


def _print(found: Any) -> None:
    for name, kinds in sorted(found):
        if not topic_or_service_is_hidden(name):
            print(f"    {name}: {', '.join(kinds)}")
