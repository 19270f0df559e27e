# SPDX-License-Identifier: Apache-2.0
"""How a robot keeps to a motion and looks for what it is to touch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from humanoid_control.whole_body_control import BodyGains
from humanoid_model.fields import Described, number


@dataclass(frozen=True)
class TrackerSettings(Described):
    """Times, lengths and gains of a motion that is carried out.

    Attributes:
        gains: of the whole body.
    """

    part_of: ClassVar[str] = "settings."

    centre: float = number(5.0, "natural frequency of the centre of mass", "rad/s", low=0.0, above=True)
    presses: float = number(0.05, "share of the weight from which on a sole is felt", low=0.0, above=True)
    touches: float = number(0.02, "the same of anything else", low=0.0, above=True)
    early: float = number(0.15, "how long before its time a contact may be felt", "s", low=0.0)
    descent: float = number(0.15, "speed of a limb that should have landed", "m/s", low=0.0, above=True)
    seeking: float = number(0.05, "the same, of a motion that waits for it", "m/s", low=0.0, above=True)
    depth: float = number(0.05, "how far a limb goes on beyond its place", "m", low=0.0, above=True)
    lift: float = number(
        0.015, "by how much a limb keeps further away on its way, of a motion that waits", "m", low=0.0,
    )  # fmt: skip
    margin: float = number(0.005, "distance of contact forces from the edges of what bears", "m", low=0.0)
    slowest: float = number(
        0.04,
        "distance of the centre of mass from its plan at which a motion that waits stands still; up to half of it, it "
        "doesn't slow down",
        "m", low=0.0, above=True,
    )  # fmt: skip
    astray: float = number(0.3, "distance of the centre of mass from its plan that is a fall", "m", low=0.0, above=True)
    fallen: float = number(1.0, "turn of the base from its plan that is a fall", "rad", low=0.0, above=True)
    softness: float = number(5.0, "damping of the joints of a robot that has fallen", "N m s/rad", low=0.0, above=True)
    # With a walker's weights a posture comes back only so fast as that takes hardly any angular momentum, and hips
    # don't turn a trunk that is at the end of its range.
    gains: BodyGains = field(default_factory=lambda: BodyGains(joint_weight=0.03, spin_weight=1e-4, trunk_weight=0.3))
