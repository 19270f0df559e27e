# SPDX-License-Identifier: Apache-2.0
"""A sensor: a compass of three axes, which reads the earth's magnetic field in its own frame.

A robot's file names it as it names the stack's own::

    sensors:
      compass: {type: magnetometer, link: CHEST_LINK1, noise: {field: {deviation: 3.0e-7}}}
"""

from typing import ClassVar

import numpy as np

from humanoid_model import SensorKind, register_sensor

FIELD = np.array([20e-6, 0.0, -44e-6])
"""In the world, x towards the magnetic north [T]; the size and dip of central Europe."""


class Magnetometer(SensorKind):
    """Magnetic field in the sensor's frame."""

    name = "magnetometer"
    quantities: ClassVar = {"field": 3}
    message = "sensor_msgs/msg/MagneticField"

    def read(self, state):
        """Turn the world's field into the sensor's axes [T]."""
        return {"field": state.placement_world_sensor.rotation.T @ FIELD}

    def fill(self, message, reading):
        """Write it into the message that the simulator's node publishes on ``magnetometer/compass``."""
        vector = message.magnetic_field
        vector.x, vector.y, vector.z = reading["field"].tolist()


def register():
    """Make it known; for the nodes a package has it as an entry point ``humanoid_stack.sensors``."""
    register_sensor(Magnetometer())
