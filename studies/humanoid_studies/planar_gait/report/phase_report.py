# SPDX-License-Identifier: Apache-2.0
"""Summary of a solved phase, as numbers and as text (specification 003 section 2.32.3)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.integrate import trapezoid

from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution


@dataclass(frozen=True)
class ControlReport:
    """Extremes of one control.

    Attributes:
        name: of the control.
        least: smallest value [N m or N].
        greatest: largest value.
        root_mean_square: over the phase.
        lower: its bound; -inf without.
        upper: its bound; inf without.
        energy: integral of |power| of a torque; 0 of a force [J].
    """

    name: str
    least: float
    greatest: float
    root_mean_square: float
    lower: float
    upper: float
    energy: float


@dataclass(frozen=True)
class JointReport:
    """Extremes of one relative angle.

    Attributes:
        name: of the joint.
        least: angle [rad].
        greatest: angle [rad].
        fastest: absolute rate [rad/s].
        rate_limit: inf without [rad/s].
    """

    name: str
    least: float
    greatest: float
    fastest: float
    rate_limit: float


@dataclass(frozen=True)
class FootReport:
    """Forces under one foot.

    Attributes:
        name: of the foot.
        min_normal: least of each normal force [N].
        max_normal: greatest of each [N].
        friction_required: least Coulomb coefficient that holds it.
        pressure_range: where its centre of pressure lies, from the rearmost to the foremost [m].
    """

    name: str
    min_normal: tuple[float, ...]
    max_normal: tuple[float, ...]
    friction_required: float
    pressure_range: tuple[float, float]


@dataclass(frozen=True)
class PhaseReport:
    """Summary of a phase.

    Attributes:
        status: outcome.
        message: the same in words.
        method: what gave the solution.
        duration: T [s].
        cost: penalised criterion J.
        direct_cost: the same by transcription.
        hamiltonian: mean of H.
        hamiltonian_spread: max H - min H over max(1, |H|).
        residual: of the boundary value problem.
        closure_mm: greatest distance that the loop stays open [mm].
        energy: J_e [J].
        energy_positive: given to the mechanism [J].
        energy_negative: taken from it [J].
        mean_power: J_e over the duration [W].
        effort_rate: J_d [1/s].
        clearance: least height of each clearance point above ground and obstacles [m].
        controls: extremes of the controls.
        joints: extremes of the joints.
        feet: forces under the feet.
        violations: what isn't kept.
        seconds: time of the synthesis.
    """

    status: str
    message: str
    method: str
    duration: float
    cost: float
    direct_cost: float
    hamiltonian: float
    hamiltonian_spread: float
    residual: float
    closure_mm: float
    energy: float
    energy_positive: float
    energy_negative: float
    mean_power: float
    effort_rate: float
    clearance: dict[str, float]
    controls: tuple[ControlReport, ...]
    joints: tuple[JointReport, ...]
    feet: tuple[FootReport, ...]
    violations: tuple[str, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings; what isn't finite is None, as JSON has no other word for it."""
        return dict(plain_values(asdict(self)))

    def text(self) -> str:
        """Return a page to read."""
        lines = [
            f"{self.status} ({self.method}) after {self.seconds:.2f} s: {self.message}",
            f"duration {self.duration:.4g} s   J {self.cost:.6g}   by transcription {self.direct_cost:.6g}",
            f"H {self.hamiltonian:.6g}, spread {self.hamiltonian_spread:.1e}   residual {self.residual:.1e}"
            f"   closure {self.closure_mm:.3f} mm",
            f"energy {self.energy:.2f} J ({self.energy_positive:+.2f}, {self.energy_negative:+.2f})"
            f"   mean power {self.mean_power:.1f} W",
            "",
            f"{'control':12}{'least':>10}{'greatest':>10}{'rms':>10}{'energy J':>10}",
        ]
        lines += [
            f"{item.name:12}{item.least:10.2f}{item.greatest:10.2f}{item.root_mean_square:10.2f}{item.energy:10.2f}"
            for item in self.controls
        ]
        lines += ["", f"{'joint':20}{'least':>10}{'greatest':>10}{'rate':>10}   deg, rad/s"]
        lines += [
            f"{item.name:20}{math.degrees(item.least):10.1f}{math.degrees(item.greatest):10.1f}{item.fastest:10.2f}"
            for item in self.joints
        ]
        for foot in self.feet:
            normals = ", ".join(
                f"{low:.0f} to {high:.0f} N" for low, high in zip(foot.min_normal, foot.max_normal, strict=True)
            )
            lines.append(f"{foot.name}: normal {normals}; friction needed {foot.friction_required:.3f}")
        lines += [f"{name}: {1e3 * height:.1f} mm above ground at least" for name, height in self.clearance.items()]
        lines += [f"! {violation}" for violation in self.violations]
        return "\n".join(lines)


def phase_report(solution: PhaseSolution) -> PhaseReport:
    """Return the summary of a solution."""
    problem, model = solution.problem, solution.problem.model
    energies = solution.energies
    span = solution.t[-1] - solution.t[0]
    squares = trapezoid(solution.u**2, solution.t, axis=0) / span
    controls = tuple(
        ControlReport(
            name,
            float(solution.u[:, j].min()),
            float(solution.u[:, j].max()),
            float(math.sqrt(squares[j])),
            float(model.control_lower[j]),
            float(model.control_upper[j]),
            float(energies.per_torque[j]) if j < model.torque_count else 0.0,
        )
        for j, name in enumerate(model.control_names)
    )
    angles, rates = model.joint_angles(solution.q), model.joint_rates(solution.v)
    joints = tuple(
        JointReport(
            name,
            float(angles[:, j].min()),
            float(angles[:, j].max()),
            float(np.abs(rates[:, j]).max()),
            float(model.rate_limit[j]),
        )
        for j, name in enumerate(model.joint_names)
    )
    feet = []
    for name, series in solution.forces.items():
        pressure = series.centre_of_pressure
        pressed = pressure[np.isfinite(pressure)]
        span_of_pressure = (float(pressed.min()), float(pressed.max())) if len(pressed) else (math.nan, math.nan)
        feet.append(
            FootReport(
                name,
                tuple(float(value) for value in series.normal.min(axis=0)),
                tuple(float(value) for value in series.normal.max(axis=0)),
                series.required_friction,
                span_of_pressure,
            )
        )
    clearance = {}
    for name in model.points_to_clear(bool(problem.penalties.obstacles)):
        place = model.points[name].position(solution.q)
        ground = sum((item.envelope(place[:, 0]) for item in problem.penalties.obstacles), np.zeros(len(place)))
        clearance[name] = float((place[:, 1] - ground).min())
    return PhaseReport(
        status=solution.status.value,
        message=solution.message,
        method=solution.method,
        duration=solution.duration,
        cost=solution.cost,
        direct_cost=solution.direct_cost,
        hamiltonian=float(solution.hamiltonian.mean()),
        hamiltonian_spread=solution.hamiltonian_spread,
        residual=solution.residual,
        closure_mm=float(1e3 * solution.closure_gap.max()),
        energy=energies.total,
        energy_positive=energies.positive,
        energy_negative=energies.negative,
        mean_power=energies.total / solution.duration,
        effort_rate=energies.effort_rate,
        clearance=clearance,
        controls=controls,
        joints=joints,
        feet=tuple(feet),
        violations=tuple(str(item) for item in solution.violations),
        seconds=solution.seconds,
    )


def plain_values(value: Any) -> Any:
    """Return the same with tuples as lists and numbers that aren't finite as None."""
    if isinstance(value, dict):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
