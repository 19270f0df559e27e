# SPDX-License-Identifier: Apache-2.0
"""A casadi function evaluated at all nodes of a mesh in one call, on numpy arrays and without copies."""

from __future__ import annotations

from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

Real = NDArray[np.floating[Any]]


class NodeFunction:
    """Evaluates f(node values..., parameters) at K nodes.

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
        self._maps: dict[int, tuple[Any, Any, list[Any], Any, list[Any]]] = {}
        self._parameters = parameters.numel()

    def __call__(self, *arguments: Real) -> list[Real]:
        """Values at the nodes.

        Args:
            *arguments: (K, size) for each argument, then the (parameters,) shared numbers.

        Returns:
            For each result (K, rows) if it is a column, else (K, rows, columns).
        """
        K = len(arguments[0])
        if K not in self._maps:
            self._maps[K] = self._mapped(K)
        _, evaluate, inputs, shared, outputs = self._maps[K]
        for stored, given in zip(inputs, arguments[:-1], strict=True):
            stored[...] = given
        shared[...] = arguments[-1]
        evaluate()
        results = []
        for (rows, columns), stored in zip(self._shapes, outputs, strict=True):
            if columns == 1:
                results.append(stored.copy())
            else:  # casadi stores columns one after the other
                results.append(stored.reshape(K, columns, rows).transpose(0, 2, 1).copy())
        return results

    def _mapped(self, K: int) -> tuple[Any, Any, list[Any], Any, list[Any]]:
        last = len(self._sizes)
        mapped = self.function.map(f"{self.function.name()}_{K}", "serial", K, [last], [])
        inputs: list[Any] = [np.zeros((K, size)) for size in self._sizes]
        shared: Any = np.zeros(self._parameters)
        outputs: list[Any] = [np.zeros((K, rows * columns)) for rows, columns in self._shapes]
        buffer: Any
        buffer, evaluate = mapped.buffer()
        for index, array in enumerate([*inputs, shared]):
            buffer.set_arg(index, memoryview(array))
        for index, array in enumerate(outputs):
            buffer.set_res(index, memoryview(array))
        # The buffer refers to the function: both live as long as this tuple does.
        return (mapped, buffer), evaluate, inputs, shared, outputs
