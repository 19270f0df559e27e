# SPDX-License-Identifier: Apache-2.0
"""casadi expressions of trees and phases against the numeric functions."""

import casadi
import numpy as np
import pytest
from fixtures.planar_trees import random_state, random_tree

from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase, CasadiTree
from humanoid_studies.planar_gait.models.five_bar import load_five_bar


@pytest.mark.parametrize("floating", [False, True])
def test_trees(floating):
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 5, floating)
    symbolic = CasadiTree(tree)
    q, v, p = (casadi.SX.sym(name, tree.n) for name in "qvp")
    tip = tree.point("on_weld", 0.2 + 0.1j)
    values = random_state(rng, tree.n)
    pairs = [
        (symbolic.mass_matrix(q), tree.mass_matrix(values[0])),
        (symbolic.turning_matrix(q), tree.turning_matrix(values[0])),
        (symbolic.mass_rate(q, v), tree.mass_rate(*values)),
        (symbolic.velocity(q, v), tree.velocity(*values)),
        (symbolic.momentum(q, v), tree.momentum(*values)),
        (symbolic.potential(q), tree.potential(values[0])),
        (symbolic.potential_gradient(q), tree.potential_gradient(values[0])),
        (symbolic.momentum_rate(q, v), tree.momentum_rate(*values)),
        (symbolic.hamiltonian(q, v), tree.hamiltonian(*values)),
        (symbolic.acceleration(q, v, v), tree.acceleration(*values, values[1])),
        (symbolic.position(tip, q), tip.position(values[0])),
        (symbolic.jacobian(tip, q), tip.jacobian(values[0])),
        (symbolic.bias(tip, q, v), tip.bias(*values)),
    ]
    for expression, expected in pairs:
        found = np.array(casadi.Function("f", [q, v], [expression])(*values)).squeeze()
        np.testing.assert_allclose(found, expected, atol=1e-11)
    rate = casadi.Function("f", [q, p], [symbolic.momentum_rate(q, symbolic.velocity(q, p))])
    np.testing.assert_allclose(np.array(rate(*values))[:, 0], tree.free_rates(*values)[1], atol=1e-9)
    gradient = casadi.Function("g", [q], [casadi.gradient(symbolic.potential(q), q)])
    np.testing.assert_allclose(np.array(gradient(values[0]))[:, 0], tree.potential_gradient(values[0]), atol=1e-11)


def test_phases():
    model = load_five_bar().phase()
    symbolic = CasadiPhase(model)
    rng = np.random.default_rng(4)
    x, u = casadi.SX.sym("x", 8), casadi.SX.sym("u", 7)
    q, v = x[:4], x[4:]
    state, control = np.concatenate(random_state(rng, 4)), rng.normal(size=7)
    pairs = [
        (symbolic.state_rate(x, u), model.state_rate(state, control)),
        (symbolic.control_matrix(q), model.control_matrix(state[:4])),
        (symbolic.acceleration(q, v, u), model.acceleration(state[:4], state[4:], control)),
        (symbolic.closure(q), model.closure(state[:4])),
        (symbolic.joint_angles(q), model.joint_angles(state[:4])),
        (symbolic.joint_rates(v), model.joint_rates(state[4:])),
        (symbolic.torque_rates(v), model.torque_rates(state[4:])),
        (symbolic.point("apex", q), model.points["apex"].position(state[:4])),
        (casadi.jacobian(symbolic.closure(q), q), model.closure_jacobian(state[:4])),
        (casadi.jacobian(symbolic.state_rate(x, u), u)[4:, :], model.control_matrix(state[:4])),
    ]
    for expression, expected in pairs:
        found = np.array(casadi.Function("f", [x, u], [expression])(state, control)).squeeze()
        np.testing.assert_allclose(found, expected, atol=1e-10)
    assert symbolic.slap(q).shape == (0, 1)
