# SPDX-License-Identifier: Apache-2.0
"""A robot's shapes are created once; its links follow their placements."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import viser

from humanoid_model.description import Mesh
from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.drawing.robot_drawing import RobotDrawing
from humanoid_ros.viewer.page import Page


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
