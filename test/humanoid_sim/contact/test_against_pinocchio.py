# SPDX-License-Identifier: Apache-2.0
"""The contact solver against the two that Pinocchio 4 brings, on boxes, random mechanisms and HRP-2."""

import math

import numpy as np
import pinocchio as pin
import pytest
from fixtures.contact_problems import box_problem, random_problem
from numpy.testing import assert_allclose

from humanoid_sim import ContactProblem, Simulation, solve_contacts

if not hasattr(pin, "ADMMConstraintSolver"):
    pytest.skip(f"Pinocchio {pin.__version__} has no constraint solvers of its own", allow_module_level=True)


def pinocchio_forces(problem: ContactProblem, solver: str) -> np.ndarray:
    """Forces of Pinocchio's solver for the problem with exact cones, shape (3m,), as (n, t1, t2)."""
    m = problem.mu.size
    order = np.concatenate([[3 * i + 1, 3 * i + 2, 3 * i] for i in range(m)])  # Pinocchio has (t1, t2, n)
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for mu in problem.mu:
        contact = pin.PointContactConstraintModel(model, 0, pin.SE3.Identity(), joint, pin.SE3.Identity())
        contact.setFriction(float(mu))
        models.append(pin.ConstraintModel(contact))
    for constraint in models:
        datas.append(constraint.createData())
    settings = getattr(pin, f"{solver}SolverSettings")()
    settings.max_iterations = 100_000
    for kind in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{kind}_tol", 1e-10)
        setattr(settings, f"relative_{kind}_tol", 1e-10)
    settings.solve_ncp = True
    result = getattr(pin, f"{solver}SolverResult")()
    operator = pin.DelassusOperatorDense(np.asfortranarray(problem.W[np.ix_(order, order)]))
    engine = getattr(pin, f"{solver}ConstraintSolver")(3 * m)
    assert engine.solve(operator, problem.v_free[order].copy(), models, datas, settings, result)
    forces = np.empty(3 * m)
    forces[order] = np.array(result.retrieveConstraintImpulses())
    return forces


@pytest.mark.parametrize("solver", ["ADMM", "PGS"])
@pytest.mark.parametrize("degrees", [0.0, 20.0, 25.0])
def test_box_moves_alike(solver: str, degrees: float) -> None:
    """The corner forces are not unique; velocities and net forces are."""
    problem = box_problem(math.radians(degrees))
    ours = solve_contacts(problem, tolerance=1e-11)
    theirs = pinocchio_forces(problem, solver)
    assert_allclose(problem.W @ theirs + problem.v_free, ours.velocities.reshape(-1), atol=1e-9)
    assert_allclose(theirs.reshape(-1, 3).sum(axis=0), ours.impulses.sum(axis=0), atol=1e-5)


@pytest.mark.parametrize("solver", ["ADMM", "PGS"])
@pytest.mark.parametrize("seed", range(8))
def test_random_mechanisms_get_the_same_forces(solver: str, seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), 5, 15)
    ours = solve_contacts(problem, tolerance=1e-11, max_iterations=100_000)
    theirs = pinocchio_forces(problem, solver)
    assert_allclose(theirs, ours.impulses.reshape(-1), atol=1e-7 * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("solver", ["ADMM", "PGS"])
def test_pushed_robot_moves_alike(solver: str) -> None:
    """The problem of one step of HRP-2 that slides and tips, as the simulation poses it."""
    simulation = Simulation("stand", method="nsgs", tolerance=1e-11)
    simulation.apply_wrench("hrp2/WAIST", [700.0, 200.0, 0.0], duration=0.1)
    simulation.run(0.05)
    posed = simulation.contact_problem
    assert posed is not None
    ours = solve_contacts(posed, tolerance=1e-11, max_iterations=100_000)
    assert ours.converged
    assert np.linalg.norm(ours.velocities[:, 1:], axis=1).max() > 1e-4
    theirs = pinocchio_forces(posed, solver)
    speed = np.abs(posed.v_free).max()
    assert_allclose(posed.W @ theirs + posed.v_free, ours.velocities.reshape(-1), atol=1e-5 * speed)
