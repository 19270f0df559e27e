# SPDX-License-Identifier: Apache-2.0
"""``service``: list, type, call."""

from __future__ import annotations

import argparse

from humanoid_model.errors import InputError
from humanoid_ros.command_line.interfaces import filled, interface_name, interface_type, shown
from humanoid_ros.command_line.session import Session, add_verb, print_names

ANSWER = 120.0
"""Time for an answer unless another one is asked for [s]."""


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "list", list_services, "names of services")
    own.add_argument("-t", "--show-types", action="store_true", help="with their types")
    own.add_argument("--include-hidden-services", action="store_true", help="also those of actions")

    own = add_verb(verbs, "type", tell_type, "type of a service")
    own.add_argument("service")

    own = add_verb(verbs, "call", call, "ask a service")
    own.add_argument("service")
    own.add_argument("type", help="std_srvs/srv/SetBool")
    own.add_argument("values", nargs="?", default="{}", help="fields of the request in YAML: '{data: true}'")
    own.add_argument("--timeout", type=float, default=ANSWER, metavar="SECONDS", help="for the answer")


def list_services(asked: argparse.Namespace) -> None:
    """Print names of services."""
    with Session(asked) as session:
        session.look_around()
        print_names(session.node.get_service_names_and_types(), asked.show_types, asked.include_hidden_services)


def tell_type(asked: argparse.Namespace) -> None:
    """Print the type of a service."""
    with Session(asked) as session:
        print(_found(session, asked.service)[1])


def call(asked: argparse.Namespace) -> None:
    """Print the answer of a service."""
    kind = interface_type(asked.type, "srv")
    request = filled(kind.Request(), asked.values)
    with Session(asked) as session:
        service, own = _found(session, asked.service)
        if interface_name(asked.type, "srv") != own:
            raise InputError(f"is {asked.type}", element="type", remedy=f"{service} has {own}")
        print(f"requester: making request: {asked.values}\n\nresponse:", flush=True)
        print(shown(session.ask(kind, service, request, asked.timeout)), end="")


def _found(session: Session, name: str) -> tuple[str, str]:
    return session.find_typed("service", name, session.node.get_service_names_and_types)
