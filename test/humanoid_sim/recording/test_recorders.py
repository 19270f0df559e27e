# SPDX-License-Identifier: Apache-2.0
"""What recorders write is what the simulation said, in both kinds of log."""

from __future__ import annotations

import csv
import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fixtures.scenes import ball, floor, place, scene
from numpy.testing import assert_allclose, assert_array_equal

from humanoid_model.errors import InputError
from humanoid_sim import Module, Simulation
from humanoid_sim.recording import CsvRecorder, McapRecorder, read_log
from humanoid_sim.recording.tables import TABLES, robot_zero_moment_point

STEPS = 60


class Witness(Module):
    """Keeps in memory what the simulation says after the same steps."""

    name = "witness"

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    def after_step(self, simulation: Simulation) -> None:
        if simulation.step_count % 10 == 0:
            robot = simulation.robots["hrp2"]
            self.seen.append(
                {
                    "time": simulation.time,
                    "positions": robot.joint_positions,
                    "velocities": robot.joint_velocities,
                    "efforts": robot.joint_efforts,
                    "com": robot.centre_of_mass,
                    "contacts": simulation.contacts,
                    "energy": simulation.energy(),
                    "wrench": robot.wrench("right_ankle"),
                    "twist": robot.twist_base,
                    "base": robot.placement("WAIST"),
                    "iterations": simulation.solver.iterations if simulation.solver else 0,
                    "profile": dict(simulation.profile.last),
                }
            )


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], dict[str, Path]]:
    folder = tmp_path_factory.mktemp("log")
    simulation = Simulation("stand")
    sensors = [s.name for s in simulation.robots["hrp2"].robot.sensors.values() if s.type == "force_torque"]
    assert "right_ankle" in sensors
    witness = Witness()
    simulation.add_module(CsvRecorder(folder / "tables", every=10))
    simulation.add_module(McapRecorder(folder / "log.mcap", every=10))
    simulation.add_module(witness)
    simulation.apply_wrench("hrp2/CHEST_LINK1", [0.0, 40.0, 0.0], duration=0.05)
    for _ in range(STEPS):
        simulation.step()
    for name in list(simulation.modules):
        simulation.remove_module(name)
    return witness.seen, {"csv": folder / "tables", "mcap": folder / "log.mcap"}


@pytest.mark.feature("000-F024")
@pytest.mark.parametrize("kind", ["csv", "mcap"])
def test_a_log_reads_back_as_what_was_simulated(
    recorded: tuple[list[dict[str, Any]], dict[str, Path]], kind: str
) -> None:
    seen, paths = recorded
    log = read_log(paths[kind])
    assert set(log) == set(TABLES)
    times = [moment["time"] for moment in seen]
    assert_allclose(np.unique(log["energy"]["time"]), times, rtol=0, atol=1e-9)
    for signal, name in (("positions", "position"), ("velocities", "velocity"), ("efforts", "effort")):
        assert_array_equal(log["joints"][name], np.concatenate([moment[signal] for moment in seen]))
    for i, x in enumerate("xyz"):
        assert_array_equal(log["balance"][f"com_{x}"], [moment["com"][i] for moment in seen])
        assert_array_equal(log["contacts"][f"force_{x}"], np.concatenate([m["contacts"].force[:, i] for m in seen]))
        torques = log["sensors"][f"torque_{x}"][log["sensors"]["sensor"] == "right_ankle"]
        assert_array_equal(torques, [m["wrench"][3 + i] for m in seen])
        assert_array_equal(log["bodies"][f"velocity_{x}"], [m["twist"][i] for m in seen])
        assert_array_equal(log["bodies"][f"position_{x}"], [m["base"].translation[i] for m in seen])
    assert list(log["contacts"]["body_a"]) == [a for m in seen for a, _ in m["contacts"].bodies]
    assert_array_equal(log["contacts"]["gap"], np.concatenate([m["contacts"].gap for m in seen]))
    assert_array_equal(log["energy"]["total"], [m["energy"].total for m in seen])
    assert_array_equal(log["solver"]["iterations"], [m["iterations"] for m in seen])
    contacts = log["profile"]["seconds"][log["profile"]["stage"] == "contacts"]
    assert_array_equal(contacts, [m["profile"]["contacts"] for m in seen])


