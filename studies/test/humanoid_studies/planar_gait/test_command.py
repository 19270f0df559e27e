# SPDX-License-Identifier: Apache-2.0
"""The command ``python -m humanoid_studies.planar_gait``."""

import json

import pytest

from humanoid_model.files import find_resource
from humanoid_studies.planar_gait.__main__ import main

RABBIT = ["--model", "rabbit"]


def test_walk_prints_its_report(capsys):
    assert main(["walk", *RABBIT, "--cycles", "2"]) == 0
    out = capsys.readouterr().out
    assert "0.852 m/s (3.07 km/h); converged" in out
    assert out.count("double_support") == 4
    assert "nothing is violated" in out


def test_phase_into_a_folder(tmp_path, capsys):
    assert main(["phase", "double_support", *RABBIT, "--out", str(tmp_path), "--no-film", "--progress"]) == 0
    assert {"report.txt", "gait.csv", "gait.json", "gait.png", "phase.png", "strip.png"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert json.loads((tmp_path / "gait.json").read_text())["report"]["cost"] == pytest.approx(0.035879, rel=1e-3)
    told = capsys.readouterr()
    assert "double_support: transcription, 20 intervals" in told.err
    report, _, written = told.out.partition("written to ")
    assert (tmp_path / "report.txt").read_text() == report
    assert "report.txt" in written


def test_duration_of_a_phase_and_what_it_does_not_keep(capsys):
    assert main(["phase", "double_support", *RABBIT, "--duration", "0.12", "--transcription"]) == 1
    told = capsys.readouterr()
    assert "0.120 s" in told.out
    assert "converged, but phases[0]: contact violation: " in told.err
    assert "rear_tip: friction 0.6 exceeded by 18.9 N, first at 0.000 s: 22.52 at 0.000 s, 3.604 allowed" in told.err


def test_time_that_runs_out_is_told_with_what_there_is(capsys):
    assert main(["phase", "single_support", *RABBIT, "--time-limit", "1e-6"]) == 1
    told = capsys.readouterr()
    assert "NOT CONVERGED" in told.out
    assert "not converged" in told.out
    assert "! phase 1: stopped" in told.out


@pytest.mark.slow
def test_walk_between_rests_with_a_film(tmp_path, capsys):
    words = ["--between-rests", "--friction", "0.3", "--rates", "--out", str(tmp_path), "--workers", "2"]
    assert main(["walk", *words]) == 1  # of the thesis' walk the front toe bears while it is in the air
    out, err = capsys.readouterr()
    assert "planar_gait: converged, but front_sole: height of a force above the ground exceeded by" in err
    assert "1.806 s, 0.950 m" in out
    assert (tmp_path / "gait.gif").stat().st_size > 50_000
    assert (tmp_path / "phase_5_stop.csv").is_file()


@pytest.mark.slow
def test_obstacle_is_stepped_over(capsys):
    """The swinging foot passes over it, which takes more effort than level ground."""
    costs = []
    for words in ([], ["--obstacle", "0.1,0.05,0.05"]):
        assert main(["phase", "single_support", *words]) in (0, 1)  # the same state is given whatever it steps over
        out = capsys.readouterr().out
        assert "converged" in out
        costs.append(float(out.split("\nJ ")[1].split()[0]))
    assert costs[1] > costs[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["walk", "--model", "ostrich"], "--model: there is no model or robot 'ostrich'"),
        (["walk", "--model", "hrp2"], "--step: is missing"),
        (["walk", "--step", "nowhere"], "unknown step 'nowhere'"),
        (["walk", "--step", "nowhere.yaml"], "nowhere.yaml"),
        (["walk", "--cycles", "0"], "cycles: is 0"),
        (["walk", "--friction", "nan"], "friction: is nan"),
        (["walk", "--friction", "-1"], "friction: is -1.0"),
        (["walk", "--toe-force", "-6"], "min_toe_force: is -6.0"),
        (["walk", "--hold", "much"], "--hold: is 'much'"),
        (["walk", "--hold", "nan"], "--hold: is nan"),
        (["walk", "--clearance", "inf"], "clearance: is inf"),
        (["walk", "--obstacle", "1,2"], "--obstacle: is '1,2'"),
        (["walk", "--obstacle", "0,0.1,-1"], "obstacle.height: is -1.0"),
        (["walk", "--time-limit", "0"], "--time-limit: is 0.0"),
        (["walk", "--time-limit", "nan"], "--time-limit: is nan"),
        (["walk", "--workers", "0"], "--workers: is 0"),
        (["walk", "--braking", "bip_braking"], "--between-rests alone"),
        (["walk", *RABBIT, "--between-rests"], "--braking: is missing"),
        (["phase", "stop", "--duration", "-1"], "duration: is -1. Give a finite number of 0 or more"),
        (["phase", "start", "--duration", "nan"], "duration: is nan"),
    ],
)
def test_bad_words(words, told, capsys):
    assert main(words) == 2
    assert told in capsys.readouterr().err


def test_a_leg_that_cannot_reach(tmp_path, capsys):
    step = tmp_path / "high.yaml"
    step.write_text(find_resource("config/gait/steps/bip_cyclic.yaml").read_text().replace("0.830]", "0.950]"))
    assert main(["walk", "--step", str(step)]) == 2
    assert "rear leg at the end: has to span" in capsys.readouterr().err


def test_folder_that_cannot_be(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["phase", "double_support", *RABBIT, "--out", str(tmp_path / "file")]) == 2
    assert "can't be written to" in capsys.readouterr().err


def test_unknown_kind_of_phase():
    with pytest.raises(SystemExit) as end:
        main(["phase", "flight"])
    assert end.value.code == 2
