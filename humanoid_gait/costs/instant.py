# SPDX-License-Identifier: Apache-2.0
"""One instant of a motion as expressions: what costs are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from humanoid_model.arrays import Array


@dataclass(frozen=True)
class Instant:
    """What costs may ask for; expressions of one instant.

    Attributes:
        y: (n,) coordinates.
        rate: (n,) their rates.
        change: (n,) rates of these.
        effort: (m,) of the driven joints [N m or N].
        joint_rate: (m,) of these [rad/s or m/s].
        limit: (m,) greatest efforts; 1 where there is none.
        holds: names of contacts that bear, held ones before cut ones.
        forces: of each of these, (k, 3) at its corners in the world [N]; of a bilateral one without moments (1, 3).
        gaps: of each of these, (k,) how far it is from where it belongs [m, rad].
        corners: of a contact location, by its name, (k, 3) in the world [m].
        weight: of the robot [N].
    """

    y: ca.SX
    rate: ca.SX
    change: ca.SX
    effort: ca.SX
    joint_rate: ca.SX
    limit: Array
    holds: tuple[str, ...]
    forces: tuple[ca.SX, ...]
    gaps: tuple[ca.SX, ...]
    corners: Callable[[str], ca.SX]
    weight: float
