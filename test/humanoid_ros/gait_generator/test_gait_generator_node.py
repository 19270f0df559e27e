# SPDX-License-Identifier: Apache-2.0
"""The gait generator node over DDS: gaits, states, progress, cancel, what it shows, what it refuses, how it ends."""

from __future__ import annotations

import math
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from action_msgs.msg import GoalStatus  # noqa: E402
from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray  # noqa: E402
from fixtures.gait_oracles import ORACLES  # noqa: E402
from fixtures.gait_requests import BIP, cycle, double, single, step_message  # noqa: E402
from geometry_msgs.msg import Point, PoseStamped, Vector3  # noqa: E402
from humanoid_stack.action import GenerateGait as GaitAction  # noqa: E402
from humanoid_stack.msg import (  # noqa: E402
    ContactForces,
    Gait,
    GaitBounds,
    GaitObstacle,
    GaitPhase,
    GaitPhaseRequest,
    GaitRequest,
    GaitRest,
    GaitSolverOptions,
    GaitStage,
    GaitStep,
    GaitWeights,
    WholeBodyTrajectory,
)
from humanoid_stack.srv import ComputeGaitStates, GenerateGait  # noqa: E402
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402
from visualization_msgs.msg import MarkerArray  # noqa: E402

from humanoid_model import Robot, load_robot  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_planner.gait.models.bip import load_bip  # noqa: E402
from humanoid_planner.gait.models.five_bar import load_five_bar  # noqa: E402
from humanoid_planner.gait.models.rabbit import load_rabbit  # noqa: E402
from humanoid_planner.gait.specification import seven_link  # noqa: E402
from humanoid_planner.gait.specification.step_data import load_walk  # noqa: E402
from humanoid_ros.gait_generator.gait_replay import trajectory_posture  # noqa: E402
from test.humanoid_ros.conftest import wait_until  # noqa: E402

pytestmark = pytest.mark.ros
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
NAN = float("nan")
STEP = step_message("rabbit")
DIRECT = GaitSolverOptions(method="direct")  # takes the least time
DOUBLE, SINGLE = GaitPhaseRequest.DOUBLE_SUPPORT, GaitPhaseRequest.SINGLE_SUPPORT


def generated(node: Any, request: GaitRequest) -> Any:
    return node.call(GenerateGait, "generate_gait", GenerateGait.Request(request=request), 200.0)


def five_bar(case: str = "5bar_B", **changes: Any) -> GaitRequest:
    """A reference solution of the five-bar mechanism as a request."""
    tree = load_five_bar().phase().tree
    states = []
    for end in ("x0", "x1"):
        x = np.array(ORACLES[case][end])
        states.append([*x[:4], *tree.velocity(x[:4], x[4:])])
    fields: dict[str, Any] = {"initial_state": states[0], "final_state": states[1], "duration": ORACLES[case]["T"]}
    fields.update({name: changes.pop(name) for name in ("free_initial", "free_final") if name in changes})
    sizes = GaitWeights(control_sizes=[1e-2] * 7)
    request = {"model": "five_bar", "phases": [GaitPhaseRequest(**fields)], "weights": sizes}
    return GaitRequest(**{**request, **changes})


def converged(answer: Any) -> bool:
    """Return whether all phases are solved, kept limits or not."""
    return bool(answer.success or answer.message.startswith("converged, but "))


@pytest.fixture(scope="module")
def rabbit(gait_generator: Any) -> Any:
    """The answer to RABBIT's published step, twice in a row."""
    answer = generated(gait_generator, cycle(cycles=2))
    assert converged(answer), answer.message
    return answer


# Gaits ------------------------------------------------------------------------------------------------------------


def test_a_gait_comes_with_what_proves_it(rabbit: Any) -> None:
    walk = load_walk("rabbit")
    gait = rabbit.gait
    assert (gait.model, gait.header.frame_id) == ("rabbit", "world")
    assert [phase.kind for phase in gait.phases] == [DOUBLE, SINGLE]
    assert gait.duration == pytest.approx(walk.duration)
    assert gait.distance == pytest.approx(walk.step.step_length)
    assert gait.speed == pytest.approx(walk.mean_speed)
    assert gait.cost == pytest.approx(sum(phase.report.cost for phase in gait.phases))
    weight = 9.81 * load_rabbit().double_support(0.45).tree.mass
    energy = sum(phase.report.energy for phase in gait.phases)
    assert gait.cost_of_transport == pytest.approx(energy / (weight * gait.distance), rel=1e-9)
    assert gait.max_velocity_jump < 1e-8
    assert gait.phases[1].start == pytest.approx(walk.double_support)
    for phase in gait.phases:
        rows, n, m = len(phase.times), len(phase.coordinate_names), len(phase.control_names)
        assert phase.status != GaitPhase.NOT_CONVERGED
        assert len(phase.coordinates) == len(phase.rates) == len(phase.momenta) == rows * n
        assert len(phase.controls) == rows * m
        assert len(phase.costates) == 2 * rows * n
        assert phase.report.hamiltonian_spread < 1e-4
        assert phase.report.transversality == 0.0
        assert phase.report.closure < 1e-3
        assert phase.report.positive_energy > 0.0 > phase.report.negative_energy
        work = phase.report.positive_energy - phase.report.negative_energy
        assert phase.report.energy == pytest.approx(work, rel=1e-3)
        assert len(phase.report.max_torques) == len(phase.report.max_rates) == 4
        assert phase.time > 0.0
    first, second = gait.phases
    rear = np.array(first.rear_force).reshape(-1, 2)
    front = np.array(first.front_force).reshape(-1, 3)
    assert (first.report.min_normal_rear, first.report.min_normal_heel) == (rear[:, 1].min(), front[:, 0].min())
    assert math.isnan(first.report.min_normal_toe)
    assert not second.front_force
    assert math.isnan(first.report.clearance)
    assert second.report.clearance > -1e-3
    # The stance tip would have to pull: told as a status, with when and by how much, and in the message.
    assert second.status == GaitPhase.CONTACT_VIOLATION
    (worst, *_) = second.report.violations
    assert "unilaterality of stance_tip normal" in worst.constraint
    assert (worst.value, worst.bound) == (pytest.approx(second.report.min_normal_rear), 0.0)
    assert "phases[1]: contact violation" in rabbit.message


