# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_studies``: experiments by name, and simulations by what compares."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from humanoid_model.errors import InputError
from humanoid_sim.__main__ import main as simulate
from humanoid_studies.__main__ import main
from humanoid_studies.experiments.catalogue import experiments_of
from humanoid_studies.gait.registry import EXPERIMENTS as GAIT
from humanoid_studies.simulator.experiment_result import ExperimentResult, Panel, Row, curve
from humanoid_studies.simulator.registry import EXPERIMENTS as SIMULATOR


def test_it_lists_the_experiments_of_both_theses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[:2] for line in lines if len(line) > 1] == [[e.id, e.name] for e in (*SIMULATOR, *GAIT)]
    assert [line for line in lines if len(line) == 1] == [["simulator:"], ["gait:"]]


def test_no_two_experiments_go_by_one_word() -> None:
    words = [word.lower() for e in (*SIMULATOR, *GAIT) for word in (e.id, e.name)]
    words += ["simulator", "gait", "all"]
    assert len(set(words)) == len(words)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Four experiments in place of the theses' own, one of them wrong, one that can't be done; who has been run."""
    run: list[str] = []

    def right(*, progress: bool) -> ExperimentResult:
        run.append("right" if progress else "right in silence")
        panel = Panel("x", "y", (curve([0, 1], [0, 1]),))
        return ExperimentResult("E1", "right", (Row("a", "1", 1.0, "N", True),), (panel,))

    def impossible(*, progress: bool) -> ExperimentResult:
        raise InputError("something is missing", element="library")

    def wrong(*, progress: bool) -> ExperimentResult:
        run.append("wrong")
        return ExperimentResult("E3", "wrong", (Row("a", "1", 2.0, "N", False),))

    def silent() -> ExperimentResult:
        run.append("silent")
        return ExperimentResult("F1", "silent", (Row("a", "1", 1.0, "N", True),))

    for experiment in (right, impossible, wrong, silent):
        module = ModuleType(f"made.{experiment.__name__}")
        module.run = experiment  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    theses = {
        "simulator": experiments_of(
            "made", ("E1", "right", ""), ("E2", "impossible", ""), ("E3", "wrong", ""), shows_progress=True
        ),
        "gait": experiments_of("made", ("F1", "silent", "")),
    }
    monkeypatch.setattr("humanoid_studies.__main__._THESES", theses)
    return run


def test_it_does_them_and_tells_which_are_not_as_they_should_be(
    asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["e1", "silent", "--out", str(tmp_path / "new")]) == 0
    told = capsys.readouterr().out
    assert "| a        | 1      | 1    | N    | yes    |" in told
    assert f"written: {tmp_path / 'new' / 'right.png'}" in told
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["right.png"]
    assert main(["gait"]) == 0
    assert asked == ["right", "silent", "silent"]
    assert main(["all"]) == 1
    told = capsys.readouterr()
    assert "E3: wrong" in told.out
    assert "E2 impossible: library: something is missing" in told.err
    assert "not as they should be: E2, E3" in told.err
    assert asked[3:] == ["right", "wrong", "silent"]
    assert main(["right", "E7"]) == 2
    assert "there is no experiment 'E7'. There are E1 right, E2 impossible" in capsys.readouterr().err
    assert len(asked) == 6


@pytest.mark.feature("000-F025")
def test_simulations_by_solvers_and_integrators_of_theirs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "solver.txt"
    file.write_text("LCP LEMKE  # the thesis' words\n")
    short = ["--duration", "0.003"]
    assert simulate(["run", "box_on_slope", *short, "--solver-file", str(file)]) == 0
    assert "method lemke_faceted" in capsys.readouterr().out
    assert simulate(["run", "box_on_slope", *short, "--integrator", "moreau"]) == 0
    assert "integrator moreau" in capsys.readouterr().out
    assert simulate(["run", "box_on_slope", *short, "--solver", "hope"]) == 2
    assert "no contact solver 'hope'" in capsys.readouterr().err
