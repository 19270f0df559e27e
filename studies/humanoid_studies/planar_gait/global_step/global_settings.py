# SPDX-License-Identifier: Apache-2.0
"""What a gait solved as a whole minimises, keeps, and may choose."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.optimal_control.effort import QuadraticEffort
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle

Range = tuple[float, float]
LANDINGS = ("heel", "flat", "whole")


@dataclass(frozen=True)
class GlobalSettings:
    """Criterion and hard limits of all phases, and the ranges of what is free.

    Attributes:
        effort: the criterion l(u) of every phase.
        per_metre: minimise effort over distance instead of effort: without it a free step length shrinks, as short
            steps cost less each and more in all.
        landing: how a foot comes down. ``heel``: heel first, and the front toe bears when it is down, in two phases;
            ``flat``: all at once; ``whole``: heel first in one phase whose toe force acts from the beginning, as the
            thesis has it. Robots without feet don't mind.
        slap: r_a of that one phase, penalty on the angle of the front foot [1/(rad² s)].
        force_lower: least normal force at every place of every foot that bears [N].
        friction: Coulomb coefficient that every foot keeps to.
        torque_limits: greatest absolute torque by kind of joint: ankle, knee, hip [N m].
        min_knee_flexion: of every knee, however far its own range goes [rad].
        trunk_lean: greatest angle of the trunk from upright, either way [rad].
        swing_clearance: height of the swinging foot where it passes the stance foot [m].
        foot_lift: least height of the swinging foot but in the first and the last part of its way [m].
        obstacles: that the swinging foot steps over, in the stance foot's frame.
        sole_angle: range of the front sole's angle at touch-down [rad].
        rear_foot_turn: least angle of the rear foot in double support, less that of the flat foot [rad].
        heel_contact: range of the duration of double support on the front heel [s].
        double_support: range of the duration of double support, or of what follows upon the heel's part [s].
        single_support: range of its duration, of starts and stops too [s].
        step_length: range of step lengths that are free [m].
        double_intervals: of the transcription of a double support, or of each of its parts.
        single_intervals: of the transcription of a single support. Solved first on at most 20, 12 in double support.
        tolerance: of IPOPT.
        max_iterations: of IPOPT.
        time_limit: of everything, kept within IPOPT's iterations to a factor of two [s].
        proof_time_limit: of the proof with its refinements; what was transcribed stands where that isn't enough [s].
    """

    effort: QuadraticEffort = field(default_factory=QuadraticEffort)
    per_metre: bool = True
    landing: str = "heel"
    slap: float = 15.0
    force_lower: float = 6.0
    friction: float = 0.6
    torque_limits: Mapping[str, float] = field(default_factory=dict)
    min_knee_flexion: float = 0.05
    trunk_lean: float = 0.2
    swing_clearance: float = 0.02
    foot_lift: float = 0.0
    obstacles: tuple[Obstacle, ...] = ()
    sole_angle: Range = (0.0, 0.35)
    rear_foot_turn: float = -0.8
    heel_contact: Range = (0.02, 0.4)
    double_support: Range = (0.04, 0.6)
    single_support: Range = (0.2, 1.5)
    step_length: Range = (0.25, 0.9)
    double_intervals: int = 16
    single_intervals: int = 40
    tolerance: float = 1e-6
    max_iterations: int = 600
    time_limit: float = 300.0
    proof_time_limit: float = 120.0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InputError: one isn't finite or out of its range, or a range is upside down.
        """
        for name in ("friction", "trunk_lean", "tolerance", "time_limit", "proof_time_limit"):
            _check(name, getattr(self, name), getattr(self, name) > 0.0, "above 0")
        for name in ("slap", "force_lower", "min_knee_flexion", "swing_clearance", "foot_lift"):
            _check(name, getattr(self, name), 0.0 <= getattr(self, name) < math.inf, "of zero or more")
        turn = self.rear_foot_turn
        _check("rear_foot_turn", turn, -math.pi / 2 < turn < 0.0, "between -pi/2 and 0: the rear heel rises")
        for name in ("double_intervals", "single_intervals", "max_iterations"):
            value = getattr(self, name)
            _check(name, value, isinstance(value, (int, np.integer)) and int(value) >= 2, "a whole number, 2 or more")
        for kind, limit in self.torque_limits.items():
            _check(f"torque_limits['{kind}']", limit, limit > 0.0, "above 0")
        if self.landing not in LANDINGS:
            raise InputError(f"is {self.landing!r}", element="settings.landing", remedy=f"Use one of {LANDINGS}")
        for name in ("heel_contact", "double_support", "single_support", "step_length"):
            low, high = getattr(self, name)
            _check(name, (low, high), 0.0 < low < high < math.inf, "0 < least < greatest")
        low, high = self.sole_angle
        _check("sole_angle", (low, high), 0.0 <= low <= high < math.pi / 2, "0 <= least <= greatest < pi/2")

    def replace(self, **changes: object) -> GlobalSettings:
        """Return the settings with some of them changed.

        Raises:
            InputError: a value that can't be.
        """
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def _check(name: str, value: object, right: bool, wanted: str) -> None:
    if not right:
        raise InputError(f"is {value}", element=f"settings.{name}", remedy=f"Give {wanted}")
