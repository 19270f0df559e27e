# SPDX-License-Identifier: Apache-2.0
"""Which cells of a grid are neighbours (specification 001 sections 5.2.2.2 and 6.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.errors import InputError

Cell = tuple[int, ...]
Neighbours = Callable[[Cell], Iterable[Cell]]


def m_neighbours(dimension: int, m: int = 1) -> Neighbours:
    """Return cells that differ by one step on at most m coordinates.

    Raises:
        InputError: m isn't from 1 to the dimension.
    """
    if not 1 <= m <= dimension:
        raise InputError(f"is {m}", element="m", remedy=f"Give a number from 1 to {dimension}")
    return _by_offsets(
        offset for offset in itertools.product((-1, 0, 1), repeat=dimension) if 1 <= sum(map(abs, offset)) <= m
    )


def ball_neighbours(dimension: int, radius: float) -> Neighbours:
    """Cells at most a radius away, counted in steps.

    Raises:
        InputError: the radius is below one step.
    """
    if not 1 <= radius < math.inf:
        raise InputError(f"is {radius}", element="radius", remedy="Give a finite number of at least one step")
    reach = range(-int(radius), int(radius) + 1)
    return _by_offsets(
        offset
        for offset in itertools.product(reach, repeat=dimension)
        if any(offset) and sum(k * k for k in offset) <= radius**2
    )


def cone_neighbours(neighbours: Neighbours, goal: ArrayLike, angle: float) -> Neighbours:
    """Those of some neighbours that lie in a cone towards a goal, and the goal itself.

    Args:
        neighbours: to choose from.
        goal: cell that the cone's axis points to.
        angle: half of the cone's opening [rad].
    """
    target, cosine = np.asarray(goal, dtype=float), math.cos(angle)

    def towards(cell: Cell) -> Iterable[Cell]:
        axis = target - cell
        far = float(np.linalg.norm(axis))
        for other in neighbours(cell):
            step = np.subtract(other, cell)
            if step @ axis >= cosine * far * float(np.linalg.norm(step)) - 1e-12:
                yield other

    return towards


def variable_neighbours(neighbours: Neighbours, stride: Callable[[Cell], int]) -> Neighbours:
    """Return neighbours on a grid whose steps vary from place to place (section 5.2.2.6).

    Where a cell's stride is s, its neighbours are s times as far away. They lie on the multiples of their own stride,
    the next ones ahead and the nearest ones sideways: coarse places hold few cells from wherever they are entered.

    Args:
        neighbours: where the steps are finest; the goal's stride should be 1 if it is a cell.
        stride: of a cell, in finest steps, 1 or more.
    """

    def further(cell: Cell) -> Iterable[Cell]:
        own = stride(cell)
        for other in neighbours(cell):
            far = tuple(a + own * (b - a) for a, b in zip(cell, other, strict=True))
            there = stride(far)
            if not min(own, there) >= 1:
                raise InputError(f"is {min(own, there)}", element="stride", remedy="Give 1 or more")
            yield tuple(
                there * (round(k / there) if k == a else math.ceil(k / there) if k > a else k // there)
                for a, k in zip(cell, far, strict=True)
            )

    return further


def _by_offsets(offsets: Iterable[Cell]) -> Neighbours:
    steps = tuple(offsets)
    return lambda cell: [tuple(a + b for a, b in zip(cell, step, strict=True)) for step in steps]
