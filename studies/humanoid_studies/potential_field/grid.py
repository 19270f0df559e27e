# SPDX-License-Identifier: Apache-2.0
"""Best-first and very-best-first planning on a grid (specification 001 sections 6.2 and 7.4.1, Alg. 1 and 6).

Which cells are neighbours is section 5.2.2.2's choice.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.progress import ProgressCallback
from humanoid_planner.contacts.best_first import BestFirstSearch, End, Node, SearchSpace

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


Potential = Callable[[NDArray[np.float64]], float]
METHODS = ("bfp", "vbfp")


class Grid(SearchSpace[Cell]):
    """Cells k of a grid, which stand for the points origin + diag(steps) k.

    Attributes:
        method: "bfp" gives all neighbours of an expanded cell, "vbfp" its best one and the next best one of its
            parent's.
    """

    def __init__(
        self,
        origin: ArrayLike,
        steps: ArrayLike,
        potential: Potential,
        goal: Cell | Callable[[NDArray[np.float64]], bool],
        *,
        method: str = "bfp",
        neighbours: Neighbours | None = None,
        free_path: Callable[[NDArray[np.float64], NDArray[np.float64]], bool] | None = None,
        threshold: float = math.inf,
    ) -> None:
        """Take a grid.

        Args:
            origin: (n,) point of the cell (0, ..., 0).
            steps: (n,) distances of neighbouring points, above zero.
            potential: U of a point.
            goal: the cell to reach, or what tells whether a point will do: in a region, beyond a plane, low enough.
            method: "bfp" or "vbfp".
            neighbours: of a cell; None for those that differ by one step on one coordinate.
            free_path: whether the way between two points is free; None for always.
            threshold: M, for "vbfp", which has to know it to find the best.

        Raises:
            InputError: steps that aren't above zero, or an unknown method.
        """
        self._origin = np.atleast_1d(np.asarray(origin, dtype=float))
        self._steps = np.broadcast_to(np.asarray(steps, dtype=float), self._origin.shape)
        if not (np.isfinite(self._origin).all() and np.isfinite(self._steps).all() and (self._steps > 0).all()):
            raise InputError(f"are {self._steps}", element="steps", remedy="Give finite numbers above zero")
        if method not in METHODS:
            raise InputError(f"is '{method}'", element="method", remedy=f"Give one of {', '.join(METHODS)}")
        self.method, self._threshold = method, threshold
        self._field, self._goal, self._free = potential, goal, free_path
        self._neighbours = neighbours or m_neighbours(len(self._origin))
        self._known: set[Cell] = set()
        self._values: dict[Cell, float] = {}

    def point(self, cell: Cell) -> NDArray[np.float64]:
        """(n,) point of a cell."""
        return np.asarray(self._origin + self._steps * cell)

    def potential(self, state: Cell) -> float:
        """Return u of a cell's point, computed once."""
        if state not in self._values:
            self._values[state] = float(self._field(self.point(state)))
        return self._values[state]

    def add(self, state: Cell) -> bool:
        """Remembers a cell."""
        new = state not in self._known
        self._known.add(state)
        return new

    def reached(self, state: Cell) -> bool:
        """Return whether a cell is the goal, or its point will do."""
        return self._goal(self.point(state)) if callable(self._goal) else state == self._goal

    def tie(self, state: Cell) -> tuple[int, ...]:
        """Return cells of equal potential go by their coordinates."""
        return state

    def expand(self, node: Node[Cell], nodes: list[Node[Cell]], stop: Callable[[], bool]) -> Iterable[tuple[int, Cell]]:
        """Yield the new neighbours: all of them, or the best sibling and the best child."""
        if self.method == "bfp":
            for cell in self._neighbours(node.state):
                if self._may_go(node.state, cell) and self.add(cell):
                    yield node.index, cell
            return
        for parent in (node.parent, node.index):
            best = None if parent is None else self._best_neighbour(nodes[parent].state)
            if best is not None:
                assert parent is not None
                self.add(best)
                yield parent, best

    def _best_neighbour(self, cell: Cell) -> Cell | None:
        """Return the neighbour of lowest potential that isn't known yet."""
        new = [other for other in self._neighbours(cell) if other not in self._known and self._may_go(cell, other)]
        new = [other for other in new if self.potential(other) < self._threshold]
        return min(new, key=lambda other: (self.potential(other), other), default=None)

    def _may_go(self, cell: Cell, other: Cell) -> bool:
        return self._free is None or self._free(self.point(cell), self.point(other))

    def encode(self, state: Cell) -> Any:
        """Return a cell as a list."""
        return list(state)

    def decode(self, data: Any) -> Cell:
        """Return a cell of a list."""
        return tuple(int(k) for k in data)

    def memory(self) -> Any:
        """Return cells that are known without being in the tree, above the threshold."""
        return [list(cell) for cell in sorted(self._known)]

    def recall(self, data: Any) -> None:
        """Take known cells."""
        self._known.update(self.decode(cell) for cell in data)


@dataclass(frozen=True, eq=False)
class GridPlan:
    """A path on a grid, or the one to the lowest point found.

    Attributes:
        success: whether the goal is reached.
        end: why the search ended.
        points: (k, n) of the path, both ends included.
        internal: number of expanded cells.
        leaves: cells without children, the goal not counted.
    """

    success: bool
    end: End
    points: NDArray[np.float64]
    internal: int
    leaves: int


def plan_on_grid(
    start: Cell,
    goal: Cell | Callable[[NDArray[np.float64]], bool],
    potential: Potential,
    *,
    threshold: float = math.inf,
    time_limit: float = math.inf,
    max_nodes: float = math.inf,
    progress: ProgressCallback | None = None,
    **grid: Any,
) -> GridPlan:
    """Plan a path on an unbounded grid by following a potential.

    Args:
        start: cell.
        goal: see :class:`Grid`.
        potential: likewise.
        threshold: M; cells of this potential and above are left out.
        time_limit: [s].
        max_nodes: in the tree.
        progress: told of each expansion; returns True to cancel.
        **grid: more of what :class:`Grid` takes; its origin is zero and its steps are one where nothing is said.

    Raises:
        InputError: something can't be used.
    """
    given: dict[str, Any] = {"origin": np.zeros(len(start)), "steps": 1.0, **grid}
    space = Grid(potential=potential, goal=goal, threshold=threshold, **given)
    search = BestFirstSearch(space, tuple(int(k) for k in start), threshold)
    if space.reached(search.nodes[0].state):
        search.goal = search.nodes[0]
    end = search.run(time_limit=time_limit, max_nodes=max_nodes, progress=progress)
    return GridPlan(
        search.goal is not None,
        end,
        np.array([space.point(node.state) for node in search.path()]),
        search.expanded,
        _leaves(search.nodes, search.goal),
    )


def _leaves(nodes: Sequence[Node[Cell]], goal: Node[Cell] | None) -> int:
    parents = {node.parent for node in nodes}
    return sum(node.index not in parents and node is not goal for node in nodes)
