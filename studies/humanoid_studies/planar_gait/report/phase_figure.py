# SPDX-License-Identifier: Apache-2.0
"""A solved phase in one picture: stick figures, angles, torques, forces, and what proves it optimal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_studies.planar_gait.mechanism.phase_model import PhaseModel
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution


def stick_segments(model: PhaseModel, q: Reals) -> list[Reals]:
    """Lines of a stick figure at one configuration (n,): each body's axis to the axes that it carries and its points.

    Returns:
        (2, 2) ends of each line: rows are points, columns X and Y [m].
    """
    tree = model.tree
    moving = np.exp(1j * np.where(tree.turning, q, tree.phase))
    moving = np.where(tree.turning, moving, 1j * moving * q)

    def place(origin: complex, coefficients: NDArray[np.complex128]) -> complex:
        return complex(origin + (coefficients * moving).sum())

    axes = [place(tree.origins[k], tree.axes[k]) for k in range(len(tree.bodies))]
    names = [body.name for body in tree.bodies]
    lines = []
    for k, body in enumerate(tree.bodies):
        if body.parent is not None:
            lines.append((axes[names.index(body.parent)], axes[k]))
        own = tree.coordinate_of(body.name)
        for name, point in model.points.items():
            if name in model.obstacle_points:  # on a line that is there already
                continue
            beyond = np.abs(point.coefficients - tree.axes[k])
            reach = beyond[own]
            beyond[own] = 0.0
            if reach > 1e-9 and beyond.max(initial=0.0) < 1e-12:
                lines.append((axes[k], place(point.origin, point.coefficients)))
    # Points that carry the next body's axis give the same line once more.
    known = {(complex(np.round(a, 9)), complex(np.round(b, 9))): (a, b) for a, b in lines if abs(a - b) > 1e-9}
    return [np.array([[a.real, a.imag], [b.real, b.imag]]) for a, b in known.values()]


def phase_figure(solution: PhaseSolution, figures: int = 9) -> Figure:
    """Nine panels of a solution.

    Args:
        solution: of a phase.
        figures: number of stick figures, at equal times.
    """
    model, t = solution.problem.model, solution.t
    figure = Figure(figsize=(16.0, 11.0), layout="constrained")
    panels = figure.subplots(3, 3)
    colour_of = figure_colours(figures)
    sticks = panels[0, 0]
    for index, sample in enumerate(np.linspace(0, len(t) - 1, figures).astype(int)):
        for line in stick_segments(model, solution.q[sample]):
            sticks.plot(line[:, 0], line[:, 1], color=colour_of[index], linewidth=1.3)
    sticks.axhline(0.0, color="0.6", linewidth=0.8)
    for obstacle in solution.problem.penalties.obstacles:
        left, right = sticks.get_xlim()
        x = np.linspace(float(left), float(right), 400)
        sticks.fill_between(x, obstacle.envelope(x), color="0.8")
    sticks.set_aspect("equal", adjustable="datalim")
    _label(sticks, "motion, dark to light", "X [m]", "Y [m]")
    angles, rates = model.joint_angles(solution.q), model.joint_rates(solution.v)
    for j, name in enumerate(model.joint_names):
        panels[0, 1].plot(t, np.degrees(angles[:, j]), label=name)
        panels[0, 2].plot(t, rates[:, j], label=name)
    _label(panels[0, 1], "joint angles", "t [s]", "[deg]")
    _label(panels[0, 2], "joint rates", "t [s]", "[rad/s]")
    for j, name in enumerate(model.control_names):
        panel = panels[1, 0] if j < model.torque_count else panels[1, 1]
        panel.plot(t, solution.u[:, j], label=name)
    _label(panels[1, 0], "torques", "t [s]", "[N m]")
    feet = {foot.name: foot for foot in solution.problem.checked_feet}
    shown = set(model.control_names)
    for name, series in solution.forces.items():
        for row, normal in zip(feet[name].normal, series.normal.T, strict=True):
            if row.name not in shown:  # controls are drawn already
                panels[1, 1].plot(t, normal, "--", label=row.name)
        if feet[name].tangential.name not in shown:
            panels[1, 1].plot(t, series.tangential, ":", label=feet[name].tangential.name)
        total = series.total_normal
        with np.errstate(divide="ignore", invalid="ignore"):
            panels[1, 2].plot(t, np.where(total > 0.0, np.abs(series.tangential) / total, np.nan), label=name)
    _label(panels[1, 1], "forces of contacts and cuts", "t [s]", "[N]")
    _label(panels[1, 2], "friction that the feet need", "t [s]", "|T| / N")
    H = solution.hamiltonian
    panels[2, 0].plot(t, H - H.mean())
    _label(panels[2, 0], f"H - {H.mean():.6g}   (spread {solution.hamiltonian_spread:.1e})", "t [s]", "[1/s]")
    panels[2, 1].plot(t, 1e3 * solution.closure_gap, label="closure [mm]")
    for name in model.clearance_points:
        panels[2, 1].plot(t, 1e3 * model.points[name].position(solution.q)[:, 1], label=f"height of {name} [mm]")
    _label(panels[2, 1], "closure and clearance", "t [s]", "[mm]")
    n = model.n
    scale = np.abs(solution.costates).max(axis=0)
    scale[scale == 0.0] = 1.0
    for j, name in enumerate(model.tree.coordinates):
        panels[2, 2].plot(t, solution.costates[:, n + j] / scale[n + j], label=name)
    _label(panels[2, 2], "costates of the momenta, each over its largest", "t [s]", "")
    figure.suptitle(
        f"{model.name}: {solution.status.value} ({solution.method})   J = {solution.cost:.6g}   "
        f"energy {solution.energies.total:.1f} J   T = {solution.duration:.3f} s"
    )
    return figure


def write_figure(solution: PhaseSolution, path: str | Path) -> None:
    """Write the picture; the ending of the name tells the format."""
    phase_figure(solution).savefig(path, dpi=110)


def figure_colours(count: int) -> list[tuple[float, float, float]]:
    """Shade from dark to light blue."""
    shades = np.linspace(0.0, 0.75, count)
    return [(0.05 + 0.8 * s, 0.15 + 0.7 * s, 0.4 + 0.5 * s) for s in shades]


def _label(panel: Any, title: str, x: str, y: str) -> None:
    panel.set_title(title, fontsize=10)
    panel.set_xlabel(x)
    panel.set_ylabel(y)
    panel.grid(alpha=0.3)
    if panel.get_legend_handles_labels()[0]:
        panel.legend(fontsize=7)
