# SPDX-License-Identifier: Apache-2.0
"""Plays joint trajectories on a robot's servos (specification 000, F017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory, warm_up_sampling
from humanoid_sim.module import Module

if TYPE_CHECKING:
    from humanoid_sim.simulation import Simulation


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
        if self._robot not in simulation.robots:
            raise InputError(
                f"there is no robot '{self._robot}'",
                element="robot",
                remedy=f"There are {', '.join(simulation.robots) or 'none'}",
            )
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
