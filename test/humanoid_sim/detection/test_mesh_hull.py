# SPDX-License-Identifier: Apache-2.0
"""A mesh is read and hulled once, on this machine, for each content of its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.description import Mesh
from humanoid_model.errors import InputError
from humanoid_sim.detection import solids
from humanoid_sim.detection.mesh_hull import hull_vertices, store_folder
from humanoid_sim.detection.polytope import Polytope

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.1, 0.1, 0.1)]
FACES = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\nf 1 2 5\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    solids._mesh_hull.cache_clear()
    yield store_folder()
    solids._mesh_hull.cache_clear()


def write(path: Path, height: float = 1.0) -> Mesh:
    lines = [f"v {x} {y} {z * height}" for x, y, z in CORNERS]
    path.write_text("\n".join(lines) + "\n" + FACES)
    return Mesh(path, np.array([1.0, 2.0, 3.0]))


def test_hulls_are_read_from_disk(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another process, which has nothing in memory; by the content, wherever the file is."""
    first = Polytope.of_shape(write(tmp_path / "a.obj"))
    assert {tuple(v) for v in first.vertices.tolist()} == {(0, 0, 0), (1, 0, 0), (0, 2, 0), (0, 0, 3)}
    assert len(list(folder.iterdir())) == 2
    solids._mesh_hull.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(solids, "coal_geometry", lambda _: pytest.fail("read again"))
        patch.setattr(Polytope, "of_points", lambda _: pytest.fail("hulled again"))
        again = Polytope.of_shape(write(tmp_path / "b.obj"))
    for name, array in vars(first).items():
        assert_allclose(vars(again)[name], array, rtol=0, atol=0)


def test_another_content_or_scale_is_another_hull(tmp_path: Path) -> None:
    """A file that changes under its name, too."""
    assert hull_vertices(write(tmp_path / "a.obj"))[:, 2].max() == 3.0
    assert hull_vertices(write(tmp_path / "b.obj", 2.0))[:, 2].max() == 6.0
    assert hull_vertices(Mesh(tmp_path / "a.obj", np.ones(3)))[:, 2].max() == 1.0
    changed = write(tmp_path / "a.obj", 5.0)
    assert hull_vertices(changed)[:, 2].max() == 15.0


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.stl"):
        hull_vertices(Mesh(tmp_path / "none.stl", np.ones(3)))
