# SPDX-License-Identifier: Apache-2.0
"""Input devices over topics: what they say, and which tool each drives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from humanoid_stack.msg import DeviceState
from humanoid_stack.srv import SelectDevice
from sensor_msgs.msg import Joy

from humanoid_kinematics import (
    DeviceDesk,
    DeviceSelection,
    HybridDevice,
    JoyMapping,
    LiveScene,
    PoseDevice,
    RateDevice,
    ToolMotion,
    make_device,
)
from humanoid_kinematics.devices.device import Device
from humanoid_kinematics.devices.selection import DEVICE_KINDS, first_selections
from humanoid_kinematics.mad.syntax import MadSensor
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_ros.messages.conversions import array
from humanoid_ros.messages.request_fields import pose
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND

JOY = "joy"
"""Name of the device that the topic of that name drives."""


class DeviceTopics:
    """Hears the devices of a scene, those named by parameters and a joystick.

    Attributes:
        desk: which drives what.
    """

    def __init__(self, node: AnsweringNode, scene: LiveScene, named: Sequence[str], joystick: JoyMapping) -> None:
        """Begin to hear.

        Args:
            node: that hears.
            scene: whose file declares devices, and what they drive.
            named: further devices, each ``name:kind``.
            joystick: which axes of a ``sensor_msgs/Joy`` mean what.

        Raises:
            InputError: a device of an unknown kind.
        """
        self._node, self._scene, self._joystick = node, scene, joystick
        declared = {number: make_device(sensor) for number, sensor in scene.scene.sensors.items()}
        self.desk = DeviceDesk([*declared.values(), *map(named_device, named), RateDevice(JOY)])
        for name, live in scene.mechanisms.items():
            for selection in first_selections(live.mechanism, declared):
                self.desk.select(name, selection)
        self._jumps = dict.fromkeys(self.desk.devices, 0)
        self._subscriptions: list[Any] = []
        for name, device in self.desk.devices.items():
            if name == JOY:
                self._hear(Joy, JOY, self._on_joy)
            else:
                self._hear(DeviceState, f"devices/{name}", self._taker(device))

    def select(self, request: SelectDevice.Request) -> None:
        """Let a device drive a tool or link.

        Raises:
            InputError: a name or a value that can't be used; what was selected stays.
        """
        mechanisms = self._scene.mechanisms
        name = request.mechanism or next(iter(mechanisms))
        live = mechanisms[check_known(name, mechanisms, "mechanism", "mechanism")]
        live.solver.frame(request.node)
        selection = DeviceSelection(
            request.device, request.node, request.frame_id or "world", request.linear_scale or 1.0,
            request.angular_scale or 1.0, tuple(request.mask),
        )  # fmt: skip
        self.desk.select(name, selection)

    def give(self, dt: float) -> None:
        """Read every device, and give its motion to the tools that it drives.

        Tools whose devices are at rest stay where they are while another device moves their mechanism; else they
        follow.
        """
        view = next(iter(self._scene.mechanisms.values())).commands.view
        for name, motions in self.desk.read(dt, view).items():
            if any(map(_moves, motions)):
                self._scene.mechanisms[name].give(*motions)
        for name, device in self.desk.devices.items():
            if isinstance(device, PoseDevice) and device.jumps > self._jumps[name]:
                self._jumps[name] = device.jumps
                self._node.refusals.refuse(
                    f"devices/{name}", f"moved faster than {device.fastest:g} m/s: a jump, which moves nothing"
                )

    def destroy(self) -> None:
        """Hear no more."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def _hear(self, kind: Any, topic: str, take: Callable[[Any], None]) -> None:
        def heard(message: Any) -> None:
            try:
                take(message)
            except HumanoidError as problem:
                self._node.refusals.refuse(topic, problem)

        self._subscriptions.append(
            self._node.create_subscription(kind, topic, heard, COMMAND, callback_group=self._node.group)
        )

    def _on_joy(self, message: Joy) -> None:
        device = self.desk.devices[JOY]
        assert isinstance(device, RateDevice)
        device.post(self._joystick.deflection(message.axes, message.buttons))

    def _taker(self, device: Device) -> Callable[[DeviceState], None]:
        def take(message: DeviceState) -> None:
            if message.buttons and message.buttons[0]:  # the clutch
                device.release()
            elif isinstance(device, PoseDevice):
                device.post(pose(message.pose, "pose"))
            elif isinstance(device, RateDevice):
                speed = device.response.linear_speed, device.response.angular_speed
                linear, angular = array(message.twist.linear) / speed[0], array(message.twist.angular) / speed[1]
                device.post(_clipped(np.concatenate([linear, angular])))
            elif isinstance(device, HybridDevice):
                device.post(pose(message.pose, "pose").translation, _clipped(array(message.twist.angular)))

        return take


def named_device(text: str) -> Device:
    """Return the device that ``name:kind`` names.

    Raises:
        InputError: no such kind.
    """
    name, _, kind = text.partition(":")
    if not name or kind not in DEVICE_KINDS:
        raise InputError(
            f"has '{text}'", element="devices", remedy=f"Give name:kind, the kind one of {', '.join(DEVICE_KINDS)}"
        )
    device = DEVICE_KINDS[kind](MadSensor(1, type=kind))
    device.name = name
    return device


def _moves(motion: ToolMotion) -> bool:
    return bool(np.any(motion.linear) or np.any(motion.angular))


def _clipped(deflection: np.ndarray) -> np.ndarray:
    return np.clip(deflection, -1.0, 1.0)
