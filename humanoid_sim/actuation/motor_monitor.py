# SPDX-License-Identifier: Apache-2.0
"""Records torque and speed of drives and flags what their motors couldn't do (specification 000, F145 and F168)."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.actuation.drives import Drives
from humanoid_sim.actuation.motor_limits import motor_load
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation

LOAD_TOLERANCE = 1e-3
"""A drive is within its limits up to this: the limiter knows the speed at the end of a step only approximately."""


@dataclass(frozen=True)
class MotorSeries:
    """Speeds and efforts of n drives over time.

    Attributes:
        time: s, shape (k,).
        speed: rad/s or m/s at the joint, shape (k, n).
        effort: N m or N at the joint, shape (k, n).
    """

    time: NDArray[np.float64]
    speed: NDArray[np.float64]
    effort: NDArray[np.float64]


@dataclass(frozen=True)
class DriveReport:
    """What one drive was asked for.

    Attributes:
        name: of the drive.
        load: largest part of the peak parallelogram that was used; above 1 the motor couldn't have done it.
        steps_over: number of steps beyond the peak parallelogram.
        steps_saturated: number of steps in which the servo gave all that its limit allowed.
        nominal_load: largest part of the nominal parallelogram that was used.
        longest_peak: longest uninterrupted time beyond the nominal parallelogram [s].
        allowed_peak: how long that may be [s].
        motor_effort: largest absolute effort of the motor itself, before the gear [N m or N].
        motor_speed: largest absolute speed of the motor itself [rad/s or m/s].
    """

    name: str
    load: float
    steps_over: int
    steps_saturated: int
    nominal_load: float
    longest_peak: float
    allowed_peak: float
    motor_effort: float
    motor_speed: float

    @property
    def violated(self) -> bool:
        """Whether a real motor would have failed: beyond the peak limits at all, or the nominal ones too long."""
        return self.steps_over > 0 or self.longest_peak >= self.allowed_peak


@dataclass
class _Counters:
    load: NDArray[np.float64]
    over: NDArray[np.int64]
    saturated: NDArray[np.int64]
    nominal_load: NDArray[np.float64]
    peak: NDArray[np.float64]
    longest: NDArray[np.float64]
    effort: NDArray[np.float64]
    speed: NDArray[np.float64]
    recorded: int


class MotorMonitor(Module):
    """Watches the drives of a robot: each step against the limits, every ``interval``-th one recorded.

    For example::

        monitor = MotorMonitor("hrp2")
        simulation.add_module(monitor)
        simulation.run(2.0)
        [report.name for report in monitor.report() if report.violated]

    Attributes:
        name: ``"motor_monitor/<robot>"``.
        drives: what is watched, once the module has been added.
    """

    drives: Drives

    def __init__(self, robot: str, interval: int = 1) -> None:
        """Choose robot and recording.

        Args:
            robot: name in the scene.
            interval: steps from one recorded sample to the next.

        Raises:
            InputError: an interval below 1.
        """
        if interval < 1:
            raise InputError(f"interval is {interval}", element="interval", remedy="Give a number of steps, 1 or more")
        self.name = f"motor_monitor/{robot}"
        self._robot = robot
        self._interval = interval
        self._rows: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []
        self._counters = _zero_counters(0)

    def attach(self, simulation: Simulation) -> None:
        """Read the drives' limits.

        Raises:
            InputError: no such robot, or a limit that is zero.
        """
        self.drives = Drives.of_robot(simulation, self._robot)
        self.drives.check_limits()
        self._rows.clear()
        self._counters = _zero_counters(self.drives.coordinates.size)

    def after_step(self, simulation: Simulation) -> None:
        """Compare with the limits, and record."""
        drives, counters = self.drives, self._counters
        k = drives.coordinates
        speed, effort = simulation.v[k], simulation.efforts[k]
        load = motor_load(speed, effort, drives.speed, drives.effort)
        counters.load = np.maximum(counters.load, load)
        counters.over = counters.over + (load > 1.0 + LOAD_TOLERANCE)
        counters.saturated = counters.saturated + (simulation.servos.saturated[k] != 0)
        nominal = motor_load(speed, effort, drives.speed, drives.nominal_effort)
        counters.nominal_load = np.maximum(counters.nominal_load, nominal)
        counters.peak = np.where(nominal > 1.0 + LOAD_TOLERANCE, counters.peak + simulation.dt, 0.0)
        counters.longest = np.maximum(counters.longest, counters.peak)
        counters.effort = np.maximum(counters.effort, np.abs(effort))
        counters.speed = np.maximum(counters.speed, np.abs(speed))
        if simulation.step_count % self._interval == 0:
            self._rows.append((simulation.time, speed, effort))
            counters.recorded = len(self._rows)

    @property
    def series(self) -> MotorSeries:
        """What has been recorded."""
        n = self.drives.coordinates.size
        return MotorSeries(
            np.array([time for time, _, _ in self._rows]),
            np.array([speed for _, speed, _ in self._rows]).reshape(-1, n),
            np.array([effort for _, _, effort in self._rows]).reshape(-1, n),
        )

    def report(self) -> list[DriveReport]:
        """Return what each drive was asked for so far."""
        drives, counters = self.drives, self._counters
        return [
            DriveReport(
                name=name,
                load=float(counters.load[i]),
                steps_over=int(counters.over[i]),
                steps_saturated=int(counters.saturated[i]),
                nominal_load=float(counters.nominal_load[i]),
                longest_peak=float(counters.longest[i]),
                allowed_peak=float(drives.peak_time[i]),
                motor_effort=float(counters.effort[i] / drives.gear_ratio[i]),
                motor_speed=float(counters.speed[i] * drives.gear_ratio[i]),
            )
            for i, name in enumerate(drives.names)
        ]

    def save(self) -> object:
        """Return a copy of the counters; what is recorded later is dropped when it is restored."""
        return copy.deepcopy(self._counters)

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, _Counters)
        self._counters = copy.deepcopy(state)
        del self._rows[state.recorded :]


def _zero_counters(n: int) -> _Counters:
    return _Counters(
        np.zeros(n), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(n), np.zeros(n),
        np.zeros(n), np.zeros(n), np.zeros(n), 0,
    )  # fmt: skip
