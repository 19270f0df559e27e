# SPDX-License-Identifier: Apache-2.0
"""Lagrange's form against Hamilton's and against the system of motion and closures: U-05, U-06."""

import re

import numpy as np
import pytest
from fixtures.gait_models import FIVE_BAR, MODELS
from fixtures.planar_trees import random_state, random_tree

from humanoid_model.errors import InputError
from humanoid_studies.planar_gait.mechanism.lagrange import (
    christoffel_symbols,
    constrained_acceleration,
    velocity_forces,
)
from humanoid_studies.planar_gait.mechanism.multiplier_elimination import eliminated_rate, multipliers, simulate_closed


def closed_state(model, q, rng):
    """Rates that keep the loops closed."""
    G = model.closure_jacobian(q)
    v = rng.normal(size=model.n)
    return v - np.linalg.pinv(G) @ (G @ v)


@pytest.mark.feature("003-F009")
@pytest.mark.parametrize("floating", [False, True])
def test_christoffel_form_is_hamiltons(floating):  # U-05
    rng = np.random.default_rng(1)
    tree = random_tree(rng, 5, floating)
    for _ in range(5):
        q, v = random_state(rng, tree.n)
        efforts = rng.normal(size=tree.n)
        lagrange = np.linalg.solve(
            tree.mass_matrix(q), efforts - velocity_forces(tree, q, v) - tree.potential_gradient(q)
        )
        hamilton = tree.acceleration(q, v, tree.momentum_rate(q, v) + efforts)
        np.testing.assert_allclose(lagrange, hamilton, atol=1e-9 * np.abs(hamilton).max())
    symbols = christoffel_symbols(tree, q)
    np.testing.assert_array_equal(symbols, symbols.transpose(0, 2, 1))


@pytest.mark.feature("003-F012", "003-F014")
@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", "bip_dsp_cyclic"])
def test_eliminated_multipliers_are_those_of_the_whole_system(case):  # U-06, errata ER-02 and ER-03
    model = MODELS[case]
    rng = np.random.default_rng(2)
    for q in (np.array(start) for start in STARTS[case]):
        v = closed_state(model, q, rng)
        torques = 20.0 * rng.normal(size=model.torque_count)
        x = model.state(q, v)
        acceleration, forces = constrained_acceleration(model, q, v, torques)
        scale = max(1.0, float(np.abs(forces).max()))
        np.testing.assert_allclose(multipliers(model, x, torques), forces, atol=1e-10 * scale)
        rate = eliminated_rate(model, x, torques)
        np.testing.assert_allclose(rate[: model.n], v, atol=1e-10)
        again = model.tree.acceleration(q, v, rate[model.n :])
        np.testing.assert_allclose(again, acceleration, atol=1e-9 * np.abs(acceleration).max())
        closing = model.closure_jacobian(q) @ acceleration + (model.closure_hessian(q) * v**2).sum(axis=-1)
        np.testing.assert_allclose(closing, 0.0, atol=1e-10 * max(1.0, np.abs(acceleration).max()))
        # The multipliers are cut forces: the state equation with them as controls is the same motion.
        u = np.concatenate([torques, np.zeros(model.control_count - model.torque_count)])
        for force, name in ((forces[0], "x"), (forces[1], "y")):
            u[CONTROLS[case][name]] = force
        np.testing.assert_allclose(model.state_rate(x, u), rate, atol=1e-9 * scale)


STARTS = {
    "5bar_A": [FIVE_BAR.posture(0.1 + 0.6j), FIVE_BAR.posture(0.2 + 0.5j)],
    "rabbit_dsp": [[0.894, 1.816, -0.853, -1.486, 1.571]],
    "bip_dsp_cyclic": [[2.581, 0.957, 1.588, -0.866, -1.611, -2.297, 1.571]],
}
CONTROLS = {
    "5bar_A": {"y": 5, "x": 6},
    "rabbit_dsp": {"y": 4, "x": 5},
    "bip_dsp_cyclic": {"y": 6, "x": 8},
}


@pytest.mark.feature("003-F012")
def test_closed_five_bar_stays_closed():  # F-012
    model = FIVE_BAR.phase()
    q = FIVE_BAR.posture(0.15 + 0.55j)
    damped = FIVE_BAR.__class__(FIVE_BAR.bars, FIVE_BAR.base, FIVE_BAR.load, FIVE_BAR.gravity, (2.0,) * 5).phase()
    motion = simulate_closed(damped, q, np.zeros(4), lambda t, q, v: [10.0 * np.cos(3.0 * t), 0, 0, 0, 5.0], 1.0)
    assert np.ptp(motion.q, axis=0).max() > 0.3  # it moves
    assert motion.gap.max() < 1e-6
    # Without torques and damping it is conservative.
    free = simulate_closed(model, q, np.zeros(4), lambda t, q, v: np.zeros(5), 0.3)
    energy = model.tree.hamiltonian(free.q, model.tree.momentum(free.q, free.v))
    assert np.ptp(energy) < 1e-5 * abs(energy[0])
    assert free.multipliers.shape == (101, 2)


def test_stabilisation_pulls_an_open_loop_shut():
    model = FIVE_BAR.phase()
    q = FIVE_BAR.posture(0.15 + 0.55j) + np.array([1e-3, -2e-3, 3e-3, 1e-3])
    v = np.array([0.1, -0.2, 0.3, 0.5])
    rate = eliminated_rate(model, model.state(q, v), np.ones(5), stabilisation=30.0)
    acceleration = model.tree.acceleration(q, v, rate[4:])
    G = model.closure_jacobian(q)
    gap = G @ acceleration + (model.closure_hessian(q) * v**2).sum(axis=-1)
    np.testing.assert_allclose(gap, -60.0 * (G @ v) - 900.0 * model.closure(q), atol=1e-9)


def test_what_is_refused():
    model = FIVE_BAR.phase()
    q = FIVE_BAR.posture(0.2 + 0.5j)
    with pytest.raises(InputError, match="loops are open by"):
        simulate_closed(model, q + 0.1, np.zeros(4), lambda t, q, v: np.zeros(5), 1.0)
    with pytest.raises(InputError, match=r"loops are open by .* and open at"):
        simulate_closed(model, q, np.ones(4), lambda t, q, v: np.zeros(5), 1.0)
    with pytest.raises(InputError, match=re.escape("duration: is 0.0 s")):
        simulate_closed(model, q, np.zeros(4), lambda t, q, v: np.zeros(5), 0.0)
    with pytest.raises(InputError, match="closures have rank 1, not 2"):
        constrained_acceleration(model, np.zeros(4), np.zeros(4), np.zeros(5))
