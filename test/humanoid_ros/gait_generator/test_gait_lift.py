# SPDX-License-Identifier: Apache-2.0
"""Gaits of whole robots as requests and answers: what is told, refused and given, and that the answer walks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Time  # noqa: E402
from fixtures.gait_requests import double, single, step_message  # noqa: E402
from humanoid_stack.msg import (  # noqa: E402
    Gait,
    GaitBounds,
    GaitPhase,
    GaitPhaseRequest,
    GaitRequest,
    GaitRest,
    GaitSolverOptions,
    GaitStage,
    GaitWeights,
)
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402

from humanoid_model import Robot, load_robot  # noqa: E402
from humanoid_model.errors import InputError  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_model.joint_trajectory import JointTrajectory  # noqa: E402
from humanoid_planner.gait import GaitDefaults, generation  # noqa: E402
from humanoid_planner.gait.lift.lifted_gait import LiftedGait  # noqa: E402
from humanoid_planner.gait.solvers.phase_solution import PhaseSolution  # noqa: E402
from humanoid_planner.gait.specification.step_data import load_walk  # noqa: E402
from humanoid_ros.gait_generator.gait_markers import figure_forces, figure_points, footprints, strip_markers  # noqa: E402  # noqa: E402
from humanoid_ros.gait_generator.gait_replay import gait_robot, trajectory_posture  # noqa: E402
from humanoid_ros.gait_generator.gait_worker import generate  # noqa: E402
from humanoid_ros.messages.conversions import array, seconds  # noqa: E402
from humanoid_ros.node.process_requests import Answer  # noqa: E402
from humanoid_sim import Simulation  # noqa: E402
from humanoid_sim.actuation import TrajectoryPlayer  # noqa: E402

pytestmark = pytest.mark.feature("003-F031")

DIRECT = GaitSolverOptions(method="direct")  # takes the least time
DEFAULTS = GaitDefaults(time_limit=240.0)  # of a busy machine
SOLES = {"right": "right_sole", "left": "left_sole"}


def answered(
    request: GaitRequest, tell: Callable[[Any], None] = lambda _: None, defaults: GaitDefaults = DEFAULTS
) -> Answer:
    return generate(bytes(serialize_message(request)), defaults, tell)


def walk(**changes: Any) -> GaitRequest:
    """BIP2000's own level walk with one steady step."""
    return GaitRequest(**{"model": "bip", "lift": True, "options": DIRECT, **changes})


class Planned:
    """The walk: what was told, the answer, its gait, and the solutions of its phases in the plane, lifted."""

    def __init__(self) -> None:
        self.told: list[Any] = []
        self.solutions: list[PhaseSolution] = []
        self.lifted: LiftedGait | None = None
        synthesize, lift = generation.synthesize_phase, generation.lift_gait

        def kept(*arguments: Any, **named: Any) -> PhaseSolution:
            self.solutions.append(synthesize(*arguments, **named))
            return self.solutions[-1]

        def kept_lift(*arguments: Any) -> LiftedGait:
            self.lifted = lift(*arguments)
            return self.lifted

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(generation, "synthesize_phase", kept)
            patch.setattr(generation, "lift_gait", kept_lift)
            self.answer = answered(walk(), self.told.append)
        self.gait = deserialize_message(self.answer.content, Gait)

    def again(self, patch: pytest.MonkeyPatch, request: GaitRequest, **changes: Any) -> Answer:
        """The answer to a request with the same phases, without solving them once more."""
        solutions = iter(self.solutions)
        patch.setattr(generation, "synthesize_phase", lambda *_, **__: next(solutions))
        return answered(request, self.told.append, dataclasses.replace(DEFAULTS, **changes))


@pytest.fixture(scope="module")
def planned() -> Planned:
    return Planned()


@pytest.fixture(scope="module")
def gait(planned: Planned) -> Gait:
    assert planned.answer.success, planned.answer.message
    return planned.gait


@pytest.fixture(scope="module")
def bip() -> Robot:
    return load_robot("bip")


@pytest.fixture(scope="module")
def times(gait: Gait) -> np.ndarray:
    return np.array([seconds(point.time_from_start) for point in gait.trajectory.joints.points])


# The answer -------------------------------------------------------------------------------------------------------


