# SPDX-License-Identifier: Apache-2.0
"""Criteria that keep the centre of mass amid what the contacts can hold (specification 001 section 4.5, K5, K6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.centre_of_mass_region import centre_of_mass_region
from humanoid_planner.equilibrium.contact_points import ContactPoints
from humanoid_planner.equilibrium.support_polygon import SupportPolygon
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.problem.criterion import CentreOfMassNear
from humanoid_planner.posture.problem.force_model import ForceModel
from humanoid_planner.posture.problem.placed_contact import PlacedContact
from humanoid_planner.posture.tasks.stability import contact_points

#: How well the region of centres of mass in equilibrium is known, with some room [m].
_REGION_TOLERANCE = 2e-3


def centre_in_polygon(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: ArrayLike
) -> CentreOfMassNear:
    """K5: the centre of mass near the centre of the largest circle in the support polygon.

    Args:
        kinematics: of the robot.
        contacts: of the stance.
        gravity: (3,) [m/s^2].

    Raises:
        InputError: no contact bears load, or one has no place that is known before the posture is.
    """
    points = _bearing(kinematics, contacts, gravity)
    return CentreOfMassNear(SupportPolygon.of_points(points.positions).largest_circle()[0])


def centre_in_wrenches(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: ArrayLike
) -> CentreOfMassNear:
    """K6: the weight's wrench near the centre of the largest ball in the wrenches that the contacts can bear.

    Of the wrench only the weight's moment changes with the posture, and with it the horizontal place of the centre of
    mass: the ball is a circle in the region of those that are in equilibrium.

    Args:
        kinematics: of the robot.
        contacts: of the stance.
        gravity: (3,) [m/s^2].

    Raises:
        InputError: as for the polygon, or the contacts can hold the weight nowhere.
    """
    points = _bearing(kinematics, contacts, gravity)
    region = centre_of_mass_region(points, kinematics.total_mass, gravity=np.asarray(gravity, dtype=float))
    if len(region) == 0:
        raise InputError(
            "nowhere can the contacts hold the robot's weight", element="criterion", remedy="Give other contacts"
        )
    polygon = SupportPolygon.of_points(region)
    centre, radius = polygon.largest_circle()
    if radius > _REGION_TOLERANCE:
        # In what is a rectangle but for the tolerance the very largest circle may be at either end.
        centre = polygon.shrunk(radius - _REGION_TOLERANCE).vertices.mean(axis=0)
    return CentreOfMassNear(centre)


def _bearing(
    kinematics: RobotKinematics, contacts: Sequence[PlacedContact], gravity: ArrayLike
) -> ContactPoints:
    gravity_vector: NDArray[np.float64] = np.asarray(gravity, dtype=float)
    model = ForceModel(kinematics, contacts, (), gravity_vector)
    if not model.points:
        raise InputError("no contact bears load", element="criterion", remedy="Give a contact that does")
    return contact_points(model)
