# SPDX-License-Identifier: Apache-2.0
"""Mobility of the thesis' mechanisms (ORC-19) and of one in a singular posture."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from humanoid_kinematics import Mechanism, load_mechanism
from humanoid_kinematics.analysis.mobility import free_motions, mobility
from humanoid_kinematics.solver.mechanism_solver import MechanismSolver
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
