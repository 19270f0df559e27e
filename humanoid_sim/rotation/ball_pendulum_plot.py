# SPDX-License-Identifier: Apache-2.0
"""Picture of the pendulum on a ball joint (specification 000, E8)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from humanoid_sim.rotation.ball_pendulum import BallPendulumRun

_STYLES = {
    "quaternion": ("#1f77b4", "-"),
    "rotation_vector": ("#2ca02c", "--"),
    "three_angles_thesis": ("#d62728", "-"),
    "three_angles": ("#ff7f0e", ":"),
}
_SMALLEST = 1e-17  # what a logarithmic axis shows of an exact zero


def plot_ball_pendulums(runs: Sequence[BallPendulumRun], path: str | Path) -> None:
    """Draw angle, distance from the plane, turn of the axis and relative time of some runs.

    Args:
        runs: what :func:`~humanoid_sim.rotation.ball_pendulum.compare_ball_pendulums` returned.
        path: picture to write, of any kind that matplotlib knows.
    """
    figure, axes = plt.subplots(2, 2, figsize=(11, 6.5), layout="constrained")
    for run in runs:
        colour, line = _STYLES[run.parametrisation]
        label = run.parametrisation.replace("_", " ")
        style = {"color": colour, "linestyle": line, "linewidth": 1.2, "label": label}
        axes[0, 0].plot(run.time, np.rad2deg(run.angle), **style)
        axes[0, 1].semilogy(run.time, np.maximum(run.out_of_plane, _SMALLEST), **style)
        axes[1, 0].semilogy(run.time, np.maximum(run.axis_drift, _SMALLEST), **style)
    names = [run.parametrisation.replace("_", "\n") for run in runs]
    colours = [_STYLES[run.parametrisation][0] for run in runs]
    bars = axes[1, 1].bar(names, [run.seconds / runs[0].seconds for run in runs], color=colours)
    axes[1, 1].bar_label(bars, fmt="%.2f")
    axes[1, 1].margins(y=0.12)
    axes[0, 0].set(xlabel="time [s]", ylabel="angle [°]", title="angle of the swing")
    axes[0, 1].set(xlabel="time [s]", ylabel="distance [m]", title="centre of mass out of the plane")
    axes[0, 1].axhline(1e-9, color="grey", linewidth=0.8, linestyle="-.")
    axes[1, 0].set(xlabel="time [s]", ylabel="angle [rad]", title="axis of swing turned away")
    axes[1, 1].set(ylabel=f"time of a step / {runs[0].parametrisation.replace('_', ' ')}'s", title="computing time")
    axes[0, 0].legend(loc="best", fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)
