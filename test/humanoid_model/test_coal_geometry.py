# SPDX-License-Identifier: Apache-2.0
"""coal geometries of every shape: their volumes and extents are those of the shape."""

import math
import os
import struct
from pathlib import Path
from typing import Any

import coal
import numpy as np
import pytest
from fixtures.scene_files import TETRAHEDRON_WRL
from numpy.testing import assert_allclose

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, Mesh, Shape, Sphere
from humanoid_model.errors import InputError

pytestmark = pytest.mark.feature("000-F011")

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def extent(geometry: coal.CollisionGeometry) -> np.ndarray:
    geometry.computeLocalAABB()
    return np.asarray(geometry.aabb_local.max_ - geometry.aabb_local.min_)


@pytest.mark.parametrize(
    ("shape", "volume", "size"),
    [
        (Box(np.array([0.2, 0.3, 0.4])), 0.024, (0.2, 0.3, 0.4)),
        (Sphere(0.5), math.pi / 6, (1.0, 1.0, 1.0)),
        (Cylinder(0.1, 0.5), math.pi * 0.005, (0.2, 0.2, 0.5)),
        (Capsule(0.1, 0.5), math.pi * (0.005 + 4 / 3 * 0.001), (0.2, 0.2, 0.7)),
    ],
)
def test_primitive_shapes(shape: Shape, volume: float, size: tuple[float, ...]) -> None:
    geometry = coal_geometry(shape)
    assert geometry.computeVolume() == pytest.approx(volume)
    assert_allclose(extent(geometry), size)


def test_half_space_is_below_its_plane() -> None:
    geometry = coal_geometry(HalfSpace())
    ball = coal.Sphere(0.1)
    for height, gap in ((0.5, 0.4), (0.05, -0.05)):
        place = coal.Transform3s(np.eye(3), np.array([3.0, -2.0, height]))
        found = coal.distance(geometry, coal.Transform3s(), ball, place, coal.DistanceRequest(), coal.DistanceResult())
        assert found == pytest.approx(gap, abs=1e-9)


def binary_stl() -> bytes:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    data = b"\0" * 80 + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *points[list(face)].ravel(), 0)
    return data


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.obj", OBJ.encode()), ("a.stl", binary_stl()), ("a.wrl", TETRAHEDRON_WRL.encode())],
)
def test_meshes_are_loaded_and_scaled(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    geometry = coal_geometry(Mesh(path, np.array([1.0, 2.0, 3.0])))
    assert geometry.num_tris == 4
    assert_allclose(extent(geometry), (1.0, 2.0, 3.0), atol=1e-6)
    assert abs(geometry.computeVolume()) == pytest.approx(1.0, rel=1e-5), "1 x 2 x 3 / 6"


@pytest.mark.parametrize(("name", "content"), [("a.stl", b"nothing"), ("a.obj", b""), ("a.xyz", b"1 2 3")])
def test_unreadable_mesh_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=name):
        coal_geometry(Mesh(path, np.ones(3)))


def test_a_mesh_file_is_read_once_until_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "wedge.obj"

    def corner(x: float, time: int) -> Any:
        path.write_text(f"v {x} 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
        os.utime(path, (time, time))
        return coal_geometry(Mesh(path, np.ones(3)))

    first = corner(1.0, 100)
    assert np.shares_memory(first.vertices(), corner(2.0, 100).vertices())
    assert np.max(corner(3.0, 200).vertices()) == 3.0
    assert np.max(coal_geometry(Mesh(path, np.full(3, 2.0))).vertices()) == 6.0
