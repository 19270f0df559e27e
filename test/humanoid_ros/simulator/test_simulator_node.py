# SPDX-License-Identifier: Apache-2.0
"""The simulator node over DDS: what its topics carry, what its services do, what it refuses."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import yaml

rclpy = pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from builtin_interfaces.msg import Duration  # noqa: E402
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus  # noqa: E402
from geometry_msgs.msg import Point, Pose, Vector3, Wrench, WrenchStamped  # noqa: E402
from humanoid_stack.msg import ContactForces, JointCommand, SimulationStatus  # noqa: E402
from humanoid_stack.srv import ApplyWrench, LoadScene, SetState, StepSimulation  # noqa: E402
from nav_msgs.msg import Odometry  # noqa: E402
from rcl_interfaces.msg import Log, Parameter, ParameterType, ParameterValue  # noqa: E402
from rcl_interfaces.srv import DescribeParameters, ListParameters, SetParameters  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import Imu, JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402
from std_srvs.srv import SetBool, Trigger  # noqa: E402
from tf2_msgs.msg import TFMessage  # noqa: E402
from visualization_msgs.msg import Marker, MarkerArray  # noqa: E402

from humanoid_model import load_robot  # noqa: E402
from humanoid_model.files import find_resource  # noqa: E402
from humanoid_model.urdf import read_urdf  # noqa: E402
from humanoid_ros.messages.markers import read_view  # noqa: E402

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SIMULATOR_ARGUMENTS = ("-p", "diagnostics_rate:=10.0")
"""A refused command is told by the next diagnostics: nobody has to wait a second for each."""
WEIGHT = 58.0 * 9.81


def seconds(stamp: Any) -> float:
    return float(stamp.sec + 1e-9 * stamp.nanosec)


def pause(simulator: Any, value: bool = True) -> None:
    answer = simulator.call(SetBool, "pause", SetBool.Request(data=value))
    assert answer.success, answer.message


def step(simulator: Any, count: int) -> float:
    answer = simulator.call(StepSimulation, "step", StepSimulation.Request(steps=count))
    assert answer.success, answer.message
    return float(answer.time)


def listen(simulator: Any, kind: type, topic: str, qos: Any = 10) -> Any:
    """A listener that hears the simulator, which is at its start: each reset publishes everything."""
    listener = simulator.listen(kind, topic, qos)
    for _ in range(100):
        assert simulator.call(Trigger, "reset", Trigger.Request()).success
        if listener.heard(0.1):
            return listener
    raise AssertionError(f"{topic} is silent")


@pytest.fixture
def fresh(simulator: Any) -> Any:
    """The simulator at its start, paused."""
    pause(simulator)
    assert simulator.call(Trigger, "reset", Trigger.Request()).success
    yield simulator
    assert simulator.process.poll() is None


@pytest.fixture
def running(fresh: Any) -> Any:
    """The simulator from its start on, running."""
    pause(fresh, False)
    return fresh


@pytest.fixture(scope="module")
def settled(simulator: Any) -> dict[str, Any]:
    """What the topics say of a robot that has stood for two seconds, in one and the same run."""
    pause(simulator)
    topics = {
        "contacts": (ContactForces, 10),
        "markers": (MarkerArray, 10),
        "imu": (Imu, qos_profile_sensor_data),
        "wrenches/right_ankle": (WrenchStamped, qos_profile_sensor_data),
        "wrenches/left_ankle": (WrenchStamped, qos_profile_sensor_data),
        "wrenches/left_wrist": (WrenchStamped, qos_profile_sensor_data),
    }
    listeners = {topic: listen(simulator, kind, topic, qos) for topic, (kind, qos) in topics.items()}
    step(simulator, 2000)

    def time_of(message: Any) -> float:
        return seconds((message.markers[0] if isinstance(message, MarkerArray) else message).header.stamp)

    return {topic: listener.wait(lambda m: time_of(m) == 2.0) for topic, listener in listeners.items()}


# Topics -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "topic", "rate"),
    [
        (Clock, "/clock", 100.0),
        (JointState, "joint_states", 100.0),
        (TFMessage, "/tf", 50.0),
        (Odometry, "odometry", 100.0),
        (Imu, "imu", 100.0),
        (WrenchStamped, "wrenches/left_ankle", 100.0),
        (ContactForces, "contacts", 50.0),
        (MarkerArray, "markers", 25.0),
    ],
)
def test_rate_in_simulated_time(running: Any, kind: type, topic: str, rate: float) -> None:
    qos = QoSProfile(depth=50, reliability=ReliabilityPolicy.BEST_EFFORT)
    listener = running.listen(kind, topic, qos)
    listener.wait()
    listener.clear()

    def time_of(message: Any) -> float:
        if kind is Clock:
            return seconds(message.clock)
        parts = {TFMessage: "transforms", MarkerArray: "markers"}
        if kind in parts:
            return seconds(getattr(message, parts[kind])[0].header.stamp)
        return seconds(message.header.stamp)

    listener.wait(lambda _: len(listener.messages) > 12)
    steps = np.diff([time_of(message) for message in listener.messages[:12]])
    # Under load a best-effort message may be lost: a gap is then a whole number of periods.
    periods = steps * rate
    np.testing.assert_allclose(periods, np.round(periods), atol=1e-6)
    assert np.round(periods).min() == 1.0


def test_contacts_carry_the_weight(settled: dict[str, Any]) -> None:
    message = settled["contacts"]
    assert message.header.frame_id == "world"
    assert len(message.contacts) == 8
    assert {contact.body_a for contact in message.contacts} == {"hrp2/RLEG_LINK5", "hrp2/LLEG_LINK5"}
    assert {contact.body_b for contact in message.contacts} == {"floor"}
    assert sum(c.force.z for c in message.contacts) == pytest.approx(WEIGHT, rel=1e-6)
    for contact in message.contacts:
        assert contact.friction == pytest.approx(0.8)
        tangential = np.hypot(contact.force.x, contact.force.y)
        assert tangential <= 0.8 * contact.force.z + 1e-6
        assert contact.normal.z == pytest.approx(1.0)


def test_feet_and_hands_are_felt(settled: dict[str, Any]) -> None:
    robot = load_robot("hrp2")
    last = [settled[f"wrenches/{side}_ankle"].wrench.force for side in ("right", "left")]
    below = sum(robot.description.links[f"{side}LEG_LINK5"].inertial.mass for side in "RL")
    assert sum(force.z for force in last) == pytest.approx(WEIGHT - 9.81 * below, rel=1e-3)
    force = settled["wrenches/left_wrist"].wrench.force
    hand_mass = sum(robot.description.links[f"LARM_LINK{i}"].inertial.mass for i in (5, 6))
    assert np.linalg.norm([force.x, force.y, force.z]) == pytest.approx(9.81 * hand_mass, rel=1e-3)


def test_imu_feels_gravity(settled: dict[str, Any]) -> None:
    message = settled["imu"]
    force, rate = message.linear_acceleration, message.angular_velocity
    assert np.linalg.norm([force.x, force.y, force.z]) == pytest.approx(9.81, rel=1e-3)
    assert force.z > 9.0
    assert np.linalg.norm([rate.x, rate.y, rate.z]) < 1e-3


@pytest.mark.feature("000-F029")
def test_joint_states_and_odometry(fresh: Any) -> None:
    robot = load_robot("hrp2")
    joints = listen(fresh, JointState, "joint_states")
    odometry = listen(fresh, Odometry, "odometry")
    step(fresh, 100)
    message = joints.wait(lambda m: seconds(m.header.stamp) == 0.1)
    assert tuple(message.name) == robot.joint_names
    assert message.header.frame_id == "WAIST"
    q = robot.postures["half_sitting"]
    np.testing.assert_allclose(message.position, q[7:], atol=5e-3)
    assert len(message.velocity) == len(message.effort) == 30
    # Knees bear the body; the torque is what holds half-sitting.
    assert abs(message.effort[message.name.index("RLEG_JOINT3")]) > 10.0
    base = odometry.wait(lambda m: seconds(m.header.stamp) == 0.1)
    assert (base.header.frame_id, base.child_frame_id) == ("world", "WAIST")
    assert base.pose.pose.position.z == pytest.approx(q[2], abs=5e-3)


def test_transforms_put_the_soles_on_the_floor(fresh: Any) -> None:
    static = fresh.listen(TFMessage, "/tf_static", LATCHED)
    moving = listen(fresh, TFMessage, "/tf")
    joints = listen(fresh, JointState, "joint_states")
    odometry = listen(fresh, Odometry, "odometry")
    step(fresh, 500)
    at_end = [0.5]
    frames = {}
    for message in (
        static.wait(),
        moving.wait(lambda m: seconds(m.transforms[0].header.stamp) in at_end),
    ):
        for transform in message.transforms:
            move, turn = transform.transform.translation, transform.transform.rotation
            values = [move.x, move.y, move.z, turn.x, turn.y, turn.z, turn.w]
            frames[transform.child_frame_id] = (
                transform.header.frame_id,
                pin.XYZQUATToSE3(np.array(values)),
            )

    def placement(frame: str) -> pin.SE3:
        if frame == "world":
            return pin.SE3.Identity()
        parent, local = frames[frame]
        return placement(parent) * local

    robot = load_robot("hrp2")
    state = joints.wait(lambda m: seconds(m.header.stamp) in at_end)
    pose = odometry.wait(lambda m: seconds(m.header.stamp) in at_end).pose.pose
    p, o = pose.position, pose.orientation
    q = np.array([p.x, p.y, p.z, o.x, o.y, o.z, o.w, *state.position])
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    for link in robot.description.links:
        frame = robot.model.getFrameId(link, pin.FrameType.BODY)
        np.testing.assert_allclose(placement(link).homogeneous, data.oMf[frame].homogeneous, atol=1e-9)
    for sole in ("r_sole", "l_sole"):
        assert placement(sole).translation[2] == pytest.approx(0.0, abs=1e-4)
    for sensor in robot.sensors.values():
        expected = placement(sensor.link) * sensor.placement_link_sensor
        np.testing.assert_allclose(placement(f"{sensor.name}_frame").homogeneous, expected.homogeneous, atol=1e-9)


@pytest.mark.feature("004-F55")
def test_robot_description_is_latched(simulator: Any) -> None:
    text = simulator.listen(String, "robot_description", LATCHED).wait().data
    description = read_urdf(text)
    assert description.name == load_robot("hrp2").name
    assert description.total_mass == pytest.approx(58.0, abs=1e-9)


@pytest.mark.feature("000-F022")
def test_cones_are_red_and_as_high_as_the_force(settled: dict[str, Any]) -> None:
    """Specification 000, F022: the ratio of cone height to normal force is one number."""
    forces = settled["contacts"].contacts
    cones = [m for m in settled["markers"].markers if m.ns == "friction_cones" and m.action == Marker.ADD]
    assert len(cones) == len(forces) == 8
    for cone, contact in zip(cones, forces, strict=True):
        base, tip = cone.points
        height = np.linalg.norm([base.x - tip.x, base.y - tip.y, base.z - tip.z])
        assert height / contact.force.z == pytest.approx(0.0016, rel=1e-6)
        assert cone.scale.z == pytest.approx(height)
        assert cone.scale.y == pytest.approx(2 * 0.8 * height)
        assert cone.color.r > 0.8
        assert max(cone.color.g, cone.color.b) < 0.1
        assert (tip.x, tip.y, tip.z) == (
            contact.position.x,
            contact.position.y,
            contact.position.z,
        )


def test_scene_markers_show_the_floor(simulator: Any) -> None:
    message = simulator.listen(MarkerArray, "scene_markers", LATCHED).wait()
    assert message.markers[0].action == Marker.DELETEALL
    floor = [marker for marker in message.markers if marker.ns == "floor"]
    assert len(floor) == 1
    top = floor[0].pose.position.z + 0.5 * floor[0].scale.z
    assert top == pytest.approx(0.0, abs=1e-12)


def test_camera_and_lights_of_the_scene_are_told(simulator: Any) -> None:
    camera, lights = read_view(simulator.listen(MarkerArray, "scene_view", LATCHED).wait())
    assert camera is not None
    np.testing.assert_allclose(camera.placement.translation, [2.6, -1.6, 1.3])
    (light,) = lights
    np.testing.assert_allclose(light.position, [3.0, -2.0, 5.0, 1.0])
    np.testing.assert_allclose(light.ambient, [0.25, 0.25, 0.27, 1.0], atol=1e-6)


@pytest.mark.feature("000-F026")
def test_status_and_diagnostics(running: Any) -> None:
    status = running.listen(SimulationStatus, "status", LATCHED)
    diagnostics = running.listen(DiagnosticArray, "/diagnostics")
    message = status.wait_new(lambda m: not m.paused and m.time > 0.3)
    assert (message.scene, message.time_step) == ("stand", 0.001)
    assert message.time == pytest.approx(message.step * 0.001)
    assert message.real_time_factor > 0.0
    assert message.requested_real_time_factor == 1.0
    assert message.solver.contacts == 8
    assert message.solver.status == message.solver.CONVERGED
    assert message.total_energy == pytest.approx(message.kinetic_energy + message.potential_energy)
    assert message.potential_energy == pytest.approx(WEIGHT * 0.8, rel=0.2)
    assert {stage.stage for stage in message.profile} >= {"dynamics", "detection", "contacts"}
    assert 0.0 < message.step_seconds <= message.max_step_seconds
    report = diagnostics.wait_new().status[0]
    assert report.name == "simulator: simulation"
    values = {value.key: value.value for value in report.values}
    assert float(values["real-time factor"]) >= 0.0
    assert report.level in (DiagnosticStatus.OK, DiagnosticStatus.WARN)


@pytest.mark.feature("000-F026")
def test_another_clock_is_told_of(running: Any) -> None:
    """In log, diagnostics and status; the simulation goes on."""
    status = running.listen(SimulationStatus, "status", LATCHED)
    diagnostics = running.listen(DiagnosticArray, "/diagnostics")
    log = running.listen(Log, "/rosout", QoSProfile(depth=100))
    clock = running.node.create_publisher(Clock, "/clock", 10)
    words = "/clock is also published by /test_client"
    message = status.wait(lambda m: words in m.pause_reason)
    assert not message.paused
    report = diagnostics.wait(lambda m: words in m.status[0].message).status[0]
    assert report.level == DiagnosticStatus.ERROR
    assert log.wait(lambda m: words in m.msg).level == Log.ERROR
    running.node.destroy_publisher(clock)
    status.wait_new(lambda m: not m.pause_reason)


# Time ---------------------------------------------------------------------------------------------


def test_pausing_stops_time_and_steps_are_exact(fresh: Any) -> None:
    clock = listen(fresh, Clock, "/clock")
    joints = listen(fresh, JointState, "joint_states")
    assert step(fresh, 1) == pytest.approx(0.001, abs=1e-12)
    clock.wait(lambda m: (m.clock.sec, m.clock.nanosec) == (0, 1_000_000))
    assert step(fresh, 7) == pytest.approx(0.008, abs=1e-12)
    clock.wait(lambda m: (m.clock.sec, m.clock.nanosec) == (0, 8_000_000))
    joints.wait(lambda m: m.header.stamp.nanosec == 8_000_000)
    status = fresh.listen(SimulationStatus, "status", LATCHED)
    status.wait(lambda m: m.step == 8)
    for _ in range(3):
        message = status.wait_new()
        assert message.paused
        assert (message.step, message.real_time_factor) == (8, 0.0)
    assert clock.last.clock.nanosec == 8_000_000
    pause(fresh, False)
    clock.wait(lambda m: m.clock.nanosec >= 20_000_000)


def test_a_newcomer_hears_the_state_of_a_simulation_that_never_moved(start_node: Any) -> None:
    simulator = start_node("simulator", "-p", "paused:=true", "-p", "robot:=bip")
    joints, base = simulator.listen(JointState, "joint_states"), simulator.listen(Odometry, "odometry")
    clock, contacts = simulator.listen(Clock, "/clock"), simulator.listen(ContactForces, "contacts")
    frames = simulator.listen(TFMessage, "/tf")
    for listener in (joints, base, clock, contacts, frames):
        listener.wait()
    assert seconds(joints.last.header.stamp) == 0.0
    assert 0.5 < base.last.pose.pose.position.z < 1.0
    assert set(joints.last.name) == set(load_robot("bip").joint_names)  # in the place of HRP-2
    assert len(joints.last.position) == len(joints.last.name)
    # It is told a few times, not for ever.
    status = simulator.listen(SimulationStatus, "status", LATCHED)
    end = time.monotonic() + 60.0
    while time.monotonic() < end:
        joints.clear()
        for _ in range(3):
            status.wait_new()
        if not joints.messages:
            return
    raise AssertionError("the state of a paused simulation is told again and again")


def test_a_pause_ends_long_stepping(fresh: Any) -> None:
    client = fresh.node.create_client(StepSimulation, "step")
    assert client.wait_for_service(60.0)
    status = fresh.listen(SimulationStatus, "status", LATCHED)
    stepping = client.call_async(StepSimulation.Request(steps=4_000_000_000))
    status.wait_new(lambda m: m.step > 0)
    pause(fresh)
    answer = fresh.result(stepping)
    assert not answer.success
    assert "stopped by a pause" in answer.message
    step(fresh, 1)


def test_reset_brings_back_the_start(fresh: Any) -> None:
    odometry = listen(fresh, Odometry, "odometry")
    start = odometry.wait(lambda m: seconds(m.header.stamp) == 0.0).pose.pose
    request = ApplyWrench.Request(body="CHEST_LINK1", duration=Duration(sec=1))
    request.wrench.force = Vector3(x=300.0)
    assert fresh.call(ApplyWrench, "apply_wrench", request).success
    step(fresh, 500)
    pushed = odometry.wait(lambda m: seconds(m.header.stamp) == 0.5).pose.pose
    assert pushed.position.x > start.position.x + 0.01
    odometry.clear()
    assert fresh.call(Trigger, "reset", Trigger.Request()).success
    assert odometry.wait(lambda m: seconds(m.header.stamp) == 0.0).pose.pose == start
    odometry.clear()
    step(fresh, 500)
    back = odometry.wait(lambda m: seconds(m.header.stamp) == 0.5).pose.pose
    assert back.position.x == pytest.approx(start.position.x, abs=1e-3)


@pytest.mark.feature("000-F026")
def test_real_time_factor_parameter(fresh: Any) -> None:
    def ask(value: float) -> Any:
        parameter = Parameter(name="real_time_factor")
        parameter.value = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
        request = SetParameters.Request(parameters=[parameter])
        return fresh.call(SetParameters, "simulator/set_parameters", request).results[0]

    status = fresh.listen(SimulationStatus, "status", LATCHED)
    assert ask(0.25).successful
    pause(fresh, False)
    status.wait_new()
    begin = time.monotonic()
    start = status.wait_new()
    end = status.wait_new(lambda m: m.time > start.time + 0.5)
    assert end.requested_real_time_factor == 0.25
    # Never faster than asked for, but for the messages' own way.
    assert (end.time - start.time) / (time.monotonic() - begin) < 0.35
    assert not ask(-1.0).successful
    # A pace that no machine keeps: the status tells the one that is kept, and diagnostics that it is too slow.
    diagnostics = fresh.listen(DiagnosticArray, "/diagnostics")
    assert ask(100.0).successful
    status.wait_new(lambda m: m.requested_real_time_factor == 100.0)
    assert 0.0 < status.wait_new().real_time_factor < 90.0
    slow = diagnostics.wait_new(lambda m: "asked for 100" in m.status[0].message)
    assert slow.status[0].level == DiagnosticStatus.WARN
    assert ask(1.0).successful


def test_every_parameter_is_described(simulator: Any) -> None:
    names = simulator.call(ListParameters, "simulator/list_parameters", ListParameters.Request()).result.names
    own = [n for n in names if not n.startswith(("qos_overrides", "start_type_description"))]
    answer = simulator.call(
        DescribeParameters,
        "simulator/describe_parameters",
        DescribeParameters.Request(names=[n for n in own if n != "use_sim_time"]),
    )
    assert len(answer.descriptors) > 20
    for descriptor in answer.descriptors:
        assert descriptor.description, descriptor.name
        if descriptor.type == ParameterType.PARAMETER_DOUBLE:
            assert descriptor.floating_point_range, descriptor.name


# Acting -------------------------------------------------------------------------------------------


def test_position_command_moves_joints(running: Any) -> None:
    joints = running.listen(JointState, "joint_states")
    publisher = running.publisher(JointCommand, "commands/position")
    publisher.publish(JointCommand(names=["HEAD_JOINT0", "HEAD_JOINT1"], positions=[0.3, -0.2]))
    message = joints.wait(
        lambda m: (
            abs(m.position[m.name.index("HEAD_JOINT0")] - 0.3) < 0.01
            and abs(m.position[m.name.index("HEAD_JOINT1")] + 0.2) < 0.01
        )
    )
    knee = message.name.index("RLEG_JOINT3")
    assert message.position[knee] == pytest.approx(np.radians(50.0), abs=0.01)


def test_effort_command_moves_joints(running: Any) -> None:
    joints = running.listen(JointState, "joint_states")
    publisher = running.publisher(JointCommand, "commands/effort")
    publisher.publish(JointCommand(names=["HEAD_JOINT0"], efforts=[0.5]))
    message = joints.wait(lambda m: m.position[m.name.index("HEAD_JOINT0")] > 0.1)
    assert message.effort[message.name.index("HEAD_JOINT0")] == pytest.approx(0.5)


@pytest.mark.feature("000-F029")
def test_gains_and_feed_forward_of_a_command_until_its_commander_is_silent(fresh: Any) -> None:
    """The efforts are those of the law that the message states; then the drives' own gains hold the joint."""
    joints = listen(fresh, JointState, "joint_states")
    log = fresh.listen(Log, "/rosout", QoSProfile(depth=100))

    def after(steps: int) -> tuple[float, float, float]:
        now = step(fresh, steps)
        message = joints.wait(lambda m: seconds(m.header.stamp) == pytest.approx(now, abs=1e-9))
        place = message.name.index("HEAD_JOINT0")
        return message.position[place], message.velocity[place], message.effort[place]

    publisher = fresh.publisher(JointCommand, "commands/position")
    command = JointCommand(names=["HEAD_JOINT0"], positions=[0.5], velocities=[0.1], efforts=[0.3])
    command.stiffness, command.damping, command.period = [2.0], [0.2], Duration(nanosec=10_000_000)
    at_rest = after(10)[0]
    publisher.publish(command)
    moved = next((state for _ in range(300) if abs((state := after(10))[0] - at_rest) > 1e-3), None)
    assert moved is not None, "the command never came"
    position, velocity, effort = moved
    assert effort == pytest.approx(0.3 + 2.0 * (0.5 - position) + 0.2 * (0.1 - velocity), abs=0.05)
    after(130)
    assert "1 joints are held" in log.wait(lambda m: "no command within 0.1 s" in m.msg).msg
    held = after(400)[0]
    assert at_rest < held < 0.45, "soft as it was, it isn't there yet"
    assert after(1000)[0] == pytest.approx(held, abs=0.02)


