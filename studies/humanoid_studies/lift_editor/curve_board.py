# SPDX-License-Identifier: Apache-2.0
"""A joint's spline on a board beside the robot: angle over time, with control points that a person drags."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import viser
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_ros.viewer.drawing.scene_drawing import TraceDrawing, TraceLine
from humanoid_studies.lifting.judgement import Judgement
from humanoid_studies.lifting.planar_lifter import JOINT_WORDS, PlanarLifter
from humanoid_studies.lifting.weight_lift import LiftMotion

PATH = "/board"
LEFT, RIGHT, BOTTOM, TOP = 0.75, 2.35, 0.35, 1.55
"""Edges of the board in the sagittal plane, y = 0, ahead of the robot [m]."""
MARGIN = 0.12
"""How far the board goes on beyond a joint's limits, as a share of their distance: edits may break them."""
RADIUS, SMALL = 0.028, 0.014
"""Of control points, and of those at the ends, which rest [m]."""
BLUE, RED, GREY, PALE, BLACK = (0.12, 0.37, 0.66), (0.84, 0.16, 0.16), (0.55,) * 3, (0.8,) * 3, (0.1,) * 3
GRAZING = 0.05
"""Cosine between a view and the board's normal below which a pointer has no place on the board."""


class CurveBoard:
    """Draws one joint at a time: its curve, blue, and red while the lift breaks any limit; polygon, limits, a cursor.

    Args:
        scene: Scene of the page.
        lifter: Says the joints' limits.
        moved: Takes a control point that is dragged: its index, its angle [rad] and whether the hand lets go; called
            from viser's event loop.
    """

    def __init__(self, scene: viser.SceneApi, lifter: PlanarLifter, moved: Callable[[int, float, bool], None]) -> None:
        self._scene, self._lifter, self._moved = scene, lifter, moved
        self._lines = TraceDrawing(scene, f"{PATH}/lines")
        self._cursor = TraceDrawing(scene, f"{PATH}/cursor")
        self._points: dict[int, viser.IcosphereHandle] = {}
        self._labels: dict[str, viser.LabelHandle] = {}
        self._joint, self._off = -1, 0.0
        self._angles: Array = np.zeros(0)

    def place(self, share: np.ndarray, angle: np.ndarray) -> np.ndarray:
        """(k, 3) places on the board for shares of the duration (k,) and angles (k,) [rad]."""
        low, high = self._span()
        x = LEFT + share * (RIGHT - LEFT)
        z = BOTTOM + (angle - low) / (high - low) * (TOP - BOTTOM)
        return np.column_stack(np.broadcast_arrays(x, 0.0, z))

    def angle(self, eye: np.ndarray, to: np.ndarray) -> float | None:
        """Angle where a ray meets the board, within its edges [rad].

        Args:
            eye: (3,) where it is seen from.
            to: (3,) another point of the ray.

        Returns:
            None for a ray along the board, or away from it.
        """
        way = to - eye
        if abs(way[1]) < GRAZING * np.linalg.norm(way) or -eye[1] / way[1] < 0.0:
            return None
        z = eye[2] - eye[1] / way[1] * way[2]
        low, high = self._span()
        return float(low + np.clip((z - BOTTOM) / (TOP - BOTTOM), 0.0, 1.0) * (high - low))

    def show(self, joint: int, motion: LiftMotion, first: LiftMotion, judgement: Judgement) -> None:
        """Draw a joint of a motion, and in grey what it was at first."""
        self._joint, self._angles = joint, motion.points[:, joint]
        low, high = self._lifter.lower[joint], self._lifter.upper[joint]
        share, q = judgement.series.time / motion.duration, judgement.series.q[:, joint]
        ends = np.array([0.0, 1.0])
        bottom, top = self._span()
        frame = self.place(np.array([0, 1, 1, 0, 0]), np.array([bottom, bottom, top, top, bottom]))
        places = self.place(motion.times / motion.duration, motion.points[:, joint])
        before = first.at(share * first.duration)[0][:, joint]
        lines = {
            "frame": TraceLine(frame, PALE),
            "lower limit": TraceLine(self.place(ends, np.array([low, low])), RED),
            "upper limit": TraceLine(self.place(ends, np.array([high, high])), RED),
            "first": TraceLine(self.place(share, before), PALE),
            "polygon": TraceLine(places, GREY),
        }
        lines |= broken_line(self.place(share, q), judgement.broken)
        self._lines.set(lines)
        self._draw_points(motion, joint, places)
        self._label("title", f"{JOINT_WORDS[joint]} [°] over time [s]: drag the points", (LEFT, 0.0, TOP + 0.1))
        for name, value in (("lower", low), ("upper", high)):
            self._label(name, f"{np.rad2deg(value):.0f}", self.place(ends[:1], np.array([value]))[0])
        self._label("end", f"{motion.duration:.2f}", (RIGHT, 0.0, BOTTOM))

    def point_at(self, share: float, time: float) -> None:
        """Draw the cursor at a share of the duration, and say the time [s]."""
        low, high = self._span()
        self._cursor.set({"now": TraceLine(self.place(np.array([share, share]), np.array([low, high])), BLACK)})
        self._label("now", f"{time:.2f}", (LEFT + share * (RIGHT - LEFT), 0.0, BOTTOM - 0.03))

    def _span(self) -> tuple[float, float]:
        """Angles at the bottom and the top of the board [rad]."""
        low, high = self._lifter.lower[self._joint], self._lifter.upper[self._joint]
        return low - MARGIN * (high - low), high + MARGIN * (high - low)

    def _draw_points(self, motion: LiftMotion, joint: int, places: np.ndarray) -> None:
        if self._points.keys() != set(range(len(places))):
            for point in self._points.values():
                point.remove()
            self._points = {i: self._add_point(i, i in motion.movable) for i in range(len(places))}
        low, high = self._lifter.lower[joint], self._lifter.upper[joint]
        for i, handle in self._points.items():
            if not np.allclose(handle.position, places[i], rtol=0.0, atol=1e-6):
                handle.position = places[i]
            beyond = not low <= motion.points[i, joint] <= high
            colour = _bytes(GREY if i not in motion.movable else RED if beyond else BLUE)
            if handle.color != colour:
                handle.color = colour

    def _add_point(self, index: int, movable: bool) -> viser.IcosphereHandle:
        handle = self._scene.add_icosphere(
            f"{PATH}/point_{index}", RADIUS if movable else SMALL, _bytes(BLUE if movable else GREY), cast_shadow=False
        )
        if movable:

            async def dragged(event: viser.SceneNodeDragEvent) -> None:
                # Asynchronous, because viser keeps the order of events only for such callbacks.
                eye = np.asarray(event.client.camera.position)
                held, to = (
                    self.angle(eye, np.array(event.start_position)),
                    self.angle(eye, np.array(event.end_position)),
                )
                if event.phase == "start":
                    # A point that is held off its middle doesn't jump.
                    self._off = 0.0 if held is None else self._angles[index] - held
                if to is not None:
                    self._moved(index, to + self._off, event.phase == "end")

            handle.on_drag("left")(dragged)
        return handle

    def _label(self, name: str, text: str, at: ArrayLike) -> None:
        label, place = self._labels.get(name), np.asarray(at)
        if label is None:
            self._labels[name] = self._scene.add_label(f"{PATH}/{name}", text, position=place, anchor="bottom-left")
            return
        if label.text != text:
            label.text = text
        if not np.allclose(label.position, place, rtol=0.0, atol=1e-6):
            label.position = place


def broken_line(places: np.ndarray, broken: np.ndarray) -> dict[str, TraceLine]:
    """Return a line through places (k, 3), blue, and red from one place to the next where either is broken (k,)."""
    red = broken[1:] | broken[:-1]
    edges = [0, *(np.flatnonzero(red[1:] != red[:-1]) + 1), len(red)]
    return {
        f"part {i}": TraceLine(places[start : end + 1], RED if red[start] else BLUE)
        for i, (start, end) in enumerate(itertools.pairwise(edges))
    }


def _bytes(colour: tuple[float, ...]) -> tuple[int, int, int]:
    r, g, b = (round(255.0 * part) for part in colour)
    return r, g, b