def test_the_trajectory_is_the_robots(rabbit: Any) -> None:
    trajectory, robot = rabbit.gait.trajectory, load_robot("rabbit")
    walk = load_walk("rabbit")
    assert trajectory.robot == "rabbit"
    assert set(trajectory.joints.joint_names) == {"rear_hip", "rear_knee", "front_hip", "front_knee"}
    points = trajectory.joints.points
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in points])
    assert (np.diff(times) > 0.0).all()
    assert times[-1] == pytest.approx(2.0 * walk.duration)
    assert len(trajectory.base) == len(trajectory.forces) == len(trajectory.zero_moment_point) == len(points)
    positions = np.array([p.positions for p in points])
    velocities = np.array([p.velocities for p in points])
    slopes = np.gradient(positions, times, axis=0)
    np.testing.assert_allclose(slopes[2:-2], velocities[2:-2], atol=0.4)
    # Two steps: the legs change parts, the hip advances by two step lengths.
    assert trajectory.base[-1].position.x - trajectory.base[0].position.x == pytest.approx(0.9)
    half = len(points) // 2
    names = list(trajectory.joints.joint_names)
    order = [names.index(n.replace("rear", "FRONT").replace("front", "rear").replace("FRONT", "front")) for n in names]
    np.testing.assert_allclose(positions[half][order], positions[0], atol=0.05)
    # What the ground gives accelerates the robot: its sum over a step is the weight, as the gait is cyclic.
    normal = np.array([sum(force.force.z for force in item.contacts) for item in trajectory.forces])
    assert np.trapezoid(normal, times) / times[-1] == pytest.approx(robot.total_mass * 9.81, rel=0.02)
    feet = {contact.location for phase in trajectory.contacts for contact in phase.stance.contacts}
    assert feet == {contact.name for contact in robot.contacts.values() if contact.support}
    assert sum(phase.duration for phase in trajectory.contacts) == pytest.approx(times[-1])


def test_bip_walks_and_its_costs_are_the_references(gait_generator: Any) -> None:
    answer = generated(gait_generator, cycle(BIP, weights=GaitWeights()))
    assert answer.message.startswith("converged, but front_sole: normal force exceeded by "), answer.message
    double_support, single_support = answer.gait.phases
    assert single_support.report.cost == pytest.approx(ORACLES["bip_ssp_cyclic"]["J_pmp"], rel=1e-3)
    assert double_support.report.cost == pytest.approx(0.2063, rel=1e-3)
    assert double_support.report.sole_angle == pytest.approx(math.radians(11.0), rel=1e-6)
    locations = {contact.location for phase in answer.gait.trajectory.contacts for contact in phase.stance.contacts}
    assert locations == {"rear_sole/toe", "front_sole/heel", "front_sole"}


