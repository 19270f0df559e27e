# SPDX-License-Identifier: Apache-2.0
r"""Place and time of the next step, and the centre of pressure until then, from the divergent component of motion.

On one foot the linear inverted pendulum's divergent component of motion (DCM, the capture point)
:math:`\xi = c+\dot c/\omega` runs away from the centre of pressure p,

.. math:: \xi(T) = p + (\xi-p)\,e^{\omega(T-t)}.

When the other foot lands at u, the DCM should be off it by b, from which the walk that is wanted goes on (Khadiv et
al., *Walking control based on step timing adaptation*, 2020; here the centre of pressure is a variable too, as in
Englsberger's DCM feedback). For each time T of a grid the best p, u within their bounds follow in closed form,

.. math:: \min\ w_p(p-\bar p)^2+w_u(u-\bar u)^2+w_b(\xi(T)-u-\bar b)^2 \quad\text{for both axes},

and the cheapest T is taken, deviations from the wanted duration counted. All is in the axes of the standing sole.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from humanoid_model.arrays import Array
from humanoid_model.compiling import counted, uncounted

_GRID = 25
"""Durations that are tried."""


class StepWeights(NamedTuple):
    """What deviations cost.

    Attributes:
        pressure: of the centre of pressure [1/m²].
        place: of the landing foot's place [1/m²].
        offset: of the DCM's offset from it [1/m²].
        duration: of the step's duration [1/s²].
    """

    pressure: float = 0.3
    place: float = 1.0
    offset: float = 100.0
    duration: float = 0.3


class StepBounds(NamedTuple):
    """What a step keeps to, in the axes of the standing sole.

    Attributes:
        pressure: (2, 2) least and greatest x, y of the centre of pressure [m].
        place: (2, 2) of the landing foot's origin [m].
        duration: (2,) of the step [s].
        speed: greatest mean speed of the swinging foot from where it is [m/s].
    """

    pressure: Array
    place: Array
    duration: Array
    speed: float


class AdjustedStep(NamedTuple):
    """What is to be done.

    Attributes:
        pressure: (2,) centre of pressure until the foot lands [m].
        place: (2,) of the landing foot's origin [m].
        duration: of the step [s].
        offset_error: (2,) how much the DCM is off its wanted offset when the foot lands [m].
    """

    pressure: Array
    place: Array
    duration: float
    offset_error: Array


@uncounted()
def _best_on_axis(
    dcm: float, growth: float, wanted: np.ndarray, weights: np.ndarray, p_min: float, p_max: float, u_min: float,
    u_max: float, best: np.ndarray
) -> float:  # fmt: skip
    """Cost of the best p, u on an axis, which it writes into ``best``; wanted is p, u, b, weights theirs."""
    w_p, w_u, w_b = weights[0], weights[1], weights[2]
    a, c = 1.0 - growth, dcm * growth - wanted[2]
    # The gradient vanishes: (w_p + w_b a²) p - w_b a u = w_p p̄ - w_b a c, (w_u + w_b) u - w_b a p = w_u ū + w_b c.
    pp, uu, pu = w_p + w_b * a * a, w_u + w_b, -w_b * a
    rp, ru = w_p * wanted[0] - w_b * a * c, w_u * wanted[1] + w_b * c
    determinant = pp * uu - pu * pu
    p, u = (rp * uu - ru * pu) / determinant, (ru * pp - rp * pu) / determinant
    least = math.inf
    if p_min <= p <= p_max and u_min <= u <= u_max:
        best[0], best[1] = p, u
        return w_p * (p - wanted[0]) ** 2 + w_u * (u - wanted[1]) ** 2 + w_b * (c + a * p - u) ** 2
    for edge in range(4):
        if edge < 2:
            p = p_min if edge == 0 else p_max
            u = min(max((ru - pu * p) / uu, u_min), u_max)
        else:
            u = u_min if edge == 2 else u_max
            p = min(max((rp - pu * u) / pp, p_min), p_max)
        cost = w_p * (p - wanted[0]) ** 2 + w_u * (u - wanted[1]) ** 2 + w_b * (c + a * p - u) ** 2
        if cost < least:
            least = cost
            best[0], best[1] = p, u
    return least


@counted()
def _adjust(
    dcm: np.ndarray, omega: float, elapsed: float, wanted: np.ndarray, weights: np.ndarray, bounds: np.ndarray,
    swing: np.ndarray, timing: np.ndarray, out: np.ndarray
) -> None:  # fmt: skip
    """Search the durations; timing is wanted, least, greatest duration, their weight, the swing's speed."""
    trial, least = np.empty((2, 2)), math.inf
    start, end = timing[1], timing[2]
    for k in range(_GRID + 1):
        duration = start + (end - start) * k / (_GRID - 1) if k < _GRID else timing[0]
        if duration < start or duration > end:
            continue
        rest = duration - elapsed
        growth, way = math.exp(omega * rest), timing[4] * rest
        cost = timing[3] * (duration - timing[0]) ** 2
        for axis in range(2):
            u_min = min(max(bounds[2, axis], swing[axis] - way), bounds[3, axis])
            u_max = max(min(bounds[3, axis], swing[axis] + way), bounds[2, axis])
            cost += _best_on_axis(
                dcm[axis], growth, wanted[:, axis], weights, bounds[0, axis], bounds[1, axis], u_min, max(u_max, u_min),
                trial[axis],
            )  # fmt: skip
        if cost < least:
            least = cost
            out[6] = duration
            for axis in range(2):
                p, u = trial[axis, 0], trial[axis, 1]
                out[axis], out[2 + axis] = p, u
                out[4 + axis] = p + (dcm[axis] - p) * growth - u - wanted[2, axis]


