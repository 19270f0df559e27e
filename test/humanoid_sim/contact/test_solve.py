# SPDX-License-Identifier: Apache-2.0
"""All contact solvers behind the one interface: the specification's numbers, each other, the budget, the registry."""

import math
from collections.abc import Iterator

import numpy as np
import pytest
from fixtures.contact_problems import box_problem, random_problem
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import ContactProblem, Simulation, solve_contacts
from humanoid_sim.contact import solve
from humanoid_sim.contact.cone import contact_residuals
from humanoid_sim.contact.solve import SOLVERS, ContactStatus, find_solver, register_solver

EXACT = ["nsgs", "nsgs_newton", "alart_curnier_global", "interior_point", "jacobi", "projection", "fixed_point"]
FACETED = ["lemke_faceted", "staggered_projections"]
APPROXIMATE = [*FACETED, "lemke_circumscribed", "gauss_seidel_projected", "lemke_frictionless", "qp_frictionless"]
W_SINGLE = np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.0]])
V_SINGLE = np.array([-1.0, 0.8, -0.5])


def well_conditioned(seed: int) -> ContactProblem:
    """A random problem whose operator has full rank and whose contacts close."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(2, 7))
    A = rng.normal(size=(3 * m, 3 * m))
    W = A @ A.T / (3 * m) + np.eye(3 * m)
    return ContactProblem(W, rng.normal(size=3 * m) - np.tile([1.0, 0.0, 0.0], m), rng.uniform(0.1, 0.8, m))


@pytest.fixture
def registry() -> Iterator[dict]:
    """The registry, as it was again afterwards."""
    before = dict(SOLVERS)
    yield SOLVERS
    SOLVERS.clear()
    SOLVERS.update(before)


@pytest.mark.parametrize("method", EXACT)
def test_single_contact_oracle(method: str) -> None:
    """Specification 000 §9.8."""
    result = solve_contacts(ContactProblem(W_SINGLE, V_SINGLE, 0.4), method, tolerance=1e-10)
    assert result.converged
    assert_allclose(result.impulses[0], [0.53884274, -0.17609241, 0.12428879], atol=1e-8)
    assert_allclose(result.velocities[0], [0.0, 0.70994309, -0.50108900], atol=1e-8)


@pytest.mark.feature("000-F054", "000-F055")
@pytest.mark.parametrize("method", [*EXACT, *FACETED])
@pytest.mark.parametrize(
    ("degrees", "normal", "tangent", "velocity"),
    [
        (0.0, 9.8, 0.0, 0.0),
        (20.0, 9.20898768, -3.35179740, 0.0),
        (25.0, 8.88181631, -3.55272653, 5.889324e-4),
    ],
)
def test_box_on_slope_oracle(method: str, degrees: float, normal: float, tangent: float, velocity: float) -> None:
    """Specification 000 §9.9. A pyramid in the cone is exact here: the box slides towards one of its edges."""
    result = solve_contacts(box_problem(math.radians(degrees)), method, tolerance=1e-10, max_iterations=20_000)
    assert result.converged
    assert_allclose(result.impulses.sum(axis=0), [normal, tangent, 0.0], atol=2e-7)
    assert_allclose(result.velocities[:, 1], velocity, atol=1e-9)
    assert_allclose(result.velocities[:, [0, 2]], 0.0, atol=1e-9)


@pytest.mark.parametrize("method", [m for m in EXACT if m != "nsgs"])
@pytest.mark.parametrize("seed", range(12))
def test_solvers_agree_on_well_conditioned_problems(method: str, seed: int) -> None:
    problem = well_conditioned(seed)
    ours = solve_contacts(problem, method, tolerance=1e-9, max_iterations=20_000)
    reference = solve_contacts(problem, "nsgs", tolerance=1e-12, max_iterations=20_000)
    assert ours.converged
    assert reference.converged
    assert_allclose(ours.impulses, reference.impulses, atol=1e-6 * np.abs(reference.impulses).max())


@pytest.mark.feature("000-F050", "000-F074")
@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATE])
def test_hyperstatic_table(method: str) -> None:
    """E1 and N1: four legs, 1 kg, without friction: the sum is the weight, the rest lies along (-1, 1, -1, 1)."""
    result = solve_contacts(box_problem(0.0, mu=0.0), method, tolerance=1e-10, max_iterations=20_000)
    forces = result.impulses[:, 0]
    assert result.converged
    assert result.residuals.complementarity < 1e-9
    assert forces.sum() == pytest.approx(9.8, abs=1e-6)
    assert forces.min() >= 0.0
    null = np.array([-1.0, 1.0, -1.0, 1.0]) / 2.0
    rest = forces - 2.45
    assert_allclose(rest - (rest @ null) * null, 0.0, atol=1e-6)


@pytest.mark.feature("000-F059")
@pytest.mark.parametrize("method", [*EXACT, *FACETED, "gauss_seidel_projected"])
def test_three_cases(method: str) -> None:
    """Three contacts of three bodies, each with the closed form of its case: open, stick, slip (§3.1.4.2)."""
    W = np.kron(np.diag([1.0, 2.0, 4.0]), np.eye(3))
    v = np.array([0.3, 1.0, 0.0, -1.0, 0.2, -0.1, -2.0, 5.0, 0.0])
    result = solve_contacts(ContactProblem(W, v, 0.5), method, tolerance=1e-10, max_iterations=20_000)
    assert result.converged
    expected = [[0.0, 0.0, 0.0], [0.5, -0.1, 0.05], [0.5, -0.25, 0.0]]
    assert_allclose(result.impulses, expected, atol=1e-9)
    assert_allclose(result.velocities, [[0.3, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 4.0, 0.0]], atol=1e-8)


@pytest.mark.parametrize("method", [*EXACT, *APPROXIMATE])
def test_separating_contacts_carry_nothing(method: str) -> None:
    problem = box_problem(0.0, g=-9.8)
    result = solve_contacts(problem, method)
    assert result.converged
    assert_allclose(result.impulses, 0.0, atol=1e-10)


@pytest.mark.parametrize("method", EXACT)
def test_a_problem_without_solution_says_not_converged(method: str) -> None:
    """A body between two walls that are driven towards each other: no force can stop both."""
    turn = np.diag([-1.0, -1.0, 1.0])
    W = np.block([[np.eye(3), turn], [turn, np.eye(3)]])
    problem = ContactProblem(W, [-1.0, 0.0, 0.0, -1.0, 0.0, 0.0], 0.5)
    result = solve_contacts(problem, method, tolerance=1e-8, max_iterations=500)
    assert result.status is ContactStatus.NOT_CONVERGED
    assert np.all(np.isfinite(result.impulses))
    assert result.residuals.natural_map > 1e-6  # however large the forces that squeeze the body


@pytest.mark.parametrize("method", EXACT)
def test_frictionless_contacts_beside_rough_ones(method: str) -> None:
    problem = well_conditioned(3)
    problem.mu[::2] = 0.0
    result = solve_contacts(problem, method, tolerance=1e-9, max_iterations=20_000)
    reference = solve_contacts(problem, "nsgs", tolerance=1e-12, max_iterations=20_000)
    assert result.converged
    assert_allclose(result.impulses[::2, 1:], 0.0, atol=1e-12)
    assert_allclose(result.impulses, reference.impulses, atol=1e-6)


@pytest.mark.parametrize("method", ["jacobi", "gauss_seidel_projected", "projection", "fixed_point", "nsgs_newton"])
def test_warm_start_at_the_solution_costs_nothing(method: str) -> None:
    problem = box_problem(math.radians(25.0))
    solved = solve_contacts(problem, tolerance=1e-11)
    again = solve_contacts(problem, method, tolerance=1e-9, warm_start=solved.impulses)
    assert again.iterations == 0
    assert_allclose(again.impulses, solved.impulses, atol=0.0)


@pytest.mark.feature("000-F056")
def test_jacobi_needs_more_sweeps_to_the_same_fixed_point() -> None:
    problem = well_conditioned(1)
    jacobi = solve_contacts(problem, "jacobi", tolerance=1e-10, max_iterations=20_000)
    gauss_seidel = solve_contacts(problem, "nsgs", tolerance=1e-10)
    assert jacobi.iterations > 2 * gauss_seidel.iterations
    assert_allclose(jacobi.impulses, gauss_seidel.impulses, atol=1e-8)


def test_approximate_laws_say_so() -> None:
    """The slip direction lies between two edges of the pyramids, and the contact's two inertias differ."""
    problem = ContactProblem(W_SINGLE, V_SINGLE, 0.4)
    exact = solve_contacts(problem, tolerance=1e-12).impulses[0]
    for method in APPROXIMATE:
        result = solve_contacts(problem, method)
        assert result.status is ContactStatus.APPROXIMATE, method
        assert not result.converged
        assert result.residuals.natural_map > 1e-3
        if "frictionless" in method:
            assert_allclose(result.impulses[0], [0.5, 0.0, 0.0], atol=1e-9)
        else:
            assert_allclose(result.impulses[0, 0], exact[0], rtol=0.02)
            assert_allclose(np.linalg.norm(result.impulses[0, 1:]), np.linalg.norm(exact[1:]), rtol=0.1)


