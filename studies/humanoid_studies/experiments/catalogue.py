# SPDX-License-Identifier: Apache-2.0
"""Experiments by name, loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

from humanoid_model.errors import InputError
from humanoid_studies.experiments.compared_numbers import ComparedNumbers


@dataclass(frozen=True)
class Experiment:
    """An experiment, a module of its own.

    Attributes:
        id: its name in its specification.
        name: of its module, and of the command's argument.
        title: what it is about.
        package: that the module is in.
        shows_progress: whether its ``run`` takes ``progress``, a bar.
    """

    id: str
    name: str
    title: str
    package: str
    shows_progress: bool = False

    @property
    def run(self) -> Callable[..., ComparedNumbers]:
        """The module's function ``run``, which does the experiment; all its arguments have defaults."""
        return import_module(f"{self.package}.{self.name}").run


def experiments_of(
    package: str, *experiments: tuple[str, str, str], shows_progress: bool = False
) -> tuple[Experiment, ...]:
    """Experiments in the order of their specification.

    Args:
        package: that their modules are in.
        experiments: id, name and title of each.
        shows_progress: whether their ``run`` takes ``progress``, a bar.
    """
    return tuple(Experiment(*words, package, shows_progress) for words in experiments)


def find_experiment(name: str, experiments: Sequence[Experiment]) -> Experiment:
    """Return the experiment with a name or an id, the latter in capitals or not.

    Raises:
        InputError: there is none.
    """
    for experiment in experiments:
        if name == experiment.name or name.lower() == experiment.id.lower():
            return experiment
    raise InputError(
        f"there is no experiment '{name}'",
        element="experiment",
        remedy=f"There are {', '.join(f'{e.id} {e.name}' for e in experiments)}",
    )
