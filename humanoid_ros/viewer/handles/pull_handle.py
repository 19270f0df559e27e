# SPDX-License-Identifier: Apache-2.0
"""A handle in the scene that pulls a link with a damped spring while it is dragged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import viser

LINE_COLOUR = (230, 60, 160)


@dataclass(frozen=True)
class Spring:
    """Damped spring between handle and link (specification 000 §15.2, eq. 3.63 of the thesis).

    The damping rule k_v = sqrt(2 m k_p) gives the damping ratio 1/sqrt(2).

    Attributes:
        stiffness: k_p [N/m].
        mass: Mass m of the pulled link [kg].
        max_force: Largest force that the handle exerts [N].
    """

    stiffness: float
    mass: float
    max_force: float

    @property
    def damping(self) -> float:
        """k_v [N s/m]."""
        return float(np.sqrt(2.0 * self.mass * self.stiffness))

    def force(self, handle: np.ndarray, link: np.ndarray, velocity_link: np.ndarray) -> np.ndarray:
        """Force on the link [N].

        Args:
            handle: (3,) position of the handle, which counts as at rest [m].
            link: (3,) position of the pulled point [m].
            velocity_link: (3,) its velocity [m/s].

        Returns:
            (3,) force in the world frame, shortened to `max_force`.
        """
        force = self.stiffness * (handle - link) - self.damping * velocity_link
        norm = float(np.linalg.norm(force))
        return force * (self.max_force / norm) if norm > self.max_force else force


class PullHandle:
    """Handle that rides on a link, and pulls it once a person drags it away.

    Args:
        scene: Scene of the page.

    Attributes:
        dragging: Whether a person holds the handle.
    """

    def __init__(self, scene: viser.SceneApi) -> None:
        self.dragging = False
        self._client: int | None = None
        self._handle = scene.add_transform_controls(
            "/pull/handle",
            scale=0.22,
            disable_rotations=True,
            depth_test=False,
            visible=False,
        )
        self._line = scene.add_line_segments(
            "/pull/line",
            points=np.zeros((1, 2, 3), dtype=np.float32),
            colors=np.tile(np.array(LINE_COLOUR, dtype=np.uint8), (1, 2, 1)),
            thickness=4.0,
            thickness_units="screen",
            visible=False,
        )
        self._handle.on_update(self._on_update)

    async def _on_update(self, event: viser.TransformControlsEvent) -> None:
        # Asynchronous, because viser keeps the order of the phases only for such callbacks.
        if event.phase == "start":
            self._client = event.client_id
            self.dragging = True
        elif event.phase == "end":
            self.release()

    def client_left(self, client_id: int) -> None:
        """Release the handle if the browser that was dragging it is gone."""
        if self.dragging and client_id == self._client:
            self.release()

    def release(self) -> None:
        """Let go: the handle goes back onto its link at the next update."""
        self.dragging = False

    @property
    def position(self) -> np.ndarray:
        """(3,) position of the handle, world frame [m]."""
        return np.array(self._handle.position)

    def update(self, link: np.ndarray | None) -> None:
        """Let the handle ride on the link, or draw the spring while it is dragged.

        Args:
            link: (3,) pulled point, world frame [m]; None hides the handle.
        """
        self._handle.visible = link is not None
        self._line.visible = link is not None and self.dragging
        if link is None:
            return
        if self.dragging:
            points = np.array([[link, self.position]], dtype=np.float32)
            if np.abs(points - self._line.points).max() > 5e-4:
                self._line.points = points
        elif np.abs(self._handle.position - link).max() > 5e-4:
            self._handle.position = link
