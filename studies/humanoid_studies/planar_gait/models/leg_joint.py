# SPDX-License-Identifier: Apache-2.0
"""A joint of a leg as robots count it: ranges by joint name, and the angle between two axes that they come to."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from humanoid_model.yaml_node import YamlNode
from humanoid_studies.planar_gait.mechanism.planar_mechanism import Pivot


@dataclass(frozen=True)
class LegJoint:
    """What is known of a kind of joint, alike for both legs.

    Flexion of the knee, extension of the hip (the thigh swings back) and dorsiflexion's opposite of the ankle (the toe
    goes down) are positive, as in the URDF of the planar robots: rotations about +Y of a frame with Z up.

    Attributes:
        lower: least angle [rad].
        upper: greatest angle [rad].
        rate: greatest absolute rate [rad/s].
        damping: viscous coefficient [N m s/rad].
        rotor: inertia of its motor's rotor as seen at the joint [kg m²].
    """

    lower: float = -math.inf
    upper: float = math.inf
    rate: float = math.inf
    damping: float = 0.0
    rotor: float = 0.0

    def relative_range(self, sign: int, offset: float) -> tuple[float, float]:
        """Return the range of phi = sign * angle + offset: what a relative angle of the chain may be [rad]."""
        ends = sorted((sign * self.lower + offset, sign * self.upper + offset))
        return ends[0], ends[1]

    def limit(self, pivot: Pivot, sign: int, offset: float) -> Pivot:
        """Return the pivot with this joint's limits, damping, rotor and count; its angle is sign * angle + offset."""
        lower, upper = self.relative_range(sign, offset)
        return dataclasses.replace(
            pivot,
            lower=lower,
            upper=upper,
            rate_limit=self.rate,
            damping=self.damping,
            rotor=self.rotor,
            sign=sign,
            offset=offset,
        )


def read_leg_joints(values: dict[str, YamlNode], names: tuple[str, ...]) -> dict[str, LegJoint]:
    """Read ``ranges``, ``rates``, ``damping`` and ``rotors`` of a file's top level; what is left out isn't limited.

    Raises:
        InputError: an unknown joint, a range that crosses, a rate that isn't positive, a negative damping or rotor.
    """
    ranges = values["ranges"].mapping(names) if "ranges" in values else {}
    rates = values["rates"].mapping(names) if "rates" in values else {}
    damping = values["damping"].mapping(names) if "damping" in values else {}
    rotors = values["rotors"].mapping(names) if "rotors" in values else {}
    joints = {}
    for name in names:
        lower, upper = -math.inf, math.inf
        if name in ranges:
            lower, upper = (float(value) for value in ranges[name].numbers(2))
            if lower >= upper:
                raise ranges[name].fail(f"is [{lower:g}, {upper:g}]", "Let the first be below the second")
        joints[name] = LegJoint(
            lower,
            upper,
            rates[name].number(above=0.0) if name in rates else math.inf,
            damping[name].number(lowest=0.0) if name in damping else 0.0,
            rotors[name].number(lowest=0.0) if name in rotors else 0.0,
        )
    return joints
