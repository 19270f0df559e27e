# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from fixtures.gait_oracles import ORACLES
from fixtures.gait_problems import oracle_problem

from humanoid_studies.gait.scipy_collocation import solve_scipy
from humanoid_studies.planar_gait.optimal_control.extremal_problem import ExtremalProblem
from humanoid_studies.planar_gait.optimal_control.penalties import Penalties
from humanoid_studies.planar_gait.solvers.collocation import CollocationOptions, solve_collocation
from humanoid_studies.planar_gait.solvers.direct import solve_direct
from humanoid_studies.planar_gait.solvers.guess import cubic_extremal_guess, line_guess
from humanoid_studies.planar_gait.solvers.shooting import ShootingOptions, solve_shooting


class Layer:
    """e y'' = y with y(0) = 1, y(1) = 0: a layer of width sqrt(e) at the start, known in closed form."""

    dimension, start_count = 2, 1

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon
        self.matrix = np.array([[0.0, 1.0], [1.0 / epsilon, 0.0]])

    def rates(self, y):
        return y @ self.matrix.T

    def rates_and_jacobian(self, y):
        return self.rates(y), np.broadcast_to(self.matrix, (len(y), 2, 2))

    def start(self, y):
        return y[:1] - 1.0, np.array([[1.0, 0.0]])

    def end(self, y):
        return y[:1], np.array([[1.0, 0.0]])

    def exact(self, s):
        root = math.sqrt(self.epsilon)
        return np.sinh((1.0 - s) / root) / math.sinh(1.0 / root)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("height", [12.0, 15.0, 20.0])
def test_iterates_that_run_away_end_with_a_word_and_no_overflow(height):
    mesh = np.linspace(0.0, 1.0, 11)
    hill = height * np.stack([np.sin(np.pi * mesh), np.pi * np.cos(np.pi * mesh)], axis=1)
    result = solve_collocation(Bratu(), mesh, hill)
    assert not result.converged
    assert "doesn't converge" in result.message
    assert np.isfinite(result.y).all()


class Bratu:
    """y'' + e^y = 0, y(0) = y(1) = 0: cosh(theta / 4) = theta / sqrt(2) gives both its solutions."""

    dimension, start_count = 2, 1

    def rates(self, y):
        return np.stack([y[:, 1], -np.exp(y[:, 0])], axis=1)

    def rates_and_jacobian(self, y):
        J = np.zeros((len(y), 2, 2))
        J[:, 0, 1] = 1.0
        J[:, 1, 0] = -np.exp(y[:, 0])
        return self.rates(y), J

    def start(self, y):
        return y[:1], np.array([[1.0, 0.0]])

    def end(self, y):
        return y[:1], np.array([[1.0, 0.0]])


@pytest.mark.feature("003-F092")
def test_layer_is_refined_where_it_is():
    problem = Layer(1e-4)
    result = solve_collocation(problem, np.linspace(0.0, 1.0, 11), np.zeros((11, 2)))
    assert result.converged
    np.testing.assert_allclose(result.y[:, 0], problem.exact(result.mesh), atol=1e-5)
    widths = np.diff(result.mesh)
    assert widths[0] < 0.1 * widths[-1]


@pytest.mark.parametrize(("guess", "theta"), [(0.0, 1.5171645990507543), (4.0, 10.938702772111816)])
def test_both_solutions_of_bratu(guess, theta):
    s = np.linspace(0.0, 1.0, 21)
    y = np.stack([4.0 * guess * s * (1.0 - s), 4.0 * guess * (1.0 - 2.0 * s)], axis=1)
    result = solve_collocation(Bratu(), s, y)
    assert result.converged
    exact = -2.0 * np.log(np.cosh((result.mesh - 0.5) * theta / 2.0) / math.cosh(theta / 4.0))
    np.testing.assert_allclose(result.y[:, 0], exact, atol=1e-5)
    shot = solve_shooting(Bratu(), s, y, ShootingOptions(segments=4))
    assert shot.converged
    np.testing.assert_allclose(shot.y[::10, 0], np.interp(shot.mesh[::10], result.mesh, result.y[:, 0]), atol=1e-4)


def test_order_is_four():
    errors = []
    for nodes in (11, 21, 41):
        s = np.linspace(0.0, 1.0, nodes)
        result = solve_collocation(Layer(0.05), s, np.zeros((nodes, 2)), CollocationOptions(tolerance=1.0))
        assert len(result.mesh) == nodes
        errors.append(np.abs(result.y[:, 0] - Layer(0.05).exact(s)).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)
    assert math.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.3)


class Exploding(Bratu):
    """Beyond the fold: no solution, and Newton's method fails on every mesh."""

    def rates(self, y):
        return np.stack([y[:, 1], -20.0 * np.exp(y[:, 0])], axis=1)

    def rates_and_jacobian(self, y):
        _, J = super().rates_and_jacobian(y)
        J[:, 1, 0] *= 20.0
        return self.rates(y), J


def test_what_has_no_solution_is_told():
    result = solve_collocation(Exploding(), np.linspace(0.0, 1.0, 21), np.zeros((21, 2)))
    assert not result.converged
    assert result.message


