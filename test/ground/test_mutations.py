# SPDX-License-Identifier: Apache-2.0
"""The lists of mutations don't rot, and their runner tells a mutant that is noticed from one that isn't."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mutations.run import Copy, Mutation, Run, judge, read_mutations

from humanoid_model import InputError

ROOT = Path(__file__).parents[2]

ENTRIES = """
- row: 000-F01
  file: calc.py
  before: return a + b
  after: return a - b
  why: sums are wrong
- row: 000-F02
  file: calc.py
  before: return a * b
  after: return b * a + 1
  why: products are one too large
- row: 000-F03
  file: calc.py
  before: "LIMIT = 3"
  after: "LIMIT = undefined"
  why: it doesn't run
- row: 000-F04
  file: calc.py
  before: return a - b
  after: return b - a
  why: differences have the wrong sign
  tests: ["test/test_calc.py::test_difference[small]"]
- row: 000-F05
  file: calc.py
  before: "ROOT = 2"
  after: "ROOT = 3"
  why: the root is another one
- row: 001-F01
  file: calc.py
  before: "LIMIT = "
  after: "LIMIT = 1 + "
  why: the limit is too high
"""


@pytest.fixture
def tree(tmp_path):
    """A tree of one file, whose tests notice some of its mutants."""
    files = {
        "calc.py": """
LIMIT = 3
ROOT = 2

def add(a, b):
    return a + b

def times(a, b):
    return a * b

def less(a, b):
    return a - b
""",
        "test/test_calc.py": """
import pytest
import calc

@pytest.mark.feature("000-F01", "000-F03", "001-F01")
def test_sum():
    assert calc.add(1, 2) == calc.LIMIT

@pytest.mark.feature("000-F02")
def test_product():
    calc.times(2, 3)

@pytest.mark.feature("000-F04")
@pytest.mark.slow
@pytest.mark.parametrize("a", [5], ids=["small"])
def test_difference(a):
    assert calc.less(a, 3) == 2

@pytest.mark.feature("000-F05")
def test_that_fails_anyway():
    assert calc.ROOT == 4

@pytest.mark.feature("000-F02")
@pytest.mark.slow
def test_product_slowly():
    assert calc.times(2, 3) == 6
""",
        "docs/features.yaml": """
000-F01: sums
000-F02: products
000-F04: differences
000-F05: roots
001-F01: limits
""",
        "docs/coverage.md": """
