# SPDX-License-Identifier: Apache-2.0
r"""What motors can give: limits, drives that keep to them, and records of what they couldn't do.

A direct-current motor stays within :math:`|\dot q/\dot q^M + \Gamma/\Gamma^M| < 1` (5.25) and
:math:`|\Gamma| < \Gamma^M` (5.26): a parallelogram in the plane of torque and speed (specification 000 §20.4, F145 and
F168). Peak efforts last only for a while.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.actuation.drives import Drives
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


def motor_load(
    speed: ArrayLike, effort: ArrayLike, max_speed: ArrayLike, max_effort: ArrayLike
) -> NDArray[np.float64]:
    r"""How much of its parallelogram a motor uses: the larger of :math:`|\dot q/\dot q^M+\Gamma/\Gamma^M|`, |Γ|/Γᴹ.

    Args:
        speed: rad/s or m/s, of any shape.
        effort: N m or N, of a shape that fits.
        max_speed: without load, infinite for none, likewise.
        max_effort: at standstill, infinite for none, likewise.

    Returns:
        Below 1 within the limits, of the common shape.

    Raises:
        InputError: a limit that is not positive.
    """
    _check_limits(max_speed, max_effort)
    torque = np.asarray(effort, dtype=float) / max_effort
    return np.maximum(np.abs(np.asarray(speed, dtype=float) / max_speed + torque), np.abs(torque))


def effort_range(
    speed: ArrayLike, max_speed: ArrayLike, max_effort: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest and largest effort that a motor can give at a speed.

    Against the motion it can give its largest effort, with the motion less the faster it turns, and none beyond its
    largest speed, where it can only brake.

    Args:
        speed: rad/s or m/s, of any shape.
        max_speed: without load, infinite for none, of a shape that fits.
        max_effort: at standstill, infinite for none, likewise.

    Returns:
        Lower bound, zero or negative, and upper bound, zero or positive, of the common shape.

    Raises:
        InputError: a limit that is not positive.
    """
    _check_limits(max_speed, max_effort)
    largest = np.asarray(max_effort, dtype=float)
    used = np.asarray(speed, dtype=float) / max_speed
    # An unlimited motor stays so at its largest speed: infinity times zero has no value.
    with np.errstate(invalid="ignore"):
        upper = largest * np.clip(1.0 - used, 0.0, 1.0)
        lower = -largest * np.clip(1.0 + used, 0.0, 1.0)
    return np.nan_to_num(lower, nan=-np.inf, neginf=-np.inf), np.nan_to_num(upper, nan=np.inf, posinf=np.inf)


def parallelogram(max_speed: float, max_effort: float) -> NDArray[np.float64]:
    """Corners (torque, speed) of a motor's limits, shape (4, 2), one after the other.

    Raises:
        InputError: a limit that is not positive or not finite.
    """
    _check_limits(max_speed, max_effort)
    if not (np.isfinite(max_speed) and np.isfinite(max_effort)):
        raise InputError("a motor without limits has no parallelogram", element="limits", remedy="Give finite limits")
    q, tau = max_speed, max_effort
    return np.array([[tau, 0.0], [-tau, 2.0 * q], [-tau, 0.0], [tau, -2.0 * q]])


def _check_limits(max_speed: ArrayLike, max_effort: ArrayLike) -> None:
    for name, values in (("largest speed", max_speed), ("largest effort", max_effort)):
        if not np.all(np.asarray(values) > 0.0):
            raise InputError(f"{name} is {values!r}", element=name, remedy="Give positive numbers")


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
    :func:`effort_range` allows at the speed to which the last step's acceleration
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


def plot_motors(monitor: MotorMonitor, path: str | Path, drives: Sequence[str] | None = None) -> None:
    """Draw (torque, speed) of drives, one picture each, within peak (black) and nominal (green) parallelograms.

    Points beyond the peak parallelogram are red.

    Args:
        monitor: what has recorded.
        path: picture to write, of any kind that matplotlib knows.
        drives: names; all if not given.

    Raises:
        InputError: an unknown drive, or none.
    """
    import matplotlib.pyplot as plt  # takes a second, and only pictures need it

    chosen = monitor.drives.names if drives is None else tuple(drives)
    if not chosen:
        raise InputError("no drive is named", element="drives", remedy="Name one, or leave the argument out")
    columns = min(len(chosen), 4)
    rows = math.ceil(len(chosen) / columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(3.4 * columns, 2.8 * rows), layout="constrained", squeeze=False
    )
    series, limits = monitor.series, monitor.drives
    for axis in axes.flat[len(chosen) :]:
        axis.set_axis_off()
    for axis, name in zip(axes.flat, chosen, strict=False):
        i = limits.place(name)
        speed, effort = series.speed[:, i], series.effort[:, i]
        for largest, colour, label in (
            (limits.effort[i], "black", "peak"),
            (limits.nominal_effort[i], "green", "nominal"),
        ):
            if np.isfinite(largest) and np.isfinite(limits.speed[i]):
                corners = parallelogram(limits.speed[i], largest)
                if label == "peak" or largest < limits.effort[i]:
                    closed = np.vstack([corners, corners[:1]])
                    axis.plot(closed[:, 0], closed[:, 1], color=colour, linewidth=1.2, label=label)
        over = motor_load(speed, effort, limits.speed[i], limits.effort[i]) > 1.0 + LOAD_TOLERANCE
        axis.plot(effort, speed, color="#1f77b4", linewidth=0.8)
        axis.plot(effort[over], speed[over], ".", color="red", markersize=3, label="beyond" if over.any() else None)
        effort_unit, speed_unit = ("N", "m/s") if limits.slides[i] else ("N m", "rad/s")
        axis.set(title=name, xlabel=f"effort [{effort_unit}]", ylabel=f"speed [{speed_unit}]")
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=7)
    figure.savefig(path, dpi=120)
    plt.close(figure)
