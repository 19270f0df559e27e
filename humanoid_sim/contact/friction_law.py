# SPDX-License-Identifier: Apache-2.0
"""Laws of friction whose coefficient depends on slip and load, solved as Coulomb problems in turns."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from humanoid_model.arrays import Array
from humanoid_sim.contact.cone import contact_residuals, contact_velocity, natural_map
from humanoid_sim.contact.nsgs_newton import nsgs_newton

_TURNS = 30
"""So often at most coefficients are found anew from slip and load."""


class FrictionLaw(ABC):
    """A law of friction; ``register_solver("name", law.solve, law_residual=law.residual)`` makes it a contact method.

    Each turn solves Coulomb's problem with the coefficients of the last one's slip and load: a fixed point, which is
    reached where the law isn't steep. Where it isn't reached, the result says that it didn't converge.
    """

    @abstractmethod
    def coefficients(self, mu: Array, slip: Array, load: Array) -> Array:
        """Return the coefficients that act.

        Args:
            mu: of the surfaces, shape (m,).
            slip: tangential speed of each contact at the end of the step [m/s], shape (m,).
            load: its normal force [N], of an impact the impulse [N s], shape (m,).
        """

    def solve(
        self, W: Array, v_free: Array, mu: Array, f: Array, tolerance: float, max_iterations: int, v: Array,
        residuals: Array,
    ) -> int:  # fmt: skip
        """Solve, see :data:`~humanoid_sim.contact.solve.SolverKernel`; the residuals are those of Coulomb's law."""
        contact_velocity(W, v_free, f, v)
        done = 0
        for _ in range(_TURNS):
            acting = self._acting(mu, f, v)
            done += nsgs_newton(W, v_free, acting, f, tolerance, max(max_iterations - done, 1), v, residuals)
            if done >= max_iterations or self.residual(W, v_free, mu, f, v) <= tolerance:
                break
        contact_residuals(W, v_free, mu, f, v, residuals)
        return done

    def residual(self, W: Array, v_free: Array, mu: Array, f: Array, v: Array) -> float:
        """Return the natural map's relative residual with the coefficients of forces (3m,) and velocities (3m,)."""
        return float(natural_map(W, v_free, self._acting(mu, f, v), f, v))

    def _acting(self, mu: Array, f: Array, v: Array) -> Array:
        found = self.coefficients(mu, np.hypot(v[1::3], v[2::3]), f[::3].copy())
        return np.ascontiguousarray(np.maximum(found, 0.0))
