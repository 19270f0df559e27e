# SPDX-License-Identifier: Apache-2.0
"""Input devices of a simulation that speak ROS: handles that are where messages say, and what they do to the scene."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import WrenchStamped
from humanoid_stack.msg import DeviceState
from humanoid_stack.srv import AttachDevice
from numpy.typing import NDArray
from rclpy.subscription import Subscription

from humanoid_model.checks import check_enumerated, check_known, check_not_negative
from humanoid_model.errors import InputError
from humanoid_ros.messages.conversions import fill_vector, stamp
from humanoid_ros.messages.request_fields import pose, vector
from humanoid_ros.node.answering_node import AnsweringNode
from humanoid_ros.node.qos import COMMAND, SENSOR
from humanoid_ros.node.service_workers import answer_of
from humanoid_ros.simulator.heard_publisher import HeardPublisher
from humanoid_ros.simulator.simulation_loop import SimulationLoop
from humanoid_sim import Simulation
from humanoid_sim.interaction import AttachMode, MouseDevice, TouchMode
from humanoid_sim.interaction.device import DeviceSample
from humanoid_sim.interaction.interaction import Interaction, MultiRateLog
from humanoid_sim.interaction.virtual_coupling import BodyPoint


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


STIFFNESS, RADIUS, RATE, SMOOTHING = 500.0, 0.005, 1000.0, 0.015
"""What a request that gives 0 gets: [N/m], [m], [Hz], [s]."""
LOGGED = 10_000
"""Instants that the log of an interaction keeps."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*")


class Mode(IntEnum):
    """What a device does, as AttachDevice has it."""

    RELEASE = AttachDevice.Request.RELEASE
    ATTACH = AttachDevice.Request.ATTACH
    TOUCH = AttachDevice.Request.TOUCH


@dataclass
class _Coupled:
    device: TopicDevice
    module: Interaction
    states: Subscription
    forces: HeardPublisher


