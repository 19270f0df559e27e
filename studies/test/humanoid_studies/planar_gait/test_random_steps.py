# SPDX-License-Identifier: Apache-2.0
"""Steps drawn around the published ones: solved, or refused with the geometric reason (issue: 95 % of them)."""

import re

import numpy as np
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT, RABBIT_WALK
from fixtures.random_steps import random_walk

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.solvers import synthesize
from humanoid_studies.planar_gait.solvers.synthesize import synthesize_phase
from humanoid_studies.planar_gait.solvers.synthesize_gait import (
    GaitSettings,
    PhaseSettings,
    phase_problem,
    synthesize_gait,
)
from humanoid_studies.planar_gait.specification.gait_plan import plan_gait
from humanoid_studies.planar_gait.specification.phase_spec import cyclic_walk
from humanoid_studies.planar_gait.specification.walker import BipWalker, RabbitWalker

_LIGHT = PhaseSettings(QuadraticEffort(force_weight=0.1, force_scale=1e-2))
ROBOTS = {
    "bip": (BipWalker(BIP, min_toe_force=6.0), CYCLIC, GaitSettings()),
    "rabbit": (RabbitWalker(RABBIT, ankle_torque=True), RABBIT_WALK, GaitSettings(_LIGHT, _LIGHT)),
}


def solved_and_refused(name, count, seed, spread, settings=None):
    """Solutions of all phases, and how many walks were refused; a refusal has to name leg, span and length."""
    rng = np.random.default_rng(seed)
    walker, walk, own = ROBOTS[name]
    solutions, told = [], []
    for _ in range(count):
        try:
            gait = synthesize_gait(walker, cyclic_walk(random_walk(rng, walk, name == "bip", spread)), settings or own)
        except InputError as problem:
            told.append(str(problem))
        else:
            solutions += gait.phases
    assert all(re.search(r"leg at the (start|end): has to span .* m long\. Bring its ends", line) for line in told)
    return solutions, len(told)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "spread"), [("bip", 1.0), ("rabbit", 1.0), ("bip", 2.0), ("rabbit", 2.0)])
def test_random_steps(name, spread):
    solutions, refused = solved_and_refused(name, 15, seed=7, spread=spread)
    assert len(solutions) + 2 * refused == 30
    assert len(solutions) >= 10
    failed = [solution.message for solution in solutions if not solution.converged]
    assert len(failed) <= 1, failed
    for solution in solutions:
        if solution.converged:
            assert solution.hamiltonian_spread < 1e-3  # some of these motions wave about wildly


HELD = GaitSettings(PhaseSettings(min_root_force=6.0), PhaseSettings(min_root_force=6.0))
"""All feet are held down by the controls."""


def swing_of_feet_that_press(index):
    """Single support of a random step of BIP."""
    rng = np.random.default_rng(2)
    walker, walk, _ = ROBOTS["bip"]
    specs = [cyclic_walk(random_walk(rng, walk, True)) for _ in range(index + 1)][-1]
    (swing,) = {phase.spec: phase for phase in plan_gait(walker, specs).phases if not phase.double}.values()
    return phase_problem(walker, swing, HELD)


def test_a_swing_that_can_hardly_press_is_found_over_reduced_masses():
    """Its first transcription waves about at twice the cost and has no extremal near it."""
    solution = synthesize_phase(swing_of_feet_that_press(18))
    assert solution.method == "pontryagin"
    assert solution.converged
    assert solution.hamiltonian_spread < 1e-4
    assert solution.cost == pytest.approx(solution.direct_cost, rel=2e-3)
    assert solution.cost < 40.0
    assert min(series.min_normal for series in solution.forces.values()) > 5.9
    stages = [re.sub(r"^.* s  ", "", line) for line in solution.log]
    assert ["masses" in stage for stage in stages] == [False, False, True, True, True, False, False]
    assert "doesn't converge on 41 nodes" in stages[1]  # given up there
    assert all("20 intervals" in stage for stage in stages if "transcription" in stage)


@pytest.mark.slow
def test_rows_are_tightened_where_no_transcription_leads_to_an_extremal(monkeypatch):
    whole = synthesize._ATTEMPTS
    monkeypatch.setattr(synthesize, "_ATTEMPTS", (whole[0], *[item for item in whole if item.rows_before]))
    solution = synthesize_phase(swing_of_feet_that_press(3))
    assert solution.method == "pontryagin"
    assert solution.converged
    assert sum("rows tightened" in line for line in solution.log) >= 11
    assert solution.cost < 9.0  # transcriptions of it end between 9 and 288
    assert min(series.min_normal for series in solution.forces.values()) > 5.9


@pytest.mark.slow
def test_random_steps_whose_feet_press():
    """One of these swings isn't solved from its first transcription."""
    solutions, refused = solved_and_refused("bip", 4, seed=2, spread=1.0, settings=HELD)
    assert refused == 0
    assert all(solution.converged for solution in solutions)
    for solution in solutions:
        assert min(series.min_normal for series in solution.forces.values()) > -0.5
    rescued = [solution for solution in solutions if any("masses scaled" in line for line in solution.log)]
    assert "bip_single_support" in [solution.problem.model.name for solution in rescued]
    assert all(solution.cost < 10.0 for solution in rescued)  # first transcriptions of one end at 288
