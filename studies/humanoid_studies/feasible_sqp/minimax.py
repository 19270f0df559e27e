# SPDX-License-Identifier: Apache-2.0
"""Programs that minimise the largest of several objectives (specification 001 section 4.3.1)."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from humanoid_planner.optimisation.program import NonlinearProgram


class MinimaxProgram(NonlinearProgram):
    """Minimise max_i f_i(x) under the constraints of a :class:`NonlinearProgram` (specification 001, (3.19)).

    The largest objective has kinks where two are equal. The feasible SQP method knows of them and minimises the
    objectives themselves; a solver that doesn't sees ``objective`` and a gradient that jumps there.
    """

    @abstractmethod
    def objectives(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k,) f_i(x), k >= 1."""

    @abstractmethod
    def objectives_jacobian(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(k, n) gradients of the objectives, dense."""

    def objective(self, x: NDArray[np.float64]) -> float:
        """Return the largest objective."""
        return float(np.max(self.objectives(x)))

    def objective_gradient(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n,) gradient of the first objective that is largest."""
        return np.asarray(self.objectives_jacobian(x)[int(np.argmax(self.objectives(x)))])
