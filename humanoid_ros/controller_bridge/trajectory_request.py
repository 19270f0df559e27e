# SPDX-License-Identifier: Apache-2.0
"""Whole-body trajectories of clients, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import humanoid_stack.msg as messages
import numpy as np
from numpy.typing import NDArray

from humanoid_control.execution.motion_check import joint_faults, sole_faults, start_faults
from humanoid_control.execution.soft_stop import StopPlace, stop_places
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory, PathPlace
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory
from humanoid_planner.equilibrium.force_distribution import MotionBalance
from humanoid_ros.controller_bridge.bridge_settings import BridgeSettings
from humanoid_ros.messages.received_motion import SHOWN, read_motion


@dataclass(frozen=True)
class CheckedMotion:
    """A trajectory that may be executed.

    Attributes:
        path: of its joints.
        balance: along it; None where contacts aren't given.
        stops: where a robot that stands on contacts can be stopped; None where contacts aren't given.
        acceleration: (n,) bound of each joint while it is stopped [rad/s² or m/s²]; infinite: none.
        whole: the motion of the whole robot; None where contacts aren't given.
    """

    path: JointTrajectory
    balance: MotionBalance | None
    stops: tuple[StopPlace, ...] | None
    acceleration: NDArray[np.float64]
    whole: WholeBodyTrajectory | None

    def keeps_acceleration_bounds(self, position: float, speed: float, acceleration: float) -> bool:
        """Whether no joint accelerates beyond its bound at a place, a speed and an acceleration along the path."""
        _, asked = PathPlace(position, speed, acceleration).rates(*self.path.at(position)[1:])
        return bool((np.abs(asked) <= self.acceleration).all())


class StartError(InputError):
    """The robot isn't where the trajectory begins."""


def check_motion(
    message: messages.WholeBodyTrajectory, measured: Mapping[str, float], settings: BridgeSettings, speed: float
) -> CheckedMotion:
    """Read and check a trajectory.

    Args:
        message: what a client sent.
        measured: positions of joints by name [rad or m].
        settings: of the bridge.
        speed: along the path, as a share of the trajectory's own.

    Raises:
        StartError: the robot isn't where it begins.
        InputError: something else of it can't be executed; field, value and bound are named.
    """
    robot = settings.robot
    path, motion = read_motion(message, robot, measured)
    faults = joint_faults(path, robot, settings.bounds, speed)
    balance = None
    if motion is not None:
        faults += sole_faults(motion, settings.bounds)
        if motion.contacts and robot.base_joint is not None:
            balance = MotionBalance(motion, settings.balance.friction)
            faults += _unbalanced(motion, balance, settings.balance.margin, speed)
    _raise(faults, InputError)
    _raise(start_faults(path, measured, settings.bounds), StartError)
    highest = np.array([settings.bounds.acceleration.get(name, np.inf) for name in path.joint_names])
    checked = CheckedMotion(path, balance, None, highest, motion)
    if balance is None:
        return checked

    def margin(position: float, speed: float, acceleration: float) -> float:
        if acceleration < -timing.acceleration and not checked.keeps_acceleration_bounds(position, speed, acceleration):
            return -np.inf
        return balance.margin(position, speed, acceleration)

    timing, least = settings.timing, settings.balance.stop_margin
    stops = stop_places(path.end_time, speed, (timing.braking, timing.acceleration), margin, least)
    return replace(checked, stops=stops)


def _raise(faults: list[InputError], kind: type[InputError]) -> None:
    """Raise the first of several faults; its remedy names the others."""
    if not faults:
        return
    first, *others = faults
    remedy = first.remedy
    if others:
        more = f"; and {len(others) - SHOWN + 1} more" if len(others) >= SHOWN else ""
        remedy = f"{remedy}. Likewise {'; '.join(str(fault).rstrip('.') for fault in others[: SHOWN - 1])}{more}"
    raise kind(first.problem, element=f"trajectory.{_field(first)}", remedy=remedy)


def _field(fault: InputError) -> str:
    element = fault.element or ""
    return f"joints.{element}" if element.startswith(("points", "joint_names")) else element


def _unbalanced(motion: WholeBodyTrajectory, balance: MotionBalance, least: float, speed: float) -> list[InputError]:
    """Return the sample with the smallest margin, if that is too small."""
    margins = [balance.margin(float(time), speed) for time in motion.times]
    k = int(np.argmin(margins))
    if margins[k] >= least:
        return []
    return [
        InputError(
            f"the contacts can't give the forces of the motion at {motion.times[k]:.4g} s at {speed:g} of its speed: "
            f"margin {margins[k]:.4g} N",
            element="contacts",
            remedy=f"The margin has to be {least:g} N",
        )
    ]
