# SPDX-License-Identifier: Apache-2.0
"""A time after a signal at which a process ends, whatever it does.

Python's own handlers of signals, and all its threads, wait while a kernel or a library in C holds the interpreter's
lock. The handler here is compiled: it starts a timer of the system, which ends the process, and then calls Python's.
"""

from __future__ import annotations

import ctypes
import faulthandler
import signal

import llvmlite.binding as llvm
from llvmlite import ir

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
