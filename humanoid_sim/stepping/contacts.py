# SPDX-License-Identifier: Apache-2.0
"""Contacts of the last step as a person reads them, turned from their own frames into the world."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from humanoid_model.compiling import uncounted
from humanoid_sim.stepping.step_data import Step

SLIP_SPEED = 1e-6
"""A loaded contact that slides faster than this slips [m/s]."""


class ContactState(IntEnum):
    """What a contact does."""

    OPEN = 0
    STICK = 1
    SLIP = 2


@dataclass(frozen=True)
class Contacts:
    """Contacts of the last step: m points where bodies touch or are about to.

    Attributes:
        position: in the world [m], shape (m, 3).
        normal: unit, from body b into body a, in the world, shape (m, 3).
        force: on body a, in the world [N], shape (m, 3).
        torque: about the contact point on body a, of torsional and rolling friction, in the world [N m], shape (m, 3).
        gap: signed distance at the start of the step [m], shape (m,).
        velocity: of a relative to b, in the world [m/s], along the normal at the end of the step, across it in the
            middle, shape (m, 3).
        friction: Coulomb coefficient, shape (m,).
        state: a :class:`ContactState` each, shape (m,).
        bodies: names of bodies a and b of each contact, ``"robot/link"`` or a body's name.
    """

    position: NDArray[np.float64]
    normal: NDArray[np.float64]
    force: NDArray[np.float64]
    torque: NDArray[np.float64]
    gap: NDArray[np.float64]
    velocity: NDArray[np.float64]
    friction: NDArray[np.float64]
    state: NDArray[np.int64]
    bodies: list[tuple[str, str]]

    def __len__(self) -> int:
        """Return the number of contacts."""
        return len(self.bodies)

    @property
    def normal_force(self) -> NDArray[np.float64]:
        """Normal forces [N], shape (m,)."""
        return np.einsum("ij,ij->i", self.force, self.normal)

    @classmethod
    def none(cls) -> Contacts:
        """No contact at all."""
        vectors, scalars = np.zeros((0, 3)), np.zeros(0)
        return cls(vectors, vectors, vectors, vectors, scalars, vectors, scalars, np.zeros(0, dtype=np.int64), [])


_OPEN, _STICK, _SLIP = int(ContactState.OPEN), int(ContactState.STICK), int(ContactState.SLIP)


@uncounted(nogil=True)
def tell_contacts(step: Step, vectors: np.ndarray, scalars: np.ndarray, numbers: np.ndarray) -> None:
    """Write the contacts of the last step as :class:`Contacts` tells them.

    Args:
        step: the step.
        vectors: receives positions, normals, forces, torques and velocities in the world, shape (5, m, 3).
        scalars: receives gaps and friction coefficients, shape (2, m).
        numbers: receives states, bodies a and bodies b, shape (3, m).
    """
    points = step.points
    for i in range(scalars.shape[1]):
        frame, force, torque, velocity = points.frames[i], points.forces[i], points.torques[i], points.velocities[i]
        for c in range(3):
            vectors[0, i, c] = points.positions[i, c]
            vectors[1, i, c] = points.normals[i, c]
            vectors[2, i, c] = frame[0, c] * force[0] + frame[1, c] * force[1] + frame[2, c] * force[2]
            vectors[3, i, c] = frame[0, c] * torque[0] + frame[1, c] * torque[1] + frame[2, c] * torque[2]
            vectors[4, i, c] = frame[0, c] * velocity[0] + frame[1, c] * velocity[1] + frame[2, c] * velocity[2]
        scalars[0, i], scalars[1, i] = points.gaps[i], points.friction[i]
        slides = math.sqrt(velocity[1] * velocity[1] + velocity[2] * velocity[2]) > SLIP_SPEED
        numbers[0, i] = (_SLIP if slides else _STICK) if force[0] > 0.0 else _OPEN
        numbers[1, i], numbers[2, i] = points.body_a[i], points.body_b[i]
