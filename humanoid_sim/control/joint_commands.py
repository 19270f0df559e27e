# SPDX-License-Identifier: Apache-2.0
"""Owners of the joints of a simulated robot, and their last commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_sim.world.simulated_robot import SimulatedRobot


class Commander(Protocol):
    """What commands joints over time, and has to stop when another takes one of them."""

    def release(self, reason: str) -> None:
        """Command nothing any more; the joints belong to another."""


class JointCommands:
    """Commands to the joints of one robot: the last commander of a joint has it.

    Attributes:
        joint_names: joints of the robot, one number each.
        positions: position targets [rad or m], shape (n,); the place where it was for a joint driven by effort.
    """

    def __init__(self, robot: SimulatedRobot) -> None:
        """Take over the robot as it is, its servos holding its present posture."""
        self._robot = robot
        self.joint_names = robot.joint_names
        self._index = {name: i for i, name in enumerate(self.joint_names)}
        self._names: dict[bytes, tuple[str, ...]] = {}
        self._owners: list[Commander | None] = [None] * len(self.joint_names)
        self.positions: NDArray[np.float64] = robot.joint_positions

    def indices(self, joints: Sequence[str]) -> NDArray[np.int64]:
        """Return places of joints in ``joint_names``.

        Raises:
            InputError: a joint is unknown or named twice.
        """
        places = []
        for name in joints:
            if name not in self._index:
                raise InputError(
                    f"there is no joint '{name}'",
                    element="names",
                    remedy=f"Joints are {', '.join(self.joint_names)}",
                )
            if self._index[name] in places:
                raise InputError(f"'{name}' occurs twice", element="names", remedy="Name each joint once")
            places.append(self._index[name])
        return np.array(places, dtype=np.int64)

    def joint_state(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Present positions and velocities of all joints, shape (n,) each."""
        return self._robot.joint_positions, self._robot.joint_velocities

    def take(self, indices: NDArray[np.int64], owner: Commander | None, reason: str) -> None:
        """Make joints belong to a commander; those who had one of them have to stop.

        Args:
            indices: the joints.
            owner: new owner; None: none that lasts.
            reason: given to the former owners.
        """
        losers: list[Commander] = []
        for i in indices:
            loser = self._owners[i]
            if loser is not None and loser is not owner and loser not in losers:
                losers.append(loser)
            self._owners[i] = owner
        for loser in losers:
            self._owners = [None if other is loser else other for other in self._owners]
            loser.release(reason)

    def free(self, index: int) -> bool:
        """Whether a joint has no lasting owner."""
        return self._owners[index] is None

    def set_positions(
        self,
        indices: NDArray[np.int64],
        positions: NDArray[np.float64],
        velocities: NDArray[np.float64] | None = None,
        efforts: NDArray[np.float64] | None = None,
        gains: NDArray[np.float64] | None = None,
    ) -> None:
        """Drive joints to positions by their servos.

        Args:
            indices: the n joints.
            positions: targets [rad or m], shape (n,).
            velocities: target velocities [rad/s or m/s], shape (n,); zero if not given.
            efforts: feed-forward beside the servos [N m or N], shape (n,); none if not given.
            gains: stiffness and damping in the place of the servos' own, shape (2, n).

        Raises:
            InputError: wrong length, a value that is not finite, a negative gain.
        """
        key = indices.tobytes()
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = tuple(self.joint_names[i] for i in indices)
        self._robot.set_position_target(positions, velocities, names, efforts, gains)
        self.positions[indices] = positions

    def set_efforts(self, indices: NDArray[np.int64], efforts: NDArray[np.float64]) -> None:
        """Drive joints by efforts [N m or N], shape (n,), until the next position command.

        Raises:
            InputError: wrong length, or a value that is not finite.
        """
        self._robot.set_effort(efforts, [self.joint_names[i] for i in indices])
        self.positions[indices] = self._robot.joint_positions[indices]

    def restart(self, reason: str) -> None:
        """Stop all commanders; targets are where the robot is now."""
        self.take(np.arange(len(self.joint_names)), None, reason)
        self.positions = self._robot.joint_positions
