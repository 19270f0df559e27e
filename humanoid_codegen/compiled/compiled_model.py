# SPDX-License-Identifier: Apache-2.0
"""A robot's functions, compiled."""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cached_property
from typing import Any

import numpy as np

from humanoid_codegen.compiled.compiled_function import CompiledFunction, Engine
from humanoid_codegen.compiled.compiler import Compiler, CompilerError, find_compiler
from humanoid_codegen.compiled.object_cache import cached_object
from humanoid_codegen.compiled.python_entry import make_builtin
from humanoid_codegen.compiled.source import c_source
from humanoid_codegen.compiled.tape import Tape, make_callback
from humanoid_codegen.expression.function import Function, Module
from humanoid_model import InputError
from humanoid_model.progress import Progress, ProgressCallback, tell


class CompiledModel:
    """Compiled functions, each an attribute: ``model.inverse_dynamics(q, v, a)``.

    Attributes:
        functions: by name.
    """

    def __init__(self, functions: Sequence[CompiledFunction]) -> None:
        self.functions = {function.name: function for function in functions}

    def __getattr__(self, name: str) -> CompiledFunction:
        functions = self.__dict__.get("functions", {})
        if name not in functions:
            raise AttributeError(f"no compiled function '{name}'; there are {', '.join(functions) or 'none'}")
        function: CompiledFunction = functions[name]
        return function

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]


def compile_functions(
    functions: Module | Function | Sequence[Function], *, progress: ProgressCallback | None = None
) -> CompiledModel:
    """Compile functions, or take them from the cache.

    Shared objects are kept in ``$XDG_CACHE_HOME/humanoid_stack/compiled`` (``~/.cache``). ``CC`` chooses the compiler.
    Without a compiler numba carries the functions out: same results, slower.

    Args:
        functions: one or more functions, or the module that holds them.
        progress: told as functions get done; cancels by returning True.

    Raises:
        InputError: a function without arguments or results, or two of the same name.
    """
    if isinstance(functions, Module):
        functions = functions.functions
    elif isinstance(functions, Function):
        functions = (functions,)
    names = [function.name for function in functions]
    for function in functions:
        if not function.arguments or not function.results:
            raise InputError("has no arguments or no results", element=f"function '{function.name}'")
        if names.count(function.name) > 1:
            raise InputError("is given twice", element=f"function '{function.name}'")
    compiler = find_compiler()
    if compiler is None and os.environ.get("CC", "").strip():
        warnings.warn(f"CC is '{os.environ['CC']}', which doesn't run; numba is used.", RuntimeWarning, stacklevel=2)
    done: dict[str, CompiledFunction] = {}
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        tasks = [pool.submit(_compile, function, compiler) for function in functions]
        for task in as_completed(tasks):
            compiled = task.result()
            done[compiled.name] = compiled
            tell(progress, Progress(compiled.name, len(done) / len(names), part=len(done) - 1))
    return CompiledModel([done[name] for name in names])


def _compile(function: Function, compiler: Compiler | None) -> CompiledFunction:
    engine: Engine | None = None
    if compiler is not None:
        try:
            engine = _SharedObject(function, compiler)
        except CompilerError as problem:
            warnings.warn(f"{function.name}: {problem}; numba is used.", RuntimeWarning, stacklevel=3)
    return CompiledFunction(function, engine or _NumbaTape(function))


class _SharedObject:
    """A function compiled from C."""

    backend = "c"

    def __init__(self, function: Function, compiler: Compiler) -> None:
        path = cached_object(c_source(function), compiler)
        try:
            self._builtin = make_builtin(ctypes.CDLL(str(path)), function.name)
        except (OSError, AttributeError) as problem:
            raise CompilerError(f"{path} can't be loaded: {problem}") from None
        self.call = self._builtin.call

    @property
    def one(self) -> int:
        return _address(self._builtin.library.one)

    @property
    def many(self) -> int:
        return _address(self._builtin.library.many)


class _NumbaTape:
    """A function worked off by numba."""

    backend = "numba"

    def __init__(self, function: Function) -> None:
        self._function = function
        self._tape = Tape.of(function)

    def call(self, *arrays: Any) -> int:
        arguments, results = self._function.arguments, self._function.results
        wanted = [argument.shape for argument in arguments] + [result.shape for result in results]
        if len(arrays) != len(wanted) or not all(_is_plain(array) for array in arrays):
            return 1
        leading = arrays[0].shape[: arrays[0].ndim - len(wanted[0])]
        if len(leading) > 1 or any(a.shape != leading + shape for a, shape in zip(arrays, wanted, strict=True)):
            return 1
        for k in range(len(arguments), len(arrays)):
            if not arrays[k].flags.writeable or any(np.may_share_memory(arrays[k], other) for other in arrays[:k]):
                return 1
        states = leading[0] if leading else 1
        rows = [a.reshape(states, math.prod(a.shape[len(leading) :])) for a in arrays[: len(arguments)]]
        given = np.concatenate(rows, axis=1)
        computed = self._tape.run(given)
        position = 0
        for result, array in zip(results, arrays[len(arguments) :], strict=True):
            size = len(result.entries)
            array.reshape(states, size)[:] = computed[:, position : position + size]
            position += size
        return 0

    @cached_property
    def _one(self) -> Any:
        return make_callback(self._function, self._tape, many=False)

    @cached_property
    def _many(self) -> Any:
        return make_callback(self._function, self._tape, many=True)

    @property
    def one(self) -> int:
        address: int = self._one.address
        return address

    @property
    def many(self) -> int:
        address: int = self._many.address
        return address


def _is_plain(array: Any) -> bool:
    return (
        isinstance(array, np.ndarray)
        and array.dtype == np.float64
        and array.flags.c_contiguous
        and array.flags.aligned
    )


def _address(function: Any) -> int:
    address = ctypes.cast(function, ctypes.c_void_p).value
    assert address is not None
    return address
