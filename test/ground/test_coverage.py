# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md: every feature once, and every test that it names exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FEATURES = {"000": 169, "001": 219, "002": 148, "003": 117, "004": 59}
TEST = re.compile(r"`(test/[\w/]+\.py)(?:::(\w+))?`")


def rows():
    lines = (ROOT / "docs" / "coverage.md").read_text().splitlines()
    return [
        tuple(cell.strip() for cell in line.strip("|").split("|"))
        for line in lines
        if re.match(r"\| \d{3}-F", line)
    ]


def test_every_feature_has_one_row():
    identifiers = [row[0] for row in rows()]
    assert len(identifiers) == len(set(identifiers)) == 712
    counts = {
        specification: sum(name.startswith(f"{specification}-F") for name in identifiers)
        for specification in FEATURES
    }
    assert counts == FEATURES


def test_every_row_is_complete():
    for row in rows():
        assert len(row) == 4, row
        assert all(row), row
        assert row[2] in ("done", "partial", "not yet"), row


def test_what_is_done_names_a_test():
    for identifier, _, state, evidence in rows():
        if state in ("done", "partial"):
            assert TEST.search(evidence), identifier


def test_every_named_test_exists():
    for identifier, _, _, evidence in rows():
        for path, function in TEST.findall(evidence):
            assert (ROOT / path).is_file(), f"{identifier}: {path}"
            if function:
                text = (ROOT / path).read_text()
                assert re.search(rf"def {function}\b", text), f"{identifier}: {path}::{function}"


def test_make_test_shows_each_feature(request):
    """Slow tests are left out of it: each row names a test that isn't."""
    if [Path(name).resolve() for name in request.config.args] != [ROOT / "test"] or request.config.option.keyword:
        pytest.skip("looks at runs of the whole suite")
    quick = {(str(item.path.relative_to(ROOT)), item.function.__name__) for item in request.session.items}
    files = {path for path, _ in quick}
    for identifier, _, state, evidence in rows():
        named = TEST.findall(evidence)
        if state == "done":
            assert any((path, function) in quick if function else path in files for path, function in named), identifier
