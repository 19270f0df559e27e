# SPDX-License-Identifier: Apache-2.0
import dataclasses

import casadi
import numpy as np
import pytest
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem, stance
from fixtures.planar_trees import with_rotors

from humanoid_studies.planar_gait.mechanism.casadi_tree import CasadiPhase
from humanoid_studies.planar_gait.optimal_control.adjoint import adjoint_rates
from humanoid_studies.planar_gait.optimal_control.control_rows import cut_foot
from humanoid_studies.planar_gait.optimal_control.penalties import Obstacle, Penalties
from humanoid_studies.planar_gait.optimal_control.phase_problem import PhaseProblem
from humanoid_studies.planar_gait.optimal_control.pontryagin import PontryaginSystem


def random_points(problem: PhaseProblem, count: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """States between the ends, shaken, and costates of the size that solutions have."""
    rng = np.random.default_rng(7)
    n = problem.model.n
    share = rng.uniform(size=(count, 1))
    q = (1.0 - share) * problem.start.q + share * problem.end.q + 0.1 * rng.normal(size=(count, n))
    v = rng.normal(size=(count, n))
    w = np.concatenate([rng.normal(size=(count, n)), 0.01 * rng.normal(size=(count, n))], axis=1)
    return problem.model.state(q, v), w


def automatic(problem: PhaseProblem, x: np.ndarray, w: np.ndarray, u: np.ndarray) -> list[tuple[np.ndarray, ...]]:
    """(-H_x, H_w, H_u, H) by casadi from x' with the inverse written out, controls held."""
    model, n = problem.model, problem.model.n
    symbols = [casadi.SX.sym(name, size) for name, size in (("x", 2 * n), ("w", 2 * n), ("u", model.control_count))]
    xs, ws, us = symbols
    phase = CasadiPhase(model)
    penalties = problem.penalties
    cost = 0.5 * casadi.dot(casadi.SX(problem.effort.diagonal(model)), us**2)
    cost += 0.5 * penalties.closure * casadi.sumsqr(phase.closure(xs[:n]))
    cost += 0.5 * penalties.slap * casadi.sumsqr(phase.slap(xs[:n]))
    H = casadi.dot(ws, phase.state_rate(xs, us)) - cost
    function = casadi.Function(
        "H", symbols, [-casadi.gradient(H, xs), casadi.gradient(H, ws), casadi.gradient(H, us), H]
    )
    return [tuple(np.array(item).ravel() for item in function(a, b, c)) for a, b, c in zip(x, w, u, strict=True)]


@pytest.mark.feature("003-F086")
@pytest.mark.parametrize("rotors", [False, True])
@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", "bip_dsp_cyclic"])
def test_adjoint_is_that_of_automatic_differentiation(case, rotors):
    problem = oracle_problem(case)
    if rotors:
        tree = with_rotors(problem.model.tree, np.random.default_rng(5))
        problem = problem.replace(model=problem.model.replace(tree=tree))
    system = PontryaginSystem(problem)
    x, w = random_points(problem)
    at = system.evaluate(x, w)
    explicit = adjoint_rates(problem, x, w, at.u)
    for k, (w_rate, x_rate, _, H) in enumerate(automatic(problem, x, w, at.u)):
        scale = max(1.0, np.abs(w_rate).max())
        np.testing.assert_allclose(at.w_rate[k], w_rate, atol=1e-10 * scale)
        np.testing.assert_allclose(explicit[k], w_rate, atol=1e-10 * scale)
        np.testing.assert_allclose(at.x_rate[k], x_rate, atol=1e-9 * max(1.0, np.abs(x_rate).max()))
        assert at.hamiltonian[k] == pytest.approx(H[0], abs=1e-10 * scale)


def test_adjoint_written_out_keeps_damping():
    problem = oracle_problem("bip_dsp_cyclic")
    joints = tuple(dataclasses.replace(joint, damping=0.7) for joint in problem.model.joints)
    problem = problem.replace(model=problem.model.replace(joints=joints))
    x, w = random_points(problem)
    at = PontryaginSystem(problem).evaluate(x, w)
    np.testing.assert_allclose(adjoint_rates(problem, x, w, at.u), at.w_rate, rtol=1e-11, atol=1e-9)
    for k, item in enumerate(automatic(problem, x, w, at.u)):
        np.testing.assert_allclose(at.w_rate[k], item[0], atol=1e-10 * max(1.0, np.abs(item[0]).max()))


def test_controls_are_those_of_the_thesis():
    for case in ("5bar_A", "rabbit_dsp", "bip_dsp_cyclic"):
        problem = oracle_problem(case)
        oracle = ORACLES[case]
        at = PontryaginSystem(problem).evaluate(
            np.array([oracle["x0"], oracle["x1"]]), np.array([oracle["w0"], oracle["wT"]])
        )
        np.testing.assert_allclose(at.u[0], oracle["u"][0], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(at.u[1], oracle["u"][-1], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(at.hamiltonian, oracle["H_mean"], rtol=1e-6)


def printed_controls(case: str, w: np.ndarray, q: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Sections 2.8.2, 2.9 and 2.10, entry by entry."""
    c, s = np.cos(q), np.sin(q)
    if case == "5bar_A":
        r, p = np.full(4, 0.4), w[4:]
        rows = [p[0], p[1] - p[0], p[2] - p[1], p[3] - p[2], -p[3], p @ (r * c), -p @ (r * s)]
    elif case == "rabbit_dsp":
        r, p = np.full(4, 0.4), w[5:]
        rows = [p[1] - p[0], p[4] - p[1], p[2] - p[4], p[3] - p[2], p[:4] @ (r * c[:4]), -p[:4] @ (r * s[:4])]
    else:
        gamma = np.arcsin(0.1 / 0.188)
        b = 0.188 * np.cos(gamma)
        r6 = np.hypot(0.29 - b, 0.1)
        beta = np.arctan2(0.1, 0.29 - b)
        alpha = np.pi - beta - gamma
        r, p = np.array([0.188, 0.41, 0.41, 0.41, 0.41, r6]), w[7:]
        along = r[:5] * c[:5]
        rows = [p[1] - p[0], p[2] - p[1], p[6] - p[2], p[3] - p[6], p[4] - p[3], p[5] - p[4], p[:6] @ (r * c[:6])]
        rows += [p[:5] @ along + p[5] * 0.188 * np.cos(q[5] + alpha), -p[:6] @ (r * s[:6])]
    return np.array(rows) / W


@pytest.mark.feature("003-F082")
@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", "bip_dsp_cyclic"])
def test_interior_controls_are_the_printed_formulas(case):
    problem = oracle_problem(case)
    problem = problem.replace(
        model=problem.model.with_bounds(**dict.fromkeys(problem.model.control_names, (-np.inf, np.inf)))
    )
    system = PontryaginSystem(problem)
    x, w = random_points(problem)
    at = system.evaluate(x, w)
    assert at.free.all()
    for k in range(len(x)):
        expected = printed_controls(case, w[k], x[k, : problem.model.n], problem.effort.diagonal(problem.model))
        np.testing.assert_allclose(at.u[k], expected, rtol=1e-12, atol=1e-9)


def variants() -> dict[str, PhaseProblem]:
    bip, single = oracle_problem("bip_dsp_cyclic"), oracle_problem("bip_ssp_cyclic")
    five, rabbit = oracle_problem("5bar_A"), oracle_problem("rabbit_dsp")
    foot = stance(single)
    return {
        "interior": five,
        "box": five.replace(model=five.model.with_bounds(C1=(-8.0, 5.0), C3=(-3.0, 3.0))),
        "friction": rabbit.replace(rows=cut_foot(rabbit.model, "front_tip").friction(0.2)),
        "hard closure": rabbit.replace(hard_closure=True),
        "closure and slap": bip,
        "clearance, ranges and rates": single.replace(
            penalties=Penalties(inequality=50.0, range_weight=1.0, rate_weight=0.1, clearance=0.4)
        ),
        "obstacle": single.replace(penalties=Penalties(inequality=50.0, obstacles=(Obstacle(0.2, 0.2, 0.4),))),
        "stance foot": single.replace(rows=(*foot.unilateral(6.0), *foot.friction(0.3))),
    }


@pytest.mark.feature("003-F093")
@pytest.mark.parametrize("name", list(variants()))
def test_jacobian_is_that_of_finite_differences(name):
    problem = variants()[name]
    system = PontryaginSystem(problem)
    x, w = random_points(problem)
    at = system.evaluate(x, w)
    J = system.jacobian(x, w, at)
    y = np.concatenate([x, w], axis=1)
    n2 = 2 * problem.model.n

    def rates(values: np.ndarray) -> np.ndarray:
        out = system.evaluate(values[:, :n2], values[:, n2:])
        return np.concatenate([out.x_rate, out.w_rate], axis=1)

    for column in range(2 * n2):
        step = 1e-6 * np.abs(y[:, column]).max()
        shifted = np.zeros_like(y)
        shifted[:, column] = step
        numeric = (rates(y + shifted) - rates(y - shifted)) / (2.0 * step)
        # Columns of costates are large where those of states are small: each is compared with its own size.
        scale = np.abs(J[:, :, column]).max(axis=1, keepdims=True) + 1e-6 * np.abs(J).max()
        np.testing.assert_allclose((J[:, :, column] - numeric) / scale, 0.0, atol=2e-5)


@pytest.mark.feature("003-F081")
@pytest.mark.parametrize("name", list(variants()))
def test_rates_are_hamiltonian(name):
    """H_w = x' and -H_x = w' for the maximised Hamiltonian, constraints that depend on the state included."""
    problem = variants()[name]
    system = PontryaginSystem(problem)
    x, w = random_points(problem)
    at = system.evaluate(x, w)
    if name == "stance foot":
        assert at.active[:, :2].any()
    for column in range(x.shape[1]):
        for values, rate in ((w, at.x_rate), (x, -at.w_rate)):
            step = 1e-5 * np.abs(values[:, column]).max()
            shifted = np.zeros_like(values)
            shifted[:, column] = step
            if values is x:
                ahead, behind = system.evaluate(x + shifted, w), system.evaluate(x - shifted, w)
            else:
                ahead, behind = system.evaluate(x, w + shifted), system.evaluate(x, w - shifted)
            numeric = (ahead.hamiltonian - behind.hamiltonian) / (2.0 * step)
            np.testing.assert_allclose(rate[:, column], numeric, rtol=1e-5, atol=1e-6 * np.abs(rate).max())


@pytest.mark.feature("003-F088")
def test_controls_do_nothing_antagonistic():
    """Efforts that move nothing stay unused: n_0 W u = 0 for B n_0 = 0 (section 2.29)."""
    for case in ("5bar_A", "rabbit_dsp", "bip_dsp_cyclic"):
        problem = oracle_problem(case)
        problem = problem.replace(
            model=problem.model.with_bounds(**dict.fromkeys(problem.model.control_names, (-np.inf, np.inf)))
        )
        x, w = random_points(problem)
        at = PontryaginSystem(problem).evaluate(x, w)
        W = problem.effort.diagonal(problem.model)
        for k in range(len(x)):
            B = problem.model.control_matrix(x[k, : problem.model.n])
            null = np.linalg.svd(B)[2][np.linalg.matrix_rank(B) :]
            assert len(null) == problem.model.control_count - problem.model.n
            np.testing.assert_allclose(null @ (W * at.u[k]), 0.0, atol=1e-9)
