# SPDX-License-Identifier: Apache-2.0
"""Experiment E17 of specification 000 §27 (N12); the tools are tested in ``monitoring``."""

from __future__ import annotations

import pytest

from humanoid_studies.simulator import friction_identification


def test_slip_force_and_friction_are_found() -> None:
    result = friction_identification.run(50)
    assert result.passes, result.table()
    assert result.row("force at which it slips").ours == pytest.approx(114.06, rel=0.005)
    assert result.row("friction from 50 pulls").ours == pytest.approx(0.983, rel=0.01)
