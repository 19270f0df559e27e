# SPDX-License-Identifier: Apache-2.0
"""The tube makes equalities that can't be satisfied fail in phase 1, and leaves solutions where they are."""

import dataclasses
import math

import numpy as np
import pytest
import scipy.sparse
from fixtures.function_program import FunctionMinimax, FunctionProgram
from fixtures.hock_schittkowski import PROBLEMS
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from humanoid_model.errors import InputError
from humanoid_planner.optimisation.program import ReturnCode, SolverOptions
from humanoid_studies.feasible_sqp.feasible_sqp import solve_feasible_sqp
from humanoid_studies.feasible_sqp.tube import TubeProgram


def _reach(target: tuple[float, float]) -> FunctionProgram:
    """A planar arm of three links of 1 m whose tip shall be at ``target``, elbows kept near their middle."""

    def tip(q: NDArray[np.float64]) -> NDArray[np.float64]:
        angles = np.cumsum(q)
        return np.array([np.cos(angles).sum(), np.sin(angles).sum()])

    def tip_jacobian(q: NDArray[np.float64]) -> NDArray[np.float64]:
        angles = np.cumsum(q)
        return np.array([[-np.sin(angles[i:]).sum() for i in range(3)], [np.cos(angles[i:]).sum() for i in range(3)]])

    rows = [
        (lambda q, i=i: tip(q)[i], lambda q, i=i: tip_jacobian(q)[i], target[i], target[i], False) for i in range(2)
    ]
    return FunctionProgram(3, lambda q: q @ q, lambda q: 2 * q, rows, bounds=(-2.5, 2.5))


START = np.array([0.4, 0.5, 0.6])


@pytest.mark.feature("001-F065")
def test_unreachable_contact_fails_in_phase_one() -> None:
    """F065: a target out of reach is given up in phase 1, with fewer evaluations than phase 2 takes."""
    program = _reach((3.0, 2.0))
    without = solve_feasible_sqp(program, START)
    within = solve_feasible_sqp(TubeProgram(program, -0.05, 0.05), START)
    assert without.code not in (ReturnCode.SUCCESS, ReturnCode.INEQUALITIES_INFEASIBLE)
    assert within.code == ReturnCode.INEQUALITIES_INFEASIBLE
    assert within.evaluations < without.evaluations


def test_reachable_contact_is_the_same() -> None:
    program = _reach((1.5, 1.2))
    options = SolverOptions(optimality_tolerance=1e-6, equality_tolerance=1e-9)
    without = solve_feasible_sqp(program, START, options)
    tube = TubeProgram(program, -0.05, 0.05)
    within = tube.inner_result(solve_feasible_sqp(tube, START, options))
    assert without.success
    assert within.success
    assert_allclose(within.x, without.x, atol=1e-5)
    assert_allclose(within.multipliers, without.multipliers, rtol=1e-3, atol=1e-5)
    assert len(within.multipliers) == 2


def test_multipliers_of_the_tube_go_to_its_equalities() -> None:
    program = PROBLEMS[71]()
    tube = TubeProgram(program)
    result = solve_feasible_sqp(tube, program.start)
    outer = dataclasses.replace(result, multipliers=np.array([1.0, 2.0, -4.0]))
    assert_allclose(tube.inner_result(outer).multipliers, [-3.0, 2.0])
    assert_allclose(outer.multipliers, [1.0, 2.0, -4.0])


@pytest.mark.feature("001-F065")
def test_iterates_stay_in_the_tube() -> None:
    program = _reach((1.5, 1.2))
    assert solve_feasible_sqp(TubeProgram(program, -0.02, 0.03), START).success
    deviations = np.array([program.constraints(q) - [1.5, 1.2] for q in program.visited])
    assert len(deviations) >= 3
    assert (deviations >= -0.02 - 1e-6).all()
    assert (deviations <= 0.03 + 1e-6).all()


@pytest.mark.feature("001-F065")
def test_rows_of_the_tube() -> None:
    """Only nonlinear equalities get a tube; margins may differ from each other."""
    program = PROBLEMS[71]()
    tube = TubeProgram(program, np.array([-3.0]), 4.0)
    x = np.array([1.2, 4.0, 3.5, 1.3])
    assert_allclose(tube.constraints(x), [*program.constraints(x), program.constraints(x)[0]])
    assert_allclose(tube.jacobian(x), program.jacobian(x)[[0, 1, 0]])
    assert_allclose([tube.constraint_lower[2], tube.constraint_upper[2]], [-3.0, 4.0])
    assert len(TubeProgram(PROBLEMS[28]()).linear) == 1


class _Sparse(FunctionProgram):
    @property
    def nonzeros(self) -> scipy.sparse.coo_array:
        return scipy.sparse.coo_array((np.ones(3), ([0, 1, 0], [0, 1, 1])), shape=(2, 2))

    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([2 * x[0], 3 * x[1] ** 2, 2 * x[1]])


def test_sparse_tube() -> None:
    rows = [
        (lambda x: x @ x, lambda x: 2 * x, 1.0, 1.0, False),
        (lambda x: x[1] ** 3, lambda x: [0, 3 * x[1] ** 2], -math.inf, 0.1, False),
    ]
    arguments = (2, lambda x: x[0], lambda x: [1.0, 0.0], rows)
    tube, dense = TubeProgram(_Sparse(*arguments)), TubeProgram(FunctionProgram(*arguments))
    x = np.array([0.3, -0.7])
    pattern = tube.nonzeros
    assert pattern is not None
    matrix = scipy.sparse.coo_array((tube.jacobian(x), (pattern.row, pattern.col)), shape=pattern.shape).toarray()
    assert_allclose(matrix, dense.jacobian(x))
    assert_allclose(solve_feasible_sqp(tube, x).x, solve_feasible_sqp(dense, x).x)


def test_bad_margins() -> None:
    program = _reach((1.0, 1.0))
    with pytest.raises(InputError, match="lower"):
        TubeProgram(program, 0.1, 0.2)
    with pytest.raises(InputError, match="upper"):
        TubeProgram(program, -0.1, -0.2)
    with pytest.raises(InputError, match="3"):
        TubeProgram(program, np.array([-1.0, -1.0, -1.0]))
    with pytest.raises(InputError, match="several objectives"):
        TubeProgram(FunctionMinimax(1, lambda x: [x[0], -x[0]], lambda x: [[1.0], [-1.0]]))
