# SPDX-License-Identifier: Apache-2.0
"""Which device drives which tool, in which axes and how much (srv/SelectDevice, specification §4.5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_kinematics.devices.device import (
    Device,
    HybridDevice,
    Increment,
    NullDevice,
    PanelDevice,
    PoseDevice,
    RateDevice,
    axis_names,
)
from humanoid_kinematics.mad.syntax import MadSensor
from humanoid_kinematics.solver.commands import ToolMotion
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model.errors import InputError

FRAMES = ("world", "view", "tool")


@dataclass(frozen=True)
class DeviceSelection:
    """A device that drives a tool.

    Attributes:
        device: its name.
        tool: name of a tool or link.
        frame: axes that its motions are meant in: ``world`` (about the tool), ``view`` (the camera's) or ``tool``.
        linear_scale: by which its translations are multiplied.
        angular_scale: by which its rotations are multiplied.
        mask: which of x, y, z, rx, ry, rz of these axes it drives; the others are left free. Empty: all.
    """

    device: str
    tool: str
    frame: str = "world"
    linear_scale: float = 1.0
    angular_scale: float = 1.0
    mask: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: an unknown frame, a scale that isn't finite, a mask of the wrong size or without a true value.
        """
        if self.frame not in FRAMES:
            raise InputError(f"is '{self.frame}'", element="frame", remedy=f"Give {', '.join(FRAMES)}")
        for name, scale in (("linear_scale", self.linear_scale), ("angular_scale", self.angular_scale)):
            if not np.isfinite(scale):
                raise InputError(f"is {scale}", element=name, remedy="Give a finite number")
        axis_names(self.mask)

    def motion(self, increment: Increment | None, view: pin.SE3 | None = None) -> ToolMotion | None:
        """Return what a motion of the device commands; None where it commands nothing.

        Args:
            increment: what was read of the device.
            view: the camera's frame in the world, for ``view``; without it the world's axes are taken.
        """
        if increment is None:
            return None
        frame: str | pin.SE3 = "tool" if self.frame == "tool" else "centred"
        if self.frame == "view" and view is not None:
            frame = view
        linear, angular = self.linear_scale * increment.linear, self.angular_scale * increment.angular
        return ToolMotion(self.tool, linear, angular, frame, axis_names(self.mask))


#: Makes a device of what a MAD file says, by the sensor's ``type``; others may be added.
DEVICE_KINDS: dict[str, Callable[[MadSensor], Device]] = {
    "spaceball": lambda sensor: _spaceball(sensor),
    "joy": lambda sensor: RateDevice(_name(sensor), *_counts(sensor)),
    "panel": lambda sensor: PanelDevice(_name(sensor)),
    "tracker": lambda sensor: PoseDevice(_name(sensor), *_counts(sensor)),
    "syntaxeur": lambda sensor: HybridDevice(_name(sensor)),
}


def make_device(sensor: MadSensor) -> Device:
    """Return the device that a file declares: 0 is none, one without a type a 6-DoF one that is deflected.

    A ``spaceball`` with a port is read from that as a Magellan, whenever it is there. A device's name is a panel's
    ``port``, else ``sensor_`` and its number.

    Raises:
        InputError: an unknown type.
    """
    if sensor.number == 0:
        return NullDevice()
    kind = sensor.type or "spaceball"
    if kind not in DEVICE_KINDS:
        raise InputError(
            f"unknown type '{kind}'", line=sensor.place.line or None, element=f"sensor {sensor.number}",
            remedy=f"Types are {', '.join(DEVICE_KINDS)}",
        )  # fmt: skip
    return DEVICE_KINDS[kind](sensor)


def first_selections(mechanism: Mechanism, devices: Mapping[int, Device]) -> tuple[DeviceSelection, ...]:
    """Return what drives each tool to begin with: the first device that its file lists which isn't 0 (ERR-10)."""
    return tuple(DeviceSelection(devices[tool.devices[0]].name, tool.name) for tool in mechanism.tools if tool.devices)


class DeviceDesk:
    """Devices, and what each drives: several may drive one mechanism, one may drive several.

    Attributes:
        devices: by name.
        selections: by mechanism and tool.
    """

    def __init__(self, devices: Iterable[Device]) -> None:
        """Take devices; nothing is driven yet."""
        self.devices = {device.name: device for device in devices}
        self.selections: dict[tuple[str, str], DeviceSelection] = {}

    def select(self, mechanism: str, selection: DeviceSelection) -> None:
        """Let a device drive a tool from now on, in place of the one before; an empty name lets none.

        Raises:
            InputError: a device that isn't there.
        """
        if selection.device and selection.device not in self.devices:
            raise InputError(
                f"there is no device '{selection.device}'", element="device",
                remedy=f"There are {', '.join(self.devices) or 'none'}",
            )  # fmt: skip
        self.selections.pop((mechanism, selection.tool), None)
        if selection.device:
            self.devices[selection.device].release()
            self.selections[mechanism, selection.tool] = selection

    def read(self, seconds: float, view: pin.SE3 | None = None) -> dict[str, list[ToolMotion]]:
        """Read every device once; what they command, by mechanism.

        Args:
            seconds: since the last reading.
            view: the camera's frame in the world.
        """
        read = {name: device.read(seconds) for name, device in self.devices.items()}
        commands: dict[str, list[ToolMotion]] = {}
        for (mechanism, _), selection in self.selections.items():
            motion = selection.motion(read[selection.device], view)
            if motion is not None:
                commands.setdefault(mechanism, []).append(motion)
        return commands


def _name(sensor: MadSensor) -> str:
    return sensor.port if sensor.type == "panel" and sensor.port else f"sensor_{sensor.number}"


def _spaceball(sensor: MadSensor) -> Device:
    if sensor.port is None:
        return RateDevice(_name(sensor), *_counts(sensor))
    from humanoid_kinematics.devices.magellan import MagellanDevice  # needs a Unix' serial ports

    return MagellanDevice(_name(sensor), sensor.port, *_counts(sensor))


def _counts(sensor: MadSensor) -> tuple[int, int]:
    return (
        3 if sensor.translation is None else sensor.translation,
        3 if sensor.rotation is None else sensor.rotation,
    )
