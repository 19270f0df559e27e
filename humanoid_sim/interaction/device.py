# SPDX-License-Identifier: Apache-2.0
"""Input devices: where a user's hand is, which buttons it presses, and the force that it feels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class DeviceSample:
    """What a device says at one instant, in the world.

    Attributes:
        placement: of the handle.
        velocity: of its origin [m/s], shape (3,).
        angular_velocity: [rad/s], shape (3,).
        buttons: whether each button is pressed.
    """

    placement: pin.SE3
    velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    angular_velocity: NDArray[np.float64] = field(default_factory=lambda: np.zeros(3))
    buttons: tuple[bool, ...] = ()

    @property
    def position(self) -> NDArray[np.float64]:
        """Origin of the handle [m], shape (3,)."""
        return np.array(self.placement.translation)

    def pressed(self, button: int) -> bool:
        """Return whether a button is pressed; one that the device hasn't is not."""
        return button < len(self.buttons) and self.buttons[button]


class Device:
    """A device with a rate of its own (specification 000 §15.1 and §15.6).

    A subclass gives samples; a device that makes its user feel something overrides :meth:`display`.

    Attributes:
        name: of the device.
        rate: how often it is read and displays a force [Hz].
        max_force: largest force that it can display [N].
        max_stiffness: stiffest wall that it can display [N/m].
    """

    def __init__(self, name: str, rate: float, max_force: float = np.inf, max_stiffness: float = np.inf) -> None:
        """Check and keep the device's properties.

        Raises:
            InputError: a value that is not positive.
        """
        for element, value in (("rate", rate), ("max_force", max_force), ("max_stiffness", max_stiffness)):
            if not value > 0.0 or (element == "rate" and not np.isfinite(value)):
                raise InputError(f"{element} is {value}", element=element, remedy="Give a positive number")
        self.name = name
        self.rate = float(rate)
        self.max_force = float(max_force)
        self.max_stiffness = float(max_stiffness)

    def read(self, time: float) -> DeviceSample | None:
        """State of the device at a simulated time [s]; times never decrease. None before anyone has moved it."""
        raise NotImplementedError

    def display(self, force: NDArray[np.float64]) -> None:
        """Let the user feel a force [N], in the world, shape (3,), no larger than ``max_force``."""

    def limited(self, force: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a force [N] shortened to what the device can display, shape (3,)."""
        norm = float(np.linalg.norm(force))
        return force * (self.max_force / norm) if norm > self.max_force else force

    def save(self) -> object:
        """Return a copy of the device's state; None for one without state."""
        return None

    def restore(self, state: object) -> None:
        """Go back to what :meth:`save` returned."""


def finite_vector(name: str, values: ArrayLike, size: int) -> NDArray[np.float64]:
    """Check a vector that a user or a device gave.

    Raises:
        InputError: another length, or a value that is not finite.
    """
    vector = np.array(values, dtype=float).reshape(-1)
    if vector.shape != (size,) or not np.all(np.isfinite(vector)):
        raise InputError(f"{name} is {vector.tolist()}", element=name, remedy=f"Give {size} finite numbers")
    return vector
