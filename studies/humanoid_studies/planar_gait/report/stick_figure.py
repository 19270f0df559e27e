# SPDX-License-Identifier: Apache-2.0
"""Stick figures of a walker in the world: legs, feet, trunk, ground and the forces under the feet."""

from __future__ import annotations

from typing import Any

import numpy as np

from humanoid_model.arrays import Reals
from humanoid_model.ground_profile import GroundProfile
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.ground_profile import ground_profile
from humanoid_studies.planar_gait.trajectory.gait_series import LEGS, GaitSeries

LEG_COLOURS = {"left": "#1f5fa8", "right": "#d1601c"}
TRUNK_COLOUR = "0.25"
FORCE_COLOUR = "#1a8a3c"
FORCE_SCALE = 0.35
"""Length of an arrow for the robot's weight [m]."""

_FAR = 10.0
"""Obstacles that are longer are stairs, which the ground shows [m]."""


def sample_at(series: GaitSeries, time: float) -> int:
    """Return the sample nearest to a time [s]; of the two at a transition the later one, whose phase begins there."""
    distance = np.abs(series.t - time)
    return len(distance) - 1 - int(distance[::-1].argmin())


def leg_outline(series: GaitSeries, sample: int, leg: str) -> Reals:
    """(P, 2) from the hip to the tip, or to the ankle and around the foot [m]."""
    feet = f"{leg}_heel" in series.points
    names = ["hip", f"{leg}_knee"]
    names += [f"{leg}_{part}" for part in (("ankle", "heel", "toe", "ankle") if feet else ("tip",))]
    return np.array([series.points[name][sample] for name in names])


def force_arrows(series: GaitSeries, sample: int, weight: float) -> list[tuple[Reals, Reals]]:
    """Foot and vector (2,) of the force on each foot that presses, FORCE_SCALE long for the weight [m]."""
    found: list[tuple[Reals, Reals]] = []
    for foot in series.forces.values():
        total = float(foot.total[sample])
        if foot.bears[sample] and total > 0.0 and np.isfinite(foot.pressure[sample]):
            vector = FORCE_SCALE / weight * np.array([float(foot.tangential[sample]), total])
            found.append((np.array([foot.pressure[sample], foot.ground[sample]]), vector))
    return found


def draw_robot(axes: Any, series: GaitSeries, sample: int, shift: float = 0.0) -> list[Any]:
    """Draw the robot at one sample.

    Args:
        axes: to draw on.
        series: of the gait.
        sample: which one.
        shift: of everything along X [m].

    Returns:
        What was drawn: trunk, then left and right leg.
    """
    move = np.array([shift, 0.0])
    trunk = np.array([series.points["hip"][sample], series.points["trunk_top"][sample]]) + move
    drawn = [*axes.plot(*trunk.T, color=TRUNK_COLOUR, lw=2.9, solid_capstyle="round")]
    for leg in LEGS:
        outline = leg_outline(series, sample, leg) + move
        drawn += axes.plot(*outline.T, color=LEG_COLOURS[leg], lw=1.8, solid_joinstyle="round")
    return drawn


def draw_forces(axes: Any, series: GaitSeries, sample: int, weight: float, shift: float = 0.0) -> list[Any]:
    """Draw an arrow for the force under each foot, from its centre of pressure, moved by ``shift`` along X [m]."""
    move = np.array([shift, 0.0])
    return [
        axes.annotate(
            "",
            xy=place + move + vector,
            xytext=place + move,
            arrowprops={"arrowstyle": "-|>", "color": FORCE_COLOUR, "lw": 1.6, "shrinkA": 0.0, "shrinkB": 0.0},
        )
        for place, vector in force_arrows(series, sample, weight)
    ]


def draw_ground(axes: Any, gait: GaitSolution, left: float, right: float, shift: float = 0.0) -> None:
    """Draw ground or stairs from ``left`` to ``right`` and the obstacles on it, moved by ``shift`` along X [m]."""
    profile = ground_profile(gait.plan)
    outline = profile.outline(left, right) + np.array([shift, 0.0])
    bottom = float(profile.heights.min()) - 0.08
    axes.fill_between(outline[:, 0], outline[:, 1], bottom, color="0.88", lw=0.0)
    axes.plot(*outline.T, color="0.45", lw=1.0)
    for x, obstacle in _obstacles(gait):
        begin, end = max(x - 0.5 * obstacle.width, left), min(x + 0.5 * obstacle.width, right)
        if begin < end:
            base = float(profile.height(x))
            axes.fill_between([begin + shift, end + shift], base, base + obstacle.height, color="0.6", lw=0.0)


def view(series: GaitSeries, profile: GroundProfile, margin: float = 0.2) -> tuple[float, float, float, float]:
    """Left, right, bottom and top that hold the whole gait [m]."""
    places = np.concatenate(list(series.points.values()))
    left, right = float(places[:, 0].min()) - margin, float(places[:, 0].max()) + margin
    return left, right, float(profile.heights.min()) - 0.08, float(places[:, 1].max()) + 0.5 * margin


def _obstacles(gait: GaitSolution) -> list[tuple[float, Obstacle]]:
    """Places in the world and obstacles, each once."""
    found: dict[tuple[float, float], tuple[float, Obstacle]] = {}
    for solution, offset in zip(gait.phases, gait.plan.offsets, strict=True):
        for obstacle in solution.problem.penalties.obstacles:
            if obstacle.width < _FAR:
                x = float(offset[0]) + obstacle.centre
                found[round(x, 6), obstacle.height] = (x, obstacle)
    return list(found.values())
