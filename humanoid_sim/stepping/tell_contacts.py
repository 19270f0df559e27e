# SPDX-License-Identifier: Apache-2.0
"""Contacts of a step, turned from their own frames into the world."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.compiling import uncounted
from humanoid_sim.state.contacts import SLIP_SPEED, ContactState
from humanoid_sim.stepping.step_data import Step

_OPEN, _STICK, _SLIP = int(ContactState.OPEN), int(ContactState.STICK), int(ContactState.SLIP)


@uncounted(nogil=True)
def tell_contacts(step: Step, vectors: np.ndarray, scalars: np.ndarray, numbers: np.ndarray) -> None:
    """Write the contacts of the last step as :class:`~humanoid_sim.state.contacts.Contacts` tells them.

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
