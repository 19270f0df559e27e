# SPDX-License-Identifier: Apache-2.0
"""Readings of joints as a configuration and a velocity of the robot's model, silent ones bridged."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.checks import listed
from humanoid_model.errors import InputError
from humanoid_model.joint_view import BallJoint, JointView

_SMOOTHING = 0.01
"""Time constant of the low-pass filter of velocities that are differences of positions [s]."""


class JointReadings:
    """Last position and velocity of each measured joint.

    Attributes:
        names: of the joints as the URDF has them, in the order in which they are measured, those of a ball joint too.
        q: configuration of the robot's model, its base at the origin, shape (nq,).
        v: velocity, its base at rest, shape (nv,).
        variances: of the joints' positions in the order of the velocity, shape (nv,).
    """

    def __init__(self, robot: Robot, deviation: float, lost: float) -> None:
        """Look at the joints of a robot.

        Args:
            robot: whose joints are measured.
            deviation: of a position [rad or m].
            lost: of one whose encoder is silent [rad or m].
        """
        joints = []
        for name in robot.joint_names:
            joint = robot.model.joints[robot.parts.joint_ids[name]]
            q, v = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
            if name in robot.ball_joints:
                members = tuple(robot.ball_joints[name])
                joints.append(JointView(members, q, v, BallJoint(robot.description, members), True))
            elif joint.nq == 1:
                joints.append(JointView((name,), q, v, None, True))
        self.names = tuple(name for joint in joints for name in joint.names)
        self._single = np.array([joint.ball is None for joint in joints for _ in joint.names])
        starts = np.cumsum([0, *(len(joint.names) for joint in joints)])
        self._balls = [
            (joint, slice(start, start + 3)) for joint, start in zip(joints, starts, strict=False) if joint.ball
        ]
        places = [place for joint in joints for place in range(joint.v.start, joint.v.stop)]
        self._to_v = np.array(places)
        self._to_q = np.concatenate([np.full(len(joint.names), joint.q.start) for joint in joints])[self._single]
        self.q, self.v = pin.neutral(robot.model), np.zeros(robot.model.nv)
        self.variances = np.full(robot.model.nv, deviation**2)
        self._known, self._lost = deviation**2, lost**2
        self._positions: Array = np.zeros(len(self.names))
        self._rates: Array = np.zeros(len(self.names))
        self._doubted = False
        self.begun = False

    def take(self, positions: Array, rates: Array | None, dt: float, faults: list[str]) -> None:
        """Take readings; those that are no numbers leave the last position, with doubt.

        Args:
            positions: shape (n,) [rad or m].
            rates: shape (n,) [rad/s or m/s], None: differences of positions, smoothed.
            dt: since the last ones [s].
            faults: what is wrong is added.

        Raises:
            InputError: other lengths.
        """
        positions = self._checked(positions, "joint_positions")
        known = np.isfinite(positions)
        whole = bool(known.all())
        if not whole:
            faults.append(f"no position of {listed([self.names[i] for i in np.flatnonzero(~known)])}: the last is used")
            positions = np.where(known, positions, self._positions)
        if rates is None:
            rates = self._rates
            if self.begun and dt > 0.0:
                share = -math.expm1(-dt / _SMOOTHING)
                rates = rates + share * ((positions - self._positions) / dt - rates)
        else:
            rates = self._checked(rates, "joint_velocities")
            if not np.isfinite(rates).all():
                faults.append("no velocity of some joints: they count as at rest")
                rates = np.where(np.isfinite(rates), rates, 0.0)
        if not whole or self._doubted:
            self.variances[self._to_v] = np.where(known, self._known, self._lost)
            self._doubted = not whole
        self.begun = self.begun or whole
        self._positions, self._rates = positions, rates
        single = self._single
        self.q[self._to_q], self.v[self._to_v[single]] = positions[single], rates[single]
        for joint, place in self._balls:
            self.q[joint.q] = joint.coordinates(positions[place])
            self.v[joint.v] = joint.velocity_coordinates(positions[place], rates[place])

    def _checked(self, values: Array, name: str) -> Array:
        array = np.array(values, dtype=float)
        if array.shape != (len(self.names),):
            raise InputError(
                f"has the shape {array.shape}", element=f"measurement.{name}",
                remedy=f"Give {len(self.names)} numbers, of {listed(self.names)}",
            )  # fmt: skip
        return array