@pytest.mark.feature("000-F147")
def test_sensors_of_scenes_loaded_from_then_on_are_noisy(fresh: Any) -> None:
    def choose(noise: str) -> Any:
        value = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=noise)
        parameter = Parameter(name="sensor_noise", value=value)
        return fresh.call(SetParameters, "simulator/set_parameters", SetParameters.Request(parameters=[parameter]))

    refused = choose("loud").results[0]
    assert not refused.successful
    assert "sensor_noise: is 'loud'. Give one of none, file, usual" in refused.reason
    best_effort = qos_profile_sensor_data
    topics = [(JointState, "joint_states", 10), (Imu, "imu", best_effort)]
    topics += [(WrenchStamped, "wrenches/left_ankle", best_effort)]
    try:
        for noise, least in (("usual", 1e-5), ("none", 0.0)):
            assert choose(noise).results[0].successful
            assert fresh.call(LoadScene, "load_scene", LoadScene.Request(scene="stand"), 200.0).success
            pause(fresh)
            heard = [listen(fresh, *topic) for topic in topics]
            step(fresh, 300)
            states, imus, wrenches = ([m for m in own.messages if seconds(m.header.stamp) > 0.2] for own in heard)
            spread = [
                np.std([m.position[0] for m in states]), np.std([m.angular_velocity.x for m in imus]),
                np.std([m.wrench.force.z for m in wrenches]),
            ]  # fmt: skip
            if least:
                assert np.all(np.array(spread) > [5e-5, 1e-3, 0.3])
            else:
                assert np.all(np.array(spread) < [1e-5, 1e-4, 0.1]), "it stands still"
    finally:
        choose("none")


