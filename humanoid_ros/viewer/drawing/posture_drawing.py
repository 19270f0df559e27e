# SPDX-License-Identifier: Apache-2.0
"""A posture as a translucent second robot with its forces, support polygon and centre of mass."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.description import RobotDescription
from humanoid_ros.viewer.drawing.balance_drawing import BalanceDrawing
from humanoid_ros.viewer.drawing.contact_drawing import ContactDrawing, ContactView
from humanoid_ros.viewer.drawing.robot_drawing import RobotDrawing

FOUND_COLOUR = np.array([0.2, 0.72, 0.32, 0.5])
FAILED_COLOUR = np.array([0.9, 0.25, 0.2, 0.45])
POLYGON_COLOUR = (20, 130, 60)
LIFT = 4e-3
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
        segments = np.stack([vertices, np.roll(vertices, -1, axis=0)], axis=1) + np.array([0.0, 0.0, LIFT])
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
