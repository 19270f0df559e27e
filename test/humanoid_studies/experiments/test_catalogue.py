# SPDX-License-Identifier: Apache-2.0
"""Experiments by name and by number, what they give, and the command that does them."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from matplotlib.figure import Figure

from humanoid_model.errors import InputError
from humanoid_studies.experiments import ComparedNumbers, ExperimentCatalogue, add_experiment_command
from humanoid_studies.experiments.compared_numbers import judgement


@dataclass(frozen=True)
class Row:
    quantity: str
    passes: bool | None
    decides: bool = True

    def cells(self) -> tuple[str, ...]:
        return self.quantity, judgement(self.passes)


@dataclass(frozen=True, eq=False)
class Result(ComparedNumbers[Row]):
    headings = ("quantity", "passes")
    drawn: bool = False

    @property
    def has_picture(self) -> bool:
        return self.drawn

    def figure(self) -> Figure:
        return Figure()


CATALOGUE = ExperimentCatalogue("made", ("E1", "right", "All is well"), ("E2b", "wrong", "It isn't"))
RESULTS = {
    "right": Result("E1", "All is well", (Row("a", True), Row("b", None, False)), True),
    "wrong": Result("E2b", "It isn't", (Row("a longer one", False),)),
}


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Modules of the experiments, and what their ``run`` is given."""
    given: list[dict[str, Any]] = []
    for experiment in CATALOGUE:
        module = ModuleType(f"made.{experiment.name}")

        def run(name: str = experiment.name, **settings: Any) -> Result:
            given.append(settings)
            return RESULTS[name]

        module.run = run  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return given


def do(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_experiment_command(parser.add_subparsers(), CATALOGUE, progress=True)
    options = parser.parse_args(["experiment", *words])
    return int(options.command(options))


def test_experiments_are_found_by_name_and_by_number() -> None:
    assert [experiment.id for experiment in CATALOGUE] == ["E1", "E2b"]
    assert len(CATALOGUE) == 2
    assert [experiment.name for experiment in CATALOGUE[1:]] == ["wrong"]
    assert CATALOGUE.find("right") is CATALOGUE.find("e1") is CATALOGUE[0]
    assert CATALOGUE.find("E2b") is CATALOGUE.find("E2B") is CATALOGUE[1]
    for name in ("", "E2", "Wrong"):
        with pytest.raises(InputError, match=r"there is no experiment '.*There are E1 right, E2b wrong"):
            CATALOGUE.find(name)


def test_results_judge_what_decides() -> None:
    assert RESULTS["right"].passes
    assert not RESULTS["wrong"].passes
    assert Result("E3", "Wall clock", (Row("time", False, decides=False),)).passes
    lines = RESULTS["wrong"].table().splitlines()
    assert lines == ["| quantity     | passes |", "|--------------|--------|", "| a longer one | NO     |"]
    assert RESULTS["right"].row("b").passes is None
    with pytest.raises(InputError, match=r"E1: there is no quantity 'c'\. There are a; b"):
        RESULTS["right"].row("c")


def test_pictures_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the picture can't be written"):
        RESULTS["right"].write_picture(tmp_path / "nowhere" / "a.png")
    with pytest.raises(InputError, match="the picture can't be written"):
        RESULTS["right"].write_picture(tmp_path / "a.unknown")


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert do() == 0
    assert capsys.readouterr().out == "E1   right    All is well\nE2b  wrong    It isn't\n"


def test_the_command_does_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: list[dict[str, Any]]
) -> None:
    assert do("E1", "--out", str(tmp_path / "new")) == 0
    assert asked == [{"progress": True}]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["right.png"]
    assert "E1: All is well\n| quantity | passes |" in capsys.readouterr().out
    assert do("all") == 1
    assert "not as they should be: E2b" in capsys.readouterr().err
    with pytest.raises(InputError, match="there is no experiment 'E9'"):
        do("E9")
