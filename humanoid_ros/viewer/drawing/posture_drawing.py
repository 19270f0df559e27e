# SPDX-License-Identifier: Apache-2.0
"""Balance on the page: centres of mass and pressure on the ground, and a posture as a translucent second robot."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.description import RobotDescription
from humanoid_ros.viewer.drawing.contact_drawing import ContactDrawing, ContactView
from humanoid_ros.viewer.drawing.shapes import Drawing, RobotDrawing

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


class BalanceDrawing(Drawing):
    """A blue ball above its blue mark (centre of mass), and a green mark (centre of pressure).

    Args:
        scene: Scene of the page.
        name: Name of the robot.
        parent: Path of the parent node.
    """

    def __init__(self, scene: viser.SceneApi, name: str, parent: str = "/balance") -> None:
        path = f"{parent}/{name}"
        super().__init__(scene, path)
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


def _place(node: viser.SceneNodeHandle, position: np.ndarray | None) -> None:
    node.visible = position is not None
    if position is not None and np.abs(node.position - position).max() > MOVED:
        node.position = position


FOUND_COLOUR = np.array([0.2, 0.72, 0.32, 0.5])
FAILED_COLOUR = np.array([0.9, 0.25, 0.2, 0.45])
POLYGON_COLOUR = (20, 130, 60)
POLYGON_LIFT = 4e-3
"""Height of the support polygon above the ground, so that it isn't half in it [m]."""


@dataclass(frozen=True)
class PostureView:
    """What is drawn of a posture; world frame.

    Attributes:
        placements: Placement per link.
        contacts: Contact points and forces.
        centre_of_mass: (3,) [m].
        support_polygon: (h, 3) vertices [m].
        found: Whether it fulfils all that was asked; else it is the least-violating one.
    """

    placements: Mapping[str, pin.SE3]
    contacts: ContactView
    centre_of_mass: np.ndarray
    support_polygon: np.ndarray
    found: bool


class PostureDrawing:
    """Draws one posture at a time, green when it was found, red when it is the best there is.

    Args:
        scene: Scene of the page.
        path: Path of the node above it; its visibility is the caller's.
        description: The robot.
        cone_scale: Height of a friction cone per normal force [m/N].
        arrow_scale: Length of an arrow per force [m/N].
        cones: Whether forces have their friction cones.
    """

    def __init__(
        self,
        scene: viser.SceneApi,
        path: str,
        description: RobotDescription,
        cone_scale: float,
        arrow_scale: float,
        cones: bool = True,
    ) -> None:
        self._scene = scene
        self._path = path
        # A robot of each colour: to show the other one is one message, to paint all shapes anew would be many.
        self._ghosts = {
            found: RobotDrawing(scene, f"ghost_{'found' if found else 'failed'}", painted(description, colour), path)
            for found, colour in ((True, FOUND_COLOUR), (False, FAILED_COLOUR))
        }
        for ghost in self._ghosts.values():
            ghost.visible = False
        self._contacts = ContactDrawing(scene, cone_scale, arrow_scale, f"{path}/contacts")
        self._contacts.show_cones = cones
        self._balance = BalanceDrawing(scene, "balance", path)
        self._balance.visible = False
        self._polygon: viser.LineSegmentsHandle | None = None

    def update(self, view: PostureView | None) -> None:
        """Draw a posture in place of the last one; None draws nothing."""
        for found, ghost in self._ghosts.items():
            ghost.visible = view is not None and view.found == found
            if view is not None and ghost.visible:
                ghost.update(view.placements)
        contacts = ContactView.empty() if view is None else view.contacts
        self._contacts.update(contacts)
        self._balance.visible = view is not None
        if view is not None:
            self._balance.update(view.centre_of_mass, contacts)
        self._draw_polygon(np.zeros((0, 3)) if view is None else view.support_polygon)

    def _draw_polygon(self, vertices: np.ndarray) -> None:
        segments = np.stack([vertices, np.roll(vertices, -1, axis=0)], axis=1) + np.array([0.0, 0.0, POLYGON_LIFT])
        if self._polygon is not None and len(self._polygon.points) == len(segments):
            self._polygon.points = segments.astype(np.float32)
            return
        if self._polygon is not None:
            self._polygon.remove()
            self._polygon = None
        if len(segments):
            self._polygon = self._scene.add_line_segments(
                f"{self._path}/support_polygon",
                points=segments.astype(np.float32),
                colors=POLYGON_COLOUR,
                thickness=4.0,
                thickness_units="screen",
            )

    def remove(self) -> None:
        """Take it off the page."""
        self.update(None)
        for ghost in self._ghosts.values():
            ghost.remove()
        self._balance.remove()


def painted(description: RobotDescription, colour: np.ndarray) -> RobotDescription:
    """Return a robot whose visual shapes all have one colour (4,): red, green, blue, opacity."""
    links = {
        name: dataclasses.replace(
            link, visuals=tuple(dataclasses.replace(visual, colour=colour) for visual in link.visuals)
        )
        for name, link in description.links.items()
    }
    return dataclasses.replace(description, links=links)
