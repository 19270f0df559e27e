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
from humanoid_sim import ContactProblem, solve_contacts


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


@pytest.mark.skipif(importlib.util.find_spec("siconos") is None, reason="Siconos isn't installed")
def test_box_slides_alike() -> None:
    """Specification 000 §9.9, 25 degrees, with the real library."""
    result = solve_contacts(box_problem(math.radians(25.0)), "siconos", tolerance=1e-9)
    assert result.converged
    assert_allclose(result.impulses.sum(axis=0), [8.88181631, -3.55272653, 0.0], atol=1e-6)
