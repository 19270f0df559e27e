# SPDX-License-Identifier: Apache-2.0
"""The triangle of heel, ankle and toe of BIP's foot (specification 003 section 2.12, Fig. III-23a)."""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class FootTriangle:
    """A foot by the three lengths that fix it; front and rear foot are alike.

    Attributes:
        ankle_toe: r_1 = r_7, side from ankle to toe [m].
        length: l_pied, side from heel to toe: the sole [m].
        ankle_height: a, of the ankle above the sole [m].
    """

    ankle_toe: float
    length: float
    ankle_height: float

    def __post_init__(self) -> None:
        """Check the lengths.

        Raises:
            InputError: one isn't finite and positive, the ankle is higher than its distance to the toe, or behind the
                heel.
        """
        for field in ("ankle_toe", "length", "ankle_height"):
            value = getattr(self, field)
            if not (math.isfinite(value) and value > 0.0):
                raise InputError(f"is {value}", element=f"foot.{field}", remedy="Give a length above 0")
        if self.ankle_height >= self.ankle_toe:
            raise InputError(
                f"is {self.ankle_height:g}, not below ankle_toe = {self.ankle_toe:g}",
                element="foot.ankle_height",
                remedy="Let the toe be ahead of the ankle",
            )
        if self.toe_ahead >= self.length:
            raise InputError(
                f"is {self.length:g}, not above {self.toe_ahead:.4f}, where the toe is ahead of the ankle",
                element="foot.length",
                remedy="Let the heel be behind the ankle",
            )

    @classmethod
    def from_sides(cls, ankle_toe: float, ankle_heel: float, ankle_height: float) -> FootTriangle:
        """Return foot with a given side from ankle to heel r_6, for example the literal 0.29 m of Table III-3 (G-01).

        Raises:
            InputError: the lengths form no foot.
        """
        if not ankle_heel > ankle_height > 0.0:
            raise InputError(
                f"is {ankle_heel}, not above ankle_height = {ankle_height}",
                element="foot.ankle_heel",
                remedy="Let the heel be behind the ankle",
            )
        if ankle_height >= ankle_toe:
            return cls(ankle_toe, ankle_heel, ankle_height)  # which says what is wrong
        behind = math.sqrt(ankle_heel**2 - ankle_height**2)
        return cls(ankle_toe, behind + math.sqrt(ankle_toe**2 - ankle_height**2), ankle_height)

    @property
    def toe_ahead(self) -> float:
        """b, horizontal distance from ankle to toe [m]."""
        return math.sqrt(self.ankle_toe**2 - self.ankle_height**2)

    @property
    def heel_behind(self) -> float:
        """L - b, horizontal distance from heel to ankle [m]."""
        return self.length - self.toe_ahead

    @property
    def ankle_heel(self) -> float:
        """r_6, side from ankle to heel [m]."""
        return math.hypot(self.heel_behind, self.ankle_height)

    @property
    def toe_angle(self) -> float:
        """gamma_p, at the toe [rad]."""
        return math.asin(self.ankle_height / self.ankle_toe)

    @property
    def heel_angle(self) -> float:
        """beta_p, at the heel [rad]."""
        return math.atan2(self.ankle_height, self.heel_behind)

    @property
    def ankle_angle(self) -> float:
        """alpha_p, at the ankle [rad]: the direction from ankle to heel turned by it points to the toe."""
        return math.pi - self.heel_angle - self.toe_angle

    def mass_ahead_of_heel(self, centre: complex) -> float:
        """c, horizontal distance from heel to the centre of mass of a flat foot [m].

        Args:
            centre: from the toe, along the axis from toe to ankle and at right angles to it [m]: (a_1, b_1) of S_1.
        """
        return self.length + (centre * cmath.rect(1.0, math.pi - self.toe_angle)).real
