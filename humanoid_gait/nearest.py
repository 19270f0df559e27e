# SPDX-License-Identifier: Apache-2.0
"""The nearest walk to one that can't be: as far, as steep, as much turned as there is a solution for."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from humanoid_gait.gait import GaitResult, GaitSolver
from humanoid_gait.program_solution import SolverOptions
from humanoid_gait.transcription import fits
from humanoid_gait.walk import WalkRequest
from humanoid_model import InputError, Robot
from humanoid_model.progress import Progress, ProgressCallback, as_part

_SCALED = ("length", "side", "turn", "slope", "rise")
_TRIES = 6
_ITERATIONS = 80
"""Walks that there are take 20 to 60."""


def nearest_request(
    robot: Robot, request: WalkRequest, progress: ProgressCallback | None = None, time_limit: float = math.inf
) -> tuple[WalkRequest, GaitResult] | None:
    """Return the request nearest to one without a solution, and its cycle; None where none was found.

    Its length, way aside, turn, slope and rise are shares of what was asked for, all the same, found by bisection to
    1/64; on stairs the length stays.

    Args:
        robot: that walks.
        request: that has no solution.
        progress: is told of iterations; may end the search.
        time_limit: likewise [s].
    """
    found: tuple[WalkRequest, GaitResult] | None = None
    lower, upper, end, cancelled = 0.0, 1.0, time.perf_counter() + time_limit, False

    def tell(item: Progress) -> bool:
        nonlocal cancelled
        cancelled = progress is not None and bool(progress(item))
        return cancelled

    for number in range(_TRIES):
        left = end - time.perf_counter()
        if cancelled or left <= 0.0:
            break
        share = 0.5 * (lower + upper)
        names = [name for name in _SCALED if name != "length" or not request.rise]
        asked = replace(request, **{name: share * getattr(request, name) for name in names})
        try:
            solver = GaitSolver(asked.problem(robot), SolverOptions(iterations=_ITERATIONS))
        except InputError:
            upper = share
            continue
        known = None if found is None or not fits(found[1].solution, solver.transcription) else found[1]
        told = as_part(tell, 0, f"nearest walk, try {number + 1} of {_TRIES}: ")
        result = solver.solve(known, told, left)
        if result.success:
            lower, found = share, (asked, result)
        else:
            upper = share
    return found


def in_words(request: WalkRequest) -> str:
    """Return what tells a request from its neighbours."""
    values = ((name, getattr(request, name)) for name in _SCALED)
    return ", ".join(f"{name} {value:.3g}" for name, value in values if value)
