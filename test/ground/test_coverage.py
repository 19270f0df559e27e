# SPDX-License-Identifier: Apache-2.0
"""Features and the marks of tests: each feature once, and a test for each that is done."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.feature_table import STATES, marked_tests, read_features, table

ROOT = Path(__file__).parents[2]
FEATURES = {"000": 169, "001": 219, "002": 148, "003": 117, "004": 59}


def test_every_feature_is_there_once():
    names = [feature.name for feature in read_features(ROOT)]
    assert {number: sum(name.startswith(f"{number}-F") for name in names) for number in FEATURES} == FEATURES
    assert len(names) == sum(FEATURES.values())


def test_every_feature_has_a_state_and_a_test_unless_it_is_not_there():
    for feature in read_features(ROOT):
        assert feature.state in STATES, feature
        assert bool(feature.tests) == (feature.state != "not yet"), feature


def test_every_mark_names_a_feature():
    assert marked_tests(ROOT).keys() <= {feature.name for feature in read_features(ROOT)}


def test_the_table_has_every_feature_with_its_tests():
    rows = {line[2:].split(" |")[0]: line for line in table(ROOT).splitlines() if line.startswith("| 00")}
    for feature in read_features(ROOT):
        assert f"| {feature.title} | {feature.state} | " in rows[feature.name]
        assert all(f"`{test}`" in rows[feature.name] for test in feature.tests)


def test_a_feature_that_is_named_twice_is_refused(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/features.yaml").write_text("000-F001: kernel\n")
    (tmp_path / "docs/coverage.md").write_text("| 000-F001 | kernel | partial | later |\n")
    with pytest.raises(ValueError, match=r"Twice.*000-F001"):
        read_features(tmp_path)


def test_make_test_shows_each_feature(request):
    """Slow tests are left out of it, and the studies' have a run of their own: each has one in either."""
    if [Path(name).resolve() for name in request.config.args] != [ROOT / "test"] or request.config.option.keyword:
        pytest.skip("looks at runs of the whole suite")
    quick = {name for item in request.session.items for mark in item.iter_markers("feature") for name in mark.args}
    words = ["-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", "not slow", "studies/test"]
    listed = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    studies = {line.split("[")[0] for line in listed.splitlines()}
    studies |= {line.split("::")[0] for line in studies}
    for feature in read_features(ROOT):
        if feature.state == "done":
            assert feature.name in quick or studies & set(feature.tests), feature.name
