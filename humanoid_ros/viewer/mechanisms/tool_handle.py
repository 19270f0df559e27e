# SPDX-License-Identifier: Apache-2.0
"""A handle with arrows, and rings where its attitude counts, that says where a tool is to be."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import viser

from humanoid_ros.viewer.drawing.shapes import wxyz


class ToolHandle:
    """Stays where a person or a step has put it.

    Args:
        scene: scene of the page.
        path: of its node.
        size: length of its arrows [m].
        turns: whether with rings.
        placement: of the tool in the world.

    Attributes:
        placement: where the tool is to be, in the world.
        moves: how often a person has moved it; only grows.
    """

    def __init__(self, scene: viser.SceneApi, path: str, size: float, turns: bool, placement: pin.SE3) -> None:
        self.placement = placement
        self.moves = 0
        self._handle = scene.add_transform_controls(
            path,
            scale=size,
            disable_rotations=not turns,
            depth_test=False,
            position=placement.translation,
            wxyz=wxyz(placement),
        )
        self._handle.on_update(self._on_update)

    async def _on_update(self, event: viser.TransformControlsEvent) -> None:
        # Asynchronous, because viser keeps the order of moves only for such callbacks.
        w, x, y, z = (float(value) for value in event.target.wxyz)
        turn = pin.Quaternion(np.array([x, y, z, w])).normalized()
        self.placement = pin.SE3(turn.matrix(), np.array(event.target.position, dtype=float))
        self.moves += 1

    def put(self, placement: pin.SE3) -> None:
        """Put it somewhere else."""
        self.placement = placement
        self._handle.position, self._handle.wxyz = placement.translation, wxyz(placement)

    def remove(self) -> None:
        """Take it off the page."""
        self._handle.remove()
