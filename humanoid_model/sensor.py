# SPDX-License-Identifier: Apache-2.0
"""Sensors that a robot carries, and how far they are from ideal; cameras of robots and scenes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from humanoid_model.value_equality import ValueEquality

FIELD_OF_VIEW = 0.62
"""Vertical angle of a picture whose camera names none [rad]."""
DIRECTION = np.array([0.83, -0.50, 0.24])
"""From what is looked at towards the camera: from the front, its right, a little above."""
MARGIN = 1.36
"""Height of the picture over the height of what is looked at."""


@dataclass(frozen=True, eq=False)
class Camera(ValueEquality):
    """A pinhole camera.

    Attributes:
        placement: in the world, or in the frame of what carries it; it looks along its -z axis, y up (OpenGL).
        field_of_view: vertical angle of the picture [rad].
    """

    placement: pin.SE3
    field_of_view: float = FIELD_OF_VIEW

    @classmethod
    def looking_at(cls, eye: ArrayLike, target: ArrayLike, field_of_view: float = FIELD_OF_VIEW) -> Camera:
        """Return an upright camera at ``eye`` with ``target`` in the middle of its picture, both (3,) [m]."""
        eye = np.array(eye, dtype=float)
        back = eye - np.asarray(target, dtype=float)
        back /= np.linalg.norm(back)
        up = np.array([0.0, 0.0, 1.0]) if abs(back[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
        right = np.cross(up, back)
        right /= np.linalg.norm(right)
        return cls(pin.SE3(np.column_stack([right, np.cross(back, right), back]), eye), field_of_view)

    @classmethod
    def framing(cls, centre: np.ndarray, height: float) -> Camera:
        """Return a camera that sees the whole of something.

        Args:
            centre: (3,) middle of it [m].
            height: its largest size [m].
        """
        distance = 0.5 * MARGIN * height / np.tan(0.5 * FIELD_OF_VIEW)
        return cls.looking_at(centre + distance * DIRECTION / np.linalg.norm(DIRECTION), centre)


_OPTICAL = pin.SE3(np.diag([1.0, -1.0, -1.0]), np.zeros(3))
"""From a camera's optical frame to the axes of :class:`Camera`."""
#: What the encoder of a joint measures.
ENCODER_QUANTITIES = ("position", "velocity")


@dataclass(frozen=True)
class Noise:
    """How a measurement differs from what is measured (specification 000 section 20.2, requirement R5).

    The signal passes a first-order low-pass filter, gets bias and noise, is rounded, and comes late; pixels of a
    camera have bias, noise and rounding alone. All numbers are in the unit of what is measured: rad, rad/s, m/s^2, N,
    N m; zero leaves the part out.

    Attributes:
        deviation: standard deviation of white Gaussian noise, drawn afresh for each sample and axis.
        bias: constant error, one number for all axes or one for each.
        bias_walk: the bias wanders by this standard deviation in one second, ever further as the square root of time.
        resolution: step to whose multiples readings are rounded.
        time_constant: of the filter, s.
        latency: by how many samples readings come late.
    """

    deviation: float = 0.0
    bias: float | tuple[float, ...] = 0.0
    bias_walk: float = 0.0
    resolution: float = 0.0
    time_constant: float = 0.0
    latency: int = 0


@dataclass(frozen=True, eq=False)
class Sensor(ValueEquality):
    """A sensor fixed to a link.

    Attributes:
        name: unique name within the robot.
        type: name of its kind (:data:`~humanoid_model.sensor_kind.SENSOR_KINDS`). ``imu`` measures orientation,
            angular velocity and specific force of its frame. ``force_torque`` measures the wrench that the link and all
            beyond it exert on the rest of the robot through the moving joint that carries the link: a standing robot's
            ankles read its weight upwards. ``camera`` takes pictures and distances; its frame is the optical one, x
            right, y down, z into the picture.
        link: link that carries it.
        placement_link_sensor: sensor frame in the link frame.
        gain: of a force-torque sensor, (6, 6): true wrench = gain (raw reading + offset), the force first; the identity
            for a perfect sensor.
        noise: by quantity of its kind; those left out are measured without noise. An orientation is disturbed by
            rotations about the sensor's own axes.
        field_of_view: vertical angle of a camera's picture [rad].
        size: its width and height [px].
    """

    name: str
    type: str
    link: str
    placement_link_sensor: pin.SE3
    gain: np.ndarray = field(default_factory=lambda: np.eye(6))
    noise: Mapping[str, Noise] = field(default_factory=dict)
    field_of_view: float = FIELD_OF_VIEW
    size: tuple[int, int] = (320, 240)

    @property
    def camera(self) -> Camera:
        """Where the pictures of a camera are taken from, in the frame of its link."""
        return Camera(self.placement_link_sensor * _OPTICAL, self.field_of_view)
