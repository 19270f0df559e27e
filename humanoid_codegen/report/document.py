# SPDX-License-Identifier: Apache-2.0
"""What a document consists of, before it is written in one markup or another.

Its drawings are made of a few kinds of shapes, in millimetres with y downwards; each format writes them in its own
way.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Point = tuple[float, float]

#: Width of an average character relative to the size of the letters, generously.
CHARACTER_WIDTH = 0.6

#: Colours by name, as red, green, blue in 0..255.
COLOURS = {
    "ink": (33, 37, 41),
    "grey": (110, 117, 125),
    "line": (134, 142, 150),
    "paper": (255, 255, 255),
    "link": (232, 240, 252),
    "revolute": (201, 42, 42),
    "prismatic": (25, 113, 194),
    "several": (103, 65, 217),
    "fixed": (134, 142, 150),
    "axis_x": (201, 42, 42),
    "axis_y": (47, 158, 68),
    "axis_z": (25, 113, 194),
}


@dataclass(frozen=True)
class Line:
    """A polyline; ``arrow`` puts a head on its last point."""

    points: tuple[Point, ...]
    colour: str = "line"
    width: float = 0.35
    dashed: bool = False
    arrow: bool = False


@dataclass(frozen=True)
class Disc:
    """A filled circle."""

    centre: Point
    radius: float
    fill: str
    edge: str = "paper"


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str
    edge: str = "paper"
    dashed: bool = False


@dataclass(frozen=True)
class Label:
    """A line of text; ``place`` is its middle in height and its start, middle or end in width.

    Attributes:
        text: any characters.
        place: where.
        size: height of the letters [mm].
        anchor: ``start``, ``middle`` or ``end``.
        colour: of the letters.
        subscript: set small and low behind the text, which is then set as a mathematical symbol.
        rest: plain text behind the subscript.
    """

    text: str
    place: Point
    size: float = 2.3
    anchor: str = "start"
    colour: str = "ink"
    subscript: str = ""
    rest: str = ""

    @property
    def width(self) -> float:
        """Estimate of its width [mm]."""
        small = 0.7 * len(self.subscript)
        return CHARACTER_WIDTH * self.size * (len(self.text) + small + len(self.rest))


Shape = Line | Disc | Polygon | Label


@dataclass
class Drawing:
    """Shapes, later ones on top, and the rectangle that holds them.

    Attributes:
        shapes: in the order in which they are painted.
        margin: left free around them [mm].
    """

    shapes: list[Shape] = field(default_factory=list)
    margin: float = 2.0

    def bounds(self) -> tuple[float, float, float, float]:
        """Left, top, right and bottom, margin included [mm]."""
        xs: list[float] = []
        ys: list[float] = []
        for shape in self.shapes:
            for x, y in _extremes(shape):
                xs.append(x)
                ys.append(y)
        if not xs:
            return (0.0, 0.0, 2 * self.margin, 2 * self.margin)
        return (min(xs) - self.margin, min(ys) - self.margin, max(xs) + self.margin, max(ys) + self.margin)


def arrow_head(line: Line) -> tuple[Point, Point, Point]:
    """Triangle on the last point of a line [mm]."""
    (x0, y0), (x1, y1) = line.points[-2:]
    length = max(((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5, 1e-9)
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    size = 1.2 + 1.5 * line.width
    back = (x1 - size * dx, y1 - size * dy)
    side = 0.35 * size
    return ((x1, y1), (back[0] - side * dy, back[1] + side * dx), (back[0] + side * dy, back[1] - side * dx))


def _extremes(shape: Shape) -> tuple[Point, ...]:
    if isinstance(shape, Line | Polygon):
        return shape.points
    if isinstance(shape, Disc):
        (x, y), r = shape.centre, shape.radius
        return ((x - r, y - r), (x + r, y + r))
    (x, y), half = shape.place, 0.7 * shape.size
    left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[shape.anchor] * shape.width
    return ((left, y - half), (left + shape.width, y + half))


class Formula(str):
    """LaTeX mathematics inside a line of text."""


#: A line of text: plain words of any characters, and formulas.
Text = tuple[str, ...]


def text(*parts: str) -> Text:
    """Return a line of text; ``$...$`` in the parts are formulas, and users' names are given as :func:`name`."""
    found: list[str] = []
    for part in parts:
        if isinstance(part, Name | Formula):
            found.append(part)
            continue
        for k, piece in enumerate(part.split("$")):
            if piece:
                found.append(Formula(piece) if k % 2 else piece)
    return tuple(found)


class Name(str):
    """Words from the user's files, in which no character means anything else than itself."""


@dataclass(frozen=True)
class Heading:
    """Title of a section: level 1 the document, 2 a section, 3 a part of one."""

    level: int
    content: Text


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    content: Text


@dataclass(frozen=True)
class Items:
    """A list with bullets."""

    items: tuple[Text, ...]


@dataclass(frozen=True)
class Equations:
    """Displayed equations, one line each, aligned at ``&``."""

    lines: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table; ``columns`` has a letter for each: ``n`` names that may break, ``l`` left, ``r`` right."""

    columns: str
    header: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A drawing with its caption; ``name`` is that of its file where it has one of its own."""

    name: str
    drawing: Drawing
    caption: Text


Block = Heading | Paragraph | Items | Equations | Table | Figure
