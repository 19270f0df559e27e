# SPDX-License-Identifier: Apache-2.0
"""Balance on one contact whose place isn't known before the posture is."""

from __future__ import annotations

import math

import numpy as np

from humanoid_model.checks import check_number
from humanoid_model.contact import ContactLocation
from humanoid_model.errors import InputError
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture.tasks.geometric_rows import COM
from humanoid_planner.posture.tasks.geometric_task import GeometricTask, Row


class CentreOfMassOverPatch(GeometricTask):
    """The centre of mass is above one contact patch, wherever that is (3.63, E-07).

    The robot then stands on this contact alone. The edges move with the patch, which other tasks keep horizontal; so
    a sliding contact needs no force variables to be balanced on.
    """

    def __init__(self, kinematics: RobotKinematics, location: ContactLocation, margin: float = 0.0) -> None:
        """Make the task.

        Args:
            kinematics: of the robot.
            location: with a patch of at least three points.
            margin: distance to keep from the patch's edges [m].

        Raises:
            InputError: a patch without area, or a margin that isn't a number of at least 0.
        """
        check_number(margin, "margin")
        patch = np.asarray(location.patch, dtype=float)
        if len(patch) < 3:
            raise InputError(
                f"the patch of '{location.name}' has {len(patch)} points",
                element="centre of mass over a patch",
                remedy="Give a location with a face",
            )
        body, placement_body_link = kinematics.body_of(location.link)
        placement = placement_body_link * location.placement_link_patch
        rows = []
        for edge, (start, end) in enumerate(zip(patch, np.roll(patch, -1, axis=0), strict=True)):
            outward = np.array([end[1] - start[1], start[0] - end[0], 0.0]) / np.linalg.norm(end - start)
            rows.append(
                Row(
                    COM,
                    f"edge {edge}",
                    -math.inf,
                    -margin,
                    b=body,
                    Q=placement.act(np.array([*start, 0.0])),
                    w=placement.rotation @ outward,
                )
            )
        super().__init__(f"centre of mass over {location.name}", rows)
