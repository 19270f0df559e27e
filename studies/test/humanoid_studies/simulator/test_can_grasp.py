# SPDX-License-Identifier: Apache-2.0
"""Experiment E0 of specification 000 §27 (F165); its physics is tested beside the baselines."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_studies.baselines.can_grasp import CAN_RADIUS, GraspRun
from humanoid_studies.simulator import can_grasp


def test_a_cross_marks_where_a_run_diverged() -> None:
    time = np.array([0.1, 0.2])
    runs = {
        "holds": GraspRun(time, np.zeros(2), np.array([0.0, 60.0]), np.zeros(2), False),
        "diverges": GraspRun(time[:1], np.array([1e-3]), np.array([1e4]), np.zeros(1), True),
    }
    depths, forces = can_grasp.grasp_panels(runs)
    assert [c.label for c in depths.curves[:3]] == ["holds", "diverges", "diverges: diverged"]
    assert depths.curves[2].x[0] == 0.1
    assert depths.curves[1].y[0] == pytest.approx(1.0)  # mm
    assert [c.style for c in forces.curves] == ["line", "line", "points"]


@pytest.mark.slow
def test_constraints_hold_what_penalties_crush() -> None:
    result = can_grasp.run(1.2)
    assert result.passes
    assert result.row("constraints: penetration").ours < 1.0
    assert result.row("penalty, softer: penetration").ours > 100.0 * CAN_RADIUS
    assert result.row("penalty, gains of walking: diverges at").ours < 1.0
    assert len(result.figure().axes) == 2
