# SPDX-License-Identifier: Apache-2.0
"""A gait as moving stick figure, and as a strip of pictures of it (F-104)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, FuncAnimation, PillowWriter
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from tqdm import tqdm

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError
from humanoid_model.files import save_picture
from humanoid_studies.planar_gait.report.gait_report import robot_weight
from humanoid_studies.planar_gait.report.stick_figure import draw_forces, draw_ground, draw_robot, sample_at, view
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.ground_profile import ground_profile
from humanoid_studies.planar_gait.trajectory.gait_series import GaitSeries, gait_series

MAX_FRAMES_PER_SECOND = 50
"""Browsers play a GIF with shorter delays slowly instead."""


def write_animation(
    gait: GaitSolution,
    path: str | Path,
    frames_per_second: int = 25,
    speed: float = 0.5,
    progress: bool = False,
) -> int:
    """Write a gait as moving stick figure with feet, ground and the forces under the feet.

    Args:
        gait: to show.
        path: a .gif; or an .mp4, which needs ffmpeg.
        frames_per_second: of the film, 50 at most.
        speed: of the motion: 1 is real time, 0.5 half of it.
        progress: show a bar.

    Returns:
        Number of frames.

    Raises:
        InputError: rate or speed out of range, another kind of file, no ffmpeg, or the file can't be written.
    """
    if not 0 < frames_per_second <= MAX_FRAMES_PER_SECOND:
        raise InputError(
            f"is {frames_per_second}",
            element="frames_per_second",
            remedy=f"Give 1 or more and at most {MAX_FRAMES_PER_SECOND}",
        )
    if not (math.isfinite(speed) and speed > 0.0):
        raise InputError(f"is {speed}", element="speed", remedy="Give more than 0")
    writer = _writer(Path(path), frames_per_second)
    series = gait_series(gait)
    weight = robot_weight(gait.plan.walker, [phase.spec for phase in gait.plan.phases])
    left, right, bottom, top = view(series, ground_profile(gait.plan))
    figure = Figure(figsize=(max(4.0, min(3.2 * (right - left), 12.0)), 5.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    draw_ground(axes, gait, left, right)
    axes.set(xlim=(left, right), ylim=(bottom, top), xlabel="X [m]", ylabel="Y [m]")
    axes.set_aspect("equal")
    title = axes.set_title("0")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # laid out once, frames don't move and take a third of the time
    times = frame_times(gait.duration, frames_per_second, speed)
    drawn: list[Any] = []

    def show(time: float) -> list[Any]:
        for artist in drawn:
            artist.remove()
        sample = sample_at(series, time)
        drawn[:] = [*draw_robot(axes, series, sample), *draw_forces(axes, series, sample, weight)]
        title.set_text(_caption(gait, series, sample))
        return drawn

    def nothing() -> list[Any]:
        return []

    with tqdm(total=len(times), desc=Path(path).name, unit="frame", disable=not progress) as bar:
        try:
            FuncAnimation(figure, show, times, init_func=nothing, blit=False, repeat=False).save(
                str(path), writer=writer, dpi=80, progress_callback=lambda index, total: bar.update()
            )
        except OSError as problem:
            raise InputError(
                f"the film can't be written: {problem}", source=path, remedy="Give a .gif in a folder that exists"
            ) from problem
    return len(times)


def frame_times(duration: float, frames_per_second: float, speed: float) -> Reals:
    """Return times of the gait that the frames show, from its beginning to its end [s]."""
    count = max(round(duration * frames_per_second / speed), 1) + 1
    return np.linspace(0.0, duration, count)


def gait_strip(gait: GaitSolution, count: int = 10) -> Figure:
    """Return pictures of a gait at equal times, five in a row.

    Args:
        gait: to show.
        count: of pictures.

    Raises:
        InputError: fewer than one picture.
    """
    if count < 1:
        raise InputError(f"is {count}", element="count", remedy="Show one or more")
    series = gait_series(gait)
    weight = robot_weight(gait.plan.walker, [phase.spec for phase in gait.plan.phases])
    _, _, bottom, top = view(series, ground_profile(gait.plan))
    columns = min(count, 5)
    rows = -(-count // columns)
    figure = Figure(figsize=(2.6 * columns, 4.2 * rows), layout="constrained")
    all_axes = figure.subplots(rows, columns, squeeze=False).reshape(-1)
    for axes in all_axes[count:]:
        axes.set_axis_off()
    for axes, time in zip(all_axes, np.linspace(0.0, gait.duration, count), strict=False):
        sample = sample_at(series, float(time))
        hip = float(series.points["hip"][sample, 0])
        draw_ground(axes, gait, hip - 0.5, hip + 0.5)
        draw_robot(axes, series, sample)
        draw_forces(axes, series, sample, weight)
        axes.set(xlim=(hip - 0.5, hip + 0.5), ylim=(bottom, top))
        axes.set_aspect("equal")
        axes.set_title(_caption(gait, series, sample), fontsize=8)
        axes.tick_params(labelsize=7)
    return figure


def write_strip(gait: GaitSolution, path: str | Path, count: int = 10) -> None:
    """Write the strip; the ending of the name tells the format.

    Raises:
        InputError: see :func:`gait_strip`; or the file can't be written.
    """
    save_picture(gait_strip(gait, count), path)


def _caption(gait: GaitSolution, series: GaitSeries, sample: int) -> str:
    index = int(series.phase[sample])
    kind = gait.plan.phases[index].spec.kind.label.replace("_", " ")
    return f"{series.t[sample]:.3f} s   {index + 1}: {kind}"


def _writer(path: Path, frames_per_second: int) -> AbstractMovieWriter:
    if path.suffix == ".gif":
        return PillowWriter(fps=frames_per_second)
    if path.suffix == ".mp4":
        if not FFMpegWriter.isAvailable():
            raise InputError("needs ffmpeg, which isn't there", source=path, remedy="Install it, or write a .gif")
        return FFMpegWriter(fps=frames_per_second)
    raise InputError(f"has the ending '{path.suffix}'", source=path, remedy="Write a .gif or an .mp4")
