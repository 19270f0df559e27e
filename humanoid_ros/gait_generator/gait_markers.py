# SPDX-License-Identifier: Apache-2.0
"""A gait as stick figures, in messages and as markers: figures over time, forces, footprints, the way of the hip."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from builtin_interfaces.msg import Time
from humanoid_stack.msg import GaitFigure
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.arrays import Reals
from humanoid_ros.messages.conversions import point
from humanoid_ros.messages.markers import write_force

if TYPE_CHECKING:  # the page draws figures, and needs no solvers in memory for that
    from humanoid_planner.gait.trajectory.moving_figure import MovingFigure


def figure_message(figure: MovingFigure) -> GaitFigure:
    """Return the message of stick figures."""
    index = {name: i for i, name in enumerate(figure.point_names)}
    return GaitFigure(
        times=figure.times.tolist(),
        point_names=list(figure.point_names),
        points=figure.points.ravel().tolist(),
        lines=[index[name] for pair in figure.lines for name in pair],
        foot_names=list(figure.foot_names),
        foot_widths=list(figure.foot_widths),
        force_points=figure.force_points.ravel().tolist(),
        forces=figure.forces.ravel().tolist(),
    )


def figure_points(figure: GaitFigure) -> Reals:
    """(K, P, 3) places of a figure's points [m]."""
    return np.array(figure.points, dtype=float).reshape(len(figure.times), -1, 3)


def figure_forces(figure: GaitFigure) -> tuple[Reals, Reals]:
    """(K, F, 3) centres of pressure [m] and (K, F, 3) forces [N] of a figure's feet."""
    shape = (len(figure.times), len(figure.foot_names), 3)
    at, forces = (np.array(values, dtype=float).reshape(shape) for values in (figure.force_points, figure.forces))
    return at, forces


LEFT = ColorRGBA(r=0.12, g=0.37, b=0.66, a=1.0)
RIGHT = ColorRGBA(r=0.82, g=0.38, b=0.11, a=1.0)
BODY = ColorRGBA(r=0.2, g=0.2, b=0.2, a=1.0)
FORCE = ColorRGBA(r=0.1, g=0.54, b=0.24, a=1.0)
PRINT = ColorRGBA(r=0.1, g=0.1, b=0.1, a=1.0)
LINE = 0.008
"""Width of a figure's lines [m]."""
LIFT = 0.002
"""Height of footprints above the ground [m]."""
HALF_FOOT = 0.04
"""Half the width of a footprint, which a planar model doesn't tell [m]."""
MIN_FORCE = 1.0
"""Feet that bear less have no arrow [N]."""
SAME_PLACE = 0.02
"""Footholds nearer to each other are one [m]."""


def strip_markers(figure: GaitFigure, world: str, time: Time, figures: int, arrow_scale: float) -> MarkerArray:
    """Return markers of a whole gait; the first one deletes what was drawn before.

    Args:
        figure: of the gait.
        world: name of the world frame.
        time: of the answer.
        figures: stick figures at equal times from beginning to end, two or more.
        arrow_scale: length of an arrow per force [m/N].
    """
    times = np.array(figure.times)
    chosen = np.unique(np.searchsorted(times, np.linspace(times[0], times[-1], figures)).clip(max=len(times) - 1))
    markers = [Marker(action=Marker.DELETEALL)]
    for number, sample in enumerate(chosen):
        fade = 0.35 + 0.65 * number / max(len(chosen) - 1, 1)
        markers += _figure(figure, int(sample), number, fade)
        markers += _forces(figure, int(sample), len(figure.foot_names) * number, arrow_scale)
    markers += _footprints(figure)
    points = figure_points(figure)
    if "hip" in figure.point_names:
        hip = _marker("hip", 0, Marker.LINE_STRIP)
        hip.points = [point(place) for place in points[:, list(figure.point_names).index("hip")]]
        hip.scale.x, hip.color = 0.5 * LINE, BODY
        markers.append(hip)
    return _stamped(markers, world, time)


def moment_markers(figure: GaitFigure, sample: int, world: str, time: Time, arrow_scale: float) -> MarkerArray:
    """Return markers of a gait at one of its samples, in place of those of another one.

    Args:
        figure: of the gait.
        sample: which one.
        world: name of the world frame.
        time: of the message.
        arrow_scale: length of an arrow per force [m/N].
    """
    markers = [Marker(action=Marker.DELETEALL), *_figure(figure, sample, 0, 1.0)]
    return _stamped([*markers, *_forces(figure, sample, 0, arrow_scale)], world, time)


