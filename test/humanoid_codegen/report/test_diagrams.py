# SPDX-License-Identifier: Apache-2.0
import itertools

import pytest

from humanoid_codegen.dynamics.mechanism import Mechanism
from humanoid_codegen.report.diagrams import stick_figure, tree_diagram
from humanoid_codegen.report.document import Disc, Label, Line, Polygon
from humanoid_model import load_robot

ROBOTS = ("robot_2r_b", "tree4", "hrp2", "syn3p33r", "avatar")


def drawn(name, draw=tree_diagram):
    robot = load_robot(name, geometry=False)
    return robot, draw(robot, Mechanism.from_robot(robot, (0.0, -9.81, 0.0)))


def rectangle(shape):
    if isinstance(shape, Label):
        x, y = shape.place
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * shape.width
        return (left, y - 0.5 * shape.size, left + shape.width, y + 0.5 * shape.size)
    xs, ys = zip(*shape.points, strict=True)
    return (min(xs), min(ys), max(xs), max(ys))


def overlap(a, b):
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


@pytest.mark.parametrize("name", ROBOTS)
def test_every_link_and_every_moving_joint_has_its_label(name):
    robot, drawing = drawn(name)
    words = [shape.text for shape in drawing.shapes if isinstance(shape, Label)]
    for link in robot.description.links:
        assert words.count(link) >= 1
    for joint in robot.description.joints.values():
        if joint.type != "fixed":
            assert joint.name in words


@pytest.mark.parametrize("name", ROBOTS)
def test_no_label_covers_another_and_no_box_another_box(name):
    _, drawing = drawn(name)
    labels = [rectangle(shape) for shape in drawing.shapes if isinstance(shape, Label)]
    polygons = [shape for shape in drawing.shapes if isinstance(shape, Polygon)]
    boxes = [rectangle(shape) for shape in polygons if shape.fill in ("link", "paper")]
    for shapes in (labels, boxes):
        assert not any(overlap(a, b) for a, b in itertools.combinations(shapes, 2))


@pytest.mark.parametrize("name", ["hrp2", "syn3p33r"])
def test_a_humanoids_tree_fits_a_page_with_readable_letters(name):
    _, drawing = drawn(name)
    left, top, right, bottom = drawing.bounds()
    scale = min(1.0, 170 / (right - left), 215 / (bottom - top))
    letters = scale * min(shape.size for shape in drawing.shapes if isinstance(shape, Label))
    assert letters > 1.5  # mm, 4.3 pt


def test_signs_tell_the_kinds_of_joints():
    _, drawing = drawn("tree4")
    fills = [shape.fill for shape in drawing.shapes if isinstance(shape, Disc | Polygon)]
    # Three revolute joints and a prismatic one, and one more of each in the legend.
    assert (fills.count("revolute"), fills.count("prismatic")) == (4, 2)
    rests = [shape.rest for shape in drawing.shapes if isinstance(shape, Label)]
    assert " about (0, 0.6, 0.8)" in rests
    assert " along x" in rests


def test_stick_figure_has_an_arrow_for_each_axis_and_gravity_downwards():
    _, drawing = drawn("tree4", stick_figure)
    arrows = [shape for shape in drawing.shapes if isinstance(shape, Line) and shape.arrow]
    assert sorted(arrow.colour for arrow in arrows) == sorted(
        ["revolute"] * 3 + ["prismatic"] + ["axis_x", "axis_y", "axis_z"]
    )
    up = next(arrow for arrow in arrows if arrow.colour == "axis_y")
    (x0, y0), (x1, y1) = up.points
    assert abs(x1 - x0) < 1e-9
    assert y1 < y0
