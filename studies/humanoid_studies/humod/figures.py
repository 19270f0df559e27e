# SPDX-License-Identifier: Apache-2.0
"""Pictures of a replay: the heights of thesis Figs 4.2 to 4.4, the errors of all joints, the efforts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from humanoid_studies.humod.coordinates import JOINTS, POSITION_JOINTS
from humanoid_studies.humod.replay import TOLERANCE, Replay

#: Joints that the thesis plots, with the numbers of its figures.
THESIS_FIGURES = {"LLJ": "4.2", "LNJ": "4.3", "ULJ": "4.4"}

_AXIS_COLOURS = ("tab:blue", "tab:orange", "tab:green")


def write_figures(folder: Path, replay: Replay) -> list[Path]:
    """Write all pictures (PNG) and returns their paths."""
    kind = next(iter(replay.errors))
    figures = {f"height_{joint}": _height_figure(replay, joint, kind) for joint in THESIS_FIGURES}
    figures |= {"overview": _overview(replay, kind), "efforts": _efforts(replay)}
    written = []
    for name, figure in figures.items():
        written.append(folder / f"{name}.png")
        FigureCanvasAgg(figure).print_png(str(written[-1]))
    return written


def _figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), dpi=110, layout="constrained")


def _plot_height(axes: Axes, replay: Replay, joint: str, kind: str) -> None:
    i = POSITION_JOINTS.index(joint)
    time = replay.recording.time
    published = replay.recording.positions[kind][:, i, 1]
    axes.plot(time, published, color="0.6", linewidth=3.0, label=f"data, {kind}")
    axes.plot(time, replay.positions[:, i, 1], color="tab:red", linewidth=1.0, label=f"model, {replay.evaluator}")
    axes.set(title=f"{joint} (thesis Fig. {THESIS_FIGURES[joint]})", xlabel="time [s]", ylabel="height y [m]")
    axes.margins(x=0)


def _height_figure(replay: Replay, joint: str, kind: str) -> Figure:
    figure = _figure(8, 5)
    height, error = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    _plot_height(height, replay, joint, kind)
    height.set_xlabel("")
    height.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    height.set_title(height.get_title(), loc="left")
    height.set_title("")
    error.margins(x=0)
    difference = 1e3 * replay.errors[kind][:, POSITION_JOINTS.index(joint), 1]
    error.plot(replay.recording.time, difference, color="tab:red", linewidth=0.8)
    error.set(xlabel="time [s]", ylabel="model − data [mm]")
    for bound in (-TOLERANCE, TOLERANCE):
        error.axhline(1e3 * bound, color="black", linestyle=":", linewidth=0.8)
    return figure


def _overview(replay: Replay, kind: str) -> Figure:
    figure = _figure(12, 7)
    grid = figure.add_gridspec(2, 3)
    for column, joint in enumerate(("LLJ", "ULJ", "LNJ")):
        axes = figure.add_subplot(grid[0, column])
        _plot_height(axes, replay, joint, kind)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=2)
    axes = figure.add_subplot(grid[1, :])
    places = np.arange(len(POSITION_JOINTS))
    largest, rms = 1e3 * replay.largest(kind), 1e3 * replay.rms(kind)
    for axis, colour in enumerate(_AXIS_COLOURS):
        at = places + 0.27 * (axis - 1)
        axes.bar(at, largest[:, axis], width=0.25, color=colour, alpha=0.35, label=f"{'xyz'[axis]}, largest")
        axes.bar(at, rms[:, axis], width=0.25, color=colour, label=f"{'xyz'[axis]}, RMS")
    axes.axhline(1e3 * TOLERANCE, color="black", linestyle=":", label="20 mm")
    axes.set_xticks(places, POSITION_JOINTS)
    axes.set(ylabel="|model − data| [mm]", title=f"Errors of all joints against the {kind} positions")
    axes.set_ylim(0, max(1.3e3 * TOLERANCE, 1.1 * largest.max()))
    axes.legend(ncols=7, fontsize="small", loc="upper center")
    time = replay.recording.time
    figure.suptitle(f"{replay.recording.name}, {time[0]:g} to {time[-1]:g} s", x=0.01, ha="left")
    return figure


def _efforts(replay: Replay) -> Figure:
    figure = _figure(10, 8)
    force, moment, legs = figure.subplots(3, 1, sharex=True)
    time = replay.recording.time
    grounded = replay.recording.ground is not None
    for axis, colour in enumerate(_AXIS_COLOURS):
        for axes, row in ((force, axis), (moment, axis + 3)):
            if grounded:
                axes.plot(time, replay.unsupported[:, row], color=colour, alpha=0.4, linewidth=2.0)
            axes.plot(time, replay.efforts[:, row], color=colour, linewidth=0.9, label=JOINTS[row])
    note = "thin: what the ground's force leaves; pale: without it" if grounded else "no ground force in the file"
    force.set(ylabel="force [N]", title=f"Wrench that moves the base ({note})")
    moment.set(ylabel="moment [N m]")
    for joint, colour in zip(("HJ", "KJ", "AJ"), _AXIS_COLOURS, strict=True):
        for side, line in (("R", "-"), ("L", "--")):
            name = f"{joint}_{side}_z"
            legs.plot(time, replay.efforts[:, JOINTS.index(name)], line, color=colour, linewidth=0.9, label=name)
    legs.set(ylabel="effort [N m]", xlabel="time [s]", title="Hips, knees, ankles about z")
    for axes in (force, moment, legs):
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
        axes.margins(x=0)
    return figure
