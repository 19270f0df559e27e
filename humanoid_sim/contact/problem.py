# SPDX-License-Identifier: Apache-2.0
"""The frictional contact problem at velocity level, and the answer of a solver to it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError


class ContactProblem:
    r"""Find forces in their Coulomb cones and velocities with :math:`v = W f + v_{free}`.

    For each contact, in the order (n, t1, t2): :math:`0 \le v_n \perp f_n \ge 0`,
    :math:`\|f_t\| \le \mu f_n`, and where the contact slips :math:`f_t = -\mu f_n v_t/\|v_t\|`
    (specification 000 §§6.1 and 8.2, thesis equations 2.26-2.28 and 3.25-3.26).

    Attributes:
        W: Delassus operator, symmetric positive semi-definite with positive definite 3x3 diagonal blocks, shape
            (3m, 3m). With forces in N and a step dt in s it is dt times J M^-1 J^T [s/kg]; with
            impulses in N s it is J M^-1 J^T [1/kg].
        v_free: contact velocities that there would be without contact forces [m/s], shape (3m,).
        mu: friction coefficients, shape (m,).
    """

    def __init__(self, W: ArrayLike, v_free: ArrayLike, mu: ArrayLike) -> None:
        """Check and keep the data.

        Args:
            W: shape (3m, 3m).
            v_free: shape (3m,).
            mu: shape (m,), or one number for all contacts.

        Raises:
            InputError: wrong shape, a value that is not finite, an asymmetric W, a diagonal block that is
                not positive definite, a negative friction coefficient.
        """
        self.v_free = np.array(v_free, dtype=float).reshape(-1)
        if self.v_free.size % 3 != 0:
            raise InputError(
                f"v_free has {self.v_free.size} entries", element="v_free", remedy="Give 3 per contact"
            )
        m = self.v_free.size // 3
        self.W = np.array(W, dtype=float, order="C")
        if self.W.shape != (3 * m, 3 * m):
            raise InputError(
                f"W has shape {self.W.shape} beside {3 * m} free velocities",
                element="W",
                remedy=f"Give a matrix of shape ({3 * m}, {3 * m})",
            )
        mu_array = np.array(mu, dtype=float)
        self.mu = np.full(m, float(mu_array)) if mu_array.ndim == 0 else mu_array
        if self.mu.shape != (m,):
            raise InputError(
                f"mu has shape {self.mu.shape} for {m} contacts",
                element="mu",
                remedy=f"Give one coefficient, or {m}",
            )
        for name, values in (("W", self.W), ("v_free", self.v_free), ("mu", self.mu)):
            if not np.all(np.isfinite(values)):
                index = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
                raise InputError(
                    f"{name}{list(index)} is {values[index]}", element=name, remedy="Give finite numbers"
                )
        if np.any(self.mu < 0.0):
            i = int(np.argmax(self.mu < 0.0))
            raise InputError(
                f"mu[{i}] is {self.mu[i]}", element="mu", remedy="A friction coefficient is 0 or more"
            )
        size = np.abs(self.W).max(initial=0.0)
        if np.abs(self.W - self.W.T).max(initial=0.0) > 1e-9 * size:
            raise InputError(
                "W is not symmetric", element="W", remedy="A Delassus operator J M^-1 J^T is symmetric"
            )
        for i in range(m):
            block = self.W[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
            lowest = float(np.linalg.eigvalsh(block)[0])
            if lowest <= 0.0:
                raise InputError(
                    f"the block of contact {i} has the eigenvalue {lowest:.3g}",
                    element="W",
                    remedy="Each contact must be free to move in three directions without the others",
                )


    @property
    def blocks(self) -> NDArray[np.float64]:
        """W in 3 x 3 blocks, contact against contact, sharing its memory, shape (m, m, 3, 3)."""
        m = self.mu.size
        return self.W.reshape(m, 3, m, 3).transpose(0, 2, 1, 3)


class ContactStatus(Enum):
    """How a contact solver ended."""

    CONVERGED = "converged"
    """The natural-map residual is within the tolerance."""
    APPROXIMATE = "solved with an approximate law of friction"
    """The solver has solved its own problem (no friction, faceted cones), which is not the exact one."""
    NOT_CONVERGED = "not converged"
    """Out of iterations, or stuck."""
    TIME_LIMIT = "time limit"
    """Out of time; the best iterate so far is returned."""


@dataclass(frozen=True)
class Residuals:
    r"""What is left of each condition of the contact problem; all are zero at a solution.

    Attributes:
        natural_map: distance to the fixed point of the projection on the Coulomb cones, relative to the largest
            force; the tolerance of the solvers bounds this one.
        complementarity: largest :math:`|f_n v_n|` [W, or J for impulses].
        cone: largest force outside its cone [N or N s].
        dissipation: largest gap to the maximum dissipation :math:`\mu f_n \|v_t\| + f_t\cdot v_t` [W or J].
        approach: largest remaining approach velocity [m/s].
    """

    natural_map: float
    complementarity: float
    cone: float
    dissipation: float
    approach: float


@dataclass(frozen=True)
class ContactResult:
    """Answer of a contact solver.

    Attributes:
        impulses: one row (n, t1, t2) per contact in the unit that the problem's W implies, shape (m, 3).
        velocities: contact velocities after the step [m/s], shape (m, 3).
        residuals: how well the conditions hold.
        iterations: sweeps done.
        status: whether the residual is within the tolerance.
        time: seconds spent.
    """

    impulses: NDArray[np.float64]
    velocities: NDArray[np.float64]
    residuals: Residuals
    iterations: int
    status: ContactStatus
    time: float

    @property
    def converged(self) -> bool:
        """Whether the natural-map residual is within the tolerance that was asked for."""
        return self.status is ContactStatus.CONVERGED
