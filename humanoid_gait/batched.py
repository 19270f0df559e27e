# SPDX-License-Identifier: Apache-2.0
"""CasADi functions of scalar expressions evaluated for many arguments at once.

CasADi's own machine takes an instruction and a number at a time, and compiling the derivatives of a humanoid's dynamics
takes minutes. Here every instruction is done for a block of arguments before the next one, so that looking it up costs
little and processors use their wide registers: 16 times as fast for HRP-2's Hessian, with nothing to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model import InputError
from humanoid_model.archive import cache_folder, stored_arrays
from humanoid_model.arrays import Array
from humanoid_model.compiling import counted

(_MULTIPLY, _ADD, _SUBTRACT, _OUTPUT, _TWICE, _DIVIDE, _NEGATE, _SQUARE, _SINE, _COSINE, _ROOT, _CONSTANT, _INPUT,
 _COPY, _INVERSE, _EXPONENTIAL, _LOGARITHM, _POWER, _TANGENT, _GREATER, _LESSER, _SIZE, _SIGN, _BELOW, _NOT_ABOVE,
 _NOT, _IF) = range(27)  # fmt: skip
_CODES = {
    ca.OP_MUL: _MULTIPLY, ca.OP_ADD: _ADD, ca.OP_SUB: _SUBTRACT, ca.OP_OUTPUT: _OUTPUT, ca.OP_TWICE: _TWICE,
    ca.OP_DIV: _DIVIDE, ca.OP_NEG: _NEGATE, ca.OP_SQ: _SQUARE, ca.OP_SIN: _SINE, ca.OP_COS: _COSINE,
    ca.OP_SQRT: _ROOT, ca.OP_CONST: _CONSTANT, ca.OP_INPUT: _INPUT, ca.OP_ASSIGN: _COPY, ca.OP_INV: _INVERSE,
    ca.OP_EXP: _EXPONENTIAL, ca.OP_LOG: _LOGARITHM, ca.OP_POW: _POWER, ca.OP_CONSTPOW: _POWER, ca.OP_TANH: _TANGENT,
    ca.OP_FMAX: _GREATER, ca.OP_FMIN: _LESSER, ca.OP_FABS: _SIZE, ca.OP_SIGN: _SIGN, ca.OP_LT: _BELOW,
    ca.OP_LE: _NOT_ABOVE, ca.OP_NOT: _NOT, ca.OP_IF_ELSE_ZERO: _IF,
}  # fmt: skip
_BLOCK, _WIDTH = 40, 8
"""Arguments that an instruction is done for at once, at most, so that registers of some thousand variables stay in the
cache; and the numbers that processors take together."""


@dataclass(frozen=True, eq=False)
class BatchedFunction:
    """A function with the instructions of CasADi's, for arguments in columns.

    Attributes:
        instructions: (I, 4) code, place of the result, of the first and of the second operand.
        constants: that are loaded.
        registers: number of variables.
        arguments: (a,) numbers of entries.
        shapes: of the results.
        patterns: rows and columns of each result's entries that aren't zero everywhere.
    """

    instructions: NDArray[np.int32]
    constants: Array
    registers: int
    arguments: tuple[int, ...]
    shapes: tuple[tuple[int, int], ...]
    patterns: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]

    @classmethod
    def stored(cls, content: bytes, make: Callable[[], ca.Function]) -> BatchedFunction:
        """Return the function made of a content, its instructions from disk where it was made before."""
        content = b"\0".join((Path(__file__).read_bytes(), ca.CasadiMeta.version().encode(), content))
        found = stored_arrays(content, lambda: cls.of(make())._arrays(), cache_folder("instructions"))
        ends = np.cumsum(found["entries"])[:-1]
        patterns = zip(np.split(found["rows"], ends), np.split(found["columns"], ends), strict=True)
        return cls(
            found["instructions"], found["constants"], int(found["registers"]), tuple(found["arguments"].tolist()),
            tuple((int(a), int(b)) for a, b in found["shapes"]), tuple(patterns),
        )  # fmt: skip

    def _arrays(self) -> dict[str, NDArray[Any]]:
        return {
            "instructions": self.instructions, "constants": self.constants, "registers": np.array(self.registers),
            "arguments": np.array(self.arguments), "shapes": np.array(self.shapes),
            "entries": np.array([len(rows) for rows, _ in self.patterns]),
            "rows": np.concatenate([rows for rows, _ in self.patterns]),
            "columns": np.concatenate([columns for _, columns in self.patterns]),
        }  # fmt: skip

    @classmethod
    def of(cls, function: ca.Function) -> BatchedFunction:
        """Take the instructions of a function whose expressions are SX.

        Raises:
            InputError: there is an operation that isn't known here.
        """
        count = function.n_instructions()
        found, values = np.zeros((count, 4), dtype=np.int32), np.zeros(count)
        before = [np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist() for sizes in (
            [function.nnz_in(i) for i in range(function.n_in())],
            [function.nnz_out(i) for i in range(function.n_out())],
        )]  # fmt: skip
        operation, output, inputs = function.instruction_id, function.instruction_output, function.instruction_input
        for k in range(count):
            kind, given, made = operation(k), inputs(k), output(k)
            if kind not in _CODES:
                raise InputError(
                    "takes an operation other than + - * / ** sqrt sin cos exp log tanh fmax fmin fabs sign if_else",
                    element="cost",
                    remedy="Write it with these, or solve it by 'ipopt'",
                )  # fmt: skip
            code = _CODES[kind]
            if code == _INPUT:
                row = (code, made[0], before[0][given[0]] + given[1], 0)
            elif code == _OUTPUT:
                row = (code, before[1][made[0]] + made[1], given[0], 0)
            elif code == _CONSTANT:
                row = (code, made[0], 0, 0)
                values[k] = function.instruction_constant(k)
            else:
                row = (code, made[0], given[0], given[-1])
            found[k] = row
        loads = found[:, 0] == _CONSTANT
        constants, places = np.unique(values[loads], return_inverse=True)
        found[loads, 2] = places
        triplets = [function.sparsity_out(i).get_triplet() for i in range(function.n_out())]
        patterns = [(np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)) for rows, columns in triplets]
        return cls(
            found, constants, function.sz_w(), tuple(function.nnz_in(i) for i in range(function.n_in())),
            tuple(function.size_out(i) for i in range(function.n_out())), tuple(patterns),
        )  # fmt: skip

    @cached_property
    def _ends(self) -> list[int]:
        return np.cumsum([len(rows) for rows, _ in self.patterns]).tolist()

    def __call__(self, *arguments: ArrayLike) -> list[Array]:
        """Return the entries of every result, (K, entries), for arguments (K, n) or, where they are one's, (n,)."""
        count = max(len(given) for given in map(np.asarray, arguments) if given.ndim == 2)
        columns = np.empty((sum(self.arguments), count))
        first = 0
        for given, size in zip(arguments, self.arguments, strict=True):
            columns[first : first + size] = np.asarray(given).T if np.ndim(given) == 2 else np.asarray(given)[:, None]
            first += size
        found = np.zeros((self._ends[-1], count))
        _run(self.instructions, self.constants, columns, found, self.registers)
        return np.split(found.T, self._ends[:-1], axis=1)

    def dense(self, index: int, entries: Array) -> Array:
        """(K, rows, columns) a result with its zeros."""
        rows, columns = self.patterns[index]
        found = np.zeros((len(entries), *self.shapes[index]))
        found[:, rows, columns] = entries
        return found


