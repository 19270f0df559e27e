# SPDX-License-Identifier: Apache-2.0
"""Blocks that are alike, interval by interval, put into large sparse matrices."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Piece:
    """What one kind of rows adds to the program; expressions of all unknowns and factors."""

    values: ca.MX
    places: NDArray[np.int64]
    jacobian: ca.MX
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def block_piece(
    values: ca.MX, blocks: ca.MX, sparsity: ca.Sparsity, rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> Piece:
    """Return rows whose values and blocks of derivatives come place by place, (rows, places) and (k, places w)."""
    i, j = (np.array(part, dtype=np.int64) for part in sparsity.get_triplet())
    return Piece(ca.vec(values), rows.ravel(), ca.vec(blocks.nz[:]), rows[:, i].ravel(), columns[:, j].ravel())


def scattered(
    blocks: ca.MX, sparsity: ca.Sparsity, rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]
) -> ca.MX:
    """Sum of blocks, put at their places of a large matrix."""
    i, j = (np.array(part, dtype=np.int64) for part in sparsity.get_triplet())
    return matrix(ca.vec(blocks.nz[:]), rows[:, i].ravel(), columns[:, j].ravel(), shape)


def matrix(values: ca.MX, rows: NDArray[np.int64], columns: NDArray[np.int64], shape: tuple[int, int]) -> ca.MX:
    """Sparse matrix of values at places; each place once."""
    order = np.lexsort((rows, columns))
    sparsity = ca.Sparsity.triplet(*shape, rows[order].tolist(), columns[order].tolist())
    return ca.MX(sparsity, ca.vec(values)[order.tolist()])


def gathered(pieces: list[Piece], rows: int, unknowns: int) -> tuple[ca.MX, ca.MX]:
    """Return all rows in their order, and their Jacobian."""
    places = np.concatenate([piece.places for piece in pieces])
    g = ca.vertcat(*[piece.values for piece in pieces])[np.argsort(places).tolist()]
    J = matrix(
        ca.vertcat(*[piece.jacobian for piece in pieces]),
        np.concatenate([piece.rows for piece in pieces]),
        np.concatenate([piece.columns for piece in pieces]),
        (rows, unknowns),
    )
    return g, J

