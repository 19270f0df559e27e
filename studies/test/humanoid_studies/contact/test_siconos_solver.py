# SPDX-License-Identifier: Apache-2.0
"""What is handed to Siconos and taken from it, and the real one where it is installed."""

import importlib.util
import math
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from fixtures.contact_problems import box_problem
from numpy.testing import assert_allclose

from humanoid_model.errors import InputError
from humanoid_sim import ContactProblem, Simulation, solve_contacts


class StandIn(ModuleType):
    """The few names of siconos.numerics 4.4 that the adapter uses; its driver solves contacts that just stick."""

    SICONOS_FRICTION_3D_NSGS = 500
    SICONOS_IPARAM_MAX_ITER = 0
    SICONOS_IPARAM_ITER_DONE = 1
    SICONOS_DPARAM_TOL = 0

    def __init__(self) -> None:
        super().__init__("siconos.numerics")
        self.seen: list[tuple] = []

    def FrictionContactProblem(self, dimension, M, q, mu):  # type: ignore[no-untyped-def]
        assert M.flags.f_contiguous  # as its dense matrices are
        return SimpleNamespace(dimension=dimension, M=M, q=q, mu=mu)

    def SolverOptions(self, identity):  # type: ignore[no-untyped-def]
        return SimpleNamespace(identity=identity, iparam=np.zeros(20, dtype=int), dparam=np.zeros(20))

    def fc3d_driver(self, problem, reaction, velocity, options):  # type: ignore[no-untyped-def]
        self.seen.append((problem, reaction.copy(), options))
        reaction[:] = np.linalg.solve(problem.M, -problem.q)
        velocity[:] = 0.0
        options.iparam[self.SICONOS_IPARAM_ITER_DONE] = 7
        return 0


@pytest.mark.feature("000-F159")
def test_data_go_there_and_back(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "siconos", ModuleType("siconos"))
    monkeypatch.setitem(sys.modules, "siconos.numerics", stand_in)
    W = 1e-3 * np.array([[2.0, 0.3, -0.2], [0.3, 1.5, 0.1], [-0.2, 0.1, 1.0]])
    problem = ContactProblem(W, [-0.01, 1e-4, 2e-4], 0.6)
    start = [[3.0, 0.1, -0.1]]
    result = solve_contacts(problem, "siconos", tolerance=1e-8, max_iterations=123, warm_start=start)
    assert result.converged
    assert result.iterations == 7
    assert_allclose(result.impulses[0], np.linalg.solve(W, [0.01, -1e-4, -2e-4]), rtol=1e-12)
    ((theirs, reaction, options),) = stand_in.seen
    assert theirs.dimension == 3
    assert theirs.mu == pytest.approx([0.6])
    assert np.abs(theirs.M).max() == pytest.approx(1.0)  # units in which its absolute error is relative
    assert np.abs(theirs.q).max() == pytest.approx(1.0)
    assert_allclose(theirs.M @ reaction + theirs.q, (W @ start[0] + problem.v_free) / 0.01, rtol=1e-12)
    assert options.identity == 500
    assert options.iparam[0] == 123
    assert 0.0 < options.dparam[0] <= 1e-8


def test_absence_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "siconos", None)
    with pytest.raises(InputError, match=r"siconos.numerics can't be imported.*python3-siconos"):
        solve_contacts(box_problem(0.0), "siconos")


real = pytest.mark.skipif(importlib.util.find_spec("siconos") is None, reason="Siconos isn't installed")


@pytest.mark.feature("000-F159")
@real
@pytest.mark.parametrize("degrees", [0.0, 10.0, 25.0, 40.0])
def test_the_real_one_finds_the_forces_under_a_box(degrees: float) -> None:
    """Specification 000 §9.9: our solver's forces, sticking and sliding; their sum is unique where they aren't."""
    problem = box_problem(math.radians(degrees))
    result = solve_contacts(problem, "siconos", tolerance=1e-9)
    ours = solve_contacts(problem, "nsgs_newton", tolerance=1e-12)
    assert result.converged
    assert result.iterations > 1
    assert_allclose(result.impulses.sum(axis=0), ours.impulses.sum(axis=0), atol=1e-6)
    if degrees == 25.0:
        assert_allclose(result.impulses.sum(axis=0), [8.88181631, -3.55272653, 0.0], atol=1e-6)


@pytest.mark.feature("000-F159")
@real
def test_the_real_one_agrees_where_the_forces_are_unique() -> None:
    """30 problems of 1 to 4 contacts with a definite operator, judged by our residual and beside our forces."""
    rng = np.random.default_rng(3)
    for _ in range(30):
        m = int(rng.integers(1, 5))
        J = rng.normal(size=(3 * m, 3 * m + 3))
        J[0::3, 0] = 3.0
        problem = ContactProblem(J @ J.T, J @ np.r_[-1.0, rng.normal(size=3 * m + 2)], rng.uniform(0.1, 0.8, m))
        result = solve_contacts(problem, "siconos", tolerance=1e-9, max_iterations=5000)
        ours = solve_contacts(problem, "nsgs_newton", tolerance=1e-12, max_iterations=5000)
        assert result.converged
        assert ours.converged
        assert_allclose(result.impulses, ours.impulses, atol=1e-6 * (1.0 + np.abs(ours.impulses).max()))


@pytest.mark.feature("000-F159")
@real
def test_a_robot_stands_on_the_forces_of_the_real_one() -> None:
    simulation = Simulation("stand", method="siconos")
    simulation.run(0.02)
    assert simulation.solver is not None
    assert simulation.solver.converged
    weight = simulation.robots["hrp2"].robot.total_mass * 9.81
    assert simulation.contacts.normal_force.sum() == pytest.approx(weight, rel=0.05)
