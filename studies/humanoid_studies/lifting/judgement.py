# SPDX-License-Identifier: Apache-2.0
"""Whether a lift keeps its limits, and which one it breaks, when, and by how much (specification 000 §22.2; F158).

Between the instants of the optimum too, and without the reserve that it keeps: what :meth:`WeightLift.solve` finds is
feasible here, and so are its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_studies.lifting.clearance import APART, smallest_gap
from humanoid_studies.lifting.planar_lifter import JOINT_WORDS, SENSOR_LIMITS
from humanoid_studies.lifting.weight_lift import (
    FRICTION,
    INSIDE,
    LIGHTEST,
    LONGEST,
    SHORTEST,
    LiftMotion,
    LiftSeries,
    WeightLift,
)

INSTANTS = 201
"""At which a motion is judged, evenly spread over it."""
_SPANS_TOLD = 2
"""Stretches that a sentence tells one by one."""
NEGLIGIBLE = 1e-6
"""Share of a limit that going beyond it doesn't count."""


@dataclass(frozen=True, eq=False)
class LimitedQuantity:
    """A quantity of a lift over its instants (K,), and its limits.

    Attributes:
        name: of the limit.
        unit: of the arrays.
        value: (K,); not a number where it has no meaning.
        lower: (K,) least allowed value; minus infinity where there is none.
        upper: (K,) largest one, likewise.
        scale: size of the limit, which shares of it are told by.
        too_low: what it means to be below, in plain words.
        too_high: what it means to be above.
    """

    name: str
    unit: str
    value: Array
    lower: Array
    upper: Array
    scale: float
    too_low: str
    too_high: str

    @property
    def excess(self) -> Array:
        """(K,) how far the value is beyond its limits; negative where it keeps them, or has no meaning."""
        beyond = np.maximum(self.lower - self.value, self.value - self.upper)
        return np.where(np.isnan(beyond), -np.inf, beyond)


@dataclass(frozen=True)
class Violation:
    """A limit that a lift breaks.

    Attributes:
        name: of the limit.
        meaning: in plain words.
        unit: of excess and limit.
        excess: largest distance beyond the limit.
        limit: there.
        share: the excess as a share of the size of the limit.
        time: when that is [s].
        spans: (start, end) of each stretch of instants at which the limit is broken [s].
    """

    name: str
    meaning: str
    unit: str
    excess: float
    limit: float
    share: float
    time: float
    spans: tuple[tuple[float, float], ...]

    def sentence(self) -> str:
        """Return which limit is broken, by how much and when; angles in degrees, lengths in millimetres."""
        factor, unit = _TOLD.get(self.unit, (1.0, self.unit))
        when = " and ".join(f"{start:.2f} to {end:.2f} s" for start, end in self.spans)
        if len(self.spans) > _SPANS_TOLD:
            when = f"{self.spans[0][0]:.2f} to {self.spans[-1][1]:.2f} s, {len(self.spans)} times"
        return (
            f"{self.meaning}, by {factor * self.excess:.3g} {unit} at {self.time:.2f} s "
            f"(limit {factor * self.limit + 0.0:.3g} {unit}; from {when})"
        )


