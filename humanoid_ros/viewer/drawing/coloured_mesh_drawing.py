# SPDX-License-Identifier: Apache-2.0
"""Meshes on the page whose vertices and colours change all the time: deformed soles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import viser
from numpy.typing import NDArray

from humanoid_ros.viewer.drawing.shapes import wxyz

LEVELS = 5
"""A triangle has the colour nearest to its own of so many steps per channel."""
DEFORMED = 2e-6
"""A mesh is sent again once one of its corners moved by this much in its frame [m], or has another colour."""
MOVED = 1e-5
"""A frame is sent again once it moved by this much [m]."""


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
class _Drawn:
    node: viser.FrameHandle
    parts: dict[tuple[int, ...], viser.MeshHandle] = field(default_factory=dict)
    mesh: ColouredMesh | None = None
    shades: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), dtype=int))
    placed: np.ndarray | None = None


class ColouredMeshDrawing:
    """Draws meshes by their keys; each is one node per colour, since a node of the page has one colour.

    Args:
        scene: Scene of the page.
        path: Path of the node above them.
    """

    def __init__(self, scene: viser.SceneApi, path: str = "/soles") -> None:
        self._scene = scene
        self._path = path
        self._root = scene.add_frame(path, show_axes=False)
        self._drawn: dict[str, _Drawn] = {}
        self._count = 0

    def __len__(self) -> int:
        return len(self._drawn)

    def set(self, meshes: Mapping[str, ColouredMesh]) -> None:
        """Draw these meshes in place of all others; what has not changed is not sent again."""
        for key in [key for key in self._drawn if key not in meshes]:
            self._drawn.pop(key).node.remove()
        for key, mesh in meshes.items():
            if key not in self._drawn:
                self._count += 1
                node = self._scene.add_frame(f"{self._path}/{self._count}", show_axes=False, visible=False)
                self._drawn[key] = _Drawn(node)
            self._paint(self._drawn[key], mesh)

    def _paint(self, drawn: _Drawn, mesh: ColouredMesh) -> None:
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
                f"{drawn.node.name}/{'_'.join(str(step) for step in shade)}",
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
            placement = None if drawn.mesh is None else placement_world_frame(drawn.mesh.frame)
            if placement is None:
                drawn.node.visible = False
                continue
            pose = pin.SE3ToXYZQUAT(placement)
            if drawn.placed is None or np.abs(pose - drawn.placed).max() > MOVED:
                drawn.placed = pose
                drawn.node.position = placement.translation
                drawn.node.wxyz = wxyz(placement)
            drawn.node.visible = True

    @property
    def visible(self) -> bool:
        """Whether the meshes are shown."""
        return self._root.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible
