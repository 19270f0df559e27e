# SPDX-License-Identifier: Apache-2.0
"""The experiments by name, loaded when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from humanoid_model.errors import InputError
from humanoid_planner.gait.experiments.experiment_result import ExperimentResult


@dataclass(frozen=True)
class Experiment:
    """An experiment of the thesis.

    Attributes:
        id: its name in specification 003 Part 4.
        name: of its module in ``humanoid_planner.gait.experiments``, and of the command's argument.
        title: what it is about.
    """

    id: str
    name: str
    title: str

    @property
    def run(self) -> Callable[[], ExperimentResult]:
        """The module's function ``run``."""
        return import_module(f"humanoid_planner.gait.experiments.{self.name}").run


EXPERIMENTS = (
    Experiment("F1", "small_transfer", "Five-bar mechanism, small transfer of a load"),
    Experiment("F2", "large_transfer", "Five-bar mechanism, large transfer of a load"),
    Experiment("R1", "rabbit_double_support", "RABBIT, double support"),
    Experiment("R2", "rabbit_single_support", "RABBIT, single support and the whole step"),
    Experiment("B1", "start_step", "BIP, from rest into the walk"),
    Experiment("B2", "cyclic_double_support", "BIP, cyclic double support"),
    Experiment("B3", "cyclic_single_support", "BIP, cyclic single support"),
    Experiment("B4", "braking_double_support", "BIP, braking double support"),
    Experiment("B5", "stop_step", "BIP, from the walk to rest"),
    Experiment("B6", "whole_walk", "BIP, the five phases from rest to rest"),
)
"""All experiments, in the order of the specification."""


def find_experiment(name: str) -> Experiment:
    """The experiment with a name (``stop_step``) or an id (``B5``).

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