def test_projected_gauss_seidel_neither_penetrates_nor_leaves_the_cone() -> None:
    problem = random_problem(np.random.default_rng(2), 5, 15)
    result = solve_contacts(problem, "gauss_seidel_projected", tolerance=1e-9)
    assert result.status is ContactStatus.APPROXIMATE
    assert result.residuals.approach < 1e-7
    assert result.residuals.cone < 1e-9
    assert result.residuals.complementarity < 1e-7
    assert result.residuals.dissipation > 1e-4  # the direction of slip is what it gets wrong


class FakeClock:
    """Every reading is one tick later; sweeps cost ``pace`` each."""

    def __init__(self, pace: float) -> None:
        self.now = 100.0
        self.pace = pace

    def __call__(self) -> float:
        return self.now


@pytest.mark.feature("000-F062")
@pytest.mark.parametrize("pace", [0.375, 0.0625])
def test_budget_is_kept_by_counting_sweeps(monkeypatch: pytest.MonkeyPatch, registry: dict, pace: float) -> None:
    """Sweeps take ``pace`` seconds of a fake clock; the answer is that of as many sweeps in one go."""
    clock = FakeClock(pace)
    monkeypatch.setattr(solve, "perf_counter", clock)
    calls = []

    def slow_nsgs(W, v_free, mu, f, tolerance, max_iterations, v, residuals):  # type: ignore[no-untyped-def]
        done = find_solver("nsgs")(W, v_free, mu, f, tolerance, max_iterations, v, residuals)
        clock.now += done * pace
        calls.append(done)
        return done

    register_solver("slow", slow_nsgs, anytime=True)
    problem = box_problem(math.radians(25.0))
    result = solve_contacts(problem, "slow", tolerance=1e-14, max_iterations=10_000, time_budget=1.0)
    assert result.status is ContactStatus.TIME_LIMIT
    assert result.iterations == math.ceil(1.0 / pace)
    assert sum(calls) == result.iterations
    assert calls[0] == 1
    assert result.time == pytest.approx(result.iterations * pace)
    monkeypatch.undo()
    same = solve_contacts(problem, "nsgs", tolerance=1e-14, max_iterations=result.iterations)
    assert_allclose(result.impulses, same.impulses, atol=1e-12)
    assert result.residuals.natural_map == pytest.approx(same.residuals.natural_map, rel=1e-6)


