# SPDX-License-Identifier: Apache-2.0
"""Ways of traced points as lines on the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import viser
from numpy.typing import NDArray

THICKNESS = 2.5
"""Of the lines [pixels]."""


@dataclass(frozen=True)
class TraceLine:
    """The way of one point.

    Attributes:
        positions: in the world [m], shape (n, 3), n > 1.
        colour: red, green and blue in [0, 1].
    """

    positions: NDArray[np.float64]
    colour: tuple[float, float, float]


class TraceDrawing:
    """Lines by name; one that has grown or changed is sent again.

    Args:
        scene: Scene of the page.
        path: Of the node above them.
    """

    def __init__(self, scene: viser.SceneApi, path: str = "/traces") -> None:
        self._scene, self._path = scene, path
        self._root = scene.add_frame(path, show_axes=False)
        self._nodes: dict[str, viser.LineSegmentsHandle] = {}
        self._lines: dict[str, TraceLine] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._nodes)

    def set(self, lines: Mapping[str, TraceLine]) -> None:
        """Draw these lines in place of all others."""
        for name in [name for name in self._nodes if name not in lines]:
            self._nodes.pop(name).remove()
            del self._lines[name]
        for name, line in lines.items():
            old = self._lines.get(name)
            if old is not None and np.array_equal(old.positions, line.positions):
                continue
            self._lines[name] = line
            segments = np.stack([line.positions[:-1], line.positions[1:]], axis=1).astype(np.float32)
            colour = np.rint(255.0 * np.clip(line.colour, 0.0, 1.0)).astype(np.uint8)
            colours = np.broadcast_to(colour, segments.shape).copy()
            if name in self._nodes:
                self._nodes[name].points, self._nodes[name].colors = segments, colours
                continue
            self._count += 1
            self._nodes[name] = self._scene.add_line_segments(
                f"{self._path}/{self._count}", segments, colours, thickness=THICKNESS, thickness_units="screen"
            )

    def remove(self) -> None:
        """Take all lines off the page."""
        self._root.remove()
        self._nodes.clear()
        self._lines.clear()

    @property
    def visible(self) -> bool:
        """Whether the lines are shown."""
        return self._root.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible
