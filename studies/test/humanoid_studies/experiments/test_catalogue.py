# SPDX-License-Identifier: Apache-2.0
"""Experiments by name and by number, and what they give."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from humanoid_model.errors import InputError
from humanoid_studies.experiments.catalogue import experiments_of, find_experiment
from humanoid_studies.experiments.compared_numbers import ComparedNumbers, judgement


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


MADE = experiments_of("made", ("E1", "right", "All is well"), ("E2b", "wrong", "It isn't"))
RESULTS = {
    "right": Result("E1", "All is well", (Row("a", True), Row("b", None, False)), True),
    "wrong": Result("E2b", "It isn't", (Row("a longer one", False),)),
}


def test_experiments_are_found_by_name_and_by_number() -> None:
    assert find_experiment("right", MADE) is find_experiment("e1", MADE) is MADE[0]
    assert find_experiment("E2b", MADE) is find_experiment("E2B", MADE) is MADE[1]
    for name in ("", "E2", "Wrong"):
        with pytest.raises(InputError, match=r"there is no experiment '.*There are E1 right, E2b wrong"):
            find_experiment(name, MADE)


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
