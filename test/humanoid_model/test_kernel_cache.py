# SPDX-License-Identifier: Apache-2.0
"""Cached kernels go when a source that they were made from is newer, and stay otherwise."""

import os
from pathlib import Path

import pytest

from humanoid_model.kernel_cache import drop_stale_kernels


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
