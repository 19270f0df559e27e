# SPDX-License-Identifier: Apache-2.0
"""The robot along a lift, the way of the object that it lifts, and the zero-moment point under its feet."""

from __future__ import annotations

import numpy as np
import viser

from humanoid_model.robot import Robot
from humanoid_ros.viewer.drawing.scene_drawing import TraceDrawing, TraceLine
from humanoid_ros.viewer.drawing.shapes import RobotDrawing
from humanoid_studies.lift_editor.curve_board import BLUE, RED, broken_line
from humanoid_studies.lifting.judgement import Judgement
from humanoid_studies.lifting.planar_lifter import PlanarLifter
from humanoid_studies.lifting.replay import lifting_robot, whole_configuration

PATH = "/lift"
BESIDE = -0.29
"""Where the object's way and the zero-moment point are drawn: beside the right half, where they aren't hidden [m]."""
RAISED = 6e-3
"""Of what is drawn on the ground [m]."""
GREEN = (0.1, 0.55, 0.24)
MARK = 0.022
"""Radius of the zero-moment point's mark [m]."""
FAR = 1.0
"""From the ankles, within which a zero-moment point is drawn [m]."""


class LiftDrawing:
    """Draws one lift at one instant.

    Args:
        scene: Scene of the page.
        robot: HRP-2.
        lifter: Its planar model with the object.
    """

    def __init__(self, scene: viser.SceneApi, robot: Robot, lifter: PlanarLifter) -> None:
        self._lifter = lifter
        self._robot = robot
        loaded = lifting_robot(robot, lifter).description
        self._held = [joint for name, joint in loaded.joints.items() if name not in robot.description.joints]
        self._drawing = RobotDrawing(scene, "robot", loaded, PATH)
        self._way = TraceDrawing(scene, f"{PATH}/way")
        self._sole = TraceDrawing(scene, f"{PATH}/sole")
        heel, toe = lifter.sole
        self._sole.set({"sole": TraceLine(np.array([[heel, BESIDE, RAISED], [toe, BESIDE, RAISED]]), GREEN)})
        self._mark = scene.add_icosphere(f"{PATH}/zero_moment_point", MARK, (0, 0, 0), cast_shadow=False)
        self._judgement: Judgement | None = None

    def show(self, judgement: Judgement) -> None:
        """Draw the object's way, red where any limit is broken."""
        self._judgement = judgement
        at = self._lifter.grip.position(judgement.series.q @ self._lifter.absolute.T)
        places = np.column_stack(np.broadcast_arrays(at[:, 0], BESIDE, at[:, 1]))
        self._way.set(broken_line(places, judgement.broken))

    def point_at(self, share: float) -> None:
        """Put the robot where it is at a share of the duration."""
        assert self._judgement is not None, "show comes first"
        index = round(share * (len(self._judgement.series.time) - 1))
        q = whole_configuration(self._robot, self._lifter, self._judgement.series.q[index])
        placements = self._robot.link_placements(q)
        placements |= {joint.child: placements[joint.parent] * joint.placement for joint in self._held}
        self._drawing.update(placements)
        quantity = self._judgement.quantities["zero-moment point"]
        at = float(quantity.value[index])
        self._mark.visible = abs(at) < FAR  # not where feet don't press, either
        if self._mark.visible:
            self._mark.position = np.array([at, BESIDE, RAISED])
            r, g, b = (round(255.0 * part) for part in (RED if quantity.excess[index] > 0.0 else BLUE))
            self._mark.color = (r, g, b)
