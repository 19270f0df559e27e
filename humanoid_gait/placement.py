# SPDX-License-Identifier: Apache-2.0
"""Postures with some links at given places: inverse kinematics for guesses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from humanoid_model import Robot
from humanoid_model.arrays import Array

_ITERATIONS = 60
_CLOSE = 1e-6
_INSIDE = 1e-3
"""By which joints stay inside their ranges [rad or m]."""
_ENDLESS = 100.0
"""Ranges that are wider are none [rad or m]."""
_LONGEST = 0.3
"""Longest step of a joint in an iteration [rad]."""


def bounded_joints(robot: Robot) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]:
    """Return places in q and in v, and ranges, of the joints that have one."""
    joints = [joint for joint in list(robot.model.joints)[1:] if joint.nq == 1]
    at = np.array([joint.idx_q for joint in joints], dtype=np.int64)
    lower, upper = robot.limits.lower[at], robot.limits.upper[at]
    has = upper - lower < _ENDLESS
    return at[has], np.array([joint.idx_v for joint in joints], dtype=np.int64)[has], lower[has], upper[has]


def posture_at(robot: Robot, q: Array, places: Mapping[str, pin.SE3], rest: float = 1e-2) -> Array:
    """(nq,) posture near another one that brings patches of contact locations to places in the world.

    Damped Gauss-Newton steps; what can't be reached is come near to.

    Args:
        robot: any.
        q: (nq,) where it begins; what is left free stays near it.
        places: of patches, by location.
        rest: weight of the distance from ``q``.
    """
    model, data = robot.model, robot.model.createData()
    start, q = np.array(q, dtype=float), np.array(q, dtype=float)
    place_q, place_v, lower, upper = bounded_joints(robot)
    damping = np.full(model.nv, rest**2)
    for _ in range(_ITERATIONS):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        errors, rows = [], []
        for name, place in places.items():
            location = robot.contacts[name]
            frame = robot.parts.links[location.link].frame_id
            patch = data.oMf[frame] * location.placement_link_patch
            J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
            off = pin.log6(patch.actInv(place)).vector
            errors.append(off)
            rows.append(location.placement_link_patch.inverse().toActionMatrix() @ J)
        error, J = np.concatenate(errors), np.vstack(rows)
        if np.linalg.norm(error) < _CLOSE:
            break
        back = pin.difference(model, q, start)
        free = np.ones(model.nv, dtype=bool)
        for _ in range(2):  # those at their bounds that would go further stay, and the others make up for them
            step = np.zeros(model.nv)
            own = J[:, free]
            pull = own.T @ error + (damping * back * rest)[free]
            step[free] = np.linalg.solve(own.T @ own + np.diag(damping[free]), pull)
            at, way = q[place_q], step[place_v]
            stuck = ((at <= lower + _INSIDE) & (way < 0.0)) | ((at >= upper - _INSIDE) & (way > 0.0))
            free[place_v[stuck]] = False
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-12))
        q = pin.integrate(model, q, step)
        q[place_q] = np.clip(q[place_q], lower + _INSIDE, upper - _INSIDE)
    return np.asarray(q)
