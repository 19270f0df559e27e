# SPDX-License-Identifier: Apache-2.0
"""Pinocchio 4's own constraint solvers on contact problems (specification 000 §9): projected Gauss-Seidel, ADMM."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pinocchio as pin

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_sim.contact.cone import contact_residuals

_REQUIRED = ("{}ConstraintSolver", "{}SolverSettings", "{}SolverResult", "DelassusOperatorDense")


def _check(kind: str) -> None:
    """Whether this Pinocchio has the solver.

    Raises:
        InputError: it hasn't.
    """
    if not all(hasattr(pin, name.format(kind)) for name in _REQUIRED):
        raise InputError(
            f"Pinocchio {pin.__version__} has no {kind} constraint solver of its own",
            element="method",
            remedy="Install pin 4, or choose another contact solver",
        )


def _constraints(mu: Array) -> tuple[Any, Any]:
    """Contact points with the friction coefficients; where they are doesn't matter, the operator says it all."""
    model = pin.Model()
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
    models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for coefficient in mu:
        contact = pin.PointContactConstraintModel(model, 0, pin.SE3.Identity(), joint, pin.SE3.Identity())
        contact.setFriction(float(coefficient))
        models.append(pin.ConstraintModel(contact))
    for constraint in models:
        datas.append(constraint.createData())
    return models, datas


def _solve(
    kind: str,
    W: Array,
    v_free: Array,
    mu: Array,
    f: Array,
    tolerance: float,
    max_iterations: int,
    v: Array,
    residuals: Array,
) -> int:
    """Return forces by one of its solvers.

    Args:
        kind: of its solver.
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the solution, shape (3m,).
        tolerance: for its feasibility and complementarity.
        max_iterations: bound on its iterations.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of iterations.

    Raises:
        InputError: this Pinocchio has no such solver.
    """
    _check(kind)
    m = mu.size
    order = np.concatenate([[3 * i + 1, 3 * i + 2, 3 * i] for i in range(m)])  # Pinocchio has (t1, t2, n)
    # Their tolerances are on velocities and powers, ours on forces relative to the largest. Impulses of the size
    # of the velocities make one speak for the other.
    size_W = float(np.diag(W).max())
    size_v = float(np.abs(v_free).max()) or 1.0
    models, datas = _constraints(mu)
    settings = getattr(pin, f"{kind}SolverSettings")()
    settings.max_iterations = max_iterations
    for condition in ("feasibility", "complementarity"):
        setattr(settings, f"absolute_{condition}_tol", 0.1 * tolerance)
        setattr(settings, f"relative_{condition}_tol", 0.1 * tolerance)
    settings.solve_ncp = True
    result = getattr(pin, f"{kind}SolverResult")()
    result.setConstraintImpulseGuess(np.ascontiguousarray(f[order]) * size_W / size_v)
    operator = pin.DelassusOperatorDense(np.asfortranarray(W[np.ix_(order, order)] / size_W))
    solver = getattr(pin, f"{kind}ConstraintSolver")(3 * m)
    solver.solve(operator, v_free[order] / size_v, models, datas, settings, result)
    forces = np.array(result.retrieveConstraintImpulses())
    if np.all(np.isfinite(forces)):
        f[order] = forces * size_v / size_W
    contact_residuals(W, v_free, mu, f, v, residuals)
    return int(result.iterations)


pinocchio_pgs = partial(_solve, "PGS")
"""Pinocchio's projected Gauss-Seidel."""
pinocchio_admm = partial(_solve, "ADMM")
"""Pinocchio's alternating direction method of multipliers."""