class DeviceInterface:
    """Couples devices to one simulation, each by a module of its own.

    Entities of the graph are made and destroyed in the executor's thread, modules added and removed in the
    simulation's.
    """

    def __init__(
        self,
        node: AnsweringNode,
        simulation: Simulation,
        loop: SimulationLoop,
        world: str,
    ) -> None:
        """Begin without devices.

        Args:
            node: that offers the topics.
            simulation: that the devices act on; touched between steps only.
            loop: runs it.
            world: name of the world frame.
        """
        self._node = node
        self._simulation = simulation
        self._loop = loop
        self._world = world
        self._coupled: dict[str, _Coupled] = {}

    # In the executor ------------------------------------------------------------------------------

    async def serve(self, request: AttachDevice.Request) -> None:
        """Do what a request says while the simulation runs.

        Raises:
            InputError: a field that can't be used, or a device to release that isn't there.
        """
        mode = self._check(request)
        if mode is Mode.RELEASE:
            check_known(request.device, self._coupled, "device", "device")
            await answer_of(self._node, self._loop.call(partial(self._uncouple, request.device)))
            self._destroy(request.device)
            return
        device, module = self._make(mode, request)
        await answer_of(self._node, self._loop.call(partial(self._couple, request.device, module)))
        self._create(device, module)

    def couple(self, request: AttachDevice.Request) -> None:
        """Do what a request says before the simulation runs; raises as :meth:`serve`."""
        device, module = self._make(self._check(request), request)
        self._couple(request.device, module)
        self._create(device, module)

    def _check(self, request: AttachDevice.Request) -> Mode:
        if not _NAME.fullmatch(request.device):
            raise InputError(
                f"is '{request.device}'",
                element="device",
                remedy="Give letters, digits, _ and /, no part of the name beginning with a digit",
            )
        return check_enumerated(request.mode, Mode, "mode")

    def _create(self, device: TopicDevice, module: Interaction) -> None:
        """Topics of a device that is coupled now."""
        self._destroy(device.name)
        topic = f"devices/{device.name}"
        self._coupled[device.name] = _Coupled(
            device,
            module,
            self._node.create_subscription(
                DeviceState, topic, partial(self._take, topic, device), COMMAND, callback_group=self._node.group
            ),
            HeardPublisher(self._node, WrenchStamped, f"{topic}/force", SENSOR),
        )

    def destroy(self) -> None:
        """Take all topics off the graph."""
        for name in list(self._coupled):
            self._destroy(name)

    def release_silent(self) -> None:
        """Release devices that have no publisher any more."""
        for name, coupled in list(self._coupled.items()):
            if coupled.device.present and not self._node.count_publishers(f"devices/{name}"):
                coupled.device.release()

    @property
    def names(self) -> list[str]:
        """Names of the devices that are coupled."""
        return list(self._coupled)

    def _take(self, topic: str, device: TopicDevice, message: DeviceState) -> None:
        try:
            device.take(message)
        except InputError as error:
            self._node.refusals.refuse(topic, str(error))

    def _destroy(self, name: str) -> None:
        coupled = self._coupled.pop(name, None)
        if coupled is not None:
            self._node.destroy_subscription(coupled.states)
            coupled.forces.destroy()

    def _make(self, mode: Mode, request: AttachDevice.Request) -> tuple[TopicDevice, Interaction]:
        """Device and module of a request."""

        def size(field: str, default: float, unit: str) -> float:
            return check_not_negative(getattr(request, field), field, unit) or default

        stiffness = size("stiffness", STIFFNESS, "N/m")
        hold = None
        if request.body and mode is Mode.ATTACH:
            hold = self._place_of(request.body, vector(request.point, "point"))
        device = TopicDevice(
            request.device,
            self._world,
            rate=size("rate", RATE, "Hz"),
            smoothing=size("smoothing", SMOOTHING, "s"),
            max_force=size("max_force", np.inf, "N"),
            motion_scale=size("motion_scale", 1.0, "-"),
            hold=hold,
        )
        name, scale = f"device {request.device}", size("force_scale", 1.0, "-")
        module: Interaction
        if mode is Mode.TOUCH:
            if request.body:
                raise InputError(
                    f"is '{request.body}'", element="body", remedy="Leave it empty: TOUCH pushes whatever is in the way"
                )
            radius = size("radius", RADIUS, "m")
            module = TouchMode(device, radius=radius, stiffness=stiffness, force_scale=scale, name=name)
        else:
            module = AttachMode(
                device,
                body=request.body or None,
                stiffness=stiffness * scale,
                max_force=device.max_force * scale,
                force_scale=scale,
                name=name,
            )
        module.log = MultiRateLog(LOGGED)
        return device, module

    def _place_of(self, body: str, point: NDArray[np.float64]) -> Callable[[], NDArray[np.float64]]:
        """Tell where a point of a body is, between two steps."""
        found = BodyPoint(self._simulation, body, point)
        if found.fixed:
            raise InputError(f"'{body}' is fixed to the world", element="body", remedy="Hold something that can move")
        return lambda: found.state(self._simulation).position

    # In the simulation's thread -------------------------------------------------------------------

    @property
    def forces(self) -> list[HeardPublisher]:
        """Where is published what the users are to feel."""
        return [coupled.forces for coupled in list(self._coupled.values())]

    def publish(self) -> None:
        """Publish what the users of all devices are to feel, where anyone listens."""
        for coupled in list(self._coupled.values()):
            if coupled.forces.heard:
                message = WrenchStamped()
                message.header.stamp, message.header.frame_id = stamp(self._simulation.time), self._world
                fill_vector(message.wrench.force, coupled.device.displayed)
                coupled.forces.publish(message)

    def _couple(self, name: str, module: Interaction) -> None:
        old = self._coupled.get(name)
        if old is not None:
            self._simulation.remove_module(old.module.name)
        try:
            self._simulation.add_module(module)
        except InputError:
            if old is not None:
                self._simulation.add_module(old.module)
            raise

    def _uncouple(self, name: str) -> None:
        self._simulation.remove_module(self._coupled[name].module.name)
