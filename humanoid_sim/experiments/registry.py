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
    Experiment("E0", "can_grasp", "A gripper closes on a can"),
    Experiment("E1", "four_leg_table", "A table on four legs"),
    Experiment("E2", "reaching_far", "Reaching a far object with a hand on the table"),
    Experiment("E3", "carried_box", "A large box carried while walking"),
    Experiment("E4", "cost_of_contacts", "Cost against the number of contacts"),
    Experiment("E5", "delassus_standing", "Delassus operator of a standing HRP-2"),
    Experiment("E6", "delassus_one_branch", "Delassus operator of two bodies of one limb"),
    Experiment("E7", "collision_groups", "Cubes and collision groups"),
    Experiment("E8", "ball_joint", "Parametrisations of a ball joint"),
    Experiment("E9", "haptic_object", "Haptic manipulation of one object"),
    Experiment("E10", "haptic_arm", "Haptic manipulation of HRP-2's arm"),
    Experiment("E11", "collaborative_carrying", "Carrying a board with HRP-2, and a push"),
    Experiment("E12", "sole_materials", "Which material soles should be made of"),
    Experiment("E12b", "walking_materials", "Walking on soles of several materials"),
    Experiment("E13", "walking", "Walking on rigid feet, flexible ankles and soles"),
    Experiment("E14", "grains", "Walking on grains"),
    Experiment("E15", "shaped_soles", "Walking on shaped soles"),
    Experiment("E16", "toppling", "Toppling onto a table with an object"),
    Experiment("E17", "friction_identification", "Friction of a foot, found by pulling"),
    Experiment("E18", "pressing_a_beam", "A force sensor while a hand presses a beam"),
    Experiment("E22", "solver_table", "Contact solvers on HRP-2 standing on 16 contacts"),
    Experiment("E23", "pivoting_and_facets", "Gauss–Seidel against pivoting, and facets"),
    Experiment("E24", "cube_on_plane", "Contact points of a cube on a plane"),
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
