# SPDX-License-Identifier: Apache-2.0
"""Ground and bodies of a scene on the page."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.description import Shape
from humanoid_model.shape_triangles import Triangles, bounds
from humanoid_ros.viewer.drawing.shapes import add_shape, wxyz

MOVED = 1e-5
LEVEL = 2e-3
"""Ground counts as at height 0 up to this [m]."""
PLATE = 0.05
"""Ground thinner than this is a plate [m]."""
ENDLESS = 10.0
"""Ground at least as long and wide as this stands for endless ground [m]."""
GROUND_SIDE = 1.0
"""What is at least as long and wide as this is ground, not a stepping stone [m]."""


@dataclass(frozen=True)
class SceneItem:
    """One shape of the ground or of a body.

    Attributes:
        frame: Frame that the shape is fixed to; it moves with it.
        placement: Placement of the shape in that frame.
        shape: The shape, sizes in metres.
        colour: (4,) red, green, blue, opacity, each in [0, 1].
    """

    frame: str
    placement: pin.SE3
    shape: Shape | Triangles
    colour: np.ndarray


class SceneDrawing:
    """Shapes fixed to frames, drawn where the frames are.

    Args:
        scene: Scene of the page.
        path: Of the node above them.
    """

    def __init__(self, scene: viser.SceneApi, path: str = "/scene") -> None:
        self._scene, self._path = scene, path
        self._root = scene.add_frame(path, show_axes=False)
        self._items: dict[Hashable, _Drawn] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._items)

    def set(self, key: Hashable, item: SceneItem) -> None:
        """Draw an item, in place of the one of the same key if there is one.

        Raises:
            InputError: Its shape can't be drawn, e.g. a mesh file is missing.
        """
        old = self._items.get(key)
        same_look = old is not None and (old.item.shape == item.shape and np.array_equal(old.item.colour, item.colour))
        if old is not None and same_look:
            old.item = item  # it only moved
            return
        self.remove(key)
        self._count += 1
        path = f"{self._path}/{self._count}"
        frame = self._scene.add_frame(path, show_axes=False, visible=False)
        try:
            # A plate of ground throws no shadow on anything, but would speckle itself with one.
            spans = np.ptp(bounds(item.shape), axis=0)
            plate = bool(spans[:2].min() > GROUND_SIDE and spans[2] < PLATE)
            add_shape(
                self._scene,
                f"{path}/shape",
                item.shape,
                pin.SE3.Identity(),
                item.colour,
                cast_shadow=not plate,
            )
        except Exception:
            frame.remove()
            raise
        self._items[key] = _Drawn(item, frame)

    def remove(self, key: Hashable) -> None:
        """Take an item off the page; an unknown key is no error."""
        drawn = self._items.pop(key, None)
        if drawn is not None:
            drawn.node.remove()

    @property
    def keys(self) -> list[Hashable]:
        """Keys of the items that are drawn."""
        return list(self._items)

    def has_level_ground(self, frame: str) -> bool:
        """Return whether a shape fixed to a frame has its top at height 0 and is large enough to stand on.

        Args:
            frame: Frame of the ground, e.g. "world".
        """
        for drawn in self._items.values():
            item = drawn.item
            if item.frame != frame:
                continue
            low, high = bounds(item.shape)
            corners = [item.placement.act(np.array(c)) for c in itertools.product(*zip(low, high, strict=True))]
            spans = np.ptp(corners, axis=0)
            if abs(np.max(corners, axis=0)[2]) < LEVEL and spans[:2].min() > GROUND_SIDE:
                return True
        return False

    def extent(self, placement_world_frame: Callable[[str], pin.SE3 | None]) -> np.ndarray | None:
        """Box around all items but endless ground, those of unknown frames left out.

        Returns:
            (2, 3) lowest and highest corner in the world [m]; None if there is nothing.
        """
        points = []
        for drawn in self._items.values():
            placement = placement_world_frame(drawn.item.frame)
            low, high = bounds(drawn.item.shape)
            if placement is None or (high - low)[:2].min() > ENDLESS:
                continue
            at = placement * drawn.item.placement
            points += [at.act(np.array(c)) for c in itertools.product(*zip(low, high, strict=True))]
        return np.array([np.min(points, axis=0), np.max(points, axis=0)]) if points else None

    def frames(self) -> list[str]:
        """Return frames that items are fixed to, in the order in which they came."""
        return list(dict.fromkeys(drawn.item.frame for drawn in self._items.values()))

    def update(self, placement_world_frame: Callable[[str], pin.SE3 | None]) -> None:
        """Move the items to where their frames are; those of unknown frames are hidden."""
        for drawn in self._items.values():
            placement = placement_world_frame(drawn.item.frame)
            if placement is None:
                drawn.node.visible = False
                continue
            placement = placement * drawn.item.placement
            pose = pin.SE3ToXYZQUAT(placement)
            if drawn.sent is None or np.abs(pose - drawn.sent).max() > MOVED:
                drawn.sent = pose
                drawn.node.position = placement.translation
                drawn.node.wxyz = wxyz(placement)
            drawn.node.visible = True


@dataclass
class _Drawn:
    item: SceneItem
    node: viser.FrameHandle
    sent: np.ndarray | None = None
