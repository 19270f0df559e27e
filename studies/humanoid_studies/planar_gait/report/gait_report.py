# SPDX-License-Identifier: Apache-2.0
"""Summary of a whole gait, as numbers and as text (specification 003 sections 2.27, 2.28, 2.32)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from humanoid_studies.planar_gait.report.phase_report import PhaseReport, phase_report, plain_values
from humanoid_studies.planar_gait.report.remedies import NOT_CONVERGED, REMEDIES, SLAP
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize_gait import GaitSolution
from humanoid_studies.planar_gait.specification.phase_spec import PhaseSpec
from humanoid_studies.planar_gait.specification.walker import Walker
from humanoid_studies.planar_gait.trajectory.gait_series import GaitSeries, gait_series, leg_roles

SOLE_TOLERANCE = 1e-3
"""Depth below the ground at which a sole counts as going through it [m]."""


@dataclass(frozen=True)
class Peak:
    """The greatest absolute value of a series of one joint.

    Attributes:
        joint: its name, leg first.
        value: with its sign [N m or rad/s].
        time: of the gait [s].
    """

    joint: str
    value: float
    time: float


@dataclass(frozen=True)
class Finding:
    """Something that the gait doesn't keep, and what to do about it.

    Attributes:
        phase: number of the phase, from 1.
        what: isn't kept, and by how much.
        time: of the gait, when first; NaN where no time belongs to it [s].
        first: what to do.
        second: what to do if that doesn't help.
    """

    phase: int
    what: str
    time: float
    first: str
    second: str

    def __str__(self) -> str:
        return f"phase {self.phase}: {self.what}. First {self.first}; then {self.second}."


@dataclass(frozen=True)
class GaitPhaseReport:
    """One phase of a gait.

    Attributes:
        number: from 1.
        kind: of the phase.
        bears: legs on the ground, the one at the root first.
        start: when it begins [s].
        distance: that the hip advances [m].
        torque: greatest torque of a joint.
        rate: greatest rate of a joint.
        min_normal: least normal force of each foot on the ground [N].
        friction: least coefficient that holds each foot.
        report: of the phase by itself.
    """

    number: int
    kind: str
    bears: tuple[str, ...]
    start: float
    distance: float
    torque: Peak
    rate: Peak
    min_normal: dict[str, float]
    friction: dict[str, float]
    report: PhaseReport

    @property
    def mean_speed(self) -> float:
        """Of the hip along X [m/s]."""
        return self.distance / self.report.duration


@dataclass(frozen=True)
class TransitionReport:
    """What jumps at a transition in the world.

    Attributes:
        time: [s].
        place: of a point of the robot [m].
        velocity: of a point [m/s].
        rate: of a body [rad/s].
        torque: of a joint: phases are optimal one by one, so that torques and forces do jump [N m].
    """

    time: float
    place: float
    velocity: float
    rate: float
    torque: float


@dataclass(frozen=True)
class GaitReport:
    """Summary of a gait.

    Attributes:
        converged: whether every phase is solved.
        duration: [s].
        distance: that the hip advances [m].
        mean_speed: [m/s].
        weight: of the robot [N].
        cost: sum of the phases' J.
        energy: J_e [J].
        energy_positive: given to the robot [J].
        energy_negative: taken from it [J].
        mean_power: J_e over the duration [W].
        cost_of_transport: J_e over weight times distance; NaN where the hip doesn't advance.
        friction_required: greatest coefficient that a foot needs.
        min_normal: least normal force of a foot on the ground [N].
        hamiltonian_spread: greatest of the phases.
        closure_mm: greatest distance that a loop stays open [mm].
        trunk_lean: greatest deviation of the trunk from the vertical [rad].
        clearance: least height of a swinging sole or tip above the ground; NaN without [m].
        torques: peak of each joint's torque.
        rates: peak of each joint's rate.
        phases: one by one.
        transitions: one by one.
        findings: what isn't kept.
        seconds: of synthesis, phases that repeat counted once.
    """

    converged: bool
    duration: float
    distance: float
    mean_speed: float
    weight: float
    cost: float
    energy: float
    energy_positive: float
    energy_negative: float
    mean_power: float
    cost_of_transport: float
    friction_required: float
    min_normal: float
    hamiltonian_spread: float
    closure_mm: float
    trunk_lean: float
    clearance: float
    torques: tuple[Peak, ...]
    rates: tuple[Peak, ...]
    phases: tuple[GaitPhaseReport, ...]
    transitions: tuple[TransitionReport, ...]
    findings: tuple[Finding, ...]
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings; what isn't finite is None, as JSON has no other word for it."""
        return dict(plain_values(asdict(self)))

    def text(self) -> str:
        """Return a page to read."""
        lines = [
            f"{self.duration:.3f} s, {self.distance:.3f} m, {self.mean_speed:.3f} m/s"
            f" ({3.6 * self.mean_speed:.2f} km/h); {'converged' if self.converged else 'NOT CONVERGED'},"
            f" {self.seconds:.2f} s of synthesis",
            f"J {self.cost:.6g}   J_e {self.energy:.2f} J ({self.energy_positive:+.2f}, {self.energy_negative:+.2f})"
            f"   mean power {self.mean_power:.1f} W   cost of transport {self.cost_of_transport:.3f}",
            f"friction needed {self.friction_required:.3f}   least normal force {self.min_normal:.1f} N"
            f"   closure {self.closure_mm:.3f} mm   trunk leans {math.degrees(self.trunk_lean):.2f} deg at most"
            f"   clearance {1e3 * self.clearance:.1f} mm",
            "",
            _row(
                ("phase", "on", "start s", "T s", "hip m", "m/s", "J", "H", "spread", "J_e J", "W", "gap mm"),
                _PHASE_WIDTHS,
            ),
        ]
        for phase in self.phases:
            own = phase.report
            lines.append(
                _row(
                    (
                        f"{phase.number} {phase.kind}",
                        "+".join(phase.bears),
                        f"{phase.start:.3f}",
                        f"{own.duration:.3f}",
                        f"{phase.distance:.3f}",
                        f"{phase.mean_speed:.3f}",
                        f"{own.cost:.6f}",
                        f"{own.hamiltonian:.4f}",
                        f"{own.hamiltonian_spread:.0e}",
                        f"{own.energy:.2f}",
                        f"{own.mean_power:.0f}",
                        f"{own.closure_mm:.3f}",
                    ),
                    _PHASE_WIDTHS,
                )
            )
        lines += ["", _row(("phase", "greatest torque", "greatest rate", "feet", "status"), _PEAK_WIDTHS)]
        for phase in self.phases:
            feet = ", ".join(
                f"{leg} >= {phase.min_normal[leg]:.0f} N, friction {phase.friction[leg]:.3f}" for leg in phase.bears
            )
            lines.append(
                _row(
                    (
                        f"{phase.number} {phase.kind}",
                        _peak_text(phase.torque, "N m"),
                        _peak_text(phase.rate, "rad/s"),
                        feet,
                        phase.report.status,
                    ),
                    _PEAK_WIDTHS,
                )
            )
        lines += ["", _row(("joint", "greatest torque", "greatest rate"), _JOINT_WIDTHS)]
        for torque, rate in zip(self.torques, self.rates, strict=True):
            lines.append(_row((torque.joint, _when_text(torque, "N m"), _when_text(rate, "rad/s")), _JOINT_WIDTHS))
        if self.transitions:
            lines += ["", "jumps at the transitions:"]
        lines += [
            f"  {jump.time:.3f} s: places {jump.place:.0e} m, velocities {jump.velocity:.0e} m/s, "
            f"rates {jump.rate:.0e} rad/s, torques {jump.torque:.0f} N m"
            for jump in self.transitions
        ]
        lines += ["", "nothing is violated"] if not self.findings else [""]
        lines += [f"! {finding}" for finding in self.findings]
        return "\n".join(lines)


