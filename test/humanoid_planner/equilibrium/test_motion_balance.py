# SPDX-License-Identifier: Apache-2.0
"""Balance along a motion, against the zero-moment point of inverse dynamics."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_model import Contact, Robot, Surface, load_robot
from humanoid_model.convex_polygon import convex_hull
from humanoid_model.errors import InputError
from humanoid_model.whole_body_dynamics import multibody_zero_moment_point
from humanoid_model.whole_body_trajectory import ContactSpan, WholeBodyTrajectory
from humanoid_planner.equilibrium.force_distribution import MotionBalance
from humanoid_planner.equilibrium.support_polygon import SupportPolygon

pytestmark = pytest.mark.feature("000-F029")

FLOOR = Surface("floor", "", pin.SE3.Identity())


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2", geometry=False)


def swaying(robot: Robot, acceleration: float, *soles: str, along: int = 0) -> WholeBodyTrajectory:
    """A motion that accelerates the whole robot forwards, or along another coordinate of its base."""
    q = np.tile(robot.default_posture, (2, 1))
    v, a = np.zeros((2, robot.model.nv)), np.zeros((2, robot.model.nv))
    a[:, along] = acceleration
    spans = [ContactSpan(Contact(robot.contacts[name], FLOOR, 0.0, 0.0, 0.0), 0.0, 1.0) for name in soles]
    return WholeBodyTrajectory(robot, [0.0, 1.0], q, v, a, spans)


@pytest.mark.parametrize(
    ("along", "acceleration"),
    [
        *((0, forwards) for forwards in (-3.0, -1.5, -1.0, 0.0, 0.5, 1.0, 1.5, 3.0)),
        *((4, pitching) for pitching in (-20.0, -8.0, -4.0, 4.0, 8.0, 20.0)),
    ],
)
def test_there_is_balance_where_the_zero_moment_point_is_within_the_soles(
    robot: Robot, along: int, acceleration: float
) -> None:
    """On the level, with friction that doesn't matter, both say the same; pitching needs a moment."""
    motion = swaying(robot, acceleration, "left_sole", "right_sole", along=along)
    q, v, a = motion.q[0], motion.v[0], motion.a[0]
    points, _ = multibody_zero_moment_point(robot.model, q[None], v[None], a[None])
    placements = robot.link_placements(q)
    corners = [
        placements[span.contact.location.link].act(corner)[:2]
        for span in motion.contacts
        for corner in span.corners_link
    ]
    inside = SupportPolygon.of_points(convex_hull(np.array(corners))).margin(points[0]) > 0.0
    assert (MotionBalance(motion, 2.0).margin(0.5) > 0.0) == inside


def test_speed_scales_the_inertia_and_none_is_static_equilibrium(robot: Robot) -> None:
    balance = MotionBalance(swaying(robot, 3.0, "left_sole", "right_sole"), 2.0)
    assert balance.margin(0.5) < 0.0 < balance.margin(0.5, speed=0.3)
    still = MotionBalance(swaying(robot, 0.0, "left_sole", "right_sole"), 2.0)
    assert balance.margin(0.5, speed=0.0) == pytest.approx(still.margin(0.5))


def test_one_foot_of_two_is_not_enough_and_neither_is_none(robot: Robot) -> None:
    assert MotionBalance(swaying(robot, 0.0, "left_sole"), 0.7).margin(0.5) < 0.0
    balance = MotionBalance(swaying(robot, 0.0, "left_sole", "right_sole"), 0.7)
    assert balance.bearing(0.5) == ("left_sole", "right_sole")
    with pytest.raises(InputError, match="has no contacts"):
        MotionBalance(swaying(robot, 0.0), 0.7)


def test_heel_and_toe_are_edges_of_a_sole(robot: Robot) -> None:
    sole = robot.contacts["left_sole"]
    span = ContactSpan(Contact(sole, FLOOR, 0.0, 0.0, 0.0), 0.0, 1.0, "toe")
    assert sorted(map(tuple, span.corners_link)) == sorted(
        tuple(corner) for corner in sole.vertices_link if corner[0] > sole.vertices_link[:, 0].mean()
    )