def test_stages_are_told_and_what_is_solved(planned: Planned) -> None:
    stages = [item for item in planned.told if item.result is None]
    lifts = [item for item in stages if item.stage.startswith("lift: ")]
    count = len(planned.gait.phases)
    assert {item.part for item in stages} <= set(range(count + 1))
    assert stages[-len(lifts) :] == lifts  # after all phases are solved
    assert all(item.part == count for item in lifts)
    passes = [item.residual for item in lifts if "filter pass" in item.stage]
    assert len(passes) == 5
    assert passes[0] > 5e-3 > 1e-3 > passes[-1]
    partial = [deserialize_message(item.result, Gait) for item in planned.told if item.result is not None]
    assert len(partial[-1].phases) == count
    assert not partial[-1].trajectory.joints.points


def test_it_is_the_level_walk_from_rest_to_rest(gait: Gait, times: np.ndarray, planned: Planned) -> None:
    kinds = [phase.kind for phase in gait.phases]
    steps = [GaitPhaseRequest.DOUBLE_SUPPORT, GaitPhaseRequest.SINGLE_SUPPORT] * 3
    assert kinds == [GaitPhaseRequest.START, *steps, GaitPhaseRequest.DOUBLE_SUPPORT, GaitPhaseRequest.STOP]
    assert all(phase.status == GaitPhase.CONVERGED for phase in gait.phases)
    assert planned.answer.message == ""
    steady = [phase for phase in gait.phases if phase.kind == GaitPhaseRequest.SINGLE_SUPPORT][1]
    double = gait.phases[gait.phases.index(steady) - 1]
    length = steady.report.distance + double.report.distance
    assert length == pytest.approx(0.4, abs=1e-3)
    assert length / (steady.times[-1] + double.times[-1]) == pytest.approx(0.533, abs=0.002)
    trajectory = gait.trajectory
    assert times[-1] == pytest.approx(gait.duration + 3.0, abs=1e-6)  # time to shift the weight at both ends
    for end in (0, -1):
        twist = trajectory.base_twist[end]
        np.testing.assert_allclose([*array(twist.linear), *array(twist.angular)], 0.0, atol=1e-6)
        np.testing.assert_allclose(trajectory.joints.points[end].velocities, 0.0, atol=1e-6)
    advance = trajectory.base[-1].position.x - trajectory.base[0].position.x
    assert advance == pytest.approx(gait.distance, abs=2e-3)
    assert gait.margin == pytest.approx(0.0243, abs=0.002)


