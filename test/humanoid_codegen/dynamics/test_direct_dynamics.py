# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest
from fixtures.pinocchio_dynamics import random_state
from fixtures.random_urdf import random_urdf

from humanoid_codegen.dynamics.direct_dynamics import direct_dynamics, factorize, inverse, mass_matrix, solve
from humanoid_codegen.dynamics.inertial_parameters import group_inertias
from humanoid_codegen.dynamics.mechanism import Mechanism
from humanoid_model import InputError, load_robot

ROBOTS = ("robot_2r_b", "tree4", "syn3p33r", "hrp2", "bip", "bip_planar", "avatar")


def inertia_matrix(robot, q):
    M = pin.crba(robot.model, robot.model.createData(), q)
    return np.triu(M) + np.triu(M, 1).T


@pytest.mark.parametrize("name", ROBOTS)
def test_three_ways_to_the_accelerations_agree(name):
    robot = load_robot(name)
    state = random_state(Mechanism.from_robot(robot), robot.model, np.random.default_rng(0))
    M = inertia_matrix(robot, state.q)
    expected = np.linalg.solve(M, state.tau)
    mechanism = Mechanism.from_robot(robot)
    for variant in (mechanism, group_inertias(mechanism)):
        ours = np.array(mass_matrix(variant, state.q), dtype=float)
        np.testing.assert_allclose(ours, M, atol=1e-12 * np.abs(M).max())
        factor = factorize(ours.tolist())
        tolerance = 1e-10 * np.abs(expected).max()
        np.testing.assert_allclose(np.array(solve(factor, state.tau), dtype=float), expected, atol=tolerance)
        a = np.array(direct_dynamics(variant, state.q, state.tau), dtype=float)
        np.testing.assert_allclose(a, expected, atol=tolerance)
        np.testing.assert_allclose(np.array(inverse(factor), dtype=float) @ M, np.eye(len(M)), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_random_robots_with_joints_of_many_degrees(seed):
    rng = np.random.default_rng(100 + seed)
    M = np.zeros((2, 2))
    while np.linalg.cond(M) > 1e6:  # links without mass at the tips: no accelerations to find
        urdf = random_urdf(rng, 6, ("revolute", "prismatic", "floating", "planar"))
        robot = load_robot(urdf, floating_base=bool(seed % 2))
        state = random_state(Mechanism.from_robot(robot), robot.model, rng)
        M = inertia_matrix(robot, state.q)
    expected = np.linalg.solve(M, state.tau)
    a = np.array(direct_dynamics(Mechanism.from_robot(robot), state.q, state.tau), dtype=float)
    np.testing.assert_allclose(a, expected, atol=1e-9 * np.abs(expected).max())


def test_factor_keeps_the_zeros_of_branches():
    robot = load_robot("hrp2")
    mechanism = Mechanism.from_robot(robot)
    factor = factorize(mass_matrix(mechanism, robot.postures["zero"]))
    right, left = robot.index_v("RLEG_JOINT5"), robot.index_v("LLEG_JOINT0")
    assert not any(right <= column < left for column, _ in factor.lower[left])
    assert len(factor.lower[right]) <= 11


def test_articulated_body_refuses_joints_that_follow():
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"/><link name="c"/>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>'
        '<joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j"/></joint></robot>'
    )
    mechanism = Mechanism.from_robot(load_robot(urdf))
    with pytest.raises(InputError, match="can't have joint 'k' follow another one"):
        direct_dynamics(mechanism, [0.0], [1.0])
