# SPDX-License-Identifier: Apache-2.0
"""What is drawn of a plan, and of the tree of a search."""

import numpy as np
import viser

from humanoid_ros.viewer.drawing.plan_drawing import FAR_COLOUR, LIFT, NEAR_COLOUR, PlanDrawing
from humanoid_ros.viewer.page import Page

SQUARE = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.1, 0.1, 0.0], [0.0, 0.1, 0.0]])


def test_contacts_are_outlined_and_numbered_and_the_way_is_drawn(page: Page) -> None:
    drawing = PlanDrawing(page.server.scene, "/plan")
    way = np.array([[0.0, 0.0, 0.8], [0.1, 0.0, 0.8], [0.2, 0.0, 0.9]])
    drawing.set_plan([SQUARE, SQUARE + np.array([1.0, 0.0, 0.0])], way)
    patches, line, *labels = drawing._plan
    assert isinstance(patches, viser.LineSegmentsHandle)
    assert isinstance(line, viser.LineSegmentsHandle)
    np.testing.assert_allclose(patches.points[:4, 0], SQUARE + np.array([0.0, 0.0, LIFT]), atol=1e-6)
    assert patches.points.shape == (8, 2, 3)
    np.testing.assert_allclose(line.points, np.stack([way[:-1], way[1:]], axis=1), atol=1e-6)
    assert [label.text for label in labels if isinstance(label, viser.LabelHandle)] == ["1", "2"]
    drawing.set_plan([SQUARE], way[:1])
    assert len(drawing._plan) == 2  # one outline, one number


def test_a_tree_joins_children_to_parents_and_is_greenest_where_the_potential_is_lowest(page: Page) -> None:
    drawing = PlanDrawing(page.server.scene, "/plan")
    places = np.array([[0.0, 0.0, 1.0], [0.1, 0.0, 1.0], [0.2, 0.1, 1.0], [0.3, 0.0, 1.0]])
    drawing.set_tree(places, np.array([0, 0, 1, 1]), np.array([2.0, 1.5, 1.0, 1.8]))
    nodes, lines = drawing._tree_nodes
    assert isinstance(nodes, viser.PointCloudHandle)
    assert isinstance(lines, viser.LineSegmentsHandle)
    np.testing.assert_allclose(nodes.points, places, atol=1e-3)
    np.testing.assert_array_equal(nodes.colors[[2, 0]], [NEAR_COLOUR, FAR_COLOUR])
    np.testing.assert_allclose(lines.points, np.stack([places[[0, 1, 1]], places[1:]], axis=1), atol=1e-6)
    drawing.tree_visible = False
    drawing.set_tree(places[:1], np.array([0]), np.array([2.0]))
    (root,) = drawing._tree_nodes
    assert not root.visible
