# SPDX-License-Identifier: Apache-2.0
"""Siconos' frictional contact solver on our problems, where Siconos is installed (specification 000 §10.2)."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.errors import InputError
from humanoid_sim.contact.cone import contact_residuals


def _library() -> Any:
    """Return the module siconos.numerics.

    Raises:
        InputError: it isn't installed, or for another numpy or Python.
    """
    try:
        return import_module("siconos.numerics")
    except ImportError as error:
        raise InputError(
            f"siconos.numerics can't be imported ({error})",
            element="method",
            remedy=(
                "Install Siconos for this Python: apt install python3-siconos on Debian and Ubuntu, with the system's "
                "Python and numpy, or build it from https://nonsmooth.gricad-pages.univ-grenoble-alpes.fr/siconos/"
            ),
        ) from error


def siconos(
    W: Array,
    v_free: Array,
    mu: Array,
    f: Array,
    tolerance: float,
    max_iterations: int,
    v: Array,
    residuals: Array,
) -> int:
    """Siconos' non-smooth Gauss-Seidel with its Alart-Curnier Newton method at each contact (``fc3d_nsgs``).

    Siconos has the same order (n, t1, t2) and the same problem, in the names reaction, velocity, M and q.

    Args:
        W: Delassus operator, shape (3m, 3m).
        v_free: free contact velocities, shape (3m,).
        mu: friction coefficients, shape (m,).
        f: initial forces, overwritten with the solution, shape (3m,).
        tolerance: for its own error, which is relative as well.
        max_iterations: bound on its sweeps.
        v: receives the contact velocities, shape (3m,).
        residuals: receives the residuals of :func:`contact_residuals`, shape (5,).

    Returns:
        Number of sweeps.

    Raises:
        InputError: Siconos isn't installed.
    """
    numerics = _library()
    # Its error is not relative to the problem's units: forces and velocities of size one make it so.
    size_W = float(np.diag(W).max())
    size_v = float(np.abs(v_free).max()) or 1.0
    problem = numerics.FrictionContactProblem(3, np.asfortranarray(W / size_W), v_free / size_v, mu.copy())
    options = numerics.SolverOptions(numerics.SICONOS_FRICTION_3D_NSGS)
    options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = max_iterations
    options.dparam[numerics.SICONOS_DPARAM_TOL] = 0.1 * tolerance
    reaction = f * size_W / size_v
    velocity = np.zeros_like(f)
    numerics.fc3d_driver(problem, reaction, velocity, options)
    if np.all(np.isfinite(reaction)):
        f[:] = reaction * size_v / size_W
    contact_residuals(W, v_free, mu, f, v, residuals)
    return int(options.iparam[numerics.SICONOS_IPARAM_ITER_DONE])
