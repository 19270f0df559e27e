# SPDX-License-Identifier: Apache-2.0
"""What an estimator is told of its sensors and of the ground."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_model.checks import check_positive


@dataclass(frozen=True)
class EstimatorSettings:
    """Noise of the sensors, and how contacts behave. Densities are of white noise: deviation of a sample x √period.

    Attributes:
        imu: name of the inertial measurement unit; the robot's first one if empty.
        contacts: locations that may bear, of which one with an area holds place and orientation, a point or an edge its
            place; the robot's soles if empty.
        gyro_noise: density [rad/s/√Hz].
        force_noise: density of the accelerometer's [m/s²/√Hz].
        gyro_bias_walk: of the gyroscope's bias in a second [rad/s/√s].
        force_bias_walk: of the accelerometer's [m/s²/√s].
        gyro_bias: deviation with which its bias begins [rad/s].
        force_bias: likewise [m/s²].
        gyro_range: largest rate that is believed [rad/s].
        force_range: largest specific force that is believed [m/s²].
        encoder_noise: deviation of a reading, white [rad or m].
        rate_noise: deviation of a joint's measured velocity, white [rad/s or m/s].
        frame_noise: deviation of where a contact is in the robot beyond what encoders tell [m, rad].
        contact_drift: density of a bearing contact's velocity [m/s/√Hz].
        contact_roll: density of a sole's turning that the whole of it bears [rad/s/√Hz].
        edge_roll: density of its turning about its edge when the centre of pressure is there [rad/s/√Hz].
        edge_width: distance of the centre of pressure from the edge from which on a sole bears as a whole [m].
        contact_load: share of the robot's weight that a contact bears as probably as not.
        load_scale: change of that share by which the odds become e times larger.
        contact_speed: deviation of a bearing contact's measured speed [m/s].
        free_speed: of one that is free [m/s].
        gate: squared deviations beyond which a contact isn't believed to have stayed, for three numbers; six get 1.5
            times as much.
        wrench_noise: deviation of what a force-torque sensor in the air reads besides weight and offset: force [N],
            torque [N m].
        wrench_walk: of its offset in a second [N/√s, N m/√s].
        wrench_offset: deviation with which it begins [N, N m].
        longest_step: time between ticks beyond which the clock has jumped [s].
        patience: how long the last inertial reading is used when there is none [s].
    """

    imu: str = ""
    contacts: tuple[str, ...] = ()
    gyro_noise: float = 2e-4
    force_noise: float = 2e-3
    gyro_bias_walk: float = 1e-4
    force_bias_walk: float = 1e-3
    gyro_bias: float = 0.02
    force_bias: float = 0.03
    gyro_range: float = 35.0
    force_range: float = 500.0
    encoder_noise: float = 5e-4
    rate_noise: float = 0.02
    frame_noise: float = 1e-4
    contact_drift: float = 1e-3
    contact_roll: float = 1e-2
    edge_roll: float = 0.5
    edge_width: float = 0.01
    contact_load: float = 0.05
    load_scale: float = 0.01
    contact_speed: float = 0.07
    free_speed: float = 0.7
    gate: float = 25.0
    wrench_noise: tuple[float, float] = (5.0, 0.5)
    wrench_walk: tuple[float, float] = (0.1, 0.01)
    wrench_offset: tuple[float, float] = (10.0, 1.0)
    longest_step: float = 0.1
    patience: float = 0.02

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: one isn't positive.
        """
        for name, value in vars(self).items():
            if name in ("imu", "contacts"):
                continue
            for number in value if isinstance(value, tuple) else (value,):
                check_positive(number, f"settings.{name}")
