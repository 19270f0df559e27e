# SPDX-License-Identifier: Apache-2.0
"""Rows are brought back to where they have to be, and what can't be kept is named."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_gait import AccelerationCost, ForceCost, GaitSolver, TorqueCost, WalkRequest
from humanoid_gait.barrier import BarrierProgram
from humanoid_gait.guess import posture_guess, unknowns_guess
from humanoid_gait.restoration import Restoration
from humanoid_gait.stages import Stages
from humanoid_gait.transcription import Transcription
from humanoid_model import load_robot

pytestmark = pytest.mark.feature("003-F093")
COSTS = (TorqueCost(), AccelerationCost(1e-4), ForceCost())


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_rows_are_kept_from_far_away(noise: float) -> None:
    problem = WalkRequest(0.3, intervals=(2, 5), costs=COSTS).problem(load_robot("bip_planar", geometry=False))
    postures = posture_guess(problem)
    program = Transcription(problem, postures, carried=True)
    barrier = BarrierProgram(Stages(program))
    guess = unknowns_guess(program, postures)
    x = guess + noise * np.random.default_rng(0).standard_normal(len(guess))
    it = barrier.begin(x, 1e-2, None, None, 1e-2)
    far = barrier.infeasibility(it)
    why, _ = Restoration(barrier, 1e-6).restore(it, 1e-2, lambda one: barrier.infeasibility(one) < 1e-3, 200, None)
    assert not why
    _, rows = barrier.stages.values(it.x)
    beyond = np.maximum(np.maximum(program.row_lower - rows, rows - program.row_upper), 0.0)
    assert beyond.sum() < 1e-3 < far
    assert (it.x >= barrier.bounds[0].lower).all()
    assert (it.x <= barrier.bounds[0].upper).all()


def test_what_holds_a_step_up_is_named() -> None:
    problem = WalkRequest(0.9, single=0.25, intervals=(2, 5), costs=COSTS).problem(
        load_robot("bip_planar", geometry=False)
    )
    result = GaitSolver(problem).solve()
    assert not result.success
    assert "held up by" in result.report()
    assert "rear_hip" in result.report()
