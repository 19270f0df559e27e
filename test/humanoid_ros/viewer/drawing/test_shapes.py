# SPDX-License-Identifier: Apache-2.0
"""Each kind of shape becomes a node of the right size, place and colour."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import viser

from humanoid_model.description import Box, Capsule, Cylinder, HalfSpace, Mesh, Sphere
from humanoid_model.errors import InputError
from humanoid_ros.viewer.drawing.shapes import Triangles, add_shape, bounds, read_mesh, wxyz
from humanoid_ros.viewer.page import Page

GREY = (0.5, 0.5, 0.5, 1.0)
TETRAHEDRON = """v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""


def test_wxyz_turns_vectors_as_the_placement_does() -> None:
    placement = pin.SE3.Random()
    quaternion = viser.transforms.SO3(wxyz(placement))
    vector = np.array([0.3, -0.2, 0.9])
    np.testing.assert_allclose(quaternion @ vector, placement.rotation @ vector, atol=1e-12)


def test_primitives_keep_their_sizes(page: Page) -> None:
    scene = page.server.scene
    placement = pin.SE3(np.eye(3), np.array([1.0, 2.0, 3.0]))
    box = add_shape(scene, "/box", Box(np.array([0.1, 0.2, 0.3])), placement, (1.0, 0.0, 0.0, 0.5))
    assert isinstance(box, viser.BoxHandle)
    assert box.dimensions == (0.1, 0.2, 0.3)
    assert tuple(box.color) == (255, 0, 0)
    assert box.opacity == 0.5
    np.testing.assert_array_equal(box.position, [1.0, 2.0, 3.0])
    sphere = add_shape(scene, "/sphere", Sphere(0.4), placement, GREY)
    assert isinstance(sphere, viser.IcosphereHandle)
    assert sphere.radius == 0.4
    assert sphere.opacity is None
    cylinder = add_shape(scene, "/cylinder", Cylinder(0.1, 0.7), placement, GREY)
    assert isinstance(cylinder, viser.CylinderHandle)
    assert (cylinder.radius, cylinder.height) == (0.1, 0.7)


def test_capsule_is_centred_and_capped(page: Page) -> None:
    node = add_shape(page.server.scene, "/c", Capsule(0.1, 0.6), pin.SE3.Identity(), GREY)
    assert isinstance(node, viser.MeshHandle)
    np.testing.assert_allclose(node.vertices.min(axis=0), [-0.1, -0.1, -0.4], atol=1e-3)
    np.testing.assert_allclose(node.vertices.max(axis=0), [0.1, 0.1, 0.4], atol=1e-3)


def test_half_space_is_a_square_at_height_zero_that_faces_up(page: Page) -> None:
    node = add_shape(page.server.scene, "/h", HalfSpace(), pin.SE3.Identity(), GREY)
    assert isinstance(node, viser.MeshHandle)
    assert np.all(node.vertices[:, 2] == 0.0)
    for face in node.faces:
        a, b, c = node.vertices[face]
        assert np.cross(b - a, c - a)[2] > 0.0


def test_mesh_file_is_read_and_scaled(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "tetrahedron.obj"
    path.write_text(TETRAHEDRON)
    mesh = Mesh(path, np.array([1.0, 2.0, 0.001]))
    np.testing.assert_allclose(np.ptp(read_mesh(mesh).vertices, axis=0), [1.0, 2.0, 0.001])
    node = add_shape(page.server.scene, "/m", mesh, pin.SE3.Identity(), GREY)
    assert isinstance(node, viser.MeshHandle)
    assert len(node.faces) == 4


def test_triangles_are_drawn_as_given(page: Page) -> None:
    vertices = np.eye(3)
    node = add_shape(
        page.server.scene,
        "/t",
        Triangles(vertices, np.array([[0, 1, 2]])),
        pin.SE3.Identity(),
        GREY,
    )
    assert isinstance(node, viser.MeshHandle)
    np.testing.assert_array_equal(node.vertices, vertices)


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


def test_unknown_shape_is_refused(page: Page) -> None:
    with pytest.raises(InputError, match="can't draw a str"):
        add_shape(page.server.scene, "/x", "a box", pin.SE3.Identity(), GREY)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shape", "highest"),
    [
        (Box(np.array([0.2, 0.4, 0.6])), [0.1, 0.2, 0.3]),
        (Sphere(0.3), [0.3, 0.3, 0.3]),
        (Cylinder(0.1, 0.8), [0.1, 0.1, 0.4]),
        (Capsule(0.1, 0.8), [0.1, 0.1, 0.5]),
        (Triangles(np.vstack([-np.eye(3), np.eye(3)]), np.array([[0, 1, 2]])), [1, 1, 1]),
    ],
)
def test_bounds_are_symmetric_boxes(shape: object, highest: list[float]) -> None:
    np.testing.assert_allclose(bounds(shape), [np.negative(highest), highest], atol=2e-3)  # type: ignore[arg-type]
