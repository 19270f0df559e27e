# SPDX-License-Identifier: Apache-2.0
r"""Simultaneous impacts without friction (specification 000 §8.1, thesis equations 3.1 to 3.9; Ruspini and Khatib).

Newton's law at the contacts that push, and no contact slower than that law:
:math:`0 \le p \perp \Lambda p + (1 + e) v^- \ge 0`, with the normal-normal part of the Delassus operator. All impulses
act at the start of the step (thesis §3.1.5). The velocities of the bodies then change by :math:`M^{-1} J_n^T p` (3.9).
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError
from humanoid_sim.contact.lemke import LcpStatus, solve_lcp
from humanoid_sim.contact.normal_operator import check_normal_operator


@dataclass(frozen=True)
class ImpactResult:
    """Answer of :func:`solve_impact`.

    Attributes:
        impulses: along the normals [N s], shape (m,).
        velocities: normal velocities after the impact [m/s], shape (m,).
        residual: what is left of the complementarity, relative to the approach.
        pivots: of Lemke's method.
        status: how it ended; the impulses are zero unless it is ``SOLVED``.
        time: seconds spent.
    """

    impulses: NDArray[np.float64]
    velocities: NDArray[np.float64]
    residual: float
    pivots: int
    status: LcpStatus
    time: float


def solve_impact(
    Lambda_nn: ArrayLike, v_minus: ArrayLike, e: ArrayLike, *, allowed: ArrayLike = 0.0
) -> ImpactResult:
    r"""Return impulses of simultaneous impacts.

    A contact whose gap is still to be closed may go on approaching at a speed a:
    :math:`0 \le p \perp \Lambda p + (1 + e) v^- + a \ge 0`.

    Args:
        Lambda_nn: normal-normal part of J M^-1 J^T, symmetric positive semi-definite [1/kg], shape (m, m).
        v_minus: normal velocities before the impact, negative where bodies approach [m/s], shape (m,).
        e: coefficients of restitution from 0 to 1, shape (m,), or one for all.
        allowed: approach speed that each contact may keep, 0 or more [m/s], shape (m,), or one for all.

    Returns:
        Impulses and velocities after the impact.

    Raises:
        InputError: shapes that don't fit, a value that is not finite, an asymmetric operator, a diagonal that is not
            positive, a coefficient outside 0 to 1, an allowed speed below 0.
    """
    v = np.array(v_minus, dtype=float).reshape(-1)
    m = v.size
    restitution, kept = (np.array(given, dtype=float) for given in (e, allowed))
    restitution, kept = (np.full(m, float(given)) if given.ndim == 0 else given for given in (restitution, kept))
    operator = check_normal_operator(Lambda_nn, m, {"v_minus": v, "e": restitution, "allowed": kept})
    outside = (restitution < 0.0) | (restitution > 1.0)
    if np.any(outside):
        i = int(np.argmax(outside))
        raise InputError(f"e[{i}] is {restitution[i]}", element="e", remedy="Restitution is between 0 and 1")
    if np.any(kept < 0.0):
        i = int(np.argmax(kept < 0.0))
        raise InputError(f"allowed[{i}] is {kept[i]}", element="allowed", remedy="Give a speed of 0 or more")
    begin = perf_counter()
    answer = solve_lcp(operator, (1.0 + restitution) * v + kept)
    return ImpactResult(
        impulses=answer.z,
        velocities=operator @ answer.z + v,
        residual=answer.residual,
        pivots=answer.pivots,
        status=answer.status,
        time=perf_counter() - begin,
    )
