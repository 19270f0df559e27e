# SPDX-License-Identifier: Apache-2.0
"""Cycles of walking as a family: optimal ones on a grid of requests, and what lies between them in microseconds.

The grid is solved by continuation: from its middle outwards, each member from one beside it. What its cost changes with
each axis comes from its multipliers (:mod:`humanoid_gait.sensitivity`). Between members unknowns and slopes are
interpolated linearly along every axis, costs so that what is quadratic comes out exactly; such a motion keeps the
dynamics only nearly, and is what a solution begins from (:meth:`GaitFamily.solve`) or what a controller looks at while
it walks.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from humanoid_gait.gait import GaitResult, GaitSolver
from humanoid_gait.guess import posture_guess
from humanoid_gait.problem import GaitProblem
from humanoid_gait.program_solution import ProgramSolution
from humanoid_gait.sensitivity import lagrangian
from humanoid_gait.transcription import Transcription, fits
from humanoid_gait.walk import WalkRequest
from humanoid_model import InputError, Robot
from humanoid_model.archive import BROKEN_ARCHIVE, read_archive, write_archive
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known, check_positive
from humanoid_model.payload import with_payload
from humanoid_model.progress import Progress, ProgressCallback, Watch

SPEED, LOAD = "speed", "load"
AXES = ("length", "side", "turn", "slope", "rise", "width", "single", "double", "clearance", "friction", SPEED, LOAD)
"""What may change: numbers of a request; the speed [m/s], single and double support in their proportion; and what the
robot's heaviest link carries [kg]."""


_ARRAYS = ("cost", "slopes", "durations", "unknowns", "multipliers")
_CHANGE = 1e-4
"""Share of a value by which it is changed for its slope."""


@dataclass(frozen=True, eq=False)
class Member:
    """A cycle of a family, interpolated unless it is one of the grid.

    Attributes:
        cost: of the cycle.
        durations: (P,) of its phases [s].
        unknowns: (V,) of its transcription.
        slopes: by axis, what the cost changes with it.
    """

    cost: float
    durations: Array
    unknowns: Array
    slopes: dict[str, float]


