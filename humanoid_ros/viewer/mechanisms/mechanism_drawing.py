# SPDX-License-Identifier: Apache-2.0
"""What a mechanism is beyond its bodies: axes of its joints, ends of its loops, frames of its tools."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pinocchio as pin
import viser

from humanoid_kinematics import Mechanism

TURNS, SLIDES, LOCKED, LIMIT = (205, 80, 0), (0, 60, 190), (110, 110, 110), (200, 0, 0)
"""Colours of axes: of joints that turn, that slide, that are locked, that are at a limit."""
HELD, OPEN = (150, 0, 150), (150, 150, 150)
"""Colours of loops: held closed, let go of."""
TRIAD = np.array([[200, 0, 0], [0, 130, 20], [0, 40, 200]])
AXES, LOOPS, TOOLS = "axes", "loops", "tools"
PARTS = (AXES, LOOPS, TOOLS)
MOVED = 1e-5
"""Lines are sent again once an end has moved so far [m]."""


class MechanismDrawing:
    """Lines over the bodies of one mechanism, drawn in the frame of the page's world.

    Args:
        scene: scene of the page.
        path: path of the node above the lines.
        mechanism: that is drawn.
        size: half length of an axis [m].
    """

    def __init__(self, scene: viser.SceneApi, path: str, mechanism: Mechanism, size: float) -> None:
        self._mechanism, self._size = mechanism, size
        self._root = scene.add_frame(path, show_axes=False)
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

    def remove(self) -> None:
        """Take the lines off the page."""
        self._root.remove()

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
