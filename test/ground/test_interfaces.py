# SPDX-License-Identifier: Apache-2.0
"""The interfaces: documented to the unit, answers of one form, listed in docs/interfaces.md, built."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for kind in ("msg", "srv", "action") for path in (ROOT / kind).iterdir())
NAMES = [f"{path.parent.name}/{path.stem}" for path in FILES]
FIELD = re.compile(
    r"^(?P<type>[\w/]+)(?P<array>\[\d*\])? +(?P<name>\w+)(?P<value> *=.*)?(?P<default> +([-.\d]+|true))?$"
)
UNIT = re.compile(r"\[[^\]]+\]|unit")


def sections(path):
    """Fields of a file per section: (type, name, constant?, comment)."""
    result = []
    for section in path.read_text().split("\n---\n"):
        fields, comment_above = [], ""
        for line in section.splitlines():
            code, _, comment = line.partition("#")
            if not code.strip():
                comment_above = f"{comment_above} {comment}" if comment else ""
                if fields and comment and line.startswith(" "):
                    fields[-1][3] += comment
                continue
            match = FIELD.match(code.rstrip())
            assert match, f"{path}: {line}"
            is_constant = match["value"] is not None
            fields.append([match["type"], match["name"], is_constant, comment or comment_above])
        result.append(fields)
    return result


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_file_begins_with_what_it_is_for(path):
    first = path.read_text().splitlines()[0]
    assert first.startswith("# ")
    assert len(first) > 20


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_numbers_say_their_unit(path):
    silent = [
        name
        for fields in sections(path)
        for kind, name, is_constant, comment in fields
        if kind == "float64" and not is_constant and not UNIT.search(comment)
    ]
    assert not silent


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix != ".msg"], ids=str)
def test_answers_say_whether_and_why(path):
    answer = [field[:2] for field in sections(path)[1] if not field[2]]
    assert answer[:2] == [["bool", "success"], ["string", "message"]]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_in_the_documentation(name):
    assert f"`{name}`" in (ROOT / "docs" / "interfaces.md").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_a_node_or_another_interface_has_it(name):
    word = re.compile(rf"\b{name.split('/')[1]}\b")
    users = [path for path in (*(ROOT / "humanoid_ros").rglob("*.py"), *FILES) if path.stem != name.split("/")[1]]
    assert any(word.search(path.read_text()) for path in users)


@pytest.mark.ros
@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_it_is_built(path):
    module = importlib.import_module(f"humanoid_stack.{path.parent.name}")
    built = getattr(module, path.stem)
    parts = {"msg": (built,), "srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}
    for part, fields in zip(parts[path.parent.name], sections(path), strict=True):
        kind = part if path.parent.name == "msg" else getattr(built, part)
        names = [name for _, name, is_constant, _ in fields if not is_constant]
        assert list(kind.get_fields_and_field_types()) == names
