# SPDX-License-Identifier: Apache-2.0
"""How a robot walks and keeps its balance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from humanoid_control.stepping.step_adjustment import StepWeights
from humanoid_control.whole_body.whole_body_control import BodyGains
from humanoid_model.errors import InputError


@dataclass(frozen=True)
class WalkerSettings:
    """Times, lengths and gains of a walk. Lengths in heights scale with the robot: of its centre of mass, as it stands.

    Attributes:
        step_time: wanted duration of a step [s].
        shortest: least duration of a step [s].
        longest: greatest [s].
        double_support: time at the beginning of a step in which both feet bear [s].
        clearance: of the swinging foot over the higher end of its way [heights].
        reach: greatest distance of a landing foot ahead and behind [heights].
        widest: greatest lateral distance of the feet [heights].
        gap: least lateral distance between the edges of parallel soles [m].
        sharpest: greatest turn of a foot in a step [rad].
        swing_speed: greatest mean speed of the swinging foot [m/s].
        descent: speed of a foot that lands [m/s].
        lower: by how much the centre of mass is lower than in the posture [heights].
        climb: speed at which its height follows the ground [m/s].
        height_frequency: of its height [rad/s].
        margin: of the centre of pressure to the sole's edge [m].
        moment_reach: how far beyond the sole the centroidal moment pivot may go, by turning the trunk [heights].
        lean: of the trunk, at which it turns no further [rad].
        presses: share of the weight from which on a foot has landed.
        standing_gain: at which the DCM goes back when the robot stands [1/s].
        fallen: tilt of the base from which on the robot has fallen [rad].
        softness: damping of the joints when it has [N m s/rad].
        weights: of deviations from the wanted steps.
        gains: of the whole body.
    """

    step_time: float = 0.5
    shortest: float = 0.3
    longest: float = 0.7
    double_support: float = 0.06
    clearance: float = 0.11
    reach: float = 0.9
    widest: float = 0.7
    gap: float = 0.02
    sharpest: float = 0.5
    swing_speed: float = 2.5
    descent: float = 0.15
    lower: float = 0.03
    climb: float = 0.2
    height_frequency: float = 8.0
    margin: float = 0.004
    moment_reach: float = 0.12
    lean: float = 0.25
    presses: float = 0.1
    standing_gain: float = 4.0
    fallen: float = 1.0
    softness: float = 5.0
    weights: StepWeights = field(default_factory=StepWeights)
    gains: BodyGains = field(default_factory=BodyGains)

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a number that isn't finite and above 0, or times that aren't in order.
        """
        for name, value in vars(self).items():
            if isinstance(value, float) and not (math.isfinite(value) and value > 0.0):
                raise InputError(f"is {value}", element=f"settings.{name}", remedy="Give a number above 0")
        if not self.double_support < self.shortest <= self.step_time <= self.longest:
            raise InputError(
                f"times are {self.double_support}, {self.shortest}, {self.step_time}, {self.longest} s",
                element="settings",
                remedy="Let double_support be below shortest, and step_time from shortest to longest",
            )
