# SPDX-License-Identifier: Apache-2.0
"""State of a robot from its inertial measurement unit, its encoders and what it touches."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_control.estimation.base_motion import tell_motion, tell_state
from humanoid_control.estimation.contact_detection import ContactDetector, centre_of_pressure, external_wrench
from humanoid_control.estimation.estimate import ContactEstimate, Estimate
from humanoid_control.estimation.filter_kernels import NONE, POINT, POSE
from humanoid_control.estimation.imu_kinematics import FrameMotion, ImuKinematics
from humanoid_control.estimation.invariant_filter import GRAVITY, InvariantFilter
from humanoid_control.estimation.load_observer import LoadObserver
from humanoid_control.estimation.readings import InertialReadings, JointReadings, WrenchReadings
from humanoid_control.estimation.settings import EstimatorSettings
from humanoid_model import Robot
from humanoid_model.arrays import Array
from humanoid_model.checks import check_known, check_number
from humanoid_model.controller import Measurement
from humanoid_model.errors import InputError
from humanoid_model.sensor import Sensor

_LOST_JOINT = 0.1
"""Deviation of the position of a joint whose encoder is silent [rad or m]."""
_BEGIN = (1e-6, 0.1, 1e-6)
"""Deviations with which heading, velocity [m/s] and place begin; heading and place define the world."""
_RESTING, _MOVING = (0.01, 0.1)
"""Deviation of the tilt with which it begins [rad], of a robot at rest and of one that moves."""
_REST = 0.2
"""Speed of a joint or of the sensor below which the robot is at rest [rad/s or m/s]."""
_AFTER_JUMP = (0.03, 0.3, 0.05)
"""Deviations of rotation [rad], velocity [m/s] and place [m] that a jump of the clock adds."""
_TREND = 0.02
"""Time over which a slow slip adds up until it is told from noise [s]."""
_SLIPPING = 0.05
"""How long a contact that has slipped counts as one that may [s]."""
_SLIP = (0.05, 0.5)
"""Densities of its velocity [m/s/√Hz] and turning [rad/s/√Hz] for so long."""
_ADRIFT = 0.2
"""How long nothing that bears may stand still [s]."""
_IN_AIR = -4.0
"""Log-odds below which nothing touches what hangs on a force-torque sensor,"""
_UNLOADED = -1.0
"""if those of its force alone are below this."""


@dataclass
class _Watch:
    """What is known of a contact besides where it is.

    Attributes:
        odds: logarithm of the odds that it bears.
        slipped: it wasn't where it had been.
        slipped_at: when it was so last [s].
    """

    odds: float = -math.inf
    slipped: bool = False
    slipped_at: float = -math.inf


class Estimator:
    """Contact-aided invariant filter of a robot; :mod:`.invariant_filter` is the filter.

    It begins with the first measurement that has inertial readings and all joints: upright as the specific force says,
    for which the robot is best at rest, the lowest contact at height 0, the base over the origin and heading along x.

    No reading ends it. What is lost or wrong is in ``faults`` of the estimate:

    - no inertial reading, NaN, or out of range: the last one is used for ``patience``, then rest is assumed, both with
      a large doubt, so that contacts and encoders tell how the robot moves;
    - an encoder silent: its last position, with a large doubt;
    - no wrench, or the same one for a tenth of a second while the robot moves: the contact is judged by its speed and
      by what is told of it;
    - nothing new: nothing is corrected;
    - the clock jumps back, or by more than ``longest_step``: nothing is integrated, doubts grow, contacts begin anew;
    - a contact that isn't where it was, as it slips, an encoder jumps or the attitude is wrong: it begins anew where
      it is, and the tilt is doubted by as much as a sole seems to have turned, so that gravity soon tells it;
    - nothing that bears stands still for a fifth of a second, as the estimate is wrong by much, or the state isn't
      finite: all begins anew, upright as the specific force says, where the base was last.

    Attributes:
        robot: on a free base.
        settings: of its sensors.
    """

    def __init__(self, robot: Robot, settings: EstimatorSettings | None = None) -> None:
        """Find sensors and contacts.

        Args:
            robot: on a free base, with an inertial measurement unit.
            settings: of its sensors.

        Raises:
            InputError: its base is fixed, it has no inertial measurement unit, or names that it doesn't know.
        """
        self.robot, self.settings = robot, settings or EstimatorSettings()
        own = self.settings
        if robot.base_joint is None:
            raise InputError(f"'{robot.name}' is fixed to the world", element="robot", remedy="Give one on a free base")
        imus = {name: sensor for name, sensor in robot.sensors.items() if sensor.type == "imu"}
        if not imus:
            raise InputError(
                f"'{robot.name}' has none", element="imu", remedy="Give its file a sensor of the type imu"
            )
        imu = imus[check_known(own.imu or next(iter(imus)), imus, "settings.imu", "imu")]
        names = own.contacts or tuple(name for name, place in robot.contacts.items() if place.support)
        for name in names:
            check_known(name, robot.contacts, "settings.contacts", "contact location")
        weight = GRAVITY * robot.total_mass
        self._detectors = {name: ContactDetector(robot.contacts[name], weight, own) for name in names}
        places = [robot.contacts[name] for name in names]
        self._kinds = [POSE if place.support and len(place.patch) > 2 else POINT for place in places]
        self._drifts = [own.contact_drift if place.support else own.grip_drift for place in places]
        frames = [(imu.link, imu.placement_link_sensor)]
        frames += [(robot.contacts[name].link, robot.contacts[name].placement_link_patch) for name in names]
        base_link, base_part = next(
            (name, part) for name, part in robot.parts.links.items() if part.joint_id == robot.base_joint
        )
        frames += [(base_link, base_part.placement_joint_link.inverse())]
        found = [sensor_towards(robot, robot.contacts[name].link) for name in names]
        self._sensors = {sensor.name: sensor for sensor in found if sensor is not None}
        self._loads = [-1 if sensor is None else list(self._sensors).index(sensor.name) for sensor in found]
        frames += [(sensor.link, sensor.placement_link_sensor) for sensor in self._sensors.values()]
        self._kinematics = ImuKinematics(robot, frames, own.frame_noise)
        base = robot.model.joints[robot.base_joint]
        self._base_q, self._base_v = base.idx_q, base.idx_v
        self._moved_base = not robot.model.jointPlacements[robot.base_joint].isIdentity()
        self._gate = np.array([own.gate, 1.5 * own.gate, 1.0])
        self._places, self._speeds = np.zeros((len(names) + 1, 4, 3)), np.zeros((len(names) + 1, 2, 3))
        self._residual = np.zeros(6)
        self._rate_scale, self._floor = (own.rate_noise / own.encoder_noise) ** 2, own.frame_noise**2 * np.eye(6)
        self.reset()

    @property
    def sensors(self) -> tuple[str, ...]:
        """Force-torque sensors that it reads."""
        return tuple(self._sensors)

    def reset(self, placement_world_base: pin.SE3 | None = None) -> None:
        """Forget everything; the next measurement begins anew.

        Args:
            placement_world_base: where the base then is; by default upright as gravity says, over the origin of the
                ground of its feet.
        """
        own, count = self.settings, len(self._kinds)
        self._filter = InvariantFilter(count)
        self._joints = JointReadings(self.robot, own.encoder_noise, _LOST_JOINT)
        self._inertial, self._wrenches = InertialReadings(own), WrenchReadings(self.robot, self._sensors, own)
        self._contact_noise = np.array([[drift, own.contact_roll, 0.0, 0.0] for drift in self._drifts])
        self._load = LoadObserver(self.robot, GRAVITY)
        self._loaded, self._watch = np.full((count, 6), np.nan), [_Watch() for _ in range(count)]
        self._time, self._told, self._stood = math.nan, math.nan, math.inf
        self._base = np.vstack([np.eye(3), np.zeros(3)])
        self._begin_at = placement_world_base

    def __deepcopy__(self, memo: dict[int, Any]) -> Estimator:
        """Return a copy that goes on by itself and shares the robot."""
        memo[id(self.robot)], memo[id(self.robot.model)] = self.robot, self.robot.model
        other = Estimator.__new__(Estimator)
        memo[id(self)] = other
        other.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return other

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Joints in the order in which measurements have them."""
        return self._joints.names

    def update(self, t: float, measurement: Measurement) -> Estimate | None:
        """Take a measurement.

        Args:
            t: clock of the controller [s].
            measurement: of this tick.

        Returns:
            The state at ``t``; None before the first measurement that has all that is needed to begin.

        Raises:
            InputError: lengths that aren't those of the robot, unknown sensors, a time that isn't finite.
        """
        check_number(t, "t", lower=-math.inf)
        faults: list[str] = []
        dt, news = t - self._time, measurement.time != self._told
        self._read(t, dt, measurement, news, faults)
        motion = self._kinematics.look(self._joints.q, self._joints.v, self._joints.variances)
        if math.isnan(self._time):
            if not (self._joints.begun and self._inertial.fresh):
                return None
            self._begin(motion, self._begin_at)
            dt = 0.0
        elif not 0.0 <= dt <= self.settings.longest_step:
            faults.append(f"the clock jumped by {dt:.6g} s: contacts begin anew")
            self._jump()
            dt = 0.0
        elif dt > 0.0:
            self._filter.propagate(self._inertial.values, self._inertial.noise, self._contact_noise, dt)
        self._time, self._told = t, measurement.time
        if news:
            self._touch(measurement, motion, dt, faults)
        own = self._filter
        finite = math.isfinite(own.covariance.sum() + own.state.vectors.sum() + own.biases.sum())
        if not finite or (self._inertial.fresh and t - self._stood > _ADRIFT):
            problem = "nothing that bears stands still" if finite else "the state is not finite"
            faults.append(f"{problem}: all begins anew where the base was")
            self._begin(motion, None if self._inertial.fresh else pin.SE3(self._base[:3], self._base[3]))
            self._rest_if_stale()
            self._touch(measurement, motion, 0.0, faults)
        return self._tell(motion, dt, faults)

    def _read(self, t: float, dt: float, measurement: Measurement, news: bool, faults: list[str]) -> None:
        """Take the readings; those of a measurement that isn't new are none."""
        inertial = self._inertial
        if news:
            before = inertial.values
            self._joints.take(measurement.joint_positions, measurement.joint_velocities, dt, faults)
            inertial.take(t, measurement.angular_velocity, measurement.specific_force, faults)
            moved = inertial.fresh and dt > 0.0 and bool(before[0, 0] != inertial.values[0, 0])
            self._wrenches.take(measurement.wrenches, faults, dt if moved else 0.0)
        else:
            faults.append("nothing new: nothing is corrected")
            inertial.take(t, None, None, faults)
        self._rest_if_stale()

    def _rest_if_stale(self) -> None:
        """Without inertial readings for long, take those of a body at rest."""
        if self._inertial.stale:
            self._inertial.values = self._filter.biases.copy()
            self._inertial.values[1] += GRAVITY * self._filter.rotation[2]

    def _begin(self, motion: FrameMotion, told: pin.SE3 | None) -> None:
        """Begin where the base is told to be, or upright where it was last or, at first, above the origin."""
        own, count = self.settings, len(self._kinds)
        seen, force = motion.seen[count], self._inertial.values[1]
        size = float(np.linalg.norm(force))
        fastest = max(float(np.abs(self._joints.v).max()), float(np.abs(self._inertial.values[0]).max()))
        doubt = math.hypot(_RESTING if fastest < _REST else _MOVING, min(abs(size / GRAVITY - 1.0), 1.0))
        if told is not None:
            turn, place = told.rotation, told.translation
        else:
            up = seen[:3].T @ force / max(size, 1e-9)  # in the base
            heading = math.atan2(self._base[1, 0], self._base[0, 0])
            turn = np.array(pin.Quaternion.FromTwoVectors(up, np.array([0.0, 0.0, 1.0])).matrix())
            heading -= math.atan2(turn[1, 0], turn[0, 0])
            turn, place = pin.utils.rotate("z", heading) @ turn, self._base[3].copy()
        rotation = turn @ seen[:3].T
        position = place - rotation @ seen[3]
        if told is None and math.isnan(self._time):
            position[2] = -min(float((rotation @ frame[3])[2]) for frame in motion.seen[:count])
        deviations = np.repeat([0.0, _BEGIN[1], _BEGIN[2], own.gyro_bias, own.force_bias], 3)
        deviations[:3] = doubt, doubt, _BEGIN[0]
        self._filter.reset(rotation, np.zeros(3), position, deviations)
        self._stood = math.inf

    def _jump(self) -> None:
        """After an unknown time the robot is somewhere near."""
        for k in range(len(self._kinds)):
            self._filter.remove(k)
        self._filter.doubt(np.repeat([*_AFTER_JUMP, 0.0, 0.0], 3))

    def _touch(self, measurement: Measurement, motion: FrameMotion, dt: float, faults: list[str]) -> None:
        """Find what bears, correct by it, and learn the offsets of sensors on which nothing does."""
        own, wrenches = self._filter, self._wrenches
        tell_motion(own.state, self._inertial.values, motion, self._places, self._speeds)
        for name in measurement.contacts:
            check_known(name, self._detectors, "measurement.contacts", "contact of the estimator")
        down = -GRAVITY * own.rotation[2]
        in_air, bears = [True] * len(self._sensors), False
        sensed = motion.seen[len(self._kinds) + 1 :]
        self._gate[2] = -math.expm1(-max(dt, 1e-6) / _TREND)
        for k, (name, detector) in enumerate(self._detectors.items()):
            sensor, loaded, watch = self._loads[k], self._loaded[k], self._watch[k]
            loaded[:] = np.nan
            if sensor >= 0:
                external_wrench(motion.seen[k], sensed[sensor], wrenches.values[sensor], wrenches.carried[sensor],
                                down, loaded)  # fmt: skip
            x, y, z = self._speeds[k, 0].tolist()
            force, told = float(loaded[2]), measurement.contacts.get(name)
            watch.odds = detector.odds(force, math.sqrt(x * x + y * y + z * z), told)
            load = detector.load_odds(force, told)
            bears = bears or detector.holds(load, False)
            watch.slipped = False
            held = bool(own.kinds[k] != NONE)
            if sensor >= 0 and (watch.odds > _IN_AIR or load > _UNLOADED):
                in_air[sensor] = False
            if not detector.holds(watch.odds, held):
                own.remove(k)
                continue
            if not held:
                own.add(k, self._kinds[k], motion.seen[k], motion.covariances[k])
            elif not own.correct(k, motion.seen[k], motion.covariances[k], self._gate):
                watch.slipped, watch.slipped_at = True, self._time
                if self._kinds[k] == POSE:
                    tilted = min(math.hypot(*own.turned(k, motion.seen[k])[:2]), _MOVING)
                    own.doubt(np.repeat([tilted, 0.0], [2, 13]))
                own.add(k, self._kinds[k], motion.seen[k], motion.covariances[k])
                faults.append(f"'{name}' isn't where it was: it begins anew")
            self._roll(k, detector, loaded)
        if own.kinds.any() or not bears:
            self._stood = math.inf
        elif self._stood == math.inf:
            self._stood = self._time
        if dt <= 0.0:
            return
        for sensor, free in enumerate(in_air):
            if not free or not math.isfinite(wrenches.values[sensor].sum()):
                continue
            external_wrench(sensed[sensor], sensed[sensor], wrenches.values[sensor], wrenches.carried[sensor], down,
                            self._residual)  # fmt: skip
            wrenches.learn(sensor, self._residual, dt)

    def _roll(self, k: int, detector: ContactDetector, loaded: Array) -> None:
        """Say how a contact may turn in the next step: a sole pressed at its edge rolls about it."""
        noise, own = self._contact_noise[k], self.settings
        if self._time - self._watch[k].slipped_at < _SLIPPING:
            noise[:] = *_SLIP, 0.0, 0.0
            return
        x, y = centre_of_pressure(loaded)
        if self._kinds[k] == POINT or math.isnan(x):
            noise[:] = self._drifts[k], own.contact_roll, 0.0, 0.0
        else:
            noise[:] = self._drifts[k], own.contact_roll + own.edge_roll * detector.rolls(x, y) ** 2, x, y

    def _tell(self, motion: FrameMotion, dt: float, faults: list[str]) -> Estimate:
        """Put the estimate together."""
        own, count = self._filter, len(self._kinds)
        places, base = np.empty((count + 2, 4, 3)), np.empty(13)
        tell_state(own.state, self._inertial.values, motion, places, self._speeds, base)
        self._base = places[count]
        loaded, kinds = self._loaded.copy(), own.kinds.tolist()
        contacts = {
            name: ContactEstimate(watch.odds, kinds[k] != NONE, watch.slipped, places[k], loaded[k])
            for k, (name, watch) in enumerate(zip(self._detectors, self._watch, strict=True))
        }
        q, v = self._joints.q.copy(), self._joints.v.copy()
        q[self._base_q : self._base_q + 7], v[self._base_v : self._base_v + 6] = base[:7], base[7:]
        if self._moved_base:
            q = self.robot.place_base(q, pin.SE3(self._base[:3], self._base[3]))
        self._load.take(dt, q, v, places[:count], loaded, self._wrenches.doubts, self._loads)
        offsets = dict(zip(self._sensors, self._wrenches.offsets.copy(), strict=True))
        sampled = float(self._inertial.noise[0]) ** 2 / (dt or math.inf)
        return Estimate(
            self._time, q, v, self._base, places[-1], own.biases.copy(), own.covariance.copy(), sampled,
            self._rate_scale * (motion.covariances[count] - self._floor), contacts, offsets, self._load.load,
            tuple(faults),
        )  # fmt: skip


def sensor_towards(robot: Robot, link: str) -> Sensor | None:
    """Return the force-torque sensor between the base and a link that is nearest to the link."""
    chain = list(robot.model.supports[robot.parts.links[link].joint_id])
    found, nearest = None, -1
    for sensor in robot.sensors.values():
        carrier = robot.parts.links[sensor.link].joint_id
        if sensor.type == "force_torque" and carrier in chain and chain.index(carrier) > nearest:
            found, nearest = sensor, chain.index(carrier)
    return found
