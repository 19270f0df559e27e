# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_gait``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from humanoid_gait.__main__ import main
from humanoid_model import load_robot

pytestmark = pytest.mark.feature("003-F062", "003-F103")


def test_a_walk_into_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--length", "0.2", "--steps", "2", "--out", str(tmp_path / "walk")]) == 0
    told = capsys.readouterr().out
    assert told.startswith("walks: ")
    assert "m/s in the cycle" in told
    numbers = json.loads((tmp_path / "walk/walk.json").read_text())
    assert numbers["success"]
    assert numbers["speed"] == pytest.approx(0.2 / 0.75)
    assert {span["location"] for span in numbers["contacts"]} == {"left_sole", "right_sole"}
    lines = (tmp_path / "walk/joints.csv").read_text().splitlines()
    names = list(load_robot("hrp2", geometry=False).actuators)
    assert lines[0].split(",") == ["time", *names, *(f"effort:{name}" for name in names)]
    table = np.loadtxt(lines[1:], delimiter=",")
    assert table[-1, 0] == pytest.approx(numbers["duration"])
    knee = 1 + len(names) + names.index("LLEG_JOINT3")
    assert 20.0 < np.abs(table[:, knee]).max() < 400.0  # it carries the robot
    assert (tmp_path / "walk/walk.png").stat().st_size > 30_000
    assert (tmp_path / "walk/report.txt").read_text().startswith("walks: ")


def test_the_robots_shapes_are_there_where_parts_keep_apart() -> None:
    assert main(["--apart", "0.01", "--time-limit", "0.01"]) == 1  # 2 where there is nothing to keep apart


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--robot", "nobody"], "'nobody'"),
        (["--length", "nan"], "length: is nan"),
        (["--single", "0.5,0.3"], "single: is (0.5, 0.3)"),
        (["--steps", "0"], "steps: is 0"),
    ],
)
def test_what_cannot_be_used_is_told_in_a_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_time_that_runs_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--length", "0.2", "--time-limit", "0.01"]) == 1
    assert "cycle: the solver says: the time limit of" in capsys.readouterr().out
