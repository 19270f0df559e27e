# SPDX-License-Identifier: Apache-2.0
"""Experiment E12 of specification 000 §27 (F137): HRP-2 on soles of several materials."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_model.robot import load_robot
from humanoid_model.sole import Material
from humanoid_studies.simulator import sole_materials
from humanoid_studies.simulator.sole_materials import ERROR, PEAK, StandingTrial, soled
from humanoid_studies.soles.material_sweep import SweepTable


def test_all_soles_get_the_material() -> None:
    material = Material(2e6, 0.3)
    robot = soled(material)
    assert len(robot.soles) == 2
    assert all(m == material for sole in robot.soles.values() for m in sole.materials.values())
    assert all(m != material for sole in load_robot("hrp2_soles").soles.values() for m in sole.materials.values())


@pytest.mark.feature("000-F137")
def test_softer_soles_are_felt_less_than_harder_ones_and_rigid_feet() -> None:
    trial = StandingTrial()
    soft, hard = (trial.peak(soled(Material(E, 0.01))) for E in (0.3e6, 3e6))
    rigid = trial.peak(load_robot("hrp2"))
    assert 9.8 < soft < 0.6 * hard
    assert hard < 0.7 * rigid
    assert rigid < 0.4427 / 1e-3 + 9.8  # it can't stop faster than in one step


@pytest.mark.feature("000-F137")
@pytest.mark.slow
def test_softer_soles_lean_more_and_jelly_lets_the_robot_fall() -> None:
    trial = StandingTrial()
    errors = [trial.torso_error(soled(Material(E, 0.01))) for E in (0.3e6, 3e6)]
    assert trial.torso_error(load_robot("hrp2")) < errors[1] < 0.5 * errors[0]
    jelly = soled(Material(0.03e6, 0.01))
    assert np.isnan(trial.torso_error(jelly))
    assert StandingTrial(stabilised=True).torso_error(jelly) < 3.0


def made_result(peaks: np.ndarray, errors: np.ndarray) -> object:
    table = SweepTable(np.array([0.5e6, 3e6, 10e6]), np.array([0.01, 0.4]), {PEAK: peaks, ERROR: errors})
    return sole_materials._result(table, {PEAK: 300.0, ERROR: 0.05}, {0.03e6: 0.2})


def test_orderings_are_judged() -> None:
    peaks = np.array([[20.0, 30.0], [100.0, 150.0], [180.0, 210.0]])
    errors = np.array([[np.nan, 0.3], [0.1, 0.08], [0.07, 0.06]])
    right = made_result(peaks, errors)
    assert right.passes, right.table()
    assert right.row("spring of 15 MN/m under 58 kg: peak").ours == pytest.approx(155.7129, abs=1e-3)
    assert right.row("softest E at ν = 0.01 on which it stands").ours == 3.0
    assert len(right.figure().axes) == 3
    assert not made_result(peaks[::-1], errors).passes
    standing = made_result(peaks, np.where(np.isnan(errors), 1.0, errors))
    assert [row.quantity for row in standing.rows if row.passes is False] == [
        "softest E at ν = 0.01 on which it stands"
    ]
    worse = errors.copy()
    worse[1, 1] = 0.2  # beaten by (3 MPa, 0.01) in both
    assert not made_result(peaks, worse).passes
