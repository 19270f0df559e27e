# SPDX-License-Identifier: Apache-2.0
"""Commands: their frames (ORC-05), partial rows, devices, and that arrays are built once for a set of them."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import load_mechanism
from humanoid_kinematics.solver.commands import (
    ORIENTATION,
    POSITION,
    JointGoal,
    ToolGoal,
    ToolMotion,
    transport,
)
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
from humanoid_model import InputError

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")


@pytest.mark.feature("002-F086")
def test_motion_of_a_sensor_seen_from_the_tool_orc_05():
    placement = pin.SE3(pin.exp3(np.array([0.0, 0.0, np.radians(30)])), np.array([100.0, -50.0, 200.0]))
    d, delta = transport((1.0, 2.0, 3.0), (0.01, 0.02, 0.03), placement)
    np.testing.assert_allclose(d, [7.129165, -0.651924, 0.5], atol=1e-6)
    np.testing.assert_allclose(delta, [0.018660, 0.012321, 0.03], atol=1e-6)


def arm():
    solver = MechanismSolver(load_mechanism("puma"))
    for _ in range(5):
        solver.command(*(JointGoal(f"joint_{n}", value) for n, value in enumerate((0.3, -0.8, 0.6, 0.4, 0.7, 0.2), 1)))
    return solver


@pytest.mark.feature("002-F086")
@pytest.mark.parametrize("frame", ["centred", "world", "tool", "camera"])
def test_a_motion_is_in_the_frame_that_it_names(frame):
    solver, h = arm(), 1e-4
    d, delta = h * np.array([1.0, 2.0, -1.0]), h * np.array([0.5, -1.0, 2.0])
    before = solver.placement("frame_7")
    camera = pin.SE3(pin.exp3(np.array([0.3, -0.4, 1.0])), np.array([5.0, 1.0, 2.0]))
    assert solver.command(ToolMotion("frame_7", d, delta, camera if frame == "camera" else frame)).status == "reached"
    now = solver.placement("frame_7")
    moved, turned = now.translation - before.translation, pin.log3(now.rotation @ before.rotation.T)
    R = {"tool": before.rotation, "camera": camera.rotation}.get(frame, np.eye(3))
    expected = R @ d
    if frame == "world":  # about the world's origin the tool sweeps an arc: the sensor's frame, seen by transport
        expected = before.rotation @ transport(d, delta, before)[0]
    np.testing.assert_allclose(moved, expected, atol=1e-10)
    np.testing.assert_allclose(turned, R @ delta, atol=1e-10)


def test_an_unknown_frame_is_refused():
    with pytest.raises(InputError, match="'sideways'"):
        arm().command(ToolMotion("frame_7", frame="sideways"))


@pytest.mark.feature("002-F114")
@pytest.mark.parametrize("rows", [POSITION, ORIENTATION, ("z",), ("x", "rz")])
def test_only_the_rows_commanded_are_met_and_the_rest_follows(rows):
    solver = arm()
    solver.command(ToolMotion("frame_7"))  # all rows, before
    goal = solver.placement("frame_7") * pin.SE3(pin.exp3(np.array([0.1, 0.2, -0.1])), np.array([0.05, 0.02, -0.04]))
    for _ in range(5):
        motion = solver.command(ToolGoal("frame_7", goal, rows))
    assert motion.status == "reached"
    off = goal.actInv(solver.placement("frame_7"))
    turn = pin.log3(off.rotation)
    met = {"x": off.translation[0], "y": off.translation[1], "z": off.translation[2], "rx": turn[0], "ry": turn[1]}
    assert all(abs(met[row]) < 1e-6 for row in rows if row in met)
    assert np.linalg.norm(pin.log6(off).vector) > 1e-3


def test_an_axis_points_where_it_is_told_and_a_point_of_the_tool_goes_where_it_is_told():
    solver = arm()
    direction = np.array([0.2, 0.1, -1.0])
    for _ in range(10):
        motion = solver.command(ToolGoal.axis("frame_7", direction, "x"))
    assert motion.status == "reached"
    along = solver.placement("frame_7").rotation[:, 0]
    np.testing.assert_allclose(along, direction / np.linalg.norm(direction), atol=1e-6)
    point = (0.1, 0.0, 0.05)
    goal = solver.placement("frame_7").act(np.array(point)) + np.array([0.0, 0.02, 0.01])
    for _ in range(5):
        motion = solver.command(ToolGoal.position("frame_7", goal, point=point))
    assert motion.status == "reached"
    np.testing.assert_allclose(solver.placement("frame_7").act(np.array(point)), goal, atol=1e-6)
    with pytest.raises(InputError, match="Give a direction"):
        ToolGoal.axis("frame_7", (0.0, 0.0, 0.0))


def test_a_weight_decides_between_commands_that_cannot_both_be_met():
    solver = arm()
    here = solver.placement("frame_7").translation
    for weights, nearer in (((10.0, 1.0), 0), ((1.0, 10.0), 1)):
        goals = here, here + np.array([0.1, 0.0, 0.0])
        for _ in range(5):
            solver.command(*(ToolGoal.position("frame_7", *both) for both in zip(goals, weights, strict=True)))
        away = [np.linalg.norm(solver.placement("frame_7").translation - goal) for goal in goals]
        assert away[nearer] == pytest.approx(0.1 / 101, rel=1e-3)


@pytest.mark.feature("002-F049")
def test_arrays_are_built_once_for_a_set_of_commands():
    solver = MechanismSolver(load_mechanism("cross"))
    for i in range(5):
        solver.command(ToolMotion("link_5", (1e-3 * i, 0.0, 0.0)))
        solver.command(ToolMotion("link_5", (1e-3 * i, 0.0, 0.0)), JointGoal("joint_1", -1.7))
    assert len(solver._problems) == 3  # none, one tool, tool and joint
    solver.open_loop("link_5-frame_16")
    solver.command(ToolMotion("link_5", (1e-3, 0.0, 0.0)))
    assert len(solver._problems) == 1


@pytest.mark.feature("002-F086")
@pytest.mark.parametrize("frame", ["centred", "tool", "camera"])
def test_partial_rows_are_along_the_axes_that_the_motion_is_in(frame):
    solver = arm()
    camera = pin.SE3(pin.exp3(np.array([0.3, -0.4, 1.0])), np.zeros(3))
    rows = ("y", "z", "rx", "rz")
    here = solver.placement("frame_7")
    R = {"tool": here.rotation, "camera": camera.rotation, "centred": np.eye(3)}[frame]
    motion = ToolMotion("frame_7", (0.0, 2e-4, 0.0), (3e-4, 0.0, 0.0), camera if frame == "camera" else frame, rows)
    assert solver.command(JointGoal("joint_1", solver.q[0] + 1e-3), motion).status == "reached"
    now = solver.placement("frame_7")
    moved = R.T @ (now.translation - here.translation)
    turned = R.T @ pin.log3(now.rotation @ here.rotation.T)
    np.testing.assert_allclose(moved[1:], [2e-4, 0.0], atol=2e-6)
    np.testing.assert_allclose(turned[[0, 2]], [3e-4, 0.0], atol=2e-6)
    assert abs(moved[0]) + abs(turned[1]) > 1e-4