def test_newton_is_given_up_after_as_many_failures_as_told():
    for chances in (0, 1, 2):
        options = CollocationOptions(max_newton=3, second_chances=chances)
        result = solve_collocation(Exploding(), np.linspace(0.0, 1.0, 21), np.zeros((21, 2)), options)
        assert not result.converged
        assert result.meshes == chances + 1
        assert len(result.mesh) == 20 * 2**chances + 1


def test_newton_converges_quadratically():
    problem = oracle_problem("rabbit_dsp")
    extremal = ExtremalProblem(problem)
    x, w = cubic_extremal_guess(problem, 41)
    tight = CollocationOptions(tolerance=1e-8, max_meshes=1)
    result = solve_collocation(extremal, np.linspace(0.0, 1.0, 41), extremal.pack(x, w, problem.duration), tight)
    sizes = np.array(result.corrections)
    fast = sizes[sizes < 1e-1]
    assert len(fast) >= 2
    assert (fast[1:] < 20.0 * fast[:-1] ** 2 + 1e-11).all()


@pytest.mark.parametrize("case", ["5bar_A", "rabbit_dsp", pytest.param("bip_dsp_cyclic", marks=pytest.mark.slow)])
def test_straight_lines_suffice_as_a_guess(case):
    """Without transcription, without continuation: the bounded double support of BIP included."""
    problem = oracle_problem(case)
    extremal = ExtremalProblem(problem)
    x, w = line_guess(problem, 41)
    result = solve_collocation(extremal, np.linspace(0.0, 1.0, 41), extremal.pack(x, w, problem.duration))
    assert result.converged
    found = extremal.split(result.y)[1][0]
    np.testing.assert_allclose(found, ORACLES[case]["w0"], atol=1e-4 * np.abs(ORACLES[case]["w0"]).max())


@pytest.mark.feature("003-F089")
@pytest.mark.parametrize(
    ("case", "dimension"), [("5bar_A", 16), ("rabbit_dsp", 20), ("bip_dsp_cyclic", 28), ("bip_ssp_stop", 24)]
)
def test_dimensions(case, dimension):
    problem = oracle_problem(case)
    extremal = ExtremalProblem(problem)
    assert extremal.dimension == dimension
    y = np.zeros(dimension)
    y[: problem.model.n] = problem.start.q
    assert len(extremal.start(y)[0]) + len(extremal.end(y)[0]) == dimension


def test_scipy_finds_the_same():
    problem = oracle_problem("5bar_B")
    extremal = ExtremalProblem(problem)
    direct = solve_direct(problem)
    y = extremal.pack(np.concatenate([direct.q, direct.p], axis=1), direct.costates, direct.duration)
    theirs = solve_scipy(extremal, direct.s, y, 1e-5)
    ours = solve_collocation(extremal, direct.s, y)
    assert theirs.converged
    assert ours.converged
    np.testing.assert_allclose(theirs.y[0], ours.y[0], atol=1e-6 * np.abs(ours.y).max())


@pytest.mark.feature("003-F094")
def test_shooting_primes_finite_differences():
    """The thesis' pipeline on S1: shooting with a weak penalty, then finite differences with the full one (F-094)."""
    problem = oracle_problem("5bar_A")
    weak = problem.replace(penalties=Penalties(closure=100.0))
    extremal = ExtremalProblem(weak)
    x, w = cubic_extremal_guess(weak, 21)
    shot = solve_shooting(extremal, np.linspace(0.0, 1.0, 21), extremal.pack(x, w, weak.duration))
    assert shot.converged
    assert shot.condition_residual < 1e-8
    primed = solve_collocation(extremal, shot.mesh, shot.y)
    assert primed.newton_steps <= 3
    full = solve_collocation(ExtremalProblem(problem), primed.mesh, primed.y)
    assert full.converged
    np.testing.assert_allclose(extremal.split(full.y)[1][0], ORACLES["5bar_A"]["w0"], atol=1e-6)


@pytest.mark.feature("003-F091")
def test_shooting_with_one_segment():
    """One segment carries a short phase with a weak penalty from good costates, and no stiff one (section 2.26.1)."""
    problem = oracle_problem("rabbit_dsp")
    weak = problem.replace(penalties=Penalties(closure=100.0))
    single = ShootingOptions(segments=1, max_newton=10)
    direct = solve_direct(weak)
    extremal = ExtremalProblem(weak)
    y = extremal.pack(np.concatenate([direct.q, direct.p], axis=1), direct.costates, direct.duration)
    shot = solve_shooting(extremal, direct.s, y, single)
    assert shot.converged
    collocated = solve_collocation(extremal, shot.mesh, shot.y)
    assert collocated.converged
    np.testing.assert_allclose(collocated.y[0], shot.y[0], atol=1e-6 * np.abs(shot.y).max())
    stiff = ExtremalProblem(problem.replace(penalties=Penalties(closure=1e7)))
    failed = solve_shooting(stiff, direct.s, y, ShootingOptions(segments=1, max_newton=3, max_evaluations=300))
    assert not failed.converged
    assert failed.message
