# SPDX-License-Identifier: Apache-2.0
"""The command runs scenarios and scenes, and says what is wrong with what it is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humanoid_model.errors import InputError
from humanoid_sim.__main__ import main, parameters_of, set_parameters
from humanoid_sim.recording import read_log
from humanoid_sim.scenario import Scenario


class Mine(Scenario):
    push = 40.0
    count = 3
    axis = (0.0, 0.0, 1.0)
    loud = False
    label = "first"


@pytest.mark.parametrize(
    ("assignment", "name", "value"),
    [
        ("push=60", "push", 60.0),
        ("push=1e-3", "push", 1e-3),
        ("count=5", "count", 5),
        ("axis=[1, 0, 0]", "axis", (1, 0, 0)),
        ("loud=true", "loud", True),
        ("label=80", "label", "80"),
        ("label=a=b", "label", "a=b"),
        ("dt=5e-4", "dt", 5e-4),
        ("scene=boxes", "scene", "boxes"),
    ],
)
def test_values_take_the_type_of_the_default(assignment: str, name: str, value: Any) -> None:
    scenario = Mine()
    set_parameters(scenario, [assignment])
    assert getattr(scenario, name) == value
    assert type(getattr(scenario, name)) is type(value)
    assert getattr(Mine, name) != value


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("push", "sets nothing"),
        ("pusch=3", "has no parameter 'pusch'.*axis, count"),
        ("push=much", "'push' is 'much'.*40.0"),
        ("count=2.5", "'count' is '2.5'"),
        ("loud=3", "'loud' is '3'"),
        ("init=3", "has no parameter 'init'"),
    ],
)
def test_what_does_not_fit_is_refused(assignment: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        set_parameters(Mine(), [assignment])


def test_parameters_are_those_of_the_class_and_its_bases() -> None:
    names = parameters_of(Mine())
    assert {"push", "axis", "loud", "scene", "dt", "duration", "solver"} <= set(names)
    assert not {"init", "loop", "end", "prepare"} & set(names)


SCENE = """
bodies:
  floor: {shapes: [{half_space: true}]}
  ball: {mass: 2, xyz: [0, 0, 0.1], shapes: [{sphere: 0.1}]}
  other: {mass: 1, xyz: [1, 0, 0.1], shapes: [{sphere: 0.1}]}
pairs:
  - {between: [ball, other], collide: false}
  - {between: [ball, floor], friction: 0.7}
"""
SCENARIO = """
from humanoid_sim.scenario import Scenario

class Push(Scenario):
    scene = "balls.yaml"
    duration = 0.02
    force = 3.0
    fails_at = -1

    def loop(self, simulation):
        if simulation.step_count == self.fails_at:
            raise RuntimeError("as asked")
        simulation.apply_wrench("ball", [0, 0, self.force], duration=simulation.dt)
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "balls.yaml").write_text(SCENE)
    (tmp_path / "push.py").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.feature("000-F007")
