# SPDX-License-Identifier: Apache-2.0
"""What a mechanism is beyond its bodies: axes of joints, ends of loops, frames of tools, measured marks, a phantom.

Marks are translucent and have the size, shape, colour and texture that measured values give them (specification 002
§6.8). The phantom is a translucent copy that something else moves: a replay, the real robot, a prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh
import viser

from humanoid_kinematics import Mechanism
from humanoid_ros.viewer.drawing.shapes import Drawing, RobotDrawing, wxyz

TURNS, SLIDES, LOCKED, LIMIT = (205, 80, 0), (0, 60, 190), (110, 110, 110), (200, 0, 0)
"""Colours of axes: of joints that turn, that slide, that are locked, that are at a limit."""
HELD, OPEN = (150, 0, 150), (150, 150, 150)
"""Colours of loops: held closed, let go of."""
TRIAD = np.array([[200, 0, 0], [0, 130, 20], [0, 40, 200]])
AXES, LOOPS, TOOLS = "axes", "loops", "tools"
PARTS = (AXES, LOOPS, TOOLS)
MOVED = 1e-5
"""Lines are sent again once an end has moved so far [m]."""


class MechanismDrawing(Drawing):
    """Lines over the bodies of one mechanism, drawn in the frame of the page's world.

    Args:
        scene: scene of the page.
        path: path of the node above the lines.
        mechanism: that is drawn.
        size: half length of an axis [m].
    """

    def __init__(self, scene: viser.SceneApi, path: str, mechanism: Mechanism, size: float) -> None:
        self._mechanism, self._size = mechanism, size
        super().__init__(scene, path)
        joints = mechanism.robot.description.joints
        self._joints = [joints[name] for name in mechanism.robot.joint_names if np.linalg.norm(joints[name].axis) > 0.0]
        counts = {AXES: len(self._joints), LOOPS: 4 * len(mechanism.loops), TOOLS: 3 * len(mechanism.tools)}
        self._lines = {
            part: scene.add_line_segments(
                f"{path}/{part}",
                points=np.zeros((counts[part], 2, 3), np.float32),
                colors=np.zeros((counts[part], 2, 3), np.uint8),
                thickness=3.0,
                thickness_units="screen",
                visible=False,
            )
            for part in PARTS
            if counts[part]
        }
        self._wanted = dict.fromkeys(PARTS, True)

    def show(self, part: str, visible: bool) -> None:
        """Show or hide axes, loops or tools."""
        self._wanted[part] = visible
        if part in self._lines and not visible:
            self._lines[part].visible = False

    def update(
        self,
        placements: Mapping[str, pin.SE3],
        locked: Collection[str] = (),
        at_limit: Collection[str] = (),
        open_loops: Collection[str] = (),
    ) -> None:
        """Draw where the links are now.

        Args:
            placements: of links in the world; what hangs on one that isn't there is not drawn yet.
            locked: joints that are held.
            at_limit: joints that are at a limit.
            open_loops: loops that are let go of.
        """
        if not all(joint.child in placements for joint in self._joints):
            return
        self._draw(AXES, *self._axes(placements, locked, at_limit))
        self._draw(LOOPS, *self._loops(placements, open_loops))
        self._draw(TOOLS, *self._tools(placements))

    def _draw(self, part: str, points: np.ndarray, colours: np.ndarray) -> None:
        lines = self._lines.get(part)
        if lines is None or not self._wanted[part]:
            return
        if np.abs(points - lines.points).max() > MOVED:
            lines.points = points.astype(np.float32)
        colours = np.repeat(colours[:, None], 2, axis=1).astype(np.uint8)
        if not np.array_equal(colours, lines.colors):
            lines.colors = colours
        if not lines.visible:
            lines.visible = True

    def _axes(
        self, placements: Mapping[str, pin.SE3], locked: Collection[str], at_limit: Collection[str]
    ) -> tuple[np.ndarray, np.ndarray]:
        points, colours = [], []
        for joint in self._joints:
            at = placements[joint.child]
            along = self._size * (at.rotation @ (joint.axis / np.linalg.norm(joint.axis)))
            points.append([at.translation - along, at.translation + along])
            kind = SLIDES if joint.type == "prismatic" else TURNS
            colours.append(LOCKED if joint.name in locked else LIMIT if joint.name in at_limit else kind)
        return np.array(points).reshape(-1, 2, 3), np.array(colours).reshape(-1, 3)

    def _loops(self, placements: Mapping[str, pin.SE3], open_loops: Collection[str]) -> tuple[np.ndarray, np.ndarray]:
        """Return a cross at one end of each loop, and the gap to the other end."""
        points, colours = [], []
        for loop in self._mechanism.loops:
            first, second = placements[loop.link_a] * loop.placement_a, placements[loop.link_b] * loop.placement_b
            for axis in 0.5 * self._size * first.rotation.T:
                points.append([first.translation - axis, first.translation + axis])
            points.append([first.translation, second.translation])
            colours += 4 * [OPEN if loop.name in open_loops else HELD]
        return np.array(points).reshape(-1, 2, 3), np.array(colours).reshape(-1, 3)

    def _tools(self, placements: Mapping[str, pin.SE3]) -> tuple[np.ndarray, np.ndarray]:
        points = []
        for tool in self._mechanism.tools:
            at = placements[tool.link] * tool.placement
            points += [[at.translation, at.translation + 1.5 * self._size * axis] for axis in at.rotation.T]
        return np.array(points).reshape(-1, 2, 3), np.tile(TRIAD, (len(self._mechanism.tools), 1)).reshape(-1, 3)


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


OPACITY = 0.3


class Phantom:
    """Stands where its joints are told to be; those that aren't told are where the mechanism has them.

    Args:
        scene: scene of the page.
        path: of the node above it.
        mechanism: whose copy it is.
    """

    def __init__(self, scene: viser.SceneApi, path: str, mechanism: Mechanism) -> None:
        self._robot = mechanism.robot
        self._told: dict[str, float] = {}
        self._drawing = RobotDrawing(scene, "phantom", mechanism.robot.description, path, OPACITY)

    def tell(self, positions: Mapping[str, float]) -> None:
        """Take positions of joints [rad, m]; unknown joints and numbers that aren't finite are left out."""
        self._told |= {
            joint: position
            for joint, position in positions.items()
            if joint in self._robot.joint_names and np.isfinite(position)
        }

    def draw(self, q: np.ndarray, base: pin.SE3) -> None:
        """Draw it beside the mechanism's configuration (nq,), on its base."""
        q = q.copy()
        for joint, position in self._told.items():
            q[self._robot.index_q(joint)] = position
        self._drawing.update({link: base * place for link, place in self._robot.link_placements(q).items()})

    def remove(self) -> None:
        """Take it off the page."""
        self._drawing.remove()