def footprints(figure: GaitFigure) -> list[tuple[str, Reals]]:
    """Foot and outline (4, 3), from the heel around, of each place that a foot stands on [m].

    Where the figure has no widths feet are drawn :data:`HALF_FOOT` wide to either side, tips as squares of that size.
    """
    names, points = list(figure.point_names), figure_points(figure)
    _, forces = figure_forces(figure)
    found: list[tuple[str, Reals, Reals]] = []
    for column, foot in enumerate(figure.foot_names):
        ends = [names.index(name) for name in (f"{foot}_heel", f"{foot}_toe") if name in names]
        ends = ends or [names.index(f"{foot}_tip")] * 2
        heels, toes = points[:, ends[0]], points[:, ends[1]]
        flat = (forces[:, column, 2] > MIN_FORCE) & (np.abs(heels[:, 2] - toes[:, 2]) < 0.005)
        for heel, toe in zip(heels[flat], toes[flat], strict=True):
            same = any(name == foot and np.linalg.norm(heel - other) < SAME_PLACE for name, other, _ in found)
            if not same:
                found.append((foot, heel, toe))
    return [(foot, _outline(figure, foot, heel, toe)) for foot, heel, toe in found]


def _outline(figure: GaitFigure, foot: str, heel: Reals, toe: Reals) -> Reals:
    halves = [HALF_FOOT, HALF_FOOT]
    if figure.foot_widths:
        first = 2 * list(figure.foot_names).index(foot)
        halves = [0.5 * width for width in figure.foot_widths[first : first + 2]]
    way = (toe - heel) * np.array([1.0, 1.0, 0.0])
    length = float(np.linalg.norm(way))
    ahead = way / length if length > 1e-6 else np.array([1.0, 0.0, 0.0])
    tip = 0.0 if length > 1e-6 else 0.5 * HALF_FOOT
    left = np.array([-ahead[1], ahead[0], 0.0])
    back, front = heel - tip * ahead, toe + tip * ahead
    corners = ((back, -halves[0]), (front, -halves[1]), (front, halves[1]), (back, halves[0]))
    return np.array([place + half * left for place, half in corners])


def _figure(figure: GaitFigure, sample: int, number: int, opacity: float) -> list[Marker]:
    names, places = list(figure.point_names), figure_points(figure)[sample]
    lines: dict[str, list[Any]] = {"left": [], "right": [], "body": []}
    for start, end in np.array(figure.lines, dtype=int).reshape(-1, 2):
        side = next((s for s in ("left", "right") if names[end].startswith(f"{s}_")), "body")
        lines[side] += [point(places[start]), point(places[end])]
    markers = []
    for part, (side, colour) in enumerate((("left", LEFT), ("right", RIGHT), ("body", BODY))):
        if lines[side]:
            marker = _marker("stick_figures", 3 * number + part, Marker.LINE_LIST)
            marker.points = lines[side]
            marker.scale.x = LINE
            marker.color = ColorRGBA(r=colour.r, g=colour.g, b=colour.b, a=float(opacity))
            markers.append(marker)
    return markers


def _forces(figure: GaitFigure, sample: int, first: int, scale: float) -> list[Marker]:
    at, forces = figure_forces(figure)
    markers = []
    for foot in range(len(figure.foot_names)):
        if np.linalg.norm(forces[sample, foot]) > MIN_FORCE:
            marker = _marker("foot_forces", first + foot, Marker.ARROW)
            start = at[sample, foot]
            write_force(marker, start, start + scale * forces[sample, foot], FORCE)
            markers.append(marker)
    return markers


def _footprints(figure: GaitFigure) -> list[Marker]:
    markers = []
    for number, (_, corners) in enumerate(footprints(figure)):
        marker = _marker("footprints", number, Marker.LINE_STRIP)
        marker.points = [point((x, y, z + LIFT)) for x, y, z in (*corners, corners[0])]
        marker.scale.x, marker.color = 0.5 * LINE, PRINT
        markers.append(marker)
    return markers


def _stamped(markers: list[Marker], world: str, time: Time) -> MarkerArray:
    for marker in markers:
        marker.header.frame_id, marker.header.stamp = world, time
    return MarkerArray(markers=markers)


def _marker(namespace: str, number: int, kind: int) -> Marker:
    marker = Marker(ns=namespace, id=number, type=kind, action=Marker.ADD)
    marker.pose.orientation.w = 1.0
    return marker
