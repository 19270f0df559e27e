# SPDX-License-Identifier: Apache-2.0
"""Postures with some links at given places: inverse kinematics for guesses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from humanoid_model import Robot
from humanoid_model.arrays import Array

_ITERATIONS = 60
_CLOSE = 1e-6
_LONGEST = 0.3
"""Longest step of a joint in an iteration [rad]."""


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
    lower, upper = robot.limits.lower, robot.limits.upper
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
        step = np.linalg.solve(J.T @ J + np.diag(damping), J.T @ error + damping * back * rest)
        step *= min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-12))
        q = pin.integrate(model, q, step)
        bounded = np.isfinite(lower) & np.isfinite(upper) & (upper - lower < 100.0)
        q[bounded] = np.clip(q[bounded], lower[bounded] + 1e-3, upper[bounded] - 1e-3)
    return np.asarray(q)
