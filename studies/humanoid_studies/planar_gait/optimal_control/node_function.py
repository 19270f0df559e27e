# SPDX-License-Identifier: Apache-2.0
"""A casadi function evaluated at all nodes of a mesh in one call, on numpy arrays and without copies."""

from __future__ import annotations

import threading
from typing import Any

import casadi
import numpy as np

from humanoid_model.arrays import Reals

_CHUNKS = (64, 8)
"""Numbers of nodes evaluated in one call: compiled once, whatever the meshes. The last chunk is filled up."""


class NodeFunction:
    """Evaluates f(node values..., parameters) at any number of nodes; threads take turns.

    Args:
        name: of the function.
        arguments: columns of symbols, one value of each at every node.
        parameters: column of symbols that all nodes share.
        results: dense expressions.
    """

    def __init__(
        self, name: str, arguments: list[casadi.SX], parameters: casadi.SX, results: list[casadi.SX]
    ) -> None:
        dense = [casadi.densify(result) for result in results]
        self.function = casadi.Function(name, [*arguments, parameters], dense, {"cse": True})
        self._shapes = [(result.shape[0], result.shape[1]) for result in dense]
        self._sizes = [argument.numel() for argument in arguments]
        self._parameters = parameters.numel()
        self._chunks = [_Chunk(self.function, size, self._sizes, self._parameters, self._shapes) for size in _CHUNKS]
        self._lock = threading.Lock()

    def __call__(self, *arguments: Reals) -> list[Reals]:
        """Values at the nodes.

        Args:
            *arguments: (K, size) for each argument, then the (parameters,) shared numbers.

        Returns:
            For each result (K, rows) if it is a column, else (K, rows, columns).
        """
        K = len(arguments[0])
        found = [np.empty((K, rows * columns)) for rows, columns in self._shapes]
        with self._lock:
            for chunk in self._chunks:
                chunk.shared[...] = arguments[-1]
            done = 0
            while done < K:
                chunk = self._chunks[0] if K - done >= _CHUNKS[0] else self._chunks[-1]
                count = min(chunk.size, K - done)
                for stored, given in zip(chunk.inputs, arguments[:-1], strict=True):
                    stored[:count] = given[done : done + count]
                    stored[count:] = given[done + count - 1]
                chunk.evaluate()
                for result, stored in zip(found, chunk.outputs, strict=True):
                    result[done : done + count] = stored[:count]
                done += count
        # casadi stores columns one after the other.
        return [
            item if columns == 1 else np.ascontiguousarray(item.reshape(K, columns, rows).transpose(0, 2, 1))
            for item, (rows, columns) in zip(found, self._shapes, strict=True)
        ]


class _Chunk:
    """The function at a fixed number of nodes, on arrays that it reads and writes in place."""

    def __init__(
        self, function: casadi.Function, size: int, sizes: list[int], parameters: int, shapes: list[tuple[int, int]]
    ) -> None:
        self.size = size
        self.inputs: list[Any] = [np.zeros((size, width)) for width in sizes]
        self.shared: Any = np.zeros(parameters)
        self.outputs: list[Any] = [np.zeros((size, rows * columns)) for rows, columns in shapes]
        self._mapped = function.map(f"{function.name()}_{size}", "serial", size, [len(sizes)], [])
        buffer: Any
        buffer, self.evaluate = self._mapped.buffer()
        for index, array in enumerate([*self.inputs, self.shared]):
            buffer.set_arg(index, memoryview(array))
        for index, array in enumerate(self.outputs):
            buffer.set_res(index, memoryview(array))
        self._buffer = buffer
