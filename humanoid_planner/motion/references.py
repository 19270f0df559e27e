# SPDX-License-Identifier: Apache-2.0
"""What a stabiliser is told of a motion (specification 001 section 8.6)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import WholeBodyTrajectory


class WaistReferences(NamedTuple):
    """References of K samples.

    Attributes:
        zero_moment_point: (K, 3) projection of the centre of mass onto the height where forces act, in the waist's
            frame [m].
        orientation: (K, 3) roll, pitch and yaw of the waist [rad].
    """

    zero_moment_point: Array
    orientation: Array


def waist_references(trajectory: WholeBodyTrajectory) -> WaistReferences:
    """Return references in the frame of the base link.

    Raises:
        InputError: a robot without floating base, or a motion without a planned zero-moment point, which tells the
            height.
    """
    robot, planned = trajectory.robot, trajectory.zero_moment_point
    if robot.base_joint is None or planned is None:
        raise InputError(
            "has no floating base or no planned zero-moment point",
            element="trajectory",
            remedy="Give what generate_motion returns",
        )
    data = robot.model.createData()
    points, turns = [], []
    for q, point in zip(trajectory.q, planned, strict=True):
        centre = pin.centerOfMass(robot.model, data, q)
        waist = robot.placement_base(q)
        points.append(waist.actInv(np.array([centre[0], centre[1], point[2]])))
        turns.append(pin.rpy.matrixToRpy(waist.rotation))
    return WaistReferences(np.array(points), np.array(turns))


def stabiliser_events(trajectory: WholeBodyTrajectory) -> list[tuple[float, bool]]:
    """Return when a stabiliser of the feet goes off and on again, as time and state [s].

    It is off while anything but soles bears. A contact that is new or about to go bears nothing in the plan's posture,
    which balances without it: there it is switched.
    """
    hands = [
        (span.start, span.end)
        for span in trajectory.contacts
        if span.contact.kind.bears and not span.contact.location.support
    ]
    events: list[tuple[float, bool]] = []
    until = -np.inf
    for start, end in sorted(hands):
        if start > until:
            if events:
                events.append((float(until), True))
            events.append((float(start), False))
        until = max(until, end)
    return [*events, (float(until), True)] if events else []
