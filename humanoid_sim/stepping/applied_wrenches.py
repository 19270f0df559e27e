# SPDX-License-Identifier: Apache-2.0
"""Wrenches that a user lets act on bodies for a while."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import is_finite
from humanoid_model.errors import InputError
from humanoid_sim.stepping.stepper import Stepper
from humanoid_sim.world.world import World

LARGEST_WRENCH = 1e9
"""Largest force [N] or torque [N m] that is no mistake: a robot of 100 kg would get 10 km/s in a step of 1 ms."""
WrenchState = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""What :meth:`AppliedWrenches.save` returns."""


class AppliedWrenches:
    """The wrenches that act in the next step, in its arrays (:class:`~humanoid_sim.stepping.step_data.PushArrays`)."""

    def __init__(self, world: World, stepper: Stepper) -> None:
        """Let nothing act.

        Args:
            world: the bodies.
            stepper: whose steps they act in.
        """
        self._world, self._stepper = world, stepper
        self._levers = stepper.model.joints["lever"].tolist()

    def add(
        self,
        body: str,
        wrench: tuple[ArrayLike, ArrayLike],
        placements: tuple[ArrayLike, tuple[NDArray[np.float64], NDArray[np.float64]]] | None,
        duration: float,
        step_count: int,
    ) -> None:
        """Let a wrench act from the next step on.

        Args:
            body: a mobile body or a robot's link (``"robot/link"``).
            wrench: force [N] and torque [N m] in the world, shape (3,) each.
            placements: where the force acts, in the world, now [m], shape (3,), and the rotations, shape
                (njoints, 3, 3), and origins [m], shape (njoints, 3), of the joint frames now; None for the centre of
                mass of what the body's joint carries.
            duration: how long, at least one step [s].
            step_count: number of steps done.

        Raises:
            InputError: unknown or fixed body, a value that is not finite or beyond :data:`LARGEST_WRENCH`, a duration
                that is not positive.
        """
        joint = self._world.find_body(body).joint
        if joint == 0:
            raise InputError(f"'{body}' is fixed to the world", element="body", remedy="Push something that can move")
        force = _vector("force", wrench[0], LARGEST_WRENCH)
        torque = _vector("torque", wrench[1], LARGEST_WRENCH)
        local = self._levers[joint]
        if placements is not None:
            point, (R, p) = placements
            local = (R[joint].T @ (np.array(_vector("point", point)) - p[joint])).tolist()
        if not (is_finite(duration) and duration > 0.0):
            raise InputError(
                f"duration is {duration!r}", element="duration", remedy="Give a positive time in seconds"
            )
        steps = max(round(duration / self._stepper.settings.dt), 1)
        self.add_to_joint(joint, local, force + torque, step_count + steps - 1)

    def add_to_joint(self, joint: int, point: list[float], wrench: list[float], last_step: int) -> None:
        """Let a wrench act from the next step on.

        Args:
            joint: whose body it acts on, not 0.
            point: where the force acts, in the joint frame [m].
            wrench: force [N] and torque [N m] in the world.
            last_step: number of the last step in which it acts.
        """
        pushes = self._stepper.pushes
        i = int(pushes.counts[0])
        if i == len(pushes.joints):
            pushes = self._stepper.grow_pushes()
        pushes.joints[i] = joint
        pushes.values[i] = point + wrench
        pushes.last_steps[i] = last_step
        pushes.counts[0] = i + 1

    def forget_last(self) -> None:
        """Nothing has acted in the last step."""
        self._stepper.pushes.counts[1] = 0
        self._stepper.state.wrenches[:] = 0.0

    def save(self) -> WrenchState:
        """Return a copy of those that act."""
        pushes = self._stepper.pushes
        size = int(pushes.counts[0])
        return pushes.joints[:size].copy(), pushes.last_steps[:size].copy(), pushes.values[:size].copy()

    def restore(self, state: WrenchState) -> None:
        """Let those act that :meth:`save` gave."""
        joints, last_steps, values = state
        size = len(values)
        while size > len(self._stepper.pushes.joints):
            self._stepper.grow_pushes()
        pushes = self._stepper.pushes
        pushes.counts[0] = size
        pushes.joints[:size], pushes.last_steps[:size], pushes.values[:size] = joints, last_steps, values


def _vector(name: str, value: ArrayLike, largest: float = math.inf) -> list[float]:
    """Check three numbers that a user gave."""
    try:
        vector: list[float] = np.asarray(value, dtype=float).reshape(-1).tolist()
    except (TypeError, ValueError):
        vector = []
    if len(vector) != 3 or not all(map(math.isfinite, vector)):
        raise InputError(f"{name} is {vector or repr(value)}", element=name, remedy="Give three finite numbers")
    if max(map(abs, vector)) > largest:
        raise InputError(
            f"{name} is {vector}", element=name, remedy=f"Give three numbers of at most {largest:g} in size"
        )
    return vector
