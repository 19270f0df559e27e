# SPDX-License-Identifier: Apache-2.0
r"""Contact forces from accelerations, without friction (specification 000 §5.2 and §8.2, thesis equations 2.24, 3.10).

Contacts that are closed and don't approach: :math:`0 \le f \perp \Lambda f + a_{free} \ge 0`. It knows no time step,
but no impact either, since no finite force changes a velocity at once; and with Coulomb friction at high coefficients
it may have no solution (P. Painlevé, 1895). The simulator therefore solves for velocities at the end of the step,
whose forces tend to these as the step goes to zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_sim.contact.impact import LcpStatus, check_normal_operator, solve_lcp


@dataclass(frozen=True)
class AccelerationResult:
    """Answer of :func:`solve_accelerations`.

    Attributes:
        forces: along the normals [N], shape (m,).
        accelerations: normal accelerations under these forces [m/s^2], shape (m,).
        residual: what is left of the complementarity, relative to the largest free acceleration.
        pivots: of Lemke's method.
        status: how it ended; the forces are zero unless it is ``SOLVED``.
        time: seconds spent.
    """

    forces: NDArray[np.float64]
    accelerations: NDArray[np.float64]
    residual: float
    pivots: int
    status: LcpStatus
    time: float


def solve_accelerations(Lambda_nn: ArrayLike, a_free: ArrayLike) -> AccelerationResult:
    r"""Return forces of closed contacts at rest along their normals.

    Args:
        Lambda_nn: normal-normal part of J M^-1 J^T, symmetric positive semi-definite [1/kg], shape (m, m).
        a_free: normal accelerations without contact forces,
            :math:`J M^{-1}(\Gamma - b - g) + \dot J \dot q` (3.11) [m/s^2], shape (m,).

    Returns:
        Forces and accelerations. Where contacts are redundant the accelerations and the net force are unique, single
        forces are not.

    Raises:
        InputError: shapes that don't fit, a value that is not finite, an asymmetric operator, a diagonal that is not
            positive.
    """
    free = np.array(a_free, dtype=float).reshape(-1)
    operator = check_normal_operator(Lambda_nn, free.size, {"a_free": free})
    begin = perf_counter()
    answer = solve_lcp(operator, free)
    return AccelerationResult(
        forces=answer.z,
        accelerations=operator @ answer.z + free,
        residual=answer.residual,
        pivots=answer.pivots,
        status=answer.status,
        time=perf_counter() - begin,
    )
