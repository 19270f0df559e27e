# SPDX-License-Identifier: Apache-2.0
"""``action``: list, info, send_goal."""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import get_action_names_and_types
from unique_identifier_msgs.msg import UUID

from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.command_line.interfaces import filled, interface_name, interface_type, shown
from humanoid_ros.command_line.session import PATIENCE, Session, add_verb, print_names
from humanoid_ros.node.clients import GuardedActionClient, RequestServer
from humanoid_ros.node.qos import SENSOR

STATUS = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
}
SIGN = 0.05
"""Time between two signs of life of a goal [s]."""


def add_verbs(parser: argparse.ArgumentParser) -> None:
    """Add the verbs of the group."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    own = add_verb(verbs, "list", list_actions, "names of actions")
    own.add_argument("-t", "--show-types", action="store_true", help="with their types")

    own = add_verb(verbs, "info", tell, "who has an action")
    own.add_argument("action")

    own = add_verb(verbs, "send_goal", send_goal, "send a goal, wait for its end; Ctrl-C cancels it")
    own.add_argument("action")
    own.add_argument("type", help="humanoid_stack/action/PlanContacts")
    own.add_argument("goal", help="its fields in YAML")
    own.add_argument("-f", "--feedback", action="store_true", help="show how far it is")


def list_actions(asked: argparse.Namespace) -> None:
    """Print names of actions."""
    with Session(asked) as session:
        session.look_around()
        print_names(get_action_names_and_types(session.node), asked.show_types)


def tell(asked: argparse.Namespace) -> None:
    """Print who has an action, and who asks for it."""
    with Session(asked) as session:
        action, kind = _found(session, asked.action)
        session.look_around()
        print(f"Action: {action}\nType: {kind}")
        # A server tells its goals' states, a client listens to them.
        status = f"{action}/_action/status"
        for what, ends in (
            ("clients", session.node.get_subscriptions_info_by_topic(status)),
            ("servers", session.node.get_publishers_info_by_topic(status)),
        ):
            print(f"Action {what}: {len(ends)}")
            for end in ends:
                print(f"    {end.node_namespace.rstrip('/')}/{end.node_name}")


def send_goal(asked: argparse.Namespace) -> int:
    """Print the result of a goal, and what comes before it."""
    kind = interface_type(asked.type, "action")
    goal = filled(kind.Goal(), asked.goal)
    with Session(asked) as session:
        action, own = _found(session, asked.action)
        if interface_name(asked.type, "action") != own:
            raise InputError(f"is {asked.type}", element="type", remedy=f"{action} has {own}")
        client = GuardedActionClient(session.node, kind, action)
        if not session.until(client.server_is_ready, PATIENCE):
            raise InputError("nobody offers it", element=action, remedy="Start its node")
        server = RequestServer(client.servers)
        print(f"Sending goal:\n{asked.goal}", flush=True)
        sent = client.send_goal_async(goal, feedback_callback=_show_feedback if asked.feedback else None)
        _wait(session, sent, server, PATIENCE)
        accepted = sent.result()
        if not accepted.accepted:
            print("Goal was rejected.")
            return 1
        print(f"Goal accepted with ID: {bytes(accepted.goal_id.uuid).hex()}", flush=True)
        result = accepted.get_result_async()
        tell_alive = _signs_of_life(session, action, accepted.goal_id)
        try:
            _wait(session, result, server, None, tell_alive)
        except KeyboardInterrupt:
            print("Canceling goal...", flush=True)
            accepted.cancel_goal_async()
            _wait(session, result, server, None, tell_alive)
        answer = result.result()
        status = STATUS.get(answer.status, "UNKNOWN")
        print(f"Result:\n{shown(answer.result)}\nGoal finished with status: {status}")
    return 0 if status == "SUCCEEDED" else 1


def _wait(session: Session, future: Any, server: RequestServer, patience: float | None, meanwhile: Any = None) -> None:
    """Wait for an answer of a server.

    Raises:
        HumanoidError: it has ended, or takes longer.
    """

    def over() -> bool:
        if meanwhile is not None:
            meanwhile()
        return bool(future.done() or server.gone)

    session.until(over, patience)
    if not future.done():
        raise HumanoidError("The node has ended." if server.gone else f"The goal wasn't answered in {patience:g} s.")


def _signs_of_life(session: Session, action: str, goal: UUID) -> Any:
    """Return what tells an action that watches its clients (``dead_man``) that this one is there."""
    topic = f"{action}/alive"
    if not session.node.get_subscriptions_info_by_topic(topic):
        return None
    publisher = session.node.create_publisher(UUID, topic, SENSOR)
    last = [0.0]

    def tell_alive() -> None:
        if time.monotonic() > last[0] + SIGN:
            last[0] = time.monotonic()
            publisher.publish(goal)

    return tell_alive


def _show_feedback(message: Any) -> None:
    print(f"Feedback:\n{shown(message.feedback)}", flush=True)


def _found(session: Session, name: str) -> tuple[str, str]:
    return session.find_typed("action", name, partial(get_action_names_and_types, session.node))
