# SPDX-License-Identifier: Apache-2.0
"""Robots walk optimal gaits on their feet and stand (issue of the optimal gaits, part 7)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.ros_domain import claim_domain

from examples.optimal_walk import main, own_scene, plan, play
from humanoid_gait import Walk, WalkRequest
from humanoid_model import load_robot


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--steps", "0"], "steps: is 0. Give a number from 1 to 1000"),
        (["--length", "nan"], "length: is nan"),
        (["--slope", "89"], "slope: is 1.55"),
        (["--slope", "5", "--turn", "5"], "turn: is 0.08"),
        (["--bridge", "--robot", "bip"], "bridge: is for HRP-2 on a level floor"),
        (["nowhere/walk.png"], "'nowhere' isn't a folder. Give a .png in a folder that exists"),
        (["walk.docx"], "'.docx' is no format of pictures"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line_before_anything_is_planned(
    words: list[str], said: str, capsys: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a walk is solved")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("humanoid_gait.gait.GaitSolver.solve", never)
    assert main(words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    (line,) = told.err.splitlines()
    assert line.startswith("optimal_walk: ")
    assert said in line


def test_a_folder_is_no_picture(capsys: Any, tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 2
    assert "picture: is a folder" in capsys.readouterr().err


@pytest.fixture(scope="module")
def walk() -> Walk:
    return plan(load_robot("hrp2"), WalkRequest(0.25), 4)


@pytest.mark.slow
@pytest.mark.feature("003-F111")
@pytest.mark.parametrize("feedback", [False, True])
def test_hrp2_walks_and_stands(walk: Walk, feedback: bool) -> None:
    played = play(walk, own_scene(walk.robot), feedback)
    assert played.fallen is None, played.report()
    assert played.goal_base < 0.02
    assert np.linalg.norm(played.base[:, :3], axis=1).max() < 0.02


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(900)
def test_hrp2_walks_through_the_bridge(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """At a quarter of real time: on a busy machine windows come too late otherwise."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    assert main([str(tmp_path / "walk.png"), "--steps", "2", "--bridge", "--pace", "0.25"]) == 0
    told = capsys.readouterr().out
    assert "bridge: the end is reached" in told
    assert "stands; " in told
