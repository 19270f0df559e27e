# SPDX-License-Identifier: Apache-2.0
"""Best-first search: one loop for grids and for stances (specification 001 sections 6.2, 6.3 and 7.4).

Its trees are saved whole or not at all, and read again with a clear word about what is wrong.
"""

from __future__ import annotations

import heapq
import json
import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Generic, TypeVar

from humanoid_model.errors import InputError
from humanoid_model.files import read_text
from humanoid_model.progress import Progress, ProgressCallback

S = TypeVar("S")


@dataclass
class Node(Generic[S]):
    """A node of the search tree.

    Attributes:
        index: its place in the tree's list, in the order of generation.
        state: what it stands for.
        potential: U of the state; the lowest is expanded first.
        parent: index of the node it came from; None for the root.
        expanded: whether its children were generated.
        closed: whether it was cut off.
    """

    index: int
    state: S
    potential: float
    parent: int | None
    expanded: bool = False
    closed: bool = False


class End(Enum):
    """Why a search ended."""

    GOAL = "the goal is reached"
    EMPTY = "no nodes are left"
    TIME = "the time limit is reached"
    NODES = "the node budget is used up"
    CANCELLED = "it was cancelled"


class ExpansionInterruptedError(Exception):
    """A space gave up because it was asked to stop; the node stays open, and the tree as it was."""


class SearchSpace(ABC, Generic[S]):
    """What is searched. A space remembers which states were generated: ``expand`` gives none twice."""

    @abstractmethod
    def potential(self, state: S) -> float:
        """Return u of a state."""

    @abstractmethod
    def add(self, state: S) -> bool:
        """Remembers a state; returns False where one equal to it is known."""

    @abstractmethod
    def expand(self, node: Node[S], nodes: list[Node[S]], stop: Callable[[], bool]) -> Iterable[tuple[int, S]]:
        """Generate new states, each with the index of its parent.

        Args:
            node: to expand.
            nodes: the tree.
            stop: to be asked during long expansions whether to give up.

        Raises:
            ExpansionInterruptedError: ``stop`` said so, before any state was given. The node is expanded anew when the
                search goes on, as if it hadn't been before.
        """

    def reached(self, state: S) -> bool:
        """Return whether a state is the goal; asked when it is generated, so it has to be cheap."""
        return False

    def finish(self, node: Node[S], stop: Callable[[], bool]) -> S | None:
        """Return the goal state that can be joined to a node; asked for every node before it is expanded.

        Args:
            node: of the tree.
            stop: as for :meth:`expand`.

        Raises:
            ExpansionInterruptedError: likewise.
        """
        return None

    def forget(self, node: Node[S], cut: Iterable[Node[S]], nodes: list[Node[S]]) -> Iterable[int]:
        """Take the way from a node's parent to it for none: the one isn't given again as the other's child.

        Args:
            node: that was cut off.
            cut: the node and all that grew from it, which others may give anew.
            nodes: the tree.

        Returns:
            Nodes that gave none of what was cut as it was known already.
        """
        return ()

    def cut_short(self) -> Collection[int]:
        """Return the nodes whose expansion left states out that another one gives; asked when nothing else waits."""
        return ()

    def remember(self, node: Node[S], cut: Iterable[Node[S]]) -> None:
        """Take back what :meth:`forget` took of a node."""

    def delay(self, node: Node[S], nodes: list[Node[S]]) -> float:
        """Return what is added to the potential of a node that waits; it may grow while the search goes on."""
        return 0.0

    def tie(self, state: S) -> tuple[int, ...]:
        """Return the order of states of equal potential; those that are equal here too go by their generation."""
        return ()

    def encode(self, state: S) -> Any:
        """Return a state as what JSON can hold."""
        raise NotImplementedError(f"{type(self).__name__} can't be saved")

    def decode(self, data: Any) -> S:
        """Return a state of what :meth:`encode` made."""
        raise NotImplementedError(f"{type(self).__name__} can't be saved")

    def memory(self) -> Any:
        """Return what the space remembers beside the tree's states, as what JSON can hold."""
        return None

    def recall(self, data: Any) -> None:
        """Take what :meth:`memory` gave."""


