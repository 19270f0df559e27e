# SPDX-License-Identifier: Apache-2.0
"""Lifts a box that is too far to be lifted slowly (specification 000 section 21; Arisumi et al. 2007).

With the box on the ground, the centre of mass of both is ahead of the soles: whoever lifts it slowly falls on it. The
robot first swings back with the box where it is, gets momentum, and takes the box along. After that both turn about the
soles' middle like one inverted pendulum, which comes to rest above it; the legs do that, all above is frozen.

Section 21.3 takes the robot for one rigid body at the impact. Here its legs move otherwise than its trunk, so that the
swing's velocities at the impact follow from the momentum of all bodies, linear and angular, before and after; what
(5.14) says is told beside them. The pendulum takes forever to its rest: a quintic ends its turn in a time that is
chosen. The curve of Fig. 5.19 is at constant velocity at T = 0.5, where the thesis has the impact; a later one, in
which the swing is already braked, lets the zero-moment point jump less.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq, fsolve

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.robot import Robot
from humanoid_studies.lifting.cam_profile import CamMotion, CamProfile
from humanoid_studies.lifting.percussion import Impact, impact, pendulum_momentum
from humanoid_studies.lifting.planar_lifter import SIDES, HeldObject, PlanarLifter

PERIOD = 5e-3
"""Of the samples [s]."""
_STEP = 1e-6
"""Of differences of postures [m, rad]."""


BOX = HeldObject(4.5, 0.3, 0.6, below=0.825)
"""The thesis' box, grasped at 0.495 m; its height is our choice."""


@dataclass(frozen=True)
class LiftTask:
    """Where the robot is at the impact, and how it moves.

    Attributes:
        held: the box.
        hip_height: at the impact [m].
        lean: of the trunk, forward, at the impact [rad].
        reach: from shoulder to grasp [m].
        beyond: how far the centre of mass of both is ahead of the toes at the impact [m].
        way: of the robot's centre of mass before the impact [m].
        ramp: of the cam curve.
        impact: on the cam curve; the thesis' is 0.5.
        spread: how long the box takes to be as fast as the robot [s]; motors can't do it at once.
        turn_time: from then to rest [s].
        braking: how fast the turn gets slower right after that [rad/s²].
    """

    held: HeldObject = BOX
    hip_height: float = 0.42
    lean: float = 0.6
    reach: float = 0.50
    beyond: float = 0.01
    way: float = 0.10
    ramp: float = 0.45
    impact: float = 0.58
    spread: float = 0.04
    turn_time: float = 0.8
    braking: float = 1.3


@dataclass(frozen=True, eq=False)
class DynamicLift:
    """A planned lift, sampled every 5 ms.

    Attributes:
        lifter: robot and box, the latter upright at the impact.
        time: [s], shape (K,).
        q: (K, 7) [rad].
        v: (K, 7) [rad/s].
        torques: (K, 7) of one side's joints, what the ground gives the box included [N m].
        hand_force: (K, 2) of the hands on the box while it stands [N]; zero after.
        zero_moment_point: (K,) of feet and box together [m].
        impact_time: [s].
        before: (7,) joint velocities just before the impact [rad/s].
        after: (7,) when the box is as fast as the robot [rad/s].
        direction: of the lift, above the horizontal [rad].
        rigid: what section 21.3 says.
        speed_before: of the robot's centre of mass [m/s].
        turn: by which both turn back after the impact [rad].
        box_x: of the box' middle while it stands [m].
    """

    lifter: PlanarLifter
    time: Array
    q: Array
    v: Array
    torques: Array
    hand_force: Array
    zero_moment_point: Array
    impact_time: float
    before: Array
    after: Array
    direction: float
    rigid: Impact
    speed_before: float
    turn: float
    box_x: float


