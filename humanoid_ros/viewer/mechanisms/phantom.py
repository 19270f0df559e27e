# SPDX-License-Identifier: Apache-2.0
"""A translucent copy of a mechanism that something else moves: a replay, the real robot, a prediction."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
import viser

from humanoid_kinematics import Mechanism
from humanoid_ros.viewer.drawing.robot_drawing import RobotDrawing

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
