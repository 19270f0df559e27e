# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pinocchio as pin
import pytest
from fixtures.pinocchio_dynamics import random_state
from fixtures.random_urdf import random_urdf

from humanoid_codegen.dynamics import newton_euler_body
from humanoid_codegen.dynamics.forward_kinematics import body_placements
from humanoid_codegen.dynamics.inertial_parameters import group_inertias
from humanoid_codegen.dynamics.mechanism import Mechanism
from humanoid_model import load_robot
from humanoid_studies.baselines import newton_euler_world

ROBOTS = ("robot_2r_b", "tree4", "syn3p33r", "hrp2", "bip", "avatar")


@pytest.mark.parametrize("algorithm", [newton_euler_body.inverse_dynamics, newton_euler_world.inverse_dynamics])
@pytest.mark.parametrize("name", ROBOTS)
def test_both_texts_agree_with_pinocchio_on_plain_numbers(name, algorithm):
    robot = load_robot(name)
    state = random_state(Mechanism.from_robot(robot), robot.model, np.random.default_rng(0))
    mechanism = Mechanism.from_robot(robot)
    expected = pin.rnea(robot.model, robot.model.createData(), state.q, state.v, state.a)
    for variant in (mechanism, group_inertias(mechanism)):
        tau = np.array(algorithm(variant, state.q, state.v, state.a), dtype=float)
        np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.feature("004-F11")
@pytest.mark.parametrize("seed", range(10))
def test_both_texts_agree_on_random_robots_with_loads(seed):
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
    robot = load_robot(random_urdf(rng, 7, kinds), floating_base=bool(seed % 2))
    mechanism = Mechanism.from_robot(robot)
    state = random_state(Mechanism.from_robot(robot), robot.model, rng)
    loaded = len(mechanism.bodies) - 1
    force, moment = rng.normal(size=(2, 3))
    R = np.array(body_placements(mechanism, state.q)[loaded].rotation, dtype=float)
    in_body = newton_euler_body.inverse_dynamics(
        mechanism, state.q, state.v, state.a, {loaded: (tuple(R.T @ force), tuple(R.T @ moment))}
    )
    in_world = newton_euler_world.inverse_dynamics(
        mechanism, state.q, state.v, state.a, {loaded: (tuple(force), tuple(moment))}
    )
    scale = max(1.0, np.abs(np.array(in_body, dtype=float)).max())
    np.testing.assert_allclose(np.array(in_body, dtype=float), np.array(in_world, dtype=float), atol=1e-11 * scale)
    unloaded = newton_euler_body.inverse_dynamics(mechanism, state.q, state.v, state.a)
    assert np.abs(np.array(unloaded, dtype=float) - np.array(in_body, dtype=float)).max() > 1e-6


@pytest.mark.parametrize("algorithm", [newton_euler_body.inverse_dynamics, newton_euler_world.inverse_dynamics])
def test_numbers_may_be_batches(algorithm):
    robot = load_robot("tree4")
    mechanism = Mechanism.from_robot(robot)
    rng = np.random.default_rng(0)
    q, v, a = rng.normal(size=(3, 4, 50))
    tau = np.array(algorithm(mechanism, q, v, a))
    for k in range(50):
        expected = pin.rnea(robot.model, robot.model.createData(), q[:, k], v[:, k], a[:, k])
        np.testing.assert_allclose(tau[:, k], expected, atol=1e-11)
