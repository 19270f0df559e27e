# SPDX-License-Identifier: Apache-2.0
"""YAML values with their lines: what is read and what is refused."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from humanoid_model.errors import RobotError
from humanoid_model.fields import Described, flag, number
from humanoid_model.fields import text as fields_text
from humanoid_model.yaml_node import YamlNode, read_placement, read_yaml

ROOT = Path(__file__).parents[2]


@pytest.fixture
def read(tmp_path: Path) -> Callable[[str], YamlNode]:
    def reader(text: str) -> YamlNode:
        path = tmp_path / "robot.yaml"
        path.write_text(text, encoding="utf-8")
        return read_yaml(path, RobotError)

    return reader


Read = Callable[[str], YamlNode]


def test_values_of_every_kind(read: Read) -> None:
    values = read(
        "name: hrp2\nfloating: True\nmass: 1e3\nsize: [1, -2.5, .5]\npatch: [[0, 1], [2, 3]]\n"
        "note: >-\n  two\n  words\n"
    ).mapping()
    assert values["name"].string() == "hrp2"
    assert values["floating"].boolean() is True
    assert values["mass"].number() == 1000.0
    assert_allclose(values["size"].numbers(3), (1, -2.5, 0.5))
    assert_allclose(values["patch"].polygon(), [[0, 1], [2, 3]])
    assert values["note"].string() == "two words"
    assert list(values) == ["name", "floating", "mass", "size", "patch", "note"]


def test_placement_from_xyz_and_rpy(read: Read) -> None:
    placement = read_placement(read("xyz: [1, 2, 3]\nrpy: [0, 0, 1.5707963267948966]").mapping())
    assert_allclose(placement.act(np.array([1.0, 0, 0])), (1, 3, 3), atol=1e-12)
    assert_allclose(read_placement(read("{a: 1}").mapping()).homogeneous, np.eye(4))


def test_errors_name_file_line_path_and_remedy(read: Read) -> None:
    node = read("contacts:\n  sole:\n    patch:\n      - [0, 1]\n      - [0, oops]\n")
    patch = node.mapping()["contacts"].mapping()["sole"].mapping()["patch"]
    with pytest.raises(RobotError) as caught:
        patch.polygon()
    error = caught.value
    assert error.line == 5
    assert error.element == "contacts.sole.patch[1][1]"
    assert error.problem == "is 'oops', not a number"
    assert str(error.source).endswith("robot.yaml")
    assert error.remedy == "Give a finite number"


@pytest.mark.parametrize(
    ("text", "get", "problem"),
    [
        ("a: .nan", lambda n: n.number(), "is .nan"),
        ("a: nan", lambda n: n.number(), "is nan"),
        ("a: -.inf", lambda n: n.number(), "is -.inf"),
        ("a: 1e999", lambda n: n.number(), "is 1e999"),
        ("a:", lambda n: n.number(), "is empty"),
        ("a: [1]", lambda n: n.number(), "a list"),
        ("a: -1", lambda n: n.number(lowest=0.0), "is -1"),
        ("a: 0", lambda n: n.number(above=0.0), "is 0"),
        ("a: [1, 2]", lambda n: n.numbers(3), "holds 2 values"),
        ("a: 1", lambda n: n.numbers(1), "not a list"),
        ("a: [[1, 2, 3]]", lambda n: n.polygon(), "holds 3 values"),
        ("a: []", lambda n: n.polygon(), "holds 0 vertices"),
        ("a: [[0, 0], [1, 1]]", lambda n: n.polygon(3), "holds 2 vertices"),
        ("a: yes please", lambda n: n.boolean(), "'yes please'"),
        ("a: {b: 1}", lambda n: n.string(), "a mapping"),
        ("a: cube", lambda n: n.string(("box", "ball")), "is 'cube'"),
        ("a: [1]", lambda n: n.mapping(), "not a mapping"),
        ("a: {b: 1}", lambda n: n.mapping(("c",)), "unknown key"),
        ("a: {b: 1, b: 2}", lambda n: n.mapping(), "key given twice"),
        ("a: {[1]: 2}", lambda n: n.mapping(), "not a text"),
    ],
)
def test_wrong_values_are_refused(read: Read, text: str, get: Callable[[YamlNode], object], problem: str) -> None:
    with pytest.raises(RobotError) as caught:
        get(read(f"\n{text}").mapping()["a"])
    assert problem in caught.value.problem
    assert caught.value.line == 2
    assert caught.value.remedy


def test_bounds_are_included_or_not(read: Read) -> None:
    assert read("a: 0").mapping()["a"].number(lowest=0.0) == 0.0
    assert read("a: 1e-300").mapping()["a"].number(above=0.0) > 0.0
    assert math.isclose(read("a: +.5").mapping()["a"].number(), 0.5)


@pytest.mark.parametrize(
    ("text", "problem", "line"),
    [
        ("a: [1, 2\nb: 3", "not YAML", 2),
        ("a: 1\n\tb: 2", "not YAML", 2),
        ("a: *nowhere", "not YAML", 1),
        ("", "is empty", None),
        ("# only a comment\n", "is empty", None),
    ],
)
def test_broken_documents_are_refused(read: Read, text: str, problem: str, line: int | None) -> None:
    with pytest.raises(RobotError) as caught:
        read(text)
    assert problem in caught.value.problem
    assert caught.value.line == line


@pytest.mark.parametrize("deep", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000])
def test_endless_nesting_ends_no_process(tmp_path: Path, deep: str) -> None:
    (tmp_path / "deep.yaml").write_text(deep, encoding="utf-8")
    with pytest.raises(RobotError, match="more than 100 levels inside one another"):
        read_yaml(tmp_path / "deep.yaml", RobotError)


SHIPPED = [path for folder in ("urdf", "config") for path in sorted((ROOT / folder).rglob("*.yaml"))]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_nodes_are_those_of_pyyaml_where_they_are_in_the_file(path: Path) -> None:
    def outline(node: yaml.Node) -> object:
        value = node.value
        if isinstance(node, yaml.MappingNode):
            value = [(outline(key), outline(item)) for key, item in value]
        elif isinstance(node, yaml.SequenceNode):
            value = [outline(item) for item in value]
        return type(node).__name__, node.tag, node.start_mark.line, node.start_mark.column, value

    expected = yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.SafeLoader)
    assert outline(read_yaml(path, RobotError).node) == outline(expected)


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="can't be read"):
        read_yaml(tmp_path / "missing.yaml", RobotError)
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9")
    with pytest.raises(RobotError, match="not UTF-8"):
        read_yaml(tmp_path / "latin.yaml", RobotError)
    (tmp_path / "deep.yaml").write_text("[" * 5000, encoding="utf-8")
    with pytest.raises(RobotError, match="more than 100 levels inside one another"):
        read_yaml(tmp_path / "deep.yaml", RobotError)


@dataclass(frozen=True)
class Pump(Described):
    """What pumps."""

    rate: float = number(2.0, "strokes", "Hz", low=0.0, above=True)
    quiet: bool = flag(False, "whether it hums")
    name: str = fields_text("a", "of it")
    parts: tuple[str, ...] = ()


def test_described_fields_are_read_and_checked_with_their_lines(read: Read) -> None:
    given, others = read("rate: 1e1\nquiet: true\nparts: [seal]\n").fields(Pump, ("parts",))
    assert given == {"rate": 10.0, "quiet": True}
    assert list(others) == ["parts"]
    for text, message in (
        ("quiet: false\nrate: 0\n", r":2: rate: is 0\. Give a finite number above 0 \[Hz\]\."),
        ("parts: []\n", r":1: parts: unknown key\. Known keys: rate, quiet, name"),
        ("quiet: maybe\n", r":1: quiet: is 'maybe'\. Give true or false"),
    ):
        with pytest.raises(RobotError, match=message):
            read(text).fields(Pump)
