# SPDX-License-Identifier: Apache-2.0
"""docs/coverage.md: every feature once, and every test that it names exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from mutations.run import TEST, coverage_rows

ROOT = Path(__file__).parents[2]
FEATURES = {"000": 169, "001": 219, "002": 148, "003": 117, "004": 59}


def rows():
    return coverage_rows(ROOT)


def test_every_feature_has_one_row():
    identifiers = [row.name for row in rows()]
    assert len(identifiers) == len(set(identifiers)) == 712
    counts = {
        specification: sum(name.startswith(f"{specification}-F") for name in identifiers)
        for specification in FEATURES
    }
    assert counts == FEATURES


def test_every_row_has_a_state():
    for row in rows():
        assert row.state in ("done", "partial", "not yet"), row


def test_what_is_done_names_a_test():
    for row in rows():
        if row.state in ("done", "partial"):
            assert row.tests, row.name


def test_every_named_test_exists():
    for row in rows():
        for path, function in TEST.findall(row.evidence):
            assert (ROOT / path).is_file(), f"{row.name}: {path}"
            if function:
                text = (ROOT / path).read_text()
                assert re.search(rf"def {function}\b", text), f"{row.name}: {path}::{function}"


def test_make_test_shows_each_feature(request):
    """Slow tests are left out of it, and the studies' have a run of their own: each row names a test of one of both."""
    if [Path(name).resolve() for name in request.config.args] != [ROOT / "test"] or request.config.option.keyword:
        pytest.skip("looks at runs of the whole suite")
    quick = {(str(item.path.relative_to(ROOT)), item.function.__name__) for item in request.session.items}
    words = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "not slow", "studies/test"]
    listed = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    quick |= {(path, function) for path, function in re.findall(r"^(studies/[\w/]+\.py)::(\w+)", listed, re.MULTILINE)}
    files = {path for path, _ in quick}
    for row in rows():
        named = TEST.findall(row.evidence)
        if row.state == "done":
            assert any((path, function) in quick if function else path in files for path, function in named), row.name
