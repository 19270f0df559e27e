# SPDX-License-Identifier: Apache-2.0
r"""The lift of a weight above the head that costs least energy (specification 000 section 22.2, thesis (5.28)-(5.30)).

Joint angles are B-splines whose control points and duration minimise the actuators' energy

.. math:: E_r = \int_0^{t_f} \sum_j c_j \Gamma_j^2 + \dot q_j \Gamma_j \, dt

from rest to rest, with torques by inverse dynamics, friction of the joints included. At instants in between the motors
keep to (5.25) and (5.26), sensors to their limits, the zero-moment point to the soles; the feet neither slip nor lift,
and the object meets neither trunk nor head. Joint limits bound the control points, which hold the curve in their hull.
CasADi differentiates all of it, and IPOPT solves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi
import numpy as np
from numpy.typing import ArrayLike

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_planner.posture.motion.trajectory_program import SplineBasis
from humanoid_studies.lifting.clearance import APART, clearances
from humanoid_studies.lifting.planar_lifter import SENSOR_LIMITS, SIDES, PlanarLifter
from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiTree

FRICTION = 0.5
"""Between soles and ground, in the plan."""
LONGEST = 3.0
"""How long motors may give more than their nominal torques, and so the lift may last [s] (thesis §5.2.2.3)."""
SHORTEST = 0.3
"""Of lifts [s]."""
INSIDE = 0.01
"""How far the zero-moment point stays inside the soles [m]."""
RESERVE = 0.9
"""Share of motors' and sensors' limits that the plan uses; the servos need the rest."""
LIGHTEST = 100.0
"""Force that presses the feet on the ground at least [N]."""
FIXED = 3
"""Control points at each end that make it rest."""
_SLOW = 0.05
"""Speed beyond which dry friction is all there [rad/s]; below it rises smoothly."""


@dataclass(frozen=True, eq=False)
class LiftSeries:
    """A lift at instants (K,).

    Attributes:
        time: [s].
        q: (K, 7) [rad].
        v: (K, 7) [rad/s].
        torques: (K, 7) of one side's joints [N m].
        sensor: (K, 3) along and across the hand and moment at one wrist [N, N m].
        ground: (K, 2) force on the feet, forward and up [N].
        zero_moment_point: (K,) [m].
    """

    time: Array
    q: Array
    v: Array
    torques: Array
    sensor: Array
    ground: Array
    zero_moment_point: Array


@dataclass(frozen=True, eq=False)
class LiftMotion:
    """B-splines of a lift.

    Attributes:
        points: (count, 7) control points [rad].
        duration: [s].
    """

    points: Array
    duration: float

    def edited(self, point: int, joint: int, angle: float) -> LiftMotion:
        """Return the motion with a control point moved by hand; :func:`judge` tells what that breaks.

        Args:
            point: index, not one of the ends' three, which are at rest.
            joint: index.
            angle: its new value [rad].

        Raises:
            InputError: an index out of range, or an angle that isn't finite.
        """
        if point not in self.movable or not 0 <= joint < 7:
            raise InputError(
                f"point {point} of joint {joint}",
                element="edit",
                remedy=f"Move points {self.movable.start} to {self.movable.stop - 1} of joints 0 to 6",
            )
        if not np.isfinite(angle):
            raise InputError(f"angle is {angle}", element="edit", remedy="Give a finite angle in rad")
        points = self.points.copy()
        points[point, joint] = angle
        return LiftMotion(points, self.duration)

    def lasting(self, duration: float) -> LiftMotion:
        """Return the motion along the same way in another time [s].

        Raises:
            InputError: it isn't positive and finite.
        """
        if not (np.isfinite(duration) and duration > 0.0):
            raise InputError(f"duration is {duration}", element="edit", remedy="Give a positive time in seconds")
        return LiftMotion(self.points, duration)

    def slower(self, factor: float) -> LiftMotion:
        """Return the motion along the same way in more time."""
        return self.lasting(factor * self.duration)

    @property
    def movable(self) -> range:
        """Indices of the control points that :meth:`edited` moves."""
        return range(FIXED, len(self.points) - FIXED)

    @property
    def times(self) -> Array:
        """(count,) times that control points belong to [s]: where a straight line in time has them (Greville)."""
        basis = SplineBasis(len(self.points))
        inner = basis.knots[1:-1]
        return self.duration * np.lib.stride_tricks.sliding_window_view(inner, basis.degree).mean(axis=1)

    def at(self, time: ArrayLike) -> tuple[Array, Array, Array]:
        """(K, 7) each: angles, speeds and accelerations at times (K,) [s]."""
        basis, T = SplineBasis(len(self.points)), self.duration
        s = np.clip(np.asarray(time, dtype=float) / T, 0.0, 1.0)
        return tuple(basis.matrix(s, k) @ self.points / T**k for k in range(3))  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class LiftResult:
    """What IPOPT found.

    Attributes:
        motion: the lift.
        solved: whether it is a local optimum.
        status: IPOPT's word for it.
        energy: of the actuators [J].
        iterations: of IPOPT.
        seconds: it took [s].
    """

    motion: LiftMotion
    solved: bool
    status: str
    energy: float
    iterations: int
    seconds: float


class WeightLift:
    """The optimal control problem between two postures.

    Attributes:
        lifter: robot and object.
        start: (7,) joint angles [rad].
        end: (7,) likewise.
        loss: (7,) c of the Joule losses. A motor within (5.25) has the resistance that stands still at peak torque and
            turns without load at its largest speed: c = speed / peak [1/(N m s)].
    """

    def __init__(self, lifter: PlanarLifter, start: Array, end: Array, *, count: int = 12, instants: int = 41) -> None:
        """State the problem.

        Args:
            lifter: robot and object.
            start: (7,) joint angles.
            end: (7,) likewise.
            count: of control points.
            instants: at which the conditions hold.
        """
        self.lifter, self.start, self.end = lifter, np.asarray(start), np.asarray(end)
        self.loss = lifter.speed / lifter.peak
        self._count, self._instants = count, np.linspace(0.0, 1.0, instants)
        self._basis = SplineBasis(count)

    @cached_property
    def _instant(self) -> casadi.Function:
        """Conditions, power, and what :class:`LiftSeries` tells, of angles, speeds and accelerations."""
        lifter, tree = self.lifter, CasadiTree(self.lifter.tree)
        q, v, a = (casadi.SX.sym(name, 7) for name in "qva")
        S = casadi.SX(lifter.absolute)
        theta, omega, alpha = S @ q, S @ v, S @ a
        moments = tree.mass_matrix(theta) @ alpha + tree.mass_rate(theta, omega) @ omega
        moments -= tree.momentum_rate(theta, omega)
        friction = lifter.viscous * v + lifter.dry * casadi.tanh(v / _SLOW)
        torques = (S.T @ moments) / SIDES + friction
        g = lifter.tree.gravity

        def force(mass: float, point: object) -> casadi.SX:
            acceleration = tree.jacobian(point, theta) @ alpha + tree.bias(point, theta, omega)  # type: ignore[arg-type]
            return mass * (acceleration + casadi.DM([0.0, g]))

        ground = force(lifter.tree.mass, lifter.tree.centre) + casadi.DM([0.0, lifter.feet_mass * g])
        # Rotors turn with their joints alone: the ground doesn't feel them.
        about_ankle = (S.T @ moments)[0] - SIDES[0] * lifter.armature[0] * a[0]
        zmp = about_ankle - lifter.ankle_height * ground[0] + lifter.feet_x * lifter.feet_mass * g
        zmp /= ground[1]
        hand = 0.5 * force(lifter.wrist_mass, lifter.beyond_wrist)
        along = casadi.sin(theta[6]) * hand[0] - casadi.cos(theta[6]) * hand[1]
        across = casadi.cos(theta[6]) * hand[0] + casadi.sin(theta[6]) * hand[1]
        # The wrist's torque bears on the sensor but for what turns its rotor.
        moment = 0.5 * moments[6] + lifter.armature[6] * a[6]
        sensor = casadi.vertcat(along, across, moment)
        effort = torques / lifter.peak
        heel, toe = lifter.sole
        gaps = [casadi.sumsqr(tree.position(way, theta)) - (least + APART) ** 2 for way, least in clearances(lifter)]
        conditions = casadi.vertcat(
            casadi.fabs(effort),
            casadi.fabs(v / lifter.speed + effort),
            casadi.fabs(sensor) / SENSOR_LIMITS,
            LIGHTEST / ground[1],
            (ground[0] / FRICTION - ground[1]) / 100.0 + 1.0,
            (-ground[0] / FRICTION - ground[1]) / 100.0 + 1.0,
            casadi.fabs(zmp - 0.5 * (heel + toe)) / (0.5 * (toe - heel) - INSIDE),
            1.0 - casadi.vertcat(*gaps) / 0.1,
        )
        power = casadi.sum1(SIDES * (self.loss * torques**2 + v * torques))
        return casadi.Function(
            "instant", [q, v, a], [conditions, power, torques, sensor, ground, zmp], {"cse": True}
        )

    @cached_property
    def _bounds(self) -> Array:
        """(c,) what the conditions of an instant stay below."""
        bounds = np.ones(self._instant.size1_out(0))
        bounds[:17] = RESERVE
        return bounds

    def solve(self, guess: LiftMotion | None = None, *, max_iterations: int = 300) -> LiftResult:
        """Find a lift of least energy.

        Args:
            guess: to begin with; straight lines in joint angles, in 1.5 s, if not given.
            max_iterations: of IPOPT.
        """
        started = time.perf_counter()
        free = self._count - 2 * FIXED
        P, T = casadi.MX.sym("P", free, 7), casadi.MX.sym("T")
        ends = [casadi.repmat(casadi.DM(end).T, FIXED, 1) for end in (self.start, self.end)]
        points = casadi.vertcat(ends[0], P, ends[1])
        q, v, a = (casadi.DM(self._basis.matrix(self._instants, k)) @ points / T**k for k in range(3))
        conditions, power = self._instant.map(len(self._instants))(q.T, v.T, a.T)[:2]
        weights = np.full(len(self._instants), 1.0 / (len(self._instants) - 1))
        weights[[0, -1]] *= 0.5
        energy = T * (power @ casadi.DM(weights))
        nlp: Any = {"x": casadi.vertcat(casadi.vec(P), T), "f": energy / 100.0, "g": casadi.vec(conditions)}
        settings: Any = {"max_iter": max_iterations, "print_level": 0, "sb": "yes", "tol": 1e-6}
        settings["mu_strategy"] = "adaptive"
        solver = casadi.nlpsol("lift", "ipopt", nlp, {"ipopt": settings, "print_time": False})
        begin = guess or self.straight()
        lower, upper = (np.repeat(limit, free) for limit in (self.lifter.lower, self.lifter.upper))
        found = solver(
            x0=np.append(begin.points[FIXED:-FIXED].T.ravel(), begin.duration),
            lbx=np.append(lower, SHORTEST),
            ubx=np.append(upper, LONGEST),
            lbg=-np.inf,
            ubg=np.tile(self._bounds, len(self._instants)),
        )
        x, stats = found["x"].full().ravel(), solver.stats()
        motion = LiftMotion(self._points(x[:-1].reshape(7, free).T), float(x[-1]))
        return LiftResult(
            motion,
            bool(stats["success"]),
            str(stats["return_status"]).replace("_", " ").lower(),
            100.0 * float(found["f"]),
            int(stats["iter_count"]),
            time.perf_counter() - started,
        )

    def straight(self, duration: float = 1.5) -> LiftMotion:
        """Return the motion along straight lines in joint angles."""
        share = np.linspace(0.0, 1.0, self._count - 2 * FIXED + 2)[1:-1, None]
        return LiftMotion(self._points(self.start + share * (self.end - self.start)), duration)

    def _points(self, free: Array) -> Array:
        return np.vstack([np.tile(self.start, (FIXED, 1)), free, np.tile(self.end, (FIXED, 1))])

    def series(self, motion: LiftMotion, instants: int | Array = 201) -> LiftSeries:
        """Return a lift's course by the planar model.

        Args:
            motion: the lift.
            instants: their number, evenly spread over the motion, or their times (K,) [s].
        """
        evenly = isinstance(instants, int)
        t = np.asarray(np.linspace(0.0, motion.duration, instants) if evenly else instants, dtype=np.float64)
        q, v, a = motion.at(t)
        _, _, torques, sensor, ground, zmp = (x.full().T for x in self._instant.map(len(t))(q.T, v.T, a.T))
        return LiftSeries(t, q, v, torques, sensor, ground, zmp.ravel())

    def energy(self, motion: LiftMotion, instants: int = 201) -> float:
        """Return the actuators' energy (5.29) by the trapezoidal rule [J]."""
        t = np.linspace(0.0, motion.duration, instants)
        power = self._instant.map(instants)(*(x.T for x in motion.at(t)))[1].full().ravel()
        return float(np.sum(0.5 * (power[1:] + power[:-1]) * np.diff(t)))

    def excess(self, motion: LiftMotion) -> float:
        """Return how far a motion is beyond what solutions keep to at their instants; at most 0 if it does, too."""
        rows = self._instant.map(len(self._instants))(*(x.T for x in motion.at(motion.duration * self._instants)))[0]
        off = np.maximum(self.lifter.lower - motion.points, motion.points - self.lifter.upper)
        return max(float((rows.full() - self._bounds[:, None]).max()), float(off.max()))
