# SPDX-License-Identifier: Apache-2.0
"""Handles in the scene that say where places of a robot are wanted, each with the outline of its patch."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import viser

from humanoid_ros.viewer.drawing.shapes import wxyz

COLOUR = (20, 20, 20)


class PlaceHandles:
    """Handles that a person moves and turns; the z axis of each points out of the ground into the robot.

    Args:
        scene: Scene of the page.
        path: Path of the node above them.

    Attributes:
        moves: How often a person has moved a handle; only grows.
    """

    def __init__(self, scene: viser.SceneApi, path: str) -> None:
        self.moves = 0
        self._scene = scene
        self._path = path
        self._root = scene.add_frame(path, show_axes=False)
        self._handles: dict[str, viser.TransformControlsHandle] = {}

    @property
    def names(self) -> list[str]:
        """Names of the places that have a handle."""
        return list(self._handles)

    def add(self, name: str, placement: pin.SE3, patch: np.ndarray) -> None:
        """Add the handle of a place, or move the one that is there.

        Args:
            name: Name of the place.
            placement: Of the patch frame in the world.
            patch: (k, 2) vertices in the patch frame [m].
        """
        if name in self._handles:
            self._handles[name].position = placement.translation
            self._handles[name].wxyz = wxyz(placement)
            return
        path = f"{self._path}/{name}"
        handle = self._scene.add_transform_controls(
            path,
            scale=0.16,
            depth_test=False,
            opacity=0.8,
            position=placement.translation,
            wxyz=wxyz(placement),
        )
        corners = np.column_stack([patch, np.zeros(len(patch))])
        segments = np.stack([corners, np.roll(corners, -1, axis=0)], axis=1).astype(np.float32)
        self._scene.add_line_segments(
            f"{path}/patch", points=segments, colors=COLOUR, thickness=3.0, thickness_units="screen"
        )
        self._handles[name] = handle
        handle.on_update(self._on_update)

    async def _on_update(self, event: viser.TransformControlsEvent) -> None:
        # Asynchronous, because viser keeps the order of moves only for such callbacks.
        self.moves += 1

    def remove(self, name: str) -> None:
        """Take a place's handle away; an unknown name is no error."""
        handle = self._handles.pop(name, None)
        if handle is not None:
            handle.remove()

    def clear(self) -> None:
        """Take all handles away."""
        for name in self.names:
            self.remove(name)

    def placement(self, name: str) -> pin.SE3:
        """Return where a place is wanted, in the world."""
        handle = self._handles[name]
        w, x, y, z = (float(value) for value in handle.wxyz)
        turn = pin.Quaternion(np.array([x, y, z, w])).normalized()
        return pin.SE3(turn.matrix(), np.array(handle.position, dtype=float))

    @property
    def visible(self) -> bool:
        """Whether the handles are shown."""
        return self._root.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible
