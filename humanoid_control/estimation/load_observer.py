# SPDX-License-Identifier: Apache-2.0
r"""What a robot carries and what pulls at it, from its momentum and the wrenches at its contacts.

The momentum h about the centre of mass c of the model changes by what contacts, gravity and the rest do,

.. math::

    \sum f_i-\dot h_f+m g=-\delta m\,g-f,\qquad \sum (p_i-c)\times f_i+\tau_i-\dot h_\tau=-(Rs)\times g-\tau,

with a mass :math:`\delta m` more than the model has, the first moment s of that in the base frame, and an external
wrench :math:`(f,\tau)` at c; what the load's own acceleration takes counts as wrench. A linear Kalman filter takes mass
and moment for slow walks and the wrench for one that fades within half a second: what stays counts as load. This is
simpler than the Kinetics Observer (arXiv 2406.13267), which has contacts as springs and all in one state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from humanoid_model import Robot
from humanoid_model.arrays import Array

_PERIOD = 0.02
"""Time between corrections [s]."""
_FADES = 0.5
"""Time constant of external wrenches [s]."""
_BEGIN = np.array([5.0, *[1.0] * 3, *[30.0] * 3, *[4.0] * 3])
"""Deviations with which mass [kg], moment [kg m] and wrench [N, N m] begin; the wrench's are those it keeps."""
_WALKS = np.array([0.1, *[0.02] * 3])
"""Deviations of mass [kg/√s] and moment [kg m/√s] in a second."""
_NOISE = np.array([*[15.0] * 3, *[6.0] * 3])
"""Of a reading of force [N] and moment [N m] over a period: momentum's, of joints' velocities, is most of it."""


@dataclass(frozen=True, eq=False)
class Load:
    """What a robot carries beyond its model, and what pulls at it.

    Attributes:
        mass: beyond the model's [kg].
        moment: first moment of that about the model's centre of mass, in the base frame [kg m], shape (3,). Its
            vertical part isn't seen while the robot is upright.
        wrench: external force [N] and torque [N m] at the centre of mass, in the world's axes, shape (6,).
        covariance: of mass, moment and wrench, shape (10, 10).
        total: mass of the model [kg].
    """

    mass: float
    moment: Array
    wrench: Array
    covariance: Array
    total: float

    @property
    def offset(self) -> Array:
        """(3,) of the centre of mass from the model's, in the base frame [m]."""
        return np.asarray(self.moment / (self.total + self.mass))

    @property
    def offset_deviation(self) -> Array:
        """(3,) its standard deviation [m]."""
        return np.asarray(np.sqrt(np.diagonal(self.covariance)[1:4]) / (self.total + self.mass))


class LoadObserver:
    """Kalman filter of a robot's load.

    Attributes:
        load: now.
    """

    def __init__(self, robot: Robot, gravity: float) -> None:
        """Begin without any.

        Args:
            robot: on a free base.
            gravity: m/s², downwards.
        """
        self._model, self._data, self._gravity = robot.model, robot.model.createData(), gravity
        self._total, self._base = robot.total_mass, robot.base_joint or 0
        self._x: Array = np.zeros(10)
        self._P: Array = np.diag(_BEGIN**2)
        self._momentum: Array | None = None
        self._offsets: Array = np.zeros(3)
        self._sum: Array = np.zeros(())
        self._since, self._count = 0.0, 0
        self._tell()

    def take(
        self, dt: float, q: Array, v: Array, places: Array, wrenches: Array, doubts: Array, sensors: Sequence[int]
    ) -> None:
        """Take a tick.

        Args:
            dt: since the last one; 0: what was summed up doesn't count [s].
            q: configuration, shape (nq,).
            v: velocity, shape (nv,).
            places: of the contacts' frames in the world, shape (k, 4, 3).
            wrenches: on the robot in these, NaN where one isn't measured, shape (k, 6).
            doubts: variances of sensors' offsets, force [N²] and torque [N² m²], shape (S, 2).
            sensors: row of each contact's sensor in these.
        """
        if dt <= 0.0 or self._momentum is None:
            self._begin(pin.computeCentroidalMomentum(self._model, self._data, q, v).vector)
            return
        self._since, self._count, self._sum = self._since + dt, self._count + 1, self._sum + wrenches
        if self._since < _PERIOD - 1e-9:
            return
        momentum = np.array(pin.computeCentroidalMomentum(self._model, self._data, q, v).vector)
        change, mean, dt = (momentum - self._momentum) / self._since, self._sum / self._count, self._since
        self._begin(momentum)
        fade = math.exp(-dt / _FADES)
        self._x[4:] *= fade
        self._P[4:] *= fade
        self._P[:, 4:] *= fade
        self._P.flat[::11] += np.concatenate([_WALKS**2 * dt, _BEGIN[4:] ** 2 * (1.0 - fade**2)])
        if math.isfinite(mean.sum()):
            self._correct(change, places, mean, self._data.oMi[self._base].rotation)
            self._doubt(places[:, 3] - self._data.com[0], doubts[sensors])
        self._tell()

    def _begin(self, momentum: Array) -> None:
        self._momentum, self._since, self._count, self._sum = np.array(momentum), 0.0, 0, np.zeros(())

    def _correct(self, change: Array, places: Array, wrenches: Array, turn: Array) -> None:
        up, z = np.array([0.0, 0.0, self._gravity]), -change
        z[2] -= self._total * self._gravity
        for place, wrench in zip(places, wrenches, strict=True):
            force = place[:3] @ wrench[:3]
            z[:3] += force
            z[3:] += place[:3] @ wrench[3:] + pin.skew(place[3] - self._data.com[0]) @ force
        H = np.zeros((6, 10))
        H[:3, 0], H[3:, 1:4] = up, -pin.skew(up) @ turn
        H[:, 4:] = -np.eye(6)
        PH = self._P @ H.T
        gain = np.linalg.solve(H @ PH + np.diag(_NOISE**2), PH.T).T
        self._x = self._x + gain @ (z - H @ self._x)
        self._P = self._P - gain @ PH.T
        self._P = 0.5 * (self._P + self._P.T)

    def _doubt(self, levers: Array, doubts: Array) -> None:
        """Find what offsets of the sensors, which look like a load, add to the variances."""
        turning = doubts[:, 1] + doubts[:, 0] * (levers[:, :2] ** 2).sum(axis=1)
        self._offsets = np.array([doubts[:, 0].sum(), turning.sum(), turning.sum()]) / self._gravity**2

    def _tell(self) -> None:
        P = self._P.copy()
        P.flat[:33:11] += self._offsets
        self.load = Load(float(self._x[0]), self._x[1:4].copy(), self._x[4:].copy(), P, self._total)
