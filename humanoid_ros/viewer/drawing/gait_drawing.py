# SPDX-License-Identifier: Apache-2.0
"""A gait on the page beside the robot that walks it: the way of its base, arrows under the soles, footprints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import viser

FORCE_COLOUR, PRINT_COLOUR, WAY_COLOUR = (26, 138, 60), (90, 90, 90), (31, 95, 168)
THICK, THIN = 5.0, 2.0
"""Widths of arrows and of other lines [pixels]."""
LIFT = 4e-3
"""Height of footprints above the ground [m]."""
MIN_FORCE = 1.0
"""Soles that bear less have no arrow [N]."""
HEAD = 0.18, 0.06
"""Length of an arrow's head, and half its width, as parts of the arrow."""
PERIOD = 0.08
"""Of a gait's time, between two drawings of arrows [s]: browsers take longer over lines than over links."""


@dataclass(frozen=True)
class GaitView:
    """What is drawn of a gait, in the world.

    Attributes:
        times: (k,) increasing [s].
        way: (k, 3) of the base [m].
        force_points: (k, f, 3) centres of pressure of the soles [m].
        forces: (k, f, 3) on the soles [N].
        footprints: (c, 3) outlines of every place that a sole stands on [m].
    """

    times: np.ndarray
    way: np.ndarray
    force_points: np.ndarray
    forces: np.ndarray
    footprints: Sequence[np.ndarray]

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1])

    @property
    def extent(self) -> np.ndarray:
        """(2, 3) lowest and highest corner of what is drawn [m]."""
        points = np.concatenate([self.way, *self.footprints])
        return np.array([points.min(axis=0), points.max(axis=0)])

    def sample(self, time: float) -> int:
        """Return the index of the last sample at or before a time [s]."""
        return max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)


class GaitDrawing:
    """Draws one gait at a time.

    Args:
        scene: Scene of the page.
        path: Path of the node above it, which is moved aside by its y.
        arrow_scale: Length of an arrow per force [m/N].

    Attributes:
        visible: Whether anything is shown.
        forces: Whether the soles have arrows.
    """

    def __init__(self, scene: viser.SceneApi, path: str, arrow_scale: float) -> None:
        self._scene, self._path, self._arrow_scale = scene, path, arrow_scale
        self._nodes: dict[str, viser.LineSegmentsHandle] = {}
        self._view: GaitView | None = None
        self._drawn = -np.inf
        self.visible, self.forces = True, True

    def set(self, view: GaitView) -> None:
        """Draw this gait in place of the last one."""
        self._view = view
        self._draw("way", np.stack([view.way[:-1], view.way[1:]], axis=1), WAY_COLOUR, THIN)
        prints = np.concatenate([_outline(corners) for corners in view.footprints] or [np.zeros((0, 2, 3))])
        self._draw("footprints", prints, PRINT_COLOUR, THIN)
        self._drawn = -np.inf
        self.update(0.0)

    def update(self, time: float) -> None:
        """Show the forces at a time of the gait [s], and what is to be shown."""
        if self._view is None:
            return
        if not 0.0 <= time - self._drawn < PERIOD:
            self._draw("forces", self._arrows(self._view.sample(time)), FORCE_COLOUR, THICK)
            self._drawn = time
        for name, node in self._nodes.items():
            shown = self.visible and (self.forces or name != "forces")
            if node.visible != shown:
                node.visible = shown

    def _arrows(self, sample: int) -> np.ndarray:
        """(3 f, 2, 3) lines of the arrows under the soles: shaft and head of each, of no length where none presses."""
        assert self._view is not None
        lines = [np.zeros((0, 2, 3))]
        for at, force in zip(self._view.force_points[sample], self._view.forces[sample], strict=True):
            arrow = self._arrow_scale * force if np.linalg.norm(force) > MIN_FORCE else np.zeros(3)
            tip, across = at + arrow, np.array([-arrow[2], 0.0, arrow[0]])
            back = tip - HEAD[0] * arrow
            ends = [(at, tip), (tip, back + HEAD[1] * across), (tip, back - HEAD[1] * across)]
            lines.append(np.array(ends))
        return np.concatenate(lines)

    def _draw(self, name: str, segments: np.ndarray, colour: tuple[int, int, int], width: float) -> None:
        node = self._nodes.get(name)
        if node is not None and len(node.points) == len(segments):
            node.points = segments.astype(np.float32)
            return
        if node is not None:
            node.remove()
            del self._nodes[name]
        if len(segments):
            self._nodes[name] = self._scene.add_line_segments(
                f"{self._path}/{name}",
                points=segments.astype(np.float32),
                colors=np.tile(np.array(colour, dtype=np.uint8), (len(segments), 2, 1)),
                thickness=width,
                thickness_units="screen",
            )


def _outline(corners: np.ndarray) -> np.ndarray:
    """(c, 2, 3) lines around a footprint."""
    raised = corners + np.array([0.0, 0.0, LIFT])
    return np.stack([raised, np.roll(raised, -1, axis=0)], axis=1)
