# SPDX-License-Identifier: Apache-2.0
"""How far the sensors of simulated robots are from ideal: as their files say, or as sensors usually are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from humanoid_model import Robot
from humanoid_model.fields import Described, choice, count, number
from humanoid_model.scene import Scene
from humanoid_model.sensor import ENCODER_QUANTITIES, Noise
from humanoid_model.sensor_kind import SENSOR_KINDS


@dataclass(frozen=True)
class SensorSettings(Described):
    """What robots measure of what is true."""

    sensor_noise: str = choice(
        "none", ("none", "file", "usual"),
        "what sensors add to what is true; nothing, the noise of the robots' files, or that of docs/estimation.md",
    )  # fmt: skip
    sensor_delay: float = number(0.0, "by how much readings come late, in whole steps", "s", low=0.0, high=0.1)
    sensor_seed: int = count(1, "of the noise; the same seed gives the same readings")

    @property
    def ideal(self) -> bool:
        """Whether robots measure what is true."""
        return self.sensor_noise == "none" and self.sensor_delay == 0.0

    def disturbed(self, scene: Scene, dt: float) -> Scene:
        """Return a scene whose robots have such sensors.

        Args:
            scene: that is simulated.
            dt: time step, after each of which sensors are sampled [s].
        """
        rng, latency = np.random.default_rng(self.sensor_seed), round(self.sensor_delay / dt)

        def own(robot: Robot) -> Robot:
            if self.sensor_noise == "none":
                bare = {name: replace(sensor, gain=np.eye(6), noise={}) for name, sensor in robot.sensors.items()}
                robot = replace(robot, sensors=bare, encoders={})
            elif self.sensor_noise == "usual":
                robot = with_usual_noise(robot, rng)
            return _late(robot, latency) if latency > 0 else robot

        return replace(scene, robots=tuple(replace(placed, robot=own(placed.robot)) for placed in scene.robots))


def with_usual_noise(robot: Robot, rng: np.random.Generator) -> Robot:
    """Return a robot with the noise that docs/estimation.md names, in the place of its own; biases are drawn.

    Args:
        robot: any.
        rng: draws the biases.
    """

    def drawn(deviation: float) -> tuple[float, ...]:
        return tuple(float(x) for x in deviation * rng.normal(size=3))

    noises = {
        "imu": {
            "angular_velocity": Noise(deviation=5e-3, bias=drawn(5e-3), bias_walk=1e-4),
            "linear_acceleration": Noise(deviation=0.05, bias=drawn(0.02), bias_walk=1e-3),
        },
        "force_torque": {
            "force": Noise(deviation=1.0, bias=drawn(3.0), bias_walk=0.05),
            "torque": Noise(deviation=0.05, bias=drawn(0.3), bias_walk=0.005),
        },
    }
    sensors = {name: replace(sensor, noise=noises.get(sensor.type, {})) for name, sensor in robot.sensors.items()}
    encoder = {"position": Noise(deviation=2e-4, resolution=1e-4), "velocity": Noise(deviation=0.02)}
    return replace(robot, sensors=sensors, encoders=dict.fromkeys(robot.joint_names, encoder))


def _late(robot: Robot, latency: int) -> Robot:
    """Return a robot all of whose readings but pictures come so many samples later."""

    def late(noise: dict[str, Noise], quantities: Iterable[str]) -> dict[str, Noise]:
        given = {name: noise.get(name, Noise()) for name in quantities}
        return {name: replace(one, latency=one.latency + latency) for name, one in given.items()}

    sensors = {
        name: sensor if sensor.type == "camera" else replace(
            sensor, noise=late(dict(sensor.noise), SENSOR_KINDS[sensor.type].quantities)
        )
        for name, sensor in robot.sensors.items()
    }  # fmt: skip
    encoders = {
        name: late(dict(robot.encoders.get(name, {})), ENCODER_QUANTITIES) for name in robot.joint_names
    }
    return replace(robot, sensors=sensors, encoders=encoders)
