# SPDX-License-Identifier: Apache-2.0
"""What postures have to fulfil: contacts, places of links, stability."""

from humanoid_planner.posture.tasks.link_tasks import (
    axis_along,
    centre_of_mass_at,
    frame_at,
    gaze,
    joint_at,
    orientation,
    point_at,
    point_beyond,
    point_in_slab,
    relative_frame,
)
from humanoid_planner.posture.tasks.stability import CentreOfMassOverPatch
from humanoid_planner.posture.tasks.task import GeometricTask, Row, Task

__all__ = [
    "CentreOfMassOverPatch",
    "GeometricTask",
    "Row",
    "Task",
    "axis_along",
    "centre_of_mass_at",
    "frame_at",
    "gaze",
    "joint_at",
    "orientation",
    "point_at",
    "point_beyond",
    "point_in_slab",
    "relative_frame",
]
