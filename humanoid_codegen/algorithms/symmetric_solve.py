# SPDX-License-Identifier: Apache-2.0
r"""Solving with symmetric positive definite matrices of scalars: :math:`M = L^T D L`, zeros skipped.

R. Featherstone, Rigid Body Dynamics Algorithms, 2008, §6.5: worked off from the last row on, the factor of a
joint-space inertia has no entries where two coordinates are on different branches. Entries that are the number zero
take no operation, so that the branches need not be given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from humanoid_codegen.expression.graph import Expression
from humanoid_codegen.vector import Scalar


class SingularMatrixError(ArithmeticError):
    """A pivot is the number zero.

    Attributes:
        row: of the pivot.
    """

    def __init__(self, row: int) -> None:
        super().__init__(f"pivot {row} is zero")
        self.row = row


@dataclass(frozen=True)
class Factor:
    """Factor of a symmetric matrix.

    Attributes:
        lower: by row k, the entries (column, value) of the unit lower triangular L left of the diagonal, zeros left
        out.
        reciprocals: of the entries of D.
    """

    lower: tuple[tuple[tuple[int, Scalar], ...], ...]
    reciprocals: tuple[Scalar, ...]


def factorize(M: Sequence[Sequence[Scalar]]) -> Factor:
    """Return the factor of a symmetric positive definite matrix; only its lower triangle is read.

    Args:
        M: n rows of n entries.

    Raises:
        SingularMatrixError: a pivot is zero whatever the entries that are expressions.
    """
    n = len(M)
    H = [list(row) for row in M]
    lower: list[tuple[tuple[int, Scalar], ...]] = [()] * n
    reciprocals: list[Scalar] = [0.0] * n
    for k in reversed(range(n)):
        if is_zero(H[k][k]):
            raise SingularMatrixError(k)
        reciprocals[k] = 1.0 / H[k][k]
        columns = [j for j in range(k) if not is_zero(H[k][j])]
        lower[k] = tuple((j, H[k][j] * reciprocals[k]) for j in columns)
        for i, factor in lower[k]:
            for j in columns:
                if j <= i:
                    H[i][j] = H[i][j] - factor * H[k][j]
    return Factor(tuple(lower), tuple(reciprocals))


def solve(factor: Factor, right: Sequence[Scalar]) -> list[Scalar]:
    """Solution x of M x = right.

    Args:
        factor: of M.
        right: n entries.
    """
    x = list(right)
    n = len(x)
    for k in reversed(range(n)):
        if not is_zero(x[k]):
            for j, entry in factor.lower[k]:
                x[j] = x[j] - entry * x[k]
    for k in range(n):
        value = x[k] * factor.reciprocals[k]
        for j, entry in factor.lower[k]:
            if not is_zero(x[j]):
                value = value - entry * x[j]
        x[k] = value
    return x


def inverse(factor: Factor) -> list[list[Scalar]]:
    """Return the inverse of a factorised matrix, as the symmetric product of the inverse factor with itself.

    Args:
        factor: of M.
    """
    n = len(factor.reciprocals)
    # Row k of L^-1 by columns.
    rows: list[dict[int, Scalar]] = []
    for k in range(n):
        row: dict[int, Scalar] = {k: 1.0}
        for j, entry in factor.lower[k]:
            for column, value in rows[j].items():
                row[column] = row.get(column, 0.0) - entry * value
        rows.append(row)
    scaled = [{column: value * factor.reciprocals[column] for column, value in row.items()} for row in rows]
    result: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            total: Scalar = 0.0
            for column, value in rows[j].items():
                if column in scaled[i]:
                    total = total + scaled[i][column] * value
            result[i][j] = result[j][i] = total
    return result


def is_zero(value: Scalar) -> bool:
    """Return whether an entry is the number zero, whatever the configuration."""
    return not isinstance(value, Expression) and isinstance(value, (int, float)) and value == 0.0