@pytest.mark.feature("000-F116")
def test_a_wrench_pushes(fresh: Any) -> None:
    """The momentum that a push gives to the whole robot is force times time, until contacts act."""
    odometry = listen(fresh, Odometry, "odometry")
    request = SetState.Request(set_pose=True)
    request.pose.position.z = 2.0
    request.pose.orientation.w = 1.0
    assert fresh.call(SetState, "set_state", request).success
    push = ApplyWrench.Request(body="hrp2/WAIST", duration=Duration(nanosec=100_000_000))
    push.wrench.force = Vector3(x=0.0, y=0.0, z=WEIGHT)
    assert fresh.call(ApplyWrench, "apply_wrench", push).success
    step(fresh, 100)
    fall = odometry.wait(lambda m: seconds(m.header.stamp) == 0.1)
    assert fall.pose.pose.position.z == pytest.approx(2.0, abs=0.005)
    step(fresh, 100)
    fall = odometry.wait(lambda m: seconds(m.header.stamp) == 0.2)
    assert fall.pose.pose.position.z == pytest.approx(2.0 - 0.5 * 9.81 * 0.1**2, abs=0.015), "it has ended"


@pytest.mark.feature("000-F116")
def test_a_wrench_pushes_where_it_is_asked_to(fresh: Any) -> None:
    """The same push a hand's breadth before or behind the waist turns the robot one way or the other."""
    turns = []
    for offset in (0.1, -0.1):
        assert fresh.call(Trigger, "reset", Trigger.Request()).success
        odometry = listen(fresh, Odometry, "odometry")
        request = SetState.Request(set_pose=True)
        request.pose.position.z, request.pose.orientation.w = 2.0, 1.0
        assert fresh.call(SetState, "set_state", request).success
        push = ApplyWrench.Request(body="hrp2/WAIST", duration=Duration(nanosec=50_000_000), at_point=True)
        push.wrench.force, push.point = Vector3(z=WEIGHT), Point(x=offset, z=2.0)
        assert fresh.call(ApplyWrench, "apply_wrench", push).success
        step(fresh, 50)
        turns.append(odometry.wait(lambda m: seconds(m.header.stamp) == 0.05).twist.twist.angular.y)
    assert turns[0] < -0.1
    assert turns[1] > 0.1


