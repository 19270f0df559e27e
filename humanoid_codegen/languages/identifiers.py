# SPDX-License-Identifier: Apache-2.0
"""Identifiers that every output language takes, made of names that may be any text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from humanoid_model.errors import InputError

#: MATLAB ignores what is longer, and C promises no more.
MAX_LENGTH = 63


def legal_identifier(name: str) -> str:
    """Return the name with what no language has in identifiers replaced: ``épaule 2-g`` becomes ``epaule_2_g``.

    Two underscores in a row, or one in front, are reserved by C and C++, so there are none.
    """
    if name.isascii() and name.isidentifier() and len(name) <= MAX_LENGTH and "__" not in name and name[0] != "_":
        return name
    decomposed = unicodedata.normalize("NFKD", name)
    plain = "".join(char for char in decomposed if not unicodedata.combining(char))
    text = re.sub(r"[\W_]+", "_", plain, flags=re.ASCII).lstrip("_")
    if not text or not text[0].isalpha():
        text = f"x_{text}"
    return text[:MAX_LENGTH]


def words(text: str) -> frozenset[str]:
    """Return words of a text, such as a language's keywords."""
    return frozenset(text.split())


class Identifiers:
    """Gives out identifiers, each once.

    Args:
        reserved: identifiers that mean something else already.
    """

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(reserved)
        self._last_number: dict[str, int] = {}

    def new(self, name: str) -> str:
        """Return an identifier for a name: the name itself if that is legal and free, else with a number behind it."""
        legal = free = legal_identifier(name)
        number = self._last_number.get(legal, 1)
        while free in self._taken:
            number += 1
            suffix = f"_{number}"
            free = legal[: MAX_LENGTH - len(suffix)] + suffix
        self._last_number[legal] = number
        self._taken.add(free)
        return free


def check_module_name(name: str, language: str, forbidden: Iterable[str]) -> None:
    """Refuse a module whose name the language can't have as the name of a file and in front of functions.

    Raises:
        InputError: the name is no identifier, or means something else in the language.
    """
    remedy = "Give the robot another name, in the URDF's <robot name=...>, of letters, digits and underscores"
    if not (name.isascii() and name.isidentifier()):
        raise InputError(f"'{name}' is no identifier of {language}", element="name of the module", remedy=remedy)
    if name in frozenset(forbidden):
        raise InputError(f"'{name}' is a word of {language} itself", element="name of the module", remedy=remedy)
