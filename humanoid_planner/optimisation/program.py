# SPDX-License-Identifier: Apache-2.0
"""A nonlinear program with analytic derivatives: all that a solver knows of a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


class NonlinearProgram(ABC):
    """Minimise f(x) subject to ``lower <= x <= upper`` and ``constraint_lower <= c(x) <= constraint_upper``.

    Equal constraint bounds make an equality, infinite ones leave a side free. Solver and problem know nothing else of
    each other (specification 001 section 4.4). Arrays that a program returns are its own and hold until its next call;
    who keeps one copies it.

    Attributes:
        lower: (n,) lower bounds of the variables.
        upper: (n,) upper bounds of the variables.
        constraint_lower: (m,) lower bounds of the constraints.
        constraint_upper: (m,) upper bounds of the constraints.
        linear: (m,) True for the constraints that are linear in x.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    constraint_lower: NDArray[np.float64]
    constraint_upper: NDArray[np.float64]
    linear: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """Number of variables n."""
        return len(self.lower)

    @property
    def damping(self) -> NDArray[np.float64] | None:
        """(n,) weights w of a cost w d^2 / 2 that solvers may put on steps d; None leaves steps free.

        For variables on which the objective says next to nothing, like contact forces: undamped, they leap about
            among the
        many values that are as good, and curved constraints never settle.
        """
        return None

    def constraint_curvature(
        self, x: NDArray[np.float64], multipliers: NDArray[np.float64]
    ) -> NDArray[np.float64] | None:
        """(n, n) positive semidefinite part of the multipliers' sum of constraint Hessians, as far as it is known.

        Args:
            x: (n,).
            multipliers: (m,), positive where the upper bound acts.

        Returns:
            What solvers may add to the objective's Hessian; None when nothing is known.
        """
        return None

    @property
    def nonzeros(self) -> scipy.sparse.coo_array | None:
        """(m, n) pattern of the Jacobian when it is sparse, None when it is dense.

        A sparse program returns its Jacobian as the values of this pattern, in its order.
        """
        return None

    @abstractmethod
    def objective(self, x: NDArray[np.float64]) -> float:
        """f(x)."""

    @abstractmethod
    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) gradient of f."""

    def objective_hessian(self, x: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """(n, n) positive semidefinite Hessian of f or an approximation of it (Gauss-Newton); None when unknown."""
        return None

    @abstractmethod
    def constraints(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m,) c(x)."""

    @abstractmethod
    def jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, n) Jacobian of c, or the (nnz,) values of the pattern."""