def test_state_is_set(fresh: Any) -> None:
    joints = listen(fresh, JointState, "joint_states")
    odometry = listen(fresh, Odometry, "odometry")
    request = SetState.Request(name="hrp2", set_pose=True, posture="zero")
    request.pose.position = Point(x=0.5, y=-0.25, z=1.5)
    request.pose.orientation.z, request.pose.orientation.w = np.sin(0.2), np.cos(0.2)
    request.twist.linear.x = 0.1
    request.joint_names, request.joint_positions = ["CHEST_JOINT0"], [0.25]
    answer = fresh.call(SetState, "set_state", request)
    assert answer.success, answer.message
    state = joints.wait(lambda m: m.position[m.name.index("CHEST_JOINT0")] == 0.25)
    assert sum(abs(value) for value in state.position) == 0.25
    base = odometry.wait(lambda m: m.pose.pose.position.z == 1.5)
    assert base.pose.pose.position.x == 0.5
    assert base.twist.twist.linear.x == pytest.approx(0.1)
    assert base.pose.pose.orientation.z == pytest.approx(np.sin(0.2))
    step(fresh, 10)
    held = joints.wait(lambda m: seconds(m.header.stamp) == 0.01)
    assert held.position[held.name.index("CHEST_JOINT0")] == pytest.approx(0.25, abs=0.01)


