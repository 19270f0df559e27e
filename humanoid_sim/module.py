# SPDX-License-Identifier: Apache-2.0
"""What acts around each step of a simulation: devices, monitors, recorders, controllers of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from humanoid_model.errors import InputError

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class Module:
    """A part of a simulation that a user adds or leaves out (specification 000 §1.4).

    A module is added by :meth:`~humanoid_sim.simulation.Simulation.add_module`. It overrides the methods that it needs.

    Attributes:
        name: under which the simulation knows it.
        requires: names of modules that must have been added before.
    """

    name: str
    requires: tuple[str, ...] = ()

    def attach(self, simulation: Simulation) -> None:
        """Get ready for a simulation.

        Raises:
            InputError: the module can't work with this scene.
        """

    def before_step(self, simulation: Simulation) -> None:
        """Set targets and apply wrenches for the step that comes."""

    def after_step(self, simulation: Simulation) -> None:
        """Read what the step gave."""

    def save(self) -> object:
        """A copy of everything that decides how the module goes on; None for a module without memory."""
        return None

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""

    def detach(self, simulation: Simulation) -> None:
        """Let go of what the module holds."""


class Modules(dict[str, Module]):
    """The modules of a simulation by name, in the order in which they act."""

    def add(self, module: Module, simulation: Simulation) -> None:
        """Let a module act after those that are there already.

        Raises:
            InputError: another module has its name, one that it requires is missing, or it doesn't fit the scene.
        """
        if module.name in self:
            raise InputError(
                f"there is a module '{module.name}' already",
                element="module",
                remedy="Remove it first, or give the new one another name",
            )
        for name in module.requires:
            if name not in self:
                raise InputError(
                    f"the module '{module.name}' requires the module '{name}', which is not there",
                    element="module",
                    remedy=f"Add '{name}' first",
                )
        module.attach(simulation)
        self[module.name] = module

    def remove(self, name: str, simulation: Simulation) -> None:
        """Let a module act no longer.

        Raises:
            InputError: there is none of that name, or another one requires it.
        """
        if name not in self:
            raise InputError(
                f"there is no module '{name}'", element="module", remedy=f"There are {', '.join(self) or 'none'}"
            )
        for other in self.values():
            if name in other.requires:
                raise InputError(
                    f"the module '{other.name}' requires the module '{name}'",
                    element="module",
                    remedy=f"Remove '{other.name}' first",
                )
        self.pop(name).detach(simulation)

    def save(self) -> dict[str, object]:
        """What each module saves, by name."""
        return {name: module.save() for name, module in self.items()}

    def restore(self, states: Mapping[str, object]) -> None:
        """Let each module go back to what it saved, if it did."""
        for name, module in self.items():
            if name in states:
                module.restore(states[name])
