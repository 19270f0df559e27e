# SPDX-License-Identifier: Apache-2.0
"""What a document consists of, before it is written in one markup or another."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_codegen.report.drawing import Drawing


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
