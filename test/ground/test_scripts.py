# SPDX-License-Identifier: Apache-2.0
"""The set-up scripts: what they say when something is missing, and that they do nothing twice."""

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """The scripts and an empty requirements file in a folder of their own."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "requirements.txt").write_text("# nothing\n")
    return tmp_path


def program(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


def run(checkout, *command, path=None, **environment):
    return subprocess.run(
        command,
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=120,
        env={
            "PATH": f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin",
            "HOME": str(checkout),
            **environment,
        },
    )


def setup(checkout, **options):
    return run(checkout, "scripts/setup", ".venv", "requirements.txt", **options)


def test_an_unsupported_python_is_named(checkout):
    program(checkout / "bin", "python9", "exit 1")
    result = setup(checkout, path=checkout / "bin", PYTHON="python9")
    assert result.returncode == 1
    assert "PYTHON=python9 is not a Python 3.10, 3.11 or 3.12" in result.stderr


def test_no_supported_python_at_all_is_said(checkout):
    for name in ("python3.12", "python3.11", "python3.10", "python3"):
        program(checkout / "bin", name, "[ $1 = --version ] && echo Python 3.9.2; exit 1")
    result = setup(checkout, path=checkout / "bin")
    assert result.returncode == 1
    assert "no Python 3.10, 3.11 or 3.12 found (Python 3.9.2)" in result.stderr


def test_a_full_disk_is_said(checkout):
    program(checkout / "bin", "df", "echo header; echo disk 9 9 1234000 9% /")
    result = setup(checkout, path=checkout / "bin", PYTHON=sys.executable)
    assert result.returncode == 1
    assert "1234 MB free on this disk; the environment .venv needs 3000 MB" in result.stderr
    assert not (checkout / ".venv").exists()


def test_a_registry_out_of_reach_is_said_and_tried_again_next_time(checkout):
    (checkout / "requirements.txt").write_text("no-such-distribution==1.0\n")
    options = {"PYTHON": sys.executable, "PIP_NO_INDEX": "1", "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
    for _ in range(2):
        result = setup(checkout, **options)
        assert result.returncode == 1
        assert "It needs a Python package registry: check the network" in result.stderr


def ready(checkout):
    """Make .venv look complete."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "lib" / "python3.11").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to(sys.executable)
    version = f"Python {'.'.join(map(str, sys.version_info[:3]))}"
    text = (checkout / "requirements.txt").read_bytes()
    digest = hashlib.sha256(text).hexdigest()
    (checkout / ".venv" / "ready-requirements").write_text(f"{version} {digest}\n")


def test_a_current_environment_is_left_alone(checkout):
    ready(checkout)
    result = setup(checkout, _ROS_WHEELS_BOOTSTRAP_COMPLETE="1")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_other_requirements_are_installed(checkout):
    ready(checkout)
    (checkout / "requirements.txt").write_text("no-such-distribution==1.0\n")
    result = setup(checkout, PIP_NO_INDEX="1", _ROS_WHEELS_BOOTSTRAP_COMPLETE="1")
    assert "-- Installing requirements.txt into .venv" in result.stdout
    assert result.returncode == 1


def test_an_environment_without_ros_and_numpy_is_made_too(checkout):
    (checkout / ".venv").mkdir()
    program(checkout / ".venv/bin", "python", 'case "$*" in *numpy*) exit 1;; --version) echo Python 3.11.7;; esac')
    result = setup(checkout)
    assert (result.returncode, result.stderr) == (0, "")
    assert (checkout / ".venv" / "ready-requirements").is_file()


def test_a_missing_compiler_is_said(checkout):
    ready(checkout)
    tools = checkout / "tools"
    tools.mkdir()
    for name in ("bash", "basename", "dirname", "cat", "cut", "find", "grep", "sha256sum", "sort", "rm", "pwd"):
        found = next(Path(p, name) for p in ("/usr/bin", "/bin") if Path(p, name).exists())
        (tools / name).symlink_to(found)
    result = subprocess.run(
        [str(tools / "bash"), "scripts/build"],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": str(tools)},
    )
    assert result.returncode == 1
    assert "no 'cc' found; the interfaces need a C and C++ compiler and make" in result.stderr


def test_running_without_an_environment_says_what_to_do(checkout):
    result = run(checkout, "scripts/run", "true")
    assert result.returncode == 1
    assert "run 'make build' first" in result.stderr


def test_run_without_a_command_says_how_it_is_used(checkout):
    result = run(checkout, "scripts/run")
    assert result.returncode == 2
    assert "usage: scripts/run COMMAND" in result.stderr