| 000-F03 | limits | partial | of one kind |
| 000-F06 | cubes | not yet | later |
""",
        "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["slow", "feature"]\n',
        "test/mutations/calc.yaml": ENTRIES,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_the_lists_fit_the_sources():
    assert read_mutations(ROOT)


def test_a_mutant_that_no_test_notices_survives(tree):
    command = [sys.executable, ROOT / "test" / "mutations" / "run.py", "--tree", tree, "-j", "2", "000"]
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "-p pytest_timeout"}  # others take their time
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **plugins})
    assert result.returncode == 1, result.stderr
    table = {line.split()[0]: line.split()[3] for line in result.stdout.splitlines() if line.startswith("00")}
    assert table == {
        "000-F01": "killed",
        "000-F02": "survived",
        "000-F03": "senseless",
        "000-F04": "killed",
        "000-F05": "unjudged",
    }
    assert "2 killed, 1 senseless, 1 survived, 1 unjudged" in result.stdout
    assert result.stdout.endswith("Not shown by their tests: 000-F02 000-F03 000-F05\n")
    assert "return a + b" in (tree / "calc.py").read_text()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("row: 000-F01", "row: 000-F09", r"calc.yaml:2: \[0\].row: is '000-F09'. Name one of"),
        ("row: 000-F01", "row: 000-F06", "000-F06 is not yet there"),
        ("  why: sums are wrong\n", "", "has no 'why'"),
        ("file: calc.py\n  before: return a + b", "file: cal.py\n  before: return a + b", "no file 'cal.py'"),
        ("before: return a + b", "before: return", "occurs 3 times in calc.py"),
        ("before: return a + b", "before: return a +  b", "occurs 0 times in calc.py"),
        ("after: return a - b", "after: return a + b", "the same as before"),
        ("after: return a - b", "after: return a -", "is no Python"),
        ("test_difference[small]", "test_sum", "isn't marked with 000-F04"),
        ("  why: sums are wrong", "  why: sums are wrong\n  test: []", "unknown key"),
    ],
)
def test_an_entry_that_can_t_be_used_is_refused(tree, old, new, message):
    assert old in ENTRIES
    (tree / "test" / "mutations" / "calc.yaml").write_text(ENTRIES.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_mutations(tree)


def test_a_feature_without_a_test_is_named(tree):
    path = tree / "test" / "test_calc.py"
    path.write_text(path.read_text().replace('"000-F01", ', ""))
    with pytest.raises(InputError, match="000-F01 has no test"):
        read_mutations(tree)


def test_a_test_that_is_gone_is_named(tree):
    path = tree / "test" / "test_calc.py"
    path.write_text(path.read_text().replace("def test_difference", "def test_other"))
    with pytest.raises(InputError, match=r"'test/test_calc.py::test_difference\[small\]' isn't marked"):
        read_mutations(tree)


def test_times_and_kernels_are_put_back(tree, tmp_path_factory):
    cache = tree / "__pycache__"
    cache.mkdir()
    for name in ("calc.add-1.py311.nbi", "calc.add-1.py311.1.nbc", "calc.less-9.py311.nbi"):
        (cache / name).write_text("old")
    os.utime(tree / "calc.py", (100, 100))
    copy = Copy(tree, tmp_path_factory.mktemp("copy"))
    source, cache = copy.root / "calc.py", copy.root / "__pycache__"
    before = {path.name: path.stat().st_mtime_ns for path in [source, *cache.iterdir()]}
    assert before["calc.py"] == 100 * 10**9
    with copy.changed(read_mutations(tree)[0]):
        assert source.stat().st_mtime > max(path.stat().st_mtime for path in cache.iterdir())
        assert "return a + b" not in source.read_text()
        (cache / "calc.add-1.py311.nbi").unlink()
        (cache / "calc.add-1.py311.nbi").write_text("of the mutant")
        (cache / "calc.add-1.py311.1.nbc").unlink()
        (cache / "calc.mutant-1.py311.nbi").write_text("of the mutant")
        (copy.cache / "volume").write_text("of the mutant")
    assert {path.name: path.stat().st_mtime_ns for path in [source, *cache.iterdir()]} == before
    assert {path.read_text() for path in cache.iterdir()} == {"old"}
    assert not any(copy.cache.iterdir())
    assert "return a + b" in source.read_text()


@pytest.mark.parametrize(
    ("code", "message", "word"),
    [
        (0, "passed", "survived"),
        (1, "assert 1 == 2", "killed"),
        (1, "humanoid_model.errors.InputError: file.yaml:3: no", "killed"),
        (1, 'failed on setup with "ValueError: no"', "killed"),
        (1, 'failed on setup with "ModuleNotFoundError: no"', "senseless"),
        (1, "numba.core.errors.TypingError: no", "senseless"),
        (2, "collection failure", "senseless"),
        (4, "passed", "senseless"),
        (None, "passed", "late"),
        (1, "Failed: Timeout (>900.0s) from pytest-timeout.", "late"),
    ],
)
def test_only_a_failure_of_the_test_itself_kills(code, message, word):
    mutation = Mutation("000-F01", "calc.py", "a", "b", "sums are wrong", ("test/test_calc.py",), "calc.yaml:2")
    run = Run({"test/test_calc.py::test_sum": message}, {}, code, "", 1.0)
    assert judge(mutation, run).word == word
