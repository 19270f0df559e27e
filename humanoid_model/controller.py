# SPDX-License-Identifier: Apache-2.0
"""What passes between a controller and whatever plant in each tick: simulator, MuJoCo, a ROS node, a robot.

A controller is an object with ``update(t, measurement) -> command``. ``t`` is its clock [s]; ticks come in order, at
whatever rate. The same measurements give the same commands bit for bit; ``copy.deepcopy`` takes a controller as it is,
``reset`` forgets all that it was told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from humanoid_model.arrays import Array


@dataclass(frozen=True, eq=False)
class Command:
    """Efforts of the driven joints, and the motion that they are meant to make.

    A plant driven by efforts applies these. One driven by positions with feed-forward and gains adds
    stiffness (positions - q) + damping (velocities - v).

    Attributes:
        time: of the measurement that it answers [s].
        joints: names of the n driven joints.
        efforts: shape (n,) [N m or N].
        positions: where the joints should be a tick later, shape (n,) [rad or m].
        velocities: likewise [rad/s or m/s].
    """

    time: float
    joints: tuple[str, ...]
    efforts: Array
    positions: Array
    velocities: Array


@dataclass(frozen=True, eq=False)
class Measurement:
    """Readings of one tick. What a plant lacks or has lost is None or not in a mapping; a number may be NaN.

    Attributes:
        time: when they were taken, by the controller's clock [s]. The time of the measurement before says that there
            is none newer.
        joint_positions: of all joints, shape (n,): those of the URDF that move, without the base, in the order of the
            model [rad or m]; a ball joint is its three members.
        joint_velocities: likewise [rad/s or m/s]; None: the plant doesn't measure them.
        angular_velocity: of the inertial measurement unit against the world, in the sensor's frame [rad/s], shape (3,).
        specific_force: its acceleration minus gravity, in the sensor's frame [m/s²], shape (3,): 9.81 upwards at rest.
            This and the rate are means since the measurement before, as of units that integrate: the impact of a foot
            is over in a millisecond.
        wrenches: by force-torque sensor, what its link and all beyond exert on the rest of the robot, in the sensor's
            frame: force [N], torque about the sensor [N m], shape (6,). A standing robot's ankles read its weight
            upwards.
        contacts: by contact location, how probable it is that it bears, as a switch or a plan tells.
    """

    time: float
    joint_positions: Array
    joint_velocities: Array | None = None
    angular_velocity: Array | None = None
    specific_force: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    contacts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
