# SPDX-License-Identifier: Apache-2.0
"""Translucent ellipsoids in the scene that a measured value makes large or small (specification 002 §6.8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import trimesh
import viser

from humanoid_ros.viewer.drawing.shapes import wxyz

SMALLEST = 1e-6
"""Half axis that is drawn of one that is zero [m]."""


@dataclass(frozen=True, eq=False)
class Mark:
    """An ellipsoid.

    Attributes:
        placement: of its middle and its axes in the world.
        half_axes: (3,) [m].
        colour: (3,) red, green, blue in [0, 1].
        opacity: 0 is invisible.
    """

    placement: pin.SE3
    half_axes: np.ndarray
    colour: np.ndarray
    opacity: float = 0.4


class MarkDrawing:
    """All marks in one node of the page: one message for all that changes.

    Args:
        scene: scene of the page.
        path: of the node.
    """

    def __init__(self, scene: viser.SceneApi, path: str) -> None:
        self._scene, self._path = scene, path
        self._node: viser.BatchedMeshHandle | None = None
        self._sent: tuple[np.ndarray, ...] = ()

    def update(self, marks: Sequence[Mark]) -> None:
        """Draw these marks in place of the last ones."""
        if not marks:
            self.remove()
            return
        positions = np.array([mark.placement.translation for mark in marks], np.float32)
        turns = np.array([wxyz(mark.placement) for mark in marks], np.float32)
        scales = np.maximum(np.array([mark.half_axes for mark in marks], np.float32), SMALLEST)
        colours = np.round(255.0 * np.array([mark.colour for mark in marks])).astype(np.uint8)
        opacities = np.array([mark.opacity for mark in marks], np.float32)
        new = positions, turns, scales, colours, opacities
        if self._node is None or len(self._sent[0]) != len(marks):
            self.remove()
            ball = trimesh.creation.icosphere(subdivisions=2)
            self._node = self._scene.add_batched_meshes_simple(
                self._path,
                np.asarray(ball.vertices),
                np.asarray(ball.faces),
                turns,
                positions,
                batched_scales=scales,
                batched_colors=colours,
                batched_opacities=opacities,
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
        else:
            for name, value, old in zip(
                ("positions", "wxyzs", "scales", "colors", "opacities"), new, self._sent, strict=True
            ):
                if not np.array_equal(value, old):
                    setattr(self._node, f"batched_{name}", value)
        self._sent = new

    def remove(self) -> None:
        """Take all marks off the page."""
        if self._node is not None:
            self._node.remove()
            self._node = None
