# SPDX-License-Identifier: Apache-2.0
"""The sweep over materials (specification 000, E12)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_model.sole import RUBBER, BlockSole, Material
from humanoid_studies.soles.material_sweep import SweepTable, sweep_materials
from humanoid_studies.soles.sole_trial import SoleTrial

E, NU = (1e6, 3e6, 10e6), (0.1, 0.4)
TRIAL = SoleTrial(BlockSole((0.22, 0.13, 0.02), (8, 1, 1)))


def constants(material: Material) -> Mapping[str, float]:
    if material.young_modulus == 7e6:
        raise ValueError("seven")
    return {"product": material.young_modulus * material.poisson_ratio, "ratio": -material.poisson_ratio}


def inconsistent(material: Material) -> Mapping[str, float]:
    return {str(material.poisson_ratio): 0.0}


def test_results_are_where_their_material_is() -> None:
    expected = np.outer(E, NU)
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(1, get_context("fork")) as processes:
        for executor in (None, threads, processes):
            table = sweep_materials(constants, E, NU, executor, progress=executor is None)
            np.testing.assert_allclose(table.results["product"], expected)


def test_harder_soles_are_felt_more_and_lean_less() -> None:
    """The trends of the thesis' fig. 4.5, with the values of a rigid punch as a yardstick."""
    table = sweep_materials(TRIAL, E[:2], [0.1])
    peak, lean = table.results.values()
    assert np.all(np.diff(peak, axis=0) > 0.0)
    assert np.all(np.diff(lean, axis=0) < 0.0)
    assert np.all(lean > 0.0)
    assert np.all((peak > 30.0) & (peak < 442.7))  # the rigid foot stops 0.4427 m/s within a step
    # small angles: weight times shift over the stiffness in pitch, between the sliding and the bonded punch
    material = Material(3e6, 0.1)
    modulus = material.lame_lambda + 2.0 * material.shear_modulus
    bonded = 2 * modulus * 0.13 * 0.22**3 / 12 / 0.02
    assert lean[1, 0] == pytest.approx(58.0 * 9.8 * 0.04 / (bonded - 58.0 * 9.8 * 0.82), rel=0.1)
    assert table.pareto(table.results).all()  # more of one is less of the other


def test_a_body_on_jelly_falls() -> None:
    """Softer than its weight times its height needs (thesis: below 1 MPa with a ratio near 0)."""
    assert np.isnan(TRIAL.lean_error(Material(3e4, 0.01)))
    assert not np.isnan(TRIAL.lean_error(RUBBER))


def test_pareto_front() -> None:
    table = SweepTable(
        np.arange(4.0), np.zeros(1), {"a": np.array([[1], [2], [3], [np.nan]]), "b": np.array([[3], [1], [2], [0]])}
    )
    assert table.pareto(["a", "b"]).reshape(-1).tolist() == [True, True, False, True]
    assert table.pareto(["a"]).reshape(-1).tolist() == [True, False, False, False]
    with pytest.raises(InputError, match=r"no result 'c'\. There are a, b"):
        table.pareto(["c"])


def test_table_and_plot(tmp_path: Path) -> None:
    table = sweep_materials(constants, E, NU)
    table.write_csv(tmp_path / "sweep.csv")
    with open(tmp_path / "sweep.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert [float(rows[3][key]) for key in ("young_modulus", "poisson_ratio", "product")] == pytest.approx(
        [3e6, 0.4, 1.2e6]
    )
    pytest.importorskip("matplotlib")
    table.plot(tmp_path / "sweep.png")
    assert (tmp_path / "sweep.png").stat().st_size > 10_000


def test_mistakes() -> None:
    with pytest.raises(InputError, match="no material to try"):
        sweep_materials(constants, [], NU)
    with pytest.raises(InputError, match="Young's modulus is -1"):
        sweep_materials(constants, [-1.0], NU)
    with pytest.raises(InputError, match=r"gave 0\.4, others 0\.1"):
        sweep_materials(inconsistent, E, NU)
    with ThreadPoolExecutor(1) as executor, pytest.raises(ValueError, match="seven"):
        sweep_materials(constants, [1e6, 7e6, 8e6], NU, executor)
