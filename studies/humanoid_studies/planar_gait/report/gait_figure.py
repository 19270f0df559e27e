# SPDX-License-Identifier: Apache-2.0
"""A whole gait in one picture: stick figures, and everything that matters over one time axis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from humanoid_model.errors import InputError
from humanoid_model.files import save_picture
from humanoid_studies.planar_gait.report.gait_report import robot_weight
from humanoid_studies.planar_gait.report.stick_figure import (
    LEG_COLOURS,
    draw_forces,
    draw_ground,
    draw_robot,
    sample_at,
    view,
)
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.ground_profile import ground_profile
from humanoid_studies.planar_gait.trajectory.gait_series import LEGS, GaitSeries, gait_series

_JOINT_COLOURS = {"hip": "C0", "knee": "C1", "ankle": "C2"}
_LEG_STYLES = {"left": "-", "right": "--"}
_SLOT = 0.95
"""Room of one posture [m]."""
_PLACE_STYLES = {"heel": "-", "toe": "--", "tip": "-"}

PANELS = (
    ("angles", "rates", "torques"),
    ("left", "right", "pressure"),
    ("hamiltonian", "power", "clearance"),
)
"""Panels below the stick figures, row by row."""


def gait_figure(gait: GaitSolution, figures: int = 12) -> Figure:
    """Stick figures at equal times, and nine panels over the time of the whole gait, double supports shaded.

    Args:
        gait: to draw.
        figures: number of stick figures.

    Raises:
        InputError: fewer than one stick figure.
    """
    if figures < 1:
        raise InputError(f"is {figures}", element="figures", remedy="Draw one or more")
    series = gait_series(gait)
    weight = robot_weight(gait.plan.walker, [phase.spec for phase in gait.plan.phases])
    figure = Figure(figsize=(17.0, 15.0), layout="constrained")
    mosaic: list[Any] = [["sticks"] * 3, *[list(row) for row in PANELS]]
    panels = figure.subplot_mosaic(mosaic, height_ratios=[0.9, 1, 1, 1])
    _sticks(panels["sticks"], gait, series, weight, figures)
    for kind, values, title, unit in (
        ("angles", np.degrees(series.angles), "joint angles", "[deg]"),
        ("rates", series.rates, "joint rates", "[rad/s]"),
        ("torques", series.torques, "torques", "[N m]"),
    ):
        for j, name in enumerate(series.joints):
            leg, joint = name.split("_", 1)
            style = {"color": _JOINT_COLOURS.get(joint, "C3"), "ls": _LEG_STYLES[leg]}
            _by_phase(panels[kind], series, values[:, j], name, **style)
        _label(panels[kind], title, unit)
    if series.ground_torque.any():
        _by_phase(panels["torques"], series, series.ground_torque, color="C3", label="stance foot on ground")
        panels["torques"].legend(fontsize=7)
    for leg in LEGS:
        _forces(panels[leg], series, leg, weight)
    _pressure(panels["pressure"], gait, series)
    _hamiltonian(panels["hamiltonian"], gait, series)
    _power(panels["power"], series)
    _clearance(panels["clearance"], gait, series)
    for name, panel in panels.items():
        if name != "sticks":
            _shade(panel, gait)
    totals = gait.totals
    outcome = "converged" if gait.converged else "NOT CONVERGED"
    figure.suptitle(
        f"{len(gait.phases)} phases, {outcome}: {totals.distance:.3f} m in {totals.duration:.3f} s, "
        f"{totals.mean_speed:.3f} m/s   J_e {totals.energy:.1f} J, {totals.mean_power:.0f} W   "
        f"friction needed {gait.friction_required:.3f}"
    )
    return figure


def write_gait_figure(gait: GaitSolution, path: str | Path) -> None:
    """Write the picture; the ending of the name tells the format.

    Raises:
        InputError: the file can't be written.
    """
    save_picture(gait_figure(gait), path)



def _sticks(panel: Any, gait: GaitSolution, series: GaitSeries, weight: float, figures: int) -> None:
    """Postures side by side, each moved by a whole slot, so that none hides another one."""
    profile = ground_profile(gait.plan)
    _, _, bottom, top = view(series, profile)
    times = np.linspace(series.t[0], series.t[-1], figures)
    for slot, time in enumerate(times):
        sample = sample_at(series, time)
        hip = float(series.points["hip"][sample, 0])
        shift = slot * _SLOT - hip
        draw_ground(panel, gait, hip - 0.49 * _SLOT, hip + 0.49 * _SLOT, shift)
        draw_robot(panel, series, sample, shift=shift)
        draw_forces(panel, series, sample, weight, shift)
        number = int(series.phase[sample]) + 1
        panel.annotate(f"{time:.2f} s, {number}", (slot * _SLOT, top + 0.02), fontsize=8, ha="center", va="top")
    panel.set_xlim(-0.5 * _SLOT, (figures - 0.5) * _SLOT)
    panel.set_ylim(bottom, top + 0.05)
    panel.set_aspect("equal")
    panel.set_xticks([])
    panel.set_title(
        "postures, with time and number of the phase; left leg blue, right leg orange; "
        "arrows: force on each foot at its centre of pressure",
        fontsize=10,
    )
    panel.set_ylabel("Y [m]")


def _forces(panel: Any, series: GaitSeries, leg: str, weight: float) -> None:
    foot = series.forces[leg]
    colour = LEG_COLOURS[leg]

    def grounded(values: Any) -> Any:
        return np.where(foot.bears, values, np.nan)

    for place, normal in zip(foot.places, foot.normal.T, strict=True):
        _by_phase(panel, series, grounded(normal), color=colour, ls=_PLACE_STYLES[place], label=f"normal, {place}")
    _by_phase(panel, series, grounded(foot.tangential), color="C3", ls=":", label="tangential")
    if len(foot.places) > 1:
        _by_phase(panel, series, grounded(foot.total), color="0.5", label="normal, all")
    panel.axhline(weight, color="0.3", lw=0.6, ls=(0, (6, 6)))
    panel.annotate("weight", (series.t[-1], weight), fontsize=7, va="bottom", ha="right", color="0.3")
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(foot.total > 0.0, np.abs(foot.tangential) / foot.total, np.nan)
    most = float(np.nanmax(ratio)) if np.isfinite(ratio).any() else 0.0
    on_ground = f"friction needed {most:.3f}" if foot.bears.any() else "never on the ground"
    _label(panel, f"forces on the {leg} foot; {on_ground}", "[N]")


def _pressure(panel: Any, gait: GaitSolution, series: GaitSeries) -> None:
    for leg in LEGS:
        foot = series.forces[leg]
        colour = LEG_COLOURS[leg]
        ends = [series.points[f"{leg}_{place}"][:, 0] for place in foot.places]
        for index in range(len(gait.phases)):
            rows = (series.phase == index) & foot.bears
            if not rows.any():
                continue
            if len(ends) == 2:
                panel.fill_between(series.t[rows], ends[0][rows], ends[1][rows], color=colour, alpha=0.15, lw=0.0)
            else:
                panel.plot(series.t[rows], ends[0][rows], color=colour, alpha=0.3, lw=4.0)
        _by_phase(panel, series, foot.pressure, f"{leg} foot", color=colour, ls="--")
    _by_phase(panel, series, series.zero_moment_point, color="k", label="of both: zero moment point")
    _by_phase(panel, series, series.points["hip"][:, 0], color="0.6", ls=":", label="hip")
    _label(panel, "centres of pressure; shaded: soles on the ground", "X [m]")


def _hamiltonian(panel: Any, gait: GaitSolution, series: GaitSeries) -> None:
    lines = []
    for index, (start, solution) in enumerate(zip(gait.starts, gait.phases, strict=True)):
        rows = series.phase == index
        panel.plot(series.t[rows], series.hamiltonian[rows], color="C0")
        if np.isfinite(solution.hamiltonian).all():
            lines.append((start + 0.5 * solution.duration, float(solution.hamiltonian.mean()), solution))
    for middle, level, solution in lines:
        panel.annotate(
            f"{level:.4g}\n±{0.5 * np.ptp(solution.hamiltonian):.0e}",
            (middle, level),
            fontsize=7,
            ha="center",
            va="bottom",
        )
    levels = [level for _, level, _ in lines] or [0.0]
    room = 0.25 * max(np.ptp(levels), 0.1 * max(abs(level) for level in levels), 1e-3)
    panel.set_ylim(min(levels) - room, max(levels) + room)  # not zoomed onto the last digits of a single phase
    _label(panel, "H of each phase, constant along an extremal", "[1/s]")


def _power(panel: Any, series: GaitSeries) -> None:
    _by_phase(panel, series, series.power, color="C0", label="power of all torques")
    _by_phase(panel, series, series.absolute_power, color="C1", lw=1.0, label="sum of absolute powers")
    _label(panel, "power and energy", "[W]")
    other = panel.twinx()
    _by_phase(other, series, series.energy, color="C2", ls="--", label="energy J_e")
    other.set_ylabel("[J]")
    other.set_ylim(0.0, None)
    other.legend(fontsize=7, loc="lower right")


def _clearance(panel: Any, gait: GaitSolution, series: GaitSeries) -> None:
    profile = ground_profile(gait.plan)
    places = series.forces["left"].places
    for leg in LEGS:
        for name in places:
            place = series.points[f"{leg}_{name}"]
            height = 1e3 * (place[:, 1] - profile.height(place[:, 0]))
            _by_phase(panel, series, height, color=LEG_COLOURS[leg], ls=_PLACE_STYLES[name], label=f"{leg} {name}")
    _label(panel, "height of the feet above the ground, and closure", "[mm]")
    other = panel.twinx()
    _by_phase(other, series, 1e3 * series.closure_gap, color="C3", ls=":", label="closure gap")
    other.set_ylabel("gap [mm]", color="C3")
    other.set_ylim(0.0, None)
    other.legend(fontsize=7, loc="center right")


def _by_phase(panel: Any, series: GaitSeries, values: Any, label: str | None = None, **style: Any) -> None:
    """Draw a curve that breaks where one phase ends and the next begins, for torques and forces jump there."""
    for index in range(int(series.phase[-1]) + 1):
        rows = series.phase == index
        panel.plot(series.t[rows], values[rows], label=label if index == 0 else None, **style)


def _shade(panel: Any, gait: GaitSolution) -> None:
    for start, phase, solution in zip(gait.starts, gait.plan.phases, gait.phases, strict=True):
        if phase.double:
            panel.axvspan(start, start + solution.duration, color="0.93", lw=0.0, zorder=-1)
        panel.axvline(start, color="0.8", lw=0.6, zorder=-1)
    panel.set_xlim(0.0, gait.duration)
    panel.set_xlabel("t [s]")


def _label(panel: Any, title: str, unit: str) -> None:
    panel.set_title(title, fontsize=10)
    panel.set_ylabel(unit)
    panel.grid(alpha=0.3)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7)
