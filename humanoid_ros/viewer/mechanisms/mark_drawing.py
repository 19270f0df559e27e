# SPDX-License-Identifier: Apache-2.0
"""Translucent marks in the scene that measured values give size, shape, colour and texture (specification 002 §6.8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh
import viser

from humanoid_ros.viewer.drawing.shapes import wxyz

SMALLEST = 1e-6
"""Half axis that is drawn of one that is zero [m]."""


SPHERE, BOX, CYLINDER, CONE = "sphere", "box", "cylinder", "cone"
PLAIN, STRIPES, CHECKS, WIRE = "plain", "stripes", "checks", "wire"
DARK = 0.35
"""Of a texture's dark fields: their colour over the mark's."""
DOWN = np.block([[np.eye(3), np.array([[0.0], [0.0], [-1.0]])], [np.zeros((1, 3)), np.ones((1, 1))]])
"""From the foot of a cone to its middle."""
SHAPES: dict[str, Callable[[], Any]] = {
    SPHERE: lambda: trimesh.creation.uv_sphere(count=(24, 32)),
    BOX: lambda: trimesh.creation.box((2.0, 2.0, 2.0)).subdivide().subdivide().subdivide(),
    CYLINDER: lambda: trimesh.creation.cylinder(1.0, 2.0, sections=32).subdivide().subdivide(),
    CONE: lambda: trimesh.creation.cone(1.0, 2.0, sections=32, transform=DOWN).subdivide().subdivide(),
}
"""Shapes of marks, with half axes of 1."""
TEXTURES = (PLAIN, STRIPES, CHECKS, WIRE)


@dataclass(frozen=True, eq=False)
class Mark:
    """A mark.

    Attributes:
        placement: of its middle and its axes in the world.
        half_axes: (3,) [m].
        colour: (3,) red, green, blue in [0, 1].
        opacity: 0 is invisible.
        shape: one of `SHAPES`; of another name it is a sphere.
        texture: one of `TEXTURES`; of another name it is plain.
    """

    placement: pin.SE3
    half_axes: np.ndarray
    colour: np.ndarray
    opacity: float = 0.4
    shape: str = SPHERE
    texture: str = PLAIN

    @property
    def kind(self) -> tuple[str, str]:
        """Shape and texture that are drawn."""
        return (
            self.shape if self.shape in SHAPES else SPHERE,
            self.texture if self.texture in TEXTURES else PLAIN,
        )


class MarkDrawing:
    """Marks in a node of the page for each kind of them: one message for all that changes.

    Args:
        scene: scene of the page.
        path: of the nodes.
    """

    def __init__(self, scene: viser.SceneApi, path: str) -> None:
        self._scene, self._path = scene, path
        self._kinds: dict[tuple[str, str], list[_Batch]] = {}

    def update(self, marks: Sequence[Mark]) -> None:
        """Draw these marks in place of the last ones."""
        by_kind: dict[tuple[str, str], list[Mark]] = {}
        for mark in marks:
            by_kind.setdefault(mark.kind, []).append(mark)
        for kind in self._kinds.keys() - by_kind.keys():
            for batch in self._kinds.pop(kind):
                batch.remove()
        for kind, some in by_kind.items():
            if kind not in self._kinds:
                path = f"{self._path}/{kind[0]}_{kind[1]}"
                self._kinds[kind] = [
                    _Batch(self._scene, f"{path}_{number}", faces, shade, kind[1] == WIRE)
                    for number, (faces, shade) in enumerate(_fields(*kind))
                ]
            for batch in self._kinds[kind]:
                batch.update(some)

    def remove(self) -> None:
        """Take all marks off the page."""
        self.update(())


class _Batch:
    """The same triangles at several places, in one node."""

    def __init__(self, scene: viser.SceneApi, path: str, mesh: Any, shade: float, wire: bool) -> None:
        self._scene, self._path, self._mesh, self._shade, self._wire = scene, path, mesh, shade, wire
        self.node: viser.BatchedMeshHandle | None = None
        self._sent: tuple[np.ndarray, ...] = ()

    def update(self, marks: Sequence[Mark]) -> None:
        positions = np.array([mark.placement.translation for mark in marks], np.float32)
        turns = np.array([wxyz(mark.placement) for mark in marks], np.float32)
        scales = np.maximum(np.array([mark.half_axes for mark in marks], np.float32), SMALLEST)
        colours = np.round(255.0 * self._shade * np.array([mark.colour for mark in marks])).astype(np.uint8)
        opacities = np.array([mark.opacity for mark in marks], np.float32)
        new: tuple[np.ndarray, ...] = positions, turns, scales, colours, opacities
        node = self.node
        if node is None or len(self._sent[0]) != len(marks):
            self.remove()
            self.node = self._scene.add_batched_meshes_simple(
                self._path,
                np.asarray(self._mesh.vertices),
                np.asarray(self._mesh.faces),
                turns,
                positions,
                batched_scales=scales,
                batched_colors=colours,
                batched_opacities=opacities,
                wireframe=self._wire,
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
        else:
            for name, value, old in zip(
                ("positions", "wxyzs", "scales", "colors", "opacities"), new, self._sent, strict=True
            ):
                if not np.array_equal(value, old):
                    setattr(node, f"batched_{name}", value)
        self._sent = new

    def remove(self) -> None:
        if self.node is not None:
            self.node.remove()
            self.node = None


@cache
def _fields(shape: str, texture: str) -> tuple[tuple[Any, float], ...]:
    """Return the triangles of a shape's light and dark fields, with what their colour is multiplied by.

    Stripes go round the z axis; checks change with the angle about it too.
    """
    mesh = SHAPES[shape]()
    if texture in (PLAIN, WIRE):
        return ((mesh, 1.0),)
    middles = np.asarray(mesh.triangles_center)
    dark = np.floor(3.0 * middles[:, 2] + 1e-9).astype(int)
    if texture == CHECKS:
        dark = dark + np.floor(np.arctan2(middles[:, 1], middles[:, 0]) * 4.0 / np.pi).astype(int)
    return tuple(
        (mesh.submesh([np.flatnonzero(dark % 2 == side)], append=True), shade) for side, shade in ((0, 1.0), (1, DARK))
    )
