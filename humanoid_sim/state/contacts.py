# SPDX-License-Identifier: Apache-2.0
"""Contacts of the last step as a person reads them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

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
