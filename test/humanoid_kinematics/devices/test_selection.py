# SPDX-License-Identifier: Apache-2.0
"""Which device drives what: none, several, one for two robots; frames, scales, masks; what files declare."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import (
    Device,
    DeviceDesk,
    DeviceSelection,
    Increment,
    MechanismSolver,
    PanelDevice,
    RateDevice,
    ToolMotion,
    load_scene,
)
from humanoid_kinematics.devices.device import NullDevice, Response
from humanoid_kinematics.devices.selection import DEVICE_KINDS, first_selections, make_device
from humanoid_kinematics.mad.syntax import MadSensor
from humanoid_model import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")
PLAIN = Response(1.0, 1.0, dead_band=0.0, silence=10.0)


def desk_of(name):
    """Load a scene with its devices: solvers by robot, and the desk with what its file selects."""
    scene = load_scene(name)
    devices = {number: make_device(sensor) for number, sensor in scene.sensors.items()}
    desk = DeviceDesk(devices.values())
    for robot, mechanism in scene.mechanisms.items():
        for selection in first_selections(mechanism, devices):
            desk.select(robot, selection)
    return {robot: MechanismSolver(mechanism) for robot, mechanism in scene.mechanisms.items()}, desk


@pytest.mark.feature("002-F101")
def test_a_space_mouse_drives_the_tool_of_its_file():
    (solver,), desk = desk_of("puma")[0].values(), desk_of("puma")[1]
    (selection,) = desk.selections.values()
    mouse = desk.devices[selection.device]
    mouse.response = PLAIN
    before = solver.placement(selection.tool)
    mouse.post([0.1, -0.05, 0.0, 0.0, 0.0, 0.1])
    for _ in range(100):
        ((motion,),) = desk.read(0.001).values()
        assert solver.command(motion).status == "reached"
    now = solver.placement(selection.tool)
    np.testing.assert_allclose(now.translation - before.translation, [0.01, -0.005, 0.0], atol=1e-6)
    np.testing.assert_allclose(pin.log3(now.rotation @ before.rotation.T), [0, 0, 0.01], atol=1e-6)


@pytest.mark.feature("002-F008")
def test_device_0_lets_the_tool_follow_freely():
    solvers, desk = desk_of("planar_hybrid")
    ((robot, solver),) = solvers.items()
    (selection,) = desk.selections.values()
    desk.devices[selection.device].post([0.5] * 6)
    assert len(desk.read(0.01)[robot]) == 1
    desk.select(robot, DeviceSelection("none", selection.tool))
    assert desk.read(0.01) == {}
    before = solver.q.copy()
    solver.command(*desk.read(0.01).get(robot, []))
    np.testing.assert_array_equal(solver.q, before)


@pytest.mark.feature("002-F105", "002-F110")
def test_candidates_are_switched_while_the_robot_moves():
    solvers, desk = desk_of("redont")
    ((robot, solver),) = solvers.items()
    assert {s.tool: s.device for s in desk.selections.values()} == {"frame_7": "sensor_1", "link_4": "Mover"}
    panel, mouse = desk.devices["Mover"], desk.devices["sensor_1"]
    assert isinstance(panel, PanelDevice)
    tip = solver.placement("frame_7").translation
    desk.select(robot, DeviceSelection("sensor_1", "frame_7", mask=(True, True, True, False, False, False)))
    elbow = solver.placement("link_4").translation
    desk.select(robot, DeviceSelection("Mover", "link_4", mask=(True, True, True, False, False, False)))
    panel.step("z", 2)  # the chain bends, its tip stays (ORC-16)
    assert solver.command(*desk.read(0.01)[robot]).status == "reached"
    np.testing.assert_allclose(solver.placement("link_4").translation - elbow, [0, 0, 0.01], atol=1e-6)
    np.testing.assert_allclose(solver.placement("frame_7").translation, tip, atol=1e-6)
    desk.select(robot, DeviceSelection("", "link_4"))
    desk.select(robot, DeviceSelection("Mover", "frame_7"))
    mouse.post([1.0] * 6)
    panel.step("y")
    (motion,) = desk.read(0.01)[robot]
    assert motion.tool == "frame_7"
    np.testing.assert_allclose(motion.linear, [0, 0.005, 0])


@pytest.mark.feature("002-F010", "002-F048", "002-F087", "002-F111")
def test_one_device_drives_two_robots_of_a_file():
    solvers, desk = desk_of("two_robots")
    (name,) = {selection.device for selection in desk.selections.values()}
    desk.devices[name].response = PLAIN
    tools = dict(list(desk.selections))
    for robot, tool in tools.items():
        desk.select(robot, DeviceSelection(name, tool, mask=(True, False, False, False, False, False)))
    before = {robot: solver.placement(tools[robot]).translation for robot, solver in solvers.items()}
    for _ in range(20):
        desk.devices[name].post([0.1, 0, 0, 0, 0, 0])
        read = desk.read(0.01)
        assert set(read) == set(solvers)
        for robot, solver in solvers.items():
            assert solver.command(*read[robot]).status == "reached"
    for robot, solver in solvers.items():
        assert solver.placement(tools[robot]).translation[0] - before[robot][0] == pytest.approx(0.02, abs=1e-6)


@pytest.mark.feature("002-F010")
def test_two_devices_drive_two_robots_apart():
    solvers, desk = desk_of("two_robots")
    desk.devices["second"] = second = RateDevice("second", response=PLAIN)
    left, right = ((robot, tool) for robot, tool in desk.selections)
    desk.select(right[0], DeviceSelection("second", right[1], mask=(True, False, False, False, False, False)))
    before = {robot: solver.placement(tool).translation for (robot, tool), solver in
              zip((left, right), solvers.values(), strict=True)}  # fmt: skip
    second.post([1.0, 0, 0, 0, 0, 0])
    read = desk.read(0.01)
    for robot, tool in (left, right):
        solvers[robot].command(*read[robot])
        moved = solvers[robot].placement(tool).translation[0] - before[robot][0]
        assert moved == pytest.approx(0.0 if robot == left[0] else 0.01, abs=1e-6)


@pytest.mark.feature("002-F106")
@pytest.mark.parametrize("frame", ["world", "tool", "view"])
def test_motions_are_along_the_axes_selected(frame):
    solver = next(iter(desk_of("puma")[0].values()))
    tool, view = "frame_7", pin.SE3(pin.exp3(np.array([0.3, -0.4, 1.0])), np.array([3.0, 2.0, 1.0]))
    before = solver.placement(tool)
    motion = DeviceSelection("mouse", tool, frame, linear_scale=2.0, angular_scale=0.5).motion(
        Increment(np.array([1e-3, 0.0, 0.0]), np.array([0.0, 2e-3, 0.0])), view
    )
    assert solver.command(motion).status == "reached"
    R = {"world": np.eye(3), "tool": before.rotation, "view": view.rotation}[frame]
    now = solver.placement(tool)
    np.testing.assert_allclose(now.translation - before.translation, R @ [2e-3, 0, 0], atol=2e-7)
    np.testing.assert_allclose(pin.log3(now.rotation @ before.rotation.T), R @ [0, 1e-3, 0], atol=2e-7)


@pytest.mark.feature("002-F107")
def test_a_scale_of_two_doubles_the_increment():
    increment = Increment(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    once, twice = (DeviceSelection("d", "t", linear_scale=s, angular_scale=s).motion(increment) for s in (1.0, 2.0))
    np.testing.assert_allclose(2.0 * np.array(once.linear), twice.linear)
    np.testing.assert_allclose(2.0 * np.array(once.angular), twice.angular)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"frame": "sideways"}, "Give world, view, tool"),
        ({"linear_scale": np.nan}, "linear_scale: is nan"),
        ({"mask": (True,)}, "Give six values"),
        ({"mask": (False,) * 6}, "one of them true"),
    ],
)
def test_a_selection_that_can_not_be_is_refused(wrong, says):
    with pytest.raises(InputError, match=says):
        DeviceSelection("mouse", "tool", **wrong)


@pytest.mark.feature("002-F110")
def test_a_device_that_is_not_there_is_refused_and_the_last_stays():
    desk = DeviceDesk([NullDevice(), RateDevice("mouse")])
    desk.select("arm", DeviceSelection("mouse", "tip"))
    with pytest.raises(InputError, match=r"no device 'house'\. There are none, mouse"):
        desk.select("arm", DeviceSelection("house", "tip"))
    assert desk.selections["arm", "tip"].device == "mouse"


@pytest.mark.feature("002-F007", "002-F100")
def test_devices_of_ones_own_are_made_from_a_file(monkeypatch):
    class Pedal(Device):
        def _read(self, seconds):
            return Increment(np.full(3, seconds), np.full(3, seconds))

    monkeypatch.setitem(DEVICE_KINDS, "pedal", lambda sensor: Pedal("pedal", sensor.translation, sensor.rotation))
    pedal = make_device(MadSensor(3, type="pedal", translation=1, rotation=2))
    read = pedal.read(0.5)
    np.testing.assert_allclose([*read.linear, *read.angular], [0.5, 0, 0, 0.5, 0.5, 0])
    with pytest.raises(InputError, match=r"sensor 4: unknown type 'theremin'\. Types are spaceball, .*pedal"):
        make_device(MadSensor(4, type="theremin"))
    generic = make_device(MadSensor(5, translation=3, rotation=0))
    generic.post([1.0] * 6)
    assert not generic.read(0.1).angular.any()
    motion = DeviceSelection(generic.name, "tip").motion(generic.read(0.1))
    assert isinstance(motion, ToolMotion)
    assert len(motion.rows) == 6  # what it doesn't give is commanded to stay (§3.4.3.1)