def adjust_step(
    dcm: Array,
    omega: float,
    elapsed: float,
    *,
    pressure: Array,
    place: Array,
    offset: Array,
    duration: float,
    swing: Array,
    bounds: StepBounds,
    weights: StepWeights,
) -> AdjustedStep:
    r"""Choose centre of pressure, landing place and duration of the step that is under way.

    Args:
        dcm: (2,) divergent component of motion now [m].
        omega: natural frequency of the pendulum [1/s].
        elapsed: since the step began [s].
        pressure: (2,) wanted centre of pressure :math:`\bar p` [m].
        place: (2,) wanted landing place :math:`\bar u` [m].
        offset: (2,) wanted offset :math:`\bar b` of the DCM from it [m].
        duration: wanted [s].
        swing: (2,) where the swinging foot is [m].
        bounds: what the step keeps to; its least duration is later than ``elapsed``.
        weights: what deviations cost.
    """
    limits = np.vstack([bounds.pressure, bounds.place])
    timing = np.array([duration, bounds.duration[0], bounds.duration[1], weights.duration, bounds.speed])
    out = np.empty(7)
    _adjust(
        dcm, omega, elapsed, np.stack([pressure, place, offset]), np.array(weights[:3]), limits, swing, timing, out
    )
    return AdjustedStep(out[:2], out[2:4], float(out[6]), out[4:6])


def wanted_offset(step: Array, following: Array, omega: float, duration: float) -> Array:
    r"""Offset of the DCM from a foot that lands, from which two steps repeat themselves for ever.

    Steps s and s' in turn, each of duration T, carry an offset b over to :math:`b e^{\omega T}-s'`; after two of them
    it is the same for

    .. math:: b = \frac{s' e^{\omega T}+s}{e^{2\omega T}-1}.

    Args:
        step: (2,) displacement s from the standing foot to the one that lands [m].
        following: (2,) s' of the step after it [m].
        omega: natural frequency of the pendulum [1/s].
        duration: T [s].
    """
    growth = math.exp(omega * duration)
    return np.asarray((following * growth + step) / (growth * growth - 1.0))
