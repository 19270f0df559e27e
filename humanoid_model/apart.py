# SPDX-License-Identifier: Apache-2.0
"""Kernels that their callers reach through an address, found at the first call.

Numba puts a copy of every kernel that a kernel calls, and of all that those call, into the caller and optimises all of
it again: at the top of a deep tree of calls the leaves are compiled once per level. A kernel compiled apart is compiled
once, and only when something calls it: a branch that a scene never takes costs nothing. A call through an address takes
some nanoseconds more than one to a copy and can't be inlined, so that this is for kernels of a microsecond and more.
"""

from __future__ import annotations

import _thread
import ctypes
import importlib
import pickle
import re
import sys
import time
import traceback
from collections.abc import Callable, Collection, Iterable
from types import GenericAlias
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba import njit, typeof, types
from numba.core import cgutils
from numba.core.datamodel import models, register_default
from numba.core.imputils import lower_builtin
from numba.core.typing import signature
from numba.extending import intrinsic

_RESOLVER = "humanoid_model_apart_address"
"""Symbol by which compiled code asks for an address."""
_WAITED = "humanoid_model_apart_waited"
"""Symbol by which it knows how long it has waited for addresses."""
_TEXT = "apart.wanted"
"""Beginning of the names of constants that say what compiled code asks for."""
_TYPES = {None: types.none, bool: types.boolean, int: types.int64, float: types.float64}


def apart(**options: Any) -> Callable[[Callable[..., Any]], Apart]:
    """Compile a function as ``numba.njit`` does, cached, but apart from the kernels that call it.

    The type of its result is read off its annotation: None, bool, int, float, or a tuple of these.

    Args:
        options: for ``numba.njit``; with ``_nrt=False`` it counts no references, see :func:`.compiling.uncounted`.
    """

    def decorate(function: Callable[..., Any]) -> Apart:
        return Apart(njit(cache=True, **{"_nrt": True, **options})(function))

    return decorate


def _type_of(annotation: Any) -> Any:
    if isinstance(annotation, str):
        annotation = eval(annotation, {})
    if isinstance(annotation, GenericAlias):
        return types.Tuple([_type_of(part) for part in annotation.__args__])
    return _TYPES[annotation]


class Apart:
    """A function that is compiled apart; Python and kernels call it like any other.

    Attributes:
        dispatcher: numba's, with the compiled code by types of arguments.
        returns: numba's type of the result.
    """

    def __init__(self, dispatcher: Any) -> None:
        self.dispatcher = dispatcher
        self.returns = _type_of(dispatcher.py_func.__annotations__["return"])
        self.__doc__, self.__name__ = dispatcher.__doc__, dispatcher.__name__
        self.__module__, self.__qualname__ = dispatcher.__module__, dispatcher.__qualname__
        self.__wrapped__ = dispatcher.py_func
        self._numba_type_ = _ApartType(self)
        lower_builtin(self, types.VarArg(types.Any))(self._write_call)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Call it."""
        return self.dispatcher(*arguments, **keywords)

    @property
    def py_func(self) -> Callable[..., Any]:
        """The function as it is written."""
        function: Callable[..., Any] = self.dispatcher.py_func
        return function

    @property
    def signatures(self) -> list[tuple[Any, ...]]:
        """Types of arguments that it has been compiled for."""
        return list(self.dispatcher.signatures)

    def address(self, argument_types: tuple[Any, ...]) -> int:
        """Address of the code for arguments of these types, which is compiled or loaded from the cache if need be.

        Raises:
            TypeError: the function returns something else than its annotation says.
        """
        self.dispatcher.compile(argument_types)
        compiled = self.dispatcher.overloads[argument_types]
        returned = compiled.signature.return_type
        if returned != self.returns:
            raise TypeError(f"{self.__module__}.{self.__qualname__} returns {returned}, annotated is {self.returns}")
        return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))

    def for_types_of(self, *arguments: Any) -> Callable[..., Any]:
        """Return what runs the code for arguments of these types from Python, for arguments of the same types only.

        It doesn't look at them: for a record and two arrays that took 1.5 µs of 1.9.
        """
        argument_types = tuple(map(typeof, arguments))
        self.dispatcher.compile(argument_types)
        entry: Callable[..., Any] = self.dispatcher.overloads[argument_types].entry_point
        return entry

    def _write_call(self, context: Any, builder: Any, call: Any, arguments: Any) -> Any:
        """Write the code of a call; the address is asked for at the first one and kept in a cell beside the code."""
        integer, convention, module = ir.IntType(64), context.call_conv, builder.module
        byte, zero = ir.IntType(8), ir.Constant(ir.IntType(64), 0)
        cell = cgutils.add_global_variable(module, integer, module.get_unique_name("apart"))
        cell.linkage = "internal"
        cell.initializer = zero
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", builder.load(cell), zero)):
            wanted = cgutils.make_bytearray(pickle.dumps((self.__module__, self.__qualname__, call.args)))
            text = cgutils.global_constant(module, module.get_unique_name(_TEXT), wanted)
            resolver = ir.FunctionType(integer, [ir.PointerType(byte), integer])
            found = builder.call(
                cgutils.get_or_insert_function(module, resolver, _RESOLVER),
                [builder.bitcast(text, ir.PointerType(byte)), ir.Constant(integer, wanted.type.count)],
            )
            with cgutils.if_unlikely(builder, builder.icmp_unsigned("==", found, zero)):
                convention.return_user_exc(builder, RuntimeError, (f"{self.__qualname__} could not be compiled",))
            builder.store(found, cell)
        kind = convention.get_function_type(call.return_type, call.args)
        code = builder.inttoptr(builder.load(cell), ir.PointerType(kind))
        status, result = convention.call_function(builder, code, call.return_type, call.args, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result


class _ApartType(types.Callable, types.Dummy):
    """Numba's type of a function that is compiled apart."""

    def __init__(self, function: Apart) -> None:
        self.function = function
        super().__init__(f"apart({function.__module__}.{function.__qualname__})")

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """Return the arguments as they come; a literal number is like any other."""
        pysig, folded = self.function.dispatcher._compiler.fold_argument_types(args, kws)
        return signature(self.function.returns, *map(types.unliteral, folded)).replace(pysig=pysig)

    def get_call_signatures(self) -> tuple[Any, bool]:
        """Return no signature: it has none that is fixed."""
        return (), True

    def get_impl_key(self, sig: Any) -> Apart:
        """Return the function itself."""
        return self.function


