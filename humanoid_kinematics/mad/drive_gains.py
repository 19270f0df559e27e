# SPDX-License-Identifier: Apache-2.0
"""Servo gains for drives that share a load over loops."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pinocchio as pin
from scipy.linalg import null_space

from humanoid_model import Robot
from humanoid_model.actuator import DEFAULT_FREQUENCY
from humanoid_model.arrays import Array
from humanoid_model.loop_closure import ROWS

#: Motions of drives weaker than this share of the strongest don't count: near a singularity inertias have no bound.
_WEAKEST = 0.01


def with_loop_gains(robot: Robot, q: Array) -> Robot:
    """Return a robot whose drives carry at least what they move over its loops.

    A tree's rule gives a drive what hangs from its joint. With loops, a platform hangs from one leg and is moved by
    the drives of all. The inertia that a drive moves while the others stand still is the diagonal of Z^T M Z, with Z
    the motions that keep the loops closed, by the drives' speeds. Gains are those of the tree's rule otherwise: a
    critically damped oscillator of 8 Hz. None is lowered.

    Args:
        robot: fixed, its drives with default gains.
        q: (nq,) posture with closed loops; where they are open by a little, so are the motions.
    """
    drives = [name for name in robot.actuators if robot.model.joints[robot.parts.joint_ids[name]].nv == 1]
    if not robot.loops or not drives:
        return robot
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    rows = []
    for loop in robot.loops:
        jacobians, places = [], []
        for link, placement in ((loop.link_a, loop.placement_a), (loop.link_b, loop.placement_b)):
            part = robot.parts.links[link]
            jacobians.append(pin.getJointJacobian(model, data, part.joint_id, pin.ReferenceFrame.WORLD))
            places.append(data.oMi[part.joint_id] * part.placement_joint_link * placement)
        relative = places[0].toActionMatrixInverse() @ (jacobians[0] - jacobians[1])
        rows.append(relative[[ROWS.index(row) for row in loop.rows]])
    motions = null_space(np.vstack(rows), rcond=1e-6)
    by_drives = motions @ np.linalg.pinv(motions[[robot.index_v(name) for name in drives]], rcond=_WEAKEST)
    pin.crba(model, data, q, pin.Convention.WORLD)
    M = np.triu(data.M) + np.triu(data.M, 1).T
    moved = np.einsum("ik,ij,jk->k", by_drives, M, by_drives)
    omega = 2.0 * math.pi * DEFAULT_FREQUENCY
    raised = {
        name: dataclasses.replace(
            own, stiffness=max(own.stiffness, float(inertia) * omega**2),
            damping=max(own.damping, 2.0 * float(inertia) * omega)
        )
        for name, inertia in zip(drives, moved, strict=True)
        for own in [robot.actuators[name]]
    }
    return dataclasses.replace(robot, actuators={**robot.actuators, **raised})