def test_headers_name_units(recorded: tuple[list[dict[str, Any]], dict[str, Path]]) -> None:
    with (recorded[1]["csv"] / "contacts.csv").open(newline="") as file:
        header = next(csv.reader(file))
    assert header[:4] == ["time [s]", "body_a", "body_b", "position_x [m]"]
    assert header[-3:] == ["gap [m]", "friction [-]", "state"]


def test_messages_are_ros_2s_own(recorded: tuple[list[dict[str, Any]], dict[str, Path]]) -> None:
    """Topics and types as `ros2 bag info` would list them; /clock is the simulated time."""
    from rosbags.highlevel import AnyReader

    seen, paths = recorded
    with AnyReader([paths["mcap"]]) as reader:
        types = {connection.topic: connection.msgtype for connection in reader.connections}
        clocks = [
            message.clock.sec * 10**9 + message.clock.nanosec
            for connection, _, data in reader.messages()
            if connection.topic == "/clock"
            for message in [reader.deserialize(data, connection.msgtype)]
        ]
        frames = {
            transform.child_frame_id: transform.transform
            for connection, _, data in reader.messages()
            if connection.topic == "/tf"
            for transform in reader.deserialize(data, connection.msgtype).transforms  # type: ignore[attr-defined]
        }
        profiles = {c.topic: c.ext.offered_qos_profiles for c in reader.connections}  # type: ignore[union-attr]
    assert (
        types.items()
        >= {
            "/clock": "rosgraph_msgs/msg/Clock",
            "/joint_states": "sensor_msgs/msg/JointState",
            "/odometry": "nav_msgs/msg/Odometry",
            "/tf": "tf2_msgs/msg/TFMessage",
            "/contacts": "humanoid_stack/msg/ContactForces",
            "/wrenches/right_ankle": "geometry_msgs/msg/WrenchStamped",
            "/zero_moment_point": "geometry_msgs/msg/PointStamped",
            "/status": "humanoid_stack/msg/SimulationStatus",
            "/robot_description": "std_msgs/msg/String",
        }.items()
    )
    assert clocks == [round(1e9 * moment["time"]) for moment in seen]
    base = frames["WAIST"]
    assert [base.translation.x, base.translation.y, base.translation.z] == seen[-1]["base"].translation.tolist()
    assert profiles["/robot_description"][0].durability.name == "TRANSIENT_LOCAL"
    assert profiles["/tf"] == []


@pytest.mark.feature("000-F024")
@pytest.mark.ros
def test_ros_2_itself_reads_every_message(recorded: tuple[list[dict[str, Any]], dict[str, Path]]) -> None:
    """The bytes are deserialised by ROS 2's own library, our messages included."""
    from importlib import import_module

    from rosbags.highlevel import AnyReader

    serialization = pytest.importorskip("rclpy.serialization", reason="ROS 2 is not installed")
    pytest.importorskip("humanoid_stack.msg", reason="its messages are not built")
    seen, paths = recorded
    efforts = []
    with AnyReader([paths["mcap"]]) as reader:
        for connection, _, data in reader.messages():
            package, _, kind = connection.msgtype.split("/")
            message = serialization.deserialize_message(bytes(data), getattr(import_module(f"{package}.msg"), kind))
            if connection.topic == "/joint_states":
                efforts.append(list(message.effort))
            if connection.topic == "/contacts":
                contact = message.contacts[0]
    assert_array_equal(efforts, [moment["efforts"] for moment in seen])
    assert [contact.force.x, contact.force.y, contact.force.z] == seen[-1]["contacts"].force[0].tolist()


