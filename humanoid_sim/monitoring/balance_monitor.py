# SPDX-License-Identifier: Apache-2.0
"""Records a robot's balance over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.module import Module
from humanoid_sim.monitoring.balance import Balance, horizontal_axes, robot_balance
from humanoid_sim.monitoring.centroidal_momentum import MomentumMeter

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass(frozen=True)
class BalanceSeries:
    """A robot's balance over time; NaN where something isn't defined, as a centre of pressure in the air.

    Attributes:
        time: s, shape (k,).
        centre_of_mass: m, shape (k, 3).
        velocity: of the centre of mass [m/s], shape (k, 3).
        angular_momentum: about the centre of mass [kg m^2/s], shape (k, 3).
        force: sum of the contact forces [N], shape (k, 3).
        zero_moment_point: m, shape (k, 3).
        capture_point: m, shape (k, 3).
        margin: of the zero-moment point within the support polygon [m], shape (k,).
        centres_of_pressure: m, shape (k, 3) each, by the link's name.
    """

    time: NDArray[np.float64]
    centre_of_mass: NDArray[np.float64]
    velocity: NDArray[np.float64]
    angular_momentum: NDArray[np.float64]
    force: NDArray[np.float64]
    zero_moment_point: NDArray[np.float64]
    capture_point: NDArray[np.float64]
    margin: NDArray[np.float64]
    centres_of_pressure: Mapping[str, NDArray[np.float64]]


class BalanceMonitor(Module):
    """Watches how a robot stands.

    For example::

        monitor = BalanceMonitor("hrp2", interval=5)
        simulation.add_module(monitor)
        simulation.run(2.0)
        monitor.series.margin.min(), monitor.last.support

    Attributes:
        name: ``"balance/<robot>"``.
    """

    def __init__(self, robot: str, interval: int = 1) -> None:
        """Choose robot and recording.

        Args:
            robot: name in the scene.
            interval: steps from one sample to the next.

        Raises:
            InputError: an interval below 1.
        """
        if interval < 1:
            raise InputError(f"interval is {interval}", element="interval", remedy="Give a number of steps, 1 or more")
        self.name = f"balance/{robot}"
        self._robot = robot
        self._interval = interval
        self._rows: list[tuple[float, Balance]] = []
        self._meter: MomentumMeter | None = None

    def attach(self, simulation: Simulation) -> None:
        """Find the robot.

        Raises:
            InputError: there is no robot of that name, or no gravity.
        """
        horizontal_axes(np.asarray(simulation.scene.gravity))
        self._meter = MomentumMeter(simulation, self._robot)
        self._rows.clear()

    def after_step(self, simulation: Simulation) -> None:
        """Take a sample when it is due."""
        if simulation.step_count % self._interval == 0:
            self._rows.append((simulation.time, robot_balance(simulation, self._robot, self._meter)))

    @property
    def last(self) -> Balance | None:
        """The last sample; None before the first one."""
        return self._rows[-1][1] if self._rows else None

    @property
    def series(self) -> BalanceSeries:
        """All samples so far."""
        samples = [balance for _, balance in self._rows]
        nothing = np.full(3, np.nan)
        links = dict.fromkeys(link for balance in samples for link in balance.centres_of_pressure)

        def column(rows: list[NDArray[np.float64]]) -> NDArray[np.float64]:
            return np.array(rows, dtype=float).reshape(-1, 3)

        return BalanceSeries(
            time=np.array([time for time, _ in self._rows]),
            centre_of_mass=column([balance.centre_of_mass for balance in samples]),
            velocity=column([balance.momentum.velocity for balance in samples]),
            angular_momentum=column([balance.momentum.angular for balance in samples]),
            force=column([balance.force for balance in samples]),
            zero_moment_point=column([balance.zero_moment_point for balance in samples]),
            capture_point=column([balance.capture_point for balance in samples]),
            margin=np.array([balance.margin for balance in samples]),
            centres_of_pressure={
                link: column([balance.centres_of_pressure.get(link, nothing) for balance in samples])
                for link in links
            },
        )

    def save(self) -> object:
        """Return how many samples there are; later ones are dropped when this is restored."""
        return len(self._rows)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, int)
        del self._rows[state:]
