# SPDX-License-Identifier: Apache-2.0
"""Picture of a robot's balance over time and from above."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from humanoid_model.errors import InputError
from humanoid_sim.monitoring.balance_monitor import BalanceMonitor


def plot_balance(monitor: BalanceMonitor, path: str | Path) -> None:
    """Draw the way of the points over the last support polygon, their courses, the margin and the angular momentum.

    Args:
        monitor: what has recorded.
        path: picture to write, of any kind that matplotlib knows.

    Raises:
        InputError: nothing has been recorded.
    """
    last = monitor.last
    if last is None:
        raise InputError("nothing has been recorded", element=monitor.name, remedy="Run the simulation first")
    series = monitor.series
    figure, axes = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
    above = axes[0, 0]
    if len(last.support):
        closed = np.vstack([last.support, last.support[:1]])
        above.fill(closed[:, 0], closed[:, 1], color="#dddddd")
        above.plot(closed[:, 0], closed[:, 1], color="grey", linewidth=0.8, label="support polygon")
    points = {
        "centre of mass": (series.centre_of_mass, "#1f77b4"),
        "zero-moment point": (series.zero_moment_point, "#d62728"),
        "capture point": (series.capture_point, "#2ca02c"),
    }
    for name, (course, colour) in points.items():
        flat = course @ last.axes.T
        above.plot(flat[:, 0], flat[:, 1], color=colour, linewidth=0.9, label=name)
        axes[0, 1].plot(series.time, flat[:, 0], color=colour, linewidth=0.9, label=f"{name}, x")
        axes[0, 1].plot(series.time, flat[:, 1], color=colour, linewidth=0.9, linestyle="--", label=f"{name}, y")
    for link, course in series.centres_of_pressure.items():
        flat = course @ last.axes.T
        above.plot(flat[:, 0], flat[:, 1], ".", markersize=2, label=f"pressure, {link}")
    above.set(xlabel="x [m]", ylabel="y [m]", title="from above")
    above.set_aspect("equal", adjustable="datalim")
    above.legend(fontsize=7)
    axes[0, 1].set(xlabel="time [s]", ylabel="position [m]", title="courses")
    axes[0, 1].legend(fontsize=7)
    axes[1, 0].plot(series.time, 1e3 * series.margin, color="#d62728")
    axes[1, 0].axhline(0.0, color="black", linewidth=0.8)
    axes[1, 0].set(xlabel="time [s]", ylabel="margin [mm]", title="zero-moment point within the support polygon")
    axes[1, 1].plot(series.time, series.angular_momentum, label=["x", "y", "z"])
    axes[1, 1].set(xlabel="time [s]", ylabel="[kg m²/s]", title="angular momentum about the centre of mass")
    axes[1, 1].legend(fontsize=7)
    figure.savefig(path, dpi=120)
    plt.close(figure)
