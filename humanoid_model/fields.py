# SPDX-License-Identifier: Apache-2.0
"""Fields of settings and requests: unit, range and meaning stand once, at the dataclass.

What reads a field, checks it, declares it, offers it or documents it goes by this description: messages, YAML,
parameters, command lines, pages.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

from humanoid_model.checks import LARGEST, shown
from humanoid_model.errors import InputError

_KEY = "humanoid_field"


@dataclass(frozen=True)
class Description:
    """What a field is.

    Attributes:
        kind: what it holds: float, int, bool or str.
        default: of the dataclass; None or infinity says that nothing is given.
        meaning: in words.
        unit: of a number; empty for pure ones.
        low: smallest number.
        high: largest number.
        above: whether the smallest itself is out of range.
        words: a text's choices, with the names of the constants that messages have for them; empty for any text.
    """

    kind: type
    default: Any
    meaning: str
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def may_be_left_open(self) -> bool:
        """Whether None or infinity says that nothing is given; messages and parameters say it by 0 or no text."""
        return self.default is None or (isinstance(self.default, float) and math.isinf(self.default))

    @property
    def summary(self) -> str:
        """Meaning, choices and unit, in a line."""
        what, more, rest = self.meaning.partition(";")
        unit = f" [{self.unit}]" if self.unit else ""
        return f"{what}{unit}{more}{rest}{': ' if self.words else ''}{', '.join(self.words)}"

    @property
    def told(self) -> str:
        """Meaning, choices, unit and range, in a line."""
        limits = self._limits() if self.kind in (int, float) else ""
        return f"{self.summary}; {limits}" if limits else self.summary

    def _limits(self, of: str = "", value: float = 0.0) -> str:
        """Tell the range; an end that all numbers have only where a value is beyond it."""
        low = f"above {self.low:g}" if self.above else f"{of}{self.low:g} or more"
        high = f"at most {self.high:g}"
        bounded = self.low > -LARGEST or value < self.low, self.high < LARGEST or value > self.high
        return ", ".join(part for part, told in zip((low, high), bounded, strict=True) if told)

    def check(self, value: Any, element: str) -> None:
        """Refuse a value that can't be used.

        Raises:
            InputError: it names the element, the value and what would be right.
        """
        if self.may_be_left_open and value == self.default:
            return
        if self.words:
            if value not in self.words:
                raise InputError(f"is {value!r}", element=element, remedy=f"Give one of {', '.join(self.words)}")
        elif self.kind is int:
            if isinstance(value, bool) or not isinstance(value, Integral) or not self.low <= int(value) <= self.high:
                raise InputError(f"is {shown(value)}", element=element, remedy=f"Give a whole number, {self._limits()}")
        elif self.kind is float:
            usable = isinstance(value, Real) and math.isfinite(value)
            if not (usable and self.low <= value <= self.high and not (self.above and value == self.low)):
                unit = f"[{self.unit}]" if self.unit else ""
                words = "Give a finite number", self._limits("of ", value if usable else 0.0), unit
                raise InputError(f"is {shown(value)}", element=element, remedy=" ".join(filter(None, words)))

    def read(self, value: Any) -> Any:
        """Return what a message or a parameter says, which has 0 or no text where the field is left open."""
        return self.default if self.may_be_left_open and not value else value


def number(
    default: float | None, meaning: str, unit: str = "", *, low: float = -LARGEST, above: bool = False,
    high: float = LARGEST,
) -> Any:  # fmt: skip
    """Describe a field that holds a finite number."""
    return _described(Description(float, default, meaning, unit, low, high, above))


def count(default: int | None, meaning: str, *, low: int = 0, high: float = math.inf) -> Any:
    """Describe a field that holds a whole number."""
    return _described(Description(int, default, meaning, "", low, high))


def flag(default: bool, meaning: str) -> Any:
    """Describe a field that holds yes or no."""
    return _described(Description(bool, default, meaning))


def text(default: str | None, meaning: str) -> Any:
    """Describe a field that holds a name or another text."""
    return _described(Description(str, default, meaning))


def choice(default: str | None, words: Mapping[str, str] | Iterable[str], meaning: str) -> Any:
    """Describe a field that holds one of some words; a mapping tells how messages call them, else as they are."""
    named = words if isinstance(words, Mapping) else {word: word.upper() for word in words}
    return _described(Description(str, default, meaning, words=named))


def _described(description: Description) -> Any:
    return field(default=description.default, metadata={_KEY: description})


class Described:
    """A dataclass some of whose fields are described; its docstring tells them, and what it is given is checked.

    Attributes:
        part_of: what refusals write before a field's name, of a part of a request.
    """

    part_of: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        """Tell the fields in the docstring."""
        own = ((name, value.metadata[_KEY]) for name, value in vars(cls).items() if _is_described(value))
        lines = [f"    {name}: {one.told}." for name, one in own]
        if lines and cls.__doc__:
            cls.__doc__ = f"{cls.__doc__.rstrip()}\n\nFields:\n" + "\n".join(lines)

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: one can't be used; it names the field, its value and what would be right.
        """
        for name, description in descriptions(type(self)).items():
            description.check(getattr(self, name), f"{self.part_of}{name}")


def _is_described(value: object) -> bool:
    return isinstance(value, dataclasses.Field) and _KEY in value.metadata


def descriptions(kind: type) -> dict[str, Description]:
    """Return the described fields of a dataclass by name."""
    return {one.name: one.metadata[_KEY] for one in dataclasses.fields(kind) if _KEY in one.metadata}


def add_options(parser: argparse.ArgumentParser, kind: type, names: Collection[str]) -> None:
    """Let a command line set fields of a dataclass; what isn't given is None.

    Args:
        parser: of the command line.
        kind: the dataclass.
        names: of its fields, which hold numbers or texts.
    """
    for name in names:
        one = descriptions(kind)[name]
        option = "--" + name.replace("_", "-")
        parser.add_argument(option, type=one.kind, metavar=one.kind.__name__.upper(), help=one.told)
