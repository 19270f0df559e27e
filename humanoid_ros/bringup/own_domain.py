# SPDX-License-Identifier: Apache-2.0
"""A ROS domain for a stack of one's own: two simulators in one domain set one clock and move one robot."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from rclpy.node import Node

from humanoid_model.errors import HumanoidError

DOMAINS, FIRST_PORT, PORTS = range(100), 7400, 64
"""ROS domains that are looked at; DDS's port of domain 0, and so many from it on show whether somebody is there."""


@contextmanager
def own_domain() -> Iterator[int]:
    """Yield a ROS domain that nobody on this machine is in, or that which the user has chosen by ROS_DOMAIN_ID.

    Two simulators in one domain set one clock and move one robot.

    Raises:
        HumanoidError: all are taken.
    """
    chosen = os.environ.get("ROS_DOMAIN_ID")
    domain = int(chosen) if chosen else next((number for number in DOMAINS if is_free(number)), None)
    if domain is None:
        raise HumanoidError("Each ROS domain has somebody in it. End a stack, or choose a domain by ROS_DOMAIN_ID")
    if domain != int(chosen or 0):
        print(f"another stack runs in ROS domain 0; this one takes ROS_DOMAIN_ID={domain}")
    os.environ["ROS_DOMAIN_ID"] = str(domain)
    try:
        yield domain
    finally:
        if chosen is None:
            del os.environ["ROS_DOMAIN_ID"]


def is_free(domain: int) -> bool:
    """Return whether no program on this machine listens at the ports of a ROS domain."""
    first = FIRST_PORT + 250 * domain
    for port in range(first, first + PORTS):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", port))
            except OSError:
                return False
    return True


def check_alone(node: Node) -> None:
    """Raise a HumanoidError where another simulator sets the clock too."""
    others = len(node.get_publishers_info_by_topic("/clock")) - 1
    if others > 0:
        domain = os.environ.get("ROS_DOMAIN_ID", "0")
        raise HumanoidError(
            f"Another simulator runs in ROS domain {domain}: time and states of both are mixed. End it, or leave "
            "ROS_DOMAIN_ID unset, so that a free domain is taken"
        )
