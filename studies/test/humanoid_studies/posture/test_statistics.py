# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from fixtures.posture_problems import HRP2

from humanoid_model import Stance
from humanoid_model.errors import InputError
from humanoid_planner.contacts.posture_caller import PostureCall
from humanoid_planner.optimisation.program import ReturnCode
from humanoid_planner.posture.generate import generate_posture
from humanoid_studies.posture.statistics import THESIS, CodeStatistics, Generation, GenerationLog, format_table, total

pytestmark = pytest.mark.feature("001-F100")


def log() -> GenerationLog:
    return GenerationLog(
        [
            Generation(ReturnCode.SUCCESS, 0.010, 12, 15, 300, 240, "table"),
            Generation(ReturnCode.SUCCESS, 0.030, 20, 31, 600, 400, "table, left"),
            Generation(ReturnCode.INEQUALITIES_INFEASIBLE, 0.005, 3, 4),
            Generation(ReturnCode.MAX_ITERATIONS, 0.155, 150, 400),
        ]
    )


def test_arithmetic_of_table_7_1() -> None:
    """O1-14."""
    rows = {row.code: row for row in THESIS}
    whole = total(THESIS)
    assert whole.count == 2_498_259
    assert whole.total == 1_849_139  # the thesis prints 1 849 138
    assert whole.mean == pytest.approx(0.740, abs=5e-4)
    cheap = [rows[ReturnCode.SUCCESS], rows[ReturnCode.INEQUALITIES_INFEASIBLE]]
    assert round(100 * total(cheap).count / whole.count, 1) == 75.9
    assert round(100 * total(cheap).total / whole.total, 1) == 22.3
    assert round(rows[ReturnCode.MAX_ITERATIONS].mean / rows[ReturnCode.SUCCESS].mean, 1) == 10.2
    printed = {0: 0.335, 2: 0.138, 3: 3.417, 4: 0.987, 5: 2.24, 8: 0.895, 9: 3.35}
    for row in THESIS:
        assert row.code is not None
        assert row.mean == pytest.approx(printed[int(row.code)], abs=6e-3)


def test_calls_are_summed_by_code() -> None:
    assert log().statistics() == (
        CodeStatistics(ReturnCode.SUCCESS, 2, pytest.approx(0.04)),
        CodeStatistics(ReturnCode.INEQUALITIES_INFEASIBLE, 1, pytest.approx(0.005)),
        CodeStatistics(ReturnCode.MAX_ITERATIONS, 1, pytest.approx(0.155)),
    )
    assert np.isnan(total([]).mean)


def test_a_result_is_counted_as_it_says() -> None:
    result = generate_posture(HRP2, Stance(()), stability="none")
    result = dataclasses.replace(
        result, time=0.25, iterations=3, evaluations=4, distance_evaluations=50, distance_gradients=6
    )
    kept = GenerationLog()
    kept.add(result, "here")
    assert kept.generations == [Generation(ReturnCode.SUCCESS, 0.25, 3, 4, 50, 6, "here")]


def test_table_prints_both() -> None:
    lines = log().table().splitlines()
    success = lines[2].split()
    assert success == ["0", "success", "2", "0.0200", "50.00", "20.00", "763037", "0.3346", "30.54", "13.81"]
    step_search = next(line for line in lines if "step search" in line).split()
    assert step_search == ["4", "step", "search", "-", "-", "-", "-", "142217", "0.9867", "5.69", "7.59"]
    assert lines[-1].split() == ["total", "4", "0.0500", "100.00", "100.00", "2498259", "0.7402", "100.00", "100.00"]
    assert "-" in format_table([]).splitlines()[-1]


def test_saved_and_loaded(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    log().save(path)
    assert GenerationLog.load(path).generations == log().generations
    assert path.read_text().splitlines()[2] == '0,0.03,20,31,600,400,"table, left"'


@pytest.mark.parametrize(("line", "text"), [
    ("7,0.1,1,1,0,0,x", "code: is '7'"),
    ("0,soon,1,1,0,0,x", "time: is 'soon'"),
    ("0,0.1,1,1", "has 4 fields"),
])  # fmt: skip
def test_broken_files_are_refused(tmp_path: Path, line: str, text: str) -> None:
    path = tmp_path / "calls.csv"
    log().save(path)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=text) as caught:
        GenerationLog.load(path)
    assert f"{path}:6" in str(caught.value)
    path.write_text("a,b\n")
    with pytest.raises(InputError, match="columns are a,b"):
        GenerationLog.load(path)


@pytest.mark.feature("001-F259")
def test_the_calls_of_a_plan_are_a_table_by_code() -> None:
    calls = [
        PostureCall("add", ReturnCode.SUCCESS, True, 3, 0.01, 0.02),
        PostureCall("remove", ReturnCode.SUCCESS, True, 4, 0.03, 0.04),
        PostureCall("goal", ReturnCode.INEQUALITIES_INFEASIBLE, False, 9, 0.0, 0.5),
    ]
    kept = GenerationLog.of_plan(calls)
    assert [(one.label, one.iterations) for one in kept.generations] == [("add", 3), ("remove", 4), ("goal", 9)]
    assert [(row.code, row.count, round(row.total, 9)) for row in kept.statistics()] == [
        (ReturnCode.SUCCESS, 2, 0.1),
        (ReturnCode.INEQUALITIES_INFEASIBLE, 1, 0.5),
    ]


@pytest.mark.feature("001-F259")
def test_histogram_holds_every_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    axes = pytest.importorskip("matplotlib.axes")
    drawn: dict[str, np.ndarray] = {}

    original = axes.Axes.stairs

    def stairs(self: object, counts: np.ndarray, edges: np.ndarray, **options: object) -> object:
        drawn[str(options["label"])] = np.append(counts, edges)
        return original(self, counts, edges, **options)

    monkeypatch.setattr(axes.Axes, "stairs", stairs)
    log().plot(tmp_path / "times.png")
    assert list(drawn) == ["0 success (2)", "2 inequalities (1)", "3 max iterations (1)"]
    for label, values in drawn.items():
        half = len(values) // 2
        assert values[:half].sum() == int(label[-2])
        assert values[half] <= 0.005
        assert values[-1] >= 0.155
    monkeypatch.undo()
    log().plot(tmp_path / "times.png")
    assert (tmp_path / "times.png").stat().st_size > 10_000
    GenerationLog(log().generations[:1]).plot(tmp_path / "one.png")
    with pytest.raises(InputError, match="no calls"):
        GenerationLog().plot(tmp_path / "none.png")
