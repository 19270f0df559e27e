# SPDX-License-Identifier: Apache-2.0
"""Experiment E0 of specification 000 §27."""

import numpy as np
import pytest

from humanoid_studies.baselines.can_grasp import (
    CAN_HEIGHT,
    CAN_RADIUS,
    GRIP_FORCE,
    grasp_with_constraints,
    grasp_with_penalty,
)


@pytest.mark.feature("000-F165")
def test_constraints_hold_the_can_for_five_seconds() -> None:
    """Less than 1 mm of penetration, and no more force than the fingers have."""
    run = grasp_with_constraints(5.0)
    assert not run.diverged
    assert run.penetration.max() < 1e-3
    assert run.force[-1] == pytest.approx(2 * GRIP_FORCE, rel=0.02)
    assert run.force[1000:].max() < 1.1 * 2 * GRIP_FORCE
    assert run.height[-1] == pytest.approx(0.5 * CAN_HEIGHT, abs=1e-4)


@pytest.mark.feature("000-F165")
def test_penalty_with_gains_of_walking_diverges() -> None:
    assert grasp_with_penalty(1.0).diverged


def test_softer_penalty_lets_the_fingers_in() -> None:
    """More than a tenth of the radius."""
    run = grasp_with_penalty(0.7, stiffness=3e3, damping=10.0)
    assert not run.diverged
    assert run.penetration.max() > 0.1 * CAN_RADIUS
    assert np.all(np.diff(run.time) > 0.0)