_TOLD = {"rad": (np.rad2deg(1.0), "°"), "rad/s": (np.rad2deg(1.0), "°/s"), "m": (1e3, "mm")}
"""Units that sentences tell in others, with their factors."""


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a lift does to its limits.

    Attributes:
        series: the lift at the instants (K,) that are judged.
        quantities: by the names of their limits.
    """

    series: LiftSeries
    quantities: dict[str, LimitedQuantity]

    @cached_property
    def violations(self) -> dict[str, Violation]:
        """The limits that are broken by their names, the worst share first."""
        found = [_violation(one, self.series.time) for one in self.quantities.values()]
        broken = [one for one in found if one.share > NEGLIGIBLE]
        return {one.name: one for one in sorted(broken, key=lambda one: -one.share)}

    @property
    def feasible(self) -> bool:
        """Whether all limits are kept."""
        return not self.violations

    @property
    def broken(self) -> Array:
        """(K,) whether any limit is broken at an instant."""
        return np.any([one.excess > NEGLIGIBLE * one.scale for one in self.quantities.values()], axis=0)


def judge(lift: WeightLift, motion: LiftMotion, instants: int = INSTANTS) -> Judgement:
    """Judge a motion: torques, speeds, angles, wrists' sensors, feet, balance, clearance and duration.

    Args:
        lift: the problem that says robot and object.
        motion: of it.
        instants: K, evenly spread over the motion.
    """
    lifter, series = lift.lifter, lift.series(motion, instants)
    found: list[LimitedQuantity] = []

    def limit(
        name: str, unit: str, value: ArrayLike, low: ArrayLike, high: ArrayLike, scale: float, *meanings: str
    ) -> None:
        arrays = [np.broadcast_to(np.asarray(own, dtype=np.float64), instants) for own in (value, low, high)]
        values, lower, upper = arrays
        found.append(LimitedQuantity(name, unit, values, lower, upper, float(scale), meanings[0], meanings[-1]))

    for k, joint in enumerate(JOINT_WORDS):
        peak, speed, torque = lifter.peak[k], lifter.speed[k], series.torques[:, k]
        limit(
            f"torque of {joint}", "N m", torque, -peak, peak, peak,
            f"The motor of the {joint} would have to give more than its peak torque",
        )  # fmt: skip
        # (5.25): a motor's limits are a parallelogram of torque and speed; too large a torque is told above, and alone.
        effort = np.clip(torque / peak, -1.0, 1.0)
        limit(
            f"speed of {joint}", "rad/s", series.v[:, k],
            -speed * (1.0 + effort), speed * (1.0 - effort), speed,
            f"The {joint} turns faster than its motor can at that torque",
        )  # fmt: skip
        lower, upper = lifter.lower[k], lifter.upper[k]
        limit(
            f"angle of {joint}", "rad", series.q[:, k], lower, upper, 0.5 * (upper - lower),
            f"The {joint} is beyond its lower joint limit", f"The {joint} is beyond its upper joint limit",
        )  # fmt: skip
    for k, (name, unit) in enumerate((("force along", "N"), ("force across", "N"), ("moment at", "N m"))):
        most = SENSOR_LIMITS[k]
        limit(
            f"{name} the hand", unit, series.sensor[:, k], -most, most, most,
            f"The wrist's sensor bears too large a {name} the hand",
        )  # fmt: skip
    forward, up = series.ground.T
    limit("pressure of the feet", "N", up, LIGHTEST, np.inf, LIGHTEST, "The feet press too little on the ground")
    held = FRICTION * np.maximum(up, 0.0)
    limit("friction of the feet", "N", forward, -held, held, LIGHTEST, "The feet slip")
    heel, toe = lifter.sole
    # Feet that don't press have no zero-moment point; that they don't is told above.
    zmp = np.where(up < LIGHTEST, np.nan, series.zero_moment_point)
    limit(
        "zero-moment point", "m", zmp, heel + INSIDE, toe - INSIDE, 0.5 * (toe - heel),
        "The robot tips backwards, or nearly so: zero-moment point beyond the heels' limit",
        "The robot tips forwards, or nearly so: zero-moment point beyond the toes' limit",
    )  # fmt: skip
    limit("clearance", "m", smallest_gap(lifter, series.q), 0.0, np.inf, APART, "The object meets the body")
    limit(
        "duration", "s", motion.duration, SHORTEST, LONGEST, LONGEST,
        "The lift is too quick", "The lift takes longer than motors stand more than their nominal torques",
    )  # fmt: skip
    return Judgement(series, {one.name: one for one in found})


def _violation(quantity: LimitedQuantity, time: Array) -> Violation:
    """Return what is worst, whether it is beyond the limit or not."""
    excess = quantity.excess
    worst = int(np.argmax(excess))
    low = bool(quantity.value[worst] < quantity.lower[worst])
    beyond = np.concatenate([[False], excess > NEGLIGIBLE * quantity.scale, [False]])
    edges = np.flatnonzero(beyond[1:] != beyond[:-1]).reshape(-1, 2)
    return Violation(
        quantity.name,
        quantity.too_low if low else quantity.too_high,
        quantity.unit,
        float(excess[worst]),
        float((quantity.lower if low else quantity.upper)[worst]),
        float(excess[worst]) / quantity.scale,
        float(time[worst]),
        tuple((float(time[start]), float(time[end - 1])) for start, end in edges),
    )