@pytest.mark.feature("000-F062")
def test_the_best_iterate_within_the_budget_is_returned(monkeypatch: pytest.MonkeyPatch, registry: dict) -> None:
    """A solver that comes near and then runs away."""
    clock = FakeClock(0.0)
    monkeypatch.setattr(solve, "perf_counter", clock)
    problem = box_problem(math.radians(25.0))
    near = solve_contacts(problem, tolerance=1e-4).impulses.reshape(-1)
    visits = []

    def wanderer(W, v_free, mu, f, tolerance, max_iterations, v, residuals):  # type: ignore[no-untyped-def]
        visits.append(len(visits))
        f[:] = near * (1.0 + max(0, len(visits) - 2))
        contact_residuals(W, v_free, mu, f, v, residuals)
        clock.now += 0.25
        return max_iterations

    register_solver("wanderer", wanderer, anytime=True)
    result = solve_contacts(problem, "wanderer", tolerance=1e-12, time_budget=1.0)
    assert result.status is ContactStatus.TIME_LIMIT
    assert_allclose(result.impulses.reshape(-1), near, atol=0.0)
    assert_allclose(result.velocities.reshape(-1), problem.W @ near + problem.v_free, atol=1e-12)


@pytest.mark.parametrize("method", [name for name, solver in SOLVERS.items() if solver.anytime])
def test_a_generous_budget_changes_nothing(method: str) -> None:
    problem = well_conditioned(5)
    result = solve_contacts(problem, method, tolerance=1e-8, max_iterations=20_000, time_budget=60.0)
    assert result.status in (ContactStatus.CONVERGED, ContactStatus.APPROXIMATE)
    assert (result.status is ContactStatus.APPROXIMATE) == (method in APPROXIMATE)


