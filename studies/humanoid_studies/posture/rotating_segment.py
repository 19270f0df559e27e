# SPDX-License-Identifier: Apache-2.0
"""Why distances have to be smooth: a segment that turns above a line (specification 001 section 5.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from humanoid_model.errors import InputError


@dataclass(frozen=True)
class RotatingSegment:
    """A segment that turns about a point of it at height h, and its distance to the line of height 0.

    The distance of the segment itself has a kink where it is parallel to the line: the nearest point jumps from one end
    to the other. Bulged to an arc of radius R through its ends it has none.

    Attributes:
        left: length of the arm that is lower at positive angles [m].
        right: length of the other arm [m].
        R: radius of the arc [m], None for the straight segment.

    Raises:
        InputError: a length isn't positive, or R is less than half the segment.
    """

    left: float = 0.5
    right: float = 0.5
    R: float | None = None

    def __post_init__(self) -> None:
        if not (self.left > 0.0 and self.right > 0.0):
            raise InputError(f"arms are {self.left} and {self.right} m", remedy="Give lengths above 0")
        if self.R is not None and not self.left + self.right < 2.0 * self.R:
            raise InputError(
                f"is {self.R} m, which no arc through the ends has",
                element="R",
                remedy=f"Give more than {0.5 * (self.left + self.right)} m",
            )

    @property
    def half_opening(self) -> float:
        """Half the opening angle of the arc [rad], 0 for the straight segment."""
        return 0.0 if self.R is None else math.asin((self.left + self.right) / (2.0 * self.R))

    def distance(self, height: float, angle: float) -> float:
        """Distance to the line ((4.1), (4.3)).

        Args:
            height: of the point that the segment turns about [m].
            angle: of the segment [rad].
        """
        opening = self.half_opening
        if angle < -opening:
            return height + self.right * math.sin(angle)
        if angle > opening:
            return height - self.left * math.sin(angle)
        if self.R is None:
            return height
        return height + self.R * math.cos(angle + opening) - self.R + self.right * math.sin(angle)

    def slope(self, angle: float) -> float:
        """Return derivative of the distance with respect to the angle ((4.2), (4.4)), at a kink that from the left."""
        opening = self.half_opening
        if angle <= -opening:
            return self.right * math.cos(angle)
        if angle >= opening:
            return -self.left * math.cos(angle)
        assert self.R is not None  # the straight segment has no angle in between
        return -self.R * math.sin(angle + opening) + self.right * math.cos(angle)

    def lowest(
        self,
        preferred: float,
        clearance: float | None,
        start: tuple[float, float] = (1.0, 1.0),
        precision: float = 1e-10,
        iterations: int = 500,
    ) -> OptimizeResult:
        """Lowest place, nearest to a preferred angle, at least a clearance above the line.

        Minimises height^2 + (angle - preferred)^2 by SciPy's SLSQP: the problems of Table 4.1 of the thesis, where the
        straight segment costs a gradient method many iterations, more the nearer its minimum is to the kink.

        Args:
            preferred: angle [rad].
            clearance: least distance [m]; None leaves the distance out.
            start: height and angle to begin with.
            precision: of the objective at which the method stops.
            iterations: at most.

        Returns:
            SciPy's result: ``x`` (height, angle), ``nit`` iterations.
        """
        goal = np.array([0.0, preferred])
        least = 0.0 if clearance is None else clearance

        def slope(x: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.array([1.0, self.slope(float(x[1]))])

        keep_clear = [
            {"type": "ineq", "fun": lambda x: self.distance(float(x[0]), float(x[1])) - least, "jac": slope}
        ]
        return minimize(
            lambda x: float((x - goal) @ (x - goal)),
            np.array(start),
            jac=lambda x: 2.0 * (x - goal),
            constraints=[] if clearance is None else keep_clear,
            method="SLSQP",
            options={"ftol": precision, "maxiter": iterations},
        )
