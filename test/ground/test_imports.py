# SPDX-License-Identifier: Apache-2.0
"""What is imported from elsewhere is a pinned requirement."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from ground.structure import folder_of, packages

ROOT = Path(__file__).parents[2]
DISTRIBUTIONS = {"pinocchio": ["pin"], "llvmlite": ["numba"]}
"""Modules whose wheels don't say that they bring them, or that come with another one of a fixed version."""
FROM_THE_BUILD = {"humanoid_stack", "tf2_msgs", "control_msgs"}
FROM_ROS_ONLY = {"launch", "launch_ros"}
FOR_TYPE_CHECKERS = {"typing_extensions"}  # comes with mypy


def imported(path):
    """Top-level modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def pinned(name):
    """Requirements that a file pins, as names with dashes in lower case."""
    lines = (ROOT / name).read_text().splitlines()
    return {
        re.split(r"[=\[;]", line)[0].strip().lower().replace("_", "-")
        for line in lines
        if line.strip() and not line.startswith("#")
    }


def test_every_requirement_is_pinned_exactly():
    files = [*ROOT.glob("requirements*.txt"), *ROOT.glob("benchmark/*requirements.txt")]
    for name in (str(path.relative_to(ROOT)) for path in files):
        for line in (ROOT / name).read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                assert re.match(r"[\w.\[\]-]+==[\w.]+(;.*)?$", line), f"{name}: {line}"


@pytest.mark.ros
def test_what_is_imported_is_required():
    """ROS packages come with the ones that are pinned, which fix their versions among themselves."""
    required = pinned("requirements.txt")
    required_by_tests = required | pinned("requirements-test.txt")
    distributions = {**packages_distributions(), **DISTRIBUTIONS}
    own = {*packages(), "test", "ground", "fixtures", "mutations", "recorded", "examples", "benchmark", "notebooks"}
    own |= {"scripts"} | {path.stem for path in (ROOT / "test").glob("*.py")}
    missing = set()
    files = [(path, required) for name in packages() for path in sorted(folder_of(name).rglob("*.py"))]
    files += [(path, required) for path in sorted([*ROOT.glob("examples/*.py"), *ROOT.glob("studies/examples/*.py")])]
    tests = sorted([*(ROOT / "test").rglob("*.py"), *(ROOT / "studies/test").rglob("*.py")])
    files += [(path, required_by_tests) for path in tests]
    for path, requirements in files:
        for module in imported(path):
            if module in sys.stdlib_module_names or module in own | FROM_THE_BUILD | FROM_ROS_ONLY | FOR_TYPE_CHECKERS:
                continue
            if (path.parent / f"{module}.py").exists() or (path.parent / module).is_dir():
                continue
            names = {name.lower().replace("_", "-") for name in distributions.get(module, [module])}
            is_ros = any(name.startswith("ros-") for name in names) or module.endswith("_interfaces")
            if not is_ros and not names & requirements:
                missing.add(f"{module} ({path.relative_to(ROOT)})")
    assert not missing
