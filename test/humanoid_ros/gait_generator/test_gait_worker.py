# SPDX-License-Identifier: Apache-2.0
"""Answers to requests for gaits without the node."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration
from humanoid_stack.msg import Gait, GaitRequest

from humanoid_model import load_robot
from humanoid_model.errors import InputError
from humanoid_model.progress import Progress
from humanoid_ros.gait_generator.gait_markers import times_of
from humanoid_ros.gait_generator.gait_replay import trajectory_posture
from humanoid_ros.messages.conversions import array
from test.humanoid_ros.gait_generator.conftest import COARSE, answered

pytestmark = pytest.mark.feature("003-F031", "003-F111")


def test_a_gait_comes_with_its_parts_and_proof(gait: Gait, told: list[Progress]) -> None:
    assert (gait.robot, gait.header.frame_id, gait.trajectory.robot) == ("hrp2", "world", "hrp2")
    (part,) = gait.parts
    assert (part.name, part.success, part.message, part.proven) == ("cycle", True, "", True)
    assert list(part.durations) == [0.15, 0.6]
    assert gait.cost == pytest.approx(3 * part.cost)
    assert gait.duration == pytest.approx(2.25)
    assert gait.speed == pytest.approx(0.2 / 0.75)
    assert gait.cost_of_transport == pytest.approx(
        gait.energy / (9.81 * load_robot("hrp2", geometry=False).total_mass * gait.distance)
    )
    assert max(part.maximum, part.adjoint, part.ends) < 1e-4
    assert not gait.violations
    assert part.iterations > 3
    assert {item.stage for item in told} == {"cycle: iterates", "cycle: proves"}


def test_the_motion_is_what_players_take(gait: Gait) -> None:
    """Pinocchio's dynamics of the whole robot under the message's forces and efforts is its motion."""
    robot = load_robot("hrp2", geometry=False)
    held = {contact.location for phase in gait.trajectory.contacts for contact in phase.stance.contacts}
    assert held == {"left_sole", "right_sole"}
    times = times_of(gait.trajectory)
    assert (np.diff(times) > 0.0).all()
    assert times[-1] == pytest.approx(gait.duration)
    model, data = robot.model, robot.model.createData()
    columns = [robot.index_v(name) for name in gait.trajectory.joints.joint_names]
    for k in range(1, len(times) - 1, 7):
        point, twist = gait.trajectory.joints.points[k], gait.trajectory.base_twist[k]
        q, v, a = trajectory_posture(gait.trajectory, robot, k), np.zeros(model.nv), np.zeros(model.nv)
        v[:6] = *array(twist.linear), *array(twist.angular)
        v[columns], a[columns] = point.velocities, point.accelerations
        pin.computeAllTerms(model, data, q, v)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        loads = np.zeros(model.nv)
        for force in gait.trajectory.forces[k].contacts:
            joint = robot.parts.links[force.body_a.partition("/")[2]].joint_id
            J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
            lever = array(force.position) - data.oMi[joint].translation
            loads += (J[:3] - pin.skew(lever) @ J[3:]).T @ array(force.force)
        a[:6] = np.linalg.solve(M[:6, :6], loads[:6] - data.nle[:6] - M[:6, 6:] @ a[6:])
        efforts = (M @ a + data.nle - loads)[columns]
        np.testing.assert_allclose(efforts, point.effort, atol=0.05, err_msg=f"{times[k]:.3f} s")


def test_the_robots_shapes_are_there_where_parts_keep_apart() -> None:
    limit = Duration(nanosec=10_000_000)
    answer, _ = answered(GaitRequest(**COARSE, apart=0.01, time_limit=limit))
    assert not answer.success
    assert "time" in answer.message


def test_what_is_not_solved_comes_with_its_reason() -> None:
    answer, gait = answered(GaitRequest(**COARSE), lambda item: item.iteration > 0)
    assert not answer.success
    assert answer.message.startswith("cycle: the solver says: it was cancelled")
    (part,) = gait.parts
    assert not part.success
    assert gait.trajectory.joints.points
    assert gait.violations
    assert part.message in answer.message


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"robot": "nobody"}, "'nobody'"),
        ({"robot": "/dev/zero"}, "robot: '/dev/zero'"),
        ({"robot": "robot_2r_a"}, "robot 'robot_2r_a': has no two soles"),
        ({"steps": 2000}, "steps: is 2000"),
        ({"single_support": [-1.0]}, "single_support: is -1"),
        ({"turn": 0.3, "slope": 0.1}, "turn: is 0.3. Turn on level ground"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(fields: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        answered(GaitRequest(**{**COARSE, **fields}))
    assert said in str(refused.value)
