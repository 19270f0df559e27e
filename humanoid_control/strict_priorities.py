# SPDX-License-Identifier: Apache-2.0
r"""A whole-body program whose tasks come strictly one before the other (hierarchical least squares).

Level i takes what the levels before leave open: with their answer :math:`\hat x` and a basis Z of what doesn't change
their errors, :math:`x=\hat x+Zz`, it solves

.. math:: \min_z \lVert J_i(\hat x+Zz)-b_i\rVert^2\quad\text{within the program's rows and bounds},

and Z becomes Z N with N a basis of the null space of :math:`J_iZ`. After the last level the program's own objective is
minimised in what is left. Rows and bounds hold on each level (O. Kanoun, F. Lamiraux, P.-B. Wieber, Kinematic control
of redundant manipulators: generalizing the task-priority framework to inequality tasks, TRO 2011; A. Escande, N.
Mansard, P.-B. Wieber, Hierarchical quadratic programming, IJRR 2014). The program's own answer comes first: it says how
far bounds can be kept, and each level begins at an answer, which stays where the solver finds no better one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.whole_body_dynamics import WholeBodyProgram

_RANK = 1e-6
"""Singular values below this share of the largest are zero: so little isn't worth an acceleration."""


def solve_in_order(program: WholeBodyProgram, levels: Iterable[tuple[Array, Array]]) -> Array | None:
    """Solve a program after tasks that come strictly before its objective.

    Args:
        program: of the whole body.
        levels: Jacobians (k, nv) and wanted accelerations (k,), the first ones come first.

    Returns:
        (n,) accelerations and forces; None where the program has no answer.
    """
    x = program.solve()
    if x is None:
        return None
    nv, Z = program.bounds.shape[1], null_space(program.equations)
    for J, target in levels:
        A = J @ Z[:nv]
        z = program.solve_near(x, Z, A.T @ A, A.T @ (J @ x[:nv] - target))
        x, Z = x if z is None else x + Z @ z, Z @ null_space(A)
    z = program.solve_near(x, Z, Z.T @ program.hessian @ Z, Z.T @ (program.hessian @ x + program.gradient))
    return x if z is None else np.asarray(x + Z @ z)


def null_space(A: Array) -> Array:
    """(n, n - rank) orthonormal basis of what a matrix (k, n) takes to zero."""
    _, values, V = np.linalg.svd(A)
    rank = int(np.sum(values > _RANK * max(float(values.max(initial=0.0)), 1e-12)))
    return np.asarray(V[rank:].T)