register_default(_ApartType)(models.OpaqueModel)


def load(kernel: Any, *arguments: Any) -> None:
    """Compile a kernel, or load it from the cache, for arguments of these types; it doesn't run.

    Args:
        kernel: of numba, or apart.
        arguments: as it is called, those with defaults too.
    """
    dispatcher = kernel.dispatcher if isinstance(kernel, Apart) else kernel
    dispatcher.compile(tuple(map(typeof, arguments)))


def load_called(kernels: Iterable[Any], without: Collection[Apart] = ()) -> None:
    """Compile, or load from the cache, all kernels apart that compiled code may come to call, so that no call waits.

    Args:
        kernels: of numba, or apart, whose compiled code it is.
        without: neither these are made, nor what they alone call.
    """
    dispatchers = [kernel.dispatcher if isinstance(kernel, Apart) else kernel for kernel in kernels]
    waiting = [compiled.library for dispatcher in dispatchers for compiled in dispatcher.overloads.values()]
    seen: set[bytes] = set()
    while waiting:
        for text in set(_wanted(waiting.pop())) - seen:
            seen.add(text)
            function, argument_types = _function(text)
            if function not in without:
                _addresses[text] = function.address(argument_types)
                waiting.append(function.dispatcher.overloads[argument_types].library)


def _wanted(library: Any) -> list[bytes]:
    """Return what the code of a library asks for; numba has its text, for callers, also where it was in the cache."""
    constants = [str(own) for own in library._get_module_for_linking().global_variables if own.name.startswith(_TEXT)]
    return [_ESCAPED.sub(_byte, constant.split(' c"', 1)[1].rsplit('"', 1)[0].encode()) for constant in constants]


_ESCAPED = re.compile(rb"\\([0-9A-F]{2}|\\)")
"""A byte as LLVM writes it where it isn't a plain character."""


def _byte(escaped: re.Match[bytes]) -> bytes:
    return b"\\" if escaped[1] == b"\\" else bytes.fromhex(escaped[1].decode())


def _function(text: bytes) -> tuple[Apart, tuple[Any, ...]]:
    """Return the kernel that a text stands for, and its types of arguments."""
    module, name, argument_types = pickle.loads(text)
    return getattr(importlib.import_module(module), name), argument_types


_addresses: dict[bytes, int] = {}
"""Addresses that are known, by the text that asks for them."""


@ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
def _resolve(text: int, size: int) -> int:
    """Return address of the kernel that compiled code asks for, 0 after an error, which is printed."""
    begun = time.monotonic_ns()
    try:
        wanted = ctypes.string_at(text, size)
        if wanted not in _addresses:
            function, argument_types = _function(wanted)
            _addresses[wanted] = function.address(argument_types)
        return _addresses[wanted]
    except KeyboardInterrupt:
        _thread.interrupt_main()
    except Exception:
        traceback.print_exc(file=sys.stderr)
    finally:
        _waited.value += time.monotonic_ns() - begun
    return 0


@intrinsic
def waited(typing_context: Any) -> Any:
    """Nanoseconds for which compiled code has waited for addresses, while kernels were compiled or loaded.

    Who measures time in compiled code takes them off: a budget is not spent by a compiler.
    """

    def generate(context: Any, builder: Any, call: Any, arguments: Any) -> Any:
        cell = builder.module.globals.get(_WAITED)
        if cell is None:
            cell = cgutils.add_global_variable(builder.module, ir.IntType(64), _WAITED)
        return builder.load(cell)

    return types.int64(), generate


_waited = ctypes.c_int64(0)
llvm.add_symbol(_RESOLVER, ctypes.cast(_resolve, ctypes.c_void_p).value)
llvm.add_symbol(_WAITED, ctypes.addressof(_waited))
