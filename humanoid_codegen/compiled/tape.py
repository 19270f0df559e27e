# SPDX-License-Identifier: Apache-2.0
"""Functions without a C compiler: a list of operations, worked off by one numba kernel that suits every function.

Translating each function by numba would take a minute for a humanoid; the kernel is translated once and then cached.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

from humanoid_codegen.expression.function import Argument, Function, Result
from humanoid_codegen.expression.graph import Expression, Operation

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