_PHASE_WIDTHS = (-18, -11, 8, 7, 7, 7, 10, 10, 8, 9, 6, 8)
_PEAK_WIDTHS = (-18, -30, -30, -72, -12)
_JOINT_WIDTHS = (-14, -26, -26)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Cells in columns: right-aligned, or left-aligned where the width is negative."""
    return "".join(
        f"{cell:<{-width}}" if width < 0 else f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)
    ).rstrip()


def _peak_text(peak: Peak, unit: str) -> str:
    return f"{peak.joint} {peak.value:.1f} {unit}"


def _when_text(peak: Peak, unit: str) -> str:
    return f"{peak.value:.1f} {unit} at {peak.time:.3f} s"


def robot_weight(walker: Walker, specs: Sequence[PhaseSpec]) -> float:
    """Return the weight of the whole robot, the standing foot included [N].

    Args:
        walker: the walking model.
        specs: phases, of which one names a step, as every kind of phase does.
    """
    step = next(step for spec in specs for step in (spec.step, spec.next_step) if step is not None)
    tree = walker.double_support(step).tree
    return float(tree.mass * tree.gravity)


def gait_report(gait: GaitSolution) -> GaitReport:
    """Return the summary of a gait; phases that didn't converge are given with their best iterates."""
    series, plan, totals = gait_series(gait), gait.plan, gait.totals
    weight = robot_weight(plan.walker, [phase.spec for phase in plan.phases])
    phases = tuple(_phase(gait, series, index) for index in range(len(gait.phases)))
    findings = [finding for index in range(len(gait.phases)) for finding in _findings(gait, series, index)]
    single = {id(solution): solution for solution in gait.phases}
    return GaitReport(
        converged=gait.converged,
        duration=totals.duration,
        distance=totals.distance,
        mean_speed=totals.mean_speed,
        weight=weight,
        cost=float(sum(solution.cost for solution in gait.phases)),
        energy=totals.energy,
        energy_positive=float(sum(solution.energies.positive for solution in gait.phases)),
        energy_negative=float(sum(solution.energies.negative for solution in gait.phases)),
        mean_power=totals.mean_power,
        cost_of_transport=totals.cost_of_transport(weight) if totals.distance > 0.0 else math.nan,
        friction_required=gait.friction_required,
        min_normal=min((value for phase in phases for value in phase.min_normal.values()), default=math.nan),
        hamiltonian_spread=max(solution.hamiltonian_spread for solution in gait.phases),
        closure_mm=float(1e3 * series.closure_gap.max()),
        trunk_lean=float(np.abs(series.trunk - math.pi / 2).max()),
        clearance=float(np.nanmin(series.clearance)) if np.isfinite(series.clearance).any() else math.nan,
        torques=tuple(_peaks(series, series.torques)),
        rates=tuple(_peaks(series, series.rates)),
        phases=phases,
        transitions=_transitions(gait, series),
        findings=tuple(findings),
        seconds=sum(solution.seconds for solution in single.values()),
    )