def motion(trajectory: Any, robot: Robot, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posture, velocity and accelerations, the base's left at 0, at a point."""
    point, twist = trajectory.joints.points[k], trajectory.base_twist[k]
    q, v, a = trajectory_posture(trajectory, robot, k), np.zeros(robot.model.nv), np.zeros(robot.model.nv)
    v[:6] = *array(twist.linear), *array(twist.angular)
    for name, speed, rate in zip(trajectory.joints.joint_names, point.velocities, point.accelerations, strict=True):
        v[robot.index_v(name)], a[robot.index_v(name)] = speed, rate
    return q, v, a


def test_forces_and_torques_are_the_motions(gait: Gait, bip: Robot, times: np.ndarray) -> None:
    """Pinocchio's dynamics of the whole robot under the message's forces and efforts, rotors included.

    The base's accelerations, which messages don't have, follow from its own six equations. They have to be the
    derivatives of its twist, and the joints' equations have to give the efforts.
    """
    trajectory, model, data = gait.trajectory, bip.model, bip.model.createData()
    columns = [bip.index_v(name) for name in trajectory.joints.joint_names]
    assert sorted(columns) == list(range(6, model.nv))
    twists = np.array([[*array(twist.linear), *array(twist.angular)] for twist in trajectory.base_twist])
    slopes = np.gradient(twists, times, axis=0)
    starts = np.array([phase.start for phase in trajectory.contacts])
    checked = 0
    for k in range(1, len(times) - 1, 9):
        q, v, a = motion(trajectory, bip, k)
        pin.computeAllTerms(model, data, q, v)
        M = np.triu(data.M) + np.triu(data.M, 1).T
        loads = np.zeros(model.nv)
        for force in trajectory.forces[k].contacts:
            joint = bip.parts.links[force.body_a.partition("/")[2]].joint_id
            J = pin.getJointJacobian(model, data, joint, pin.LOCAL_WORLD_ALIGNED)
            lever = array(force.position) - data.oMi[joint].translation
            loads += (J[:3] - pin.skew(lever) @ J[3:]).T @ array(force.force)
        a[:6] = np.linalg.solve(M[:6, :6], loads[:6] - data.nle[:6] - M[:6, 6:] @ a[6:])
        told = np.array(trajectory.joints.points[k].effort)
        efforts = (M @ a + data.nle - loads)[columns]
        np.testing.assert_allclose(efforts, told, atol=1e-3, err_msg=f"{times[k]:.3f} s")
        if np.abs(starts - times[k]).min() > 0.03:  # where accelerations may jump, differences tell nothing
            np.testing.assert_allclose(a[:6], slopes[k], atol=0.25, err_msg=f"{times[k]:.3f} s")
            checked += 1
    assert checked > 100


def soles(robot: Robot, q: np.ndarray) -> dict[str, np.ndarray]:
    """(4, 3) corners of both soles in a posture [m]."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    found = {}
    for side, name in SOLES.items():
        contact = robot.contacts[name]
        link = robot.parts.links[contact.link]
        place = data.oMi[link.joint_id] * link.placement_joint_link
        found[side] = np.array([place.act(corner) for corner in contact.vertices_link])
    return found


def test_soles_stand_on_the_ground_where_the_schedule_says(gait: Gait, bip: Robot, times: np.ndarray) -> None:
    trajectory = gait.trajectory
    places = [soles(bip, trajectory_posture(trajectory, bip, k)) for k in range(len(times))]
    heights = {side: np.array([at[side][:, 2] for at in places]) for side in SOLES}
    assert min(height.min() for height in heights.values()) > -2e-3  # none sinks in
    lifted = {side: height.min(axis=1) > 5e-3 for side, height in heights.items()}
    swings = [side for k in range(1, len(times)) for side in SOLES if lifted[side][k] and not lifted[side][k - 1]]
    assert swings == ["left", "right", "left", "right", "left"]  # the right leg bears first
    assert sum(phase.duration for phase in trajectory.contacts) == pytest.approx(times[-1])
    for phase in trajectory.contacts:
        inside = (times > phase.start + 1e-6) & (times < phase.start + phase.duration - 1e-6)
        down = {contact.location for contact in phase.stance.contacts}
        assert down, "nothing bears"
        for side, name in SOLES.items():
            if name in down:
                np.testing.assert_allclose(heights[side][inside], 0.0, atol=1e-6)
                stood = np.array([at[side] for at, here in zip(places, inside, strict=True) if here])
                np.testing.assert_allclose(stood, np.broadcast_to(stood[0], stood.shape), atol=1e-6)
            elif f"{name}/toe" in down:
                np.testing.assert_allclose(np.sort(heights[side][inside], axis=1)[:, :2], 0.0, atol=2e-3)
    # Legs keep to their sides: they aren't exchanged, and don't cross.
    assert max(at["right"][:, 1].max() for at in places) < min(at["left"][:, 1].min() for at in places)


def test_the_zero_moment_point_is_that_of_the_forces_and_inside_what_presses(gait: Gait) -> None:
    trajectory = gait.trajectory
    sway = []
    for forces, point in zip(trajectory.forces, trajectory.zero_moment_point, strict=True):
        at = np.array([array(force.position) for force in forces.contacts])
        push = np.array([array(force.force) for force in forces.contacts])
        np.testing.assert_allclose(push[:, 2] @ at / push[:, 2].sum(), array(point), atol=1e-5)
        assert (np.hypot(push[:, 0], push[:, 1]) <= 0.6 * push[:, 2] + 1e-6).all()
        assert at[:, 0].min() <= point.x <= at[:, 0].max()
        sway.append(point.y)
    assert min(sway) < -0.05
    assert max(sway) > 0.05
    y = [pose.position.y for pose in trajectory.base]
    assert -0.1 < min(y) < -0.02 < 0.02 < max(y) < 0.1


def test_figures_are_the_robot_in_space(gait: Gait, bip: Robot, times: np.ndarray) -> None:
    figure, trajectory = gait.figure, gait.trajectory
    names, points = list(figure.point_names), figure_points(figure)
    at, forces = figure_forces(figure)
    assert list(figure.foot_names) == ["left", "right"]
    np.testing.assert_allclose(figure.foot_widths, [0.12, 0.18] * 2, atol=1e-9)
    data, compared = bip.model.createData(), 0
    for sample, time in enumerate(figure.times):
        k = int(np.argmin(np.abs(times - time)))
        if abs(times[k] - time) > 1e-8:
            continue
        compared += 1
        pin.forwardKinematics(bip.model, data, trajectory_posture(trajectory, bip, k))
        for point, joint in (("right_knee", "r_knee"), ("left_hip", "l_hip_pitch"), ("left_ankle", "l_ankle_pitch")):
            place = data.oMi[bip.parts.joint_ids[joint]].translation
            np.testing.assert_allclose(points[sample, names.index(point)], place, atol=1e-9)
        pushed = sum(array(force.force) for force in trajectory.forces[k].contacts)
        if time not in (phase.start for phase in trajectory.contacts):
            np.testing.assert_allclose(forces[sample].sum(axis=0), pushed, atol=1e-6)
    assert compared > 200
    lines = np.array(figure.lines).reshape(-1, 2)
    lengths = np.linalg.norm(points[:, lines[:, 0]] - points[:, lines[:, 1]], axis=2)
    assert np.ptp(lengths, axis=0).max() < 1e-9  # bodies are rigid
    presses = forces[:, :, 2] > 1.0
    np.testing.assert_allclose(at[presses][:, 2], 0.0, atol=2e-3)
    right, left = at[presses[:, 1], 1], at[presses[:, 0], 0]
    assert right[:, 1].max() < 0.0 < left[:, 1].min()
    prints = footprints(figure)
    assert sorted(foot for foot, _ in prints) == ["left"] * 4 + ["right"] * 3  # where they stood, and five steps
    markers = strip_markers(figure, "world", Time(), 9, 0.001).markers
    assert {marker.ns for marker in markers} >= {"stick_figures", "foot_forces", "footprints", "hip"}
    swayed = [marker.points[0].y for marker in markers if marker.ns == "foot_forces"]
    assert min(swayed) < -0.05 < 0.05 < max(swayed)
    for foot, corners in prints:
        assert (np.sign(corners[:, 1]) == (1.0 if foot == "left" else -1.0)).all()


@pytest.mark.feature("003-F111")
def test_the_answer_walks_in_the_simulator_and_stands(gait: Gait, times: np.ndarray) -> None:
    """Servos of the robot's own gains follow the message's joints, its efforts are fed forward, nothing balances."""
    trajectory = gait.trajectory
    points = trajectory.joints.points
    rows = [np.array([getattr(p, name) for p in points]) for name in ("positions", "velocities", "accelerations")]
    plan = JointTrajectory(
        list(trajectory.joints.joint_names), times, *rows, efforts=np.array([point.effort for point in points])
    )
    simulation = Simulation("bip_walk")
    robot = simulation.robots["bip"]
    robot.set_state(trajectory_posture(trajectory, robot.robot, 0))
    player = TrajectoryPlayer("bip", plan)
    simulation.add_module(player)
    base = np.array([array(pose.position) for pose in trajectory.base])
    astray = 0.0
    while simulation.time < times[-1] + 1.0:
        simulation.step()
        if simulation.step_count % 20 == 0:
            wanted = [np.interp(simulation.time, times, base[:, axis]) for axis in range(3)]
            astray = max(astray, float(np.abs(robot.placement_world_base.translation - wanted).max()))
    assert astray < 0.01
    assert np.abs(robot.v).max() < 0.05  # it stands
    assert float(player.tracking_error.largest.max()) < math.radians(0.5)


def test_limits_that_the_whole_robot_passes_are_told(
    planned: Planned, gait: Gait, bip: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a robot with two thirds of the torque, of one with slow joints, and of one whose knees hardly bend."""
    assert planned.lifted is not None
    limits, knee = bip.limits, bip.index_q("l_knee")
    points = gait.trajectory.joints.points
    names = list(gait.trajectory.joints.joint_names)
    upper, weaker = np.array(limits.upper), np.array(limits.effort) / 1.5
    upper[knee] = max(point.positions[names.index("l_knee")] for point in points) - 0.1
    most = np.array([weaker[bip.index_v(name)] for name in names])
    efforts = np.abs([point.effort for point in points]).max(axis=0)
    speeds = np.abs([point.velocities for point in points]).max(axis=0)
    weak, quick = int((efforts / most).argmax()), int(speeds.argmax())
    for changes, told in (
        ({"upper": upper}, "l_knee: greatest position exceeded by 0.1 rad"),
        ({"effort": weaker}, f"{names[weak]}: effort exceeded by {efforts[weak] - most[weak]:.3g} N m"),
        (
            {"velocity": np.full(len(limits.velocity), 2.0)},
            f"{names[quick]}: speed exceeded by {speeds[quick] - 2.0:.3g} rad/s",
        ),
    ):
        other = dataclasses.replace(bip, limits=dataclasses.replace(limits, **changes))
        lifted = dataclasses.replace(planned.lifted, robot=other)
        monkeypatch.setattr(generation, "lift_gait", lambda *_, lifted=lifted: lifted)
        answer = planned.again(monkeypatch, walk())
        assert not answer.success
        assert answer.message.startswith(f"converged, but {told}"), answer.message


# What can't be done -----------------------------------------------------------------------------------------------


def test_a_time_limit_ends_a_lift(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = planned.again(monkeypatch, walk(), time_limit=0.1)
    assert not answer.success
    assert answer.message == "options.time_limit: 0.1 s were not enough to lift the gait"
    partial = deserialize_message(answer.content, Gait)
    assert len(partial.phases) == len(planned.gait.phases)
    assert not partial.trajectory.joints.points


def test_a_gait_that_the_ground_cannot_carry_is_told_with_its_phases(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = planned.again(monkeypatch, walk(), friction=0.05, sample_rate=20.0)
    assert not answer.success
    assert "The gait can't be lifted: " in answer.message
    assert "no forces of the ground carry the motion" in answer.message
    assert "or more friction" in answer.message
    partial = deserialize_message(answer.content, Gait)
    assert len(partial.phases) == len(planned.gait.phases)
    assert not partial.trajectory.joints.points


STEP = step_message("bip_cyclic", initial_sole_angle=0.0)
FROM_REST = GaitPhaseRequest(kind=GaitPhaseRequest.START, duration=0.6, next_step=STEP)
TO_REST = GaitPhaseRequest(kind=GaitPhaseRequest.STOP, duration=0.6, step=STEP)
BETWEEN = double("bip_cyclic", step=STEP)


def phases(*items: GaitPhaseRequest, **changes: Any) -> GaitRequest:
    return walk(phases=list(items), **changes)


def changed(phase: GaitPhaseRequest, **changes: Any) -> GaitPhaseRequest:
    fields = {name: getattr(phase, name) for name in phase.get_fields_and_field_types()}
    return GaitPhaseRequest(**{**fields, **changes})


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (walk(model="rabbit"), "model: 'rabbit' is no whole robot that a gait could be lifted to. Give bip"),
        (walk(model="five_bar"), "model: 'five_bar' is no whole robot"),
        (walk(model="legs.yaml"), "model: 'legs.yaml' is no whole robot"),
        (walk(model="bip_planar"), "model: 'bip_planar' moves in the plane alone"),
        (walk(model="nobody"), "model: there is no model or robot 'nobody'"),
        (walk(speed=0.7), "speed: is 0.7 m/s, but the level walk of 'bip' has its own: steps of 0.40 m at 0.53 m/s"),
        (walk(speed=math.nan), "speed: is nan"),
        (walk(step_length=0.5), "step_length: is 0.5 m, but 'bip' takes steps of 0.40 m at most on its level walk"),
        (walk(step_length=-0.1), "step_length: is -0.1. Give a finite number of 0"),
        (walk(cycles=2000), "cycles: is 2000. Give at most 1000"),
        (walk(one_problem=True), "one_problem: is true, but one problem has feet land on their heels, where the whole"),
        (walk(weights=GaitWeights(torque=2.0)), "weights.torque: is given, but the level walk has criterion"),
        (walk(bounds=GaitBounds(enforce_friction=True)), "bounds.enforce_friction: is given, but the level walk"),
        (walk(bounds=GaitBounds(max_velocities=[3.0])), "bounds.max_velocities: is given, but the level walk"),
        (
            walk(options=GaitSolverOptions(stages=[GaitStage(quantity=GaitStage.INERTIA, values=[2.0])])),
            "options.stages: is given, but the level walk",
        ),
        (
            phases(BETWEEN, single("bip_cyclic")),
            "phases: are DOUBLE_SUPPORT, SINGLE_SUPPORT, but the whole robot starts and stops at rest. Begin",
        ),
        (phases(FROM_REST, BETWEEN), "phases: are START, DOUBLE_SUPPORT, but the whole robot starts and stops at"),
        (phases(FROM_REST, BETWEEN, TO_REST, cycles=2), "cycles: is 2, but phases from START to STOP are lifted once"),
        (
            phases(FROM_REST, double("bip_cyclic", step=step_message("bip_cyclic", step_height=0.1)), TO_REST),
            "phases[1].step.step_height: is 0.1 m, but gaits are lifted on level ground",
        ),
        (
            phases(changed(FROM_REST, free_initial=[True] * 12), BETWEEN, TO_REST),
            "phases[0].free_initial: is given, but the whole robot is at rest there",
        ),
        (
            phases(FROM_REST, BETWEEN, changed(TO_REST, final_state=[1.0] * 12)),
            "phases[2].final_state: is given, but the whole robot is at rest there",
        ),
        (phases(FROM_REST, BETWEEN, TO_REST, speed=0.5), "speed: is 0.5, but phases are given, which fix it"),
    ],
)
def test_what_cannot_be_honoured_is_refused(request_: GaitRequest, message: str) -> None:
    with pytest.raises(InputError) as refused:
        answered(request_)
    assert message in str(refused.value)


@pytest.mark.slow
def test_phases_that_are_given_are_lifted() -> None:
    """Two steps through the first and the last double support of the level walk, by the request's own numbers."""
    first, last = step_message("bip2000_first"), step_message("bip2000_last")
    request = phases(
        changed(FROM_REST, next_step=first),
        double("bip2000_first"),
        single("bip2000_first", next_step=last),
        double("bip2000_last"),
        changed(TO_REST, step=last),
    )
    answer = answered(request, defaults=GaitDefaults(time_limit=300.0))
    assert answer.success, answer.message
    gait = deserialize_message(answer.content, Gait)
    assert [phase.kind for phase in gait.phases] == [phase.kind for phase in request.phases]
    assert gait.margin > 0.005
    points = gait.trajectory.joints.points
    assert seconds(points[-1].time_from_start) == pytest.approx(gait.duration + 3.0, abs=1e-6)
    height = load_walk("bip2000_last").rest.hip_height
    names = list(gait.figure.point_names)
    assert figure_points(gait.figure)[-1, names.index("hip"), 2] == pytest.approx(height, abs=2e-3)
    lower = request.phases[-1]
    lower.rest = GaitRest(hip_height=height - 0.02)
    request.phases = [*request.phases[:-1], lower]
    other = deserialize_message(answered(request, defaults=GaitDefaults(time_limit=300.0)).content, Gait)
    assert figure_points(other.figure)[-1, names.index("hip"), 2] == pytest.approx(height - 0.02, abs=2e-3)


@pytest.mark.slow
def test_a_urdf_by_its_path_walks_shorter_steps(tmp_path: Path) -> None:
    """BIP2000 under another name, somewhere else; the replay finds it there."""
    for suffix in (".urdf", ".yaml"):
        text = find_resource(f"urdf/bip{suffix}").read_text()
        (tmp_path / f"other{suffix}").write_text(text.replace('<robot name="bip"', '<robot name="other"'))
    path = str(tmp_path / "other.urdf")
    answer = answered(walk(model=path, step_length=0.3), defaults=GaitDefaults(time_limit=300.0))
    assert answer.success, answer.message
    gait = deserialize_message(answer.content, Gait)
    assert gait.distance == pytest.approx(0.75 * 1.28)  # of its steps of 0.4 m
    assert (gait.model, gait.trajectory.robot) == (path, "other")
    assert gait_robot(gait, geometry=False).name == "other"