@dataclass(frozen=True, eq=False)
class GaitFamily:
    """Optimal cycles on a grid.

    Attributes:
        robot: that walks.
        request: what the axes don't change.
        axes: values by name, ascending.
        cost: (k1, k2, ...) of the cycles; NaN where there is none.
        slopes: (k1, k2, ..., d) what it changes with each axis.
        durations: (k1, k2, ..., P) of their phases [s].
        unknowns: (k1, k2, ..., V) of their transcriptions.
        multipliers: (k1, k2, ..., R + V) of rows and of bounds of the unknowns.
        reasons: why there is none, by place in the grid.
    """

    robot: Robot
    request: WalkRequest
    axes: dict[str, Array]
    cost: Array
    slopes: Array
    durations: Array
    unknowns: Array
    multipliers: Array
    reasons: dict[tuple[int, ...], str]

    def at(self, **values: float) -> Member:
        """Return what lies between the grid's members.

        Args:
            values: of every axis.

        Raises:
            InputError: an axis is missing, unknown or beyond its ends, or a member beside it has no solution.
        """
        corners, weights, off = self._beside(values)
        row = weights @ self._table[corners]
        # Of a quadratic function interpolation is as much too high as tangents are too low.
        tangents = np.nan_to_num((off * self.slopes.reshape(-1, len(self.axes))[corners]).sum(axis=1))
        ends = np.cumsum([1, len(self.axes), self.durations.shape[-1]])
        _, slopes, durations, unknowns = np.split(row, ends)
        own = dict(zip(self.axes, slopes.tolist(), strict=True))
        return Member(float(row[0] + 0.5 * weights @ tangents), durations, unknowns, own)

    def solve(
        self, progress: ProgressCallback | None = None, time_limit: float = math.inf, **values: float
    ) -> GaitResult:
        """Return the optimal cycle itself, solved from what :meth:`at` gives.

        Args:
            progress: as of :meth:`GaitSolver.solve`.
            time_limit: likewise [s].
            values: of every axis.

        Raises:
            InputError: as :meth:`at`.
        """
        corners, weights, _ = self._beside(values)
        multipliers = weights @ self.multipliers.reshape(-1, self.multipliers.shape[-1])[corners]
        start = _start(self.at(**values).unknowns, multipliers)
        return GaitSolver(member_problem(self.robot, self.request, values)).solve(start, progress, time_limit)

    def save(self, path: str | Path) -> None:
        """Write the grid to a file; the robot and the request are not in it.

        Raises:
            OSError: the file can't be written.
        """
        words = json.dumps([[list(place), why] for place, why in self.reasons.items()])
        write_archive(
            path, names=np.array(list(self.axes)), reasons=np.array(words), cost=self.cost, slopes=self.slopes,
            durations=self.durations, unknowns=self.unknowns, multipliers=self.multipliers,
            **{f"axis_{name}": values for name, values in self.axes.items()},
        )  # fmt: skip

    @classmethod
    def load(cls, path: str | Path, robot: Robot, request: WalkRequest) -> GaitFamily:
        """Return the family of a file.

        Args:
            path: of the file.
            robot: that it was made for.
            request: likewise.

        Raises:
            InputError: it can't be read, or is of another robot or request.
        """
        try:
            found = read_archive(path)
            axes = {str(name): found[f"axis_{name}"] for name in found["names"]}
            reasons = {tuple(place): why for place, why in json.loads(str(found["reasons"]))}
            arrays = {name: found[name] for name in _ARRAYS}
            family = cls(robot, request, axes, **arrays, reasons=reasons)
            middle = {name: float(values[len(values) // 2]) for name, values in axes.items()}
        except BROKEN_ARCHIVE as problem:
            raise InputError(f"is no family of gaits: {problem}", source=path, remedy="Save one") from problem
        size = _transcription(robot, request, middle).layout.unknowns
        if size != family.unknowns.shape[-1]:
            remedy = "Give the robot and the request that it was made for"
            raise InputError(f"has {family.unknowns.shape[-1]} unknowns, not {size}", source=path, remedy=remedy)
        return family

    @cached_property
    def _table(self) -> Array:
        """(G, 1 + d + P + V) cost, slopes, durations and unknowns of every member."""
        rows = (self.cost[..., None], self.slopes, self.durations, self.unknowns)
        return np.concatenate([own.reshape(self.cost.size, -1) for own in rows], axis=1)

    @cached_property
    def _strides(self) -> list[int]:
        return [math.prod(self.cost.shape[i + 1 :]) for i in range(self.cost.ndim)]

    def _beside(self, values: Mapping[str, float]) -> tuple[NDArray[np.int64], Array, Array]:
        """Return the members beside values, their weights, and how far off values are from them (members, d)."""
        if set(values) != set(self.axes):
            raise InputError(f"are {sorted(values)}", element="values", remedy=f"Give {', '.join(self.axes)}")
        corners, weights = np.zeros(1, dtype=np.int64), np.ones(1)
        off: Array = np.zeros((1, 0))
        for (name, grid), stride in zip(self.axes.items(), self._strides, strict=True):
            value = float(values[name])
            if not grid[0] <= value <= grid[-1]:
                raise InputError(f"is {value:g}", element=name, remedy=f"Give {grid[0]:g} to {grid[-1]:g}")
            i = min(int(np.searchsorted(grid, value, side="right")) - 1, len(grid) - 2)
            share = (value - float(grid[i])) / float(grid[i + 1] - grid[i])
            off = np.column_stack([np.repeat(off, 2, axis=0), np.tile(value - grid[i : i + 2], len(corners))])
            corners = (corners[:, None] + stride * np.array([i, i + 1])).ravel()
            weights = (weights[:, None] * np.array([1.0 - share, share])).ravel()
        needed = weights > 0.0
        for corner in corners[needed & ~np.isfinite(self._table[corners, 0])].tolist():
            place = tuple(int(i) for i in np.unravel_index(corner, self.cost.shape))
            where = ", ".join(f"{name} {grid[i]:g}" for (name, grid), i in zip(self.axes.items(), place, strict=True))
            problem = f"has no cycle at {where}: {self.reasons[place]}"
            raise InputError(problem, element="the family", remedy="Ask for other values")
        return corners[needed], weights[needed], off[needed]


def member_problem(robot: Robot, request: WalkRequest, values: Mapping[str, float]) -> GaitProblem:
    """Return a member as a problem.

    Args:
        robot: that walks.
        request: what the values don't change.
        values: by axis.

    Raises:
        InputError: there is no such axis or cycle, a speed isn't above 0, or is given where durations are free.
    """
    for name in values:
        check_known(name, AXES, "axes", "axis")
    own = {name: float(value) for name, value in values.items() if name not in (SPEED, LOAD)}
    asked = replace(request, **own)  # type: ignore[arg-type]
    if SPEED in values:
        check_positive(values[SPEED], SPEED, "speed in m/s")
        if isinstance(asked.single, tuple) or isinstance(asked.double, tuple) or asked.heel or asked.toe:
            remedy = "Give durations of single and double support, none of heel and toe"
            raise InputError("can't be given where durations are free", element=SPEED, remedy=remedy)
        change = abs(asked.length) / (asked.single + asked.double) / values[SPEED]
        asked = replace(asked, single=asked.single * change, double=asked.double * change)
    load = values.get(LOAD, 0.0)
    return asked.problem(with_payload(robot, load) if load else robot)


def gait_family(
    robot: Robot, request: WalkRequest, axes: Mapping[str, Sequence[float]], *,
    executor: Executor | None = None, progress: ProgressCallback | None = None,
) -> GaitFamily:  # fmt: skip
    """Solve a grid of cycles.

    Args:
        robot: that walks.
        request: what the axes don't change.
        axes: values by name (:data:`AXES`), two or more each, ascending.
        executor: whose workers solve members, as many at once as are equally far from the middle.
        progress: is told how many are solved; may end the work: the others have no cycle then.

    Raises:
        InputError: an axis can't be used, or no member can be written down alike.
    """
    grids = {check_known(name, AXES, "axes", "axis"): np.asarray(own, dtype=float) for name, own in axes.items()}
    for name, grid in grids.items():
        if grid.ndim != 1 or len(grid) < 2 or not np.isfinite(grid).all() or (np.diff(grid) <= 0.0).any():
            raise InputError(f"are {grid.tolist()}", element=name, remedy="Give two or more numbers, ascending")
    if not grids:
        raise InputError("are none", element="axes", remedy=f"Give some of {', '.join(AXES)}")
    watch, run = Watch(progress), map if executor is None else executor.map
    shape = tuple(len(grid) for grid in grids.values())
    found: dict[tuple[int, ...], GaitMemberSolution] = {}
    reasons: dict[tuple[int, ...], str] = {}
    for wave in _waves(shape):
        if watch.over():
            reasons.update(dict.fromkeys(wave, watch.why))
            continue
        tasks = [
            (robot, request, {name: float(grid[i]) for (name, grid), i in zip(grids.items(), place, strict=True)},
             next((found[other] for other in _around(place) if other in found), None))
            for place in wave
        ]  # fmt: skip
        for place, own in zip(wave, run(_solved, tasks), strict=True):
            if isinstance(own, str):
                reasons[place] = own
            else:
                found[place] = own
        done = len(found) + len(reasons)
        watch.now = Progress(f"{done} of {math.prod(shape)} cycles", fraction=done / math.prod(shape))
    sizes = {own.sizes for own in found.values()}
    if len(sizes) != 1:
        why = "; ".join(sorted(set(reasons.values()))[:3]) or "cycles on it have unlike phases or rows"
        raise InputError(why, element="axes", remedy="Leave out values of another kind of walk, such as a turn of 0")
    (one,) = sizes
    cost = np.full(shape, np.nan)
    arrays = {name: np.full((*shape, size), np.nan) for name, size in zip(_ARRAYS[1:], one, strict=True)}
    for place, own in found.items():
        cost[place] = own.cost
        for whole, part in zip(arrays.values(), own.arrays, strict=True):
            whole[place] = part
    return GaitFamily(robot, request, grids, cost, **arrays, reasons=reasons)


@dataclass(frozen=True, eq=False)
class GaitMemberSolution:
    """What a worker returns: the cost, and its slopes, durations, unknowns, multipliers of rows and bounds."""

    cost: float
    arrays: tuple[Array, Array, Array, Array]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Of the arrays."""
        return tuple(len(own) for own in self.arrays)


def _solved(task: tuple[Robot, WalkRequest, dict[str, float], GaitMemberSolution | None]) -> GaitMemberSolution | str:
    """Return a member, or why there is none; from one beside it, and from nothing where that doesn't do."""
    robot, request, values, near = task
    try:
        solver = GaitSolver(member_problem(robot, request, values))
    except InputError as problem:
        return str(problem)
    result = None
    if near is not None and fits(start := _start(*near.arrays[2:]), solver.transcription):
        result = solver.solve(start)
    if result is None or not result.success:
        result = solver.solve()
    if not result.success:
        return result.reason
    own = result.solution
    multipliers = np.concatenate([own.multipliers, own.bound_multipliers])
    slopes = np.array([_slope(robot, request, values, name, own) for name in values])
    return GaitMemberSolution(result.cost, (slopes, np.array(result.durations), own.x, multipliers))


def _slope(
    robot: Robot, request: WalkRequest, values: Mapping[str, float], name: str, solution: ProgramSolution
) -> float:
    """Return what the optimal cost changes with an axis; NaN where programs beside it have another shape."""
    change = _CHANGE * max(abs(values[name]), 0.1)
    found = []
    for own in (values[name] + change, values[name] - change, values[name]):
        try:
            beside = _transcription(robot, request, {**values, name: own})
        except InputError:  # a load below 0
            continue
        if fits(solution, beside):
            found.append((own, lagrangian(beside, solution)))
        if len(found) == 2:
            return (found[0][1] - found[1][1]) / (found[0][0] - found[1][0])
    return math.nan


def _transcription(robot: Robot, request: WalkRequest, values: Mapping[str, float]) -> Transcription:
    """Return a member's program, as :class:`GaitSolver` writes it."""
    problem = member_problem(robot, request, values)
    return Transcription(problem, posture_guess(problem), carried=True)


def _start(x: Array, multipliers: Array) -> ProgramSolution:
    """Return unknowns, and multipliers of rows and bounds in a row, as a solution to begin from."""
    return ProgramSolution(x, multipliers[: -len(x)], multipliers[-len(x) :], math.nan, True, "", 0, 0.0)


def _waves(shape: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """Yield places of a grid, those that are equally many steps from its middle together."""
    middle = [size // 2 for size in shape]
    places = list(itertools.product(*map(range, shape)))
    steps = [sum(abs(i - m) for i, m in zip(place, middle, strict=True)) for place in places]
    for count in range(max(steps) + 1):
        yield [place for place, own in zip(places, steps, strict=True) if own == count]


def _around(place: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the places beside one."""
    for axis, i in enumerate(place):
        for other in (i - 1, i + 1):
            yield (*place[:axis], other, *place[axis + 1 :])
