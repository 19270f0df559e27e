# SPDX-License-Identifier: Apache-2.0
"""Where a mechanism's parts are: kept from tick to tick, computed once each, carried by a base that moves."""

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import MechanismSolver, ToolGoal, ToolMotion, load_mechanism, load_scene
from humanoid_kinematics.analysis.obstacles import Obstacles
from humanoid_model import InputError
from humanoid_model.description import Sphere
from humanoid_model.tree import forward_kinematics
from humanoid_model.tree.kinematic_tree import KinematicTree

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")
ELSEWHERE = pin.SE3(pin.exp3(np.array([0.1, -0.2, 1.0])), np.array([2.0, -1.0, 0.3]))


def assert_placed_as_pinocchio_does(solver):
    model, data = solver.mechanism.model, solver.mechanism.model.createData()
    pin.forwardKinematics(model, data, solver.q)
    for name, part in solver.mechanism.robot.parts.links.items():
        expected = solver.base * data.oMi[part.joint_id] * part.placement_joint_link
        np.testing.assert_allclose(solver.placement(name).homogeneous, expected.homogeneous, atol=1e-12)


@pytest.mark.feature("002-F043")
def test_each_body_is_placed_once_however_many_paths_lead_over_it(monkeypatch):
    mechanism, placed = load_mechanism("cross"), []
    monkeypatch.setattr(forward_kinematics, "place_joint", lambda joints, j, q, placements: placed.append(j))
    tree = KinematicTree.from_pinocchio(mechanism.model)
    forward_kinematics.place_all.py_func(tree, mechanism.initial, None)
    assert placed == list(range(1, mechanism.model.njoints))


@pytest.mark.feature("002-F043")
def test_placements_are_those_of_the_configuration_after_whatever_was_tried():
    solver = MechanismSolver(load_mechanism("cross"))
    solver.command(ToolMotion("link_5", (0.01, 0.02, 0.0)))
    assert_placed_as_pinocchio_does(solver)
    solver.command(ToolMotion("link_5", angular=(0.0, 0.3, 0.0)))  # can't be done: trials are taken back
    assert_placed_as_pinocchio_does(solver)
    away = solver.q.copy()
    away[0] -= 5.0  # beyond the bars
    assert not solver.close(away, held=("joint_1", "joint_6", "joint_11")).closed
    assert_placed_as_pinocchio_does(solver)


@pytest.mark.feature("002-F045")
def test_a_shape_says_which_link_of_which_robot_it_is():
    for mechanism in load_scene("two_robots").mechanisms.values():
        shapes = mechanism.robot.visual_model.geometryObjects
        assert len(shapes) > 2
        for shape in shapes:
            assert mechanism.robot.parts.links[shape.name.split("/")[0]].joint_id == shape.parentJoint


@pytest.mark.feature("002-F050", "002-F187")
@pytest.mark.parametrize("name", ["mars_rover_arm", "walking_leg", "cross"])
def test_a_base_that_moves_carries_all_and_opens_no_loop(name):
    solver = MechanismSolver(load_mechanism(name))
    before = solver.q.copy()
    solver.move_base(ELSEWHERE)
    np.testing.assert_array_equal(solver.q, before)
    assert_placed_as_pinocchio_does(solver)
    assert max((distance for distance, _ in solver.loop_gaps().values()), default=0.0) < 1e-9
    tool = solver.mechanism.tools[0].name
    here = solver.placement(tool).translation
    step = ELSEWHERE.rotation @ [-0.01, 0.0, 0.005]
    for _ in range(5):
        motion = solver.command(ToolGoal.position(tool, here + step))
    assert motion.status == "reached"
    assert motion.loop_gap <= 1e-10
    np.testing.assert_allclose(solver.placement(tool).translation, here + step, atol=1e-6)
    assert_placed_as_pinocchio_does(solver)


@pytest.mark.feature("002-F050")
def test_an_arm_on_a_rover_keeps_its_tool_where_it_is_while_the_rover_drives():
    solver = MechanismSolver(load_mechanism("mars_rover_arm"))
    for _ in range(30):
        solver.command(ToolMotion("frame_6", (0.0, 0.01, -0.005), rows=("x", "y", "z")))
    goal, start = solver.placement("frame_6"), solver.q.copy()
    for tick in range(60):
        solver.move_base(pin.SE3(np.eye(3), np.array([0.001 * tick, 0.0005 * tick, 0.0])))
        assert solver.command(ToolGoal.position("frame_6", goal.translation)).status == "reached"
    np.testing.assert_allclose(solver.placement("frame_6").translation, goal.translation, atol=1e-6)
    assert np.abs(solver.q - start).max() > 0.03


@pytest.mark.feature("002-F165")
def test_obstacles_stay_while_the_base_moves():
    solver = MechanismSolver(load_mechanism("hpr"))
    obstacles = Obstacles(solver, {"ball": (Sphere(0.05), pin.SE3(np.eye(3), np.array([5.0, 0.0, 0.0])))})
    before = obstacles.nearest()["ball"].distance
    solver.move_base(pin.SE3(np.eye(3), np.array([1.0, 0.0, 0.0])))
    assert obstacles.nearest()["ball"].distance == pytest.approx(before - 1.0, abs=0.05)


def test_a_base_that_is_not_finite_is_refused_and_stays():
    solver = MechanismSolver(load_mechanism("hpr"))
    with pytest.raises(InputError, match=r"base: is .*nan.*finite"):
        solver.move_base(pin.SE3(np.eye(3), np.array([np.nan, 0.0, 0.0])))
    assert_placed_as_pinocchio_does(solver)
