# SPDX-License-Identifier: Apache-2.0
"""VRML 97 files: where transforms put points, which side is outside, colours, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from fixtures.scene_files import TETRAHEDRON_WRL
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.errors import InputError
from humanoid_model.wrl import WrlGeometry, read_wrl

pytestmark = pytest.mark.feature("000-F011")

FACES = "geometry IndexedFaceSet {{ {} coord Coordinate {{ point [{}] }} coordIndex [{}] }}"
TETRAHEDRON = FACES.format("", "0 0 0, 1 0 0, 0 1 0, 0 0 1", "0 2 1 -1 0 1 3 -1 0 3 2 -1 1 2 3 -1")


def read(folder: Path, text: str) -> WrlGeometry:
    (folder / "shape.wrl").write_text(f"#VRML V2.0 utf8\n{text}", encoding="utf-8")
    return read_wrl(folder / "shape.wrl")


def volume(geometry: WrlGeometry) -> float:
    """Enclosed by the triangles, negative where they are inside out (divergence theorem)."""
    a, b, c = (geometry.points[geometry.triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)


def test_triangles_face_outwards(tmp_path: Path) -> None:
    (tmp_path / "t.wrl").write_text(TETRAHEDRON_WRL)
    assert volume(read_wrl(tmp_path / "t.wrl")) == pytest.approx(1 / 6)


def test_clockwise_faces_are_turned_over(tmp_path: Path) -> None:
    faces = FACES.format("ccw FALSE", "0 0 0, 1 0 0, 0 1 0, 0 0 1", "0 1 2 -1 0 3 1 -1 0 2 3 -1 1 3 2 -1")
    assert volume(read(tmp_path, f"Shape {{ {faces} }}")) == pytest.approx(1 / 6)


def test_mirrored_faces_are_turned_over(tmp_path: Path) -> None:
    mirrored = f"Transform {{ scale -1 1 2 children Shape {{ {TETRAHEDRON} }} }}"
    assert volume(read(tmp_path, mirrored)) == pytest.approx(2 / 6)


def test_transforms_follow_one_another_from_the_inside_out(tmp_path: Path) -> None:
    """Scaled, turned a quarter about z and shifted; then turned a quarter about x about another centre."""
    quarter = np.pi / 2
    inner = f"translation 1 0 0 rotation 0 0 1 {quarter} scale 2 1 1 children Shape {{ {TETRAHEDRON} }}"
    group = f"Group {{ children [ Transform {{ {inner} }} ] }}"
    outer = f"Transform {{ rotation 1 0 0 {quarter} center 0 0 1 children [ {group} ] }}"
    # (x, y, z) -> (2 x, y, z) -> (-y, 2 x, z) -> (1 - y, 2 x, z) -> (x', 1 - z', y') + (0, 0, 1)
    expected = [[1, 1, 1], [1, 1, 3], [0, 1, 1], [1, 0, 1]]
    assert_allclose(read(tmp_path, outer).points, expected, atol=1e-12)


def test_a_named_shape_is_used_again(tmp_path: Path) -> None:
    text = f"DEF one Shape {{ {TETRAHEDRON} }}\nTransform {{ translation 0 0 5 children USE one }}"
    geometry = read(tmp_path, text)
    assert_array_equal(geometry.points[4:], geometry.points[:4] + np.array([0, 0, 5]))
    assert_array_equal(geometry.triangles[4:], geometry.triangles[:4] + 4)


def test_polygons_are_fanned(tmp_path: Path) -> None:
    faces = FACES.format("", "0 0 0, 1 0 0, 1 1 0, 0 1 0", "0 1 2 3")
    assert_array_equal(read(tmp_path, f"Shape {{ {faces} }}").triangles, [[0, 1, 2], [0, 2, 3]])


def test_colours_of_material_faces_and_corners(tmp_path: Path) -> None:
    square = ("0 0 0, 1 0 0, 1 1 0, 0 1 0", "0 1 2 -1 0 2 3 -1")
    red = "appearance Appearance { material Material { diffuseColor 1 0 0 } }"
    plain = FACES.format("", *square)
    assert_array_equal(read(tmp_path, f"Shape {{ {red} {plain} }}").colours, [[1, 0, 0]] * 2)
    by_face = "colorPerVertex FALSE color Color { color [0 1 0, 0 0 1] } colorIndex [1 0]"
    assert_array_equal(read(tmp_path, f"Shape {{ {FACES.format(by_face, *square)} }}").colours, [[0, 0, 1], [0, 1, 0]])
    by_corner = "color Color { color [0 0 0, 0.3 0 0, 0 0.6 0, 0 0 0.9] }"
    assert_allclose(
        read(tmp_path, f"Shape {{ {FACES.format(by_corner, *square)} }}").colours, [[0.1, 0.2, 0], [0, 0.2, 0.3]]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Shape { geometry Box { } }", r"shape.wrl:2: Box: geometry node 'Box'. Convert it"),
        (f"Shape {{ {TETRAHEDRON.replace('1 2 3 -1', '1 2 4 -1')} }}", "coordIndex 4, but 4 points"),
        (f"\nShape {{ {TETRAHEDRON}", "the file ends inside a node"),
        ("USE nothing", "USE of the undefined name 'nothing'"),
        ("Group { }", "holds no triangle"),
    ],
)
def test_what_can_t_be_used_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, text)
