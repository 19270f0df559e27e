# SPDX-License-Identifier: Apache-2.0
"""Described fields of the library's dataclasses in messages: they have the same names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from humanoid_model.checks import check_known
from humanoid_model.errors import InputError
from humanoid_model.fields import Description, descriptions


def read_fields(kind: type, message: Any, *constants: type) -> dict[str, Any]:
    """Return what a message says of a dataclass, whose own checks look at it; 0 leaves open what may be.

    Args:
        kind: the dataclass.
        message: whose fields have the same names; others are left out.
        constants: types that have the words' constants beside the message's own.

    Raises:
        InputError: a number that is no constant.
    """
    found: dict[str, Any] = {}
    for name, one in descriptions(kind).items():
        if hasattr(message, name):
            value = getattr(message, name)
            found[name] = _word(one, value, name, type(message), *constants) if one.words else one.read(value)
    return found


def constants_of(words: Mapping[str, str], *types: type) -> dict[str, int]:
    """Return the numbers that types of messages have for words; words without a number are left out."""
    return {
        word: next(int(getattr(kind, name)) for kind in types if hasattr(kind, name))
        for word, name in words.items()
        if any(hasattr(kind, name) for kind in types)
    }


def write_word(words: Mapping[str, str], word: str, field: str, *types: type) -> int:
    """Return the number that a message has for a word.

    Raises:
        InputError: it has none.
    """
    numbers = constants_of(words, *types)
    return numbers[check_known(word, numbers, field, field)]


def _word(one: Description, value: int, field: str, *types: type) -> str:
    numbers = constants_of(one.words, *types)
    for word, number in numbers.items():
        if number == value:
            return word
    known = ", ".join(f"{numbers[word]} ({one.words[word]})" for word in sorted(numbers, key=lambda one: numbers[one]))
    raise InputError(f"is {value}", element=field, remedy=f"Give one of {known}")


@contextmanager
def within(field: str) -> Iterator[None]:
    """Let refusals of a part name it as the request does."""
    try:
        yield
    except InputError as error:
        raise InputError(error.problem, element=f"{field}.{error.element}", remedy=error.remedy) from None