# Refusals -----------------------------------------------------------------------------------------


def wrench(**fields: Any) -> ApplyWrench.Request:
    request = ApplyWrench.Request(body="WAIST", duration=Duration(sec=1))
    for name, value in fields.items():
        setattr(request, name, value)
    return request


def state(**fields: Any) -> SetState.Request:
    request = SetState.Request()
    for name, value in fields.items():
        setattr(request, name, value)
    return request


def pose(*values: float) -> Pose:
    result = Pose()
    result.position.x = values[0]
    turn = result.orientation
    turn.x, turn.y, turn.z, turn.w = values[1:]
    return result


MALFORMED = "<Universe><Body"
NO_SUCH_FIELD = "name: odd\nrobots:\n  - {robot: hrp2, posture: on_the_moon}\n"

REFUSED = {
    "unknown body": (ApplyWrench, "apply_wrench", wrench(body="TAIL"), "hrp2/TAIL"),
    "fixed body": (ApplyWrench, "apply_wrench", wrench(body="floor"), "'floor' is fixed"),
    "NaN wrench": (
        ApplyWrench,
        "apply_wrench",
        wrench(wrench=Wrench(force=Vector3(x=float("nan")))),
        "force is [nan, 0.0, 0.0]",
    ),
    "infinite point": (
        ApplyWrench,
        "apply_wrench",
        wrench(at_point=True, point=Point(y=float("inf"))),
        "point is [0.0, inf, 0.0]",
    ),
    "negative duration": (
        ApplyWrench,
        "apply_wrench",
        wrench(duration=Duration(sec=-2)),
        "duration is -2.0",
    ),
    "wrong length": (
        SetState,
        "set_state",
        state(joint_names=["HEAD_JOINT0", "HEAD_JOINT1"], joint_positions=[0.1]),
        "joint_positions: has 1 values for 2 joint_names",
    ),
    "wrong length of velocities": (
        SetState,
        "set_state",
        state(joint_names=["HEAD_JOINT0"], joint_positions=[0.1], joint_velocities=[0.1, 0.2]),
        "joint_velocities: has 2 values for 1 joint_names",
    ),
    "unknown joint": (
        SetState,
        "set_state",
        state(joint_names=["TAIL_JOINT"], joint_positions=[0.1]),
        "no joint 'TAIL_JOINT'",
    ),
    "duplicated joint": (
        SetState,
        "set_state",
        state(joint_names=["HEAD_JOINT0"] * 2, joint_positions=[0.1, 0.2]),
        "'HEAD_JOINT0' is named twice",
    ),
    "NaN position": (
        SetState,
        "set_state",
        state(joint_names=["HEAD_JOINT0"], joint_positions=[float("nan")]),
        "positions[0] is nan",
    ),
    "unnormalised quaternion": (
        SetState,
        "set_state",
        state(set_pose=True, pose=pose(0.0, 0.0, 0.0, 0.0, 2.0)),
        "pose.orientation: the quaternion [0.0, 0.0, 0.0, 2.0] has the length 2",
    ),
    "NaN pose": (
        SetState,
        "set_state",
        state(set_pose=True, pose=pose(float("nan"), 0.0, 0.0, 0.0, 1.0)),
        "pose.position: is [nan, 0.0, 0.0]",
    ),
    "unknown posture": (
        SetState,
        "set_state",
        state(posture="on_one_finger"),
        "no posture 'on_one_finger'",
    ),
    "unknown robot": (SetState, "set_state", state(name="r2d2"), "no robot or body 'r2d2'"),
    "nothing to set": (SetState, "set_state", state(name="hrp2"), "the request sets nothing"),
    "no steps": (StepSimulation, "step", StepSimulation.Request(steps=0), "steps: is 0"),
    "missing scene": (
        LoadScene,
        "load_scene",
        LoadScene.Request(scene="atlantis"),
        "atlantis",
    ),
    "missing file": (
        LoadScene,
        "load_scene",
        LoadScene.Request(scene="nowhere/scene.yaml"),
        "nowhere/scene.yaml",
    ),
    "malformed text": (LoadScene, "load_scene", LoadScene.Request(text=MALFORMED), "text:1"),
    "wrong field": (
        LoadScene,
        "load_scene",
        LoadScene.Request(text=NO_SUCH_FIELD),
        "text:3",
    ),
    "no scene": (LoadScene, "load_scene", LoadScene.Request(), "scene: is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(fresh: Any, case: str) -> None:
    """Each bad request is answered by its reason; the simulation is as it was."""
    kind, name, request, reason = REFUSED[case]
    status = fresh.listen(SimulationStatus, "status", LATCHED)
    answer = fresh.call(kind, name, request)
    assert not answer.success
    assert reason in answer.message
    message = status.wait_new()
    assert (message.scene, message.step, message.pause_reason) == ("stand", 0, "")
    if kind is LoadScene:
        assert (answer.name, answer.robots) == ("stand", ["hrp2"])


def test_steps_of_a_running_simulation_are_refused(running: Any) -> None:
    answer = running.call(StepSimulation, "step", StepSimulation.Request(steps=5))
    assert not answer.success
    assert "can't do 5 single steps while the simulation runs. Pause it first." in answer.message


@pytest.mark.parametrize(
    ("topic", "command", "reason"),
    [
        ("effort", JointCommand(names=["HEAD_JOINT0"], efforts=[float("nan")]), "efforts: is [nan]"),
        ("effort", JointCommand(names=["HEAD_JOINT0"]), "efforts: has 0 values for 1 names"),
        (
            "effort",
            JointCommand(names=["HEAD_JOINT0"], efforts=[0.0], positions=[0.0]),
            "positions: has 1 values. Leave it empty",
        ),
        ("position", JointCommand(names=["TAIL"], positions=[0.0]), "no joint 'TAIL'"),
        (
            "position",
            JointCommand(names=["HEAD_JOINT0"] * 2, positions=[0.0] * 2),
            "'HEAD_JOINT0' occurs twice",
        ),
        ("position", JointCommand(names=["HEAD_JOINT0"], positions=[0.0, 1.0]), "has 2 values"),
        (
            "position",
            JointCommand(names=["HEAD_JOINT0"], positions=[float("inf")]),
            "positions: is [inf]",
        ),
        (
            "position",
            JointCommand(names=["HEAD_JOINT0"], positions=[0.1], velocities=[float("nan")]),
            "velocities: is [nan]",
        ),
        ("position", JointCommand(names=["HEAD_JOINT0"], positions=[0.1], efforts=[float("nan")]), "efforts: is [nan]"),
        ("position", JointCommand(names=["HEAD_JOINT0"], positions=[0.1], stiffness=[1.0]), "stiffness: is given"),
        (
            "position",
            JointCommand(names=["HEAD_JOINT0"], positions=[0.1], stiffness=[-1.0], damping=[0.0]),
            "stiffness[0] is -1.0",
        ),
        ("effort", JointCommand(names=["HEAD_JOINT0"], efforts=[0.1], damping=[1.0]), "damping: has 1 values"),
        ("position", JointCommand(positions=[0.1]), "names: is empty"),
    ],
)
def test_refused_command(fresh: Any, topic: str, command: JointCommand, reason: str) -> None:
    """A topic can't answer: the reason is in the log and in the diagnostics."""
    log = fresh.listen(Log, "/rosout", QoSProfile(depth=100))
    publisher = fresh.publisher(JointCommand, f"commands/{topic}")
    publisher.publish(command)
    message = log.wait(lambda m: reason in m.msg)
    assert message.msg.startswith(f"refused: commands/{topic}: ")
    assert message.level == 30
    diagnostics = fresh.listen(DiagnosticArray, "/diagnostics")
    diagnostics.wait(lambda m: any(v.key == "last refusal" and reason in v.value for v in m.status[0].values))


# Other scenes -------------------------------------------------------------------------------------


def test_another_scene_takes_the_place(fresh: Any) -> None:
    status = fresh.listen(SimulationStatus, "status", LATCHED)
    markers = fresh.listen(MarkerArray, "scene_markers", LATCHED)
    answer = fresh.call(LoadScene, "load_scene", LoadScene.Request(scene="boxes"), 200.0)
    assert answer.success, answer.message
    assert (answer.name, answer.robots) == ("boxes", [])
    assert len(answer.bodies) > 1
    mobile = [body for body in answer.bodies if body != "floor"]
    message = status.wait(lambda m: m.scene == "boxes")
    assert (message.paused, message.step) == (True, 0)
    markers.wait(lambda m: {marker.ns for marker in m.markers} >= set(mobile))
    moving = listen(fresh, TFMessage, "/tf")
    push = ApplyWrench.Request(body=mobile[0], duration=Duration(sec=1))
    push.wrench.force.z = 1e4
    assert fresh.call(ApplyWrench, "apply_wrench", push).success
    step(fresh, 100)
    flown = moving.wait(lambda m: seconds(m.transforms[0].header.stamp) == 0.1)
    place = {t.child_frame_id: t.transform.translation.z for t in flown.transforms}
    assert place[mobile[0]] > 1.0
    lift = SetState.Request(name=mobile[-1], set_pose=True, pose=pose(0.0, 0.0, 0.0, 0.0, 1.0))
    lift.pose.position.z = 100.0
    assert fresh.call(SetState, "set_state", lift).success
    moving.wait(lambda m: any(t.transform.translation.z == 100.0 for t in m.transforms))
    lift.joint_names = ["hinge"]
    refused = fresh.call(SetState, "set_state", lift)
    assert "joint_names: " in refused.message
    answer = fresh.call(LoadScene, "load_scene", LoadScene.Request(scene="stand"), 200.0)
    assert (answer.success, answer.robots) == (True, ["hrp2"])
    joints = listen(fresh, JointState, "joint_states")
    step(fresh, 10)
    joints.wait(lambda m: seconds(m.header.stamp) == 0.01)


TWO_ROBOTS = """
robots:
  left: {robot: hrp2, posture: half_sitting, xyz: [0, 1, 0]}
  right: {robot: hrp2, posture: half_sitting, xyz: [0, -1, 0]}
bodies:
  floor:
    shapes: [{half_space: true}]
"""


def test_several_robots_have_names_of_their_own(fresh: Any) -> None:
    answer = fresh.call(LoadScene, "load_scene", LoadScene.Request(text=TWO_ROBOTS), 200.0)
    try:
        assert answer.success, answer.message
        assert list(answer.robots) == ["left", "right"]
        odometry = [fresh.listen(Odometry, f"{name}/odometry") for name in answer.robots]
        moving = listen(fresh, TFMessage, "/tf")
        step(fresh, 20)
        for listener, name, y in zip(odometry, answer.robots, (1.0, -1.0), strict=True):
            message = listener.wait(lambda m: seconds(m.header.stamp) == 0.02)
            assert message.child_frame_id == f"{name}/WAIST"
            assert message.pose.pose.position.y == pytest.approx(y, abs=1e-3)
        names = {t.child_frame_id for t in moving.wait().transforms}
        assert {"left/RLEG_LINK5", "right/RLEG_LINK5"} <= names
        request = SetState.Request(posture="half_sitting")
        assert "no robot or body ''" in fresh.call(SetState, "set_state", request).message
    finally:
        answer = fresh.call(LoadScene, "load_scene", LoadScene.Request(scene="stand"), 200.0)
        assert answer.success


def test_a_failed_step_pauses_with_its_reason(fresh: Any) -> None:
    status = fresh.listen(SimulationStatus, "status", LATCHED)
    diagnostics = fresh.listen(DiagnosticArray, "/diagnostics")
    pause(fresh, False)
    push = ApplyWrench.Request(body="WAIST", duration=Duration(sec=1))
    push.wrench.force.x = push.wrench.torque.y = 1e9  # the largest that is taken; beyond all numbers in a few steps
    assert fresh.call(ApplyWrench, "apply_wrench", push).success
    message = status.wait(lambda m: m.pause_reason != "")
    assert message.paused
    assert message.solver.status == message.solver.FAILED
    assert "the state is kept as it was before" in message.pause_reason
    assert message.step == round(message.time / 0.001)
    report = diagnostics.wait(lambda m: m.status[0].level == DiagnosticStatus.ERROR)
    assert report.status[0].message == message.pause_reason
    for kind, name, request in (
        (SetBool, "pause", SetBool.Request(data=False)),
        (StepSimulation, "step", StepSimulation.Request(steps=1)),
    ):
        answer = fresh.call(kind, name, request)
        assert not answer.success
        assert message.pause_reason in answer.message
        assert "Reset it first." in answer.message
    assert fresh.call(Trigger, "reset", Trigger.Request()).success
    status.wait_new(lambda m: m.pause_reason == "" and m.step > 10)


@pytest.mark.feature("000-F026")
def test_a_robot_without_shapes_is_warned_of_and_does_not_fall_for_ever(fresh: Any, tmp_path: Path) -> None:
    """At loading in answer and log; 100 m below the floor it has fallen, which ends the simulation."""
    body = "<inertial><mass value='2'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    hinge = "<joint name='a' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/></joint>"
    (tmp_path / "ghost.urdf").write_text(
        f"<robot name='ghost'><link name='base'>{body}</link><link name='arm'>{body}</link>{hinge}</robot>"
    )
    text = f"robots: {{ghost: {{robot: {tmp_path}/ghost.urdf}}}}\nbodies: {{floor: {{shapes: [{{half_space: true}}]}}}}"
    log = fresh.listen(Log, "/rosout", QoSProfile(depth=100))
    status = fresh.listen(SimulationStatus, "status", LATCHED)
    try:
        answer = fresh.call(LoadScene, "load_scene", LoadScene.Request(text=text), 200.0)
        words = "robot 'ghost' has no collision shapes: it touches nothing and falls through the floor"
        assert answer.success
        assert words in answer.message
        assert log.wait(lambda m: words in m.msg).level == Log.WARN
        fallen = fresh.call(StepSimulation, "step", StepSimulation.Request(steps=8000))
        assert not fallen.success
        assert re.search(r"robot 'ghost' has fallen to -1\d\d.* m, where nothing will catch it", fallen.message)
        assert status.wait(lambda m: "robot 'ghost' has fallen" in m.pause_reason).paused
    finally:
        answer = fresh.call(LoadScene, "load_scene", LoadScene.Request(scene="stand"), 200.0)
        assert answer.success
        assert answer.message == ""


# RViz ---------------------------------------------------------------------------------------------

DISPLAY_TYPES = {
    "rviz_default_plugins/MarkerArray": "visualization_msgs/msg/MarkerArray",
    "rviz_default_plugins/Odometry": "nav_msgs/msg/Odometry",
    "rviz_default_plugins/Wrench": "geometry_msgs/msg/WrenchStamped",
}
OF_OTHER_NODES = ("Posture", "Contact plan", "Gait", "Walking figure", "Walking robot")
"""Displays of what the contact planner and the gait generator say; their tests look at them."""
WITHOUT_TOPIC = {"rviz_default_plugins/Grid", "rviz_default_plugins/TF"}


def test_rviz_displays_match_the_topics(simulator: Any) -> None:
    """Topic, type and quality of service of every display fit what the running node publishes."""
    with open(find_resource("config/humanoid_stack.rviz"), encoding="utf-8") as file:
        config = yaml.safe_load(file)["Visualization Manager"]
    end = time.monotonic() + 60.0

    def types(topic: str) -> list[str]:
        """Types of a topic, which is heard of a while after its node has started."""
        while not (found := dict(simulator.node.get_topic_names_and_types()).get(topic, [])) and time.monotonic() < end:
            time.sleep(0.02)
        return found

    assert types("/tf") == types("/tf_static") == ["tf2_msgs/msg/TFMessage"]
    seen = []
    for display in config["Displays"]:
        kind = display["Class"]
        if kind in WITHOUT_TOPIC or display["Name"] in OF_OTHER_NODES:
            continue
        if kind == "rviz_default_plugins/RobotModel":
            topic, expected = display["Description Topic"], "std_msgs/msg/String"
            assert display["Description Source"] == "Topic"
        else:
            topic, expected = display["Topic"], DISPLAY_TYPES[kind]
        name = simulator.node.resolve_topic_name(topic["Value"])
        assert types(name) == [expected], display["Name"]
        for info in simulator.node.get_publishers_info_by_topic(name):
            offered = info.qos_profile
            if topic["Reliability Policy"] == "Reliable":
                assert offered.reliability == ReliabilityPolicy.RELIABLE, name
            if topic["Durability Policy"] == "Transient Local":
                assert offered.durability == DurabilityPolicy.TRANSIENT_LOCAL, name
        seen.append(kind)
    assert seen.count("rviz_default_plugins/MarkerArray") == 4
    assert seen.count("rviz_default_plugins/Wrench") == len(
        [s for s in load_robot("hrp2").sensors.values() if s.type == "force_torque"]
    )
    assert {"rviz_default_plugins/RobotModel", "rviz_default_plugins/Odometry"} <= set(seen)
    assert config["Global Options"]["Fixed Frame"] == "world"
