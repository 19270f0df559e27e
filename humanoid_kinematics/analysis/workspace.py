# SPDX-License-Identifier: Apache-2.0
"""Where a tool can be with the loops closed and within limits: plane sections with their areas, clouds of points."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_kinematics.solver.commands import ToolGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError
from humanoid_model.arrays import Array
from humanoid_model.progress import Progress, ProgressCallback, tell

_TICKS = 12
"""Most ticks from a cell to its neighbour."""


@dataclass(frozen=True, eq=False)
class Section:
    """Section of a workspace.

    Attributes:
        plane: its frame in the world; the section is in its x and y.
        step: side of a cell [m].
        cells: (n, 2) numbers of the cells that are reached, along x and y from the plane's origin.
        values: (n,) what was measured in each; NaN without a measure.
        complete: False if the search stopped at its bound of cells.
    """

    plane: pin.SE3
    step: float
    cells: Array
    values: Array
    complete: bool

    @property
    def area(self) -> float:
        """Area that is reached [m^2]."""
        return len(self.cells) * self.step**2

    @property
    def points(self) -> Array:
        """(n, 3) centres of the cells in the world [m]."""
        local = np.column_stack([self.cells * self.step, np.zeros(len(self.cells))])
        return np.asarray(local @ self.plane.rotation.T + self.plane.translation)


def section(
    solver: MechanismSolver,
    tool: str,
    plane: pin.SE3,
    step: float,
    *,
    measure: Callable[[MechanismSolver], float] | None = None,
    max_cells: int = 100_000,
    progress: ProgressCallback | None = None,
) -> Section:
    """Find the part of a plane that a tool reaches from where the mechanism is, cell by cell (specification §3.18).

    Each cell is reached from a neighbour by moving there with loops closed and limits kept, so the section is the part
    connected with the start in the present assembly mode. The tool's orientation is free. The solver stays where it is.

    Args:
        solver: the mechanism.
        tool: name of a tool or link.
        plane: frame of the plane; its origin is the centre of cell (0, 0).
        step: side of a cell [m].
        measure: is called with the solver in each cell, as for a map of dexterity.
        max_cells: where the search stops.
        progress: is told the cells reached.

    Raises:
        InputError: the plane can't be reached near where the tool is.
    """
    before = solver.q.copy()
    here = plane.actInv(solver.placement(tool).translation)
    first = (round(here[0] / step), round(here[1] / step))

    def reach(cell: tuple[int, int]) -> bool:
        goal = plane.act(np.array([cell[0] * step, cell[1] * step, 0.0]))
        last = np.inf
        for _ in range(_TICKS):
            motion = solver.command(ToolGoal.position(tool, goal))
            if motion.status != "moving" or motion.command_gap > 0.8 * last:  # hardly nearer: out of reach
                break
            last = motion.command_gap
        return motion.status == "reached"

    try:
        if not any(reach(first) for _ in range(20)):
            raise InputError(
                f"isn't reached from {np.round(plane.act(here), 6)}", element="plane of the section",
                remedy="Bring the tool near the plane first",
            )  # fmt: skip
        reached = {first: solver.q.copy()}
        values = [measure(solver) if measure else np.nan]
        waiting = deque([first])
        while waiting and len(reached) < max_cells:
            cell = waiting.popleft()
            for way in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                other = (cell[0] + way[0], cell[1] + way[1])
                if other in reached:
                    continue
                solver.q = reached[cell].copy()
                if reach(other):
                    reached[other] = solver.q.copy()
                    values.append(measure(solver) if measure else np.nan)
                    waiting.append(other)
                    if len(reached) % 100 == 0:
                        tell(progress, Progress(f"{len(reached)} cells of the section"))
    finally:
        solver.close(before)
    return Section(plane, step, np.array(list(reached)), np.array(values), not waiting)


def reachable_points(
    solver: MechanismSolver,
    tool: str,
    count: int,
    *,
    seed: int = 0,
    progress: ProgressCallback | None = None,
) -> Array:
    """(n, 3) places of a tool at random configurations with closed loops; ``n`` is at most ``count`` [m].

    Joints start anywhere within their limits (without: half a turn or twice the characteristic length around where
    they are) and go the shortest way to closed loops. Assembly modes mix; the density means nothing. The solver stays
    where it is.
    """
    before, closing = solver.q.copy(), solver.closing
    model, rng = solver.mechanism.model, np.random.default_rng(seed)
    if model.nq != model.nv:
        raise InputError(
            "has joints of several coordinates", element=f"mechanism '{solver.mechanism.name}'",
            remedy="Points are drawn for joints of one coordinate",
        )  # fmt: skip
    reach = np.where(solver.angles, np.pi, 2.0 * solver.length)
    lower = np.where(np.isfinite(solver.lower), solver.lower, before - reach)
    upper = np.where(np.isfinite(solver.upper), solver.upper, before + reach)
    points = []
    for i in range(count):
        if i % 100 == 0:
            tell(progress, Progress("points of the workspace", i / count))
        if solver.close(rng.uniform(lower, upper), iterations=60).closed:
            points.append(solver.placement(tool).translation)
    solver.close(before)
    solver.closing = closing
    return np.array(points).reshape(-1, 3)
