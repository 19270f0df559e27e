# SPDX-License-Identifier: Apache-2.0
"""The two-link robot among obstacles: components of its transition space, and walks between them.

Specification 001 section 2.3, Figs. 2.8-2.11 of the thesis: contact with the obstacles isn't allowed, so that leaves
may fall apart and the transition space gets holes.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Sequence

import numpy as np
import scipy.ndimage
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_studies.two_link.two_link import TwoLinkRobot

Transition = tuple[int, int]
"""Indices of the places of foot 1 and foot 2 among a scene's abscissae."""


class TwoLinkScene:
    """A two-link robot, convex obstacles, and the places on the ground that its feet may take, sampled.

    Transitions (both feet on the ground) are pairs of places; a leaf (one foot in a place) is a grid over the two
    angles. All tests keep a clearance from obstacles: half of what a link's end may move between neighbours of that
    grid, so that paths between these are free too.

    Attributes:
        robot: its lengths.
        obstacles: convex polygons (k, 2), counter-clockwise [m].
        abscissae: (n,) places of the feet, rising [m].
        clearance: distance that links keep from obstacles [m].
    """

    def __init__(
        self,
        robot: TwoLinkRobot,
        obstacles: Sequence[ArrayLike],
        abscissae: ArrayLike,
        *,
        angles: int = 120,
    ) -> None:
        """Sample a scene.

        Args:
            robot: its lengths.
            obstacles: convex polygons (k, 2), counter-clockwise.
            abscissae: (n,) places of the feet, rising.
            angles: number of samples of a full turn.

        Raises:
            InputError: an obstacle that is no convex polygon, or places that don't rise.
        """
        self.robot = robot
        self.obstacles = tuple(np.asarray(obstacle, dtype=float) for obstacle in obstacles)
        self.abscissae: NDArray[np.float64] = np.asarray(abscissae, dtype=float)
        if self.abscissae.ndim != 1 or not (np.diff(self.abscissae) > 0.0).all():
            raise InputError("places don't rise", element="abscissae", remedy="Give rising numbers")
        self.clearance = robot.l1 * math.pi / angles
        self._halfplanes = [_halfplanes(obstacle, self.clearance) for obstacle in self.obstacles]
        self._angles = (np.arange(angles) + 0.5) * (2.0 * math.pi / angles) - math.pi
        n = len(self.abscissae)
        spans = np.abs(self.abscissae[:, None] - self.abscissae[None, :])
        reachable = (spans > robot.l1 - robot.l2) & (spans < robot.l1 + robot.l2)
        self._configurations = np.full((n, n, 4), np.nan)
        for i, j in zip(*np.nonzero(reachable), strict=True):
            self._configurations[i, j] = robot.transition(float(self.abscissae[i]), float(self.abscissae[j]))
        self._free = np.zeros((n, n), dtype=bool)
        self._free[reachable] = self.free(self._configurations[reachable])
        self._leaves: dict[tuple[int, int], NDArray[np.int64]] = {}
        self._labels: dict[tuple[int, int, int], int] = {}

    def free(self, configurations: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether configurations (..., 4) keep the clearance from all obstacles."""
        x, y, a, b = np.moveaxis(np.asarray(configurations, dtype=float), -1, 0)
        top = np.stack([x, y], axis=-1)
        result = np.ones(x.shape, dtype=bool)
        for length, angle in ((self.robot.l1, a), (self.robot.l2, b)):
            foot = np.stack([x + length * np.sin(angle), y - length * np.cos(angle)], axis=-1)
            for normals, offsets in self._halfplanes:
                result &= ~_crosses(top, foot, normals, offsets)
        return result

    def components(self) -> NDArray[np.int64]:
        """(n, n) number of the component of the free transitions, from 1; 0 where there is none (flood fill).

        The first index is the place of foot 1, the second one that of foot 2.
        """
        return np.asarray(scipy.ndimage.label(self._free)[0], dtype=np.int64)

    def transition(self, where: Transition) -> NDArray[np.float64]:
        """(4,) configuration of a transition."""
        return self._configurations[where].copy()

    def leaf(self, foot: int, place: int) -> NDArray[np.int64]:
        """(angles, angles) component of a leaf's free configurations over (theta_1, theta_2), 0 where not free.

        Args:
            foot: that stands.
            place: its index among the abscissae.
        """
        key = (foot, place)
        if key not in self._leaves:
            a, b = np.meshgrid(self._angles, self._angles, indexing="ij")
            free = self._stands_free(foot, self._on_leaf(foot, place, a, b))
            self._leaves[key] = _label_on_torus(free)
        return self._leaves[key]

    def plan(self, start: Transition, goal: Transition) -> list[Transition] | None:
        """Return a walk with the fewest steps from one transition to another; None if there is none on this grid.

        Two transitions are neighbours when a foot has the same place in both and they border on the same component
        of that foot's leaf.

        Raises:
            InputError: start or goal isn't a free transition.
        """
        for name, where in (("start", start), ("goal", goal)):
            if not self._free[where]:
                raise InputError(f"{where} isn't a free transition", element=name, remedy="Give one that is")
        before: dict[Transition, Transition | None] = {start: None}
        queue = deque([start])
        done: set[tuple[int, int, int]] = set()
        while queue:
            where = queue.popleft()
            if where == goal:
                walk = [where]
                while (previous := before[walk[-1]]) is not None:
                    walk.append(previous)
                return walk[::-1]
            for foot in (1, 2):
                place = where[foot - 1]
                label = self._label(foot, where)
                if label == 0 or (foot, place, label) in done:
                    continue
                done.add((foot, place, label))
                for other in range(len(self.abscissae)):
                    there = (place, other) if foot == 1 else (other, place)
                    if there not in before and self._free[there] and self._label(foot, there) == label:
                        before[there] = where
                        queue.append(there)
        return None

    def neighbours(self) -> set[tuple[int, int]]:
        """Return pairs of components of the transition space that a single step joins, the lower number first."""
        components = self.components()
        bordering: dict[tuple[int, int, int], set[int]] = {}
        for where in zip(*np.nonzero(self._free), strict=True):
            for foot in (1, 2):
                there = (int(where[0]), int(where[1]))
                label = self._label(foot, there)
                if label:
                    bordering.setdefault((foot, there[foot - 1], label), set()).add(int(components[there]))
        return {pair for group in bordering.values() for pair in itertools.combinations(sorted(group), 2)}

    def path(self, walk: Sequence[Transition]) -> NDArray[np.float64]:
        """(k, 4) configurations of a walk that :meth:`plan` found, each step through its leaf's grid.

        Raises:
            InputError: two consecutive transitions aren't neighbours.
        """
        configurations = [self.transition(walk[0])]
        for one, other in itertools.pairwise(walk):
            foot = 1 if one[0] == other[0] else 2
            place = one[foot - 1]
            labels = self.leaf(foot, place)
            first, last = self._cell(foot, one), self._cell(foot, other)
            if one[foot - 1] != other[foot - 1] or first is None or last is None or labels[first] != labels[last]:
                raise InputError(f"no step from {one} to {other}", element="walk", remedy="Give one that was planned")
            cells = np.array(_shortest(labels == labels[first], first, last))
            configurations.extend(self._on_leaf(foot, place, self._angles[cells[:, 0]], self._angles[cells[:, 1]]))
            configurations.append(self.transition(other))
        return np.array(configurations)

    def _on_leaf(self, foot: int, place: int, a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        """(..., 4) configurations of a leaf of angles ``a`` and ``b`` (...)."""
        length, angle = (self.robot.l1, a) if foot == 1 else (self.robot.l2, b)
        return np.stack([self.abscissae[place] - length * np.sin(angle), length * np.cos(angle), a, b], axis=-1)

    def _stands_free(self, foot: int, configurations: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return whether configurations (..., 4) of a leaf have the other foot and O above the ground, and are free."""
        length, angle = (self.robot.l2, 3) if foot == 1 else (self.robot.l1, 2)
        y = configurations[..., 1]
        return self.free(configurations) & (y > 0.0) & (y - length * np.cos(configurations[..., angle]) > 0.0)

    def _cell(self, foot: int, where: Transition) -> tuple[int, int] | None:
        """Cell of a foot's leaf next to a transition that is reached by a free straight line; None if there is none."""
        labels = self.leaf(foot, where[foot - 1])
        q = self._configurations[where]
        n = len(self._angles)
        width = 2.0 * math.pi / n
        nearest = np.round((q[2:] + math.pi) / width - 0.5).astype(int)
        around = np.array(list(itertools.product(range(-2, 3), repeat=2)))
        cells = (nearest + around) % n
        offsets = self._angles[cells] - q[2:]
        offsets = (offsets + math.pi) % (2.0 * math.pi) - math.pi
        for index in np.argsort((offsets**2).sum(axis=1)):
            cell = int(cells[index, 0]), int(cells[index, 1])
            if labels[cell]:
                line = q[2:] + np.linspace(0.1, 1.0, 10)[:, None] * offsets[index]
                if self._stands_free(foot, self._on_leaf(foot, where[foot - 1], *line.T)).all():
                    return cell
        return None

    def _label(self, foot: int, where: Transition) -> int:
        """Return the component of a foot's leaf that a transition borders on; 0 for none."""
        key = (foot, *where)
        if key not in self._labels:
            cell = self._cell(foot, where)
            self._labels[key] = 0 if cell is None else int(self.leaf(foot, where[foot - 1])[cell])
        return self._labels[key]


def _halfplanes(polygon: NDArray[np.float64], clearance: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outward normals (k, 2) and offsets (k,) of a convex polygon grown by a distance."""
    if polygon.ndim != 2 or polygon.shape[1] != 2 or len(polygon) < 3:
        raise InputError(f"an obstacle has shape {polygon.shape}", element="obstacles", remedy="Give polygons (k, 2)")
    edges = np.roll(polygon, -1, axis=0) - polygon
    turns = edges[:, 0] * np.roll(edges[:, 1], -1) - edges[:, 1] * np.roll(edges[:, 0], -1)
    if not (turns > 0.0).all():
        raise InputError(
            "an obstacle isn't convex and counter-clockwise", element="obstacles", remedy="Give convex polygons"
        )
    normals = np.column_stack([edges[:, 1], -edges[:, 0]]) / np.linalg.norm(edges, axis=1)[:, None]
    return normals, np.einsum("ij,ij->i", normals, polygon) + clearance


def _crosses(
    start: NDArray[np.float64], end: NDArray[np.float64], normals: NDArray[np.float64], offsets: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return whether segments (..., 2) have points inside a convex polygon: Cyrus and Beck's clipping."""
    lowest = np.zeros(start.shape[:-1])
    highest = np.ones(start.shape[:-1])
    for normal, offset in zip(normals, offsets, strict=True):
        before, after = start @ normal - offset, end @ normal - offset
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = before / (before - after)
        lowest = np.where((before > 0.0) & (after <= 0.0), np.maximum(lowest, crossing), lowest)
        highest = np.where((before <= 0.0) & (after > 0.0), np.minimum(highest, crossing), highest)
        highest = np.where((before > 0.0) & (after > 0.0), -1.0, highest)
    return lowest < highest


def _label_on_torus(free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return components of a grid whose opposite edges touch, numbered from 1."""
    labels, count = scipy.ndimage.label(free)
    parents = np.arange(count + 1)

    def root(i: int) -> int:
        while parents[i] != i:
            i = parents[i]
        return i

    for one, other in itertools.chain(
        zip(labels[0], labels[-1], strict=True), zip(labels[:, 0], labels[:, -1], strict=True)
    ):
        if one and other:
            parents[root(int(one))] = root(int(other))
    return np.array([root(i) for i in range(count + 1)], dtype=np.int64)[labels]


def _shortest(free: NDArray[np.bool_], start: tuple[int, int], goal: tuple[int, int]) -> list[tuple[int, int]]:
    """Shortest path of cells on a torus, both ends included."""
    n, m = free.shape
    before: dict[tuple[int, int], tuple[int, int] | None] = {start: None}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cell == goal:
            break
        for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            there = ((cell[0] + i) % n, (cell[1] + j) % m)
            if free[there] and there not in before:
                before[there] = cell
                queue.append(there)
    path = [goal]
    while (previous := before[path[-1]]) is not None:
        path.append(previous)
    return path[::-1]
