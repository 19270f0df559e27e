# SPDX-License-Identifier: Apache-2.0
"""The main function of every node."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable

import rclpy
from rclpy.action.server import RCLError
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from humanoid_model.errors import HumanoidError
from humanoid_model.resources import find_resource
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.deadline import end_after, give_more_time
from humanoid_ros.node.node_help import read_command_line

GLANCE = 0.02
"""Time between two looks at whether a signal came, or whether the answers have left [s]."""
ENDS = {signal.SIGINT: 10.0, signal.SIGTERM: 1.8}
"""Time after a signal after which a node is ended wherever it hangs, and says where on the standard error [s].

After SIGTERM a node with more patience than others, which is busy, has as much more.
"""


def run(name: str, make: Callable[[], AnsweringNode]) -> None:
    """Run a node until SIGINT or SIGTERM; then pending requests get an answer.

    A node that can't be made ends the process with exit code 1 and the reason. An exception in a callback is logged,
    and the node goes on. Two seconds after SIGTERM the process has ended, whatever it computes; a node that has more
    patience, to stop a motion, takes what that needs. ``--help`` tells the node's parameters and ends the process.

    Args:
        name: of the node, for that reason.
        make: makes it, in the main thread; its class, so that its parameters are known.
    """
    read_command_line(name, make)
    signals: list[int] = []
    nodes: list[AnsweringNode] = []

    def heard(number: int, _: object) -> None:
        signals.append(number)
        if number == signal.SIGTERM and signals.count(number) == 1:
            for busy in (node for node in nodes if node.busy):
                give_more_time(busy.patience - AnsweringNode.patience)

    for number, seconds in ENDS.items():
        signal.signal(number, heard)
        end_after(number, seconds)
    stay_on_this_machine()
    # ROS's own handler would end the context in the middle of a message, and before pending requests are answered.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    gc.disable()  # what a node is made of stays: a look for garbage among it takes a tenth of a second and finds none
    try:
        node = make()
    except (ParameterException, HumanoidError, RCLError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        rclpy.shutdown()
        sys.exit(1)
    nodes.append(node)
    gc.freeze()
    gc.enable()
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    ended = threading.Event()

    def spin() -> None:
        while not ended.is_set():
            try:
                executor.spin_once()
            except Exception:
                node.get_logger().error(traceback.format_exc())

    spinning = threading.Thread(target=spin, name="executor")
    spinning.start()
    # A signal that another thread takes doesn't end a wait of this one, in which alone Python handles signals.
    while not signals:
        time.sleep(GLANCE)
    closed = executor.create_task(node.close)
    end = time.monotonic() + node.patience
    while (not closed.done() or node.busy) and time.monotonic() < end:
        executor.wake()
        time.sleep(GLANCE)
    # A node isn't busy any more while its last answer still waits in the executor, which takes the newest task first:
    # what is queued in the second round comes after it. And a task ends the executor's wait as waking alone doesn't.
    executor.create_task(lambda: executor.create_task(ended.set))
    while spinning.is_alive():
        executor.wake()
        spinning.join(GLANCE)
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown()
    if node.busy:
        # What is being computed ends at its own time, which may be far away; Python would wait for it.
        sys.stdout.flush()
        os._exit(0)


def settle_memory() -> None:
    """Free what is garbage now, and let later collections look at new objects only.

    Modules and models are some hundred thousand objects that stay. To look at all of them holds every thread up for a
    tenth of a second, now and then in the middle of a motion.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def stay_on_this_machine() -> None:
    """Let ROS of this process be found, and listen, on this machine alone, unless its user says otherwise.

    The discovery range ``LOCALHOST`` alone leaves Fast DDS listening to whoever knows the ports, and brings its shared
    memory back. The profile says more, and ``SUBNET`` leaves it as it is. Call it before ROS begins.
    """
    own = str(find_resource("config/dds/this_machine.xml"))
    reach = os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    if reach == "LOCALHOST" and os.environ.setdefault("FASTRTPS_DEFAULT_PROFILES_FILE", own) == own:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "SUBNET"