def test_out_of_iterations_before_out_of_time() -> None:
    result = solve_contacts(box_problem(math.radians(25.0)), tolerance=1e-14, max_iterations=3, time_budget=60.0)
    assert result.status is ContactStatus.NOT_CONVERGED
    assert result.iterations == 3


@pytest.mark.parametrize("budget", [0.0, -1.0, math.nan])
def test_bad_budgets_are_refused(budget: float) -> None:
    with pytest.raises(InputError, match="time budget is"):
        solve_contacts(box_problem(0.0), time_budget=budget)


def test_a_solver_that_cannot_be_stopped_refuses_a_budget() -> None:
    with pytest.raises(InputError, match=r"'lemke_faceted' can't be stopped.*nsgs"):
        solve_contacts(box_problem(0.0), "lemke_faceted", time_budget=1.0)


@pytest.mark.feature("000-F005")
def test_a_solver_of_ones_own_is_used_in_a_simulation(registry: dict) -> None:
    """F005: an algorithm is overridden from outside, by name and only when meant."""
    calls = []

    def mine(W, v_free, mu, f, tolerance, max_iterations, v, residuals):  # type: ignore[no-untyped-def]
        calls.append(mu.size)
        return find_solver("alart_curnier_global")(W, v_free, mu, f, tolerance, max_iterations, v, residuals)

    register_solver("mine", mine)
    simulation = Simulation("stand", method="mine")
    simulation.run(0.005)
    assert max(calls) == 8
    with pytest.raises(InputError, match="there is a contact solver 'mine' already"):
        register_solver("mine", mine)
    with pytest.raises(InputError, match="'nsgs' already"):
        register_solver("nsgs", mine)
    register_solver("nsgs", mine, replace=True)
    assert find_solver("nsgs") is mine


@pytest.mark.parametrize(
    ("name", "kernel", "says"),
    [("", len, "name is ''"), (" x", len, "' x'"), ("x", 3, "'x' is 3"), ("x", "mine", "'x' is 'mine'")],
)
def test_bad_registrations_are_refused(registry: dict, name: str, kernel: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        register_solver(name, kernel)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", EXACT)
def test_forces_that_are_not_finite_never_pass_for_a_solution(method: str) -> None:
    """The residual of NaN is infinite, not zero."""
    problem = box_problem(0.0)
    f = np.full(12, math.nan)
    residuals = np.zeros(5)
    contact_residuals(problem.W, problem.v_free, problem.mu, f, np.empty(12), residuals)
    assert residuals[0] == math.inf
