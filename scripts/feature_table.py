# SPDX-License-Identifier: Apache-2.0
"""Prints the table of features as Markdown: each with its state and the tests that are marked with its id.

``make coverage`` writes it to out/coverage.md, ``make docs`` to a page. The features of the five theses that are done
are named in docs/features.yaml, those with a remark in the tables of docs/coverage.md.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
STATES = ("done", "partial", "not yet")
TITLES = {
    "000": "Simulator",
    "001": "Contact planner",
    "002": "Kinematics generator",
    "003": "Optimal-gait generator",
    "004": "Dynamic-model generator",
}


@dataclass(frozen=True)
class Feature:
    """One feature of a thesis.

    Attributes:
        name: for example ``000-F068``.
        title: what it is.
        state: one of ``STATES``.
        remark: what is missing, or done otherwise; may be empty.
        tests: that are marked with it: files, or files::functions.
    """

    name: str
    title: str
    state: str
    remark: str
    tests: tuple[str, ...]


def read_features(tree: Path) -> list[Feature]:
    """Return the features of a checkout, by name.

    Raises:
        ValueError: a row doesn't have four columns, or a feature is there twice.
    """
    done = yaml.safe_load((tree / "docs/features.yaml").read_text(encoding="utf-8")) or {}
    rows = [(name, title, "done", "") for name, title in done.items()]
    for line in (tree / "docs/coverage.md").read_text(encoding="utf-8").splitlines():
        if re.match(r"\| \d{3}-F", line):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) != 4 or not all(cells):
                raise ValueError(f"docs/coverage.md: not four columns: {line}")
            rows.append((cells[0], cells[1], cells[2], cells[3]))
    names = [name for name, *_ in rows]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Twice in docs/features.yaml and docs/coverage.md: {', '.join(twice)}")
    tests = marked_tests(tree)
    return [Feature(*row, tuple(tests.get(row[0], ()))) for row in sorted(rows)]


def marked_tests(tree: Path) -> dict[str, list[str]]:
    """Return the tests of a checkout that have marks, by feature: a file whose ``pytestmark`` has it, or a function."""
    found = defaultdict(list)
    for folder in ("test", "studies/test"):
        for path in sorted((tree / folder).rglob("test_*.py")):
            text = path.read_text(encoding="utf-8")
            if "mark.feature" in text:
                for name, test in _marks(ast.parse(text), path.relative_to(tree).as_posix()):
                    found[name].append(test)
    return dict(found)


def _marks(module: ast.Module, path: str) -> Iterator[tuple[str, str]]:
    for node in module.body:
        where, test = [], path
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            where = [node.value]
        elif isinstance(node, ast.FunctionDef):
            where, test = node.decorator_list, f"{path}::{node.name}"
        for call in (inner for outer in where for inner in ast.walk(outer) if isinstance(inner, ast.Call)):
            if ast.unparse(call.func) == "pytest.mark.feature":
                yield from ((str(ast.literal_eval(name)), test) for name in call.args)


def table(tree: Path) -> str:
    """Return the page of all features of a checkout."""
    features = read_features(tree)
    counts = ", ".join(f"{sum(one.state == state for one in features)} {state}" for state in STATES)
    lines = ["# Features and their tests", "", f"{len(features)} features: {counts}."]
    for number, title in TITLES.items():
        lines += ["", f"## {title}", "", "| id | feature | state | tests |", "|---|---|---|---|"]
        for one in features:
            if one.name.startswith(number):
                tests = ", ".join(f"`{test}`" for test in one.tests)
                remark = f"{one.remark}: " if one.remark and tests else one.remark
                lines.append(f"| {one.name} | {one.title} | {one.state} | {remark}{tests} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(table(ROOT), end="")