class BestFirstSearch(Generic[S]):
    """A search tree that grows from its node of lowest potential.

    The loop is that of BFP (Alg. 1, 2) and of VBFP (Alg. 6, 7): these differ in what the space's ``expand`` gives,
    all children, or the best child and the next sibling. A search that ended by a limit goes on with the next ``run``.

    Attributes:
        space: what is searched.
        threshold: M; states of this potential and above are left out.
        nodes: the tree in the order of generation; the first is the root.
        goal: node that reached the goal, None before.
        expanded: number of nodes whose children were generated.
        time: wall-clock time of all runs [s].
    """

    def __init__(self, space: SearchSpace[S], start: S, threshold: float = math.inf) -> None:
        """Take a space and where to start.

        Raises:
            InputError: the start has no finite potential, or the threshold is NaN.
        """
        if math.isnan(threshold):
            raise InputError("is NaN", element="threshold", remedy="Give a number, or infinity for none")
        self.space, self.threshold = space, threshold
        self.nodes: list[Node[S]] = []
        self.goal: Node[S] | None = None
        self.expanded, self.time = 0, 0.0
        self._waiting: list[tuple[float, tuple[int, ...], int]] = []
        self._best, self._told = 0, -1
        space.add(start)
        if not math.isfinite(space.potential(start)):
            raise InputError(
                f"is {space.potential(start)} at the start",
                element="potential",
                remedy="Give one that is finite wherever the search may go",
            )
        self._insert(start, None)

    def close(self, node: Node[S]) -> list[Node[S]]:
        """Cut a node off, with all that grew from it; the search goes on in what is left of the tree.

        Returns:
            What was cut off.

        Raises:
            InputError: it is the root.
        """
        if node.parent is None:
            raise InputError("is the root", element="node", remedy="Close another one")
        parent = self.nodes[node.parent]
        node.closed, cut = True, [node]
        for one in self.nodes[node.index + 1 :]:
            if not one.closed and one.parent is not None and self.nodes[one.parent].closed:
                one.closed = True
                cut.append(one)
        again = set(self.space.forget(node, cut, self.nodes))
        if self.goal is not None and self.goal.closed:
            self.goal = None
        # A parent without children was joined to the goal before they were sought.
        for index in sorted(again if parent.expanded else again | {parent.index}):
            self._wait(self.nodes[index])
        self._best = min((one for one in self.nodes if not one.closed), key=lambda one: one.potential).index
        return cut

    def reopen(self, cut: Sequence[Node[S]], goal: Node[S]) -> None:
        """Put back what was cut off a node that isn't, with the goal that had been reached from it."""
        self.space.remember(cut[0], cut)
        for node in cut:
            node.closed = False
            if not node.expanded and node is not goal:
                self._wait(node)
        self.goal = goal

    @property
    def best(self) -> Node[S]:
        """The goal if it is reached, else the node of lowest potential; of equal ones the first."""
        return self.goal or self.nodes[self._best]

    def path(self, node: Node[S] | None = None) -> list[Node[S]]:
        """Nodes from the root to one, to the best one if None."""
        node = self.best if node is None else node
        path = [node]
        while node.parent is not None:
            node = self.nodes[node.parent]
            path.append(node)
        return path[::-1]

    def run(
        self, *, time_limit: float = math.inf, max_nodes: float = math.inf, progress: ProgressCallback | None = None
    ) -> End:
        """Search until something ends it.

        Args:
            time_limit: of this run [s].
            max_nodes: in the tree; looked at between expansions.
            progress: told of each expansion, and more often by spaces whose expansions take long.

        Raises:
            InputError: a limit is NaN.
        """
        for name, limit in (("time_limit", time_limit), ("max_nodes", max_nodes)):
            if math.isnan(limit):
                raise InputError("is NaN", element=name, remedy="Give a number, or infinity for none")
        began = time.perf_counter()
        why = End.CANCELLED

        def stop() -> bool:
            nonlocal why
            if time.perf_counter() - began >= time_limit:
                why = End.TIME
            elif progress is not None and progress(self.progress):
                why = End.CANCELLED
            else:
                return False
            return True

        try:
            while self.goal is None:
                if not self._waiting:
                    for index in self.space.cut_short():
                        if not self.nodes[index].closed:
                            self._wait(self.nodes[index])
                if not self._waiting:
                    return End.EMPTY
                if len(self.nodes) >= max_nodes:
                    return End.NODES
                if stop():
                    return why
                entry = heapq.heappop(self._waiting)
                node = self.nodes[entry[2]]
                if node.closed:
                    continue
                late = node.potential + self.space.delay(node, self.nodes)
                if late > entry[0]:
                    heapq.heappush(self._waiting, (late, *entry[1:]))
                    continue
                whole = False
                try:
                    self._open(node, stop)
                    whole = True
                except ExpansionInterruptedError:
                    return why
                finally:
                    # Whatever an expansion ends by, nothing is lost.
                    if not whole:
                        heapq.heappush(self._waiting, entry)
            return End.GOAL
        finally:
            self.time += time.perf_counter() - began

    @property
    def progress(self) -> Progress:
        """Where the search is: nodes of the tree, the lowest potential as cost, and its node where that is new."""
        best = self.best
        new, self._told = best.index != self._told, best.index
        stage = f"{self.expanded} of {len(self.nodes)} nodes expanded"
        return Progress(stage, nodes=len(self.nodes), cost=best.potential, result=best if new else None)

    def _open(self, node: Node[S], stop: Callable[[], bool]) -> None:
        """Test a node for the goal and expand it, wholly or not at all."""
        end = None if node.expanded else self.space.finish(node, stop)
        if end is not None:
            self.goal = self._append(end, node.index)
            return
        # All children are looked at before the search returns: otherwise the tree depends on their order.
        for parent, state in list(self.space.expand(node, self.nodes, stop)):
            child = self._insert(state, parent)
            if child is not None and self.goal is None and self.space.reached(state):
                self.goal = child
        self.expanded += not node.expanded
        node.expanded = True

    def _insert(self, state: S, parent: int | None) -> Node[S] | None:
        potential = self.space.potential(state)
        # NaN isn't below the threshold either.
        if parent is not None and not potential < self.threshold:
            return None
        node = self._append(state, parent, potential)
        self._wait(node)
        return node

    def _wait(self, node: Node[S]) -> None:
        heapq.heappush(self._waiting, (node.potential, self.space.tie(node.state), node.index))

    def _append(self, state: S, parent: int | None, potential: float | None = None) -> Node[S]:
        value = self.space.potential(state) if potential is None else potential
        node = Node(len(self.nodes), state, value, parent)
        self.nodes.append(node)
        if value < self.nodes[self._best].potential:
            self._best = node.index
        return node

    def to_data(self) -> dict[str, Any]:
        """Return the tree as what JSON can hold."""
        return {
            "threshold": None if math.isinf(self.threshold) else self.threshold,
            "time": self.time,
            "goal": None if self.goal is None else self.goal.index,
            "nodes": [
                [node.parent, node.potential, node.expanded, self.space.encode(node.state)] for node in self.nodes
            ],
            "again": [index for _, _, index in self._waiting if self.nodes[index].expanded],
            "closed": [node.index for node in self.nodes if node.closed],
            "memory": self.space.memory(),
        }

    @classmethod
    def from_data(cls, space: SearchSpace[S], data: dict[str, Any]) -> BestFirstSearch[S]:
        """Return a search that goes on where the one went that ``to_data`` told of.

        Args:
            space: the same as then, without memory of its states.
            data: of the tree.
        """
        search = cls.__new__(cls)
        search.space = space
        search.threshold = math.inf if data["threshold"] is None else float(data["threshold"])
        search.time, search.expanded, search._best, search._told = float(data["time"]), 0, 0, -1
        search.nodes, search._waiting, search.goal = [], [], None
        closed = set(data["closed"])
        for parent, potential, expanded, encoded in data["nodes"]:
            state = space.decode(encoded)
            node = search._append(state, parent, float(potential))
            node.expanded, node.closed = bool(expanded), node.index in closed
            search.expanded += node.expanded
            if node.closed:
                continue
            space.add(state)
            if not expanded and node.index != data["goal"]:
                search._wait(node)
        search._best = min((one for one in search.nodes if not one.closed), key=lambda one: one.potential).index
        for index in data["again"]:
            search._wait(search.nodes[index])
        space.recall(data["memory"])
        if data["goal"] is not None:
            search.goal = search.nodes[data["goal"]]
        return search


