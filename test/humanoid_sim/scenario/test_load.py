# SPDX-License-Identifier: Apache-2.0
"""A scenario is found in a user's file, or the file and line say why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from humanoid_model.errors import InputError
from humanoid_sim.scenario import Scenario, load_scenario

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
