# SPDX-License-Identifier: Apache-2.0
"""Checks of motions: what breaks a bound is named with its field, value and bound, and nothing else is."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from humanoid_control.execution.motion_check import MotionBounds, joint_faults, sole_faults, start_faults
from humanoid_model import Contact, Robot, Surface, load_robot
from humanoid_model.errors import InputError
from humanoid_model.joint_trajectory import JointTrajectory
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory

HEAD = ("HEAD_JOINT0", "HEAD_JOINT1")
UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def robot() -> Robot:
    return load_robot("hrp2", geometry=False)


def head(duration: float, effort: float = 0.0) -> JointTrajectory:
    """The head turns by 0.4 rad and back to rest."""
    zero, end = np.zeros((2, 2)), np.array([[0.0, 0.0], [0.4, 0.0]])
    return JointTrajectory(HEAD, [0.0, duration], end, zero, zero, efforts=np.full((2, 2), effort))


def test_a_motion_within_all_limits_has_no_fault(robot: Robot) -> None:
    bounds = MotionBounds(acceleration={"HEAD_JOINT0": 10.0})
    assert joint_faults(head(1.0), robot, bounds) == []


def test_a_peak_between_points_is_seen_and_the_speed_scales_it(robot: Robot) -> None:
    """A quintic's peak speed is 15/8 of its mean, its peak acceleration 10/√3 of Δ/T²: neither is at a point."""
    limit = float(robot.limits.velocity[robot.index_v("HEAD_JOINT0")])
    duration = 1.8 * 0.4 / limit
    (fault,) = joint_faults(head(duration), robot, MotionBounds())
    assert fault.element == "points[0].velocities"
    assert f"joint 'HEAD_JOINT0' has {15 / 8 * 0.4 / duration:.4g} at {duration / 2:.4g} s" in str(fault)
    assert f"Its limit is {limit:.4g}" in str(fault)
    assert joint_faults(head(duration), robot, MotionBounds(), speed=0.9) == []
    (fault,) = joint_faults(head(1.0), robot, MotionBounds(acceleration={"HEAD_JOINT0": 2.0}))
    assert fault.element == "points[0].accelerations"


def test_positions_and_efforts_beyond_their_limits_are_named(robot: Robot) -> None:
    high = float(robot.limits.upper[robot.index_q("HEAD_JOINT0")])
    path = JointTrajectory(HEAD, [0.0, 5.0], np.array([[0.0, 0.0], [high + 0.1, 0.0]]))
    (fault,) = joint_faults(path, robot, MotionBounds())
    assert (fault.element, fault.remedy) == ("points[1].positions", f"Its limit is {high:.4g}")
    faults = joint_faults(head(2.0, effort=1e3), robot, MotionBounds())
    assert [fault.element for fault in faults] == ["points[0].effort"] * 2


def test_an_unknown_joint_is_refused(robot: Robot) -> None:
    with pytest.raises(InputError, match=r"joint_names: 'TAIL' is no joint"):
        joint_faults(JointTrajectory(("TAIL",), [0.0], np.zeros((1, 1))), robot, MotionBounds())


def test_a_wrong_start_is_named_with_both_positions() -> None:
    (near, missing) = start_faults(head(1.0), {"HEAD_JOINT0": 0.1}, MotionBounds(start=0.05))
    assert "'HEAD_JOINT0' begins at 0, it is at 0.1. Begin within 0.05" in str(near)
    assert "'HEAD_JOINT1' isn't measured" in str(missing)


def motion(robot: Robot, moved: float, force: np.ndarray) -> WholeBodyTrajectory:
    """The robot shifts forwards with its base while both soles should be held."""
    q = np.tile(robot.default_posture, (3, 1))
    q[:, 0] += np.linspace(0.0, moved, 3)
    zero = np.zeros((3, robot.model.nv))
    floor = Surface("floor", "", pin.SE3.Identity())
    spans = [
        ContactSpan(Contact(robot.contacts[name], floor, 0.0, 0.0, 0.0), 0.0, 1.0)
        for name in ("left_sole", "right_sole")
    ]
    planned = [PlannedForce("left_sole", "floor", np.zeros(3), UP, force, 0.5)]
    return WholeBodyTrajectory(robot, [0.0, 0.5, 1.0], q, zero, zero, spans, forces=[planned] * 3)


def test_a_sole_that_moves_while_it_is_held_slips(robot: Robot) -> None:
    inside = np.array([40.0, 0.0, 100.0])
    assert sole_faults(motion(robot, 0.004, inside), MotionBounds(slip=0.005)) == []
    faults = sole_faults(motion(robot, 0.02, inside), MotionBounds(slip=0.005))
    assert [fault.element for fault in faults] == ["contacts[0]", "contacts[1]"]
    assert "'left_sole' moves 0.02 m from 0 to 1 s, while it is held. The bound is 0.005 m." in str(faults[0])


def test_a_force_outside_its_friction_cone_slips(robot: Robot) -> None:
    (fault,) = sole_faults(motion(robot, 0.0, np.array([60.0, 0.0, 100.0])), MotionBounds())
    assert fault.element == "forces[0].contacts[0].force"
    assert "60 N act along the surface at 0 s, 100 N press. Friction 0.5 holds up to 50 N." in str(fault)
    (fault,) = sole_faults(motion(robot, 0.0, np.array([0.0, 0.0, -1.0])), MotionBounds())
    assert "-1 N press" in str(fault)
