# SPDX-License-Identifier: Apache-2.0
"""Where hands can hold an object without motion (specification 000 sections 21.1, 22.1, Figs. 5.14 and 5.30)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Array
from humanoid_studies.lifting.clearance import APART, smallest_gap
from humanoid_studies.lifting.planar_lifter import SENSOR_LIMITS, PlanarLifter

CELL = 0.04
"""Side of the squares that a space is told in [m]."""


@dataclass(frozen=True, eq=False)
class ReachableSpace:
    """Squares of the sagittal plane in which the middle of a held object can be, and a posture for each.

    Attributes:
        cells: (n, 2) lower corners of the squares, x and z [m].
        postures: (n, 7) joint angles, of those found the one that takes the least share of its nominal torques [rad].
        load: (n,) that share.
    """

    cells: Array
    postures: Array
    load: Array

    @property
    def area(self) -> float:
        """[m²]."""
        return CELL**2 * len(self.cells)

    def lightest(self) -> Array:
        """(7,) the posture that takes the least share of its nominal torques [rad]."""
        return np.asarray(self.postures[int(np.argmin(self.load))])


def reachable_space(
    lifter: PlanarLifter, angle: float, *, torques: bool = True, legs: int = 9, arms: int = 25
) -> ReachableSpace:
    """Find the static reachable space of an object by trying postures on a grid of joint angles.

    A posture holds when the centre of mass is above the soles, joints are within their limits and below their nominal
    torques (5.27), sensors below theirs, and robot and object apart. It is found from inside: with more angles it
    grows a little. The trunk's own joint stays straight.

    Args:
        lifter: robot and object.
        angle: of the object [rad].
        torques: whether nominal torques and sensors limit it, as in section 22.1, or balance alone does, as in 21.1.
        legs: angles tried of each of ankle, knee and hip.
        arms: of each of shoulder and elbow.
    """
    axes = [np.linspace(lifter.lower[k], lifter.upper[k], arms if k > 3 else legs) for k in (0, 1, 2, 4, 5)]
    standing = _standing(lifter, np.array(list(product(*axes[:3]))))
    arm = np.array(list(product(*axes[3:])))
    found: dict[tuple[int, int], tuple[float, Array]] = {}
    for body in standing:
        q = np.zeros((len(arm), 7))
        q[:, :3], q[:, 4:6] = body, arm
        q[:, 6] = q[:, :6] @ lifter.absolute[6, :6] - (0.5 * np.pi - angle)
        q = q[(q[:, 6] >= lifter.lower[6]) & (q[:, 6] <= lifter.upper[6])]
        load = lifter.static_load(q)
        share = np.abs(load.torques / lifter.nominal).max(axis=1)
        holds = (load.centre_x > lifter.sole[0]) & (load.centre_x < lifter.sole[1])
        if torques:
            holds &= (share < 1.0) & (np.abs(load.sensor) < SENSOR_LIMITS).all(axis=1)
        q, share = q[holds], share[holds]
        grip = lifter.grip.position(q @ lifter.absolute.T)
        free = (smallest_gap(lifter, q) > APART) & (grip[:, 1] > 0.5 * lifter.held.height)
        for key, value, posture in zip(
            map(tuple, np.floor(grip[free] / CELL).astype(int)), share[free], q[free], strict=True
        ):
            if key not in found or value < found[key][0]:
                found[key] = float(value), posture
    keys = sorted(found)
    cells = CELL * np.array(keys, dtype=float).reshape(-1, 2)
    postures = np.array([found[key][1] for key in keys]).reshape(-1, 7)
    return ReachableSpace(cells, postures, np.array([found[key][0] for key in keys]))


def _standing(lifter: PlanarLifter, legs: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 3) those of leg angles (m, 3) with the hip well above the ankles and a trunk that leans 60° at most."""
    theta = legs @ lifter.absolute[:3, :3].T
    hip = sum(length * np.exp(1j * (theta[:, k] + 0.5 * np.pi)) for k, length in enumerate(lifter.lengths[:2]))
    keeps = (np.abs(hip.real) < 0.3) & (hip.imag > 0.15) & (np.abs(theta[:, 2]) < np.radians(60.0))
    return legs[keeps]
