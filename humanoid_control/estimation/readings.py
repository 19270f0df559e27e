# SPDX-License-Identifier: Apache-2.0
"""Readings of inertial unit, joints, force-torque sensors as the filter wants them: silence bridged, offsets known."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from humanoid_control.estimation.settings import EstimatorSettings
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.checks import check_array, check_known, listed
from humanoid_model.errors import InputError
from humanoid_model.joint_view import BallJoint, JointView
from humanoid_model.sensor import Sensor

_UNKNOWN_MOTION = np.array([0.3, 3.0])
"""Densities of rate [rad/s/√Hz] and specific force [m/s²/√Hz] while no reading tells them."""


class InertialReadings:
    """What an inertial measurement unit says of the step that ends now.

    Attributes:
        values: angular velocity [rad/s] and specific force [m/s²], shape (2, 3).
        noise: densities of both and of the walks of their biases, shape (4,), as the filter takes them.
        fresh: both were measured in this tick.
        stale: the last ones are older than patience lasts.
    """

    def __init__(self, settings: EstimatorSettings) -> None:
        """Take noise, ranges and patience from the settings."""
        walks = [settings.gyro_bias_walk, settings.force_bias_walk]
        self._measured = np.array([settings.gyro_noise, settings.force_noise, *walks])
        self._unknown = np.concatenate([_UNKNOWN_MOTION, walks])
        self._ranges = settings.gyro_range, settings.force_range
        self._patience, self._time = settings.patience, -math.inf
        self.values: Array = np.zeros((2, 3))
        self.noise: Array = self._measured
        self.fresh, self.stale = False, False

    def take(self, t: float, rate: Array | None, force: Array | None, faults: list[str]) -> None:
        """Take readings; without them the last ones stay, with a large doubt.

        Args:
            t: now [s].
            rate: angular velocity [rad/s], shape (3,); None if there is none.
            force: specific force [m/s²], shape (3,); None if there is none.
            faults: what is wrong is added.

        Raises:
            InputError: other lengths.
        """
        problem = "none"
        if rate is not None and force is not None:
            reading = np.empty((2, 3))
            try:
                reading[0], reading[1] = rate, force
            except ValueError:
                check_array(rate, "measurement.angular_velocity")
                check_array(force, "measurement.specific_force")
                raise InputError("isn't three numbers", element="measurement.specific_force") from None
            largest = np.abs(reading).max(axis=1).tolist()
            if largest[0] <= self._ranges[0] and largest[1] <= self._ranges[1]:
                self.values, self.noise, self._time = reading, self._measured, t
                self.fresh, self.stale = True, False
                return
            problem = f"up to {largest[0]:g} rad/s and {largest[1]:g} m/s²"
        self.noise, self.fresh, self.stale = self._unknown, False, not t - self._time <= self._patience
        faults.append(f"no inertial reading that can be believed ({problem}): held by contacts and encoders alone")


_FARTHEST, _FASTEST = 1e3, 1e3
"""Largest position [rad or m] and velocity [rad/s or m/s] of a joint that are believed."""
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
        """Take readings; those that are no numbers, or wild ones, leave the last position, with doubt.

        Args:
            positions: shape (n,) [rad or m].
            rates: shape (n,) [rad/s or m/s], None: differences of positions, smoothed.
            dt: since the last ones [s].
            faults: what is wrong is added.

        Raises:
            InputError: other lengths.
        """
        positions = self._checked(positions, "joint_positions")
        known = np.abs(positions) <= _FARTHEST
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
            moving = np.abs(rates) <= _FASTEST
            if not moving.all():
                faults.append("no velocity of some joints: they count as at rest")
                rates = np.where(moving, rates, 0.0)
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


_LARGEST = 1e5
"""Largest force [N] and torque [N m] that are believed."""
_STUCK = 0.1
"""How long a wrench may be the same to the last bit while the inertial unit reads something new [s]."""
_SWAY = 0.05
"""Time over which what swings is accelerated one way: so long is a reading's error the same [s]."""


class WrenchReadings:
    """Wrenches through joints, less the sensors' offsets.

    Attributes:
        sensors: by name, those that are read.
        values: what they read less their offsets, force first, NaN where there is no reading, shape (S, 6).
        offsets: shape (S, 6).
        doubts: variances of these, force and torque, shape (S, 2).
        carried: mass [kg] and centre of mass in the sensor's frame [m], in the posture that robots begin in, of the
            link and all beyond it, shape (S, 4).
    """

    def __init__(self, robot: Robot, sensors: Mapping[str, Sensor], settings: EstimatorSettings) -> None:
        """Weigh what hangs on some force-torque sensors of a robot, by name."""
        self.sensors = sensors
        self._known = {name for name, sensor in robot.sensors.items() if sensor.type == "force_torque"}
        count = len(self.sensors)
        self.values, self.offsets = np.full((count, 6), np.nan), np.zeros((count, 6))
        self._raw: list[list[float]] = [[]] * count
        self._same = [0.0] * count
        self.doubts = np.tile(np.square(settings.wrench_offset), (count, 1))
        self._walk, self._noise = np.square(settings.wrench_walk), np.square(settings.wrench_noise)
        self.carried = np.zeros((count, 4))
        data = robot.model.createData()
        pin.centerOfMass(robot.model, data, robot.default_posture, True)
        for row, sensor in zip(self.carried, self.sensors.values(), strict=True):
            link = robot.parts.links[sensor.link]
            placement = link.placement_joint_link * sensor.placement_link_sensor
            row[0], row[1:] = data.mass[link.joint_id], placement.actInv(data.com[link.joint_id])  # com: in the joint

    def take(self, wrenches: Mapping[str, Array], faults: list[str], moving: float) -> None:
        """Take the readings of a tick; one that is stuck or wild counts as silent.

        Args:
            wrenches: by sensor, shape (6,); those of others aren't needed.
            moving: time since the last tick if the robot moved, as another sensor tells, else 0 [s].
            faults: what is wrong is added.

        Raises:
            InputError: an unknown sensor, another length.
        """
        self.values[:] = np.nan
        for name in wrenches:
            check_known(name, self._known, "measurement.wrenches", "force-torque sensor")
        for k, name in enumerate(self.sensors):
            if name in wrenches:
                try:
                    self.values[k] = wrenches[name]
                except ValueError:
                    check_array(wrenches[name], f"measurement.wrenches['{name}']", (6,))
                    raise
        raw = self.values.tolist()
        for k, row in enumerate(raw):
            self._same[k] = self._same[k] + moving if row == self._raw[k] else 0.0
            if self._same[k] > _STUCK or max(row) > _LARGEST or min(row) < -_LARGEST:
                self.values[k] = np.nan
        self._raw = raw
        if not math.isfinite(self.values.sum()):
            silent = [name for name, row in zip(self.sensors, self.values, strict=True) if not np.isfinite(row).all()]
            faults.append(f"no wrench of {', '.join(silent)}: contacts there are judged by their speed")
        self.values -= self.offsets

    def learn(self, k: int, residual: Array, dt: float) -> None:
        """Learn the offset of sensor k, on which nothing bears, from what it reads less weight and offset, (6,)."""
        doubt = self.doubts[k]
        doubt += self._walk * dt
        gain = doubt * dt / (doubt * dt + self._noise * _SWAY)
        self.offsets[k] += np.repeat(gain, 3) * residual
        doubt *= 1.0 - gain
