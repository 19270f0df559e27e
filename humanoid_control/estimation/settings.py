# SPDX-License-Identifier: Apache-2.0
"""What an estimator is told of its sensors and of the ground."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from humanoid_model.checks import check_positive
from humanoid_model.fields import Described, number


@dataclass(frozen=True)
class EstimatorSettings(Described):
    """Noise of the sensors, and how contacts behave. Densities are of white noise: deviation of a sample x √period.

    Attributes:
        imu: name of the inertial measurement unit; the robot's first one if empty.
        contacts: locations that may bear, of which a sole with an area holds place and orientation, any other one
            its place; the robot's soles if empty.
        wrench_noise: deviation of what a force-torque sensor in the air reads besides weight and offset: force [N],
            torque [N m].
        wrench_walk: of its offset in a second [N/√s, N m/√s].
        wrench_offset: deviation with which it begins [N, N m].
    """

    part_of: ClassVar[str] = "settings."

    imu: str = ""
    contacts: tuple[str, ...] = ()
    gyro_noise: float = number(2e-4, "density of the gyroscope's noise", "rad/s/√Hz", low=0.0, above=True)
    force_noise: float = number(2e-3, "density of the accelerometer's noise", "m/s²/√Hz", low=0.0, above=True)
    gyro_bias_walk: float = number(
        1e-4, "deviation of the gyroscope's bias in a second", "rad/s/√s", low=0.0, above=True,
    )  # fmt: skip
    force_bias_walk: float = number(
        1e-3, "deviation of the accelerometer's bias in a second", "m/s²/√s", low=0.0, above=True,
    )  # fmt: skip
    gyro_bias: float = number(0.02, "deviation with which the gyroscope's bias begins", "rad/s", low=0.0, above=True)
    force_bias: float = number(
        0.03, "deviation with which the accelerometer's bias begins", "m/s²", low=0.0, above=True,
    )  # fmt: skip
    gyro_range: float = number(35.0, "largest rate that is believed", "rad/s", low=0.0, above=True)
    force_range: float = number(500.0, "largest specific force that is believed", "m/s²", low=0.0, above=True)
    encoder_noise: float = number(
        5e-4, "deviation of a joint's measured position, white", "rad or m", low=0.0, above=True,
    )  # fmt: skip
    rate_noise: float = number(
        0.02,
        "deviation of a joint's measured velocity, white",
        "rad/s or m/s", low=0.0, above=True,
    )  # fmt: skip
    frame_noise: float = number(
        1e-4,
        "deviation of where a contact is in the robot beyond what encoders tell",
        "m, rad", low=0.0, above=True,
    )  # fmt: skip
    contact_drift: float = number(1e-3, "density of a bearing sole's velocity", "m/s/√Hz", low=0.0, above=True)
    grip_drift: float = number(
        2e-2, "the same, of a place that isn't a sole: hands slide and roll", "m/s/√Hz", low=0.0, above=True,
    )  # fmt: skip
    contact_roll: float = number(
        1e-2,
        "density of a sole's turning that the whole of it bears",
        "rad/s/√Hz", low=0.0, above=True,
    )  # fmt: skip
    edge_roll: float = number(
        0.5,
        "density of a sole's turning about its edge when the centre of pressure is there",
        "rad/s/√Hz", low=0.0, above=True,
    )  # fmt: skip
    edge_width: float = number(
        0.01,
        "distance of the centre of pressure from the edge from which on a sole bears as a whole",
        "m", low=0.0, above=True,
    )  # fmt: skip
    contact_load: float = number(
        0.05,
        "share of the robot's weight that a contact bears as probably as not",
        low=0.0, above=True,
    )  # fmt: skip
    load_scale: float = number(
        0.01,
        "change of that share by which the odds become e times larger",
        low=0.0, above=True,
    )  # fmt: skip
    contact_speed: float = number(0.07, "deviation of a bearing contact's measured speed", "m/s", low=0.0, above=True)
    free_speed: float = number(0.7, "deviation of a free contact's measured speed", "m/s", low=0.0, above=True)
    gate: float = number(
        25.0,
        "squared deviations beyond which a contact isn't believed to have stayed, for three numbers; "
        "six get 1.5 times as much",
        low=0.0, above=True,
    )  # fmt: skip
    wrench_noise: tuple[float, float] = (5.0, 0.5)
    wrench_walk: tuple[float, float] = (0.1, 0.01)
    wrench_offset: tuple[float, float] = (10.0, 1.0)
    longest_step: float = number(0.1, "time between ticks beyond which the clock has jumped", "s", low=0.0, above=True)
    patience: float = number(
        0.02,
        "how long the last inertial reading is used when there is none",
        "s", low=0.0, above=True,
    )  # fmt: skip

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: one isn't positive.
        """
        super().__post_init__()
        for name in ("wrench_noise", "wrench_walk", "wrench_offset"):
            for value in getattr(self, name):
                check_positive(value, f"settings.{name}")
