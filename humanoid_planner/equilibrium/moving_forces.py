# SPDX-License-Identifier: Apache-2.0
"""Contact forces that give a robot its motion, and the joint torques that go with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.linalg import block_diag

from humanoid_model.arrays import Array, Reals
from humanoid_planner.equilibrium.friction_cone import pyramid_halfspaces
from humanoid_planner.optimisation.quadratic_program import QuadraticProgram, solve_quadratic_program

FACETS = 8
"""Of the pyramids inside friction cones; forces in cones of :data:`INSIDE` of the friction are in them."""
INSIDE = math.cos(math.pi / FACETS)
_MIN_SHARE = 1e-3
"""Of a contact that has all but handed over its load: the program stays strictly convex."""
_STRAIN = 0.25
"""A joint at its limit is as dear as a point that bears this share of the robot's load."""


class LoadedPoint(NamedTuple):
    """A point that may bear force.

    Attributes:
        joint: of the model that carries it.
        place: (3,) in the world [m].
        frame: (3, 3) in the world; its third column is the normal into the robot.
        friction: coefficient.
        share: how much of the load it is meant to take, above or at 0.
    """

    joint: int
    place: Reals
    frame: Reals
    friction: float
    share: float


class MovingForces(NamedTuple):
    """What contacts do at one instant.

    Attributes:
        forces: (k, 3) on the robot, in the world [N].
        torques: (nv,) of the joints; the base's are what no force balances, zero up to rounding [N m].
    """

    forces: Reals
    torques: Reals


def point_jacobian(model: pin.Model, data: pin.Data, point: LoadedPoint) -> Array:
    """(3, nv) of a point in the world's axes, after ``computeJointJacobians``."""
    J = pin.getJointJacobian(model, data, point.joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
    return np.asarray(J[:3] - pin.skew(point.place - data.oMi[point.joint].translation) @ J[3:])


def moving_forces(
    model: pin.Model,
    data: pin.Data,
    points: Sequence[LoadedPoint],
    state: tuple[Reals, Reals, Reals],
    effort: Array | None = None,
) -> MovingForces | None:
    """Return forces within inscribed friction pyramids that give the base its acceleration, and joint torques.

    Of all that do, those with the least sum of squares are taken, each square divided by the share of its point: so the
    load goes over smoothly from one contact to the other as shares do. Where torques are limited, squares of their
    shares of these limits are added.

    Args:
        model: of the robot on a free base, whose velocity comes first.
        data: of the model.
        points: that may bear.
        state: (nq,), (nv,), (nv,) configuration, velocity, acceleration.
        effort: (nv,) largest torques, those of the base unused; None where they aren't limited.

    Returns:
        Forces and torques; None where no forces do.
    """
    q, v, a = state
    torques = np.array(pin.rnea(model, data, q, v, a))
    pin.computeJointJacobians(model, data, q)
    # Forces in the frames of their points.
    J = np.vstack([np.asarray(point.frame).T @ point_jacobian(model, data, point) for point in points])
    count = len(points)
    # Tangential forces are dearer than normal ones: none is used that only strains a closed chain.
    weights = np.array([1.0 / max(point.share, _MIN_SHARE) for point in points])
    H, g = np.diag(np.repeat(weights, 3) * np.tile([4.0, 4.0, 1.0], count)), np.zeros(3 * count)
    cones = block_diag(*(pyramid_halfspaces(point.friction, FACETS) for point in points))
    A = np.vstack([J[:, :6].T, cones])
    lower = np.concatenate([torques[:6], np.full(len(cones), -np.inf)])
    upper = np.concatenate([torques[:6], np.zeros(len(cones))])
    if effort is not None:
        held = 6 + np.flatnonzero(np.isfinite(effort[6:]))
        A = np.vstack([A, J[:, held].T])
        # An arm that leans on a table takes what it takes easily, not as much as a leg.
        strain = J[:, held].T / effort[held, None]
        dear = (_STRAIN * np.linalg.norm(torques[:3])) ** 2
        H += dear * strain.T @ strain
        g -= dear * strain.T @ (torques[held] / effort[held])
        lower = np.concatenate([lower, torques[held] - effort[held]])
        upper = np.concatenate([upper, torques[held] + effort[held]])
    least = np.tile([-np.inf, -np.inf, 0.0], count)
    program = QuadraticProgram(H, g, A, lower, upper, least, np.full(3 * count, np.inf))
    solution = solve_quadratic_program(program)
    if solution is None:
        return None
    local = solution.x.reshape(-1, 3)
    forces = np.array([np.asarray(point.frame) @ force for point, force in zip(points, local, strict=True)])
    return MovingForces(forces, torques - J.T @ solution.x)
