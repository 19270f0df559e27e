# SPDX-License-Identifier: Apache-2.0
"""Sensors that a robot carries."""

from __future__ import annotations

from dataclasses import dataclass

import pinocchio as pin

from humanoid_model.value_equality import ValueEquality

#: Kinds of sensors.
SENSOR_TYPES = ("imu", "force_torque")


@dataclass(frozen=True, eq=False)
class Sensor(ValueEquality):
    """A sensor fixed to a link.

    Attributes:
        name: unique name within the robot.
        type: ``imu`` measures orientation, angular velocity and specific force of its frame. ``force_torque``
            measures the wrench that the link and all beyond it exert on the rest of the robot through the
            moving joint that carries the link: a standing robot's ankles read its weight upwards.
        link: link that carries it.
        placement_link_sensor: sensor frame in the link frame.
    """

    name: str
    type: str
    link: str
    placement_link_sensor: pin.SE3
