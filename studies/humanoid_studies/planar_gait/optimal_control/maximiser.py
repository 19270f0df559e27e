# SPDX-License-Identifier: Apache-2.0
"""The control that maximises Pontryagin's function: interior, box and polytope (specification 003 section 2.22).

H is u . y - 1/2 u^T W u plus what doesn't depend on u, with y = B^T w_p and W diagonal and positive. Its maximiser is
W^-1 y, clipped where each control has bounds of its own (II.24, II.25), and the solution of a strictly convex quadratic
program where constraints tie several controls together (II.39, II.41; the thesis leaves that open).
"""

from __future__ import annotations

import daqp
import numpy as np
from numpy.typing import NDArray

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError

Mask = NDArray[np.bool_]

_EQUALITY = 5
"""DAQP's mark of a row that always holds as an equality."""


class Maximiser:
    """Maximising controls at many points.

    Args:
        weights: (N,) diagonal of W, positive.
        lower: (N,) bounds of the controls.
        upper: (N,) bounds of the controls.
        equalities: number of rows, the first ones, that are equalities.

    Raises:
        InputError: a weight isn't positive, or bounds cross.
    """

    def __init__(self, weights: Reals, lower: Reals, upper: Reals, equalities: int = 0) -> None:
        if not (np.isfinite(weights).all() and (weights > 0.0).all()):
            raise InputError(
                f"weights are {weights}", element="effort", remedy="Give each control a weight above 0"
            )
        if not (lower <= upper).all():
            worst = int(np.argmin(upper - lower))
            raise InputError(
                f"bounds {lower[worst]} and {upper[worst]} of control {worst} cross",
                element="bounds",
                remedy="Let the lower be below the upper one",
            )
        self.weights, self.lower, self.upper = weights, lower, upper
        self._equalities = equalities
        # In units of 1/sqrt(W) the quadratic term is the identity, whatever the sizes of torques and forces.
        self._unit = 1.0 / np.sqrt(weights)

    def interior(self, y: Reals) -> Reals:
        """(K, N) W^-1 y, equation (II.24)."""
        return np.asarray(y / self.weights)

    def in_box(self, y: Reals) -> tuple[Reals, Mask]:
        """Clipped controls (II.25) at (K, N) y.

        Returns:
            (K, N) controls and (K, N) whether each is between its bounds.
        """
        u = self.interior(y)
        free = (u > self.lower) & (u < self.upper)
        return np.clip(u, self.lower, self.upper), free

    def with_rows(self, y: Reals, C: Reals, c: Reals) -> tuple[Reals, Reals, Mask, Mask, Mask]:
        """Control with rows C u + c >= 0 (the first ones = 0) besides the box.

        Args:
            y: (K, N).
            C: (K, r, N).
            c: (K, r).

        Returns:
            (K, N) controls; (K, r) multipliers mu of W u = y + C^T mu; (K, r) rows that are active; (K, N) controls
            that aren't at a bound of their own; (K,) whether the constraints allow any control.
        """
        K, r = c.shape
        u, free = self.in_box(y)
        multipliers, active = np.zeros((K, r)), np.zeros((K, r), dtype=bool)
        active[:, : self._equalities] = True
        feasible = np.ones(K, dtype=bool)
        violated = (np.einsum("krn,kn->kr", C, u) + c < 0.0).any(axis=1)
        if self._equalities:
            violated[:] = True
        nodes = np.flatnonzero(violated)  # elsewhere the clipped control is the maximiser already
        if not len(nodes):
            return u, multipliers, active, free, feasible
        N = len(self.weights)
        identity = np.eye(N)
        lower, upper = self.lower / self._unit, self.upper / self._unit
        bounded = np.isfinite(lower) | np.isfinite(upper)
        rows = np.concatenate([np.broadcast_to(identity[bounded], (len(nodes), int(bounded.sum()), N)),
                               C[nodes] * self._unit], axis=1)  # fmt: skip
        b = int(bounded.sum())
        # Rows of length one: tolerances of the solver are then distances.
        norms = np.linalg.norm(rows[:, b:], axis=2)
        norms[norms == 0.0] = 1.0
        rows[:, b:] /= norms[..., None]
        least = np.concatenate([np.broadcast_to(lower[bounded], (len(nodes), b)), -c[nodes] / norms], axis=1)
        unlimited = np.full((len(nodes), r), 1e30)
        greatest = np.concatenate([np.broadcast_to(upper[bounded], (len(nodes), b)), unlimited], axis=1)
        greatest[:, b : b + self._equalities] = least[:, b : b + self._equalities]
        least, greatest = np.maximum(least, -1e30), np.minimum(greatest, 1e30)
        # DAQP reads vectors as memory lies, whatever their strides; concatenate may have laid columns side by side.
        rows, least, greatest = (np.ascontiguousarray(array) for array in (rows, least, greatest))
        sense = np.zeros(b + r, dtype=np.int32)
        sense[b : b + self._equalities] = _EQUALITY
        linear = -y * self._unit
        own = np.flatnonzero(bounded)
        for index, node in enumerate(nodes):
            solution, _, flag, info = daqp.solve(
                identity, linear[node], rows[index], greatest[index], least[index], sense.copy(), primal_tol=1e-10
            )
            if flag < 1:
                feasible[node] = False
                continue
            u[node] = np.asarray(solution) * self._unit
            dual = np.asarray(info["lam"])
            # DAQP's multipliers are positive at upper and negative at lower limits.
            multipliers[node] = -dual[b:] / norms[index]
            active[node, self._equalities :] = -dual[b + self._equalities :] > 1e-12
            free[node] = True
            free[node, own[np.abs(dual[:b]) > 1e-12]] = False
        return u, multipliers, active, free, feasible
