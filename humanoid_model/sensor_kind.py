# SPDX-License-Identifier: Apache-2.0
"""Kinds of sensors: what each measures, and how it is found from the motion and the load of the sensor's place.

A kind of one's own is a subclass of :class:`SensorKind` and a call of :func:`register_sensor`: robots' files may then
name it, the simulator reads it, disturbs it and publishes it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError


class SensorState:
    """What the place of a sensor goes through in the last step, found when it is asked for.

    Attributes:
        simulation: that the robot is part of, for what looks at its surroundings.
    """

    __slots__ = ("_data", "_joint", "_placement", "simulation")

    def __init__(self, data: pin.Data, joint: int, placement_joint_sensor: pin.SE3, simulation: Any) -> None:
        """Take the dynamics of the robot's last step and the place of the sensor in them; made by the simulation."""
        self._data, self._joint, self._placement, self.simulation = data, joint, placement_joint_sensor, simulation

    @property
    def gravity(self) -> Array:
        """In the world [m/s^2], shape (3,)."""
        return np.asarray(self.simulation.world.model.gravity.linear)

    @property
    def placement_world_sensor(self) -> pin.SE3:
        """Frame of the sensor in the world."""
        return self._data.oMi[self._joint] * self._placement

    @property
    def twist(self) -> pin.Motion:
        """Velocity of the sensor's frame, in its own axes [m/s, rad/s]."""
        return self._placement.actInv(self._data.v[self._joint])

    @property
    def acceleration(self) -> pin.Motion:
        """Spatial acceleration of the sensor's frame without gravity, in its own axes [m/s^2, rad/s^2]."""
        return self._placement.actInv(self._data.a[self._joint])

    @property
    def wrench(self) -> Array:
        """Force [N] and torque [N m] of the link and all beyond on the rest, in the sensor's frame, shape (6,)."""
        return np.array((-self._placement.actInv(self._data.f[self._joint])).vector)


class SensorKind(ABC):
    """A kind of sensor. Subclass it in a file of your own.

    Attributes:
        name: that robots' files give as ``type``.
        quantities: what it measures, each with its number of axes; noise is given by quantity. Only an ``orientation``
            has more numbers than axes: it is a quaternion x, y, z, w.
        message: ROS 2 type that the simulator's node publishes on ``<name>/<sensor>``, as ``"sensor_msgs/msg/Range"``;
            empty for none.
    """

    name: ClassVar[str]
    quantities: ClassVar[Mapping[str, int]]
    message: ClassVar[str] = ""

    @abstractmethod
    def read(self, state: SensorState) -> dict[str, Array]:
        """Return the ideal reading by quantity, each of shape (axes,), in the sensor's frame and in SI units."""

    def fill(self, message: Any, reading: Mapping[str, Array]) -> None:
        """Write a reading into a message of the type :attr:`message`, whose header is filled already."""
        raise NotImplementedError(f"{type(self).__name__} names the message {self.message}: give it a method fill")


class _InertialUnit(SensorKind):
    """Orientation, angular velocity and specific force of its frame; at rest it reads 9.81 upwards."""

    name = "imu"
    quantities: ClassVar = {"orientation": 3, "angular_velocity": 3, "linear_acceleration": 3}

    def read(self, state: SensorState) -> dict[str, Array]:
        turn, twist, spatial = state.placement_world_sensor.rotation, state.twist, state.acceleration
        classical = spatial.linear + pin.skew(twist.angular) @ twist.linear
        return {
            "orientation": np.array(pin.Quaternion(turn).coeffs()),
            "angular_velocity": np.array(twist.angular),
            "linear_acceleration": np.array(classical - turn.T @ state.gravity),
        }


class _ForceTorque(SensorKind):
    """Wrench that the link and all beyond it exert on the rest of the robot."""

    name = "force_torque"
    quantities: ClassVar = {"force": 3, "torque": 3}

    def read(self, state: SensorState) -> dict[str, Array]:
        wrench = state.wrench
        return {"force": wrench[:3], "torque": wrench[3:]}


class _Camera(SensorKind):
    """Pictures in levels of 0..255, distances [m] and their inverses [1/m], taken when asked for."""

    name = "camera"
    quantities: ClassVar = {"colour": 3, "depth": 1, "inverse_depth": 1}

    def read(self, state: SensorState) -> dict[str, Array]:
        raise InputError("a camera has no reading", element="sensor", remedy="Ask it for image or depth_image")


#: Kinds of sensors by name.
SENSOR_KINDS: dict[str, SensorKind] = {kind.name: kind for kind in (_InertialUnit(), _ForceTorque(), _Camera())}


def register_sensor(kind: SensorKind) -> None:
    """Make a kind of sensors known to robots' files and to the simulator.

    Other packages list a function that calls it as an entry point ``humanoid_stack.sensors``: it is called when a file
    names a type that isn't known.

    Raises:
        InputError: its name is taken, or it measures nothing.
    """
    if kind.name in SENSOR_KINDS:
        raise InputError(
            f"there are sensors of type '{kind.name}' already", element="name", remedy="Give the kind another name"
        )
    if not kind.quantities or min(kind.quantities.values()) < 1:
        raise InputError(
            f"quantities are {dict(kind.quantities)}", element="quantities", remedy="Give each its number of axes"
        )
    SENSOR_KINDS[kind.name] = kind
