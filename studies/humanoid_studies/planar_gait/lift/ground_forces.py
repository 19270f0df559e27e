# SPDX-License-Identifier: Apache-2.0
"""Forces of the ground on the soles' corners that carry a motion, and the joint torques that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_planner.equilibrium.force_distribution import LoadedPoint, moving_forces
from humanoid_studies.planar_gait.lift.bearing import Bearing, SoleGeometry

_LEVEL = np.eye(3)


class GroundForces(NamedTuple):
    """What the ground does at one instant.

    Attributes:
        places: (k, 3) corners in the world [m].
        forces: (k, 3) on the robot, in the world [N].
        torques: (nv,) of the joints; the base's are what no force balances, zero up to rounding [N m].
    """

    places: Reals
    forces: Reals
    torques: Reals


def ground_forces(
    model: pin.Model,
    data: pin.Data,
    soles: Mapping[str, SoleGeometry],
    bearings: Sequence[Bearing],
    shares: Sequence[float],
    state: tuple[Reals, Reals, Reals],
    friction: float,
) -> GroundForces | None:
    """Return forces within inscribed friction pyramids that give the base its acceleration, and joint torques.

    Of all that do, those with the least sum of squares are taken, each square divided by the share of its foot: so the
    load goes over smoothly from one foot to the other as shares do.

    Args:
        model: of the robot on a free base, whose velocity comes first.
        data: of the model.
        soles: by name.
        bearings: feet on the ground.
        shares: of each of them, above or at 0.
        state: (nq,), (nv,), (nv,) configuration, velocity, acceleration.
        friction: Coulomb coefficient.

    Returns:
        Forces and torques; None where no forces do.
    """
    pin.forwardKinematics(model, data, state[0])
    points = [
        LoadedPoint(sole.joint, data.oMi[sole.joint].act(corner), _LEVEL, friction, share)
        for bearing, share in zip(bearings, shares, strict=True)
        for sole in (soles[bearing.sole],)
        for corner in sole.corners(bearing.part)
    ]
    found = moving_forces(model, data, points, state)
    if found is None:
        return None
    return GroundForces(np.array([point.place for point in points]), found.forces, found.torques)
