# SPDX-License-Identifier: Apache-2.0
"""Experiment E22 of specification 000 §27 (N21)."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_sim.stepping.options import KEYWORDS
from humanoid_studies.simulator import solver_table
from humanoid_studies.simulator.solver_table import net_wrench, standing_on_16


@pytest.fixture(scope="module")
def standing() -> tuple:
    return standing_on_16()


def test_sixteen_contacts_carry_the_weight_above_the_feet(standing: tuple) -> None:
    problem, positions = standing
    assert problem.mu.size == len(positions) == 16
    wrench = net_wrench(problem, positions, "nsgs_newton")
    assert wrench[2] == pytest.approx(58.0 * 9.81, rel=0.02)
    assert np.abs(wrench[:2]).max() < 1.0
    pressure = np.array([-wrench[4], wrench[3]]) / wrench[2]  # centre of pressure
    assert positions[:, 0].min() < pressure[0] < positions[:, 0].max()
    assert abs(pressure[1]) < 0.01


@pytest.mark.parametrize("solver", ["gauss_seidel_projected", "nsgs", "alart_curnier_global", "lemke_faceted"])
def test_solvers_give_the_same_net_wrench(standing: tuple, solver: str) -> None:
    np.testing.assert_allclose(net_wrench(*standing, solver), net_wrench(*standing, "interior_point"), atol=1e-6)


@pytest.mark.slow
def test_all_keywords_of_the_start_up_file() -> None:
    result = solver_table.run()
    assert result.passes, result.table()
    apart = [row.ours for row in result.rows if "net wrench" in row.quantity]
    assert len(apart) == sum(len(methods) for methods in KEYWORDS.values()) == len(solver_table.MILLISECONDS)
    assert max(apart) < 1e-6
