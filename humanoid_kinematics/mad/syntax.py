# SPDX-License-Identifier: Apache-2.0
"""What a MAD file says, in the file's own units: degrees and units of length (specification §2); and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from humanoid_model import InputError, RobotError

_LONGEST = 4000
"""Characters of a message that has several lines, about; the problems beyond are counted."""


class MadError(RobotError):
    """A MAD file can't be used; the message has one line for each problem, with line, column and code (§2.6).

    Attributes:
        problems: all that was found, in the order of the file; the error's own fields are those of the first.
    """

    def __init__(self, problems: Sequence[RobotError]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        super().__init__(
            first.problem, source=first.source, line=first.line, column=first.column, element=first.element,
            remedy=first.remedy,
        )  # fmt: skip

    def _message(self) -> str:
        lines: list[str] = []
        for line in map(str, self.problems):
            if lines and sum(map(len, lines)) + len(line) > _LONGEST:
                lines.append(f"{len(self.problems) - len(lines)} more")
                break
            lines.append(line)
        return "\n".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return MadError, (self.problems,)


@dataclass(frozen=True)
class Place:
    """Line and column in the file, both from 1."""

    line: int
    column: int


#: Two records are equal wherever they stand.
_NOWHERE = Place(0, 0)


@dataclass(frozen=True)
class MadSensor:
    """An input device that commands tools; number 0 is none.

    Attributes:
        number: unique in the file.
        port: serial port, or name of a panel.
        type: ``spaceball``, ``panel`` or any other word.
        translation: directions of translation that it gives, 0 to 3; None leaves it to the type.
        rotation: likewise for rotation.
        place: in the file.
    """

    number: int
    port: str | None = None
    type: str | None = None
    translation: int | None = None
    rotation: int | None = None
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class MadBase:
    """The root of a robot, node 0.

    Attributes:
        pos: its place in the world [unit of length].
        ori: Euler angles [deg], about the fixed x, y and z.
        graphics: files, None among them for automatic geometry; None where the file has no list.
        place: in the file.
    """

    pos: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ori: tuple[float, float, float] = (0.0, 0.0, 0.0)
    graphics: tuple[str | None, ...] | None = None
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class MadLink:
    """A joint and the body it moves.

    Attributes:
        number: of the node.
        parameters: ``theta``, ``r``, ``alpha``, ``d`` and, where given, ``gamma``, ``epsil`` [deg, unit of length].
        type: 1 prismatic, 2 revolute.
        pred: number of the node that carries it.
        limits: lowest and highest value of the joint's variable.
        range: likewise, counted from its initial value.
        graphics: as of :class:`MadBase`.
        place: in the file.
    """

    number: int
    parameters: Mapping[str, float]
    type: int
    pred: int
    limits: tuple[float, float] | None = None
    range: tuple[float, float] | None = None
    graphics: tuple[str | None, ...] | None = None
    place: Place = field(default=_NOWHERE, compare=False)

    @property
    def initial(self) -> float:
        """Initial value of the joint's variable [deg or unit of length]."""
        return self.parameters["r" if self.type == 1 else "theta"]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Lowest and highest value of the joint's variable, whichever way they are given."""
        if self.range is not None:
            return self.initial + self.range[0], self.initial + self.range[1]
        return self.limits


@dataclass(frozen=True)
class MadFrame:
    """A frame fixed to a node.

    Attributes:
        number: of the node.
        pos: its place in the frame of the node that carries it [unit of length].
        ori: Euler angles [deg], about the fixed x, y and z.
        pred: number of the node that carries it.
        graphics: as of :class:`MadBase`.
        place: in the file.
    """

    number: int
    pos: tuple[float, float, float]
    ori: tuple[float, float, float]
    pred: int
    graphics: tuple[str | None, ...] | None = None
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class MadClosure:
    """Two nodes that coincide.

    Attributes:
        nodes: the two, the lower number first: the file may give them in any order.
        ball: whether only their origins coincide.
        place: in the file.
    """

    nodes: tuple[int, int]
    ball: bool = False
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class MadTracking:
    """A node that follows an input device.

    Attributes:
        node: the node.
        sensors: numbers of the devices that it may follow.
        place: in the file.
    """

    node: int
    sensors: tuple[int, ...]
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class MadStatement:
    """A statement of an extension of the language.

    Attributes:
        keyword: that it begins with.
        words: what follows, as written.
        place: in the file.
    """

    keyword: str
    words: tuple[str, ...]
    place: Place = field(default=_NOWHERE, compare=False)


@dataclass(frozen=True)
class MadRobot:
    """One robot of a file.

    Attributes:
        name: of the robot.
        base: its root.
        nodes: links and frames in the order of the file.
        closures: loops.
        trackings: tools.
        path: folder of the graphic files.
        statements: those of extensions.
        place: in the file.
    """

    name: str
    base: MadBase
    nodes: tuple[MadLink | MadFrame, ...] = ()
    closures: tuple[MadClosure, ...] = ()
    trackings: tuple[MadTracking, ...] = ()
    path: str | None = None
    statements: tuple[MadStatement, ...] = ()
    place: Place = field(default=_NOWHERE, compare=False)

    def with_node(self, node: MadLink | MadFrame) -> MadRobot:
        """Return the robot with another link or frame in the place of the one of its number.

        Raises:
            InputError: the robot has no node of that number.
        """
        numbers = [old.number for old in self.nodes]
        if node.number not in numbers:
            raise InputError(
                f"there is no node {node.number}", element=f"robot {self.name}",
                remedy=f"Nodes are {', '.join(map(str, numbers))}",
            )  # fmt: skip
        return replace(self, nodes=tuple(node if old.number == node.number else old for old in self.nodes))


@dataclass(frozen=True)
class MadScene:
    """A whole file.

    Attributes:
        name: of the scene.
        version: for example ``1.1``, None where the file has none.
        sensors: input devices in the order of the file.
        robots: in the order of the file.
        length_unit: metres in a unit of length, None where the file doesn't say.
        source: file it comes from.
    """

    name: str
    version: str | None = None
    sensors: tuple[MadSensor, ...] = ()
    robots: tuple[MadRobot, ...] = ()
    length_unit: float | None = None
    source: str = field(default="", compare=False)

    def with_robot(self, robot: MadRobot) -> MadScene:
        """Return the scene with another robot in the place of the one of its name.

        Raises:
            InputError: the scene has no robot of that name.
        """
        names = [old.name for old in self.robots]
        if robot.name not in names:
            raise InputError(f"there is no robot '{robot.name}'", remedy=f"Robots are {', '.join(names)}")
        return replace(self, robots=tuple(robot if old.name == robot.name else old for old in self.robots))