def plan_dynamic_lift(robot: Robot, task: LiftTask) -> DynamicLift:
    """Plan a lift.

    Args:
        robot: HRP-2.
        task: what is lifted from where.

    Raises:
        InputError: a posture on the way that the robot can't take.
    """
    lifter, base, grip, angle = _impact_posture(robot, task)
    mechanics = _Mechanics(lifter, grip, angle)
    q = mechanics.posture(base)
    foot = 0.5 * (lifter.sole[0] + lifter.sole[1])
    A = mechanics.centre(q)
    turn = float(np.arctan2(A.real - foot, A.imag))
    inertia = mechanics.inertia(q, A)
    g = lifter.tree.gravity
    momentum = pendulum_momentum(lifter.total_mass, inertia, A.real - foot, A.imag, g)
    omega = momentum / (inertia + lifter.total_mass * abs(A - foot) ** 2)
    after = mechanics.turning(q, foot) * omega
    # The swing has the momentum of the turn, though the box stands still.
    swings = mechanics.swings(base)
    target = mechanics.momentum(q, after, foot)
    rates = np.linalg.solve(np.column_stack([mechanics.momentum(q, s, foot) for s in swings.T]), target)
    before = swings @ rates
    way = mechanics.robot_velocity(q, before)
    cam = CamMotion.to_impact(CamProfile(task.ramp), task.way, abs(way), float(rates[2]), task.impact)
    times = np.append(np.arange(0.0, cam.duration - 0.5 * PERIOD, PERIOD), cam.duration)
    swing = mechanics.swing(base, way / abs(way), cam, times)
    taking_times = _samples(task.spread)
    taken = _blend(q, (before, after), taking_times, task.spread, task.braking / omega)
    begin = taken[0][-1]
    B = mechanics.centre(begin)
    rest = float(np.arctan2(B.real - foot, B.imag))
    turned_times = _samples(task.turn_time)
    course = _quintic(turned_times, task.turn_time, (0.0, omega - task.braking * task.spread, -task.braking), rest)
    turned = mechanics.turned(begin, foot, *course)
    time = np.concatenate([times, cam.duration + taking_times, cam.duration + task.spread + turned_times])
    courses = [np.vstack(parts) for parts in zip(swing, taken, turned, strict=True)]
    standing = time <= cam.duration + 1e-9
    load = mechanics.load(*courses)
    hand, torques = mechanics.with_box(courses[0], load, standing)
    lift_x = impact(
        lifter.total_mass - lifter.held.mass,
        lifter.held.mass,
        inertia,
        abs(A - foot),
        float(((grip - A) * np.exp(-1j * (np.angle(way) - 0.5 * np.pi))).real),
        momentum,
    )
    return DynamicLift(
        lifter, time, courses[0], courses[1], torques, hand, load[2], cam.duration, before, after,
        np.pi - float(np.angle(way)), lift_x, abs(way), turn, grip.real,
    )  # fmt: skip


def _impact_posture(robot: Robot, task: LiftTask) -> tuple[PlanarLifter, Array, complex, float]:
    """Planar robot, base (x, z, lean back), grasp and angle of the hand, the centre of mass where it shall be."""
    grasp_height = task.held.below * task.held.height
    first = PlanarLifter(robot, task.held)

    def at(x: float) -> tuple[Array, complex, float]:
        base = np.array([x, task.hip_height, -task.lean])
        shoulder = complex(x, task.hip_height) + first.trunk * np.exp(-1j * task.lean)
        down = shoulder.imag - grasp_height
        if not 0.0 < down < task.reach:
            raise InputError(
                f"is {down:.3f} m above the grasp", element="shoulder", remedy=f"Keep it within {task.reach:g} m"
            )
        grip = complex(shoulder.real + np.sqrt(task.reach**2 - down**2), grasp_height)
        return base, grip, -float(np.angle(grip - shoulder))

    def off(x: float) -> float:
        base, grip, angle = at(x)
        mechanics = _Mechanics(first, grip, angle)
        return mechanics.centre(mechanics.posture(base)).real - first.sole[1] - task.beyond

    x = float(brentq(off, -0.22, 0.1))
    base, grip, angle = at(x)
    lifter = PlanarLifter(robot, replace(task.held, tilt=angle - 0.5 * np.pi))
    return lifter, base, grip, angle


def _samples(duration: float) -> Array:
    """Return times (K,) after the beginning, up to the end [s]."""
    return np.asarray(PERIOD * np.arange(1, round(duration / PERIOD) + 1), dtype=np.float64)


