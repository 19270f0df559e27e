# SPDX-License-Identifier: Apache-2.0
"""What a person can start says on --help what it is, and starts nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from fixtures.ros_domain import claim_domain

pytestmark = pytest.mark.feature("000-F028")

ROOT = Path(__file__).parents[2]
ENTRIES = sorted(
    [".".join(path.relative_to(ROOT).parts[:-1]) for path in ROOT.glob("humanoid_*/**/__main__.py")]
    + [f"humanoid_ros.{path.stem}" for path in ROOT.glob("humanoid_ros/*.py") if "__main__" in path.read_text()]
)
EXAMPLES = sorted(
    path.name
    for path in (ROOT / "examples").glob("*.py")
    if re.search("__main__|sys.argv|ArgumentParser", path.read_text())
)
NODES = re.findall(r'^    "(\w+)": "', (ROOT / "scripts/node_pages.py").read_text(), re.MULTILINE)


@cache
def ask(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip


def test_the_entries_are_found():
    assert {"humanoid_gait", "humanoid_sim", "humanoid_ros.recorder", "humanoid_ros.viewer"} <= set(ENTRIES)


@pytest.mark.parametrize("entry", ENTRIES)
def test_help_says_what_it_is_and_starts_nothing(entry):
    pytest.importorskip("rclpy" if entry.startswith("humanoid_ros") else "numpy")
    done = ask("-m", entry, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
    assert len(done.stdout.splitlines()) > 3


def parameters_of_help(node):
    told = ask("-m", f"humanoid_ros.{node}", "--help").stdout
    return sorted(re.findall(r"^  ([\w.]+)$", told, re.MULTILINE))


@pytest.mark.parametrize("node", NODES)
def test_help_of_a_node_lists_its_parameters(node):
    pytest.importorskip("rclpy")
    listed = parameters_of_help(node)
    assert listed
    assert node != "simulator" or {"scene", "real_time_factor", "time_step"} <= set(listed)


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.timeout(900)
def test_running_nodes_have_the_parameters_of_their_help():
    """The page of the nodes, which make docs puts on the site, is what running nodes tell."""
    page = subprocess.run(
        [sys.executable, ROOT / "scripts/node_pages.py"],
        env={**os.environ, "ROS_DOMAIN_ID": str(claim_domain())},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    sections = re.split(r"^## (\w+)\n", page, flags=re.MULTILINE)[1:]
    assert sections[::2] == NODES
    for node, section in zip(NODES, sections[1::2], strict=True):
        rows = re.findall(r"^\| `([\w.]+)` \|", section.partition("| parameter |")[2], re.MULTILINE)
        assert sorted(rows) == parameters_of_help(node)


def test_every_node_that_is_installed_is_on_the_page():
    listed = re.search(r"foreach\(node ([^)]*)\)", (ROOT / "CMakeLists.txt").read_text())
    assert listed is not None
    assert set(listed[1].split()) - {"bringup", "humanoid-model"} <= set(NODES)


def test_a_node_refuses_words_that_nobody_reads():
    pytest.importorskip("rclpy")
    done = ask("-m", "humanoid_ros.recorder", "run.mcap")
    assert done.returncode == 2
    assert "unknown: run.mcap. Write parameters as --ros-args -p name:=value" in done.stderr


@pytest.mark.parametrize("example", EXAMPLES)
def test_help_of_an_example_runs_nothing(example, tmp_path):
    done = ask(str(ROOT / "examples" / example), "--help", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: ")
    assert list(tmp_path.iterdir()) == []
