# SPDX-License-Identifier: Apache-2.0
"""The robots on the page: found by their descriptions, placed by /tf."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
import viser

from humanoid_model.urdf import read_urdf
from humanoid_ros.viewer.drawing.contact_drawing import ContactView
from humanoid_ros.viewer.drawing.posture_drawing import BalanceDrawing, centre_of_mass
from humanoid_ros.viewer.drawing.shapes import RobotDrawing


class TransformTree:
    """The newest transform of each frame relative to its parent, and the chains between frames.

    It keeps no history: a view shows the present. Any tree is accepted, flat (world to each link)
    as the simulator sends it or chained as robot_state_publisher does.

    Args:
        root: Name of the frame that placements are expressed in.
    """

    def __init__(self, root: str = "world") -> None:
        self.root = root
        self._parent: dict[str, tuple[str, pin.SE3]] = {}

    def set(self, parent: str, child: str, placement_parent_child: pin.SE3) -> None:
        """Store the newest placement of frame `child` in frame `parent`."""
        self._parent[child] = (parent, placement_parent_child)

    def placement(self, frame: str) -> pin.SE3 | None:
        """Return the placement of a frame in the root frame.

        Returns:
            placement_root_frame, or None where no chain of known transforms joins the two
            (also when a faulty sender made a loop).
        """
        placement = pin.SE3.Identity()
        # A chain can't be longer than the number of frames: a loop ends here.
        for _ in range(len(self._parent) + 1):
            if frame == self.root:
                return placement
            if frame not in self._parent:
                return None
            frame, placement_parent_child = self._parent[frame]
            placement = placement_parent_child * placement
        return None


@dataclass
class ShownRobot:
    """A robot on the page and what is needed to place it.

    Attributes:
        prefix: What precedes its links' names in /tf and in the simulator's body names; empty
            when the robot is alone.
        drawing: Of its links.
        balance: Drawing of its centre of mass and support polygon.
        text: Its URDF.
        placements: Of its links in the world, as far as they are known.
    """

    prefix: str
    drawing: RobotDrawing
    balance: BalanceDrawing
    text: str
    placements: dict[str, pin.SE3] = field(default_factory=dict)

    def place(self, tree: TransformTree) -> None:
        """Put the links where a tree of transforms has them."""
        for link in self.drawing.description.links:
            placement = tree.placement(self.prefix + link)
            if placement is not None:
                self.placements[link] = placement
        self.drawing.update(self.placements)

    def draw_balance(self, contacts: ContactView) -> None:
        """Draw the centre of mass over those contacts that the robot stands on, unless it is hidden."""
        if not self.balance.visible:
            return
        com = centre_of_mass(self.drawing.description, self.placements)
        own = contacts.of_robot(self.prefix.rstrip("/")) if self.prefix else contacts
        self.balance.update(com, own)


class ShownRobots:
    """The robots on the page, by the prefix of their topics, in the order in which they came."""

    def __init__(self, scene: viser.SceneApi) -> None:
        self._scene = scene
        self._robots: dict[str, ShownRobot] = {}
        self._visible = {"robot": True, "balance": True}

    def __iter__(self) -> Iterator[ShownRobot]:
        return iter(self._robots.values())

    def __len__(self) -> int:
        return len(self._robots)

    def __contains__(self, prefix: object) -> bool:
        return prefix in self._robots

    @property
    def mass(self) -> float:
        """Of all robots [kg]."""
        return sum(robot.drawing.description.total_mass for robot in self)

    def get(self, prefix: str) -> ShownRobot | None:
        """Return the robot whose topics have a prefix."""
        return self._robots.get(prefix)

    def describe(self, prefix: str, text: str) -> list[str] | None:
        """Draw a robot anew, unless its description is the one that is drawn.

        Args:
            prefix: Of its topics.
            text: Its URDF.

        Returns:
            What can't be drawn; None if nothing has changed.

        Raises:
            InputError: The URDF can't be read.
        """
        old = self._robots.get(prefix)
        if old is not None and old.text == text:
            return None
        description = read_urdf(text)
        if old is not None:
            self.remove(prefix)
        name = prefix or description.name
        drawing = RobotDrawing(self._scene, name, description)
        robot = ShownRobot(f"{prefix}/" if prefix else "", drawing, BalanceDrawing(self._scene, name), text)
        self._robots[prefix] = robot
        self._show()
        return list(drawing.problems)

    def remove(self, prefix: str) -> None:
        """Take a robot off the page."""
        robot = self._robots.pop(prefix)
        robot.drawing.remove()
        robot.balance.remove()

    def show(self, part: str, visible: bool) -> None:
        """Show or hide all robots ("robot") or all that is drawn of their balance ("balance")."""
        self._visible[part] = visible
        self._show()

    def find_link(self, body: str) -> tuple[np.ndarray, float] | None:
        """Return the centre of mass in the world (3,) [m] and mass [kg] of a link with mass, if it is placed."""
        for robot in self:
            if not body.startswith(robot.prefix):
                continue
            link = robot.drawing.description.links.get(body[len(robot.prefix) :])
            if link is None or link.inertial is None or link.inertial.mass <= 0.0:
                continue
            placement = robot.placements.get(link.name)
            if placement is not None:
                return placement.act(link.inertial.placement_link_com.translation), link.inertial.mass
        return None

    def _show(self) -> None:
        for robot in self:
            robot.drawing.visible = self._visible["robot"]
            robot.balance.visible = self._visible["balance"]
