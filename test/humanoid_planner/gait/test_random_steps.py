# SPDX-License-Identifier: Apache-2.0
"""Steps drawn around the published ones: solved, or refused with the geometric reason (issue: 95 % of them)."""

import re

import numpy as np
import pytest
from fixtures.gait_models import BIP, CYCLIC, RABBIT, RABBIT_WALK
from fixtures.random_steps import random_walk

from humanoid_model.errors import InputError
from humanoid_planner.gait import synthesize_gait
from humanoid_planner.gait.optimal_control.effort import QuadraticEffort
from humanoid_planner.gait.phases.phase_spec import cyclic_walk
from humanoid_planner.gait.phases.synthesize_gait import GaitSettings, PhaseSettings
from humanoid_planner.gait.phases.walker import BipWalker, RabbitWalker

_LIGHT = PhaseSettings(QuadraticEffort(force_weight=0.1, force_scale=1e-2))
ROBOTS = {
    "bip": (BipWalker(BIP, toe_force_lower=6.0), CYCLIC, GaitSettings()),
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


@pytest.mark.slow
def test_random_steps_whose_feet_press():
    """With all feet held down by the controls; one of these swings needs its rows tightened step by step."""
    held = PhaseSettings(root_force_lower=6.0)
    solutions, refused = solved_and_refused("bip", 4, seed=2, spread=1.0, settings=GaitSettings(held, held))
    assert refused == 0
    assert all(solution.converged for solution in solutions)
    for solution in solutions:
        assert min(series.least_normal for series in solution.forces.values()) > -0.5
    followed = [solution for solution in solutions if any("rows tightened" in line for line in solution.log)]
    assert [solution.problem.model.name for solution in followed] == ["bip_single_support"]
    assert followed[0].cost < 10.0  # transcriptions of it end between 12 and 288
