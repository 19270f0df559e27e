# SPDX-License-Identifier: Apache-2.0
"""A contact plan on the page: its goal, numbered contacts, the way of the centre of mass, the tree of the search."""

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


CONTACT_COLOUR, WAY_COLOUR = (20, 20, 20), (30, 90, 230)
NEAR_COLOUR, FAR_COLOUR = np.array([20.0, 150.0, 60.0]), np.array([205.0, 205.0, 210.0])
"""Of the tree's nodes of lowest and highest potential."""
LIFT = 4e-3
"""Height of contacts above their surfaces [m]."""
LABEL_HEIGHT = 0.06
"""Of a contact's number above the contact [m]."""


class PlanDrawing:
    """Draws one plan and one tree at a time.

    Args:
        scene: Scene of the page.
        path: Path of the node above it; its visibility is the caller's.
    """

    def __init__(self, scene: viser.SceneApi, path: str) -> None:
        self._scene, self._path = scene, path
        self._plan: list[viser.SceneNodeHandle] = []
        self._tree_nodes: list[viser.SceneNodeHandle] = []
        self._tree_visible = True

    def set_plan(self, contacts: Sequence[np.ndarray], way: np.ndarray) -> None:
        """Draw a plan in place of the last one.

        Args:
            contacts: (k, 3) vertices of each contact's patch in the world [m], in their order.
            way: (n, 3) places of the centre of mass [m].
        """
        for node in self._plan:
            node.remove()
        self._plan = []
        lines = [np.stack([patch, np.roll(patch, -1, axis=0)], axis=1) for patch in contacts]
        if lines:
            segments = np.concatenate(lines) + np.array([0.0, 0.0, LIFT])
            self._plan.append(self._segments("patches", segments, np.array(CONTACT_COLOUR), 3.0))
        if len(way) > 1:
            segments = np.stack([way[:-1], way[1:]], axis=1)
            self._plan.append(self._segments("way", segments, np.array(WAY_COLOUR), 3.0))
        for number, patch in enumerate(contacts, start=1):
            place = patch.mean(axis=0) + np.array([0.0, 0.0, LABEL_HEIGHT])
            self._plan.append(self._scene.add_label(f"{self._path}/number_{number}", str(number), position=place))

    def set_tree(self, places: np.ndarray, parents: np.ndarray, potentials: np.ndarray) -> None:
        """Draw a tree in place of the last one.

        Args:
            places: (n, 3) of its nodes [m].
            parents: (n,) indices; the root is its own.
            potentials: (n,) by which nodes are coloured.
        """
        for node in self._tree_nodes:
            node.remove()
        self._tree_nodes = []
        if not len(places):
            return
        low, high = potentials.min(), potentials.max()
        share = (potentials - low) / max(high - low, 1e-9)
        colours = (NEAR_COLOUR + share[:, None] * (FAR_COLOUR - NEAR_COLOUR)).astype(np.uint8)
        self._tree_nodes.append(
            self._scene.add_point_cloud(
                f"{self._path}/tree_nodes",
                points=places.astype(np.float32),
                colors=colours,
                point_size=0.012,
                point_shape="circle",
                visible=self._tree_visible,
            )
        )
        children = np.flatnonzero(parents != np.arange(len(parents)))
        if len(children):
            segments = np.stack([places[parents[children]], places[children]], axis=1)
            self._tree_nodes.append(self._segments("tree", segments, colours[children], 1.5))
            self._tree_nodes[-1].visible = self._tree_visible

    @property
    def tree_visible(self) -> bool:
        """Whether the tree is shown."""
        return self._tree_visible

    @tree_visible.setter
    def tree_visible(self, visible: bool) -> None:
        self._tree_visible = visible
        for node in self._tree_nodes:
            node.visible = visible

    def _segments(self, name: str, segments: np.ndarray, colours: np.ndarray, width: float) -> viser.LineSegmentsHandle:
        each = np.broadcast_to(colours, (len(segments), 3))
        return self._scene.add_line_segments(
            f"{self._path}/{name}",
            points=segments.astype(np.float32),
            colors=np.repeat(each[:, None, :], 2, axis=1).astype(np.uint8),
            thickness=width,
            thickness_units="screen",
        )
