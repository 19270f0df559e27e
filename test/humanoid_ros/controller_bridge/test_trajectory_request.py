# SPDX-License-Identifier: Apache-2.0
"""A motion that comes as a message is judged as the one that was sent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from humanoid_control.execution.motion_check import MotionBounds
from humanoid_model import Contact, Surface
from humanoid_model.errors import InputError
from humanoid_model.whole_body_trajectory import ContactSpan, PlannedForce, WholeBodyTrajectory
from humanoid_planner.equilibrium.force_distribution import MotionBalance
from humanoid_ros.controller_bridge.bridge_settings import BalanceSettings, BridgeSettings, load_bridge_settings
from humanoid_ros.controller_bridge.trajectory_request import check_motion
from humanoid_ros.messages.motion_messages import whole_body_message

pytestmark = pytest.mark.ros
TIMES = np.round(np.linspace(0.0, 1.4, 281), 3)
CHANGE = 0.7
FLOOR = Surface("floor", "", pin.SE3.Identity())


@pytest.fixture(scope="module")
def settings() -> BridgeSettings:
    """HRP-2's, that take any balance and any slip."""
    loaded = load_bridge_settings("hrp2")
    return replace(loaded, bounds=MotionBounds(slip=1.0), balance=BalanceSettings(friction=0.7, margin=-1e9))


def sway(settings: BridgeSettings, forces: tuple[PlannedForce, ...] = ()) -> WholeBodyTrajectory:
    """The base is driven forwards, and back from the moment on at which the right foot is on its toe."""
    robot = settings.robot
    late = TIMES >= CHANGE - 1e-9
    q = np.tile(robot.default_posture, (len(TIMES), 1))
    v, a = np.zeros((len(TIMES), robot.model.nv)), np.zeros((len(TIMES), robot.model.nv))
    a[:, 0] = np.where(late, -0.4, 0.4)
    v[:, 0] = np.where(late, 0.4 * (2.0 * CHANGE - TIMES), 0.4 * TIMES)
    q[:, 0] += np.where(late, 0.4 * CHANGE**2 - 0.2 * (2.0 * CHANGE - TIMES) ** 2, 0.2 * TIMES**2)
    left, right = (Contact(robot.contacts[f"{side}_sole"], FLOOR, 0.0, 0.0, 0.0) for side in ("left", "right"))
    spans = [
        ContactSpan(left, 0.0, 1.4),
        ContactSpan(right, 0.0, CHANGE),
        ContactSpan(right, CHANGE, 1.4, "toe"),
    ]
    return WholeBodyTrajectory(robot, TIMES, q, v, a, spans, forces=[forces] * len(TIMES) if forces else ())


def measured(motion: WholeBodyTrajectory) -> dict[str, float]:
    return dict(zip(motion.joint_names, motion.positions[0], strict=True))


@pytest.mark.parametrize("twist", [True, False])
def test_its_balance_is_that_of_the_motion_also_where_accelerations_jump(
    settings: BridgeSettings, twist: bool
) -> None:
    motion = sway(settings)
    message = whole_body_message(motion, "world")
    if not twist:
        message.base_twist = []
    checked = check_motion(message, measured(motion), settings, 1.0)
    assert checked.balance is not None
    expected = MotionBalance(motion, 0.7)
    inner = TIMES[3:-3] if twist else [time for time in TIMES[3:-3] if abs(time - CHANGE) > 0.02]
    for time in inner:
        just_after = float(time) + 1e-7  # times of messages are whole nanoseconds
        assert checked.balance.margin(just_after) == pytest.approx(expected.margin(just_after), abs=0.5), time
    assert checked.balance.bearing(1.0) == ("left_sole", "right_sole")


def test_what_loses_its_balance_is_refused_with_time_margin_and_bound(settings: BridgeSettings) -> None:
    motion = sway(settings)
    worst = min(MotionBalance(motion, 0.7).margin(float(time)) for time in TIMES)
    strict = replace(settings, balance=replace(settings.balance, margin=worst + 5.0))
    with pytest.raises(InputError, match=r"trajectory.contacts: the contacts can't give the forces of the motion at"):
        check_motion(whole_body_message(motion, "world"), measured(motion), strict, 1.0)


def test_planned_forces_and_held_corners_are_looked_at(settings: BridgeSettings) -> None:
    up = np.array([0.0, 0.0, 1.0])
    force = PlannedForce("left_sole", "floor", np.zeros(3), up, np.array([0.0, 300.0, 400.0]), 0.5)
    motion = sway(settings, (force,))
    with pytest.raises(InputError, match=r"forces\[0\].contacts\[0\].force: on 'left_sole' 300 N act along"):
        check_motion(whole_body_message(motion, "world"), measured(motion), settings, 1.0)
    still = replace(settings, bounds=MotionBounds())
    with pytest.raises(InputError, match=r"contacts\[\d\]: 'left_sole' moves 0.196 m from 0 to 1.4 s"):
        check_motion(whole_body_message(sway(settings), "world"), measured(motion), still, 1.0)


def test_contacts_have_to_be_the_robots_own(settings: BridgeSettings) -> None:
    motion = sway(settings)
    message = whole_body_message(motion, "world")
    message.contacts[1].stance.contacts[0].location = "tail"
    with pytest.raises(InputError, match=r"contacts\[1\].stance.contacts\[0\].location: 'tail' is none of hrp2's"):
        check_motion(message, measured(motion), settings, 1.0)
