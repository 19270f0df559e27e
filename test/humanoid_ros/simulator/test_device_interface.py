# SPDX-License-Identifier: Apache-2.0
"""Devices over topics, kept states, traces and options of the simulator node, over DDS."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed")

from geometry_msgs.msg import Point, WrenchStamped
from humanoid_stack.msg import DeviceState, SimulationStatus
from humanoid_stack.srv import (
    ApplyWrench,
    AttachDevice,
    LoadScene,
    RestoreState,
    SaveState,
    StepSimulation,
)
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.qos import DurabilityPolicy, QoSProfile, qos_profile_sensor_data
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from humanoid_model.errors import InputError
from humanoid_ros.node.requested_files import VARIABLE
from humanoid_ros.simulator.scene_requests import state_path, written_state

SCENE = """
name: block_and_ball
bodies:
  floor: {shapes: [{half_space: true}]}
  block: {mass: 2, xyz: [0, 0, 0.1], shapes: [{box: [0.2, 0.2, 0.2]}]}
  ball: {mass: 1, xyz: [1, 0, 0.1], shapes: [{sphere: 0.1}]}
"""
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def call(simulator: Any, kind: type, name: str, **fields: Any) -> Any:
    return simulator.call(kind, name, kind.Request(**fields))


def done(answer: Any) -> Any:
    assert answer.success, answer.message
    return answer


@pytest.fixture
def block(simulator: Any) -> Iterator[Any]:
    """The simulator with a block and a ball, at the start, paused."""
    done(call(simulator, LoadScene, "load_scene", text=SCENE))
    done(call(simulator, SetBool, "pause", data=True))
    done(call(simulator, Trigger, "reset"))
    yield simulator
    assert simulator.process.poll() is None


class Hand:
    """Speaks for a device at 1 kHz from a thread of its own."""

    def __init__(self, simulator: Any, device: str) -> None:
        self.publisher = simulator.publisher(DeviceState, f"devices/{device}")
        self.node = simulator.node
        self.message = DeviceState()
        self.message.pose.orientation.w = 1.0
        self.sent = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._speak)
        self._thread.start()

    def _speak(self) -> None:
        while not self._stop.wait(1e-3):
            self.publisher.publish(self.message)
            self.sent += 1

    def move(self, position: tuple[float, float, float], *buttons: bool) -> None:
        message = DeviceState(buttons=list(buttons))
        message.pose.orientation.w = 1.0
        message.pose.position = Point(x=position[0], y=position[1], z=position[2])
        self.message = message
        sent = self.sent
        while self.sent < sent + 50:
            time.sleep(0.01)

    def silence(self) -> None:
        self._stop.set()
        self._thread.join()
        self.node.destroy_publisher(self.publisher)


@pytest.fixture
def hand(block: Any) -> Iterator[Any]:
    """Makes the hand that speaks for a device; it is silenced at the end."""
    hands = []

    def speak(device: str) -> Hand:
        hands.append(Hand(block, device))
        return hands[-1]

    yield speak
    for speaker in hands:
        if not speaker._stop.is_set():
            speaker.silence()


def step(simulator: Any, count: int) -> float:
    return float(done(call(simulator, StepSimulation, "step", steps=count)).time)


def after(simulator: Any, transforms: Any, count: int, body: str) -> np.ndarray:
    """Where a body is after a number of steps."""
    transforms.clear()
    end = step(simulator, count)

    def is_there(message: Any) -> bool:
        stamp = message.transforms[-1].header.stamp
        return bool(abs(stamp.sec + 1e-9 * stamp.nanosec - end) < 1e-6)

    found = [t for t in transforms.wait(is_there).transforms if t.child_frame_id == body]
    move = found[-1].transform.translation
    return np.array([move.x, move.y, move.z])


# Devices ------------------------------------------------------------------------------------------


@pytest.mark.feature("000-F110")
def test_button_takes_a_block_and_lets_it_go(block: Any, hand: Any) -> None:
    done(call(block, AttachDevice, "attach_device", device="omni", mode=AttachDevice.Request.ATTACH, stiffness=2000.0))
    transforms = block.listen(TFMessage, "/tf")
    force = block.listen(WrenchStamped, "devices/omni/force", qos_profile_sensor_data)
    omni = hand("omni")
    omni.move((0.0, 0.0, 0.1), False)
    step(block, 200)
    omni.move((0.0, 0.0, 0.1), True)
    step(block, 50)
    omni.move((0.0, 0.0, 0.5), True)
    sag = 2.0 * 9.81 / 2000.0
    assert after(block, transforms, 700, "block")[2] == pytest.approx(0.5 - sag, abs=1e-3)
    felt = force.wait(lambda m: m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec > 0.9)
    assert felt.header.frame_id == "world"
    assert felt.wrench.force.z == pytest.approx(-2.0 * 9.81, rel=0.02)
    omni.move((0.0, 0.0, 0.5), False)
    assert after(block, transforms, 500, "block")[2] == pytest.approx(0.1, abs=1e-3)


def test_a_named_body_is_held_wherever_the_handle_is(block: Any, hand: Any) -> None:
    """The handle moves twice as far in the scene; there is no jump when the body is taken."""
    fields = {"body": "ball", "motion_scale": 2.0, "stiffness": 1000.0, "mode": AttachDevice.Request.ATTACH}
    done(call(block, AttachDevice, "attach_device", device="pen", **fields))
    transforms = block.listen(TFMessage, "/tf")
    pen = hand("pen")
    pen.move((-3.0, 7.0, 2.0))
    np.testing.assert_allclose(after(block, transforms, 300, "ball"), [1.0, 0.0, 0.1], atol=2e-3)
    pen.move((-2.9, 7.0, 2.15))
    expected = [1.2, 0.0, 0.4 - 9.81 / 1000.0]
    np.testing.assert_allclose(after(block, transforms, 800, "ball"), expected, atol=3e-3)
    pen.silence()  # nobody is at the device any more: it lets go
    status = block.listen(SimulationStatus, "status", LATCHED)
    for _ in range(3):
        status.wait_new()
    assert after(block, transforms, 500, "ball")[2] == pytest.approx(0.1, abs=1e-3)


def test_a_ball_pushes_the_block(block: Any, hand: Any) -> None:
    fields = {"radius": 0.02, "stiffness": 800.0, "mode": AttachDevice.Request.TOUCH}
    done(call(block, AttachDevice, "attach_device", device="finger", **fields))
    transforms = block.listen(TFMessage, "/tf")
    finger = hand("finger")
    finger.move((-0.2, 0.0, 0.1))
    step(block, 300)
    finger.move((0.0, 0.0, 0.1))
    assert after(block, transforms, 800, "block")[0] > 0.05
    done(call(block, AttachDevice, "attach_device", device="finger", mode=AttachDevice.Request.RELEASE))
    deadline = time.monotonic() + 60.0
    while block.node.count_subscribers("devices/finger") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert block.node.count_subscribers("devices/finger") == 0


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"device": "", "mode": 1}, "device: is ''. Give letters"),
        ({"device": "a b", "mode": 1}, "device: is 'a b'"),
        ({"device": "omni", "mode": 7}, "mode: is 7. Give one of 0 (RELEASE), 1 (ATTACH), 2 (TOUCH)"),
        ({"device": "ghost", "mode": 0}, "device: there is no device 'ghost'"),
        ({"device": "omni", "mode": 1, "body": "moon"}, "body: there is no body 'moon'. Name one of floor, block"),
        ({"device": "omni", "mode": 1, "body": "floor"}, "body: 'floor' is fixed"),
        ({"device": "omni", "mode": 2, "body": "block"}, "body: is 'block'. Leave it empty"),
        ({"device": "omni", "mode": 1, "stiffness": -1.0}, "stiffness: is -1"),
        ({"device": "omni", "mode": 1, "rate": float("nan")}, "rate: is nan"),
        ({"device": "omni", "mode": 1, "force_scale": float("inf")}, "force_scale: is inf"),
        ({"device": "omni", "mode": 1, "body": "block", "point": Point(x=float("nan"))}, "point: is [nan, 0.0, 0.0]"),
    ],
)
def test_requests_that_make_no_sense_are_refused(block: Any, fields: dict[str, Any], problem: str) -> None:
    answer = call(block, AttachDevice, "attach_device", **fields)
    assert not answer.success
    assert problem in answer.message


def test_a_bad_message_of_a_device_is_refused_and_the_last_one_stays(block: Any, hand: Any) -> None:
    from diagnostic_msgs.msg import DiagnosticArray

    done(call(block, AttachDevice, "attach_device", device="omni", mode=AttachDevice.Request.ATTACH, body="ball"))
    transforms = block.listen(TFMessage, "/tf")
    diagnostics = block.listen(DiagnosticArray, "/diagnostics")
    omni = hand("omni")
    omni.move((0.0, 0.0, 0.0))
    step(block, 100)
    for change, problem in (
        (lambda m: setattr(m.pose.position, "x", float("nan")), "devices/omni: pose.position: is [nan, 0.0, 0.0]"),
        (lambda m: setattr(m.pose.orientation, "w", 0.0), "pose.orientation: the quaternion"),
        (lambda m: setattr(m.header, "frame_id", "moon"), "header.frame_id: is 'moon'. Give 'world'"),
        (lambda m: setattr(m, "device", "other"), "device: is 'other'"),
    ):
        message = DeviceState()
        message.pose.orientation.w = 1.0
        change(message)
        omni.message = message
        diagnostics.wait_new(lambda d, p=problem: any(p in value.value for value in d.status[0].values))
    np.testing.assert_allclose(after(block, transforms, 200, "ball"), [1.0, 0.0, 0.1], atol=2e-3)


# States -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept_in", ["memory", "file"])
def test_a_kept_state_goes_on_bit_for_bit(block: Any, kept_in: str, tmp_path: Path) -> None:
    path = "" if kept_in == "memory" else str(tmp_path / "state.npz")
    transforms = block.listen(TFMessage, "/tf")
    push = ApplyWrench.Request(body="ball")
    push.wrench.force.x, push.duration.nanosec = 5.0, 300_000_000
    done(block.call(ApplyWrench, "apply_wrench", push))
    step(block, 100)
    assert done(call(block, SaveState, "save_state", path=path)).time == pytest.approx(0.1)
    first = after(block, transforms, 400, "ball")
    assert done(call(block, RestoreState, "restore_state", path=path)).time == pytest.approx(0.1)
    np.testing.assert_array_equal(after(block, transforms, 400, "ball"), first)
    assert first[0] > 1.2


@pytest.mark.feature("000-F001")
def test_a_state_replaces_another_one_if_that_is_asked_for_and_nothing_else(block: Any, tmp_path: Path) -> None:
    path, notes, readme = (tmp_path / name for name in ("state.npz", "notes.npz", "README.md"))
    notes.write_text("kept")
    readme.write_text("kept")
    step(block, 10)
    done(call(block, SaveState, "save_state", path=str(path)))
    first = path.read_bytes()
    step(block, 10)
    for file, overwrite, words in (
        (path, False, "is there already"), (notes, False, "is there already"), (notes, True, "or no state of a"),
        (readme, True, "Give a name that ends in .npz"), (Path("/nowhere/state.npz"), True, "requests may write to"),
    ):  # fmt: skip
        answer = call(block, SaveState, "save_state", path=str(file), overwrite=overwrite)
        assert not answer.success
        assert words in answer.message
    assert path.read_bytes() == first
    assert notes.read_text() == readme.read_text() == "kept"
    assert done(call(block, SaveState, "save_state", path=str(path), overwrite=True)).time == pytest.approx(0.02)
    assert done(call(block, RestoreState, "restore_state", path=str(path))).time == pytest.approx(0.02)


@pytest.mark.feature("000-F001")
def test_states_with_relative_names_lie_in_a_folder_of_their_own(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv(VARIABLE, f"{tmp_path}:/elsewhere")
    path = tmp_path / "states" / "a.npz"
    assert state_path("a.npz") == written_state("a.npz", "path", False) == str(path)
    assert path.parent.is_dir()
    assert state_path(str(tmp_path / "a.npz")) == str(tmp_path / "a.npz")
    for name in ("../../a.npz", "/nowhere/a.npz"):
        with pytest.raises(InputError, match="requests may write to"):
            written_state(name, "path", True)


def test_states_that_cannot_be_restored_are_refused(block: Any, tmp_path: Path) -> None:
    step(block, 10)
    answer = call(block, RestoreState, "restore_state")
    assert not answer.success
    assert "path: is empty, and no state of this scene is in memory" in answer.message
    answer = call(block, RestoreState, "restore_state", path=str(tmp_path / "none.npz"))
    assert "there is no such file" in answer.message
    os.mkfifo(tmp_path / "pipe.npz")
    answer = call(block, RestoreState, "restore_state", path=str(tmp_path / "pipe.npz"))
    assert "is a pipe, a socket or a device" in answer.message
    answer = call(block, SaveState, "save_state", path=str(tmp_path / "no" / "state.npz"))
    assert "can't be written" in answer.message
    done(call(block, SaveState, "save_state", path=str(tmp_path / "state.npz")))
    done(call(block, LoadScene, "load_scene", text=SCENE.replace("mass: 2", "mass: 3")))
    answer = call(block, RestoreState, "restore_state", path=str(tmp_path / "state.npz"))
    assert "with other bodies, shapes or rules" in answer.message
    assert call(block, StepSimulation, "step", steps=1).time == pytest.approx(0.001)


# Parameters ---------------------------------------------------------------------------------------


def set_parameter(simulator: Any, name: str, value: Any) -> Any:
    kinds = {
        str: (ParameterType.PARAMETER_STRING, "string_value"),
        float: (ParameterType.PARAMETER_DOUBLE, "double_value"),
        int: (ParameterType.PARAMETER_INTEGER, "integer_value"),
        list: (ParameterType.PARAMETER_STRING_ARRAY, "string_array_value"),
    }
    kind, field = kinds[type(value)]
    parameter = Parameter(name=name, value=ParameterValue(type=kind, **{field: value}))
    request = SetParameters.Request(parameters=[parameter])
    return simulator.call(SetParameters, "simulator/set_parameters", request).results[0]


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("contact_solver", "hope", "contact_solver: there is no contact solver 'hope'. Choose one of alart_curnier"),
        ("dynamics", "newton", "dynamics: is 'newton'. Give one of articulated_body, pinocchio"),
        ("delassus", "fast", "delassus: is 'fast'. Give one of auto"),
        ("integrator", "magic", "there is no integrator 'magic'. Choose one of anitescu"),
        ("impacts", "never", "impacts: is 'never'. Give one of with_contacts, separate"),
        ("detection", "opcode", "detection: is 'opcode'. Give one of compiled, coal"),
        ("solver_file", "nowhere.txt", "nowhere.txt: can't be read"),
        ("tolerance", 0.0, "tolerance"),
        ("tolerance", float("nan"), "tolerance"),
        ("max_iterations", 0, "max_iterations"),
        ("time_budget", -1.0, "time_budget"),
        ("traces", ["block", "moon"], "traces: there is no body 'moon'. Known are: floor, block, ball"),
        ("cone_scale", float("nan"), "cone_scale"),
    ],
)
def test_wrong_parameters_are_refused_with_what_there_is(block: Any, name: str, value: Any, reason: str) -> None:
    result = set_parameter(block, name, value)
    assert not result.successful
    assert reason in result.reason


def test_options_count_for_the_next_scene_and_its_solver_speaks(block: Any) -> None:
    from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

    status = block.listen(SimulationStatus, "status", LATCHED)
    diagnostics = block.listen(DiagnosticArray, "/diagnostics")
    try:
        assert set_parameter(block, "contact_solver", "jacobi").successful
        assert set_parameter(block, "tolerance", 1e-300).successful
        assert set_parameter(block, "max_iterations", 2).successful
        done(call(block, LoadScene, "load_scene", text=SCENE))
        step(block, 50)
        message = status.wait_new(lambda m: m.step == 50)
        assert message.solver.method == "jacobi"
        assert message.solver.status == message.solver.MAX_ITERATIONS
        assert message.solver.message.startswith("not converged, relative residual")
        assert message.solver.iterations == 2
        report = diagnostics.wait(lambda d: "not solved to the tolerance" in d.status[0].message).status[0]
        assert report.level == DiagnosticStatus.WARN
        assert "after 2 iterations" in report.message
        values = {value.key: value.value for value in report.values}
        assert 0 < int(values["unsolved steps"]) <= 50
        assert float(values["worst residual lately"]) > 0.0
        assert step(block, 50) == pytest.approx(0.1)  # and goes on

        assert set_parameter(block, "contact_solver", "qp_frictionless").successful
        assert set_parameter(block, "tolerance", 1e-9).successful
        assert set_parameter(block, "max_iterations", 1000).successful
        done(call(block, LoadScene, "load_scene", text=SCENE))
        push = ApplyWrench.Request(body="block")
        push.wrench.force.x, push.duration.sec = 5.0, 1
        done(block.call(ApplyWrench, "apply_wrench", push))
        step(block, 50)
        message = status.wait_new(lambda m: m.step == 50)
        assert message.solver.status == message.solver.APPROXIMATE
        assert "approximate law" in message.solver.message
    finally:
        assert set_parameter(block, "contact_solver", "nsgs_newton").successful
        assert set_parameter(block, "tolerance", 1e-9).successful
        assert set_parameter(block, "max_iterations", 1000).successful


def test_traces_are_drawn_while_they_are_asked_for(block: Any) -> None:
    traces = block.listen(MarkerArray, "traces")
    assert set_parameter(block, "traces", ["ball"]).successful
    push = ApplyWrench.Request(body="ball")
    push.wrench.force.x, push.duration.nanosec = 20.0, 100_000_000
    done(block.call(ApplyWrench, "apply_wrench", push))
    step(block, 600)
    traces.clear()
    step(block, 1)
    lines = [m for m in traces.wait(lambda m: len(m.markers) > 1).markers if m.type == Marker.LINE_STRIP]
    assert [line.ns for line in lines] == ["ball"]
    x = np.array([point.x for point in lines[0].points])
    assert x[0] == pytest.approx(1.0)
    assert x[-1] > 1.1
    assert np.all(np.diff(x) > 0.0)
    traces.clear()
    done(call(block, Trigger, "reset"))
    traces.wait(lambda m: [marker.action for marker in m.markers] == [Marker.DELETEALL])
    done(block.call(ApplyWrench, "apply_wrench", push))
    step(block, 600)
    traces.wait(lambda m: len(m.markers) > 1)
    assert set_parameter(block, "traces", [""]).successful
    traces.clear()
    step(block, 10)
    traces.wait(lambda m: len(m.markers) == 1)
