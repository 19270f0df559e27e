# SPDX-License-Identifier: Apache-2.0
"""Joint trajectories from text files, played on a robot's servos (specification 000, F017)."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from humanoid_model.errors import InputError
from humanoid_model.files import read_text
from humanoid_model.joint_trajectory import JointTrajectory, warm_up_sampling
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


_EFFORT = "effort:"

DEFAULT_PERIOD = 5e-3
"""Time from one row to the next of a file without times [s] (specification 000, F156)."""


def read_joint_trajectory(path: str | Path, period: float = DEFAULT_PERIOD) -> JointTrajectory:
    """Read joint positions from a file of comma-separated values.

    The first row names the joints of the columns; a first column named ``time`` holds times. Positions are in rad or m.
    Between the rows runs the cubic spline through all of them, which has continuous velocities and accelerations.
    Columns named ``effort:<joint>`` hold feed-forward efforts, in N m or N, zero for joints without such a column;
    where they jump, the time is there twice. Empty lines and lines that begin with ``#`` are skipped.

    Args:
        path: the file.
        period: time from one row to the next [s], for a file without times.

    Raises:
        InputError: the file can't be read, a row has another length than the first, a value is not a finite number,
            times don't increase, a joint is named twice, there is no row, efforts of a joint without positions, or
            joints that jump; it names file, line and column.
    """
    source = str(path)
    if not (math.isfinite(period) and period > 0.0):
        raise InputError(f"period is {period}", element="period", remedy="Give a positive time in seconds")
    lines = read_text(path).splitlines()
    filled = [(i, line) for i, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    if len(filled) < 2:
        raise InputError(
            "holds no trajectory", source=source, remedy="Give a row of joint names and below it rows of positions"
        )
    numbers = [number for number, _ in filled]
    rows = [[cell.strip() for cell in row] for row in csv.reader(line for _, line in filled)]
    names = rows[0]
    timed = names[0] == "time"
    columns = names[1:] if timed else names
    joints = [name for name in columns if not name.startswith(_EFFORT)]
    driven = [name.removeprefix(_EFFORT) for name in columns if name.startswith(_EFFORT)]
    if not joints or not all(columns):
        raise InputError(
            "a column has no name", source=source, line=numbers[0], remedy="Name a joint for each column"
        )
    for name in joints:
        if _number(name) is not None:
            raise InputError(
                f"'{name}' is no joint's name", source=source, line=numbers[0], remedy="Put a row of names first"
            )
    for name in driven:
        if name not in joints or driven.count(name) > 1:
            raise InputError(
                f"has efforts of '{name}' " + ("twice" if name in joints else "without positions"),
                source=source,
                line=numbers[0],
                remedy="Give each joint one column of positions and at most one of efforts",
            )
    values = np.empty((len(rows) - 1, len(names)))
    for i, row in enumerate(rows[1:]):
        line = numbers[i + 1]
        if len(row) != len(names):
            raise InputError(
                f"the row has {len(row)} values", source=source, line=line, remedy=f"Give {len(names)}"
            )
        for j, cell in enumerate(row):
            value = _number(cell)
            if value is None or not math.isfinite(value):
                raise InputError(
                    f"'{cell}' is not a finite number",
                    source=source,
                    line=line,
                    element=names[j],
                    remedy="Give rad, m or s",
                )
            values[i, j] = value
    times = values[:, 0] if timed else period * np.arange(len(values))
    late = np.diff(times) < 0.0 if driven else np.diff(times) <= 0.0
    if late.any():
        i = int(np.argmax(late)) + 1
        raise InputError(
            f"time {times[i]:g} s is not later than the {times[i - 1]:g} s before it",
            source=source,
            line=numbers[i + 1],
            element="time",
            remedy="Let times increase",
        )
    given = values[:, 1:] if timed else values
    positions = given[:, [columns.index(name) for name in joints]]
    velocities = np.zeros_like(positions)
    kept = np.append(True, np.diff(times) > 0.0)
    if kept.sum() > 1:
        velocities = CubicSpline(times[kept], positions[kept]).derivative()(times)
    efforts = np.zeros_like(positions) if driven else None
    for name in driven:
        efforts[:, joints.index(name)] = given[:, columns.index(_EFFORT + name)]  # type: ignore[index]
    try:
        return JointTrajectory(joints, times, positions, velocities, efforts=efforts)
    except InputError as problem:
        raise InputError(problem.problem, source=source, element=problem.element, remedy=problem.remedy) from None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


@dataclass
class TrackingError:
    """How far n joints were from a trajectory while it was played.

    Attributes:
        steps: number of steps compared.
        largest: largest absolute error of each joint [rad or m], shape (n,).
        squares: sum of the squares of the errors of each joint, shape (n,).
    """

    steps: int
    largest: NDArray[np.float64]
    squares: NDArray[np.float64]

    @property
    def root_mean_square(self) -> NDArray[np.float64]:
        """Root mean square error of each joint [rad or m], shape (n,); zero before the first step."""
        return np.asarray(np.sqrt(self.squares / max(self.steps, 1)))


class TrajectoryPlayer(Module):
    """Gives the servos of a robot positions and velocities of a trajectory, whatever its rate, and its efforts.

    Before it begins and after it ends, its first and last point are held. Of efforts each step gets their mean over it.
    For example::

        player = TrajectoryPlayer("hrp2", read_joint_trajectory("squat.csv"))
        simulation.add_module(player)
        simulation.run(player.trajectory.end_time)
        player.tracking_error.largest

    Attributes:
        name: ``"trajectory_player/<robot>"``.
        trajectory: what is played; its joints are the n joints of ``tracking_error``.
    """

    def __init__(self, robot: str, trajectory: JointTrajectory, *, start_time: float = 0.0) -> None:
        """Choose robot and trajectory.

        Args:
            robot: name in the scene.
            trajectory: of some of its driven joints.
            start_time: simulated time of the trajectory's time 0 [s].

        Raises:
            InputError: the start time is not finite.
        """
        if not np.isfinite(start_time):
            raise InputError(f"start_time is {start_time}", element="start_time", remedy="Give a time in seconds")
        self.name = f"trajectory_player/{robot}"
        self.trajectory = trajectory
        self._robot = robot
        self._start = start_time
        self._error = _no_error(len(trajectory.joint_names))

    def attach(self, simulation: Simulation) -> None:
        """Check that the joints can be commanded, and give them their targets.

        Raises:
            InputError: there is no robot of that name, or a joint is unknown or passive.
        """
        warm_up_sampling()
        self._command(simulation)
        names = simulation.robots[self._robot].joint_names
        self._places = [names.index(joint) for joint in self.trajectory.joint_names]
        self._error = _no_error(len(self._places))

    def before_step(self, simulation: Simulation) -> None:
        """Set the targets for the end of the step that comes."""
        self._command(simulation)

    def after_step(self, simulation: Simulation) -> None:
        """Compare the joints with the trajectory, from its beginning to its end."""
        time = simulation.time - self._start
        if not self.trajectory.start_time <= time <= self.trajectory.end_time + 0.5 * simulation.dt:
            return
        reached = simulation.robots[self._robot].joint_positions[self._places]
        error = np.abs(reached - self.trajectory.at(time).positions)
        self._error = TrackingError(
            self._error.steps + 1, np.maximum(self._error.largest, error), self._error.squares + error**2
        )

    @property
    def tracking_error(self) -> TrackingError:
        """How far the joints were from the trajectory so far."""
        return self._error

    def save(self) -> object:
        """Return the tracking error so far."""
        return self._error

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""
        assert isinstance(state, TrackingError)
        self._error = state

    def _command(self, simulation: Simulation) -> None:
        now, trajectory = simulation.time - self._start, self.trajectory
        sample = trajectory.at(now + simulation.dt)
        efforts = None if trajectory.efforts is None else trajectory.mean_efforts(now, now + simulation.dt)
        simulation.robots[self._robot].set_position_target(
            sample.positions, sample.velocities, list(trajectory.joint_names), efforts
        )


def _no_error(n: int) -> TrackingError:
    return TrackingError(0, np.zeros(n), np.zeros(n))
