# SPDX-License-Identifier: Apache-2.0
"""A robot's functions, compiled; without a C compiler they are lists of operations, worked off by one numba kernel.

That kernel suits every function. Translating each by numba would take a minute for a humanoid; the kernel is translated
once and then cached.
"""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numba
import numpy as np

from humanoid_codegen.compiled.compiled_function import CompiledFunction, Engine
from humanoid_codegen.compiled.shared_object import Compiler, CompilerError, cached_object, find_compiler, make_builtin
from humanoid_codegen.compiled.source import c_source
from humanoid_codegen.expression.function import Argument, Function, Module, Result
from humanoid_codegen.expression.graph import Expression, Operation
from humanoid_model import InputError
from humanoid_model.progress import Progress, ProgressCallback, tell

#: States that go through the list together.
_TOGETHER = 16


@dataclass(frozen=True)
class Tape:
    """A function as arrays.

    Attributes:
        operations: of each register, int64, shape (n, 3): operation, first and second operand.
        constants: of each register, zero where it isn't one, shape (n,).
        inputs: registers of the arguments' entries, all arguments in one row.
        outputs: registers of the results' entries, all results in one row.
    """

    operations: np.ndarray
    constants: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray

    @classmethod
    def of(cls, function: Function) -> Tape:
        """Return the tape of a function."""
        registers: dict[int, int] = {}
        operations: list[tuple[int, int, int]] = []
        constants: list[float] = []
        numbers: dict[float, int] = {}

        def add(operation: Operation, first: int, second: int, value: float) -> int:
            operations.append((int(operation), first, second))
            constants.append(value)
            return len(operations) - 1

        def number(value: float) -> int:
            if value not in numbers:
                numbers[value] = add(Operation.CONSTANT, 0, 0, value)
            return numbers[value]

        for argument in function.arguments:
            for symbol in argument.entries:
                registers[symbol.index] = add(Operation.SYMBOL, 0, 0, 0.0)
        inputs = [registers[symbol.index] for argument in function.arguments for symbol in argument.entries]
        for node in function.nodes:
            if node.operation == Operation.CONSTANT:
                registers[node.index] = number(node.value)
            elif node.operation != Operation.SYMBOL:
                first, *rest = (registers[operand.index] for operand in node.operands)
                registers[node.index] = add(node.operation, first, rest[0] if rest else 0, 0.0)
        outputs = [
            registers[entry.index] if isinstance(entry, Expression) else number(float(entry))
            for result in function.results
            for entry in result.entries
        ]
        return cls(
            np.array(operations, dtype=np.int64).reshape(-1, 3),
            np.array(constants),
            np.array(inputs, dtype=np.int64),
            np.array(outputs, dtype=np.int64),
        )

    def run(self, given: np.ndarray) -> np.ndarray:
        """Return entries of the results, shape (states, m), for entries of the arguments, shape (states, n)."""
        computed = np.empty((len(given), len(self.outputs)))
        _run(self.operations, self.constants, self.inputs, self.outputs, given, computed)
        return computed


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _run(
    operations: np.ndarray,
    constants: np.ndarray,
    inputs: np.ndarray,
    outputs: np.ndarray,
    given: np.ndarray,
    computed: np.ndarray,
) -> None:
    states = given.shape[0]
    together = min(_TOGETHER, states)
    registers = np.empty((operations.shape[0], max(together, 1)))
    for k in range(operations.shape[0]):
        registers[k] = constants[k]
    for start in range(0, states, max(together, 1)):
        width = min(together, states - start)
        for k in range(inputs.shape[0]):
            for lane in range(width):
                registers[inputs[k], lane] = given[start + lane, k]
        for k in range(operations.shape[0]):
            operation = operations[k, 0]
            value, a, b = registers[k], registers[operations[k, 1]], registers[operations[k, 2]]
            if operation == 2:
                for lane in range(width):
                    value[lane] = a[lane] + b[lane]
            elif operation == 3:
                for lane in range(width):
                    value[lane] = a[lane] - b[lane]
            elif operation == 4:
                for lane in range(width):
                    value[lane] = a[lane] * b[lane]
            elif operation == 5:
                for lane in range(width):
                    value[lane] = a[lane] / b[lane]
            elif operation == 6:
                for lane in range(width):
                    value[lane] = -a[lane]
            elif operation == 7:
                for lane in range(width):
                    value[lane] = math.sin(a[lane])
            elif operation == 8:
                for lane in range(width):
                    value[lane] = math.cos(a[lane])
            elif operation == 9:
                for lane in range(width):
                    value[lane] = math.sqrt(a[lane])
        for k in range(outputs.shape[0]):
            for lane in range(width):
                computed[start + lane, k] = registers[outputs[k], lane]


def make_callback(function: Function, tape: Tape, *, many: bool) -> Callable[..., None]:
    """Return the function in C's calling convention, as ``one`` or ``many`` of the generated C text."""
    arrays: list[Argument | Result] = [*function.arguments, *function.results]
    names = [f"array_{k}" for k in range(len(arrays))]
    scope: dict[str, Any] = {
        "carray": numba.carray,
        "empty": np.empty,
        "run": _run,
        "operations": tape.operations,
        "constants": tape.constants,
        "inputs": tape.inputs,
        "outputs": tape.outputs,
    }
    lines = [f"def call({', '.join(['count', *names] if many else names)}):"]
    if not many:
        lines.append("    count = 1")
    lines.append(f"    given = empty((count, {len(tape.inputs)}))")
    lines.append(f"    computed = empty((count, {len(tape.outputs)}))")
    position = 0
    for name, array in zip(names, arrays, strict=True):
        size = len(array.entries)
        lines.append(f"    view_{name} = carray({name}, (count, {size}))")
        if array is function.results[0]:
            lines.append("    run(operations, constants, inputs, outputs, given, computed)")
            position = 0
        columns = f"[:, {position}:{position + size}]"
        if any(array is argument for argument in function.arguments):
            lines.append(f"    given{columns} = view_{name}")
        else:
            lines.append(f"    view_{name}[:] = computed{columns}")
        position += size
    exec("\n".join(lines), scope)
    pointer = numba.types.CPointer(numba.float64)
    counts = [numba.intp] if many else []
    compiled: Callable[..., None] = numba.cfunc(numba.void(*counts, *[pointer] * len(arrays)))(scope["call"])
    return compiled


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
