# SPDX-License-Identifier: Apache-2.0
"""Experiments by name, loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, overload

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class Experiment:
    """An experiment, a module of its own.

    Attributes:
        id: its name in its specification.
        name: of its module, and of the command's argument.
        title: what it is about.
        package: that the module is in.
    """

    id: str
    name: str
    title: str
    package: str

    @property
    def run(self) -> Callable[..., Any]:
        """The module's function ``run``, which gives :class:`.ComparedNumbers`; all its arguments have defaults."""
        return import_module(f"{self.package}.{self.name}").run


class ExperimentCatalogue(Sequence[Experiment]):
    """All experiments of a package, in the order of their specification.

    Args:
        package: that their modules are in.
        experiments: id, name and title of each.
    """

    def __init__(self, package: str, *experiments: tuple[str, str, str]) -> None:
        self._experiments = tuple(Experiment(*words, package) for words in experiments)

    @overload
    def __getitem__(self, index: int) -> Experiment: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Experiment]: ...

    def __getitem__(self, index: int | slice) -> Experiment | Sequence[Experiment]:
        """By place."""
        return self._experiments[index]

    def __iter__(self) -> Iterator[Experiment]:
        """In order."""
        return iter(self._experiments)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._experiments)

    def find(self, name: str) -> Experiment:
        """The experiment with a name or an id, the latter in capitals or not.

        Raises:
            InputError: there is none.
        """
        for experiment in self._experiments:
            if name == experiment.name or name.lower() == experiment.id.lower():
                return experiment
        raise InputError(
            f"there is no experiment '{name}'",
            element="experiment",
            remedy=f"There are {', '.join(f'{e.id} {e.name}' for e in self._experiments)}",
        )
