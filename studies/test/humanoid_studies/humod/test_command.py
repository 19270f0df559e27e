# SPDX-License-Identifier: Apache-2.0
import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest
import scipy.io

from humanoid_model import load_robot
from humanoid_studies.humod.command import main
from humanoid_studies.humod.recording import write_recording
from humanoid_studies.humod.rotation_order import RotationOrder, joint_positions
from humanoid_studies.humod.subject import SYNTHETIC_SUBJECT, write_subject
from humanoid_studies.humod.synthetic import synthetic_recording

FILES = {
    "summary.txt", "errors.csv", "positions.csv", "efforts.csv", "overview.png", "efforts.png", "height_LLJ.png",
    "height_LNJ.png", "height_ULJ.png", "humod_syn3p33r.urdf",
}  # fmt: skip


@pytest.mark.feature("004-F51")
def test_a_synthetic_run_is_replayed_from_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--synthetic", "--duration", "2", "--out", str(tmp_path / "new" / "folder")]) == 0
    out = tmp_path / "new" / "folder"
    assert {path.name for path in out.iterdir()} == FILES | {"data"}
    summary = (out / "summary.txt").read_text()
    assert summary in capsys.readouterr().out
    assert summary.count("yes all joints within 20 mm") == 2
    assert "WARNING" not in summary
    assert load_robot(out / "humod_syn3p33r.urdf").total_mass == pytest.approx(57.231193, abs=1e-6)
    # The files that the run was written to are what a person would download.
    again = tmp_path / "again"
    window = ["--start", "0.5", "--duration", "1", "--out", str(again), "--model", "pinocchio"]
    assert main([str(out / "data" / "run.mat"), *window]) == 0
    assert "0.5 to 1.5 s, 501 frames" in (again / "summary.txt").read_text()
    assert "2 s or more" in (again / "summary.txt").read_text()


def test_parameters_may_be_elsewhere_and_a_wrong_order_is_told(tmp_path: Path) -> None:
    robot = load_robot("syn3p33r")
    run = synthetic_recording(robot, duration=0.2)
    swapped = joint_positions(robot.description, run.q, RotationOrder.WORLD_AXES)
    write_recording(tmp_path / "run.mat", dataclasses.replace(run, positions={"smoothed": swapped}, ground=None))
    write_subject(tmp_path / "P.mat", SYNTHETIC_SUBJECT)
    arguments = [str(tmp_path / "run.mat"), "--parameters", str(tmp_path / "P.mat"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    summary = (tmp_path / "out" / "summary.txt").read_text()
    assert "WARNING: the robot is made for R Rx Ry Rz" in summary
    assert "NO  all joints within 20 mm" in summary
    assert "no ground force per foot" in summary


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either a motion file or --synthetic"),
        (["x.mat", "--synthetic"], "give either a motion file or --synthetic"),
        (["none/2.2.mat"], "none/Parameters.mat: can't be read"),
        (["--synthetic", "--duration", "-1"], "duration is -1 s"),
        (["--synthetic", "--duration", "nan"], "duration is nan s"),
        (["--synthetic", "--duration", "1e9"], "Give a duration up to 600 s"),
        (["--synthetic", "--noise", "-1"], "noise -1 mm"),
    ],
)
def test_wrong_arguments_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err


def test_a_folder_that_cant_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["--synthetic", "--duration", "0.1", "--out", str(tmp_path / "file" / "out")]) == 2
    assert "can't be written: Not a directory. Choose another folder by --out" in capsys.readouterr().err


def test_a_broken_motion_leaves_nothing_behind(tmp_path: Path) -> None:
    write_subject(tmp_path / "Parameters.mat", SYNTHETIC_SUBJECT)
    scipy.io.savemat(tmp_path / "2.2.mat", {"motion": {"frameRate": 500.0}})
    assert main([str(tmp_path / "2.2.mat"), "--out", str(tmp_path / "out")]) == 2
    assert not list((tmp_path / "out").iterdir())


def test_the_module_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "humanoid_studies.humod", "--help"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[4], check=True)
    assert "--synthetic" in result.stdout
