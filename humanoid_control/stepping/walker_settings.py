# SPDX-License-Identifier: Apache-2.0
"""How a robot walks and keeps its balance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from humanoid_control.stepping.step_adjustment import StepWeights
from humanoid_control.whole_body_control import BodyGains
from humanoid_model.errors import InputError
from humanoid_model.fields import Described, number


@dataclass(frozen=True)
class WalkerSettings(Described):
    """Times, lengths and gains of a walk. Lengths in heights scale with the robot: of its centre of mass, as it stands.

    Attributes:
        weights: of deviations from the wanted steps.
        gains: of the whole body.
    """

    part_of: ClassVar[str] = "settings."

    step_time: float = number(0.5, "wanted duration of a step", "s", low=0.0, above=True)
    shortest: float = number(0.3, "least duration of a step", "s", low=0.0, above=True)
    longest: float = number(0.7, "greatest duration of a step", "s", low=0.0, above=True)
    double_support: float = number(
        0.06,
        "time at the beginning of a step in which both feet bear",
        "s", low=0.0, above=True,
    )  # fmt: skip
    clearance: float = number(
        0.11,
        "height of the swinging foot over the higher end of its way",
        "heights", low=0.0, above=True,
    )  # fmt: skip
    reach: float = number(0.9, "greatest distance of a landing foot ahead and behind", "heights", low=0.0, above=True)
    widest: float = number(0.7, "greatest lateral distance of the feet", "heights", low=0.0, above=True)
    gap: float = number(0.02, "least lateral distance between the soles of a step", "m", low=0.0, above=True)
    sharpest: float = number(0.5, "greatest turn of a foot in a step", "rad", low=0.0, above=True)
    swing_speed: float = number(2.5, "greatest mean speed of the swinging foot", "m/s", low=0.0, above=True)
    descent: float = number(0.15, "speed of a foot that lands", "m/s", low=0.0, above=True)
    lower: float = number(
        0.03,
        "by how much the centre of mass is lower than in the posture",
        "heights", low=0.0, above=True,
    )  # fmt: skip
    climb: float = number(0.2, "speed at which its height follows the ground", "m/s", low=0.0, above=True)
    height_frequency: float = number(
        8.0, "natural frequency of the height of the centre of mass", "rad/s", low=0.0, above=True,
    )  # fmt: skip
    margin: float = number(0.004, "distance of the centre of pressure from the sole's edge", "m", low=0.0, above=True)
    moment_reach: float = number(
        0.12,
        "how far beyond the sole the centroidal moment pivot may go, by turning the trunk",
        "heights", low=0.0, above=True,
    )  # fmt: skip
    lean: float = number(0.25, "tilt of the trunk beyond which it turns no further", "rad", low=0.0, above=True)
    presses: float = number(0.1, "share of the weight from which on a foot has landed", low=0.0, above=True)
    standing_gain: float = number(4.0, "rate at which the DCM goes back in standing", "1/s", low=0.0, above=True)
    fallen: float = number(1.0, "tilt of the base from which on the robot has fallen", "rad", low=0.0, above=True)
    softness: float = number(5.0, "damping of the joints of a robot that has fallen", "N m s/rad", low=0.0, above=True)
    weights: StepWeights = field(default_factory=StepWeights)
    gains: BodyGains = field(default_factory=BodyGains)

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a number out of its range, or times that aren't in order.
        """
        super().__post_init__()
        if not self.double_support < self.shortest <= self.step_time <= self.longest:
            raise InputError(
                f"times are {self.double_support}, {self.shortest}, {self.step_time}, {self.longest} s",
                element="settings",
                remedy="Let double_support be below shortest, and step_time from shortest to longest",
            )
