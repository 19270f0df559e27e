# SPDX-License-Identifier: Apache-2.0
"""Continuation: a chain of neighbouring problems from an easy one to the one that was asked (section 2.26.4)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress, ProgressCallback
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.solvers.boundary_value_problem import BoundaryValueResult


@dataclass(frozen=True)
class Stage:
    """One parameter's way through values, the last of which it keeps.

    Attributes:
        parameter: ``mass_scale`` (all masses and inertias), ``body:<name>`` (one body's), ``closure``, ``slap`` or
            ``inequality`` (penalty factors, as multiples of the problem's own), ``bounds`` (by how much the
            controls' bounds are widened, in multiples of their own size; 0 are the problem's own), or ``rows`` (by how
            much the problem's rows may be violated, in newtons; 0 are the rows themselves).
        values: in the order in which they are taken.
    """

    parameter: str
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the parameter.

        Raises:
            InputError: an unknown parameter, no values, or one that isn't finite.
        """
        known = ("mass_scale", "closure", "slap", "inequality", "bounds", "rows")
        if self.parameter not in known and not self.parameter.startswith("body:"):
            raise InputError(
                f"unknown parameter '{self.parameter}'",
                element="stage",
                remedy=f"Use one of {', '.join(known)}, body:<name>",
            )
        if not self.values or not all(math.isfinite(value) and value >= 0.0 for value in self.values):
            raise InputError(
                f"values {self.values}", element=f"stage '{self.parameter}'", remedy="Give finite numbers, none below 0"
            )


INERTIA_THEN_PENALTIES = (
    Stage("closure", (1.0 / 150.0,)),
    Stage("slap", (1.0 / 150.0,)),
    Stage("mass_scale", (0.1, 0.3, 0.6, 1.0)),
    Stage("closure", (1.0 / 15.0, 1.0 / 3.0, 1.0)),
    Stage("slap", (1.0,)),
)
"""The thesis' procedure (III.4): reduced inertias and weak penalties first, inertias up, then penalties up."""


def with_parameters(problem: PhaseProblem, parameters: dict[str, float]) -> PhaseProblem:
    """Return the problem with parameters of :class:`Stage` at the given values."""
    penalties = problem.penalties
    factors = {name: parameters.get(name, 1.0) for name in ("closure", "slap", "inequality")}
    penalties = dataclasses.replace(
        penalties, **{name: factor * getattr(penalties, name) for name, factor in factors.items()}
    )
    bodies = dict(problem.body_scales)
    for name, value in parameters.items():
        if name.startswith("body:"):
            body = name.removeprefix("body:")
            bodies[body] = value * bodies.get(body, 1.0)
    model = problem.model
    widening = parameters.get("bounds", 0.0)
    if widening > 0.0:
        size = np.maximum(np.abs(model.control_lower), np.abs(model.control_upper))
        one_sided = np.where(np.isfinite(model.control_lower), np.abs(model.control_lower), 0.0)
        size = np.where(np.isfinite(size), size, one_sided)
        wide = {
            name: (float(low - widening * max(s, 1.0)), float(high + widening * max(s, 1.0)))
            for name, low, high, s in zip(
                model.control_names, model.control_lower, model.control_upper, size, strict=True
            )
        }
        model = model.with_bounds(**wide)
    slack = parameters.get("rows", 0.0)
    return problem.replace(
        model=model,
        rows=tuple(row.above(-slack) for row in problem.rows) if slack > 0.0 else problem.rows,
        penalties=penalties,
        body_scales=bodies,
        mass_scale=problem.mass_scale * parameters.get("mass_scale", 1.0),
    )


@dataclass(eq=False)
class ContinuationPath:
    """What a continuation went through.

    Attributes:
        converged: whether it reached the problem that was asked.
        message: why it stopped.
        result: of the last problem that was solved, or of the first one that wasn't.
        steps: (parameter, value, nodes, converged) of each solve.
    """

    converged: bool
    message: str
    result: BoundaryValueResult
    steps: list[tuple[str, float, int, bool]] = field(default_factory=list)


Solve = Callable[[PhaseProblem, Reals, Reals], BoundaryValueResult]
"""A solver: problem, mesh (K,) and guess (K, d)."""


def follow(
    problem: PhaseProblem,
    schedule: tuple[Stage, ...],
    solve: Solve,
    mesh: Reals,
    y: Reals,
    max_halvings: int = 6,
    progress: ProgressCallback | None = None,
) -> ContinuationPath:
    """Solves along a schedule; where a step fails it is halved towards the last value that was reached.

    Args:
        problem: what is asked at the end.
        schedule: stages, one after the other.
        solve: solver of one problem.
        mesh: (K,) nodes of the guess.
        y: (K, d) guess for the first problem.
        max_halvings: of one step.
        progress: told each step; cancels by returning True.

    Returns:
        The path, with the last result.
    """
    # Before its own stage a parameter has the first value that the schedule gives it.
    current: dict[str, float] = {}
    for stage in reversed(schedule):
        current[stage.parameter] = stage.values[0]
    result: BoundaryValueResult | None = None
    path: list[tuple[str, float, int, bool]] = []

    def attempt(parameter: str, value: float, nodes: Reals, guess: Reals) -> BoundaryValueResult:
        trial = solve(with_parameters(problem, current | {parameter: value}), nodes, guess)
        path.append((parameter, value, len(trial.mesh), trial.converged))
        return trial

    for stage in schedule:
        for value in stage.values:
            last = current[stage.parameter]
            if result is not None and last == value:
                continue
            target, halvings = value, 0
            while True:
                trial = attempt(stage.parameter, target, mesh, y)
                step = Progress(f"{stage.parameter} = {target:.4g}: {trial.message}", residual=trial.residual)
                if progress is not None and progress(step):
                    return ContinuationPath(False, "stopped", result or trial, path)
                if trial.converged:
                    result = trial
                    mesh, y = _thinned(trial)
                    current[stage.parameter] = last = target
                    if target == value:
                        break
                    target, halvings = value, 0
                    continue
                halvings += 1
                if halvings > max_halvings or result is None:
                    return ContinuationPath(
                        False, f"stuck at {stage.parameter} = {last:.4g}: {trial.message}", trial, path
                    )
                target = last + 0.5 * (target - last)
    assert result is not None
    reached = with_parameters(problem, current)
    if (
        reached.mass_scale != problem.mass_scale
        or reached.penalties != problem.penalties
        or dict(reached.body_scales) != {**{name: problem.body_scales.get(name, 1.0) for name in reached.body_scales}}
        or current.get("bounds", 0.0) != 0.0
        or current.get("rows", 0.0) != 0.0
    ):
        result = solve(problem, mesh, y)
        path.append(("as asked", 1.0, len(result.mesh), result.converged))
        return ContinuationPath(result.converged, result.message, result, path)
    return ContinuationPath(True, "converged", result, path)


_KEPT_NODES = 60


def _thinned(result: BoundaryValueResult) -> tuple[Reals, Reals]:
    """Mesh and values for the next problem: every other node where there are many, so that meshes don't only grow."""
    mesh = result.mesh
    while len(mesh) > 2 * _KEPT_NODES:
        mesh = np.append(mesh[:-1:2], mesh[-1])
    return mesh, result.at(mesh)
