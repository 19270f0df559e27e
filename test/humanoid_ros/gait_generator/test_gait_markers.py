# SPDX-License-Identifier: Apache-2.0
"""Stick figures of gaits and what is drawn of them: places, legs that take turns, forces, footprints."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time
from fixtures.gait_models import CYCLIC
from humanoid_stack.msg import GaitFigure
from visualization_msgs.msg import Marker

from humanoid_planner.gait.models.bip import load_bip
from humanoid_planner.gait.solvers.synthesize import SynthesisOptions
from humanoid_planner.gait.solvers.synthesize_gait import GaitSettings, GaitSolution, synthesize_gait
from humanoid_planner.gait.specification.phase_spec import cyclic_walk
from humanoid_planner.gait.specification.walker import BipWalker
from humanoid_planner.gait.trajectory.moving_figure import chain_figure, walk_figure
from humanoid_ros.gait_generator.gait_markers import (
    figure_forces,
    figure_message,
    figure_points,
    footprints,
    moment_markers,
    strip_markers,
)


@pytest.fixture(scope="module")
def gait() -> GaitSolution:
    settings = GaitSettings(synthesis=SynthesisOptions("direct"))
    return synthesize_gait(BipWalker(load_bip()), cyclic_walk(CYCLIC), settings)


@pytest.fixture(scope="module")
def figure(gait: GaitSolution) -> GaitFigure:
    return figure_message(walk_figure(gait, 3))


def track(figure: GaitFigure, name: str) -> np.ndarray:
    return figure_points(figure)[:, list(figure.point_names).index(name)]


def test_points_are_those_of_the_phases(gait: GaitSolution, figure: GaitFigure) -> None:
    first = gait.phases[0]
    model, count = first.problem.model, len(first.t)
    for name, own in (("left_ankle", "rear_ankle"), ("right_toe", "front_toe"), ("hip", "hip")):
        np.testing.assert_allclose(track(figure, name)[:count, [0, 2]], model.points[own].position(first.q), atol=1e-12)
        np.testing.assert_array_equal(track(figure, name)[:, 1], 0.0)
    lengths = np.linalg.norm(track(figure, "right_knee") - track(figure, "right_ankle"), axis=1)
    np.testing.assert_allclose(lengths, 0.41, atol=1e-9)


def test_legs_take_turns_from_step_to_step(gait: GaitSolution, figure: GaitFigure) -> None:
    size = len(figure.times) // 3
    for name, other in (("left_knee", "right_knee"), ("right_heel", "left_heel"), ("hip", "hip")):
        first, second = track(figure, name)[:size], track(figure, other)[size : 2 * size]
        advance = np.array([CYCLIC.step.step_length, 0.0, 0.0])
        np.testing.assert_allclose(second, first + advance, atol=1e-12)
        np.testing.assert_allclose(
            np.array(figure.times[size : 2 * size]) - figure.times[0], np.array(figure.times[:size]) + gait.duration
        )
        # And nothing jumps in between, but for what the loop's penalty leaves open.
        np.testing.assert_allclose(track(figure, name)[size], track(figure, name)[size - 1], atol=2e-3)


def test_forces_are_where_the_feet_are_and_carry_the_robot(gait: GaitSolution, figure: GaitFigure) -> None:
    at, forces = figure_forces(figure)
    weight = gait.phases[0].problem.model.tree.mass * 9.81
    times = np.array(figure.times)
    mean = np.trapezoid(forces[:, :, 2].sum(axis=1), times) / (times[-1] - times[0])
    assert mean == pytest.approx(weight, rel=0.02)
    single = slice(len(gait.phases[0].t) + 1, len(gait.phases[0].t) + len(gait.phases[1].t) - 1)
    np.testing.assert_array_equal(forces[single, 0], 0.0)  # the left foot swings
    heel = track(figure, "right_heel")[single, 0]
    pressed = forces[single, 1, 2] > 0.0
    assert (at[single, 1, 0] > heel - 0.4)[pressed].all()


def test_footprints_are_a_step_apart(figure: GaitFigure) -> None:
    found = sorted(footprints(figure), key=lambda item: float(item[1][1, 0]))
    toes = np.array([corners[1] for _, corners in found])
    np.testing.assert_allclose(np.diff(toes[:, 0]), CYCLIC.step.step_length, atol=5e-3)
    assert [foot for foot, _ in found[:2]] in (["left", "right"], ["right", "left"])
    for _, corners in found:
        assert corners[1, 0] - corners[0, 0] == pytest.approx(0.29, abs=1e-4)
        np.testing.assert_allclose(corners[:, 1], [-0.04, -0.04, 0.04, 0.04])


def test_footprints_are_as_wide_as_the_feet(figure: GaitFigure) -> None:
    wide = GaitFigure()
    for name in figure.get_fields_and_field_types():
        setattr(wide, name, getattr(figure, name))
    wide.foot_widths = [0.12, 0.18, 0.1, 0.2]
    for foot, corners in footprints(wide):
        heel, toe = (0.06, 0.09) if foot == "left" else (0.05, 0.1)
        np.testing.assert_allclose(corners[:, 1], [-heel, -toe, toe, heel], atol=1e-12)


def test_markers_show_all_of_it(figure: GaitFigure) -> None:
    message = strip_markers(figure, "world", Time(sec=3), 7, 0.001)
    assert message.markers[0].action == Marker.DELETEALL
    by_kind: dict[str, list[Marker]] = {}
    for marker in message.markers[1:]:
        assert (marker.header.frame_id, marker.header.stamp.sec) == ("world", 3)
        by_kind.setdefault(marker.ns, []).append(marker)
    assert len({(marker.ns, marker.id) for marker in message.markers[1:]}) == len(message.markers) - 1
    assert len(by_kind["stick_figures"]) == 7 * 3  # left, right, trunk
    assert len(by_kind["footprints"]) == len(footprints(figure))
    assert len(by_kind["hip"]) == 1
    at, forces = figure_forces(figure)
    arrow = by_kind["foot_forces"][0]
    foot = int(np.argmax(forces[0, :, 2] > 1.0))
    assert arrow.points[0].x == pytest.approx(at[0, foot, 0])
    assert arrow.points[1].z - arrow.points[0].z == pytest.approx(0.001 * forces[0, foot, 2])
    moment = moment_markers(figure, 10, "world", Time(), 0.001)
    assert {marker.ns for marker in moment.markers[1:]} == {"stick_figures", "foot_forces"}
    assert len(moment.markers[1].points) == 2 * 5


def test_a_chain_is_drawn_link_by_link(gait: GaitSolution) -> None:
    phase = gait.phases[1]
    figure = figure_message(chain_figure([phase, phase], [1.0, 0.5]))
    points = figure_points(figure)
    np.testing.assert_allclose(points[:, 0], 0.0)
    np.testing.assert_allclose(np.linalg.norm(points[:, 2] - points[:, 1], axis=1), 0.5)
    angle = np.arctan2(points[:, 1, 2], points[:, 1, 0])
    np.testing.assert_allclose(np.cos(angle), np.cos(np.tile(phase.q[:, 0], 2)), atol=1e-12)
    assert figure.times[-1] == pytest.approx(2.0 * phase.duration)
    assert not figure.foot_names
    assert strip_markers(figure, "world", Time(), 4, 0.001).markers
