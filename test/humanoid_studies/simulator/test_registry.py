# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from humanoid_model.errors import InputError
from humanoid_sim.__main__ import main
from humanoid_studies.experiments import ExperimentCatalogue
from humanoid_studies.simulator import EXPERIMENTS, ExperimentResult, Panel, Row, curve


def test_each_experiment_runs_without_being_told_anything() -> None:
    assert len({e.id for e in EXPERIMENTS}) == len({e.name for e in EXPERIMENTS}) == len(EXPERIMENTS)
    for experiment in EXPERIMENTS:
        module = import_module(f"humanoid_studies.simulator.{experiment.name}")
        assert f"xperiment {experiment.id}" in module.__doc__
        parameters = inspect.signature(experiment.run).parameters
        assert parameters["progress"].default is False
        assert all(p.default is not inspect.Parameter.empty for p in parameters.values())


def test_names_and_numbers_find_experiments() -> None:
    assert EXPERIMENTS.find("E1") is EXPERIMENTS.find("e1") is EXPERIMENTS.find("four_leg_table")
    assert EXPERIMENTS.find("E12b") is EXPERIMENTS.find("walking_materials")
    for name in ("E99", "", "four leg table"):
        with pytest.raises(InputError, match="there is no experiment"):
            EXPERIMENTS.find(name)


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [[e.id, e.name] for e in EXPERIMENTS]


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three experiments in place of the thesis' own: one right, one wrong, one that can't be done."""

    def right(*, progress: bool = False) -> ExperimentResult:
        panel = Panel("x", "y", (curve([0, 1], [0, 1]),))
        return ExperimentResult("E1", "right", (Row("a", "1", 1.0, "N", True),), (panel,))

    def wrong(*, progress: bool = False) -> ExperimentResult:
        return ExperimentResult("E2", "wrong", (Row("a", "1", 2.0, "N", False),))

    def impossible(*, progress: bool = False) -> ExperimentResult:
        raise InputError("something is missing", element="library")

    runs = {"right": right, "impossible": impossible, "wrong": wrong}
    for name, run in runs.items():
        module = ModuleType(f"made.{name}")
        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    made = ExperimentCatalogue("made", *((f"E{i}", name, name) for i, name in enumerate(runs, 1)))
    monkeypatch.setattr("humanoid_sim.__main__.EXPERIMENTS", made)


@pytest.mark.usefixtures("three")
def test_the_command_runs_them_and_tells_which_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["experiment", "right", "--out", str(tmp_path / "new")]) == 0
    told = capsys.readouterr()
    assert "| a        | 1      | 1    | N    | yes    |" in told.out
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["right.png"]
    assert main(["experiment", "all"]) == 1
    told = capsys.readouterr()
    assert "E2: wrong" in told.out
    assert "something is missing" in told.err
    assert "not as they should be: E2, E3" in told.err
    assert main(["experiment", "E7"]) == 2
