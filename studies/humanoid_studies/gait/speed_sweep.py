# SPDX-License-Identifier: Apache-2.0
"""The best step at each of several speeds: cost of transport and what goes with it (specification 003 section 8.7)."""

from __future__ import annotations

import csv
import dataclasses
import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.global_step.global_gait import GlobalGait, GlobalStatus
from humanoid_studies.planar_gait.global_step.global_settings import GlobalSettings
from humanoid_studies.planar_gait.global_step.optimize_step import optimize_step
from humanoid_studies.planar_gait.specification.walker import Walker


@dataclass(frozen=True)
class SweepPoint:
    """The best step at one speed.

    Attributes:
        speed: mean speed [m/s].
        status: outcome.
        message: what it means.
        cost_per_metre: criterion over distance [1/m].
        cost_of_transport: work of the torques, taken absolutely, over weight times distance.
        step_length: [m].
        double_support: duration, both parts [s].
        single_support: duration [s].
        sole_angle: of the front foot at touch-down [rad].
        friction: coefficient that the feet need.
        ankle_torque: greatest absolute torque [N m]; 0 without ankles.
        knee_torque: greatest absolute torque [N m].
        hip_torque: greatest absolute torque [N m].
        seconds: time it took.
    """

    speed: float
    status: str
    message: str
    cost_per_metre: float
    cost_of_transport: float
    step_length: float
    double_support: float
    single_support: float
    sole_angle: float
    friction: float
    ankle_torque: float
    knee_torque: float
    hip_torque: float
    seconds: float

    @property
    def converged(self) -> bool:
        """Whether it is a solution."""
        return self.status == GlobalStatus.CONVERGED.value

    @classmethod
    def of(cls, speed: float, found: GlobalGait) -> SweepPoint:
        """Return figures of a solved step."""
        peaks = {"ankle": 0.0, "knee": 0.0, "hip": 0.0}
        durations = {True: 0.0, False: 0.0}
        for phase, motion in zip(found.problem.phases, found.iterate.phases, strict=True):
            model = phase.problem.model
            durations[phase.double] += motion.duration
            for torque, values in zip(model.torques, motion.u.T, strict=False):
                for joint in model.joints:
                    if {joint.child, joint.parent} == {torque.on, torque.by}:
                        kind = joint.name.rpartition("_")[2]
                        peaks[kind] = max(peaks.get(kind, 0.0), float(np.abs(values).max()))
        step = found.gait.plan.phases[0].spec.own
        return cls(
            speed,
            found.status.value,
            found.message,
            found.cost_per_metre,
            found.cost_of_transport,
            found.step_length,
            durations[True],
            durations[False],
            step.initial_sole_angle if step is not None else 0.0,
            found.friction_required,
            peaks["ankle"],
            peaks["knee"],
            peaks["hip"],
            found.seconds,
        )


def sweep_speeds(
    walker: Walker,
    speeds: Sequence[float],
    settings: GlobalSettings | None = None,
    executor: Executor | None = None,
    warm_start: bool = False,
) -> tuple[SweepPoint, ...]:
    """Solves the step at each speed.

    Args:
        walker: the walking model.
        speeds: mean speeds [m/s].
        settings: criterion and limits.
        executor: that steps are solved on side by side, each speed from nothing; here one after the other if left out.
            With ``warm_start`` the two directions are what runs side by side.
        warm_start: begin each speed with its neighbour's step, once upwards and once downwards, and keep the cheaper
            one: where two ways of walking exchange their roles, each is followed a little into the other's range.

    Returns:
        One point for each speed, in the order given; what didn't converge says so.

    Raises:
        InputError: no speed, or one that isn't finite and positive.
    """
    if not speeds or not all(math.isfinite(speed) and speed > 0.0 for speed in speeds):
        raise InputError(f"are {list(speeds)}", element="speeds", remedy="Give one or more numbers above 0")
    if warm_start:
        order = sorted(speeds)
        jobs = [(walker, order, settings), (walker, order[::-1], settings)]
    else:
        jobs = [(walker, [speed], settings) for speed in speeds]
    if executor is None:
        chains = [_chain(*job) for job in jobs]
    else:
        futures = [executor.submit(_chain, *job) for job in jobs]
        chains = [future.result() for future in futures]
    best: dict[float, SweepPoint] = {}
    for point in (point for chain in chains for point in chain):
        known = best.get(point.speed)
        if known is None or (point.converged, -point.cost_per_metre) > (known.converged, -known.cost_per_metre):
            best[point.speed] = point
    return tuple(best[speed] for speed in speeds)


def _chain(walker: Walker, speeds: Sequence[float], settings: GlobalSettings | None) -> list[SweepPoint]:
    """Speeds one after the other, each from the last one's step, or from nothing where there is none."""
    points: list[SweepPoint] = []
    last: GlobalGait | None = None
    for speed in speeds:
        found = optimize_step(walker, speed, None, settings, neighbour=last, prove=False)
        if last is not None and not found.converged:
            found = optimize_step(walker, speed, None, settings, prove=False)
        last = found if found.converged else None
        points.append(SweepPoint.of(speed, found))
    return points


def write_sweep(points: Sequence[SweepPoint], path: str | Path) -> None:
    """Write a CSV with one line for each speed."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in dataclasses.fields(SweepPoint)])
        writer.writeheader()
        writer.writerows(dataclasses.asdict(point) for point in points)


def sweep_figure(points: Sequence[SweepPoint], title: str = "") -> Figure:
    """Return the cost of transport, step length, durations, friction and peak torques over speed."""
    solved = [point for point in points if point.converged]
    speed = [point.speed for point in solved]
    figure = Figure(figsize=(12.0, 7.0), layout="constrained")
    panels = {
        "cost of transport": {"": "cost_of_transport"},
        "criterion per metre [1/m]": {"": "cost_per_metre"},
        "step length [m]": {"": "step_length"},
        "durations [s]": {"double support": "double_support", "single support": "single_support"},
        "friction needed": {"": "friction"},
        "greatest torque [N m]": {"ankle": "ankle_torque", "knee": "knee_torque", "hip": "hip_torque"},
    }
    for axes, (label, series) in zip(figure.subplots(2, 3).flat, panels.items(), strict=True):
        for name, field in series.items():
            values = [getattr(point, field) for point in solved]
            if any(values):
                axes.plot(speed, values, "o-", markersize=3, label=name)
        axes.set_xlabel("speed [m/s]")
        axes.set_ylabel(label)
        axes.set_ylim(bottom=0.0)
        axes.grid(alpha=0.3)
        if len(series) > 1 and solved:
            axes.legend(fontsize="small")
    figure.suptitle(title)
    return figure
