# SPDX-License-Identifier: Apache-2.0
"""Exterior penalties that keep closures and state inequalities (specification 003 sections 2.18 to 2.20)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError


@dataclass(frozen=True)
class Obstacle:
    """A bump on the ground that the clearance points have to step over, taken out along the vertical.

    Its envelope is height (tanh((x - x_left)/s) - tanh((x - x_right)/s)) / 2 with s a quarter of the margin: at the
    obstacle's own edges it has 99.9 % of the height, and a margin beyond them as good as none.

    Attributes:
        centre: place of its middle along X [m].
        width: along X [m].
        height: above the ground [m].
        margin: over which the envelope falls off on either side [m].
    """

    centre: float
    width: float
    height: float
    margin: float = 0.04

    def __post_init__(self) -> None:
        """Check the sizes.

        Raises:
            InputError: a size isn't positive, or a value isn't finite.
        """
        if not math.isfinite(self.centre):
            raise InputError(f"is {self.centre}", element="obstacle.centre", remedy="Give a finite place")
        for name in ("width", "height", "margin"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"is {value}", element=f"obstacle.{name}", remedy="Give a length above 0")

    def coefficients(self) -> Reals:
        """(4,) left edge, right edge, height and s of the envelope [m]."""
        s = 0.25 * self.margin
        half = 0.5 * self.width + 0.9 * self.margin
        return np.array([self.centre - half, self.centre + half, self.height, s])

    def envelope(self, x: ArrayLike) -> Reals:
        """(...) height of the envelope at x [m]."""
        left, right, height, s = self.coefficients()
        place = np.asarray(x, dtype=float)
        return np.asarray(0.5 * height * (np.tanh((place - left) / s) - np.tanh((place - right) / s)))


@dataclass(frozen=True)
class Penalties:
    """Factors of the penalty that is added to the effort, equations (II.14) and (III.21).

    l_r = 1/2 r_d |g(q)|² + 1/2 r_a |delta(q)|² + 1/2 r_2 sum_k D_k max(0, h_k)², with h the excesses over joint ranges,
    over joint rates, and of the ground's envelope over the points that must stay clear of it.

    Attributes:
        closure: r_d times gamma_closure: 150 times 100 1/m² in the thesis' runs [1/(m² s)].
        slap: r_a [1/(rad² s)].
        inequality: r_2, of all inequalities.
        range_weight: D of joint ranges [1/rad²]; zero leaves them out.
        rate_weight: D of joint rates [s²/rad²]; zero leaves them out.
        clearance_weight: D of clearances [1/m²]; zero leaves them out.
        clearance: height that points have to keep above the envelope [m].
        foot_lift: height above it that they keep but in the first and the last part of the phase, where limits of the
            state are constraints of a transcription and no penalties [m].
        point_weights: D of single clearance points by name, instead of ``clearance_weight``.
        obstacles: bumps on the flat ground.
    """

    closure: float = 15000.0
    slap: float = 15.0
    inequality: float = 1e4
    range_weight: float = 0.0
    rate_weight: float = 0.0
    clearance_weight: float = 1.0
    clearance: float = 0.0
    foot_lift: float = 0.0
    point_weights: Mapping[str, float] = field(default_factory=dict)
    obstacles: tuple[Obstacle, ...] = ()

    def __post_init__(self) -> None:
        """Check the factors.

        Raises:
            InputError: a factor is negative or not finite.
        """
        for name in ("closure", "slap", "inequality", "range_weight", "rate_weight", "clearance_weight", "foot_lift"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"is {value}", element=f"penalties.{name}", remedy="Give zero or more")
        for name, value in self.point_weights.items():
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(
                    f"is {value}", element=f"penalties.point_weights['{name}']", remedy="Give zero or more"
                )
        if not math.isfinite(self.clearance):
            raise InputError(f"is {self.clearance}", element="penalties.clearance", remedy="Give a finite height")
