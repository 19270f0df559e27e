# SPDX-License-Identifier: Apache-2.0
"""The client against running nodes, and without any."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from fixtures.ros_domain import claim_domain
from fixtures.ros_processes import start_program

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from control_msgs.action import FollowJointTrajectory
from humanoid_stack.msg import PostureTask, WholeBodyTrajectory

from examples.contact_scenarios import TOP, five_stairs
from humanoid_gait import WalkRequest
from humanoid_model import Contact, Scene, Stance, Surface, load_robot, load_scene
from humanoid_model.errors import HumanoidError, InputError
from humanoid_model.progress import Progress
from humanoid_planner.contacts import plan_contacts, verify_plan
from humanoid_planner.kinematics import RobotKinematics
from humanoid_planner.posture import Load, NearReference, check_stance, generate_posture
from humanoid_planner.posture.motion import squat_motion
from humanoid_ros.client import HumanoidStack, StackError
from humanoid_ros.client.connection import Connection
from humanoid_ros.node.answering_node import AnsweringActionServer

pytestmark = pytest.mark.ros
NODES = ("simulator", "contact_planner", "model_generator", "gait_generator")
CHEST = "CHEST_LINK1"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HumanoidStack]:
    """Four nodes, and a client in their domain."""
    domain, folder = claim_domain(), tmp_path_factory.mktemp("stack")
    processes = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ROS_DOMAIN_ID", str(domain))
        for name in NODES:
            with (folder / name).open("wb") as log:
                processes.append(start_program(name, domain, log=log))
        try:
            with HumanoidStack(patience=120.0) as stack:
                yield stack
        finally:
            for process in processes:
                process.kill()
                process.wait()


@pytest.fixture
def stood(stack: HumanoidStack) -> Iterator[HumanoidStack]:
    """The stack with a robot that has just begun to stand, paused."""
    stack.pause()
    stack.reset()
    yield stack
    stack.resume()


@pytest.fixture(scope="module")
def scene() -> Scene:
    return load_scene("stand")


@pytest.fixture(scope="module")
def feet(scene: Scene) -> Stance:
    robot = scene.robots[0].robot
    (floor,) = (surface for surface in scene.surfaces if surface.name == "floor")
    sides = (("left", 0.095), ("right", -0.095))
    return Stance(tuple(Contact(robot.contacts[f"{side}_sole"], floor, 0.04, y, 0.0) for side, y in sides))


def test_simulated_time_stands_passes_and_goes_by_steps(stood: HumanoidStack) -> None:
    start = stood.step()
    told: list[Progress] = []
    assert stood.run(0.3, told.append) == pytest.approx(start + 0.3, abs=1e-9)
    shares = [progress.fraction for progress in told]
    assert shares == pytest.approx([1.0 / 3.0, 2.0 / 3.0, 1.0])
    assert stood.run(0.3, lambda progress: True) == pytest.approx(start + 0.4, abs=1e-9)
    assert stood.state.time == pytest.approx(start + 0.4, abs=1e-9)
    stood.resume()
    later = stood.run(0.2)
    assert later >= start + 0.6 - 1e-9
    stood.pause()
    assert stood.status.paused


def test_a_push_moves_the_robot_as_long_as_it_lasts(stood: HumanoidStack) -> None:
    stood.step()
    rest = stood.state
    assert rest.base is not None
    stood.push(CHEST, (300.0, 0.0, 0.0), duration=0.1)
    stood.run(0.1)
    assert stood.state.twist[0] > 0.05
    assert sum(contact.force.z for contact in stood.contacts.contacts) > 100.0


def test_it_stands_where_it_is_put(stood: HumanoidStack) -> None:
    base = pin.SE3(np.eye(3), np.array([0.5, 0.2, 0.9]))
    stood.stand("squat", base)
    stood.step()
    state = stood.state
    assert state.base is not None
    np.testing.assert_allclose(state.base.translation, base.translation, atol=1e-4)
    squat = stood.robot.postures["squat"]
    for name in stood.robot.joint_names:
        assert state.positions[name] == pytest.approx(squat[stood.robot.index_q(name)], abs=1e-3)
    stood.stand({"HEAD_JOINT0": 0.3})
    stood.step()
    assert stood.state.positions["HEAD_JOINT0"] == pytest.approx(0.3, abs=1e-3)


def test_it_follows_a_motion_and_tells_how_far_it_is(stood: HumanoidStack) -> None:
    motion = squat_motion(stood.robot, knee=1.2, count=1, period=1.0)
    stood.resume()
    told: list[Progress] = []
    answer = stood.follow(motion, progress=told.append, timeout=300.0)
    assert answer.success, answer.message
    feedback: list[Any] = [progress.result for progress in told]
    knee = feedback[0].joint_names.index("RLEG_JOINT3")
    assert max(item.actual.positions[knee] for item in feedback) == pytest.approx(1.2, abs=0.1)
    shares = [progress.fraction for progress in told if progress.fraction is not None]
    assert shares == sorted(shares)
    assert 0.8 < shares[-1] <= 1.0


def test_a_motion_is_cancelled_by_hand_and_by_an_error_on_the_way(stood: HumanoidStack) -> None:
    motion = squat_motion(stood.robot, knee=1.2, count=5, period=2.0)
    stood.resume()
    task = stood.begin_follow(motion)
    end = time.monotonic() + 60.0
    while task.feedback is None:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert not task.done
    task.cancel()
    answer = task.result(60.0)
    assert not answer.success
    assert "Canceled" in answer.message
    assert "Canceled" in stood.follow(motion, progress=lambda _: True, timeout=60.0).message

    def fail(_: Any) -> None:
        raise ValueError("far enough")

    with pytest.raises(ValueError, match="far enough"):
        stood.follow(motion, progress=fail, timeout=60.0)
    with pytest.raises(StackError, match=r"Waited 0\.2 s in vain for the end of"):
        stood.follow(motion, timeout=0.2)


def test_postures_and_equilibrium_are_the_librarys(stack: HumanoidStack, scene: Scene, feet: Stance) -> None:
    robot = scene.robots[0].robot
    answer = stack.posture(feet, torque_limits=True, time_limit=100.0)
    assert answer.success, answer.explanation
    near = NearReference(RobotKinematics(robot), robot.default_posture)
    result = generate_posture(
        robot, feet, scene=scene, criterion=near, stability="forces", torque_limits=True, largest_margin=True
    )
    np.testing.assert_allclose(answer.q, result.q, atol=1e-12)
    np.testing.assert_allclose(answer.forces, result.forces, atol=1e-9)
    assert result.balance is not None
    assert answer.margin == result.balance.margin
    loads = [Load("RARM_LINK6", [0.0, 0.0, -20.0])]
    tested = stack.equilibrium(feet, answer.q, loads=loads)
    expected = check_stance(robot, feet, scene=scene, posture=answer.q, loads=loads)
    assert tested.equilibrium
    assert tested.margin == pytest.approx(expected.margin, rel=1e-9)
    assert tested.efforts == pytest.approx(expected.efforts, abs=1e-6)
    assert not stack.equilibrium(feet, centre_of_mass=(0.3, 0.0, 0.8), method="polygon").equilibrium


def test_what_the_request_adds_is_used_and_no_posture_is_an_answer(
    stack: HumanoidStack, scene: Scene, feet: Stance
) -> None:
    far = Surface("far", "world", pin.SE3(np.eye(3), np.array([3.0, 0.0, 1.0])), None)
    hand = Contact(scene.robots[0].robot.contacts["right_hand_back"], far, 0.0, 0.0, 0.0)
    answer = stack.posture(Stance((*feet.contacts, hand)), surfaces=[far])
    assert not answer.success
    assert "right_hand_back" in answer.explanation


def test_a_plan_is_the_librarys_is_told_given_up_and_checked(stack: HumanoidStack) -> None:
    stairs = five_stairs()
    goal = [{"kind": PostureTask.CENTRE_OF_MASS, "target": TOP, "tolerance": 0.2}]
    wanted: dict[str, Any] = {
        "scene": "five_stairs",
        "used_locations": ["left_sole", "right_sole"],
        "candidates": {"headings": [0.0], "turn": 0.1},
        "potentials": [{"target": TOP}],
        "terms": [{"weight": 0.02}],
        "criterion": "reference",
        "collisions": False,
        "seed": 2,
    }
    told: list[Progress] = []
    answer = stack.plan(stairs.problem.start, goal, max_nodes=6, progress=told.append, **wanted)
    own = plan_contacts(stairs.but(seed=2).problem, max_nodes=6)
    assert not answer.success
    assert answer.explanation == own.explanation
    np.testing.assert_allclose(answer.postures, own.postures, atol=1e-9)
    assert told[-1].nodes == own.statistics.nodes
    assert told[-1].cost == min(own.potentials)
    assert stack.verify(answer) == verify_plan(stairs.robot, stairs.scene, own.stances, answer.postures)
    (broken, *_) = stack.verify(answer.plan, torque=0.01).violations
    assert broken.kind == "torque"
    cancelled = stack.plan(stairs.problem.start, goal, progress=lambda news: news.nodes > 3, **wanted)
    assert cancelled.explanation == "Cancelled."
    assert cancelled.postures
    with pytest.raises(InputError, match="method: there is no method 'guess'"):
        stack.plan(stairs.problem.start, goal, method="guess")


def test_a_plan_becomes_a_motion_that_the_simulated_robot_follows(stack: HumanoidStack, feet: Stance) -> None:
    goal = [{"kind": PostureTask.CENTRE_OF_MASS, "target": (0.3, 0.0, 0.75), "tolerance": 0.15}]
    plan = stack.plan(
        feet,
        goal,
        scene="stand",
        candidates={"headings": [0.0], "turn": 0.1},
        potentials=[{"target": (0.3, 0.0, 0.75)}],
        terms=[{"weight": 0.02}],
        criterion="reference",
        stability="forces",
        stability_margin=10.0,
        torque_limits=True,
        collisions=False,
        shorten=True,
    )
    assert plan.success, plan.explanation
    told: list[Progress] = []
    motion = stack.motion(plan, collisions=False, pause=0.2, progress=told.append)
    assert motion.success, motion.message
    assert any("_sole from floor to floor" in item.stage for item in told)
    answer = stack.play(motion.trajectory)
    assert answer.success, answer.message
    state, end = stack.state, motion.trajectory.base[-1].position
    assert state.base is not None
    np.testing.assert_allclose(state.base.translation, [end.x, end.y, end.z], atol=5e-3)
    with pytest.raises(InputError, match="speed: is -1"):
        stack.motion(plan, speed=-1.0)
    with pytest.raises(InputError, match="motion: has no points"):
        stack.play(WholeBodyTrajectory())
    stack.reset()


def test_efforts_are_pinocchios_and_code_is_text(stack: HumanoidStack) -> None:
    robot = load_robot("hrp2", geometry=False)
    rng = np.random.default_rng(3)
    positions = {name: float(rng.uniform(-0.5, 0.5)) for name in robot.joint_names}
    q = pin.neutral(robot.model)
    for name, value in positions.items():
        q[robot.index_q(name)] = value
    tau = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), robot.place_base(q, pin.SE3.Identity()))
    efforts = stack.inverse_dynamics(positions)
    for name in robot.joint_names:
        assert efforts.joints[name] == pytest.approx(tau[robot.index_v(name)], abs=1e-6)
    np.testing.assert_allclose(efforts.base_force, tau[:3], atol=1e-6)
    (text,) = stack.model("python", ["gravity"]).values()
    compile(text, "generated", "exec")


def test_a_gait_tells_its_iterations_and_is_given_up(stack: HumanoidStack) -> None:
    asked = WalkRequest(0.2, intervals=(3, 8))
    told: list[Progress] = []
    result = stack.gait(asked, steps=3, time_limit=300.0, progress=told.append)
    assert result.success, result.message
    assert result.gait.speed == pytest.approx(0.2 / 0.75)
    assert result.gait.duration == pytest.approx(2.25)
    assert max(progress.iteration for progress in told) > 3

    def fail(_: Any) -> None:
        raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        stack.gait(asked, progress=fail)


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda stack, feet: stack.push("NOSE", (1.0, 0.0, 0.0)), "body: there is no body 'hrp2/NOSE'"),
        (lambda stack, feet: stack.push(CHEST, (1.0, 0.0)), "force: is (1.0, 0.0). Give 3 numbers."),
        (lambda stack, feet: stack.stand("lying"), "posture: the robot 'hrp2' has no posture 'lying'"),
        (lambda stack, feet: stack.posture(Stance(())), "stance: no contact bears force"),
        (lambda stack, feet: stack.posture(feet, magic=1), "magic: there is no field 'magic'. Known are: robot, scene"),
        (lambda stack, feet: stack.posture(feet, torque_limits=3), "torque_limits: is 3. Give what fits boolean"),
        (lambda stack, feet: stack.posture(feet, initial=[0.0]), "initial: is [0.0]. Give 37 numbers"),
        (lambda stack, feet: stack.posture(feet, criterion="beauty"), "criterion: there is no criterion 'beauty'"),
        (lambda stack, feet: stack.equilibrium(feet, method="none"), "method: there is no method 'none'"),
        (lambda stack, feet: stack.equilibrium(feet, loads=[Load("WAIST")]), "loads: needs the posture"),
        (lambda stack, feet: stack.inverse_dynamics({"NOSE": 0.0}), "joint_names[0]: the robot 'hrp2' has no joint"),
        (lambda stack, feet: stack.model("klingon"), "unknown language 'klingon'. Choose from"),
        (lambda stack, feet: stack.gait(WalkRequest(0.2), robot="nobody"), "'nobody'"),
        (lambda stack, feet: stack.gait(WalkRequest(0.2, double=0.0)), "double_support: is 0.0"),
        (lambda stack, feet: stack.gait(WalkRequest(0.2), leaps=3), "leaps: there is no field 'leaps'"),
        (
            lambda stack, feet: stack.follow(squat_motion(stack.robot, knee=1.2, count=1, period=1.0), limb="head"),
            "joint_names: 'RLEG_JOINT0' is none of the controller's joints",
        ),
    ],
)
def test_refusals_name_the_field(stack: HumanoidStack, feet: Stance, ask: Any, problem: str) -> None:
    with pytest.raises(HumanoidError) as refused:
        ask(stack, feet)
    assert isinstance(refused.value, InputError) or "language" in problem
    assert problem in str(refused.value)


def test_without_a_stack_whoever_asks_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))
    with HumanoidStack(patience=0.2) as stack:
        with pytest.raises(StackError, match=r"in vain for the service apply_wrench\. Is the stack running\?"):
            stack.push(CHEST, (1.0, 0.0, 0.0))
        with pytest.raises(StackError, match="in vain for the status of a simulator"):
            stack.run(1.0)
    stack.close()
    with pytest.raises(StackError, match="The client is closed"):
        stack.pause()


def test_a_closed_client_leaves_the_graph_though_it_has_used_an_action(
    answering_and_asking: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, other = answering_and_asking

    def execute(goal: Any) -> FollowJointTrajectory.Result:
        goal.succeed()
        return FollowJointTrajectory.Result(error_code=3)

    AnsweringActionServer(server, FollowJointTrajectory, "follow", execute)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(other.context.get_domain_id()))

    def wait_for_clients(there: bool) -> None:
        end = time.monotonic() + 60.0
        while any(name.startswith("humanoid_stack_client") for name in other.get_node_names()) != there:
            assert time.monotonic() < end, f"the client is {'not ' * there}there"
            time.sleep(0.02)

    gc.collect()
    gc.disable()
    try:
        connection = Connection("", 60.0, lambda: None)
        goal = FollowJointTrajectory.Goal()
        task = connection.start(FollowJointTrajectory, "follow", goal, lambda _, result: result.error_code, Progress)
        assert task.result(60.0) == 3
        wait_for_clients(True)
        connection.close()
        wait_for_clients(False)
    finally:
        gc.enable()


def test_whoever_waits_may_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", str(claim_domain()))

    def died() -> None:
        raise StackError("The simulator has died.")

    with HumanoidStack(check=died) as stack, pytest.raises(StackError, match="has died"):
        stack.reset()
