# SPDX-License-Identifier: Apache-2.0
"""Limits name the worst value, its time and what was allowed, and of many violations the worst is told first."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from fixtures.gait_problems import oracle_problem, stance

from humanoid_model.violation import Limit, Violation, ViolationKind, told
from humanoid_studies.planar_gait.solvers.phase_solution import PhaseSolution, Tolerances, find_violations
from humanoid_studies.planar_gait.solvers.synthesize import SynthesisOptions, synthesize_phase

pytestmark = pytest.mark.feature("003-F106")

T = np.array([0.0, 0.1, 0.2, 0.3])


def test_a_violation_tells_when_it_begins_and_where_it_is_worst() -> None:
    (found,) = Limit(ViolationKind.RATE, "knee", "rad/s", 0.5).check(T, [1.0, 2.0, 4.0, 1.0], 1.0)
    assert (found.time, found.worst, found.value, found.limit, found.excess, found.severity) == (0.1, 0.2, 4, 1, 3, 6)
    assert str(found) == "knee exceeded by 3 rad/s, first at 0.100 s: 4 at 0.200 s, 1 allowed"
    assert (found.later(2.0).time, found.later(2.0).worst) == (2.1, 2.2)


def test_least_values_are_exceeded_downwards_and_tolerances_count_as_kept() -> None:
    force = Limit(ViolationKind.ROOT_FOOT_PULLS, "foot", "N", 0.5, least=True)
    assert force.check(T, [3.0, -0.4, 0.0, 1.0], 0.0) == []
    (found,) = force.check(T, [3.0, -0.4, -594.0, 1.0], [0.0, 0.0, 6.0, 0.0])
    assert (found.value, found.limit, found.excess) == (-594.0, 6.0, 600.0)


def test_the_worst_in_tolerances_is_told_first_and_others_are_counted() -> None:
    def broken(what: str, excess: float, tolerance: float) -> Violation:
        return Violation(ViolationKind.RANGE, what, 0.0, 0.0, excess, 0.0, tolerance, "rad")

    items = [broken("a", 1.0, 1.0), broken("b", 0.1, 0.01), broken("c", 600.0, 0.5), broken("d", 2.0, 1.0)]
    said = told(items)
    assert [part.split()[0] for part in said.split("; ")] == ["c", "b", "d"]
    assert said.endswith(" and 1 more")
    assert "more" not in told(items[:3])


def single_support() -> PhaseSolution:
    """The thesis' step of BIP, whose stance foot pulls, and needs more friction than that."""
    problem = oracle_problem("bip_ssp_cyclic")
    return synthesize_phase(problem.replace(feet=(stance(problem),), friction=0.05), SynthesisOptions("direct"))


@pytest.mark.parametrize(("coefficient", "kept"), [(0.0099, True), (0.0103, False), (0.016, False)])
def test_friction_is_kept_to_a_share_of_it_wherever_the_foot_presses(coefficient: float, kept: bool) -> None:
    """Of a foot that presses with 60 N, far below the 1 kN that it bears elsewhere, on ground of friction 0.01."""
    solution = single_support()
    ((name, series),) = solution.forces.items()
    normal = np.full_like(series.normal, 500.0)
    normal[len(normal) // 2] = 30.0
    needed = np.where(np.arange(len(normal)) == len(normal) // 2, coefficient, 0.0099)
    forces = {name: dataclasses.replace(series, normal=normal, tangential=needed * normal.sum(axis=1))}
    problem, tolerances = solution.problem.replace(friction=0.01), Tolerances()
    contacts, _ = find_violations(problem, solution.t, solution.q, solution.v, solution.u, forces, tolerances)
    assert [item.kind for item in contacts] == ([] if kept else [ViolationKind.FRICTION])


def test_what_a_phase_breaks_most_is_first_in_its_message() -> None:
    solution = single_support()
    severities = [item.severity for item in solution.violations]
    assert len(severities) > 1
    assert severities == sorted(severities, reverse=True)
    assert f"converged; {solution.violations[0]}" in solution.message
