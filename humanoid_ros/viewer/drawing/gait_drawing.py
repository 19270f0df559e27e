# SPDX-License-Identifier: Apache-2.0
"""A gait on the page: stick figures along its way, one that walks, arrows under the feet, footprints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import viser

LEFT_COLOUR, RIGHT_COLOUR, BODY_COLOUR = (31, 95, 168), (209, 96, 28), (60, 60, 60)
FORCE_COLOUR, PRINT_COLOUR = (26, 138, 60), (90, 90, 90)
THICK, THIN = 5.0, 2.0
"""Widths of the figure that walks and of those along the way [pixels]."""
LIFT = 4e-3
"""Height of footprints above the ground [m]."""
MIN_FORCE = 1.0
"""Feet that bear less have no arrow [N]."""
HEAD = 0.18, 0.06
"""Length of an arrow's head, and half its width, as parts of the arrow."""
PERIOD = 0.08
"""Of a gait's time, between two drawings of what walks [s]: browsers take longer over lines than over links."""
PALE = 0.7
"""How much of their colour the figures along the way keep."""


@dataclass(frozen=True)
class GaitView:
    """What is drawn of a gait; x forward, y to the left, z up.

    Attributes:
        times: (k,) increasing or equal [s].
        points: (k, p, 3) places of the robot's points [m].
        lines: (l, 2) pairs of points that a line joins.
        colours: (l, 3) of the lines.
        force_points: (k, f, 3) centres of pressure of the feet [m].
        forces: (k, f, 3) on the feet [N].
        footprints: outlines (4, 3) of every place that a foot stands on [m].
    """

    times: np.ndarray
    points: np.ndarray
    lines: np.ndarray
    colours: np.ndarray
    force_points: np.ndarray
    forces: np.ndarray
    footprints: Sequence[np.ndarray]

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1])

    def sample(self, time: float) -> int:
        """Return the index of the last sample at or before a time [s]."""
        return max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)


class GaitDrawing:
    """Draws one gait at a time.

    Args:
        scene: Scene of the page.
        path: Path of the node above it, which is moved aside by its y.
        arrow_scale: Length of an arrow per force [m/N].
        figures: Figures along the way.

    Attributes:
        walks: Whether what walks is shown.
        sticks: Whether that is a stick figure, and not somebody else's robot above its forces.
        strip: Whether the figures along the way are shown.
        forces: Whether both have arrows under their feet.
    """

    def __init__(self, scene: viser.SceneApi, path: str, arrow_scale: float, figures: int = 14) -> None:
        self._scene, self._path = scene, path
        self._arrow_scale, self._figures = arrow_scale, figures
        self._nodes: dict[str, viser.LineSegmentsHandle] = {}
        self._view: GaitView | None = None
        self._drawn = -np.inf
        self.walks, self.sticks, self.strip, self.forces = True, True, True, True

    def set(self, view: GaitView) -> None:
        """Draw this gait in place of the last one."""
        self._view = view
        chosen = [view.sample(time) for time in np.linspace(view.times[0], view.times[-1], self._figures)]
        segments = np.concatenate([self._figure(sample) for sample in chosen])
        pale = 255.0 - PALE * (255.0 - np.asarray(view.colours, dtype=float))
        self._draw("strip", segments, np.tile(pale, (len(chosen), 1)), THIN)
        arrows = np.concatenate([self._arrows(sample) for sample in chosen])
        self._draw("strip_forces", arrows, np.tile(FORCE_COLOUR, (len(arrows), 1)), THIN)
        prints = np.concatenate([_outline(corners) for corners in view.footprints] or [np.zeros((0, 2, 3))])
        self._draw("footprints", prints, np.tile(PRINT_COLOUR, (len(prints), 1)), THIN)
        self._drawn = -np.inf
        self.update(0.0)

    def update(self, time: float) -> None:
        """Show the walking figure at a time of the gait [s], and what is to be shown."""
        if self._view is None:
            return
        if not 0.0 <= time - self._drawn < PERIOD:
            sample = self._view.sample(time)
            self._draw("figure", self._figure(sample), np.asarray(self._view.colours), THICK)
            arrows = self._arrows(sample)
            self._draw("figure_forces", arrows, np.tile(FORCE_COLOUR, (len(arrows), 1)), THICK)
            self._drawn = time
        shown = {
            "figure": self.walks and self.sticks,
            "figure_forces": self.walks and self.forces,
            "strip": self.strip,
            "strip_forces": self.strip and self.forces,
            "footprints": self.walks or self.strip,
        }
        for name, node in self._nodes.items():
            if node.visible != shown[name]:
                node.visible = shown[name]

    def extent(self) -> np.ndarray | None:
        """(2, 3) lowest and highest corner of the gait in its own frame [m]; None without one."""
        if self._view is None:
            return None
        return np.array([self._view.points.min(axis=(0, 1)), self._view.points.max(axis=(0, 1))])

    def remove(self) -> None:
        """Take it off the page."""
        for node in self._nodes.values():
            node.remove()
        self._nodes, self._view = {}, None

    def _figure(self, sample: int) -> np.ndarray:
        """(l, 2, 3) lines of the figure at a sample."""
        assert self._view is not None
        return self._view.points[sample][self._view.lines]

    def _arrows(self, sample: int) -> np.ndarray:
        """(3 f, 2, 3) lines of the arrows under the feet: shaft and head of each, of no length where none presses."""
        assert self._view is not None
        lines = [np.zeros((0, 2, 3))]
        for at, force in zip(self._view.force_points[sample], self._view.forces[sample], strict=True):
            arrow = self._arrow_scale * force if np.linalg.norm(force) > MIN_FORCE else np.zeros(3)
            tip, across = at + arrow, np.array([-arrow[2], 0.0, arrow[0]])
            back = tip - HEAD[0] * arrow
            ends = [(at, tip), (tip, back + HEAD[1] * across), (tip, back - HEAD[1] * across)]
            lines.append(np.array(ends))
        return np.concatenate(lines)

    def _draw(self, name: str, segments: np.ndarray, colours: np.ndarray, width: float) -> None:
        node = self._nodes.get(name)
        if node is not None and len(node.points) == len(segments):
            node.points = segments.astype(np.float32)
            return
        if node is not None:
            node.remove()
            del self._nodes[name]
        if len(segments):
            paired = np.repeat(np.asarray(colours)[:, None, :], 2, axis=1).astype(np.uint8)
            self._nodes[name] = self._scene.add_line_segments(
                f"{self._path}/{name}",
                points=segments.astype(np.float32),
                colors=paired,
                thickness=width,
                thickness_units="screen",
            )


def _outline(corners: np.ndarray) -> np.ndarray:
    """(4, 2, 3) lines around a footprint."""
    raised = corners + np.array([0.0, 0.0, LIFT])
    return np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
