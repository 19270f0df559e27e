# SPDX-License-Identifier: Apache-2.0
"""Forces of the ground on the soles' corners that carry a motion, and the joint torques that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Reals
from humanoid_planner.gait.lift.bearing import Bearing, SoleGeometry
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program

_MIN_SHARE = 1e-3
"""Of a foot that has all but handed over its load: the program stays strictly convex."""


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
    q, v, a = state
    torques = np.array(pin.rnea(model, data, q, v, a))
    pin.computeJointJacobians(model, data, q)
    rows: list[Reals] = []
    places: list[Reals] = []
    weights: list[float] = []
    for bearing, share in zip(bearings, shares, strict=True):
        sole = soles[bearing.sole]
        own = data.oMi[sole.joint]
        jacobian = pin.getJointJacobian(model, data, sole.joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        corners = sole.corners(bearing.part)
        for corner in corners:
            lever = own.rotation @ corner
            rows.append(jacobian[:3] - pin.skew(lever) @ jacobian[3:])
            places.append(own.translation + lever)
            weights.append(1.0 / max(share, _MIN_SHARE))
    J = np.vstack(rows)
    count = len(places)
    # Tangential forces are dearer than normal ones: none is used that only strains the closed chain of the legs.
    H = np.diag(np.repeat(weights, 3) * np.tile([4.0, 4.0, 1.0], count))
    inner = friction / np.sqrt(2.0)
    pyramid = np.array([[1.0, 0.0, -inner], [-1.0, 0.0, -inner], [0.0, 1.0, -inner], [0.0, -1.0, -inner]])
    A = np.vstack([J[:, :6].T, np.kron(np.eye(count), pyramid)])
    lower = np.concatenate([torques[:6], np.full(4 * count, -np.inf)])
    upper = np.concatenate([torques[:6], np.zeros(4 * count)])
    least = np.tile([-np.inf, -np.inf, 0.0], count)
    program = QuadraticProgram(H, np.zeros(3 * count), A, lower, upper, least, np.full(3 * count, np.inf))
    solution = solve_quadratic_program(program)
    if solution is None:
        return None
    return GroundForces(np.array(places), solution.x.reshape(-1, 3), torques - J.T @ solution.x)
