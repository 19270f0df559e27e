# SPDX-License-Identifier: Apache-2.0
"""A mesh is read and hulled once, on this machine, for each content of its file."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from humanoid_model.description import Box, Mesh
from humanoid_model.errors import InputError
from humanoid_sim.detection import solids
from humanoid_sim.detection.solids import Polytope, hull_vertices, store_folder

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


def faces_of(polytope: Polytope) -> list[np.ndarray]:
    starts = polytope.starts
    return [polytope.corner_vertices[a:b] for a, b in itertools.pairwise(starts)]


def test_a_dense_cloud_on_a_prism_has_the_faces_of_the_prism() -> None:
    """Qhull cuts every face into triangles; they are put together again, each face once."""
    angles = np.arange(6) * np.pi / 3.0
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.array([[x, y, z] for x, y in ring for z in np.linspace(-0.5, 0.5, 5)])
    prism = Polytope.of_points(points)
    sizes = sorted(len(face) for face in faces_of(prism))
    assert sizes == [4, 4, 4, 4, 4, 4, 6, 6]
    assert len(prism.vertices) == 12


@pytest.mark.parametrize("seed", range(3))
def test_faces_close_a_round_hull(seed: int) -> None:
    """Euler's formula, outward normals, and every point inside all faces, for a hull of many vertices."""
    points = np.random.default_rng(seed).normal(size=(1500, 3))
    points /= np.linalg.norm(points, axis=1)[:, None]
    hull = Polytope.of_points(points)
    faces = faces_of(hull)
    edges = {frozenset((int(a), int(b))) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True)}
    assert len(hull.vertices) - len(edges) + len(faces) == 2
    for normal, face in zip(hull.normals, faces, strict=True):
        height = hull.vertices[face] @ normal
        assert np.ptp(height) < 1e-5
        assert (points @ normal).max() <= height.max() + 1e-5


@pytest.mark.parametrize("size", [(1.0, 1.0, 1.0), (0.2, 3.0, 0.7), (5.0, 1e-3, 0.4)])
def test_a_box_has_the_faces_of_its_corners_hull(size: tuple[float, float, float]) -> None:
    box = Polytope.of_box(Box(np.array(size)))
    hull = Polytope.of_points(box.vertices)
    assert sorted(map(tuple, box.vertices)) == sorted(itertools.product(*((-0.5 * edge, 0.5 * edge) for edge in size)))

    def faces(polytope: Polytope) -> dict[tuple[float, ...], list[int]]:
        """Vertices around each face from the first one on, by normals."""
        rings = np.split(polytope.corner_vertices, polytope.starts[1:-1])
        rings = [np.roll(ring, -int(ring.argmin())).tolist() for ring in rings]
        return dict(zip(map(tuple, (polytope.normals + 0.0).tolist()), rings, strict=True))

    assert faces(box) == faces(hull)
    assert box.neighbours.tolist() == hull.neighbours.tolist()
