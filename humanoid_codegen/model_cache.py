# SPDX-License-Identifier: Apache-2.0
"""Dynamic models that were asked for, kept as long as their robots' files stay the same and there is room."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

from humanoid_codegen.dynamic_model import DynamicModel
from humanoid_model import Robot, load_robot
from humanoid_model.shelf import Shelf


@dataclass
class _KeptRobot:
    """A robot, and its models by gravity and loaded links."""

    robot: Robot
    models: OrderedDict[tuple[tuple[float, ...], tuple[str, ...]], DynamicModel] = field(default_factory=OrderedDict)


class ModelCache:
    """The dynamic models used last; one thread at a time may ask.

    Attributes:
        size: robots kept, and models kept of each.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._robots = Shelf(size, _read)

    def model(self, robot: str, gravity: tuple[float, ...], links: tuple[str, ...] = ()) -> DynamicModel:
        """Give a robot's model, made unless it is there.

        Args:
            robot: its name, the path of its URDF, or the text.
            gravity: in the world frame [m/s^2], three numbers.
            links: links that known wrenches act on.

        Raises:
            RobotError: the robot can't be used.
        """
        kept, key = self._robots.get(robot), (gravity, links)
        if key not in kept.models:
            kept.models[key] = DynamicModel(kept.robot, gravity=gravity, wrench_links=links)
        kept.models.move_to_end(key)
        while len(kept.models) > self.size:
            kept.models.popitem(last=False)
        return kept.models[key]


def _read(name: str) -> tuple[_KeptRobot, tuple[Path, ...]]:
    robot = load_robot(name, geometry=False)
    path = Path(robot.description.source)
    return _KeptRobot(robot), (path, path.with_suffix(".yaml"))
