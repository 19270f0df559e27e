# SPDX-License-Identifier: Apache-2.0
"""A gait as a motion of the whole robot: what players, the stabiliser and messages take."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from humanoid_model.contact import Contact, Surface
from humanoid_model.robot import Robot
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_studies.planar_gait.lift.lifted_gait import LiftedGait
from humanoid_studies.planar_gait.trajectory.contact_schedule import ContactInterval
from humanoid_studies.planar_gait.trajectory.gait_trajectory import GaitTrajectory
from humanoid_studies.planar_gait.trajectory.planned_forces import GROUND, lifted_forces, planned_forces

_GROUND = Surface(GROUND, GROUND, pin.SE3.Identity())
_PLANAR_BASE = 3
"""Model joint that carries the base of a robot whose base slides along x and z and turns about y."""


def gait_motion(
    trajectory: GaitTrajectory, robot: Robot, friction: float, lifted: LiftedGait | None = None
) -> WholeBodyTrajectory:
    """Return the motion of a gait, with forces and zero-moment point.

    Args:
        trajectory: of the gait.
        robot: whose it is.
        friction: coefficient of the ground.
        lifted: what the trajectory was made of in space; None for one in the sagittal plane.
    """
    if lifted is not None:
        forces = list(lifted_forces(lifted, friction))
        moments = np.concatenate([phase.zmp for phase in lifted.phases])
        heights = np.zeros(len(moments))
    else:
        # Legs move in planes of their own: their soles keep their places across.
        links = robot.link_placements(trajectory.q[0])
        soles = [robot.contacts[foot] for foot in trajectory.feet]
        across = np.array([(links[sole.link] * sole.placement_link_patch).translation[1] for sole in soles])
        forces = [planned_forces(trajectory, k, friction, across.tolist()) for k in range(len(trajectory.times))]
        with np.errstate(divide="ignore", invalid="ignore"):
            middle = (trajectory.normal.sum(axis=2) @ across) / trajectory.total_normal
        moments = np.column_stack([trajectory.centre_of_pressure, middle])
        heights = trajectory.places[..., 1].min(axis=(1, 2))
    return WholeBodyTrajectory(
        robot,
        trajectory.times,
        trajectory.q,
        trajectory.v,
        trajectory.acceleration,
        [_span(trajectory, robot, item) for item in trajectory.contacts],
        tau=trajectory.tau,
        forces=forces,
        zero_moment_point=np.column_stack([moments, heights]),
        base=_PLANAR_BASE if robot.base_joint is None else None,
    )


def _span(trajectory: GaitTrajectory, robot: Robot, item: ContactInterval) -> ContactSpan:
    """Return a contact where the foot is in the middle of its time."""
    location = robot.contacts[item.foot]
    middle = int(np.searchsorted(trajectory.times, 0.5 * (item.start + item.end)))
    place = robot.link_placements(trajectory.q[middle])[location.link] * location.placement_link_patch
    x, y, _ = place.translation
    theta = float(np.arctan2(place.rotation[1, 0], place.rotation[0, 0]))
    return ContactSpan(Contact(location, _GROUND, float(x), float(y), theta), item.start, item.end, item.part)
