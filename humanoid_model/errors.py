# SPDX-License-Identifier: Apache-2.0
"""Errors that the stack raises on purpose, each saying what is wrong, where, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question for the remedy of an error, with a space behind it; empty where no name is like it.

    Args:
        name: that isn't there.
        known: names that are; of ``robot/link`` the link alone counts too, and no name's capitals do.
    """
    names = list(known)
    typed = name.lower()
    last = [own for own in names if own.lower().rpartition("/")[2] == typed.rpartition("/")[2]]
    if len(last) != 1:
        lower = {own.lower(): own for own in reversed(names)}
        lower |= {own.lower().rpartition("/")[2]: own for own in reversed(names) if "/" not in typed}
        last = [lower[found] for found in get_close_matches(typed, lower, 1, 0.75)]
    return f"Did you mean '{last[0]}'? " if last else ""


_LONGEST = 2000
"""Characters of a part of a message at most; what a user wrote may have any number."""


class HumanoidError(Exception):
    """Base of all errors raised on purpose by this stack."""


class InputError(HumanoidError, ValueError):
    """A file, a field or a value given by the user can't be used.

    The message reads ``robots/x.urdf:12: <joint name='a'>: axis is (0, 0, 0). Give a non-zero axis.``

    Attributes:
        problem: what is wrong, the offending value included, without final full stop.
        source: file (or other origin) of the bad input.
        line: line number in ``source``, from 1.
        column: column in that line, from 1.
        element: element or field that carries the bad value, as the user wrote it.
        remedy: what would be right, a sentence without final full stop.
    """

    def __init__(
        self,
        problem: str,
        *,
        source: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
        element: str | None = None,
        remedy: str | None = None,
    ) -> None:
        self.problem = _told(problem)
        self.source = None if source is None else str(source)
        self.line = line
        self.column = column
        self.element = None if element is None else _told(element)
        self.remedy = None if remedy is None else _told(remedy)
        super().__init__(self._message())

    def _message(self) -> str:
        where = _told(self.source or "")
        if self.line is not None:
            where += f":{self.line}" if where else f"line {self.line}"
            where += "" if self.column is None else f":{self.column}"
        parts = [part for part in (where, self.element) if part]
        text = ": ".join([*parts, self.problem])
        return f"{text}. {self.remedy}." if self.remedy else f"{text}."

    def __reduce__(self) -> tuple[object, ...]:
        # Exceptions travel between processes (planner workers); keyword-only arguments need help.
        return _rebuild, (type(self), self.problem, self.source, self.line, self.column, self.element, self.remedy)


def _told(text: str) -> str:
    """Return a text that fits a log: without line breaks and other control characters, and not too long."""
    if len(text) > _LONGEST:
        gap = f"... ({len(text)} characters) ..."
        end = _LONGEST // 4
        text = text[: _LONGEST - len(gap) - end] + gap + text[-end:]
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _rebuild(
    kind: type[InputError],
    problem: str,
    source: str | None,
    line: int | None,
    column: int | None,
    element: str | None,
    remedy: str | None,
) -> InputError:
    return kind(problem, source=source, line=line, column=column, element=element, remedy=remedy)


class MissingLibraryError(InputError, ImportError):
    """Something was asked for that needs a library that isn't installed."""


class RobotError(InputError):
    """A robot description (URDF, mesh or the YAML beside it) can't be used."""


class RobotWarning(UserWarning):
    """A robot description says what no body can be, but can be worked with; reads like :class:`RobotError`."""


class SceneError(InputError):
    """A scene file (XML, YAML or the geometry it names) can't be used."""


class SimulationError(HumanoidError):
    """The simulation can't go on; its state is that before the step that failed."""