def _peaks(series: GaitSeries, values: np.ndarray[Any, Any], rows: Any = slice(None)) -> list[Peak]:
    """Return the peak of each joint among some of the samples."""
    found = []
    for j, name in enumerate(series.joints):
        column, t = values[rows, j], series.t[rows]
        k = int(np.abs(column).argmax())
        found.append(Peak(name, float(column[k]), float(t[k])))
    return found


def _phase(gait: GaitSolution, series: GaitSeries, index: int) -> GaitPhaseReport:
    rows = series.phase == index
    roles = leg_roles(gait.plan, index)
    hip = series.points["hip"][rows, 0]
    bears = tuple(roles[role] for role in ("rear", "front", "stance") if role in roles)
    least, friction = {}, {}
    for name, forces in gait.phases[index].forces.items():
        leg = roles[name.split("_", 1)[0]]
        least[leg], friction[leg] = forces.min_normal, forces.required_friction
    return GaitPhaseReport(
        number=index + 1,
        kind=gait.plan.phases[index].spec.kind.label,
        bears=tuple(leg for leg in bears if leg in least),
        start=float(gait.starts[index]),
        distance=float(hip[-1] - hip[0]),
        torque=max(_peaks(series, series.torques, rows), key=lambda peak: abs(peak.value)),
        rate=max(_peaks(series, series.rates, rows), key=lambda peak: abs(peak.value)),
        min_normal=least,
        friction=friction,
        report=phase_report(gait.phases[index]),
    )


def _transitions(gait: GaitSolution, series: GaitSeries) -> tuple[TransitionReport, ...]:
    found = []
    for index, jump in enumerate(gait.jumps()):
        before = int(np.flatnonzero(series.phase == index)[-1])
        torque = float(np.abs(series.torques[before + 1] - series.torques[before]).max())
        found.append(TransitionReport(float(series.t[before]), jump.place, jump.velocity, jump.rate, torque))
    return tuple(found)


def _findings(gait: GaitSolution, series: GaitSeries, index: int) -> list[Finding]:
    """Return what a phase doesn't keep; phases that repeat are listed once, with the first of them."""
    solution: PhaseSolution = gait.phases[index]
    if any(solution is earlier for earlier in gait.phases[:index]):
        return []
    start, number = float(gait.starts[index]), index + 1
    found = []
    if not solution.converged:
        found.append(Finding(number, solution.message, math.nan, *NOT_CONVERGED))
    for item in solution.violations:
        found.append(Finding(number, str(item.later(start)), start + item.time, *REMEDIES[item.kind]))
    rows = series.phase == index
    t = series.t[rows]
    if gait.plan.phases[index].double and gait.plan.walker.foot_length > 0.0:
        depth = _sole_depth(gait, series, index)
        if depth.max() > SOLE_TOLERANCE:
            when = float(t[int(np.argmax(depth > SOLE_TOLERANCE))])
            what = f"the front sole goes {1e3 * depth.max():.1f} mm below the ground, first at {when:.3f} s"
            found.append(Finding(number, what, when, *SLAP))
    return found


def _sole_depth(gait: GaitSolution, series: GaitSeries, index: int) -> np.ndarray[Any, Any]:
    """Return (samples of the phase,) how far the front foot's heel or toe is below the ground that it meets [m]."""
    rows = series.phase == index
    leg = leg_roles(gait.plan, index)["front"]
    step = gait.plan.phases[index].spec.own
    ground = gait.plan.offsets[index][1] + (step.step_height if step is not None else 0.0)
    heights = np.stack([series.points[f"{leg}_{place}"][rows, 1] for place in ("heel", "toe")])
    return np.asarray(ground - heights.min(axis=0))
