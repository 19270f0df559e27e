# SPDX-License-Identifier: Apache-2.0
"""A squat on both legs: soles flat, trunk upright, centre of mass where it was over the feet."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.robot import Robot

PITCH = (2, 3, 4)
"""Hip, knee and ankle pitch among the joints of a leg."""
LEGS = ("right_leg", "left_leg")
KNOTS = 9


def squat_motion(
    robot: Robot, *, knee: float, count: int, period: float, posture: str = "half_sitting"
) -> JointTrajectory:
    """Return squats that start and end in a posture.

    Hip, knee and ankle pitch of both legs keep the sum they have in the posture, so the soles stay
    flat and the trunk keeps its lean; of the two freedoms left, one is the knee angle and the other
    keeps the centre of mass where it is above the feet.

    Args:
        robot: A robot whose limbs `right_leg` and `left_leg` are six joints each: hip yaw, roll,
            pitch, knee pitch, ankle pitch, roll.
        knee: Knee angle at the lowest point [rad].
        count: Number of squats.
        period: Duration of one squat [s].
        posture: Named posture to start from.

    Returns:
        The motion of all joints, ten points a second.

    Raises:
        InputError: The robot has no such legs, or can't reach the knee angle in balance and limits.
    """
    for leg in LEGS:
        if len(robot.limbs.get(leg, ())) != 6:
            raise InputError(
                f"robot {robot.name!r} has no limb {leg!r} of six joints",
                element="robot",
                remedy="Squats need two legs of hip yaw, roll, pitch, knee, ankle pitch, roll",
            )
    start = np.array(robot.postures[posture], dtype=float)
    first = float(start[robot.index_q(robot.limbs[LEGS[0]][PITCH[1]])])
    knees = np.linspace(first, knee, KNOTS)
    pitches = _balanced_pitches(robot, start, knees)
    spline = CubicSpline(knees, pitches) if knee > first else CubicSpline(knees[::-1], pitches[::-1])

    times = np.linspace(0.0, count * period, round(10.0 * count * period) + 1)
    phase = 2.0 * np.pi * times / period
    angle = first + 0.5 * (knee - first) * (1.0 - np.cos(phase))
    rate = 0.5 * (knee - first) * np.sin(phase) * 2.0 * np.pi / period
    names = robot.joint_names
    positions = np.tile([start[robot.index_q(name)] for name in names], (len(times), 1))
    velocities = np.zeros_like(positions)
    for leg in LEGS:
        for column, joint in enumerate(PITCH):
            i = names.index(robot.limbs[leg][joint])
            positions[:, i] = spline(angle)[:, column]
            velocities[:, i] = spline(angle, 1)[:, column] * rate
    _check_limits(robot, positions)
    return JointTrajectory(names, times, positions, velocities)


def _balanced_pitches(robot: Robot, start: np.ndarray, knees: np.ndarray) -> np.ndarray:
    """(k, 3) hip, knee and ankle pitch for each knee angle, centre of mass kept over the feet."""
    hip, knee, ankle = (start[robot.index_q(robot.limbs[LEGS[0]][joint])] for joint in PITCH)
    total = hip + knee + ankle
    target = _forward_offset(robot, start)
    rows = []
    for angle in knees:

        def error(ankle: float, angle: float = angle) -> float:
            bent = _bent(robot, start, np.array([total - angle - ankle, angle, ankle]))
            return _forward_offset(robot, bent) - target

        try:
            ankle = brentq(error, ankle - 0.4, ankle + 0.4, xtol=1e-10)
        except ValueError:
            raise InputError(
                f"{angle:.3f} rad can't be reached in balance",
                element="knee",
                remedy="Choose a smaller knee angle",
            ) from None
        rows.append((total - angle - ankle, angle, ankle))
    return np.array(rows)


def _bent(robot: Robot, start: np.ndarray, pitches: np.ndarray) -> np.ndarray:
    """Return the posture with these hip, knee and ankle pitches in both legs."""
    q = start.copy()
    for leg in LEGS:
        for joint, angle in zip(PITCH, pitches, strict=True):
            q[robot.index_q(robot.limbs[leg][joint])] = angle
    return q


def _forward_offset(robot: Robot, q: np.ndarray) -> float:
    """Return how far the centre of mass is ahead of the right ankle, in the foot's frame [m]."""
    data = robot.model.createData()
    com = pin.centerOfMass(robot.model, data, q)
    foot = data.oMi[robot.model.getJointId(robot.limbs[LEGS[0]][-1])]
    return float(foot.actInv(com)[0])


def _check_limits(robot: Robot, positions: np.ndarray) -> None:
    for i, name in enumerate(robot.joint_names):
        lower = robot.limits.lower[robot.index_q(name)]
        upper = robot.limits.upper[robot.index_q(name)]
        low, high = positions[:, i].min(), positions[:, i].max()
        if low < lower or high > upper:
            raise InputError(
                f"needs {low:.3f} to {high:.3f} rad, limits are {lower:.3f} to {upper:.3f}",
                element=name,
                remedy="Choose a smaller knee angle",
            )
