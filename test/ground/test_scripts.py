# SPDX-License-Identifier: Apache-2.0
"""The set-up scripts: what they say when something is missing, that they do nothing twice, and install what is
locked."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.feature("000-F028")

ROOT = Path(__file__).parents[2]
LOCKED = [
    str(path.relative_to(ROOT)) for path in (*ROOT.glob("requirements*.txt"), *ROOT.glob("benchmark/*requirements.txt"))
]
#: A package of a lock: name, version, the hashes of its files.
LOCK_ENTRY = re.compile(
    r"^([a-z0-9-]+)(?:\[\w+\])?==([\w.]+)(?: ; [\w '\".<>=*!()]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)",
    re.M,
)


@pytest.fixture
def checkout(tmp_path):
    """The scripts, an empty requirements file and its lock in a folder of their own."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    require(tmp_path)
    return tmp_path


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def require(checkout, wanted="# nothing\n", locked=""):
    """Write what is asked for, and the packages of its lock."""
    (checkout / "requirements.txt").write_text(wanted)
    (checkout / "requirements.lock").write_text(f"# {digest(wanted)}\n{locked}")


def make_wheel(folder, name, version, needs=""):
    """The smallest wheel that pip installs: a module, and more lines of its metadata."""
    info = f"{name}-{version}.dist-info"
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}.py", f"version = {version!r}\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
    require(checkout, "no-such-distribution==1.0\n", f"no-such-distribution==1.0 --hash=sha256:{digest('')}\n")
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
    locked = digest((checkout / "requirements.lock").read_text())
    (checkout / ".venv" / "ready-requirements").write_text(f"{version} {locked}\n")


def test_a_current_environment_is_left_alone(checkout):
    ready(checkout)
    result = setup(checkout, _ROS_WHEELS_BOOTSTRAP_COMPLETE="1")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_other_requirements_are_installed(checkout):
    ready(checkout)
    require(checkout, "no-such-distribution==1.0\n", f"no-such-distribution==1.0 --hash=sha256:{digest('')}\n")
    result = setup(checkout, PIP_NO_INDEX="1", _ROS_WHEELS_BOOTSTRAP_COMPLETE="1")
    assert "-- Installing requirements.lock into .venv" in result.stdout
    assert result.returncode == 1


def test_requirements_that_were_changed_without_their_lock_are_not_installed(checkout):
    (checkout / "requirements.txt").write_text("one==1.0\n")
    result = setup(checkout, PYTHON=sys.executable)
    assert result.returncode == 1
    assert "requirements.lock wasn't made from requirements.txt as it is now. Run scripts/lock." in result.stderr
    assert not (checkout / ".venv").exists()


def make_source(path, backend):
    """A source distribution of a package one 1.0 that a package builds."""
    texts = {
        "pyproject.toml": f'[build-system]\nrequires = ["{backend}"]\nbuild-backend = "{backend}"\n',
        "PKG-INFO": "Metadata-Version: 2.1\nName: one\nVersion: 1.0\n",
    }
    with tarfile.open(path, "w:gz") as archive:
        for name, text in texts.items():
            entry = tarfile.TarInfo(f"one-1.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))


def test_nothing_is_installed_or_run_whose_hash_is_not_locked_unless_hashes_are_off(checkout):
    options = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ".", "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
    source = checkout / "one-1.0.tar.gz"
    make_source(source, "builder")
    make_wheel(checkout, "builder", "1.0")
    require(checkout, "one==1.0\n", f"one==1.0 --hash=sha256:{hashlib.sha256(source.read_bytes()).hexdigest()}\n")
    refused = setup(checkout, PYTHON=sys.executable, **options)
    assert refused.returncode == 1
    assert "BackendUnavailable" in refused.stderr  # what builds it isn't taken from the registry

    source.unlink()
    make_wheel(checkout, "one", "1.0")
    require(checkout, "one==1.0\n", f"one==1.0 --hash=sha256:{digest('another file')}\n")
    refused = setup(checkout, **options)
    assert refused.returncode == 1
    assert "DO NOT MATCH THE HASHES" in refused.stderr
    assert "HASHES=off goes without" in refused.stderr
    assert not list(checkout.glob(".venv/lib/*/site-packages/one.py"))

    assert "is neither 'on' nor 'off'" in setup(checkout, HASHES="no", **options).stderr
    assert setup(checkout, HASHES="off", **options).returncode == 0
    assert list(checkout.glob(".venv/lib/*/site-packages/one.py"))


def test_a_release_that_came_after_the_lock_does_not_keep_it_from_being_installed(checkout):
    """pip looked at two 1.1 for `two[extra]`, whatever was locked, and refused it for want of a hash."""
    more = "Provides-Extra: extra\n"
    wheels = {
        "one": make_wheel(checkout, "one", "1.0", "Requires-Dist: two[extra]>=1.0\n"),
        "two": make_wheel(checkout, "two", "1.0", more),
    }
    make_wheel(checkout, "two", "1.1", more)
    require(checkout, "one==1.0\n", "".join(f"{name}==1.0 --hash=sha256:{sum}\n" for name, sum in wheels.items()))
    options = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ".", "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}
    result = setup(checkout, PYTHON=sys.executable, **options)
    assert result.returncode == 0, result.stderr
    [two] = checkout.glob(".venv/lib/*/site-packages/two.py")
    assert "1.0" in two.read_text()


def test_what_is_locked_is_all_that_is_needed():
    """Nobody resolves what a lock leaves out."""
    check = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True, timeout=120)
    assert check.returncode == 0, check.stdout


@pytest.mark.parametrize("name", LOCKED)
def test_a_lock_is_of_its_requirements_and_has_a_hash_for_every_package(name):
    """The text of the requirements is told by its hash; `scripts/lock` writes the file."""
    wanted, locked = (ROOT / name).read_text(), (ROOT / name).with_suffix(".lock").read_text()
    assert f"\n# {digest(wanted)}\n" in locked, f"{name} was changed: run scripts/lock"
    entries = re.findall(LOCK_ENTRY, locked)
    assert all("--hash=sha256:" in files for *_, files in entries)
    rest = re.sub(LOCK_ENTRY, "", locked)
    assert not [line for line in rest.splitlines() if not line.startswith("#")]  # no address, option, path
    held = {(package, version) for package, version, _ in entries}
    for package, version in re.findall(r"(?m)^([\w.-]+)(?:\[\w+\])?==([\w.]+)", wanted):
        assert (re.sub(r"[._]", "-", package).lower(), version) in held


def test_the_tests_bring_no_other_version_of_what_the_program_has():
    program, tests = (
        {(package, version) for package, version, _ in re.findall(LOCK_ENTRY, (ROOT / name).read_text())}
        for name in ("requirements.lock", "requirements-test.lock")
    )
    names = {package for package, _ in program} & {package for package, _ in tests}
    assert "packaging" in names
    assert {entry for entry in tests if entry[0] in names} <= program


def test_make_lets_python_keep_what_it_has_compiled():
    """Else each node and each worker of the tests compiles all that it imports."""
    told = subprocess.run(
        ["make", "--no-print-directory", "--eval", 'show: ; @echo "<$$PYTHONDONTWRITEBYTECODE>"', "show"],
        cwd=ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert told == "<>\n"
