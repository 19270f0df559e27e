# SPDX-License-Identifier: Apache-2.0
"""The experiments by name, loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from humanoid_model.errors import InputError
from humanoid_sim.experiments.experiment_result import ExperimentResult


@dataclass(frozen=True)
class Experiment:
    """An experiment of the thesis.

    Attributes:
        id: its name in specification 000 §27.
        name: of its module in ``humanoid_sim.experiments``, and of the command's argument.
        title: what it is about.
    """

    id: str
    name: str
    title: str

    @property
    def run(self) -> Callable[..., ExperimentResult]:
        """The module's function ``run``; all its arguments have defaults, ``progress`` (a bar) is one of them."""
        return import_module(f"humanoid_sim.experiments.{self.name}").run


EXPERIMENTS = (
    Experiment("E1", "four_leg_table", "A table on four legs"),
    Experiment("E3", "carried_box", "A large box carried while walking"),
    Experiment("E12b", "walking_materials", "Walking on soles of several materials"),
    Experiment("E13", "walking", "Walking on rigid feet, flexible ankles and soles"),
    Experiment("E14", "grains", "Walking on grains"),
    Experiment("E15", "shaped_soles", "Walking on shaped soles"),
)
"""All experiments, in the order of the specification."""


def find_experiment(name: str) -> Experiment:
    """The experiment with a name (``four_leg_table``) or an id (``E1``).

    Raises:
        InputError: there is none.
    """
    for experiment in EXPERIMENTS:
        if name == experiment.name or name.upper() == experiment.id:
            return experiment
    raise InputError(
        f"there is no experiment '{name}'",
        element="experiment",
        remedy=f"There are {', '.join(f'{e.id} {e.name}' for e in EXPERIMENTS)}",
    )
