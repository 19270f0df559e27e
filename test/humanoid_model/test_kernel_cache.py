# SPDX-License-Identifier: Apache-2.0
"""Cached kernels go when a source that they were made from is newer, and stay otherwise."""

import importlib
import os
import sys
from pathlib import Path

import numba
import pytest

from humanoid_model.compiling import drop_stale_kernels


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """Two kernels, one of which calls the other over a third file; all compiled at time 200."""
    package = tmp_path / "walker"
    cache = package / "contact" / "__pycache__"
    cache.mkdir(parents=True)
    sources = {
        "__init__.py": "",
        "cone.py": "import numpy as np",
        "between.py": "from walker.contact.cone import project",
        "solve.py": "from walker.contact import between",
        "alone.py": "",
    }
    compiled = ["cone.project-3.py311.nbi", "cone.project-3.py311.1.nbc", "solve.solve-9.py311.nbi"]
    (package / "__init__.py").write_text("")
    os.utime(package / "__init__.py", (100, 100))
    for name, text in sources.items():
        (package / "contact" / name).write_text(text)
        os.utime(package / "contact" / name, (100, 100))
    for name in compiled:
        (cache / name).write_text("")
        os.utime(cache / name, (200, 200))
    return package


def _kept(package: Path) -> set[str]:
    return {path.name.split(".")[0] for path in package.rglob("*.nb?")}


def test_fresh_kernels_stay(package: Path) -> None:
    assert drop_stale_kernels(package) == 0
    assert _kept(package) == {"cone", "solve"}


@pytest.mark.parametrize(
    ("changed", "kept"), [("cone", set()), ("between", {"cone"}), ("solve", {"cone"}), ("alone", {"cone", "solve"})]
)
def test_a_newer_source_drops_what_it_is_in(package: Path, changed: str, kept: set[str]) -> None:
    os.utime(package / "contact" / f"{changed}.py", (300, 300))
    dropped = drop_stale_kernels(package)
    assert _kept(package) == kept
    assert dropped == {0: 3, 1: 1, 2: 0}[len(kept)]
    assert drop_stale_kernels(package) == 0
    assert (package / "contact" / f"{changed}.py").exists()


def test_libraries_installed_beside_the_package_do_not_count(package: Path) -> None:
    """They have the time of their installation, and looking through numpy's sources takes a minute."""
    library = package.parent / "numpy"
    library.mkdir()
    for path in (library / "__init__.py", package / "contact" / "alone.py"):
        path.touch()
        os.utime(path, (300, 300))
    assert drop_stale_kernels(package) == 0
    assert _kept(package) == {"cone", "solve"}


def test_kernels_of_a_file_that_is_gone_go(package: Path) -> None:
    (package / "contact" / "solve.py").unlink()
    os.utime(package / "contact" / "alone.py", (300, 300))
    assert drop_stale_kernels(package) == 1
    assert _kept(package) == {"cone"}


@pytest.mark.parametrize("place", ["beside", "the user's choice", "numba's own folder"])
def test_kernels_go_wherever_numba_keeps_them(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "walker"
    package.mkdir()
    (package / "__init__.py").touch()
    kernel = "from numba import njit\n@njit('int64(int64)', cache=True)\ndef f(i):\n    return i\n"
    (package / "pace.py").write_text(kernel)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "chosen") if place == "the user's choice" else "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    if place == "numba's own folder":
        (package / "__pycache__").touch()  # numba can't write there
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("walker.pace")
    del sys.modules["walker.pace"], sys.modules["walker"]
    kernels = {path.suffix: path for path in tmp_path.rglob("*.nb?")}
    assert set(kernels) == {".nbi", ".nbc"}
    assert drop_stale_kernels(package) == 0
    later = kernels[".nbi"].stat().st_mtime + 10.0
    os.utime(package / "pace.py", (later, later))
    assert drop_stale_kernels(package) == 2
    assert not any(path.exists() for path in kernels.values())