@counted()
def _run(instructions, constants, x, y, registers):  # type: ignore[no-untyped-def]  # pragma: no cover
    count = x.shape[1]
    blocks = (count + _BLOCK - 1) // _BLOCK
    width = ((count + blocks - 1) // blocks + _WIDTH - 1) // _WIDTH * _WIDTH
    w = np.zeros((registers, width))
    for first in range(0, count, width):
        own = min(width, count - first)
        for k in range(instructions.shape[0]):
            code, r, a, b = instructions[k]
            if code == _MULTIPLY:
                for j in range(width):
                    w[r, j] = w[a, j] * w[b, j]
            elif code == _ADD:
                for j in range(width):
                    w[r, j] = w[a, j] + w[b, j]
            elif code == _SUBTRACT:
                for j in range(width):
                    w[r, j] = w[a, j] - w[b, j]
            elif code == _OUTPUT:
                for j in range(own):
                    y[r, first + j] = w[a, j]
            elif code == _TWICE:
                for j in range(width):
                    w[r, j] = w[a, j] + w[a, j]
            elif code == _DIVIDE:
                for j in range(width):
                    w[r, j] = w[a, j] / w[b, j]
            elif code == _NEGATE:
                for j in range(width):
                    w[r, j] = -w[a, j]
            elif code == _SQUARE:
                for j in range(width):
                    w[r, j] = w[a, j] * w[a, j]
            elif code == _SINE:
                for j in range(width):
                    w[r, j] = np.sin(w[a, j])
            elif code == _COSINE:
                for j in range(width):
                    w[r, j] = np.cos(w[a, j])
            elif code == _ROOT:
                for j in range(width):
                    w[r, j] = np.sqrt(w[a, j])
            elif code == _CONSTANT:
                for j in range(width):
                    w[r, j] = constants[a]
            elif code == _INPUT:
                for j in range(own):
                    w[r, j] = x[a, first + j]
            elif code == _COPY:
                for j in range(width):
                    w[r, j] = w[a, j]
            elif code == _INVERSE:
                for j in range(width):
                    w[r, j] = 1.0 / w[a, j]
            elif code == _EXPONENTIAL:
                for j in range(width):
                    w[r, j] = np.exp(w[a, j])
            elif code == _LOGARITHM:
                for j in range(width):
                    w[r, j] = np.log(w[a, j])
            elif code == _POWER:
                for j in range(width):
                    w[r, j] = w[a, j] ** w[b, j]
            elif code == _TANGENT:
                for j in range(width):
                    w[r, j] = np.tanh(w[a, j])
            elif code == _GREATER:
                for j in range(width):
                    w[r, j] = max(w[a, j], w[b, j])
            elif code == _LESSER:
                for j in range(width):
                    w[r, j] = min(w[a, j], w[b, j])
            elif code == _SIZE:
                for j in range(width):
                    w[r, j] = abs(w[a, j])
            elif code == _SIGN:
                for j in range(width):
                    w[r, j] = np.sign(w[a, j])
            elif code == _BELOW:
                for j in range(width):
                    w[r, j] = 1.0 if w[a, j] < w[b, j] else 0.0
            elif code == _NOT_ABOVE:
                for j in range(width):
                    w[r, j] = 1.0 if w[a, j] <= w[b, j] else 0.0
            elif code == _NOT:
                for j in range(width):
                    w[r, j] = 1.0 if w[a, j] == 0.0 else 0.0
            elif code == _IF:
                for j in range(width):
                    w[r, j] = w[b, j] if w[a, j] != 0.0 else 0.0
