# SPDX-License-Identifier: Apache-2.0
"""Dynamic models that were asked for, kept as long as their robots' files stay the same and there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from humanoid_codegen.dynamic_model import DynamicModel
from humanoid_model import Robot, load_robot

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass
class _KeptRobot:
    """A robot, what its files looked like when it was read, and its models by gravity and loaded links."""

    robot: Robot
    stamp: tuple[tuple[int, int] | None, ...]
    models: OrderedDict[tuple[tuple[float, ...], tuple[str, ...]], DynamicModel] = field(default_factory=OrderedDict)


class ModelCache:
    """The dynamic models used last; one thread at a time may ask.

    Attributes:
        size: robots kept, and models kept of each.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._robots: OrderedDict[str, _KeptRobot] = OrderedDict()

    def model(self, robot: str, gravity: tuple[float, ...], links: tuple[str, ...] = ()) -> DynamicModel:
        """A robot's model, made unless it is there.

        Args:
            robot: its name, the path of its URDF, or the text.
            gravity: in the world frame [m/s^2], three numbers.
            links: links that known wrenches act on.

        Raises:
            RobotError: the robot can't be used.
        """
        kept = self._robots.get(robot)
        if kept is not None and kept.stamp != _stamp(kept.robot):
            del self._robots[robot]
        kept = _get(self._robots, robot, self.size, lambda: _load(robot))
        loaded = kept.robot
        return _get(
            kept.models,
            (gravity, links),
            self.size,
            lambda: DynamicModel(loaded, gravity=gravity, wrench_links=links),
        )


def _get(kept: OrderedDict[K, V], key: K, size: int, make: Callable[[], V]) -> V:
    """What is kept under a key, else what is made; what was not asked for longest goes first."""
    value = kept[key] if key in kept else make()
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > size:
        kept.popitem(last=False)
    return value


def _load(robot: str) -> _KeptRobot:
    loaded = load_robot(robot, geometry=False)
    return _KeptRobot(loaded, _stamp(loaded))


def _stamp(robot: Robot) -> tuple[tuple[int, int] | None, ...]:
    """Time of change and size of a robot's URDF and of the YAML beside it, None for a file that isn't there."""
    path = Path(robot.description.source)
    return tuple(_file_stamp(file) for file in (path, path.with_suffix(".yaml")))


def _file_stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
