# SPDX-License-Identifier: Apache-2.0
"""``lifecycle``: nodes, get, list, set."""

from __future__ import annotations

import argparse
from typing import Any

from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState

from humanoid_ros.command_line.session import Session, add_verb, check_typed

CHANGE = 60.0
"""Time in which a node has to change its state [s]."""


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    add_verb(verbs, "nodes", list_nodes, "names of managed nodes")

    own = add_verb(verbs, "get", get, "a node's state")
    own.add_argument("node", nargs="?", help="all managed nodes where there is none")

    own = add_verb(verbs, "list", list_transitions, "what a node can be asked to do now")
    own.add_argument("node")

    own = add_verb(verbs, "set", change, "ask a node to change its state")
    own.add_argument("node")
    own.add_argument("transition", help="configure, activate, deactivate, cleanup, shutdown")


def list_nodes(asked: argparse.Namespace) -> None:
    """Print names of managed nodes."""
    with Session(asked) as session:
        session.look_around()
        print(*_managed(session), sep="\n")


def get(asked: argparse.Namespace) -> None:
    """Print states."""
    with Session(asked) as session:
        if not asked.node:
            session.look_around()
        for node in [_found(session, asked.node)] if asked.node else _managed(session):
            state = session.ask(GetState, f"{node}/get_state", GetState.Request()).current_state
            print(f"{'' if asked.node else f'{node}: '}{state.label} [{state.id}]")


def list_transitions(asked: argparse.Namespace) -> None:
    """Print transitions from the present state."""
    with Session(asked) as session:
        for own in _transitions(session, _found(session, asked.node)).values():
            print(f"- {own.transition.label} [{own.transition.id}]")
            print(f"\tStart: {own.start_state.label}\n\tGoal: {own.goal_state.label}")


def change(asked: argparse.Namespace) -> int:
    """Change a state; the node says in its log why not."""
    with Session(asked) as session:
        node = _found(session, asked.node)
        known = _transitions(session, node)
        name = check_typed(asked.transition, known, node, "transition now")
        request = ChangeState.Request(transition=known[name].transition)
        done = session.ask(ChangeState, f"{node}/change_state", request, CHANGE).success
    print("Transitioning successful" if done else f"Transitioning failed: see the log of {node}")
    return 0 if done else 1


def _managed(session: Session) -> list[str]:
    services = session.node.get_service_names_and_types()
    return sorted(name.removesuffix("/get_state") for name, kinds in services if "lifecycle_msgs/srv/GetState" in kinds)


def _found(session: Session, name: str) -> str:
    return session.find("managed node", name, lambda: _managed(session))


def _transitions(session: Session, node: str) -> dict[str, Any]:
    """Return the transitions from the present state by their names."""
    kind = GetAvailableTransitions
    answer = session.ask(kind, f"{node}/get_available_transitions", kind.Request())
    return {own.transition.label: own for own in answer.available_transitions}