def _blend(q: Array, rates: tuple[Array, Array], t: Array, T: float, fading: float) -> tuple[Array, Array, Array]:
    """(K, 7) angles, velocities and accelerations while velocities go from those before to those after the impact.

    Both have the same momentum, and so has what is between them; all fade at a rate [1/s].
    """
    before, change = rates[0], rates[1] - rates[0]
    fine = np.linspace(0.0, T, 20 * len(t) + 1)
    fade, share = 1.0 - fading * fine, 0.5 * (1.0 - np.cos(np.pi * fine / T))
    v = CubicSpline(fine, fade[:, None] * (before + share[:, None] * change))
    return q + v.antiderivative()(t), v(t), v(t, 1)


def _quintic(t: Array, T: float, start: tuple[float, float, float], end: float) -> tuple[Array, Array, Array]:
    """Value and two derivatives of the polynomial from those at the start to rest at an end."""
    powers = np.arange(6)
    rows = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0], np.ones(6), powers, powers * (powers - 1)]
    scaled = [start[0], start[1] * T, start[2] * T**2, end, 0.0, 0.0]
    polynomial = np.polynomial.Polynomial(np.linalg.solve(np.array(rows, dtype=float), scaled), [0.0, T], [0.0, 1.0])
    value, rate, bend = (np.asarray(p(t), dtype=float) for p in (polynomial, polynomial.deriv(1), polynomial.deriv(2)))
    return value, rate, bend


