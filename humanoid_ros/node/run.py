# SPDX-License-Identifier: Apache-2.0
"""The main function of every node: its command line, its executor, and how it ends, at a deadline if need be.

Python's own handlers of signals, and all its threads, wait while a kernel or a library in C holds the interpreter's
lock. The handler here is compiled: it starts a timer of the system, which ends the process, and then calls Python's.
"""

from __future__ import annotations

import argparse
import ctypes
import faulthandler
import gc
import inspect
import os
import signal
import sys
import textwrap
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, cast

import llvmlite.binding as llvm
import rclpy
from llvmlite import ir
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.action.server import RCLError
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

from humanoid_model.errors import HumanoidError
from humanoid_model.files import find_resource
from humanoid_ros.node.answering_node import AnsweringNode

_NAME = "humanoid_ros_begin_to_end"
_KEPT: list[object] = []
"""Code and data that the system goes on to use."""


class _Interval(ctypes.Structure):
    """``struct itimerval``: period and time left, seconds and microseconds of each."""

    _fields_ = [(name, ctypes.c_long) for name in ("every_s", "every_us", "left_s", "left_us")]


def end_after(number: signal.Signals, seconds: float) -> None:
    """End this process some time after a signal, which has a handler in Python that is called too.

    It then tells on its standard error where all threads are, and dies of SIGALRM. The same signal again doesn't give
    it more time; of several signals the last counts.

    Args:
        number: of the signal.
        seconds: from the signal to the end [s].
    """
    interval = _Interval(0, 0, int(seconds), int(1e6 * (seconds % 1.0)))
    faulthandler.register(signal.SIGALRM, all_threads=True, chain=True)
    library = ctypes.CDLL(None)
    library.signal.restype, library.signal.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    python = library.signal(number, None)  # asking for the handler in use takes putting another one there
    engine = _compiled(python, ctypes.addressof(interval))
    library.signal(number, engine.get_function_address(_NAME))
    _KEPT.extend((engine, interval))


def give_more_time(seconds: float) -> None:
    """Put off the end that a signal has brought [s]."""
    left, _ = signal.getitimer(signal.ITIMER_REAL)
    signal.setitimer(signal.ITIMER_REAL, left + seconds)


def _compiled(python: int, interval: int) -> llvm.ExecutionEngine:
    """Return the code of a handler of signals.

    Args:
        python: address of the handler that it calls at last.
        interval: address of the time until the end.
    """
    integer, word, pointer = ir.IntType(32), ir.IntType(64), ir.PointerType(ir.IntType(8))
    module = ir.Module(_NAME)
    begun = ir.GlobalVariable(module, integer, "begun")
    begun.initializer, begun.linkage = ir.Constant(integer, 0), "internal"
    set_timer = ir.Function(module, ir.FunctionType(integer, [integer, pointer, pointer]), "setitimer")
    handler = ir.Function(module, ir.FunctionType(ir.VoidType(), [integer]), _NAME)
    builder = ir.IRBuilder(handler.append_basic_block())
    first = builder.icmp_unsigned("==", builder.load(begun), ir.Constant(integer, 0))
    with builder.if_then(first):
        builder.store(ir.Constant(integer, 1), begun)
        left = builder.inttoptr(ir.Constant(word, interval), pointer)
        builder.call(set_timer, [ir.Constant(integer, signal.ITIMER_REAL), left, ir.Constant(pointer, None)])
    kind = ir.PointerType(ir.FunctionType(ir.VoidType(), [integer]))
    builder.call(builder.inttoptr(ir.Constant(word, python), kind), [handler.args[0]])
    builder.ret_void()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(str(module)), llvm.Target.from_default_triple().create_target_machine()
    )
    engine.finalize_object()
    return engine


class _Listing:
    """Stands in the place of a node that declares its parameters, and keeps a line of each."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def declare_parameter(self, name: str, default: Any, descriptor: ParameterDescriptor) -> None:
        shown = ", ".join(filter(None, default)) if isinstance(default, list) else default
        shown = str(shown).lower() if isinstance(shown, bool) else f"{shown:g}" if isinstance(shown, float) else shown
        bounds = [*descriptor.floating_point_range, *descriptor.integer_range]
        values = "".join(f"; {bound.from_value:g} to {bound.to_value:g}" for bound in bounds)
        meaning = f"{descriptor.description} (default: {'empty' if shown == '' else shown}{values})"
        self.lines += [f"  {name}", textwrap.indent(textwrap.fill(meaning, 90), "      ")]


def read_command_line(name: str, make: Callable[[], AnsweringNode]) -> None:
    """Leave the command line to ROS; ``--help`` lists the node's parameters, without a running node, and ends.

    Args:
        name: of the node.
        make: its class; another callable that makes it has no parameters to list.

    Raises:
        SystemExit: code 0 after ``--help``, code 2 for words that neither ROS nor this reads.
    """
    words = remove_ros_args(sys.argv)[1:]
    if not words:
        return
    listing = _Listing()
    if isinstance(make, type) and issubclass(make, AnsweringNode):
        make._declare_parameters(cast(AnsweringNode, listing))
    summary = (inspect.getdoc(make) or name).split("\n\n")[0].replace("``", "")
    parser = argparse.ArgumentParser(
        prog=f"python -m humanoid_ros.{name}",
        usage="%(prog)s [-h] [--ros-args [-p PARAMETER:=VALUE ...] [--params-file FILE] [-r NAME:=OTHER ...]]",
        description=f"The node {name}. {summary}",
        epilog="\n".join(["parameters:", *listing.lines]) if listing.lines else None,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _, unknown = parser.parse_known_args(words)
    if unknown:
        parser.error(f"unknown: {' '.join(unknown)}. Write parameters as --ros-args -p name:=value; --help lists them")


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
