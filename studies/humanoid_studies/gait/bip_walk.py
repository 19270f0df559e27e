# SPDX-License-Identifier: Apache-2.0
"""BIP's five phases (specification 003 section 4.5), with two settings.

``reference_walk`` has those of the reference solutions: nothing holds the stance foot down, and the walk starts with
the hips above the ankles. ``walk`` has what the thesis says of its gait: all feet press, by the maximising control,
within a friction of 0.3 and the joints' ranges and rates, and it starts leaning ahead (G-10).
"""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np

from humanoid_studies.gait.experiment_result import Row, between, near
from humanoid_studies.planar_gait.models.bip import load_bip
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution
from humanoid_studies.planar_gait.solvers.synthesize_gait import (
    GaitSettings,
    GaitSolution,
    PhaseSettings,
    synthesize_gait,
)
from humanoid_studies.planar_gait.specification.phase_spec import walk_between_rests
from humanoid_studies.planar_gait.specification.step_data import RestData, load_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker

WEIGHT = 104.81 * 9.81
"""Of BIP [N]."""


@cache
def reference_walk() -> GaitSolution:
    """Return the five phases with the settings of the reference solutions."""
    steady = dataclasses.replace(load_walk("bip_cyclic"), rest=RestData())
    return synthesize_gait(
        BipWalker(load_bip(), min_toe_force=6.0), walk_between_rests(steady, load_walk("bip_braking"))
    )


@cache
def walk() -> GaitSolution:
    """Return the five phases with feet that press and hold."""
    single = PhaseSettings(penalties=Penalties(range_weight=1.0, rate_weight=1.0), min_root_force=6.0)
    return synthesize_gait(
        BipWalker(load_bip(), friction=0.3, min_toe_force=6.0),
        walk_between_rests(load_walk("bip_cyclic"), load_walk("bip_braking")),
        GaitSettings(single=single, friction=0.3),
    )


def statement_rows(solution: PhaseSolution, energy: float) -> tuple[Row, ...]:
    """Return what the thesis says of every phase."""
    return (
        between("J_e", "thesis", solution.energies.total, "J", least=energy / 2.5, greatest=energy * 2.5),
        between("trunk deviates by", "thesis", trunk_deviation(solution), "deg", greatest=5.0),
        between("least normal force", "thesis", min_normal(solution), "N", least=0.0),
        between("friction needed", "thesis", solution.friction_required, greatest=0.301),
    )


def reference_rows(solution: PhaseSolution, cost: float, hamiltonian: float, energy: float) -> tuple[Row, ...]:
    """Return what every reference solution gives."""
    return (
        near("reference: J", "reference", cost, solution.cost, relative=1e-3),
        near("reference: H", "reference", hamiltonian, float(solution.hamiltonian.mean()), "1/s", absolute=2e-3),
        near("reference: H, spread", "reference", 0.0, solution.hamiltonian_spread, absolute=1e-4),
        near("reference: J_e", "reference", energy, solution.energies.total, "J", relative=5e-3),
    )


def range_rows(name: str, values: np.ndarray, least: float, greatest: float, tolerance: float = 2.0) -> tuple[Row, Row]:
    """Least and greatest value of a force of the reference solution [N], printed in whole newtons there."""
    return (
        near(f"reference: least {name}", "reference", least, float(values.min()), "N", absolute=tolerance),
        near(f"reference: greatest {name}", "reference", greatest, float(values.max()), "N", absolute=tolerance),
    )


def torque_row(solution: PhaseSolution, control: str, joint: str, greatest: float) -> Row:
    """Greatest torque of a joint of the reference solution, printed in whole newton metres there."""
    column = solution.problem.model.control_names.index(control)
    peak = float(np.abs(solution.u[:, column]).max())
    return near(f"reference: greatest torque, {joint}", "reference", greatest, peak, "N m", absolute=1.0)


def trunk_deviation(solution: PhaseSolution) -> float:
    """Greatest angle of the trunk from the vertical [deg]."""
    return float(np.abs(np.degrees(solution.q[:, solution.problem.model.tree.index("trunk")]) - 90.0).max())


def min_normal(solution: PhaseSolution) -> float:
    """Least normal force of all feet [N]."""
    return min(series.min_normal for series in solution.forces.values())


def most_loaded(solution: PhaseSolution) -> list[str]:
    """Torques by their peaks, the greatest first."""
    names = solution.problem.model.control_names[: solution.problem.model.torque_count]
    peaks = np.abs(solution.u[:, : len(names)]).max(axis=0)
    return [names[j] for j in np.argsort(-peaks)]
