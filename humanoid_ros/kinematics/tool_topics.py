# SPDX-License-Identifier: Apache-2.0
"""What drives tools over topics: input devices, and trajectories of a tool in space, turned into those of motors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
from humanoid_stack.msg import DeviceState
from humanoid_stack.srv import SelectDevice
from sensor_msgs.msg import Joy
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMessage
from trajectory_msgs.msg import MultiDOFJointTrajectory

from humanoid_kinematics import DeviceDesk, DeviceSelection, LiveScene, MechanismSolver, RateDevice, ToolMotion
from humanoid_kinematics.devices.device import Device, HybridDevice, JoyMapping, PoseDevice
from humanoid_kinematics.devices.selection import DEVICE_KINDS, first_selections, make_device
from humanoid_kinematics.mad.syntax import MadSensor
from humanoid_kinematics.relay import drive_trajectory
from humanoid_kinematics.solver.mechanism import Mechanism
from humanoid_model.checks import check_known
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_ros.kinematics.mechanism_messages import tool_path
from humanoid_ros.kinematics.mechanism_topics import MechanismTopics
from humanoid_ros.messages.conversions import array
from humanoid_ros.messages.motion_messages import joint_trajectory_message
from humanoid_ros.messages.request_fields import pose
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND
from humanoid_ros.node.service_workers import answer_of

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


MOST = 10_000
"""Points that a trajectory may have."""


class ToolTrajectories:
    """Hears ``tool_trajectory`` of a mechanism and publishes its ``drive_trajectory``."""

    def __init__(
        self, node: AnsweringNode, topics: MechanismTopics, driven: tuple[str, ...], worker: ThreadPoolExecutor
    ) -> None:
        """Begin to hear.

        Args:
            node: that hears and publishes.
            topics: of the mechanism.
            driven: joints with motors; empty: those that the mechanism's file calls driven, else all.
            worker: computes, so that the node goes on.
        """
        self._node, self._topics, self._driven, self._worker = node, topics, driven, worker
        self._name = f"{topics.name}/tool_trajectory"
        self._left = False
        self._publisher = node.create_publisher(JointTrajectoryMessage, f"{topics.name}/drive_trajectory", COMMAND)
        self._subscription = node.create_subscription(
            MultiDOFJointTrajectory, self._name, self._heard, COMMAND, callback_group=node.group  # type: ignore[arg-type]
        )

    def destroy(self) -> None:
        """Leave the topics; what is being computed is given up."""
        self._left = True
        self._node.destroy_subscription(self._subscription)
        self._node.destroy_publisher(self._publisher)

    async def _heard(self, message: MultiDOFJointTrajectory) -> None:
        live = self._topics.live
        mechanism = replace(live.mechanism, initial=live.q)
        driven = self._driven or mechanism.driven or mechanism.robot.joint_names
        try:
            if len(message.points) > MOST:
                raise InputError(f"has {len(message.points)}", element="points", remedy=f"Give {MOST} at most")
            found = await answer_of(
                self._node, self._worker.submit(_computed, mechanism, driven, *tool_path(message))
            )
        except HumanoidError as problem:
            self._node.refusals.refuse(self._name, problem)
            return
        if not self._left:
            answer = joint_trajectory_message(found)
            answer.header = message.header
            self._publisher.publish(answer)


def _computed(
    mechanism: Mechanism, driven: tuple[str, ...], tool: str, times: list[float], poses: list[pin.SE3]
) -> JointTrajectory:
    return drive_trajectory(MechanismSolver(mechanism), driven, tool, times, poses)
