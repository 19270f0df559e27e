# SPDX-License-Identifier: Apache-2.0
"""A function that takes and fills numpy arrays, and its call from numba's code.

There its address is an argument, so that numba may keep what it made of the caller (``cache=True``)::

    address = model.inverse_dynamics.address

    @numba.njit(cache=True)
    def work(address, q, v, a, tau, steps):
        for _ in range(steps):
            call_compiled(address, (q, v, a, tau))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_model import InputError

#: Results of a call: an array, or one for each result of the function.
Results = np.ndarray | tuple[np.ndarray, ...]


class Engine(Protocol):
    """What carries out a function.

    Attributes:
        backend: ``c`` or ``numba``.
    """

    backend: str

    @property
    def call(self) -> Callable[..., int]:
        """Takes arguments and results as arrays; gives 0 when done.

        Anything else says that an array isn't float64 in C order and of the right size, or that a result overlaps
        with another array.
        """

    @property
    def one(self) -> int:
        """Address of the function for one state."""

    @property
    def many(self) -> int:
        """Address of the function for many states."""


class CompiledFunction:
    """A compiled function, called as ``tau = inverse_dynamics(q, v, a)``.

    Float64 arrays in C order are used where they are; other real numbers are copied into such arrays. With a leading
    dimension N the arguments are N states, computed side by side; an argument without it holds for all of them. Calls
    may be made from several threads; many states are computed without the interpreter's lock. A state's results may
    differ in the last digits by its place among the others.

    Attributes:
        name: of the function.
        function: what it computes.
    """

    def __init__(self, function: Function, engine: Engine) -> None:
        self.name = function.name
        self.function = function
        self._engine = engine
        self._call = engine.call
        self._first_dimensions = len(function.arguments[0].shape)
        self._shapes = tuple(result.shape for result in function.results)
        self._single = self._shapes[0] if len(self._shapes) == 1 else None

    @property
    def backend(self) -> str:
        """``c`` where a compiler made it, else ``numba``."""
        return self._engine.backend

    @cached_property
    def address(self) -> int:
        """Address of the function ``void (const double *argument..., double *result...)`` for one state.

        The arrays are row-major and don't overlap. It is valid as long as this object.
        """
        return self._engine.one

    @cached_property
    def many_address(self) -> int:
        """Address of the function ``void (ptrdiff_t count, const double *argument..., double *result...)``."""
        return self._engine.many

    def __call__(self, *arguments: Any, out: Any = None) -> Results:
        """Compute the results.

        Args:
            arguments: of the function, each of its shape, or with a leading dimension N.
            out: array to write to, or a tuple of them if there are several results; None: new ones are made.

        Returns:
            ``out``, or the new arrays.

        Raises:
            InputError: an array of wrong size or kind.
        """
        results: tuple[np.ndarray, ...]
        if out is not None:
            results = (out,) if self._single is not None else tuple(out)
            if self._call(*arguments, *results) == 0:
                return out
            return self._call_checked(arguments, results)
        if arguments and getattr(arguments[0], "ndim", -1) == self._first_dimensions:
            if self._single is not None:
                result = np.empty(self._single)
                if self._call(*arguments, result) == 0:
                    return result
            else:
                results = tuple([np.empty(shape) for shape in self._shapes])
                if self._call(*arguments, *results) == 0:
                    return results
        return self._call_checked(arguments, None)

    def __repr__(self) -> str:
        takes = ", ".join(_signature(argument) for argument in self.function.arguments)
        gives = ", ".join(_signature(result) for result in self.function.results)
        return f"<{self.name}({takes}) -> {gives}, {self.backend}>"

    def _call_checked(self, arguments: Sequence[Any], results: tuple[np.ndarray, ...] | None) -> Results:
        """Check and convert what can be converted."""
        arrays, count = self._arguments(arguments)
        if results is None:
            leading = () if count is None else (count,)
            results = tuple(np.empty(leading + shape) for shape in self._shapes)
        else:
            self._check_results(results, arrays, count)
        if self._call(*arrays, *results) != 0:
            raise RuntimeError(f"{self.name} doesn't take arrays that were checked")
        return results[0] if self._single is not None else results

    def _arguments(self, given: Sequence[Any]) -> tuple[list[np.ndarray], int | None]:
        """Arguments as arrays, and the number of states if they have a leading dimension."""
        wanted = self.function.arguments
        if len(given) != len(wanted):
            raise InputError(
                f"{len(given)} arguments",
                element=self.name,
                remedy=f"Give {', '.join(_signature(argument) for argument in wanted)}",
            )
        arrays = [self._number_array(argument, value) for argument, value in zip(wanted, given, strict=True)]
        counts = {}
        for argument, array in zip(wanted, arrays, strict=True):
            if array.shape == argument.shape:
                continue
            if array.shape[1:] != argument.shape or array.ndim == 0:
                states = f", or {('N', *argument.shape)} for N states".replace("'", "")
                raise self._refusal(argument, f"has shape {array.shape}", f"Its shape is {argument.shape}{states}")
            counts[argument.name] = array.shape[0]
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{name} {count}" for name, count in counts.items())
            raise InputError(f"numbers of states differ: {told}", element=self.name, remedy="Give as many of each")
        if not counts:
            return arrays, None
        count = next(iter(counts.values()))
        whole = [
            array if argument.name in counts else np.ascontiguousarray(np.broadcast_to(array, (count, *array.shape)))
            for argument, array in zip(wanted, arrays, strict=True)
        ]
        return whole, count

    def _number_array(self, argument: Argument, value: Any) -> np.ndarray:
        try:
            array = np.asarray(value)
        except ValueError as problem:
            raise self._refusal(argument, f"isn't an array: {problem}", "Give rows of equal length") from None
        if array.dtype.kind not in "fiub":
            raise self._refusal(argument, f"holds {array.dtype}", "Give real numbers")
        return np.require(array, dtype=np.float64, requirements=("C", "A"))

    def _check_results(self, results: Sequence[Any], arrays: Sequence[np.ndarray], count: int | None) -> None:
        wanted = self.function.results
        if len(results) != len(wanted):
            raise InputError(
                f"out has {len(results)} arrays",
                element=self.name,
                remedy=f"Give {', '.join(_signature(result) for result in wanted)}",
            )
        others = [(argument.name, array) for argument, array in zip(self.function.arguments, arrays, strict=True)]
        for result, array in zip(wanted, results, strict=True):
            shape = result.shape if count is None else (count, *result.shape)
            remedy = f"Give a writable array of float64 in C order, shape {shape}"
            if not isinstance(array, np.ndarray):
                raise self._refusal(result, f"out is a {type(array).__name__}", remedy)
            if array.shape != shape:
                raise self._refusal(result, f"out has shape {array.shape}", remedy)
            if array.dtype != np.float64:
                raise self._refusal(result, f"out holds {array.dtype}", remedy)
            if not array.flags.c_contiguous or not array.flags.aligned:
                raise self._refusal(result, "out isn't contiguous", remedy)
            if not array.flags.writeable:
                raise self._refusal(result, "out is read-only", remedy)
            for name, other in others:
                if np.may_share_memory(array, other):
                    raise self._refusal(result, f"out shares memory with {name}", "Give an array of its own")
            others.append((result.name, array))

    def _refusal(self, array: Argument | Result, problem: str, remedy: str) -> InputError:
        return InputError(problem, element=f"{self.name}: {array.name}", remedy=remedy)


def _signature(array: Argument | Result) -> str:
    return f"{array.name}{list(array.shape)}"


@intrinsic
def call_compiled(typingctx: Any, address: Any, arrays: Any) -> Any:
    """Call a compiled function on one state.

    Only type and order of the arrays are checked, when numba compiles the caller; sizes are the caller's care, and
    that arrays don't overlap.

    Args:
        typingctx: numba's own, left out by the caller.
        address: of the function, :attr:`humanoid_codegen.compiled.CompiledFunction.address`.
        arrays: tuple of the arguments, then the results, float64 in C order.
    """
    if not isinstance(address, types.Integer):
        raise TypingError(f"call_compiled takes a function's address, not {address}")
    members = getattr(arrays, "types", None)
    if members is None:
        raise TypingError(f"call_compiled takes a tuple of arrays, not {arrays}")
    for array in members:
        if not isinstance(array, types.Array) or array.dtype != types.float64 or array.layout != "C":
            raise TypingError(f"call_compiled takes float64 arrays in C order, not {array}")

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointers = []
        for k, array in enumerate(signature.args[1].types):
            value = builder.extract_value(values[1], k)
            pointers.append(context.make_array(array)(context, builder, value).data)
        function = ir.FunctionType(ir.VoidType(), [pointer.type for pointer in pointers])
        builder.call(builder.inttoptr(values[0], function.as_pointer()), pointers)
        return context.get_dummy_value()

    return types.void(address, arrays), generate
