# SPDX-License-Identifier: Apache-2.0
"""How many operations a function takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from humanoid_codegen.expression.function import Function
from humanoid_codegen.expression.graph import Operation


@dataclass(frozen=True)
class OperationCount:
    """Operations of one call.

    Attributes:
        multiplications: products, those by a constant included.
        additions: sums and differences.
        divisions: quotients.
        negations: changes of sign that no sum or product absorbs.
        trigonometric: sines and cosines.
        square_roots: square roots.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    negations: int = 0
    trigonometric: int = 0
    square_roots: int = 0

    @property
    def arithmetic(self) -> int:
        """Multiplications and additions: the figure that papers and tools compare."""
        return self.multiplications + self.additions


def count_operations(function: Function) -> OperationCount:
    """Return counts every node of a function once."""
    found = Counter(node.operation for node in function.nodes)
    return OperationCount(
        multiplications=found[Operation.MULTIPLY],
        additions=found[Operation.ADD] + found[Operation.SUBTRACT],
        divisions=found[Operation.DIVIDE],
        negations=found[Operation.NEGATE],
        trigonometric=found[Operation.SINE] + found[Operation.COSINE],
        square_roots=found[Operation.SQUARE_ROOT],
    )
