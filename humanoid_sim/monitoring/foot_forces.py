# SPDX-License-Identifier: Apache-2.0
"""Records what the ground does to each of a robot's soles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class FootForceSeries:
    """Forces on a robot's soles over k steps, by the names of its support contacts.

    Attributes:
        time: middles of the steps, over which the forces are means [s], shape (k,).
        force: in the world [N], shape (k, 3) each.
        centre_of_pressure: in the world, NaN where nothing presses [m], shape (k, 3) each.
    """

    time: NDArray[np.float64]
    force: Mapping[str, NDArray[np.float64]]
    centre_of_pressure: Mapping[str, NDArray[np.float64]]


class FootForceMonitor(Module):
    """Watches the forces that bodies other than the robot exert on the links of its soles.

    For example::

        monitor = FootForceMonitor("hrp2")
        simulation.add_module(monitor)
        simulation.run(2.0)
        monitor.series.force["left_sole"][:, 2].max()

    Attributes:
        name: ``"foot_forces/<robot>"``.
    """

    def __init__(self, robot: str) -> None:
        """Choose the robot.

        Args:
            robot: name in the scene.
        """
        self.name = f"foot_forces/{robot}"
        self._robot = robot
        self._links: dict[str, str] = {}
        self._times: list[float] = []
        self._rows: list[NDArray[np.float64]] = []

    def attach(self, simulation: Simulation) -> None:
        """Find the soles.

        Raises:
            InputError: there is no robot of that name, or it has no support contact.
        """
        if self._robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{self._robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
        contacts = simulation.robots[self._robot].robot.contacts
        self._links = {
            contact.name: f"{self._robot}/{contact.link}" for contact in contacts.values() if contact.support
        }
        if not self._links:
            raise InputError(
                "has no support contact",
                element=f"robot '{self._robot}'",
                remedy="Mark its soles in the robot's YAML with support: true",
            )
        self._times.clear()
        self._rows.clear()

    def after_step(self, simulation: Simulation) -> None:
        """Sum up the contacts of each sole."""
        contacts = simulation.contacts
        pressing = contacts.normal_force
        row = np.zeros((len(self._links), 7))  # force, normal force, places weighted with it
        own = f"{self._robot}/"
        for index, link in enumerate(self._links.values()):
            for i, (first, second) in enumerate(contacts.bodies):
                if first.startswith(own) and second.startswith(own):
                    continue
                if link in (first, second):
                    row[index, :3] += contacts.force[i] if first == link else -contacts.force[i]
                    row[index, 3] += pressing[i]
                    row[index, 4:] += pressing[i] * contacts.position[i]
        self._times.append(simulation.time - 0.5 * simulation.dt)
        self._rows.append(row)

    @property
    def series(self) -> FootForceSeries:
        """All steps so far."""
        rows = np.array(self._rows).reshape(-1, len(self._links), 7)
        force, pressure = {}, {}
        for index, name in enumerate(self._links):
            force[name] = rows[:, index, :3]
            with np.errstate(divide="ignore", invalid="ignore"):
                mean = rows[:, index, 4:] / rows[:, index, 3:4]
            pressure[name] = np.where(rows[:, index, 3:4] > 0.0, mean, np.nan)
        return FootForceSeries(np.array(self._times), force, pressure)

    def save(self) -> object:
        """Return how many steps there are; later ones are dropped when this is restored."""
        return len(self._rows)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, int)
        del self._times[state:]
        del self._rows[state:]
