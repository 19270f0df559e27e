# SPDX-License-Identifier: Apache-2.0
"""Features of the page: folders of the panel, each with what it asks for and draws."""

from __future__ import annotations

from dataclasses import dataclass
from pkgutil import resolve_name

import viser
from rclpy.node import Node

from humanoid_model.extensions import load_extensions
from humanoid_ros.viewer.controls import Later
from humanoid_ros.viewer.page import Page
from humanoid_ros.viewer.planner_calls import PresentRobot
from humanoid_ros.viewer.shown_robots import ShownRobots
from humanoid_ros.viewer.simulator_calls import SimulatorCalls


@dataclass(frozen=True)
class View:
    """What features work with.

    Attributes:
        node: that asks and listens.
        page: that is drawn on.
        robots: on the page, mechanisms too.
        present: what ROS tells of the first robot on the page.
        simulator: its services.
        later: lets what a person does be done in the node's executor; any thread may say so.
    """

    node: Node
    page: Page
    robots: ShownRobots
    present: PresentRobot
    simulator: SimulatorCalls
    later: Later

    @property
    def gui(self) -> viser.GuiApi:
        """Panel of the page, for folders and controls."""
        return self.page.server.gui

    @property
    def scene(self) -> viser.SceneApi:
        """Scene of the page, for what is drawn."""
        return self.page.server.scene


class Feature:
    """A folder of the panel. Subclass it in a file of your own, and register it by :func:`register_feature`.

    The constructor adds the folder; parameters are declared before. Everything is called in the node's executor;
    callbacks of controls come in threads of the page, and hand over by ``view.later``.

    Attributes:
        name: of the feature, in complaints.
    """

    name: str

    @staticmethod
    def declare_parameters(node: Node) -> None:
        """Declare the feature's parameters, and do nothing else: ``--help`` calls it where no node runs."""

    def __init__(self, view: View) -> None:
        """Add the folder to the page."""

    def update(self, now: float) -> None:
        """Draw what has come.

        Args:
            now: monotonic time [s].
        """

    def offer(self, alone: bool) -> None:
        """Show the folder where somebody can use it.

        Args:
            alone: whether the page shows a mechanism, and neither a simulation nor a robot.
        """

    def close(self) -> None:
        """Let go of threads and files."""


#: Features in the order of their folders: classes, or where they are imported from.
FEATURES: list[type[Feature] | str] = [
    "humanoid_ros.viewer.walk_studio:WalkStudio",
    "humanoid_ros.viewer.posture_editor:PostureEditor",
    "humanoid_ros.viewer.gait_studio:GaitStudio",
    "humanoid_ros.viewer.plan_studio:PlanStudio",
    "humanoid_ros.viewer.mechanism_studio:MechanismStudio",
]


def register_feature(feature: type[Feature] | str) -> None:
    """Give pages that are made from now on one more feature.

    A package lists a function that calls this as an entry point ``humanoid_stack.panels``; the node finds it there.

    Args:
        feature: class, or where it is, ``"package.module:Class"``.
    """
    FEATURES.append(feature)


def known_features() -> list[type[Feature]]:
    """Return the classes of all features of a page, those of other installed packages last."""
    load_extensions("panels")
    return [resolve_name(feature) if isinstance(feature, str) else feature for feature in FEATURES]
