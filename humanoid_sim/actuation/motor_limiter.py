# SPDX-License-Identifier: Apache-2.0
"""Drives that give no more than their motors can at the present speed, and their peak efforts only for a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_sim.actuation.drives import Drives
from humanoid_sim.actuation.motor_limits import effort_range, motor_load
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


@dataclass
class MotorLimiterState:
    """What decides how the limits go on.

    Attributes:
        peak: time spent above the nominal limits, less the time to recover since [s], shape (n,).
        exhausted: whether the drive must recover, shape (n,).
        last_speed: speeds at the start of the step before, shape (n,).
    """

    peak: NDArray[np.float64]
    exhausted: NDArray[np.bool_]
    last_speed: NDArray[np.float64]


class MotorLimiter(Module):
    r"""Limits the servos of a robot by torque and speed (5.25, 5.26), and by the time above the nominal limits.

    Before each step the least and largest effort of each drive are set to what
    :func:`~humanoid_sim.actuation.motor_limits.effort_range` allows at the speed to which the last step's acceleration
    leads by the end of this one. A drive that has spent its ``peak_time`` above the nominal limits gives no more than
    these until it has stayed within them for as long (the thesis names the time, not the recovery).

    Attributes:
        name: ``"motor_limiter/<robot>"``.
        drives: what is limited, once the module has been added.
    """

    drives: Drives

    def __init__(self, robot: str) -> None:
        """Limit the drives of the robot of a name."""
        self.name = f"motor_limiter/{robot}"
        self._robot = robot
        self._state = MotorLimiterState(np.zeros(0), np.zeros(0, dtype=bool), np.zeros(0))

    def attach(self, simulation: Simulation) -> None:
        """Read the drives' limits.

        Raises:
            InputError: no such robot, or a limit that is zero.
        """
        self.drives = Drives.of_robot(simulation, self._robot)
        self.drives.check_limits()
        k = self.drives.coordinates
        self._state = MotorLimiterState(np.zeros(k.size), np.zeros(k.size, dtype=bool), simulation.v[k])

    def before_step(self, simulation: Simulation) -> None:
        """Set the servos' limits for the step that comes."""
        drives, servos, state = self.drives, simulation.servos, self._state
        k = drives.coordinates
        speed = simulation.v[k]
        expected = 2.0 * speed - state.last_speed
        state.last_speed = speed
        largest = np.where(state.exhausted, drives.nominal_effort, drives.effort)
        servos.lowest[k], servos.highest[k] = effort_range(expected, drives.speed, largest)

    def after_step(self, simulation: Simulation) -> None:
        """Count the time above the nominal limits."""
        drives, state, k = self.drives, self._state, self.drives.coordinates
        above = (
            motor_load(simulation.v[k], simulation.efforts[k], drives.speed, drives.nominal_effort) > 1.0 + 1e-6
        )
        # A drive that is held at its nominal limits recovers.
        state.peak = np.where(
            above & ~state.exhausted, state.peak + simulation.dt, np.maximum(state.peak - simulation.dt, 0.0)
        )
        spent = state.peak >= drives.peak_time - 0.5 * simulation.dt
        state.exhausted = (state.exhausted | spent) & (state.peak > 0.0)

    @property
    def exhausted(self) -> NDArray[np.bool_]:
        """Whether each drive of ``drives.names`` must recover from its peak effort, shape (n,)."""
        return self._state.exhausted.copy()

    def save(self) -> MotorLimiterState:
        """Return a copy of what decides how the limits go on."""
        state = self._state
        return MotorLimiterState(state.peak.copy(), state.exhausted.copy(), state.last_speed.copy())

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, MotorLimiterState)
        self._state = MotorLimiterState(state.peak.copy(), state.exhausted.copy(), state.last_speed.copy())

    def detach(self, simulation: Simulation) -> None:
        """Let the drives give their largest efforts at any speed again."""
        servos, k = simulation.servos, self.drives.coordinates
        servos.lowest[k], servos.highest[k] = -servos.limit[k], servos.limit[k]