class _Mechanics:
    """Kinematics and momentum of the robot with its hands at a grasp."""

    def __init__(self, lifter: PlanarLifter, grip: complex, angle: float) -> None:
        self.lifter, self.grip, self.angle = lifter, grip, angle
        self._bodies = lifter.tree.with_rotors(np.zeros((7, 7)))

    def posture(self, base: Array) -> Array:
        """(7,) joint angles with the hip at base[:2], the trunk turned back by base[2]."""
        hip = complex(base[0], base[1])
        return self.lifter.posture(hip, hip + self.lifter.trunk * np.exp(1j * base[2]), self.grip, self.angle)

    def swings(self, base: Array) -> Array:
        """(7, 3) derivative of the posture by the base."""
        steps = _STEP * np.eye(3)
        return np.column_stack([(self.posture(base + d) - self.posture(base - d)) / (2.0 * _STEP) for d in steps])

    def centre(self, q: Array) -> complex:
        """Centre of mass of robot and box [m]."""
        lifter = self.lifter
        x, z = lifter.tree.centre.position(lifter.absolute @ q)
        # The feet's height doesn't count: they don't turn.
        moments = complex(lifter.tree.mass * x + lifter.feet_mass * lifter.feet_x, lifter.tree.mass * z)
        return moments / lifter.total_mass

    def robot_centre(self, q: Array) -> complex:
        """Centre of mass of the robot alone, the box at the grasp [m]."""
        held, total = self.lifter.held.mass, self.lifter.total_mass
        grip = complex(*self.lifter.grip.position(self.lifter.absolute @ q))
        return (total * self.centre(q) - held * grip) / (total - held)

    def robot_velocity(self, q: Array, v: Array) -> complex:
        """Of that centre [m/s]."""
        return (self.robot_centre(q + _STEP * v) - self.robot_centre(q - _STEP * v)) / (2.0 * _STEP)

    def inertia(self, q: Array, about: complex) -> float:
        """Of robot and box as one body [kg m²]; the feet's is left out."""
        theta = self.lifter.absolute @ q
        everything = np.ones(7)
        about_ankle = everything @ self._bodies.mass_matrix(theta) @ everything
        own = complex(*self._bodies.centre.position(theta))
        mass = self._bodies.mass
        ankle = 1j * self.lifter.ankle_height
        return float(about_ankle - mass * abs(own - ankle) ** 2 + mass * abs(own - about) ** 2)

    def momentum(self, q: Array, v: Array, foot: float) -> Array:
        """(3,) linear momentum and angular momentum about the foot's middle, from forward to up."""
        lifter = self.lifter
        theta, omega = lifter.absolute @ q, lifter.absolute @ v
        linear = self._bodies.mass * (self._bodies.centre.jacobian(theta) @ omega)
        about_ankle = float(np.sum(self._bodies.mass_matrix(theta) @ omega))
        lever = np.array([-foot, lifter.ankle_height])
        return np.append(linear, about_ankle + lever[0] * linear[1] - lever[1] * linear[0])

    def turned_posture(self, q: Array, foot: float, turn: float) -> Array:
        """(7,) joint angles after all above the legs has turned back about the foot's middle."""
        lifter = self.lifter
        theta = lifter.absolute @ q
        hip = foot + (complex(*lifter.point("waist").position(theta)) - foot) * np.exp(1j * turn)
        trunk = lifter.trunk * np.exp(1j * (theta[2] + turn))
        grip = foot + (complex(*lifter.grip.position(theta)) - foot) * np.exp(1j * turn)
        return lifter.posture(hip, hip + trunk, grip, float(lifter.angle_of_object(q)) - turn)

    def turning(self, q: Array, foot: float) -> Array:
        """(7,) derivative of these angles by the turn."""
        return (self.turned_posture(q, foot, _STEP) - self.turned_posture(q, foot, -_STEP)) / (2.0 * _STEP)

    def turned(
        self, q: Array, foot: float, angle: Array, rate: Array, acceleration: Array
    ) -> tuple[Array, Array, Array]:
        """(K, 7) each: joint angles, velocities and accelerations along a turn."""
        grid = np.linspace(-0.02, float(angle.max()) + 0.02, 61)
        course = CubicSpline(grid, np.array([self.turned_posture(q, foot, turn) for turn in grid]))
        slope, bend = course(angle, 1), course(angle, 2)
        return course(angle), slope * rate[:, None], slope * acceleration[:, None] + bend * rate[:, None] ** 2

    def swing(self, base: Array, way: complex, cam: CamMotion, times: Array) -> tuple[Array, Array, Array]:
        """(K, 7) each: joint angles, velocities and accelerations before the impact."""
        goal = self.robot_centre(self.posture(base))
        ends = cam.at([cam.duration])[0][0]
        fine = np.linspace(0.0, cam.duration, 4 * len(times))
        postures, guess = [], base[:2]
        for path, turn in (cam.at(fine)[0] - ends)[::-1]:
            def off(place: Array, path: float = path, turn: float = turn) -> list[float]:
                found = self.robot_centre(self.posture(np.append(place, base[2] + turn))) - goal - path * way
                return [found.real, found.imag]

            guess = fsolve(off, guess)
            postures.append(self.posture(np.append(guess, base[2] + turn)))
        course = CubicSpline(fine, np.array(postures[::-1]))
        return np.asarray(course(times)), np.asarray(course(times, 1)), np.asarray(course(times, 2))

    def load(self, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Moments (K, 7) on absolute angles, ground force (K, 2), zero-moment point (K,), as if hands bore the box."""
        lifter, tree = self.lifter, self.lifter.tree
        theta, omega, alpha = q @ lifter.absolute.T, v @ lifter.absolute.T, a @ lifter.absolute.T
        moments = np.einsum("kij,kj->ki", tree.mass_matrix(theta), alpha)
        moments += np.einsum("kij,kj->ki", tree.mass_rate(theta, omega), omega) - tree.momentum_rate(theta, omega)
        centre = tree.centre
        ground = np.einsum("kij,kj->ki", centre.jacobian(theta), alpha) + centre.bias(theta, omega)
        ground = tree.mass * (ground + np.array([0.0, tree.gravity]))
        ground[:, 1] += lifter.feet_mass * tree.gravity
        about = moments.sum(axis=1) - SIDES[0] * lifter.armature[0] * a[:, 0] - lifter.ankle_height * ground[:, 0]
        return moments, ground, (about + lifter.feet_x * lifter.feet_mass * tree.gravity) / ground[:, 1]

    def with_box(self, q: Array, load: tuple[Array, Array, Array], standing: Array) -> tuple[Array, Array]:
        """Hand forces (K, 2) on the standing box and torques (K, 7): hands press as much as the feet can't bear.

        The ground presses the box below its middle.
        """
        moments, ground, zmp = load
        lifter = self.lifter
        weight = lifter.held.mass * lifter.tree.gravity
        limit = lifter.sole[1] - 0.02
        pressed = np.maximum(ground[:, 1] * (zmp - limit) / (self.grip.real - limit), weight) * standing
        lever = lifter.grip.jacobian(q @ lifter.absolute.T)[:, 1, :]
        torques = (moments - pressed[:, None] * lever) @ lifter.absolute / SIDES
        hand = np.column_stack([np.zeros(len(q)), np.where(standing, weight - pressed, 0.0)])
        return hand, torques
