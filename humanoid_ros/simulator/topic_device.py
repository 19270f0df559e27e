# SPDX-License-Identifier: Apache-2.0
"""A device whose handle is where the messages of a topic say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from humanoid_stack.msg import DeviceState
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_ros.messages.request_fields import pose
from humanoid_sim.interaction import DeviceSample, MouseDevice


@dataclass(frozen=True)
class _Mapped:
    """State of the device as it is saved."""

    pointer: object
    origin: NDArray[np.float64] | None


class TopicDevice(MouseDevice):
    """Maps the handle's messages into the scene.

    Without ``hold`` the pointer in the scene is ``motion_scale`` times the handle's position, and the buttons are the
    handle's. With it the pointer starts at a point of the scene, wherever the handle is then, moves as the handle does
    from then on, and button 0 is down as long as there is someone at the device.
    """

    def __init__(
        self,
        name: str,
        world: str,
        *,
        rate: float,
        smoothing: float,
        max_force: float = np.inf,
        motion_scale: float = 1.0,
        hold: Callable[[], NDArray[np.float64]] | None = None,
    ) -> None:
        """Wait for messages.

        Args:
            name: of the device.
            world: frame that messages must be in.
            rate: how often it is read [Hz].
            smoothing: time constant of the filter [s].
            max_force: largest force that it displays [N].
            motion_scale: metres in the scene per metre of the handle.
            hold: tells where in the scene the pointer starts [m], shape (3,).

        Raises:
            InputError: a value that is not positive.
        """
        super().__init__(name, rate, smoothing, max_force)
        if not (motion_scale > 0.0 and np.isfinite(motion_scale)):
            raise InputError(
                f"motion_scale is {motion_scale}", element="motion_scale", remedy="Give a positive number, or 0 for 1"
            )
        self._world = world
        self._scale = motion_scale
        self._hold = hold
        self._origin: NDArray[np.float64] | None = None if hold is not None else np.zeros(3)
        self._present = False

    # -- any thread --------------------------------------------------------------------------

    def take(self, message: DeviceState) -> None:
        """Go where a message says.

        Raises:
            InputError: another frame or device, or a pose that can't be used. The last message stays.
        """
        if message.header.frame_id not in ("", self._world):
            raise InputError(
                f"is '{message.header.frame_id}'", element="header.frame_id", remedy=f"Give '{self._world}', or nothing"
            )
        if message.device not in ("", self.name):
            raise InputError(f"is '{message.device}'", element="device", remedy=f"Give '{self.name}', or nothing")
        handle = pose(message.pose, "pose")
        self.post(self._scale * handle.translation, tuple(message.buttons), handle.rotation)
        self._present = True

    def release(self) -> None:
        """Let go, for messages that have ceased."""
        self._present = False
        super().release()

    @property
    def present(self) -> bool:
        """Whether there have been messages since the last release."""
        return self._present

    # -- the simulation's thread -------------------------------------------------------------

    def read(self, time: float) -> DeviceSample | None:
        """Return the pointer in the scene; None before the first message."""
        sample = super().read(time)
        if sample is None:
            return None
        if self._origin is None:
            assert self._hold is not None
            self._origin = self._hold() - sample.position
        buttons = sample.buttons if self._hold is None else (self._present, *sample.buttons[1:])
        placement = pin.SE3(sample.placement.rotation, sample.position + self._origin)
        return DeviceSample(placement, sample.velocity, sample.angular_velocity, buttons)

    def save(self) -> object:
        """Return the smoothed pointer, and where the handle's positions are counted from."""
        return _Mapped(super().save(), None if self._origin is None else self._origin.copy())

    def restore(self, state: object) -> None:
        """Go on from a saved pointer."""
        assert isinstance(state, _Mapped)
        super().restore(state.pointer)
        self._origin = None if state.origin is None else state.origin.copy()
