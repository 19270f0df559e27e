# SPDX-License-Identifier: Apache-2.0
"""A handle in the scene that says where a contact plan is to lead; a click may put it somewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import viser

COLOUR = (225, 60, 50)
RADIUS = 0.03
"""Of the ball at the goal [m]."""


class GoalHandle:
    """A ball with arrows to move it.

    Args:
        scene: Scene of the page.
        place: Takes eye (x, y, z) [m] and direction of a click; called from viser's threads.
    """

    def __init__(self, scene: viser.SceneApi, place: Callable[[Sequence[float], Sequence[float]], None]) -> None:
        self._handle = scene.add_transform_controls(
            "/plan_goal", scale=0.25, disable_rotations=True, depth_test=False, visible=False
        )
        scene.add_icosphere("/plan_goal/ball", radius=RADIUS, color=COLOUR)
        self._scene = scene
        self._place = place
        self._waits = False

    @property
    def visible(self) -> bool:
        """Whether it is shown."""
        return self._handle.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._handle.visible = visible
        if visible != self._waits:
            self._waits = visible
            if visible:
                self._scene.on_click(modifier="shift")(self._on_click)
            else:
                self._scene.remove_click_callback(self._on_click)

    @property
    def position(self) -> np.ndarray:
        """(3,) place in the world [m]."""
        return np.array(self._handle.position)

    @position.setter
    def position(self, place: np.ndarray) -> None:
        self._handle.position = place

    def _on_click(self, event: viser.SceneClickEvent) -> None:
        self._place(event.ray_origin, event.ray_direction)
