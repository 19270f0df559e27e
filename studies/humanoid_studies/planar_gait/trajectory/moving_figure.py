# SPDX-License-Identifier: Apache-2.0
"""Stick figures of a gait over time, to draw or to play: of walks in the sagittal plane, and of planar chains."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.trajectory.gait_series import LEGS, GaitSeries, gait_series


@dataclass(frozen=True, eq=False)
class MovingFigure:
    """Stick figures at K instants, in the world: x forward, y to the left, z up.

    Attributes:
        times: (K,) [s].
        point_names: of the robot's P points.
        points: (K, P, 3) their places [m].
        lines: pairs of points that a line joins.
        foot_names: of the F feet on the ground.
        force_points: (K, F, 3) centre of pressure of every foot [m].
        forces: (K, F, 3) force on every foot; 0 while it is off the ground [N].
        foot_widths: of every foot at heel and toe [m]; empty: the model doesn't tell.
    """

    times: Reals
    point_names: tuple[str, ...]
    points: Reals
    lines: tuple[tuple[str, str], ...]
    foot_names: tuple[str, ...]
    force_points: Reals
    forces: Reals
    foot_widths: tuple[float, ...] = ()


LEG = (("hip", "knee"), ("knee", "ankle"), ("ankle", "heel"), ("heel", "toe"), ("toe", "ankle"))
TIP_LEG = (("hip", "knee"), ("knee", "tip"))
"""Lines of a leg, with a foot and without."""


def walk_figure(gait: GaitSolution, cycles: int, exchanged: GaitSolution | None = None) -> MovingFigure:
    """Stick figures of a walk.

    Args:
        gait: of at least one solved phase.
        cycles: how often it is repeated; legs that have changed parts go on so.
        exchanged: the same gait with the legs' data exchanged, taken where they have changed parts; the gait itself if
            left out.
    """
    count, flags = len(gait.phases), gait.plan.legs_exchanged(cycles)
    advance = gait.plan.next_offset - gait.plan.offsets[0]
    walks: dict[bool, GaitSeries] = {}
    parts: list[tuple[Reals, Reals, Reals, Reals]] = []
    for cycle in range(cycles):
        taken = flags[cycle * count :][:count]
        swapped = taken[0]
        if swapped not in walks:
            walks[swapped] = gait_series(_with_legs(gait, exchanged, taken))
        series = walks[swapped]
        names, pairs = _stick_figure(series)
        legs = LEGS[::-1] if swapped else LEGS
        at, forces = _foot_forces(series, legs)
        shown = [_other_leg(name) for name in names] if swapped else names
        places = np.stack([series.points[name] for name in shown], axis=1)
        parts.append((series.t + cycle * gait.duration, places + cycle * advance, at + cycle * advance, forces))
    times, points, at, forces = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    return _planar(times, names, points, pairs, LEGS, at, forces)


def _with_legs(gait: GaitSolution, exchanged: GaitSolution | None, taken: Sequence[bool]) -> GaitSolution:
    """One cycle, each phase as the legs walk it that are in its parts."""
    if exchanged is None:
        return gait
    phases = zip(gait.phases, exchanged.phases, taken, strict=True)
    return GaitSolution(gait.plan, tuple(other if swapped else own for own, other, swapped in phases))


def _stick_figure(series: GaitSeries) -> tuple[list[str], list[tuple[str, str]]]:
    """Return points of a figure, and which of them are joined."""
    lines = LEG if "left_ankle" in series.points else TIP_LEG
    pairs = [("hip", "trunk_top")]
    for side, line in itertools.product(LEGS, lines):
        pairs.append((_of_leg(side, line[0]), _of_leg(side, line[1])))
    return list(dict.fromkeys(name for pair in pairs for name in pair)), pairs


def _foot_forces(series: GaitSeries, legs: Sequence[str]) -> tuple[Reals, Reals]:
    """(K, 2, 2) centres of pressure [m] and (K, 2, 2) forces [N] of two feet."""
    at, forces = np.zeros((len(series.t), 2, 2)), np.zeros((len(series.t), 2, 2))
    for column, leg in enumerate(legs):
        foot = series.forces[leg]
        bears = foot.bears & np.isfinite(foot.pressure)
        forces[bears, column] = np.stack([foot.tangential, foot.total], axis=1)[bears]
        at[bears, column] = np.stack([foot.pressure, foot.ground], axis=1)[bears]
    return at, forces


def chain_figure(phases: Sequence[PhaseSolution], lengths: Sequence[float]) -> MovingFigure:
    """Stick figures of a planar chain that begins at the origin.

    Args:
        phases: solved, at least one.
        lengths: of the links, whose absolute angles are the coordinates [m].
    """
    times, points, start = [], [], 0.0
    for phase in phases:
        angles = phase.q[:, : len(lengths)]
        ways = np.stack([np.cos(angles), np.sin(angles)], axis=2) * np.asarray(lengths)[None, :, None]
        places = np.concatenate([np.zeros((len(angles), 1, 2)), np.cumsum(ways, axis=1)], axis=1)
        times.append(start + phase.t)
        points.append(places)
        start += phase.duration
    names = [f"joint_{i + 1}" for i in range(len(lengths) + 1)]
    instants = np.concatenate(times)
    nothing = np.zeros((len(instants), 0, 2))
    return _planar(instants, names, np.concatenate(points), list(itertools.pairwise(names)), (), nothing, nothing)


def _planar(
    times: Reals,
    names: Sequence[str],
    points: Reals,
    pairs: Sequence[tuple[str, str]],
    feet: Sequence[str],
    force_points: Reals,
    forces: Reals,
) -> MovingFigure:
    """Return figures of what lies in the sagittal plane: arrays of x and z."""
    points, force_points, forces = (np.insert(values, 1, 0.0, axis=-1) for values in (points, force_points, forces))
    return MovingFigure(times, tuple(names), points, tuple(pairs), tuple(feet), force_points, forces)


def _of_leg(side: str, point: str) -> str:
    return point if point == "hip" else f"{side}_{point}"


def _other_leg(name: str) -> str:
    for side, other in (LEGS, LEGS[::-1]):
        if name.startswith(f"{side}_"):
            return f"{other}_{name.removeprefix(f'{side}_')}"
    return name
