# SPDX-License-Identifier: Apache-2.0
"""Things by their names, where an unknown name is an error that lists the known ones."""

from __future__ import annotations

from typing import TypeVar

from humanoid_model.errors import InputError
from humanoid_model.similar_name import did_you_mean

T = TypeVar("T")


class ByName(dict[str, T]):
    """A dictionary of the scene's robots or bodies."""

    def __init__(self, kind: str, things: dict[str, T]) -> None:
        """Keep things of a kind, ``"robot"``, for the error message."""
        super().__init__(things)
        self._kind = kind

    def __missing__(self, name: str) -> T:
        """Refuse an unknown name.

        Raises:
            InputError: always.
        """
        raise InputError(
            f"there is no {self._kind} '{name}'",
            element=self._kind,
            remedy=f"{did_you_mean(name, self)}There are {', '.join(self) or 'none'}",
        )
