# SPDX-License-Identifier: Apache-2.0
"""Centre of mass and centre of pressure, marked on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.description import RobotDescription
from humanoid_ros.viewer.drawing.contact_drawing import ContactView

LIFT = 2e-3
"""Height of the marks above the contact points, so that they aren't half in the floor [m]."""
MOVED = 2e-4


def centre_of_mass(description: RobotDescription, placements_world_link: Mapping[str, pin.SE3]) -> np.ndarray | None:
    """Return the centre of mass of a robot from its links' placements.

    Args:
        description: The robot; links without inertia count for nothing.
        placements_world_link: Placement of every link with inertia.

    Returns:
        (3,) centre of mass [m], or None while a link's placement is missing or nothing has mass.
    """
    moment, mass = np.zeros(3), 0.0
    for link in description.links.values():
        if link.inertial is None or link.inertial.mass == 0.0:
            continue
        placement = placements_world_link.get(link.name)
        if placement is None:
            return None
        com = link.inertial.placement_link_com.translation
        moment += link.inertial.mass * (placement.rotation @ com + placement.translation)
        mass += link.inertial.mass
    return moment / mass if mass > 0.0 else None


def centre_of_pressure(contacts: ContactView) -> np.ndarray | None:
    """Return the centre of pressure of contacts on one plane: their mean, weighted by the normal forces.

    On level ground at rest or in motion this is the zero-moment point.

    Returns:
        (3,) point [m], or None when nothing is loaded.
    """
    weight = np.maximum(contacts.normal_force, 0.0)
    if weight.sum() <= 1e-6:
        return None
    return weight @ contacts.position / weight.sum()


class BalanceDrawing:
    """A blue ball above its blue mark (centre of mass), and a green mark (centre of pressure).

    Args:
        scene: Scene of the page.
        name: Name of the robot.
        parent: Path of the parent node.
    """

    def __init__(self, scene: viser.SceneApi, name: str, parent: str = "/balance") -> None:
        path = f"{parent}/{name}"
        self._root = scene.add_frame(path, show_axes=False)
        blue, green = (30, 90, 230), (20, 150, 60)
        flat: dict[str, Any] = {"height": 0.002, "cast_shadow": False, "visible": False}
        self._com = scene.add_icosphere(f"{path}/com", radius=0.025, color=blue, visible=False, cast_shadow=False)
        self._com_mark = scene.add_cylinder(f"{path}/com_mark", radius=0.022, color=blue, **flat)
        self._pressure_mark = scene.add_cylinder(f"{path}/pressure_mark", radius=0.014, color=green, **flat)

    def update(self, com: np.ndarray | None, contacts: ContactView) -> None:
        """Move the marks; without contacts there is no ground to mark and only the ball stays."""
        pressure = centre_of_pressure(contacts)
        _place(self._com, com)
        if pressure is None:
            _place(self._com_mark, None)
            _place(self._pressure_mark, None)
            return
        _place(self._pressure_mark, pressure + np.array([0.0, 0.0, 2.0 * LIFT]))
        _place(self._com_mark, None if com is None else np.array([*com[:2], pressure[2] + LIFT]))

    @property
    def visible(self) -> bool:
        """Whether ball and marks are shown, where there is something to mark."""
        return self._root.visible

    @visible.setter
    def visible(self, visible: bool) -> None:
        self._root.visible = visible

    def remove(self) -> None:
        """Take the marks off the page."""
        self._root.remove()


def _place(node: viser.SceneNodeHandle, position: np.ndarray | None) -> None:
    node.visible = position is not None
    if position is not None and np.abs(node.position - position).max() > MOVED:
        node.position = position