def test_a_scenario_runs_and_is_recorded(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["run", "push.py", "--set", "force=5", "--record", "log.mcap", "--csv", "tables", "--every", "2"]
    assert main([*words, "--plot", "picture.png", "--progress", "--save-state", "end.npz"]) == 0
    out = capsys.readouterr()
    assert "20 steps of 0.001 s to t = 0.02 s" in out.out
    assert "100.0%" in out.out
    assert "20/20" in out.err
    assert "written: log.mcap, tables, end.npz, picture.png\n" in out.out
    for log in ("log.mcap", "tables"):
        contacts = read_log(log)["contacts"]
        ball = (contacts["body_a"] == "ball") & (contacts["time"] > 0.015)
        np.testing.assert_allclose(contacts["force_z"][ball], 2 * 9.81 - 5.0, rtol=1e-6)
        assert len(np.unique(contacts["time"])) == 10
    assert Path("picture.png").stat().st_size > 1000
    assert main(["run", "push.py", "--start-from", "end.npz", "--duration", "0.01"]) == 0
    told = capsys.readouterr()
    assert "10 steps of 0.001 s to t = 0.03 s" in told.out
    assert "written" not in told.out
    assert "10/10" not in told.err  # who looks on has asked for a bar, or sits at a terminal


@pytest.mark.feature("000-F025")
def test_options_of_the_simulation_come_from_the_command(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scenario / "solver.txt").write_text("NSGS AC  # the thesis' words\n")
    words = ["--solver-file", "solver.txt", "--tolerance", "1e-7", "--max-iterations", "300"]
    assert main(["run", "push.py", *words, "--delassus", "unit_forces", "--dynamics", "pinocchio"]) == 0
    told = "method alart_curnier_global, dynamics pinocchio, delassus unit_forces, tolerance 1e-07, max_iterations 300"
    assert told in capsys.readouterr().out
    assert main(["run", "push.py", "--detection", "coal"]) == 0
    assert "detection coal" in capsys.readouterr().out
    (scenario / "solver.txt").write_text("NSGS LEMKE\n")
    assert main(["run", "push.py", "--solver-file", "solver.txt"]) == 2
    assert "solver.txt:1: method: the method 'LEMKE' is not one of family NSGS" in capsys.readouterr().err


def test_an_unknown_option_of_a_scenario_is_named(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (scenario / "push.py").write_text(SCENARIO + '    options = {"tolerence": 1e-6}\n')
    assert main(["run", "push.py"]) == 2
    assert "push.py: options: there is no option 'tolerence'. There are method, dynamics" in capsys.readouterr().err


def test_a_failing_scenario_leaves_its_log_and_its_state(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "push.py", "--set", "fails_at=7", "--csv", "tables", "--every", "1"]) == 1
    error = capsys.readouterr().err
    assert "push.py:12: loop: RuntimeError: as asked (t = 0.007 s, after step 7)" in error
    assert 'raise RuntimeError("as asked")' in error
    assert len(read_log("tables")["energy"]["time"]) == 7
    assert main(["run", "push.py", "--start-from", "tables/push.failed.npz", "--duration", "0.001"]) == 0
    assert "t = 0.008 s" in capsys.readouterr().out


def test_a_scene_runs_without_a_scenario(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["run", "balls.yaml", "--duration", "0.01", "--dt", "0.002", "--every", "1", "--plot", "picture.svg"]) == 0
    )
    assert "5 steps of 0.002 s" in capsys.readouterr().out
    assert Path("picture.svg").read_text().count("ball on floor") == 1
    assert sorted(path.name for path in scenario.iterdir()) == ["balls.yaml", "picture.svg", "push.py"]


def test_info_lists_bodies_pairs_and_parameters(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "balls.yaml"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  time step 0.001 s, gravity 0 0 -9.81 m/s^2" in lines
    assert "  floor: fixed, halfspace, at 0 0 0 m" in lines
    assert "  ball: 2 kg, sphere, at 0 0 0.1 m" in lines
    assert "  floor - ball: friction 0.7, restitution 0" in lines
    assert "  ball - other: never touch" in lines


@pytest.mark.feature("000-F024")
def test_plots_are_drawn_from_a_log(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "push.py", "--csv", "tables"]) == 0
    assert main(["plot", "tables", "--what", "energy", "solver", "--out", "two.png"]) == 0
    assert "written: two.png\n" in capsys.readouterr().out
    assert Path("two.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["run", "nowhere.py"], "there is no file 'nowhere.py'"),
        (["run", "nothing"], "unknown scene 'nothing'"),
        (["run", "push.py", "--set", "pusch=3"], "has no parameter 'pusch'"),
        (["run", "push.py", "--solver", "guess"], "no contact solver 'guess'"),
        (["run", "push.py", "--solver-file", "nowhere.txt"], "nowhere.txt: can't be read"),
        (["run", "push.py", "--integrator", "magic"], "no integrator 'magic'. Choose one of "),
        (["run", "push.py", "--dynamics", "newton"], "dynamics: is 'newton'. Give one of articulated_body"),
        (["run", "push.py", "--delassus", "fast"], "delassus: is 'fast'. Give one of auto"),
        (["run", "push.py", "--detection", "opcode"], "detection: is 'opcode'. Give one of compiled, coal"),
        (["run", "push.py", "--tolerance", "nan"], "tolerance: is nan"),
        (["run", "push.py", "--max-iterations", "0"], "max_iterations: is 0"),
        (["run", "push.py", "--time-budget", "-1"], "time_budget: is -1"),
        (["run", "push.py", "--duration", "nan"], "duration is nan"),
        (["run", "push.py", "--dt", "0"], "dt is 0.0"),
        (["run", "push.py", "--dt", "nan"], "dt is nan"),
        (["run", "push.py", "--duration", "-1"], "duration is -1.0"),
        (["run", "push.py", "--every", "0", "--csv", "x"], "every is 0"),
        (["run", "push.py", "--record", "log.bag"], "ends in .mcap"),
        (["run", "push.py", "--start-from", "balls.yaml"], "the file is damaged or no state"),
        (["run", "balls.yaml", "--set", "force=3"], "is a scene"),
        (["run", "push.py", "--scene", "nothing"], "unknown scene 'nothing'"),
        (["info", "nothing"], "unknown scene 'nothing'"),
        (["plot", "nowhere", "--out", "x.png"], "there is no such log"),
    ],
)
def test_what_cannot_be_used_is_told(
    scenario: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(words) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