_FORMAT = "humanoid_stack search tree 4"


def save_tree(search: BestFirstSearch[S], path: str | Path, problem: str) -> None:
    """Write a search tree, so that the search can go on later; an older file stays until the new one is complete.

    Args:
        search: to save.
        path: of the file, JSON.
        problem: name of what is searched; :func:`load_tree` asks for the same.
    """
    write_whole(path, {"format": _FORMAT, "problem": problem, **search.to_data()})


def write_whole(path: str | Path, data: dict[str, Any]) -> None:
    """Write JSON such that an older file stays until the new one is complete."""
    path = Path(path)
    beside = path.with_name(path.name + ".part")
    beside.write_text(json.dumps(data, allow_nan=False))
    os.replace(beside, path)


def load_tree(space: SearchSpace[S], path: str | Path, problem: str) -> BestFirstSearch[S]:
    """Read a search tree.

    Args:
        space: what was searched, fresh.
        path: of the file.
        problem: name of what was searched.

    Raises:
        InputError: the file is missing, cut short, no tree, or that of another problem.
    """
    element = f"tree file '{path}'"
    data = read_whole(path, element, _FORMAT, problem)
    try:
        return BestFirstSearch.from_data(space, data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise InputError(f"has a field missing or spoilt: {error!r}", element=element) from None


def read_whole(path: str | Path, element: str, form: str, problem: str) -> dict[str, Any]:
    """Read what :func:`write_whole` wrote.

    Args:
        path: of the file.
        element: how messages call it.
        form: what its field ``format`` has to be.
        problem: what its field ``problem`` has to be.

    Raises:
        InputError: the file is missing, no plain file, cut short, of another format or of another problem.
    """
    try:
        data = json.loads(read_text(path))
    except InputError as error:
        raise InputError(error.problem, element=element, remedy=error.remedy) from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"is cut short or no JSON: {error}", element=element, remedy="Take an older file, or start anew"
        ) from None
    if not isinstance(data, dict) or data.get("format") != form:
        raise InputError("is of another format", element=element, remedy=f"Its field 'format' has to be '{form}'")
    if data.get("problem") != problem:
        raise InputError(
            f"belongs to the problem '{data.get('problem')}'", element=element, remedy=f"Give one of '{problem}'"
        )
    return data
