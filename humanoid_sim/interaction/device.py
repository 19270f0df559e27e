# SPDX-License-Identifier: Apache-2.0
"""Input devices: where a user's hand is, which buttons it presses, and the force that it feels.

A mouse, a 3-D mouse or a topic moves one from outside; the handle of another follows a script.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory


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


@dataclass(frozen=True)
class _Post:
    """What was put into the mailbox last."""

    position: NDArray[np.float64]
    rotation: NDArray[np.float64]
    buttons: tuple[bool, ...]


@dataclass(frozen=True)
class _Pointer:
    """The smoothed pointer at a time."""

    time: float
    position: NDArray[np.float64]
    velocity: NDArray[np.float64]


class MouseDevice(Device):
    """Follows the last position that any thread has posted.

    Posts come at their own pace, some tens per second. A critically damped filter of second order makes a smooth
    pointer of them, so that its velocity can be used for damping; it settles within about five time constants.
    """

    def __init__(
        self, name: str = "mouse", rate: float = 500.0, smoothing: float = 0.015, max_force: float = np.inf
    ) -> None:
        """Start with an empty mailbox.

        Args:
            name: of the device.
            rate: how often it is read [Hz].
            smoothing: time constant of the filter [s].
            max_force: largest force that is displayed [N].

        Raises:
            InputError: a value that is not positive.
        """
        super().__init__(name, rate, max_force)
        if not (smoothing > 0.0 and np.isfinite(smoothing)):
            raise InputError(f"smoothing is {smoothing}", element="smoothing", remedy="Give a positive time [s]")
        self._smoothing = smoothing
        self._lock = threading.Lock()
        self._post: _Post | None = None
        self._pointer: _Pointer | None = None
        self._displayed: NDArray[np.float64] = np.zeros(3)

    # -- any thread --------------------------------------------------------------------------

    def post(self, position: ArrayLike, buttons: tuple[bool, ...] = (), rotation: ArrayLike | None = None) -> None:
        """Say where the pointer is; callable from any thread.

        Args:
            position: in the world [m], shape (3,).
            buttons: whether each button is pressed.
            rotation: of the handle in the world, shape (3, 3); identity if not given.

        Raises:
            InputError: a value that is not finite, or a matrix that is no rotation. The last post stays.
        """
        matrix = finite_vector("rotation", np.eye(3) if rotation is None else rotation, 9).reshape(3, 3)
        if not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0.0:
            raise InputError(f"rotation is {matrix.tolist()}", element="rotation", remedy="Give an orthonormal matrix")
        post = _Post(finite_vector("position", position, 3), matrix, tuple(bool(b) for b in buttons))
        with self._lock:
            self._post = post

    def release(self) -> None:
        """Let go of all buttons where the pointer is, for a page that is gone; callable from any thread."""
        with self._lock:
            if self._post is not None:
                self._post = _Post(self._post.position, self._post.rotation, ())

    @property
    def displayed(self) -> NDArray[np.float64]:
        """The force that the user is to feel or see [N], shape (3,); callable from any thread."""
        with self._lock:
            return self._displayed.copy()

    # -- the simulation's thread -------------------------------------------------------------

    def read(self, time: float) -> DeviceSample | None:
        """Return the smoothed pointer; None before the first post."""
        with self._lock:
            post = self._post
        if post is None:
            return None
        last = self._pointer
        if last is None or time < last.time:  # the first post, or the simulation went back in time
            self._pointer = _Pointer(time, post.position, np.zeros(3))
        else:
            # exact solution of x'' = w^2 (p - x) - 2 w x' over the time since
            w, t = 1.0 / self._smoothing, time - last.time
            offset = last.position - post.position
            slope = last.velocity + w * offset
            decay = np.exp(-w * t)
            position = post.position + decay * (offset + slope * t)
            velocity = decay * (slope - w * (offset + slope * t))
            self._pointer = _Pointer(time, position, velocity)
        pointer = self._pointer
        return DeviceSample(
            pin.SE3(post.rotation, pointer.position), pointer.velocity.copy(), np.zeros(3), post.buttons
        )

    def display(self, force: NDArray[np.float64]) -> None:
        """Keep the force for whoever shows it."""
        with self._lock:
            self._displayed = force.copy()

    def save(self) -> object:
        """Return the smoothed pointer; the mailbox belongs to the user."""
        return self._pointer

    def restore(self, state: object) -> None:
        """Go on from a smoothed pointer."""
        assert state is None or isinstance(state, _Pointer)
        self._pointer = state


OMNI_RATE = 1000.0
"""Rate at which haptic arms are served [Hz] (specification 000 §15.6)."""
OMNI_FORCE = 3.3
"""Largest force of a PHANToM Omni at its nominal position [N] (manufacturer's data sheet)."""
OMNI_STIFFNESS = 1020.0
"""Stiffness of a PHANToM Omni along its softest axis [N/m] (manufacturer's data sheet)."""


class ScriptedDevice(Device):
    """Moves from way-point to way-point, at rest at each, with polynomials of fifth order (minimum jerk) between.

    Attributes:
        displayed: the last force that it was told to display [N], shape (3,).
    """

    def __init__(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        *,
        presses: Sequence[tuple[float, float]] = (),
        rotation: NDArray[np.float64] | None = None,
        rate: float = OMNI_RATE,
        name: str = "script",
        max_force: float = np.inf,
        max_stiffness: float = np.inf,
    ) -> None:
        """Script a device.

        Args:
            times: of the way-points [s], strictly increasing, shape (k,).
            positions: of the handle at them, in the world [m], shape (k, 3).
            presses: intervals [s] in which button 0 is pressed, the end excluded.
            rotation: of the handle in the world, shape (3, 3); identity if not given.
            rate: how often it is read [Hz].
            name: of the device.
            max_force: largest force that it can display [N].
            max_stiffness: stiffest wall that it can display [N/m].

        Raises:
            InputError: times that don't increase, positions of another shape, values that are not finite, an interval
                that ends before it begins.
        """
        super().__init__(name, rate, max_force, max_stiffness)
        points = np.array(positions, dtype=float)
        if points.ndim != 2 or points.shape[1:] != (3,):
            raise InputError(
                f"positions have the shape {points.shape}", element="positions", remedy="Give three numbers each"
            )
        rest = np.zeros_like(points)
        self._path = JointTrajectory(("x", "y", "z"), times, points, rest, rest)
        for begin, end in presses:
            if not begin < end:
                raise InputError(
                    f"a button is pressed from {begin} s to {end} s",
                    element="presses",
                    remedy="Let intervals end after they begin",
                )
        self._presses = tuple(presses)
        self._rotation = np.eye(3) if rotation is None else np.array(rotation, dtype=float)
        self.displayed: NDArray[np.float64] = np.zeros(3)

    def read(self, time: float) -> DeviceSample:
        """Handle and button at a time."""
        at = self._path.at(time)
        return DeviceSample(
            pin.SE3(self._rotation, np.array(at.positions)),
            np.array(at.velocities),
            np.zeros(3),
            (any(begin <= time < end for begin, end in self._presses),),
        )

    def display(self, force: NDArray[np.float64]) -> None:
        """Keep the force for whoever looks."""
        self.displayed = force.copy()


def emulated_omni(
    times: ArrayLike, positions: ArrayLike, *, presses: Sequence[tuple[float, float]] = (), name: str = "omni"
) -> ScriptedDevice:
    """Return a scripted device with the rate and the limits of a PHANToM Omni: six numbers in, three forces out.

    Args:
        times: see :class:`ScriptedDevice`.
        positions: likewise.
        presses: likewise.
        name: of the device.

    Raises:
        InputError: see :class:`ScriptedDevice`.
    """
    return ScriptedDevice(
        times,
        positions,
        presses=presses,
        rate=OMNI_RATE,
        name=name,
        max_force=OMNI_FORCE,
        max_stiffness=OMNI_STIFFNESS,
    )