def rows_of_motion(trajectory: WholeBodyTrajectory, robot: Robot, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posture, velocity, and the joints' accelerations with the base's left at 0, of a point of a planar robot."""
    point, twist = trajectory.joints.points[k], trajectory.base_twist[k]
    q, v, a = trajectory_posture(trajectory, robot, k), np.zeros(robot.model.nv), np.zeros(robot.model.nv)
    turn = pin.rpy.rpyToMatrix(0.0, float(q[2]), 0.0)
    v[:2] = (turn @ [twist.linear.x, twist.linear.y, twist.linear.z])[[0, 2]]
    v[2] = twist.angular.y
    for name, speed, rate in zip(trajectory.joints.joint_names, point.velocities, point.accelerations, strict=True):
        v[robot.index_v(name)], a[robot.index_v(name)] = speed, rate
    return q, v, a


def contact_jacobian(robot: Robot, data: pin.Data, link: str, place: np.ndarray) -> np.ndarray:
    """(3, nv) of the point of a link that is at a place; after ``computeAllTerms``."""
    joint = robot.parts.links[link].joint_id
    J = pin.getJointJacobian(robot.model, data, joint, pin.LOCAL_WORLD_ALIGNED)
    return J[:3] - pin.skew(place - data.oMi[joint].translation) @ J[3:]


@pytest.mark.feature("003-F111")
@pytest.mark.parametrize(
    "request_",
    [
        cycle(BIP, cycles=2, weights=GaitWeights()),
        pytest.param(GaitRequest(model="bip", speed=0.6, cycles=2, options=DIRECT), marks=pytest.mark.slow),
    ],
    ids=["phases", "speed"],
)
def test_every_leg_gets_its_own_torques_after_they_have_changed_parts(
    gait_generator: Any, request_: GaitRequest
) -> None:
    """Pinocchio's dynamics of the robot, whose legs differ, under the message's forces and efforts is its motion.

    The base's accelerations, which messages don't have, follow from its own three equations; the feet of the schedule
    must then be still, and the joints' equations give the efforts.
    """
    answer = generated(gait_generator, request_)
    assert converged(answer), answer.message
    trajectory, robot = answer.gait.trajectory, load_robot("bip_planar")
    model, data = robot.model.copy(), robot.model.createData()
    model.armature = np.zeros(model.nv)
    columns = [robot.index_v(name) for name in trajectory.joints.joint_names]
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in trajectory.joints.points])
    stances = []
    for k in range(0, len(times), 3):
        q, v, a = rows_of_motion(trajectory, robot, k)
        pin.computeAllTerms(model, data, q, v)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        loads = np.zeros(model.nv)
        for force in trajectory.forces[k].contacts:
            link, place = force.body_a.partition("/")[2], np.array([force.position.x, 0.0, force.position.z])
            push = np.array([force.force.x, 0.0, force.force.z])
            loads += contact_jacobian(robot, data, link, place).T @ push
        a[:3] = np.linalg.solve(M[:3, :3], loads[:3] - data.nle[:3] - M[:3, 3:] @ a[3:])
        efforts = (M @ a + data.nle - loads)[columns]
        told = np.array(trajectory.joints.points[k].effort)
        # A mere penalty keeps the front toe from dipping into the ground: what is shared with it has a small lever.
        shared = [(force.position.z, abs(force.force.x)) for force in trajectory.forces[k].contacts if force.force.x]
        moment = np.ptp([height for height, _ in shared]) * sum(along for _, along in shared)
        np.testing.assert_allclose(efforts, told, atol=1e-4 * np.abs(told).max() + moment, err_msg=f"{times[k]:.3f} s")
        pin.forwardKinematics(model, data, q, v, a)
        (stance,) = [item.stance for item in trajectory.contacts if item.start <= times[k] < item.start + item.duration]
        still = [contact.location for contact in stance.contacts if contact.location in robot.contacts]
        stances.append(tuple(still))
        for sole in still if len(stance.contacts) == 1 else ():
            joint = robot.parts.links[robot.contacts[sole].link].joint_id
            for motion in (pin.getVelocity(model, data, joint), pin.getClassicalAcceleration(model, data, joint)):
                assert np.abs(motion.vector).max() < 1e-5, f"{sole} moves at {times[k]:.3f} s"
    assert {("front_sole",), ("rear_sole",)} <= set(stances)
    # What is drawn belongs to the same two steps: the forces on both feet as the trajectory has them.
    figure_times = np.array(answer.gait.figure.times)
    drawn = np.array(answer.gait.figure.forces).reshape(len(figure_times), 2, 3)[:, :, 2].sum(axis=1)
    pushed = [sum(force.force.z for force in item.contacts) for item in trajectory.forces]
    jumps = figure_times[:-1][np.diff(figure_times) == 0.0]
    smooth = np.abs(np.subtract.outer(times, jumps)).min(axis=1) > 0.01
    misses = np.abs(np.interp(times, figure_times, drawn) / pushed - 1.0)[smooth]
    assert np.quantile(misses, 0.9) < 2e-3  # figures have fewer samples, and forces bend sharply where limits are met


def test_a_walk_from_rest_to_rest(gait_generator: Any) -> None:
    walk, braking = step_message("bip_cyclic"), step_message("bip_braking")
    phases = [
        GaitPhaseRequest(kind=GaitPhaseRequest.START, duration=0.45, next_step=walk),
        double("bip_cyclic"),
        single("bip_cyclic", next_step=braking),
        double("bip_braking", kind=GaitPhaseRequest.BRAKE),
        GaitPhaseRequest(kind=GaitPhaseRequest.STOP, duration=0.5, step=braking),
    ]
    answer = generated(gait_generator, GaitRequest(model="bip", phases=phases, options=DIRECT))
    assert converged(answer), answer.message
    assert [phase.kind for phase in answer.gait.phases] == [phase.kind for phase in phases]
    velocities = [point.velocities for point in answer.gait.trajectory.joints.points]
    np.testing.assert_allclose([velocities[0], velocities[-1]], 0.0, atol=1e-9)
    lower = GaitPhaseRequest(kind=GaitPhaseRequest.STOP, duration=0.5, step=braking, rest=GaitRest(hip_height=0.8))
    other = generated(gait_generator, GaitRequest(model="bip", phases=[*phases[:-1], lower], options=DIRECT))
    assert other.gait.trajectory.base[-1].position.z == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("method", ["indirect", "direct", "shooting"])
def test_every_method_is_offered(gait_generator: Any, method: str) -> None:
    answer = generated(gait_generator, five_bar(options=GaitSolverOptions(method=method)))
    assert answer.success, answer.message
    (phase,) = answer.gait.phases
    assert phase.report.cost == pytest.approx(ORACLES["5bar_B"]["J_pmp"], rel=1e-3)
    assert not answer.gait.trajectory.joints.points
    assert answer.gait.figure.point_names[0] == "joint_1"


def test_weights_bounds_and_free_states_are_honoured(gait_generator: Any) -> None:
    plain = generated(gait_generator, five_bar()).gait.phases[0]
    torques = np.abs(np.array(plain.controls).reshape(-1, 7)[:, 0])
    limit = 0.8 * float(torques.max())
    low, high = [-math.inf] * 7, [math.inf] * 7
    low[0], high[0] = -limit, limit
    bounded = generated(gait_generator, five_bar(bounds=GaitBounds(min_controls=low, max_controls=high)))
    assert bounded.success, bounded.message
    phase = bounded.gait.phases[0]
    assert np.abs(np.array(phase.controls).reshape(-1, 7)[:, 0]).max() == pytest.approx(limit, rel=1e-6)
    assert phase.report.cost > plain.report.cost
    doubled = GaitWeights(torque=2.0, force=2.0, control_sizes=[1e-2] * 7)
    twice = generated(gait_generator, five_bar(weights=doubled)).gait.phases[0]
    assert plain.report.cost < twice.report.cost <= 2.0 * plain.report.cost * (1.0 + 1e-6)
    spared = GaitWeights(control_scales=[100.0] + [1.0] * 6, control_sizes=[1e-2] * 7)
    less = generated(gait_generator, five_bar(weights=spared)).gait.phases[0]
    assert np.abs(np.array(less.controls).reshape(-1, 7)[:, 0]).max() < 0.5 * torques.max()
    free = generated(gait_generator, five_bar(free_final=[False] * 4 + [True] * 4)).gait.phases[0]
    assert free.report.cost < plain.report.cost
    last = np.array(free.costates).reshape(-1, 8)[-1]
    assert np.abs(last[4:]).max() < 1e-6 * np.abs(np.array(free.costates)).max()
    assert free.report.transversality < 1e-6


def test_contact_forces_are_kept_where_that_is_asked_for(gait_generator: Any) -> None:
    bounds = GaitBounds(enforce_unilateral=True, min_normal_force=5.0, enforce_friction=True, friction=0.7)
    request = cycle(BIP, phases=[single("bip_cyclic")], bounds=bounds, options=DIRECT)
    answer = generated(gait_generator, request)
    # The sole skims the ground: what is asked for is kept, and it would stumble.
    assert re.match(r"converged, but height of the swinging (rear|front)_sole exceeded by [^;]*$", answer.message)
    (phase,) = answer.gait.phases
    assert phase.report.min_normal_rear >= 5.0 - 0.5
    assert phase.report.required_friction <= 0.7 * 1.01
    assert phase.status != GaitPhase.CONTACT_VIOLATION


def test_ranges_rates_and_obstacles_are_honoured(gait_generator: Any) -> None:
    def swing(**changes: Any) -> Gait:
        answer = generated(gait_generator, cycle(phases=[single("rabbit")], options=DIRECT, **changes))
        assert converged(answer), answer.message
        return answer.gait

    fast = max(swing().phases[0].report.max_rates)
    slow = GaitBounds(max_velocities=[0.7 * fast] * 4)
    told = swing(bounds=slow).phases[0].report
    assert any("rate of" in item.constraint for item in told.violations)  # only reported
    assert max(told.max_rates) == pytest.approx(fast, rel=1e-6)
    assert max(swing(bounds=slow, weights=GaitWeights(rate=0.1)).phases[0].report.max_rates) < 0.72 * fast
    bent = swing().trajectory.joints
    knee = list(bent.joint_names).index("front_knee")
    most = max(point.positions[knee] for point in bent.points)
    ranges = GaitBounds(max_positions=[most - 0.2] * 4)
    straighter = swing(bounds=ranges, weights=GaitWeights(range=1.0)).trajectory.joints
    assert max(point.positions[knee] for point in straighter.points) < most - 0.19
    bump = GaitBounds(obstacles=[GaitObstacle(centre=0.0, width=0.1, height=0.06)])
    over = swing(bounds=bump)
    names = list(over.figure.point_names)
    tip = np.array(over.figure.points).reshape(-1, len(names), 3)[:, names.index("right_tip")]
    assert tip[np.abs(tip[:, 0]) < 0.05, 2].min() > 0.055


def test_durations_that_are_free_are_chosen(gait_generator: Any) -> None:
    answer = generated(gait_generator, cycle(phases=[double("rabbit", duration=0.0)]))
    assert answer.success, answer.message
    phase = answer.gait.phases[0]
    assert phase.times[-1] == pytest.approx(0.1043, rel=1e-2)
    np.testing.assert_allclose(phase.hamiltonian, 0.0, atol=1e-4)  # what tells that a duration is the best one


def test_a_step_of_a_speed_and_a_length(gait_generator: Any) -> None:
    told: list[Any] = []
    action = gait_generator.action(GaitAction, "generate_gait")
    bounds = GaitBounds(friction=0.5, enforce_unilateral=True, min_normal_force=20.0, max_velocities=[9.0] * 4)
    request = GaitRequest(model="rabbit", speed=0.8, step_length=0.4, cycles=2, bounds=bounds, options=DIRECT)
    goal = GaitAction.Goal(request=request)
    handle = gait_generator.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    result = gait_generator.result(handle.get_result_async(), 200.0).result
    assert result.success, result.message
    gait = result.gait
    assert (gait.speed, gait.distance) == (pytest.approx(0.8, rel=1e-4), pytest.approx(0.4, rel=1e-4))
    assert {phase.kind for phase in gait.phases} == {DOUBLE, SINGLE}
    assert min(phase.report.min_normal_rear for phase in gait.phases) >= 20.0 - 1e-3
    assert max(phase.report.required_friction for phase in gait.phases) <= 0.5 + 1e-6
    assert max(max(phase.report.max_rates) for phase in gait.phases) <= 9.0 + 1e-6
    assert gait.max_velocity_jump < 1e-3
    trajectory = gait.trajectory
    assert trajectory.base[-1].position.x - trajectory.base[0].position.x == pytest.approx(0.8, rel=1e-4)
    assert any("iteration" in item.stage and np.isfinite(item.cost) for item in told)


def test_phases_of_one_problem_cost_less_than_each_by_itself(gait_generator: Any) -> None:
    apart = generated(gait_generator, cycle(options=DIRECT)).gait
    kept = GaitBounds(enforce_unilateral=True)
    together = generated(gait_generator, cycle(one_problem=True, options=DIRECT, bounds=kept))
    assert together.success, together.message
    assert together.gait.cost < 0.5 * apart.cost
    assert together.gait.distance == pytest.approx(apart.distance, rel=1e-4)
    assert together.gait.speed == pytest.approx(apart.speed, rel=1e-4)


def test_a_continuation_ends_at_what_was_asked(gait_generator: Any) -> None:
    stages = [GaitStage(quantity=GaitStage.CLOSURE, values=[1500.0, 6000.0])]
    goal = GaitAction.Goal(request=five_bar(options=GaitSolverOptions(stages=stages)))
    told: list[Any] = []
    action = gait_generator.action(GaitAction, "generate_gait")
    handle = gait_generator.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    result = gait_generator.result(handle.get_result_async(), 200.0).result
    assert result.success, result.message
    assert result.gait.phases[0].report.cost == pytest.approx(ORACLES["5bar_B"]["J_pmp"], rel=1e-3)
    assert any("closure = 0.1:" in item.stage for item in told)
    assert any("closure = 0.4:" in item.stage for item in told)


def test_other_models_files_and_robots(gait_generator: Any, tmp_path: Path) -> None:
    text = Path(find_resource("config/gait/rabbit.yaml")).read_text()
    heavier = tmp_path / "heavier.yaml"
    heavier.write_text(text.replace("gravity: 9.81", "gravity: 12.0") if "gravity: 9.81" in text else text)
    plain = generated(gait_generator, cycle(phases=[double("rabbit")])).gait
    answer = generated(gait_generator, cycle(model=str(heavier), phases=[double("rabbit")]))
    # Another gravity than that of the robot that comes with the model: its forces don't carry that one.
    assert re.match(r"converged, but base_z: effort that nothing gives exceeded by \d", answer.message)
    assert answer.gait.cost != pytest.approx(plain.cost, rel=1e-3)
    projected = generated(gait_generator, cycle(BIP, model="bip_planar", phases=[double("bip_cyclic")]))
    own = generated(gait_generator, cycle(BIP, phases=[double("bip_cyclic")]))
    assert converged(projected), projected.message
    assert projected.gait.cost == pytest.approx(own.gait.cost, rel=1e-3)
    assert projected.gait.trajectory.robot == "bip_planar"


def test_states_at_the_ends_of_a_step(gait_generator: Any) -> None:
    request = ComputeGaitStates.Request(model="bip", step=step_message("bip_cyclic"))
    answer = gait_generator.call(ComputeGaitStates, "compute_gait_states", request)
    assert answer.success, answer.message
    bip, step = load_bip(), load_walk("bip_cyclic").step
    model = bip.double_support(step.step_length)
    assert list(answer.coordinate_names) == list(model.tree.coordinates)
    for name, state in (
        ("initial", seven_link.double_support_start(bip, step)),
        ("final", seven_link.double_support_end(bip, step)),
    ):
        np.testing.assert_allclose(getattr(answer, f"{name}_coordinates"), state.q, atol=1e-12)
        np.testing.assert_allclose(getattr(answer, f"{name}_rates"), state.v, atol=1e-12)
        np.testing.assert_allclose(getattr(answer, f"{name}_momenta"), model.tree.momentum(state.q, state.v), atol=1e-9)


# Progress and cancel ----------------------------------------------------------------------------------------------


def test_the_action_tells_how_far_it_is(gait_generator: Any) -> None:
    told: list[Any] = []
    action = gait_generator.action(GaitAction, "generate_gait")
    goal = GaitAction.Goal(request=cycle())
    handle = gait_generator.result(action.send_goal_async(goal, lambda item: told.append(item.feedback)))
    assert handle.accepted
    answer = gait_generator.result(handle.get_result_async(), 200.0)
    assert (answer.status, converged(answer.result)) == (GoalStatus.STATUS_ABORTED, True)
    assert len(answer.result.gait.phases) == 2
    assert {item.phase for item in told} == {0, 1}
    assert math.isnan(told[0].residual)
    assert told[0].nodes == 0
    refined = [item for item in told if item.phase == 1 and np.isfinite(item.residual)]
    assert refined[-1].residual < 1e-4
    assert refined[-1].nodes > 40
    assert refined[-1].cost == pytest.approx(answer.result.gait.phases[1].report.cost, rel=1e-2)


def test_a_cancel_ends_a_solve_and_gives_what_was_solved(gait_generator: Any) -> None:
    told: list[Any] = []
    action = gait_generator.action(GaitAction, "generate_gait")
    slow = GaitSolverOptions(method="shooting", tolerance=1e-12)
    request = cycle(options=slow)
    request.phases[0].duration = 0.103
    handle = gait_generator.result(
        action.send_goal_async(GaitAction.Goal(request=request), lambda item: told.append(item.feedback))
    )
    end = time.monotonic() + 60.0
    while not any(item.phase == 1 and item.nodes for item in told):  # in the middle of the second phase
        assert time.monotonic() < end
        time.sleep(0.01)
    pending = handle.get_result_async()
    gait_generator.result(handle.cancel_goal_async(), 60.0)
    answer = gait_generator.result(pending, 60.0)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert (answer.result.success, answer.result.message) == (False, "Cancelled.")
    (phase,) = answer.result.gait.phases
    assert phase.status == GaitPhase.CONVERGED
    assert generated(gait_generator, cycle(phases=[double("rabbit")])).success


def test_two_requests_at_once_and_states_beside_them(gait_generator: Any) -> None:
    action = gait_generator.action(GaitAction, "generate_gait")
    slow = GaitAction.Goal(request=cycle(options=GaitSolverOptions(method="shooting", tolerance=1e-12)))
    handle = gait_generator.result(action.send_goal_async(slow))
    pending = handle.get_result_async()
    assert generated(gait_generator, cycle(phases=[double("rabbit")])).success
    states = ComputeGaitStates.Request(model="rabbit", step=STEP)
    assert gait_generator.call(ComputeGaitStates, "compute_gait_states", states).success
    assert not pending.done()
    gait_generator.result(handle.cancel_goal_async())
    assert gait_generator.result(pending).status == GoalStatus.STATUS_CANCELED


# Refusals ---------------------------------------------------------------------------------------------------------


def bounds(**fields: Any) -> GaitRequest:
    return cycle(bounds=GaitBounds(**fields))


def weights(**fields: Any) -> GaitRequest:
    return cycle(weights=GaitWeights(**fields))


def options(**fields: Any) -> GaitRequest:
    return cycle(options=GaitSolverOptions(**fields))


def whole(**fields: Any) -> GaitRequest:
    return GaitRequest(model="rabbit", speed=0.8, **fields)


def phase(**fields: Any) -> GaitRequest:
    return cycle(phases=[double("rabbit", **fields)])


def step(**fields: Any) -> GaitRequest:
    return phase(step=step_message("rabbit", **fields))


HIGHER = step_message("rabbit", final_hip=Point(x=0.2556, z=0.71))
FAR = step_message("rabbit", initial_hip=Point(x=0.15, z=0.95))


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (cycle(model="nobody"), "model: there is no model or robot 'nobody'. Give bip, rabbit, five_bar, the path"),
        (cycle(model="/dev/zero"), "model: '/dev/zero' is a pipe, a socket or a device"),
        (cycle(model="nowhere.yaml"), "nowhere.yaml: can't be read"),
        (cycle(model="robot_2r_a"), "model: 'robot_2r_a' can't be walked in its sagittal plane: robot 'robot_2r_a'"),
        (cycle(speed=0.5), "speed: is 0.5, but phases are given, which fix it"),
        (cycle(step_length=0.5), "step_length: is 0.5, but phases are given"),
        (cycle(cycles=2000), "cycles: is 2000. Give at most 1000"),
        (cycle(cycles=2, phases=[double("rabbit")]), "cycles: is 2, but the phases begin and end with the same"),
        (GaitRequest(model="rabbit", speed=NAN), "speed: is nan. Give a finite number"),
        (GaitRequest(model="rabbit", speed=-0.5), "speed: is -0.5 m/s. Give one from 0.01 to 5 m/s, or phases"),
        (GaitRequest(model="rabbit"), "speed: is 0 m/s"),
        (GaitRequest(model="rabbit", speed=0.5, step_length=-1.0), "step_length: is -1. Give a finite number of 0"),
        (phase(kind=9), "phases[0].kind: is 9. Give one of 0 (DOUBLE_SUPPORT), 1 (SINGLE_SUPPORT), 2 (START)"),
        (phase(duration=-1.0), "phases[0].duration: is -1. Give a finite number of 0 or more"),
        (phase(duration=NAN), "phases[0].duration: is nan"),
        (phase(step=GaitStep()), "phases[0].step: is empty, but a phase of kind DOUBLE_SUPPORT needs it"),
        (phase(next_step=STEP), "phases[0].next_step: is given, but a phase of kind DOUBLE_SUPPORT has none"),
        (phase(rest=GaitRest(hip_height=0.7)), "phases[0].rest: is given, but a phase of kind DOUBLE_SUPPORT has none"),
        (phase(kind=GaitPhaseRequest.BRAKE), "phases[0].step.final_hip_velocity: is 1 m/s, not below 0.99 m/s"),
        (cycle(phases=[single("rabbit", next_step=GaitStep())]), "phases[0].next_step: is empty"),
        (
            cycle(phases=[GaitPhaseRequest(kind=GaitPhaseRequest.START, duration=0.4, next_step=STEP)]),
            "phases[0].rest.hip_height: is 0, but it isn't known how 'rabbit' rests",
        ),
        (
            cycle(
                phases=[
                    GaitPhaseRequest(
                        kind=GaitPhaseRequest.STOP, duration=0.4, step=STEP, rest=GaitRest(hip_height=NAN)
                    )
                ]
            ),
            "phases[0].rest.hip_height: is nan",
        ),
        (cycle(phases=[double("rabbit"), double("rabbit")]), "phases[1].kind: is DOUBLE_SUPPORT after DOUBLE_SUPPORT"),
        (
            cycle(phases=[double("rabbit"), single("rabbit", step=HIGHER)]),
            "phases[1]: swing_knee jumps by 1.17e-02 m, ",
        ),
        (phase(initial_state=[0.0] * 3), "phases[0].initial_state: has 3 values. Give 10: angles, then rates"),
        (phase(final_state=[NAN] * 10), "phases[0].final_state: is [nan, "),
        (phase(free_final=[True]), "phases[0].free_final: has 1 values. Give 10"),
        (
            cycle(phases=[double("rabbit", free_final=[True] * 10), single("rabbit")]),
            "phases[0].free_final: leaves states free that the neighbouring phase shares",
        ),
        (step(step_length=0.0), "phases[0].step.step_length: is 0 m. Give more than 0"),
        (step(step_length=NAN), "phases[0].step.step_length: is nan"),
        (step(initial_hip=Point(x=0.1, y=0.1, z=0.7)), "phases[0].step.initial_hip: has y = 0.1"),
        (step(initial_hip=Point(x=0.1, z=-0.7)), "phases[0].step.initial_hip: is -0.7 m high. Put the hip above"),
        (step(final_hip_velocity=Vector3(x=math.inf)), "phases[0].step.final_hip_velocity: is [inf"),
        (step(initial_sole_angle=0.2), "phases[0].step.initial_sole_angle: is 0.2, but 'rabbit' has no feet"),
        (bounds(min_controls=[1.0]), "bounds.min_controls: has 1 values. Give 4 (torques) or 6 (torques, then contact"),
        (bounds(min_controls=[1.0] * 4, max_controls=[0.0] * 4), "bounds.min_controls[0]: is 1, above 0 in bounds"),
        (bounds(max_controls=[NAN] * 4), "bounds.max_controls: is [nan, "),
        (bounds(min_positions=[0.0] * 3), "bounds.min_positions: has 3 values. Give 4: rear_knee"),
        (bounds(min_positions=[9.0] * 4), "bounds.min_positions: leaves"),
        (bounds(max_velocities=[-1.0] * 4), "bounds.max_velocities: is [-1.0"),
        (bounds(friction=-0.1), "bounds.friction: is -0.1. Give a finite number of 0 or more"),
        (bounds(min_normal_force=5.0), "bounds.min_normal_force: is 5, but enforce_unilateral is false"),
        (bounds(clearance=-0.1), "bounds.clearance: is -0.1"),
        (bounds(obstacles=[GaitObstacle(width=0.1)]), "bounds.obstacles[0].height: is 0.0. Give a length above 0"),
        (
            cycle(phases=[double("rabbit")], bounds=GaitBounds(obstacles=[GaitObstacle(width=0.1, height=0.1)])),
            "bounds.obstacles: are given, but no phase has a swinging foot",
        ),
        (weights(torque=-1.0), "weights.torque: is -1. Give a finite number of 0 or more"),
        (weights(force=NAN), "weights.force: is nan"),
        (weights(control_scales=[0.0] * 4), "weights.control_scales: is [0.0, 0.0, 0.0, 0.0]. Give finite numbers"),
        (weights(control_sizes=[1.0] * 5), "weights.control_sizes: has 5 values"),
        (options(method="magic"), "options.method: there is no method 'magic'. Known are: indirect, direct, shooting."),
        (options(tolerance=-1.0), "options.tolerance: is -1"),
        (options(tolerance=2.0), "options.tolerance: is 2. Give a number below 1"),
        (options(max_nodes=3), "options.max_nodes: is 3. Give a number from 11 to 100000"),
        (options(time_limit=Duration(sec=-1)), "options.time_limit: is -1 s. Give one above 0"),
        (options(stages=[GaitStage(quantity=9, values=[1.0])]), "options.stages[0].quantity: is 9. Give one of 0 (CL"),
        (options(stages=[GaitStage()]), "options.stages[0].values: is []"),
        (options(stages=[GaitStage(quantity=5, values=[0.5])]), "options.stages[0].values: is [0.5]. Give scales of"),
        (options(method="direct", stages=[GaitStage(values=[1.0])]), "options.stages: are given, but the method is '"),
        (GaitRequest(model="rabbit", speed=4.0), "speed: of 4 m/s takes steps of"),
        (whole(weights=GaitWeights(closure=1.0)), "weights.closure: is given, but phases solved as one pr"),
        (whole(weights=GaitWeights(control_scales=[1.0] * 4)), "weights.control_scales: is given, but phases solv"),
        (whole(options=GaitSolverOptions(method="shooting")), "options.method: is 'shooting', but phases solved"),
        (whole(bounds=GaitBounds(max_velocities=[1.0, 1.0, 1.0, 2.0])), "bounds.max_velocities: has 1 and 2 for the"),
        (whole(bounds=GaitBounds(max_velocities=[1.0] * 6)), "bounds.max_velocities: has 6 values. Give 4 to phases"),
        (whole(bounds=GaitBounds(max_controls=[1.0] * 4)), "bounds.min_controls: aren't the torques of max_controls"),
        (cycle(one_problem=True, phases=[double("rabbit")]), "one_problem: is true, but the phases are neither a dou"),
        (
            cycle(one_problem=True, phases=[double("rabbit", free_final=[True] * 10), single("rabbit")]),
            "phases[0].free_final: is given, but the transitions of one problem are free",
        ),
        (GaitRequest(model="five_bar", speed=0.5), "phases: is empty, but 'five_bar' doesn't walk"),
        (five_bar(phases=[GaitPhaseRequest(duration=0.4)]), "phases[0].initial_state: is empty, but 'five_bar'"),
        (five_bar(phases=[double("rabbit")]), "phases[0].step: is given, but 'five_bar', which doesn't walk, has none"),
        (five_bar(bounds=GaitBounds(friction=0.5)), "bounds.friction: is given, but 'five_bar' doesn't walk"),
    ],
)
def test_bad_requests_are_answered(gait_generator: Any, request_: GaitRequest, message: str) -> None:
    answer = generated(gait_generator, request_)
    assert not answer.success
    assert message in answer.message
    assert not answer.gait.trajectory.joints.points


def test_a_hip_out_of_reach_is_told_with_its_reason(gait_generator: Any) -> None:
    request = cycle(phases=[double("rabbit", step=FAR)])
    answer = generated(gait_generator, request)
    assert not answer.success
    assert "phases[0]: rear leg at the start: has to span" in answer.message
    assert "Bring its ends" in answer.message
    (refused,) = answer.gait.phases
    assert refused.status == GaitPhase.UNREACHABLE
    assert refused.message == answer.message
    states = gait_generator.call(
        ComputeGaitStates, "compute_gait_states", ComputeGaitStates.Request(model="rabbit", step=FAR)
    )
    assert not states.success
    assert "step: rear leg at the start: has to span" in states.message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model": "five_bar", "step": STEP}, "model: 'five_bar' doesn't walk"),
        ({"model": "nobody", "step": STEP}, "model: there is no model or robot 'nobody'"),
        ({"model": "rabbit"}, "step.step_length: is 0 m"),
        ({"model": "rabbit", "step": step_message("rabbit", initial_hip=Point(x=NAN))}, "step.initial_hip: is [nan"),
        ({"model": "rabbit", "step": step_message("rabbit", final_rear_foot_rate=1.0)}, "step.final_rear_foot_rate:"),
    ],
)
def test_bad_requests_for_states_are_answered(gait_generator: Any, fields: dict[str, Any], message: str) -> None:
    answer = gait_generator.call(ComputeGaitStates, "compute_gait_states", ComputeGaitStates.Request(**fields))
    assert not answer.success
    assert message in answer.message


def test_what_does_not_converge_comes_with_its_best_iterate(gait_generator: Any) -> None:
    hopeless = GaitBounds(min_controls=[-1.0] * 4, max_controls=[1.0] * 4)
    request = cycle(phases=[double("rabbit"), single("rabbit")], bounds=hopeless)
    request.options.time_limit = Duration(sec=5)
    answer = generated(gait_generator, request)
    assert not answer.success
    last = answer.gait.phases[-1]
    assert last.status == GaitPhase.NOT_CONVERGED
    assert f"phases[{len(answer.gait.phases) - 1}]: not converged" in answer.message
    assert len(last.coordinates) == len(last.times) * len(last.coordinate_names) > 0


# What is shown ----------------------------------------------------------------------------------------------------


def test_the_last_gait_is_there_for_those_who_come_late(gait_generator: Any) -> None:
    answer = generated(gait_generator, cycle())
    assert converged(answer), answer.message
    gait = gait_generator.listen(Gait, "gait", LATCHED).wait()
    assert repr(gait) == repr(answer.gait)  # NaN and all
    trajectory = gait_generator.listen(WholeBodyTrajectory, "trajectory", LATCHED).wait()
    assert repr(trajectory) == repr(answer.gait.trajectory)
    joints = gait_generator.listen(JointTrajectory, "joint_trajectory", LATCHED).wait()
    assert joints.points == answer.gait.trajectory.joints.points
    markers = gait_generator.listen(MarkerArray, "gait_markers", LATCHED).wait()
    assert {marker.ns for marker in markers.markers} >= {"stick_figures", "foot_forces", "footprints", "hip"}


def test_a_gait_is_played_in_real_time(gait_generator: Any) -> None:
    joints = gait_generator.listen(JointState, "gait_joint_states")
    base = gait_generator.listen(PoseStamped, "gait_base")
    contacts = gait_generator.listen(ContactForces, "gait_contacts")
    figures = gait_generator.listen(MarkerArray, "gait_figure")
    frames = gait_generator.listen(TFMessage, "/tf", 100)
    description = gait_generator.listen(String, "gait_description", LATCHED)
    answer = generated(gait_generator, cycle(cycles=2))
    trajectory = answer.gait.trajectory
    end = trajectory.base[-1].position.x
    for _ in range(10):
        base.wait(lambda message: message.pose.position.x > end - 1e-6)
        xs = [message.pose.position.x for message in base.messages]
        falls = [i for i in range(1, len(xs)) if xs[i] < xs[i - 1]]
        assert len(falls) <= 1  # where the gait before was still played
        xs = xs[max(falls, default=0) :]
        if len(xs) >= 5 and xs[0] < trajectory.base[0].position.x + 0.2:
            break
        base.clear()  # it takes a second, most of which a busy machine may have missed
        assert gait_generator.call(Trigger, "replay_gait", Trigger.Request()).success
    else:
        raise AssertionError(f"only {xs} of its way is shown")
    last = joints.wait(lambda message: list(message.position) == list(trajectory.joints.points[-1].positions))
    assert list(last.effort) == list(trajectory.joints.points[-1].effort)
    assert last.header.frame_id == "world"
    assert contacts.wait().contacts
    figures.wait()
    robot = load_robot("rabbit")
    assert 'name="rabbit"' in description.wait().data
    links = robot.link_placements(trajectory_posture(trajectory, robot, len(trajectory.base) - 1))
    # Each topic arrives in its own time.
    last = frames.wait(lambda heard: any(abs(frame.transform.translation.x - end) < 1e-6 for frame in heard.transforms))
    assert {frame.child_frame_id for frame in last.transforms} <= {f"gait/{link}" for link in links}

    def goes_back() -> bool:
        base.clear()
        assert gait_generator.call(Trigger, "replay_gait", Trigger.Request()).success
        base.wait(lambda message: message.pose.position.x > end - 1e-6)
        return any(message.pose.position.x < end - 0.3 for message in base.messages)

    wait_until(goes_back, "it isn't played once more")


def test_rviz_shows_what_is_drawn(gait_generator: Any) -> None:
    with open(find_resource("config/humanoid_stack.rviz"), encoding="utf-8") as file:
        displays = yaml.safe_load(file)["Visualization Manager"]["Displays"]
    for title, key, kind in (
        ("Gait", "Topic", "visualization_msgs/msg/MarkerArray"),
        ("Walking figure", "Topic", "visualization_msgs/msg/MarkerArray"),
        ("Walking robot", "Description Topic", "std_msgs/msg/String"),
    ):
        (topic,) = (display[key] for display in displays if display["Name"] == title)
        offered = gait_generator.offered(topic["Value"])
        assert offered.topic_type == kind
        latched = offered.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        assert topic["Durability Policy"] == ("Transient Local" if latched else "Volatile")


def test_diagnostics_count(gait_generator: Any) -> None:
    listener = gait_generator.listen(DiagnosticArray, "/diagnostics")
    generated(gait_generator, cycle(model="nobody"))

    def refused(message: DiagnosticArray) -> bool:
        values = {value.key: value.value for value in message.status[0].values}
        return "'nobody'" in values["last refusal"] and int(values["requests refused"]) > 0

    assert listener.wait(refused).status[0].name == "gait_generator: gaits"


# Parameters and process -------------------------------------------------------------------------------------------


def set_parameter(node: Any, name: str, value: ParameterValue) -> Any:
    request = SetParameters.Request(parameters=[Parameter(name=name, value=value)])
    return node.call(SetParameters, "gait_generator/set_parameters", request).results[0]


def test_parameters_are_typed_ranged_and_described(gait_generator: Any) -> None:
    listed = gait_generator.call(ListParameters, "gait_generator/list_parameters", ListParameters.Request())
    rclpys = ("use_sim_time", "start_type", "qos_overrides")
    names = [name for name in listed.result.names if not name.startswith(rclpys)]
    assert {"model", "method", "tolerance", "max_nodes", "foot_length", "closure", "processes"} <= set(names)
    request = DescribeParameters.Request(names=names)
    for descriptor in gait_generator.call(
        DescribeParameters, "gait_generator/describe_parameters", request
    ).descriptors:
        assert descriptor.description, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            assert descriptor.floating_point_range, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_INTEGER:
            assert descriptor.integer_range, descriptor.name


def test_parameters_are_the_defaults_of_requests(gait_generator: Any) -> None:
    def text(value: str) -> ParameterValue:
        return ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=value)

    for name, value, problem in (
        ("model", "nobody", "there is no model or robot 'nobody'"),
        ("method", "magic", "there is no method 'magic'"),
        ("replay", "twice", "there is no way to play 'twice'"),
    ):
        result = set_parameter(gait_generator, name, text(value))
        assert not result.successful
        assert problem in result.reason
    assert set_parameter(gait_generator, "model", text("rabbit")).successful
    answer = generated(gait_generator, cycle(model="", phases=[double("rabbit")]))
    assert answer.gait.model == "rabbit"
    assert set_parameter(gait_generator, "model", text("bip")).successful
    longer = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.31)
    plain = generated(gait_generator, cycle(BIP, phases=[double("bip_cyclic")])).gait.cost
    assert set_parameter(gait_generator, "foot_length", longer).successful
    other = generated(gait_generator, cycle(BIP, phases=[double("bip_cyclic")])).gait.cost
    assert other != pytest.approx(plain, rel=1e-3)
    own = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=0.0)
    assert set_parameter(gait_generator, "foot_length", own).successful


def processes_below(pid: int) -> list[int]:
    """A process' children, and theirs."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent == pid:
                found += [int(entry.name), *processes_below(int(entry.name))]
    return found


def alive(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.feature("003-F111")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_a_node_that_ends_in_the_middle_of_a_request(
    start_node: Callable[..., Any], number: signal.Signals
) -> None:
    client = start_node("gait_generator")
    action = client.action(GaitAction, "generate_gait")
    assert processes_below(client.process.pid) == []  # they come with requests
    told: list[Any] = []
    slow = GaitAction.Goal(request=cycle(options=GaitSolverOptions(method="shooting", tolerance=1e-12)))
    handle = client.result(action.send_goal_async(slow, lambda item: told.append(item.feedback)))
    pending = handle.get_result_async()
    end = time.monotonic() + 60.0
    while not any(item.nodes for item in told):
        assert time.monotonic() < end
        time.sleep(0.01)
    assert told[0].stage == "starting a worker"
    workers = processes_below(client.process.pid)
    assert workers
    os.kill(client.process.pid, number)
    code = client.process.wait(60.0)
    if number == signal.SIGTERM:
        assert code == 0
        answer = client.result(pending, 60.0).result
        assert (answer.success, answer.message) == (False, "The node is shut down.")
    end = time.monotonic() + 60.0
    while any(alive(pid) for pid in workers):
        assert time.monotonic() < end, "a worker goes on"
        time.sleep(0.05)


BAD_STARTS = {"model:=nobody": "there is no model or robot 'nobody'", "time_limit:=-1.0": "time_limit"}
"""Parameters that the node can't use, and what it says."""


@pytest.fixture(scope="module")
def bad_starts(start_badly: Callable[..., Any]) -> dict[str, tuple[int, str]]:
    return start_badly("gait_generator", list(BAD_STARTS))


@pytest.mark.parametrize("parameter", BAD_STARTS)
def test_a_bad_start_ends_with_a_message(bad_starts: dict[str, tuple[int, str]], parameter: str) -> None:
    code, text = bad_starts[parameter]
    assert code == 1
    assert BAD_STARTS[parameter] in text
    assert "Traceback" not in text
