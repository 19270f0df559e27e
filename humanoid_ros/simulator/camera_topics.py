# SPDX-License-Identifier: Apache-2.0
"""What a camera on a robot publishes."""

from __future__ import annotations

import math
from array import array

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from humanoid_model.sensor import Sensor
from humanoid_ros.messages.link_transforms import sensor_frame
from humanoid_ros.node.qos import SENSOR
from humanoid_ros.simulator.heard_publisher import HeardPublisher
from humanoid_sim.world.simulated_robot import SimulatedRobot


class CameraTopics:
    """Pictures, distances and optics of one camera.

    Attributes:
        topics: the publishers.
    """

    def __init__(self, node: Node, sensor: Sensor, prefix: str) -> None:
        """Create the publishers.

        Args:
            node: that publishes.
            sensor: the camera.
            prefix: of topics and frames.
        """
        self._name = sensor.name
        self._info = camera_info(sensor)
        self._info.header.frame_id = prefix + sensor_frame(sensor.name)
        self._image, self._depth, self._optics = self.topics = [
            HeardPublisher(node, kind, f"{prefix}cameras/{sensor.name}/{topic}", SENSOR)
            for kind, topic in ((Image, "image_raw"), (Image, "depth"), (CameraInfo, "camera_info"))
        ]

    def publish(self, robot: SimulatedRobot, time: Time) -> None:
        """Publish what is heard, at the robot's present state."""
        self._info.header.stamp = time
        if self._optics.heard:
            self._optics.publish(self._info)
        if self._image.heard:
            self._image.publish(self._message(robot.image(self._name), "rgb8"))
        if self._depth.heard:
            self._depth.publish(self._message(robot.depth_image(self._name)[0].astype("<f4"), "32FC1"))

    def _message(self, pixels: np.ndarray, encoding: str) -> Image:
        height, width = pixels.shape[:2]
        return Image(
            header=self._info.header, height=height, width=width, encoding=encoding, step=pixels[0].nbytes,
            data=array("B", pixels.tobytes()),
        )  # fmt: skip


def camera_info(sensor: Sensor) -> CameraInfo:
    """Return the optics of a camera: a pinhole in the middle of the picture, the middle of the first pixel at 0."""
    width, height = sensor.size
    focal = 0.5 * height / math.tan(0.5 * sensor.field_of_view)
    x, y = 0.5 * (width - 1), 0.5 * (height - 1)
    return CameraInfo(
        width=width, height=height, distortion_model="plumb_bob", d=[0.0] * 5,
        k=[focal, 0.0, x, 0.0, focal, y, 0.0, 0.0, 1.0], r=np.eye(3).ravel().tolist(),
        p=[focal, 0.0, x, 0.0, 0.0, focal, y, 0.0, 0.0, 0.0, 1.0, 0.0],
    )  # fmt: skip
