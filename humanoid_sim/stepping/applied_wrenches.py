# SPDX-License-Identifier: Apache-2.0
"""Wrenches that a user lets act on bodies for a while."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.dynamics.tree_motion import TreeMotion
from humanoid_sim.world.world import World


@dataclass
class AppliedWrench:
    """A wrench on a body, constant in the world, at a point that moves with the body.

    Attributes:
        joint: joint that moves the body.
        point: where the force acts, in the joint frame [m], shape (3,).
        force: in the world [N], shape (3,).
        torque: in the world [N m], shape (3,).
        last_step: number of the last step in which it acts.
    """

    joint: int
    point: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]
    last_step: int


class AppliedWrenches:
    """The wrenches that act in the next step, and the sum by joint of those of the last one.

    Attributes:
        acting: those that act in the next step.
        acted: whether any acted in the last step.
        total: sum by joint at the world origin, force first [N, N m], shape (njoints, 6).
    """

    def __init__(self, world: World, dt: float, total: NDArray[np.float64]) -> None:
        """Let nothing act.

        Args:
            world: the bodies.
            dt: time step [s].
            total: where the steps read the sum, shape (njoints, 6).
        """
        self.acting: list[AppliedWrench] = []
        self.acted = False
        self.total = total
        self._world = world
        self._dt = dt

    def add(
        self,
        body: str,
        wrench: tuple[ArrayLike, ArrayLike],
        point: ArrayLike | None,
        duration: float,
        step_count: int,
        placements: tuple[NDArray[np.float64], NDArray[np.float64]],
    ) -> None:
        """Let a wrench act from the next step on.

        Args:
            body: a mobile body or a robot's link (``"robot/link"``).
            wrench: force [N] and torque [N m] in the world, shape (3,) each.
            point: where the force acts, in the world, now [m], shape (3,); the centre of mass of what the body's joint
                carries if None.
            duration: how long, at least one step [s].
            step_count: number of steps done.
            placements: rotations, shape (njoints, 3, 3), and origins [m], shape (njoints, 3), of the joint frames now.

        Raises:
            InputError: unknown or fixed body, a value that is not finite, a duration that is not positive.
        """
        found = self._world.find_body(body)
        if found.joint == 0:
            raise InputError(f"'{body}' is fixed to the world", element="body", remedy="Push something that can move")
        force, torque = (_vector(name, value) for name, value in zip(("force", "torque"), wrench, strict=True))
        local = np.array(self._world.model.inertias[found.joint].lever)
        if point is not None:
            R, p = placements
            local = R[found.joint].T @ (_vector("point", point) - p[found.joint])
        if not (np.isfinite(duration) and duration > 0.0):
            raise InputError(
                f"duration is {duration}", element="duration", remedy="Give a positive time in seconds"
            )
        steps = max(round(duration / self._dt), 1)
        self.acting.append(AppliedWrench(found.joint, local, force, torque, step_count + steps - 1))

    def gather(self, motion: TreeMotion) -> None:
        """Sum the wrenches of a step up, with the bodies where they are at its start."""
        if not self.acting and not self.acted:
            return
        total = self.total
        total[:] = 0.0
        for wrench in self.acting:
            x, y, z = (motion.R[wrench.joint] @ wrench.point + motion.p[wrench.joint]).tolist()
            fx, fy, fz = wrench.force.tolist()
            total[wrench.joint, :3] += wrench.force
            # numpy.cross takes longer than the rest of the step.
            total[wrench.joint, 3:] += wrench.torque + np.array([y * fz - z * fy, z * fx - x * fz, x * fy - y * fx])

    def end_step(self, next_step: int) -> None:
        """Let go of what doesn't act in the next step."""
        if self.acting or self.acted:
            self.acted = bool(self.acting)
            self.acting = [wrench for wrench in self.acting if wrench.last_step >= next_step]

    def forget_last(self) -> None:
        """Nothing has acted in the last step."""
        self.acted = False
        self.total[:] = 0.0

    def save(self) -> tuple[AppliedWrench, ...]:
        """Return a copy of those that act."""
        return tuple(copy.deepcopy(self.acting))

    def restore(self, wrenches: tuple[AppliedWrench, ...]) -> None:
        """Let those act that :meth:`save` gave."""
        self.acting = list(copy.deepcopy(wrenches))


def _vector(name: str, value: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(value, dtype=float).reshape(-1)
    if vector.shape != (3,) or not np.all(np.isfinite(vector)):
        raise InputError(f"{name} is {vector.tolist()}", element=name, remedy="Give three finite numbers")
    return vector
