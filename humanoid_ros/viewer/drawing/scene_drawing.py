# SPDX-License-Identifier: Apache-2.0
"""A scene on the page: its ground and bodies, deformed meshes (soles), and the ways of traced points."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import viser
from numpy.typing import NDArray

from humanoid_model.description import Shape
from humanoid_model.shape_triangles import Triangles, bounds
from humanoid_ros.viewer.drawing.shapes import Drawing, MovingNode, add_shape

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
        self._items[key] = _Drawn(item, MovingNode(frame))

    def remove(self, key: Hashable) -> None:
        """Take an item off the page; an unknown key is no error."""
        drawn = self._items.pop(key, None)
        if drawn is not None:
            drawn.moving.node.remove()

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
            drawn.moving.move(None if placement is None else placement * drawn.item.placement)


@dataclass
class _Drawn:
    item: SceneItem
    moving: MovingNode


LEVELS = 5
"""A triangle has the colour nearest to its own of so many steps per channel."""
DEFORMED = 2e-6
"""A mesh is sent again once one of its corners moved by this much in its frame [m], or has another colour."""


@dataclass(frozen=True)
class ColouredMesh:
    """Triangles with colours of their own.

    Attributes:
        frame: that they are fixed to.
        triangles: corners in that frame [m], counter-clockwise from outside, shape (t, 3, 3).
        colours: red, green and blue of each triangle in [0, 1], shape (t, 3).
    """

    frame: str
    triangles: NDArray[np.float64]
    colours: NDArray[np.float64]


@dataclass
class _DrawnMesh:
    moving: MovingNode
    parts: dict[tuple[int, ...], viser.MeshHandle] = field(default_factory=dict)
    mesh: ColouredMesh | None = None
    shades: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=int))


class ColouredMeshDrawing(Drawing):
    """Draws meshes by their keys; each is one node per colour, since a node of the page has one colour.

    Args:
        scene: Scene of the page.
        path: Path of the node above them.
    """

    def __init__(self, scene: viser.SceneApi, path: str = "/soles") -> None:
        super().__init__(scene, path)
        self._drawn: dict[str, _DrawnMesh] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._drawn)

    def set(self, meshes: Mapping[str, ColouredMesh]) -> None:
        """Draw these meshes in place of all others; what has not changed is not sent again."""
        for key in [key for key in self._drawn if key not in meshes]:
            self._drawn.pop(key).moving.node.remove()
        for key, mesh in meshes.items():
            if key not in self._drawn:
                self._count += 1
                node = self._scene.add_frame(f"{self._path}/{self._count}", show_axes=False, visible=False)
                self._drawn[key] = _DrawnMesh(MovingNode(node))
            self._paint(self._drawn[key], mesh)

    def _paint(self, drawn: _DrawnMesh, mesh: ColouredMesh) -> None:
        shades = np.rint(np.clip(mesh.colours, 0.0, 1.0) * LEVELS).astype(int)
        old = drawn.mesh
        if (
            old is not None
            and old.triangles.shape == mesh.triangles.shape
            and np.abs(old.triangles - mesh.triangles).max(initial=0.0) < DEFORMED
            and np.array_equal(drawn.shades, shades)
        ):
            drawn.mesh = ColouredMesh(mesh.frame, old.triangles, old.colours)
            return
        drawn.mesh, drawn.shades = mesh, shades
        present = {tuple(shade) for shade in np.unique(shades, axis=0).tolist()}
        for shade, part in drawn.parts.items():
            if shade not in present and part.visible:
                part.visible = False
        for shade in present:
            corners = mesh.triangles[(shades == shade).all(axis=1)].reshape(-1, 3).astype(np.float32)
            faces = np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
            if shade in drawn.parts:
                part = drawn.parts[shade]
                part.vertices, part.faces, part.visible = corners, faces, True
                continue
            red, green, blue = (step / LEVELS for step in shade)
            drawn.parts[shade] = self._scene.add_mesh_simple(
                f"{drawn.moving.node.name}/{'_'.join(str(step) for step in shade)}",
                corners,
                faces,
                color=(red, green, blue),
                flat_shading=True,
                side="double",
                cast_shadow=False,
            )

    def update(self, placement_world_frame: Callable[[str], pin.SE3 | None]) -> None:
        """Move the meshes to where their frames are; those of unknown frames are hidden."""
        for drawn in self._drawn.values():
            drawn.moving.move(None if drawn.mesh is None else placement_world_frame(drawn.mesh.frame))


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


class TraceDrawing(Drawing):
    """Lines by name; one that has grown or changed is sent again.

    Args:
        scene: Scene of the page.
        path: Of the node above them.
    """

    def __init__(self, scene: viser.SceneApi, path: str = "/traces") -> None:
        super().__init__(scene, path)
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
        super().remove()
        self._nodes.clear()
        self._lines.clear()