def test_only_chosen_groups_and_steps_are_written(tmp_path: Path) -> None:
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.5))))
    simulation.add_module(CsvRecorder(tmp_path / "tables", every=3, groups=["bodies"]))
    simulation.add_module(McapRecorder(tmp_path / "log.mcap", every=4, groups=["bodies"]))
    simulation.run(0.012)
    for name in list(simulation.modules):
        simulation.remove_module(name)
    tables, messages = read_log(tmp_path / "tables"), read_log(tmp_path / "log.mcap")
    assert list(tables) == list(messages) == ["bodies"]
    assert_allclose(tables["bodies"]["time"], [0.003, 0.006, 0.009, 0.012])
    assert_allclose(messages["bodies"]["time"], [0.004, 0.008, 0.012])


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    for every in (0, -1, 1.5, True):
        with pytest.raises(InputError, match="every is"):
            CsvRecorder(tmp_path, every=every)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"no group of signals 'force'.*contacts"):
        CsvRecorder(tmp_path, groups=["force"])
    with pytest.raises(InputError, match=r"ends in .mcap"):
        McapRecorder(tmp_path / "log.bag")
    simulation = Simulation(scene(floor(), ball("ball", 0.1, place(0, 0, 0.5))))
    (tmp_path / "taken").write_text("a file")
    for recorder in (CsvRecorder(tmp_path / "taken"), McapRecorder(tmp_path / "taken" / "log.mcap")):
        with pytest.raises(InputError, match="can be written there"):
            simulation.add_module(recorder)
        assert not simulation.modules


def test_damaged_logs_are_refused(recorded: tuple[list[dict[str, Any]], dict[str, Path]], tmp_path: Path) -> None:
    _, paths = recorded
    content = paths["mcap"].read_bytes()
    for cut in (0, 20, len(content) // 2, len(content) - 4):
        (tmp_path / "cut.mcap").write_bytes(content[:cut])
        with pytest.raises(InputError, match=r"cut.mcap: log: the log can't be read"):
            read_log(tmp_path / "cut.mcap")
    with pytest.raises(InputError, match="no such log"):
        read_log(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no signal of a simulation"):
        read_log(tmp_path / "empty")
    table = tmp_path / "empty" / "energy.csv"
    table.write_text("time [s],kinetic [J],potential [J],total [J]\r\n0.1,1.0,2.0\r\n")
    with pytest.raises(InputError, match=r"energy.csv:2: the row has 3 of 4 values"):
        read_log(tmp_path / "empty")
    table.write_text("time [s],kinetic [J],potential [J],total [J]\r\n0.1,1.0,much,3\r\n")
    with pytest.raises(InputError, match=r"energy.potential.*much"):
        read_log(tmp_path / "empty")
    table.write_text("time [s],kinetic [J]\r\n")
    with pytest.raises(InputError, match=r"energy.csv:1: the columns are time, kinetic"):
        read_log(tmp_path / "empty")


@pytest.mark.feature("000-F024")
def test_zero_moment_point_is_where_the_forces_have_no_moment() -> None:
    """Of a robot that is pushed, whether it is the first or the second of each pair."""
    simulation = Simulation("stand")
    simulation.apply_wrench("hrp2/CHEST_LINK1", [30.0, 20.0, 0.0], duration=0.1)
    simulation.run(0.05)
    contacts = simulation.contacts
    point = robot_zero_moment_point(contacts, "hrp2", np.array([0.0, 0.0, 1.0]))
    moment = np.cross(contacts.position - point, contacts.force).sum(axis=0)
    assert_allclose(moment[:2], 0.0, atol=1e-9)
    assert np.abs(point[:2] - simulation.robots["hrp2"].centre_of_mass[:2]).max() > 0.01  # it is being pushed
    assert point[2] == pytest.approx(0.0, abs=1e-6)
    swapped = dataclasses.replace(contacts, bodies=[(b, a) for a, b in contacts.bodies], force=-contacts.force)
    assert_allclose(robot_zero_moment_point(swapped, "hrp2", np.array([0.0, 0.0, 1.0])), point, atol=1e-12)
    assert np.isnan(robot_zero_moment_point(contacts, "nobody", np.array([0.0, 0.0, 1.0]))).all()
