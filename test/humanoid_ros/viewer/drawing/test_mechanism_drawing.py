# SPDX-License-Identifier: Apache-2.0
"""Axes, marks and phantoms of mechanisms."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_ros.viewer.drawing.mechanism_drawing import (
    AXES,
    BOX,
    CHECKS,
    CONE,
    DARK,
    HELD,
    LIMIT,
    LOCKED,
    LOOPS,
    OPACITY,
    OPEN,
    SLIDES,
    STRIPES,
    TOOLS,
    TURNS,
    Mark,
    MarkDrawing,
    MechanismDrawing,
    Phantom,
)
from humanoid_ros.viewer.page import Page

CROSS = load_mechanism("cross")


@pytest.fixture
def drawn(page: Page) -> tuple[MechanismDrawing, dict[str, pin.SE3]]:
    drawing = MechanismDrawing(page.server.scene, "/mechanism", CROSS, 0.1)
    placements = CROSS.robot.link_placements(CROSS.initial)
    drawing.update(placements, locked=("joint_2",), at_limit=("joint_3",), open_loops=("link_5-frame_17",))
    return drawing, placements


@pytest.mark.feature("002-F147")
def test_each_joint_s_axis_is_the_direction_in_which_it_moves(drawn: tuple) -> None:
    drawing, _ = drawn
    lines = drawing._lines[AXES]
    assert lines.visible
    model, data = CROSS.model, CROSS.model.createData()
    pin.computeJointJacobians(model, data, CROSS.initial)
    for points, colours, name in zip(lines.points, lines.colors, CROSS.robot.joint_names, strict=True):
        joint = CROSS.robot.parts.joint_ids[name]
        column = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)[:, model.joints[joint].idx_v]
        slides = np.linalg.norm(column[:3]) > 0.5
        np.testing.assert_allclose(points[1] - points[0], 0.2 * column[:3] if slides else 0.2 * column[3:], atol=1e-6)
        np.testing.assert_allclose(points.mean(axis=0), data.oMi[joint].translation, atol=1e-6)
        expected = {"joint_2": LOCKED, "joint_3": LIMIT}.get(name, SLIDES if slides else TURNS)
        assert tuple(colours[0]) == expected


def test_a_loop_s_gap_goes_from_one_end_to_the_other(drawn: tuple) -> None:
    drawing, placements = drawn
    lines = drawing._lines[LOOPS]
    for i, loop in enumerate(CROSS.loops):
        start, end = lines.points[4 * i + 3]
        np.testing.assert_allclose(start, (placements[loop.link_a] * loop.placement_a).translation, atol=1e-6)
        np.testing.assert_allclose(end, (placements[loop.link_b] * loop.placement_b).translation, atol=1e-6)
        assert np.linalg.norm(end - start) == pytest.approx(
            0.045, abs=0.005
        )  # ERR-17: open by 45 mm as the file has it
        assert tuple(lines.colors[4 * i][0]) == (OPEN if loop.name == "link_5-frame_17" else HELD)


@pytest.mark.feature("002-F147", "002-F153")
def test_parts_are_hidden_and_shown(drawn: tuple) -> None:
    drawing, placements = drawn
    assert drawing._lines[TOOLS].visible
    drawing.show(TOOLS, False)
    drawing.update(placements)
    assert not drawing._lines[TOOLS].visible
    drawing.show(TOOLS, True)
    drawing.update(placements)
    assert drawing._lines[TOOLS].visible


def test_nothing_is_drawn_before_all_links_are_placed(page: Page) -> None:
    drawing = MechanismDrawing(page.server.scene, "/mechanism", CROSS, 0.1)
    drawing.update({"base": pin.SE3.Identity()})
    assert not drawing._lines[AXES].visible


RED = np.array([1.0, 0.2, 0.0])


def mark(**look: object) -> Mark:
    return Mark(pin.SE3.Identity(), np.array([0.1, 0.2, 0.3]), RED, **look)  # type: ignore[arg-type]


def area(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@pytest.mark.feature("002-F163")
def test_marks_of_a_shape_are_one_node_and_a_texture_has_light_and_dark_fields(page: Page) -> None:
    drawing = MarkDrawing(page.server.scene, "/marks")
    drawing.update([mark(), mark(opacity=0.7), mark(shape=BOX, texture=STRIPES)])
    (plain,), (light, dark) = drawing._kinds["sphere", "plain"], drawing._kinds[BOX, STRIPES]
    np.testing.assert_allclose(plain.node.batched_opacities, [0.4, 0.7])
    np.testing.assert_allclose(plain.node.batched_scales, [[0.1, 0.2, 0.3]] * 2)
    np.testing.assert_array_equal(light.node.batched_colors, [[255, 51, 0]])
    np.testing.assert_array_equal(dark.node.batched_colors, [np.round(255.0 * DARK * RED)])
    fields = [area(batch.node.vertices, batch.node.faces) for batch in (light, dark)]
    assert sum(fields) == 24.0  # of a box with half axes of 1, whose faces are all there once
    assert min(fields) > 6.0
    assert np.abs(light.node.vertices).max() == 1.0


@pytest.mark.feature("002-F163")
def test_a_shape_is_its_own_and_goes_when_no_mark_has_it(page: Page) -> None:
    drawing = MarkDrawing(page.server.scene, "/marks")
    drawing.update([mark(shape=CONE, texture=CHECKS)])
    (light, _) = drawing._kinds[CONE, CHECKS]
    vertices = np.vstack([batch.node.vertices for batch in drawing._kinds[CONE, CHECKS]])
    np.testing.assert_allclose([vertices.min(axis=0), vertices.max(axis=0)], [[-1] * 3, [1] * 3], atol=1e-6)
    np.testing.assert_allclose(vertices[vertices[:, 2] > 0.999], [[0.0, 0.0, 1.0]] * 2, atol=1e-6)
    drawing.update([mark(shape="unheard of")])
    assert light.node is None
    assert list(drawing._kinds) == [("sphere", "plain")]


@pytest.mark.feature("002-F181")
def test_joints_that_are_told_move_it_and_the_others_stay_with_the_mechanism(page: Page) -> None:
    mechanism = load_mechanism("puma")
    phantom = Phantom(page.server.scene, "/mechanisms/puma", mechanism)
    q, base = mechanism.initial.copy(), pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.5]))
    phantom.tell({"joint_2": 0.3, "joint_3": float("nan"), "hatch": 1.0})
    phantom.draw(q, base)
    q[mechanism.robot.index_q("joint_2")] = 0.3
    expected = mechanism.robot.link_placements(q)
    for link, moving in phantom._drawing._nodes.items():
        np.testing.assert_allclose(moving.node.position, base.act(expected[link].translation), atol=1e-9)
    assert all(shape.opacity == OPACITY for shapes in phantom._drawing._shapes.values() for shape, _ in shapes)
