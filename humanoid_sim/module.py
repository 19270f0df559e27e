# SPDX-License-Identifier: Apache-2.0
"""What acts around each step of a simulation: devices, monitors, recorders, controllers of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class Module:
    """A part of a simulation that a user adds or leaves out (specification 000 §1.4).

    A module is added by :meth:`~humanoid_sim.simulation.Simulation.add_module`. It overrides the methods that it needs.
    Copies of the simulation have deep copies of it; what it holds of the simulation (robots, bodies, servos) is theirs
    in them. Functions are shared: one that a module keeps should take the simulation as an argument.

    Attributes:
        name: under which the simulation knows it; that of its class if it has none.
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
        """Return a copy of the module's state; None for a module without one."""
        return None

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""

    def detach(self, simulation: Simulation) -> None:
        """Let go of what the module holds."""
