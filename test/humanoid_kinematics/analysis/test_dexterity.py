# SPDX-License-Identifier: Apache-2.0
"""Dexterity and singular values against the oracles ORC-16, ORC-18, ORC-20 and finite differences."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import Mechanism, load_mechanism
from humanoid_kinematics.analysis.dexterity import dexterity, following, free_motions, mobility, singularity
from humanoid_kinematics.solver.commands import JointGoal
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver, SolverOptions
from humanoid_model import InputError
from humanoid_model.loop_closure import ROWS, LoopClosure

pytestmark = pytest.mark.filterwarnings("ignore:.*graphic file")


@pytest.mark.feature("002-F169")
@pytest.mark.parametrize(
    ("name", "joints", "loops", "rank", "freedoms", "gruebler", "over"),
    [
        ("macdac", 5, 0, 0, 5, 5, 0),
        ("redont", 6, 0, 0, 6, 6, 0),
        ("planar_hybrid", 7, 1, 3, 4, 1, 3),
        ("cross", 15, 2, 12, 3, 3, 0),
        ("innocenti", 9, 2, 6, 3, -3, 6),
        ("hpr", 8, 1, 3, 5, 2, 3),
        ("syntaxeur_delta", 15, 2, 12, 3, 3, 0),
    ],
)
def test_mobility_of_the_fixtures_orc_19(name, joints, loops, rank, freedoms, gruebler, over):
    solver = MechanismSolver(load_mechanism(name))
    before = solver.q.copy()
    found = mobility(solver)
    assert (found.joints, found.loops, found.rank, found.mobility) == (joints, loops, rank, freedoms)
    assert (found.generic, found.gruebler, found.over_constrained) == (freedoms, gruebler, over)
    assert not found.singular
    assert found.idle == ()
    np.testing.assert_array_equal(solver.q, before)


def test_a_flat_parallelogram_has_a_freedom_more_than_its_neighbours():
    solver = MechanismSolver(load_mechanism("hpr"))
    assert solver.close(np.radians([0, 0, 0, 0, 90, 180, -180, 0])).closed
    found = mobility(solver)
    assert (found.mobility, found.generic) == (6, 5)
    assert found.singular


def test_free_motions_keep_the_loops_and_a_loop_let_go_frees_its_joints():
    solver = MechanismSolver(load_mechanism("cross"))
    free = free_motions(solver)
    np.testing.assert_allclose(solver.scaled_loop_jacobian() @ free, 0.0, atol=1e-12)
    np.testing.assert_allclose(free.T @ free, np.eye(3), atol=1e-12)
    solver.open_loop("link_5-frame_17")
    assert mobility(solver).mobility == 9


def test_joints_that_cannot_move_are_named():
    solver = MechanismSolver(load_mechanism("hpr"))
    assert mobility(solver).idle == ()
    # With the loop's end welded to the turret as well, the parallelogram can't move.
    turret, rod = solver.placement("link_1"), solver.placement("link_7")
    weld = LoopClosure("weld", "link_1", turret.actInv(rod), "link_7", pin.SE3.Identity(), ROWS)
    mechanism = solver.mechanism
    robot = dataclasses.replace(mechanism.robot, loops=(*mechanism.loops, weld))
    stiff = MechanismSolver(Mechanism(robot, solver.q, mechanism.tools))
    assert set(mobility(stiff).idle) == {"joint_2", "joint_3", "joint_6", "joint_7", "joint_8"}


SLIDERS, MOTORS = ("joint_1", "joint_6", "joint_11"), ("joint_1", "joint_11", "joint_21")


@pytest.mark.feature("002-F161")
def test_dexterity_of_the_serial_arms_orc_20_b2():
    macdac = MechanismSolver(load_mechanism("macdac"))
    in_mm, in_m = (dexterity(macdac, "frame_6", unit=unit) for unit in (1e-3, 1.0))
    np.testing.assert_allclose(in_mm.sigma, [484.318346, 322.487323, 228.632925, 0.781203, 0.255250], atol=1e-5)
    np.testing.assert_allclose(in_m.sigma, [1.795683, 1.245563, 0.711530, 0.321961, 0.070675], atol=1e-6)
    assert in_mm.condition == pytest.approx(1897.43, rel=1e-5)
    assert in_m.condition == pytest.approx(25.4078, rel=1e-5)
    macdac.close(np.radians([0, 30, -60, 120, 180]))
    there = dexterity(macdac, "frame_6")
    np.testing.assert_allclose(there.sigma, [2.016265, 1.418325, 1.000101, 0.433933, 0.156596], atol=1e-6)
    assert there.condition == pytest.approx(12.8756, rel=1e-5)
    assert there.manipulability == pytest.approx(np.prod(there.sigma))
    redont = MechanismSolver(load_mechanism("redont"))
    in_mm, in_m = (dexterity(redont, "frame_7", unit=unit) for unit in (1e-3, 1.0))
    np.testing.assert_allclose(in_mm.sigma, [6047.41849, 4391.85854, 2207.26323, 0.68525], atol=1e-4)
    assert in_mm.rank == 4
    assert in_mm.condition == pytest.approx(8825.15, rel=1e-5)
    assert in_m.condition == pytest.approx(10.6603, rel=1e-5)


@pytest.mark.feature("002-F161", "002-F196")
def test_jacobian_of_the_delta_by_its_motors_orc_18():
    delta = MechanismSolver(load_mechanism("syntaxeur_delta"))
    found = dexterity(delta, "frame_103", MOTORS, unit=1e-3)
    expected = [[-98.0098, 49.0049, 49.0049], [0, -84.8790, 84.8790], [101.3258, 101.3258, 101.3258]]
    np.testing.assert_allclose(found.J[:3], expected, atol=1e-4)
    np.testing.assert_allclose(found.J[3:], 0.0, atol=1e-9)
    axes, directions = found.velocity_ellipsoid()
    assert axes[0] / axes[-1] == pytest.approx(1.46206, abs=1e-5)
    np.testing.assert_allclose(np.abs(directions[:, 0]), [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize(("name", "driven"), [("cross", SLIDERS), ("syntaxeur_delta", MOTORS)])
def test_joints_follow_the_drives_as_finite_differences_say(name, driven):
    solver = MechanismSolver(load_mechanism(name), SolverOptions(reach=1e-12))
    before, h = solver.q.copy(), 1e-5
    D = following(solver, driven)
    for i, joint in enumerate(driven):
        ends = []
        for sign in (1.0, -1.0):
            solver.close(before)
            goals = [
                JointGoal(other, before[solver.mechanism.robot.index_v(other)] + sign * h * (other == joint))
                for other in driven
            ]
            assert solver.command(*goals).status == "reached"
            ends.append(solver.q.copy())
        np.testing.assert_allclose(D[:, i], (ends[0] - ends[1]) / (2 * h), atol=1e-6)


def test_too_many_drives_are_refused_by_name():
    hpr = MechanismSolver(load_mechanism("hpr"))
    with pytest.raises(InputError, match="joint_2, joint_3, joint_6 can't all move"):
        following(hpr, ("joint_2", "joint_3", "joint_6"))


@pytest.mark.feature("002-F082")
def test_a_flat_parallelogram_and_a_stretched_arm_are_seen_as_singular():
    hpr, drives = MechanismSolver(load_mechanism("hpr")), ("joint_1", "joint_2", "joint_4", "joint_5", "joint_6")
    away = singularity(hpr, "frame_10", drives, 3)
    assert min(away.loops, away.drives, away.tool) > 0.05
    hpr.close(np.radians([0, 0, 0, 0, 90, 180, -180, 0]))
    flat = singularity(hpr, "frame_10", drives, 3)
    assert flat.loops < 1e-9
    macdac = MechanismSolver(load_mechanism("macdac"))
    macdac.close(np.radians([0, 30, 0, 120, 180]))  # upper and lower arm in line
    in_line = singularity(macdac, "frame_6", None, 0)
    macdac.close(np.radians([0, 30, -60, 120, 180]))
    assert in_line.tool < singularity(macdac, "frame_6", None, 0).tool
    assert in_line.drives is None
