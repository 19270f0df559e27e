# SPDX-License-Identifier: Apache-2.0
"""Shapes and robots on the page."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import trimesh
import viser
from PIL import Image

from humanoid_model.description import Box, Capsule, Cylinder, Ellipsoid, HalfSpace, Mesh, Sphere
from humanoid_model.errors import InputError
from humanoid_model.shape_triangles import Triangles, read_mesh
from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.drawing.shapes import RobotDrawing, add_shape, wxyz
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


@pytest.mark.feature("002-F149")
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


def test_an_ellipsoid_has_its_radii(page: Page) -> None:
    node = add_shape(page.server.scene, "/e", Ellipsoid(np.array([0.1, 0.2, 0.3])), pin.SE3.Identity(), GREY)
    assert isinstance(node, viser.MeshHandle)
    np.testing.assert_allclose(node.vertices.max(axis=0), [0.1, 0.2, 0.3], atol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(node.vertices / [0.1, 0.2, 0.3], axis=1), 1.0, atol=1e-6)
    assert not node.flat_shading


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


def test_unknown_shape_is_refused(page: Page) -> None:
    with pytest.raises(InputError, match="can't draw a str"):
        add_shape(page.server.scene, "/x", "a box", pin.SE3.Identity(), GREY)  # type: ignore[arg-type]


@pytest.mark.feature("002-F149")
def test_a_mesh_with_a_texture_is_drawn_with_it_and_one_without_in_its_colour(page: Page, tmp_path: Path) -> None:
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    plate = trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]], process=False)
    image = Image.fromarray(np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [255, 255, 0]]], np.uint8))
    plate.visual = trimesh.visual.TextureVisuals(corners[:, :2], image=image)
    path = tmp_path / "plate.glb"
    plate.export(path)
    shape = Mesh(path, np.array([2.0, 1.0, 1.0]))
    drawn = add_shape(page.server.scene, "/plate", shape, pin.SE3.Identity(), GREY)
    assert isinstance(drawn, viser.GlbHandle)
    sent = trimesh.load(io.BytesIO(drawn.glb_data), file_type="glb", force="mesh")
    np.testing.assert_allclose(np.ptp(sent.vertices, axis=0), [2.0, 1.0, 0.0], atol=1e-6)
    colours = np.asarray(sent.visual.material.baseColorTexture.convert("RGB")).reshape(-1, 3)
    assert {tuple(int(part) for part in colour) for colour in colours} == {
        (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0),
    }  # fmt: skip
    (tmp_path / "plain.obj").write_text(TETRAHEDRON)
    plain = add_shape(page.server.scene, "/plain", Mesh(tmp_path / "plain.obj", np.ones(3)), pin.SE3.Identity(), GREY)
    assert isinstance(plain, viser.MeshHandle)


def nodes(page: Page, kind: type) -> dict[str, viser.SceneNodeHandle]:
    handles = page.server.scene._handle_from_node_name
    return {name: node for name, node in handles.items() if isinstance(node, kind)}


@pytest.mark.feature("002-F144", "002-F150")
def test_one_node_per_link_with_shapes_and_one_per_shape(page: Page, urdf: str) -> None:
    drawing = RobotDrawing(page.server.scene, "r", read_urdf(urdf))
    assert drawing.links == ["base", "arm"]
    assert drawing.problems == []
    assert set(nodes(page, viser.BoxHandle)) == {"/robots/r/base/0"}
    assert set(nodes(page, viser.IcosphereHandle)) == {"/robots/r/base/1"}
    assert set(nodes(page, viser.CylinderHandle)) == {"/robots/r/arm/0"}
    box = nodes(page, viser.BoxHandle)["/robots/r/base/0"]
    assert tuple(box.color) == (255, 0, 0)
    np.testing.assert_allclose(box.position, [0.0, 0.0, 0.1])


@pytest.mark.feature("002-F044", "002-F140", "002-F150")
def test_links_follow_their_placements_and_only_moved_ones_are_sent(page: Page, urdf: str) -> None:
    drawing = RobotDrawing(page.server.scene, "r", read_urdf(urdf))
    placements = {"base": pin.SE3.Random(), "arm": pin.SE3.Random(), "tool": pin.SE3.Random()}
    assert drawing.update(placements) == 2
    frames = nodes(page, viser.FrameHandle)
    for link in ("base", "arm"):
        node = frames[f"/robots/r/{link}"]
        shown = viser.transforms.SE3.from_rotation_and_translation(viser.transforms.SO3(node.wxyz), node.position)
        np.testing.assert_allclose(shown.as_matrix(), placements[link].homogeneous, atol=1e-12)
    assert drawing.update(placements) == 0
    placements["arm"] = pin.SE3.Random()
    assert drawing.update(placements) == 1


def test_robot_is_hidden_until_placed_and_when_told(page: Page, urdf: str) -> None:
    drawing = RobotDrawing(page.server.scene, "r", read_urdf(urdf))
    root = nodes(page, viser.FrameHandle)["/robots/r"]
    assert not root.visible
    drawing.update({"base": pin.SE3.Identity()})
    assert root.visible
    drawing.visible = False
    drawing.update({"base": pin.SE3.Random()})
    assert not root.visible
    drawing.visible = True
    assert root.visible


def test_missing_mesh_is_reported_and_the_rest_drawn(page: Page, urdf: str) -> None:
    description = read_urdf(urdf)
    arm = description.links["arm"]
    lost = replace(arm.visuals[0], shape=Mesh(Path("lost.stl"), np.ones(3)))
    links = {**description.links, "arm": replace(arm, visuals=(lost,))}
    drawing = RobotDrawing(page.server.scene, "r", replace(description, links=links))
    assert len(drawing.problems) == 1
    assert "lost.stl" in drawing.problems[0]
    assert len(nodes(page, viser.BoxHandle)) == 1


def test_extent_is_the_box_around_all_shapes(page: Page, urdf: str) -> None:
    drawing = RobotDrawing(page.server.scene, "r", read_urdf(urdf))
    base = pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0]))
    assert drawing.extent({"base": base}) is None
    # Base: a box of 0.1 x 0.2 x 0.3 about (0, 0, 0.1); arm: a rod of 1 m along z, laid along x.
    arm = pin.SE3(pin.utils.rotate("y", np.pi / 2), np.array([1.0, 0.0, 0.3]))
    extent = drawing.extent({"base": base, "arm": arm})
    np.testing.assert_allclose(extent, [[0.5, -0.1, -0.05], [1.5, 0.1, 0.32]], atol=1e-12)


def test_remove_leaves_no_node(page: Page, urdf: str) -> None:
    RobotDrawing(page.server.scene, "r", read_urdf(urdf)).remove()
    left = page.server.scene._handle_from_node_name
    assert [name for name in left if name.startswith("/robots/r")] == []
