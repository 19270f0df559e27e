# SPDX-License-Identifier: Apache-2.0
"""Picture of torques and speeds against the limits of the motors (specification 000, F168; thesis Fig. 5.33)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from humanoid_model.errors import InputError
from humanoid_sim.actuation.motor_limits import motor_load, parallelogram
from humanoid_sim.actuation.motor_monitor import LOAD_TOLERANCE, MotorMonitor


def plot_motors(monitor: MotorMonitor, path: str | Path, drives: Sequence[str] | None = None) -> None:
    """Draw (torque, speed) of drives, one picture each, within peak (black) and nominal (green) parallelograms.

    Points beyond the peak parallelogram are red.

    Args:
        monitor: what has recorded.
        path: picture to write, of any kind that matplotlib knows.
        drives: names; all if not given.

    Raises:
        InputError: an unknown drive, or none.
    """
    chosen = monitor.drives.names if drives is None else tuple(drives)
    if not chosen:
        raise InputError("no drive is named", element="drives", remedy="Name one, or leave the argument out")
    columns = min(len(chosen), 4)
    rows = math.ceil(len(chosen) / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3.4 * columns, 2.8 * rows), layout="constrained", squeeze=False
    )
    series, limits = monitor.series, monitor.drives
    for axis in axes.flat[len(chosen) :]:
        axis.set_axis_off()
    for axis, name in zip(axes.flat, chosen, strict=False):
        i = limits.place(name)
        speed, effort = series.speed[:, i], series.effort[:, i]
        for largest, colour, label in (
            (limits.effort[i], "black", "peak"),
            (limits.nominal_effort[i], "green", "nominal"),
        ):
            if np.isfinite(largest) and np.isfinite(limits.speed[i]):
                corners = parallelogram(limits.speed[i], largest)
                if label == "peak" or largest < limits.effort[i]:
                    closed = np.vstack([corners, corners[:1]])
                    axis.plot(closed[:, 0], closed[:, 1], color=colour, linewidth=1.2, label=label)
        over = motor_load(speed, effort, limits.speed[i], limits.effort[i]) > 1.0 + LOAD_TOLERANCE
        axis.plot(effort, speed, color="#1f77b4", linewidth=0.8)
        axis.plot(effort[over], speed[over], ".", color="red", markersize=3, label="beyond" if over.any() else None)
        effort_unit, speed_unit = ("N", "m/s") if limits.slides[i] else ("N m", "rad/s")
        axis.set(title=name, xlabel=f"effort [{effort_unit}]", ylabel=f"speed [{speed_unit}]")
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=7)
    figure.savefig(path, dpi=120)
    plt.close(figure)
