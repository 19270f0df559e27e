# SPDX-License-Identifier: Apache-2.0
"""Shapes become triangles of the right size that look outwards."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

from humanoid_model.coal_geometry import coal_geometry
from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from humanoid_model.errors import InputError
from humanoid_model.shape_triangles import Triangles, bounds, read_mesh


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("missing.obj", None, "no such mesh file"),
        ("empty.obj", "v 0 0 0\n", "missing|no triangles|can't be read"),
        ("shape.xyzzy", "nonsense", "can't be read"),
    ],
)
def test_bad_mesh_is_refused_by_name(tmp_path: Path, name: str, text: str | None, message: str) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_mesh(Mesh(path, np.ones(3)))
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "highest"),
    [
        (Box(np.array([0.2, 0.4, 0.6])), [0.1, 0.2, 0.3]),
        (Sphere(0.3), [0.3, 0.3, 0.3]),
        (Cylinder(0.1, 0.8), [0.1, 0.1, 0.4]),
        (Capsule(0.1, 0.8), [0.1, 0.1, 0.5]),
        (Ellipsoid(np.array([0.1, 0.2, 0.3])), [0.1, 0.2, 0.3]),
        (Triangles(np.vstack([-np.eye(3), np.eye(3)]), np.array([[0, 1, 2]])), [1, 1, 1]),
    ],
)
def test_bounds_are_symmetric_boxes(shape: object, highest: list[float]) -> None:
    np.testing.assert_allclose(bounds(shape), [np.negative(highest), highest], atol=2e-3)  # type: ignore[arg-type]


CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
SIDES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def written(folder: Path, kind: str) -> Path:
    """A tetrahedron of edges 1, 2 and 3 along the axes, as a file of a kind."""
    path = folder / f"tetrahedron.{kind}"
    if kind == "nff":  # of Sense8, whose library the thesis' program was drawn with
        points = "\n".join(" ".join(map(str, corner)) for corner in CORNERS)
        sides = "\n".join(f"3 {' '.join(map(str, side))} 0xff0" for side in SIDES)
        path.write_text(f"nff\nversion 2.0\nobject\n4\n{points}\n4\n{sides}\n")
    elif kind == "dxf":
        faces = ""
        for side in SIDES:
            corners = [CORNERS[k] for k in (*side, side[-1])]
            faces += "0\n3DFACE\n8\n0\n" + "".join(
                f"{10 * (axis + 1) + number}\n{float(corner[axis])}\n"
                for number, corner in enumerate(corners)
                for axis in range(3)
            )
        path.write_text(f"0\nSECTION\n2\nENTITIES\n{faces}0\nENDSEC\n0\nEOF\n")
    else:
        trimesh.Trimesh(CORNERS, SIDES).export(path)
    return path


@pytest.mark.feature("002-F144")
@pytest.mark.parametrize("kind", ["stl", "obj", "glb", "nff", "dxf"])
def test_files_of_many_kinds_are_drawn_and_collide_as_they_are(tmp_path: Path, kind: str) -> None:
    mesh = Mesh(written(tmp_path, kind), np.array([0.1, 0.1, 0.2]))
    drawn = read_mesh(mesh)
    np.testing.assert_allclose(drawn.vertices.min(axis=0), 0.0, atol=1e-7)
    np.testing.assert_allclose(drawn.vertices.max(axis=0), [0.1, 0.2, 0.6], atol=1e-7)
    assert len(drawn.faces) == 4
    solid = coal_geometry(mesh)
    solid.computeLocalAABB()
    np.testing.assert_allclose(solid.aabb_local.max_, [0.1, 0.2, 0.6], atol=1e-7)
    np.testing.assert_allclose(solid.aabb_local.min_, 0.0, atol=1e-7)


def test_a_mirrored_mesh_still_looks_outwards(tmp_path: Path) -> None:
    mirrored = read_mesh(Mesh(written(tmp_path, "stl"), np.array([1.0, -1.0, 1.0])))
    a, b, c = np.moveaxis(mirrored.vertices[mirrored.faces], 1, 0)
    assert np.einsum("ti,ti->", a, np.cross(b, c)) / 6.0 == pytest.approx(1.0)  # Gauss: volume 1 x 2 x 3 / 6
