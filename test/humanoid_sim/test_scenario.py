# SPDX-License-Identifier: Apache-2.0
"""Scenarios are loaded, choose what is simulated, and run to a clean end."""

from __future__ import annotations

import dataclasses
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.scenes import ball, floor, place, scene

from humanoid_model.errors import InputError
from humanoid_model.scene import PairRule, Scene
from humanoid_sim import Module, Simulation
from humanoid_sim.contact.solve import SOLVERS
from humanoid_sim.recording import CsvRecorder, McapRecorder
from humanoid_sim.scenario import (
    Scenario,
    ScenarioError,
    collide_only,
    load_scenario,
    make_simulation,
    run_scenario,
    simulate_only,
)
from humanoid_sim.state_file import read_state

GOOD = """
from humanoid_sim.scenario import Scenario

class Base(Scenario):
    pass

class Mine(Base):
    scene = "boxes"
"""
DUCK = """
class Mine:
    scene = "boxes"
    def init(self, simulation): pass
    def loop(self, simulation): pass
    def end(self, simulation): pass
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(text)
    return path


def test_class_of_the_file_is_found_whatever_it_derives_from(tmp_path: Path) -> None:
    kind = load_scenario(written(tmp_path, GOOD))
    assert issubclass(kind, Scenario)
    assert kind.__name__ == "Mine"
    assert not issubclass(load_scenario(written(tmp_path, DUCK)), Scenario)


def test_what_lies_beside_the_file_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "beside_the_scenario.py").write_text("SCENE = 'stairs'")
    text = "from beside_the_scenario import SCENE\n" + GOOD.replace('"boxes"', "SCENE")
    assert load_scenario(written(tmp_path, text)).scene == "stairs"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n\ny = (", r"mine\.py:3: SyntaxError"),
        ("x = 1\ny = x / 0", r"mine\.py:2: ZeroDivisionError"),
        ("import nothing_of_this_name", r"mine\.py:1: ModuleNotFoundError"),
        ("x = 1", "holds 0 scenarios"),
        (DUCK + DUCK.replace("Mine", "Second"), "holds 2 scenarios: Mine, Second"),
        (DUCK.replace("    def end(self, simulation): pass\n", ""), r"mine\.py:2: the class Mine has no end"),
    ],
)
def test_bad_files_are_refused_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_scenario(written(tmp_path, text))


def test_what_is_no_python_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Python file"):
        load_scenario("stand.yaml")
    with pytest.raises(InputError, match="there is no file"):
        load_scenario(tmp_path / "nowhere.py")


def two_balls() -> Scene:
    return scene(floor(), ball("left", 0.1, place(0, 0, 0.1)), ball("right", 0.1, place(1, 0, 0.1)))


@pytest.mark.feature("000-F014")
def test_only_chosen_bodies_move() -> None:
    simulation = Simulation(simulate_only(two_balls(), ["le*"]))
    simulation.bodies["left"].set_state(place(0, 0, 0.5))
    simulation.run(0.1)
    assert simulation.bodies["left"].placement_world_body.translation[2] < 0.46
    assert simulation.bodies["right"].fixed
    assert simulation.world.model.nv == 6


@pytest.mark.feature("000-F015")
def test_only_chosen_pairs_touch() -> None:
    whole = dataclasses.replace(two_balls(), rules=(PairRule("right", "floor", collide=True),))
    simulation = Simulation(collide_only(whole, [("left", "floor")]))
    simulation.run(0.2)
    assert simulation.bodies["left"].placement_world_body.translation[2] == pytest.approx(0.1, abs=1e-6)
    assert simulation.bodies["right"].placement_world_body.translation[2] < -0.05
    assert list(simulation.contacts.bodies) == [("left", "floor")]


def test_the_scene_itself_stays() -> None:
    whole = two_balls()
    simulate_only(whole, ["left"])
    collide_only(whole, [])
    assert all(body.simulated for body in whole.bodies)
    assert whole.collides("left", "floor")


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match=r"no body with a mass is called 'floor'.*left, right"):
        simulate_only(two_balls(), ["floor"])
    with pytest.raises(InputError, match="no body is called 'wall'"):
        collide_only(two_balls(), [("left", "wall")])


BALL = "bodies:\n  ball: {mass: 1, xyz: [0, 0, 1], shapes: [{sphere: 0.1}]}\n"
SCENE = scene(floor(), ball("ball", 0.1, place(0, 0, 0.5)))


class Story(Scenario):
    scene = SCENE
    duration = 0.01
    fails_in = ""
    problem: type[BaseException] = ValueError

    def __init__(self) -> None:
        self.told: list[str] = []

    def tell(self, what: str, simulation: Simulation) -> None:
        self.told.append(f"{what} {simulation.step_count}")
        if what == self.fails_in and (what != "loop" or simulation.step_count == 4):
            raise self.problem("as asked")

    def init(self, simulation: Simulation) -> None:
        self.tell("init", simulation)

    def loop(self, simulation: Simulation) -> bool | None:
        self.tell("loop", simulation)
        return None

    def end(self, simulation: Simulation) -> None:
        self.tell("end", simulation)


class Watcher(Module):
    name = "watcher"

    def __init__(self) -> None:
        self.steps: list[int] = []
        self.attached = False

    def attach(self, simulation: Simulation) -> None:
        self.attached = True

    def after_step(self, simulation: Simulation) -> None:
        self.steps.append(simulation.step_count)

    def detach(self, simulation: Simulation) -> None:
        self.attached = False


def run(story: Scenario, **options: Any) -> Any:
    return run_scenario(story, make_simulation(story), **options)


def test_init_then_loop_before_each_step_then_end() -> None:
    story, watcher = Story(), Watcher()
    result = run(story, duration=0.003, modules=[watcher])
    assert story.told == ["init 0", "loop 0", "loop 1", "loop 2", "end 3"]
    assert watcher.steps == [1, 2, 3]
    assert not watcher.attached
    assert result.steps == 3
    assert result.simulation.modules == {}


def test_a_scenario_may_end_by_itself() -> None:
    class Short(Story):
        duration = None  # type: ignore[assignment]

        def loop(self, simulation: Simulation) -> bool:
            return simulation.step_count == 5

    assert run(Short()).steps == 5


def test_time_step_solver_and_choices_are_the_scenarios() -> None:
    class Chosen(Story):
        dt = 0.002
        options = {"tolerance": 1e-6}  # noqa: RUF012

        def prepare(self, scene: Any) -> Any:
            self.seen = scene.name
            return scene

    story = Chosen()
    simulation = make_simulation(story)
    assert simulation.dt == 0.002
    assert story.seen == "test"
    assert make_simulation(Story()).dt == 0.001


@pytest.mark.parametrize(("phase", "steps"), [("init", 0), ("loop", 4), ("end", 10)])
def test_a_scenario_that_raises_is_told_with_time_and_step(phase: str, steps: int, tmp_path: Path) -> None:
    story, watcher = Story(), Watcher()
    story.fails_in = phase
    message = f"{phase}: ValueError: as asked .t = {0.001 * steps:g} s, after step {steps}"
    with pytest.raises(ScenarioError, match=message) as told:
        run(story, modules=[watcher], failed_state=tmp_path / "failed.npz")
    assert told.value.step == steps
    assert told.value.time == pytest.approx(0.001 * steps)
    assert told.value.phase == phase
    assert not watcher.attached
    assert [word.split()[0] for word in story.told].count("end") == (phase != "init")
    again = Simulation(SCENE)
    read_state(again, tmp_path / "failed.npz")
    assert again.step_count == steps
    np.testing.assert_array_equal(again.q, told.value.simulation.q)


def test_file_and_line_of_a_failure_are_told(tmp_path: Path) -> None:
    path = tmp_path / "falls.py"
    (tmp_path / "a_ball.yaml").write_text(BALL)
    path.write_text(
        "from humanoid_sim.scenario import Scenario\n"
        "class Falls(Scenario):\n"
        "    scene = 'a_ball.yaml'\n"
        "    duration = 0.01\n"
        "    def loop(self, simulation):\n"
        "        if simulation.step_count == 2:\n"
        "            simulation.apply_wrench('nobody', [1, 0, 0], duration=1.0)\n"
    )
    scenario = load_scenario(path)()
    with pytest.raises(ScenarioError, match=r"falls.py:7: loop: InputError: .*no body 'nobody'") as told:
        run_scenario(scenario, make_simulation(scenario, path), source=path)
    assert told.value.line == 7
    assert "apply_wrench('nobody'" in told.value.trace
    assert told.value.state_file is None


def test_a_state_that_explodes_ends_the_run_with_the_state_before(tmp_path: Path) -> None:
    class Explodes(Story):
        def loop(self, simulation: Simulation) -> None:
            if simulation.step_count == 3:
                simulation.v[:] = 1e300

    with pytest.raises(ScenarioError, match=r"step: SimulationError.*after step 3"):
        run(Explodes(), failed_state=tmp_path / "failed.npz")


def test_ctrl_c_ends_cleanly() -> None:
    story, watcher = Story(), Watcher()
    story.fails_in, story.problem = "loop", KeyboardInterrupt
    result = run(story, modules=[watcher])
    assert result.interrupted
    assert story.told[-1] == "end 4"
    assert not watcher.attached


@pytest.mark.feature("000-F018")
@pytest.mark.parametrize("fails_in", ["", "loop"])
def test_no_thread_and_no_file_stays_open(tmp_path: Path, fails_in: str) -> None:
    """F018: what was opened for a run is closed after it, also when it failed."""
    before = set(threading.enumerate())
    story = Story()
    story.fails_in = fails_in
    recorders = [CsvRecorder(tmp_path / "tables"), McapRecorder(tmp_path / "log.mcap", every=1)]
    try:
        run(story, modules=recorders)
    except ScenarioError:
        assert fails_in
    assert {thread.name for thread in set(threading.enumerate()) - before} <= {"tqdm_monitor"}  # one for the process
    # Those that other tests have left may be closed meanwhile.
    assert not [file for file in map(os.path.realpath, Path("/proc/self/fd").iterdir()) if str(tmp_path) in file]


@pytest.mark.feature("000-F005")
def test_a_solver_of_the_users_file_is_used(tmp_path: Path) -> None:
    """F005: the file registers a contact solver by name; it decides what the bodies do."""
    path = tmp_path / "own_solver.py"
    path.write_text(
        "from humanoid_sim.contact.solve import register_solver\n"
        "from humanoid_sim.scenario import Scenario\n"
        "def nothing_holds(W, v_free, mu, f, tolerance, max_iterations, v, residuals):\n"
        "    f[:] = 0.0\n"
        "    v[:] = v_free\n"
        "    residuals[:] = 0.0\n"
        "    return 1\n"
        "register_solver('nothing_holds', nothing_holds)\n"
        "class Falls(Scenario):\n"
        "    solver = 'nothing_holds'\n"
        "    duration = 0.4\n"
    )
    heights = []
    try:
        for solver in ("nothing_holds", "nsgs"):
            scenario = load_scenario(path)() if not heights else Scenario()
            scenario.scene, scenario.solver = SCENE, solver
            simulation = make_simulation(scenario, path)
            run_scenario(scenario, simulation, duration=0.4)
            heights.append(simulation.bodies["ball"].placement_world_body.translation[2])
    finally:
        SOLVERS.pop("nothing_holds", None)
    assert heights[0] < -0.2  # it falls through the floor
    assert heights[1] == pytest.approx(0.1, abs=2e-3)


def test_paths_of_scenes_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(BALL)
    story = Story()
    story.scene = "own.yaml"
    assert list(make_simulation(story, tmp_path / "story.py").bodies) == ["ball"]


@pytest.mark.parametrize("duration", [-1.0, float("nan"), float("inf")])
def test_durations_that_are_no_time_are_refused(duration: float) -> None:
    with pytest.raises(InputError, match="duration is"):
        run(Story(), duration=duration)


def test_a_scenario_without_scene_is_refused() -> None:
    with pytest.raises(InputError, match="names no scene"):
        make_simulation(Scenario())


def test_recorders_that_cannot_write_are_no_fault_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    story = Story()
    with pytest.raises(InputError, match="no tables can be written there"):
        run(story, modules=[CsvRecorder(tmp_path / "taken")])
    assert story.told == ["init 0", "end 0"]
