# SPDX-License-Identifier: Apache-2.0
"""The main program of a simulation, written by a user in a file of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from humanoid_model.scene import Scene

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


class Scenario:
    """What happens in a simulation (specification 000 §1.5); a user's file holds one subclass.

    Class attributes that hold a number, a word or a list of them are parameters: ``--set name=value`` changes them
    before :meth:`prepare` is called.

    Attributes:
        scene: a scene, the name of one that comes with the stack, or a path, relative to the scenario's file first.
        dt: time step [s]; None for the scene's own, which is 1 ms by default.
        solver: name of the contact solver; it may be one that the file registers.
        duration: simulated time [s]; None for a scenario that ends by itself.
        options: further arguments of :class:`~humanoid_sim.simulation.Simulation`, by name.
    """

    scene: Scene | str | Path = ""
    dt: float | None = None
    solver: str = "nsgs_newton"
    duration: float | None = None
    options: Mapping[str, Any] = MappingProxyType({})

    def prepare(self, scene: Scene) -> Scene:
        """Choose bodies and pairs before the simulation is made, see :mod:`humanoid_sim.scenario.selection`.

        Args:
            scene: as loaded.

        Returns:
            What is simulated.
        """
        return scene

    def init(self, simulation: Simulation) -> None:
        """Get ready: add modules, set targets and gains."""

    def loop(self, simulation: Simulation) -> bool | None:
        """Act before each step: move targets, push, read what the last step gave.

        Returns:
            True to end before the duration is over.
        """
        return None

    def end(self, simulation: Simulation) -> None:
        """Finish: write results, free what :meth:`init` took. Called whenever :meth:`init` returned."""
