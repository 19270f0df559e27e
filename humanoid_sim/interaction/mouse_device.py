# SPDX-License-Identifier: Apache-2.0
"""A device that is moved from outside: a mouse in a page, a 3-D mouse, a topic."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.interaction.device import Device, DeviceSample, finite_vector


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
