# SPDX-License-Identifier: Apache-2.0
"""A leg of two links in closed form: angles that span a vector, and rates (specification 003 section 2.14.1)."""

from __future__ import annotations

import cmath
import math

from humanoid_model.errors import InputError

_STRAIGHT = 1e-6
"""sin of the knee angle below which a leg counts as straight: its rates would be beyond a million times the hip's."""


def leg_angles(span: complex, first: float, second: float, sign: int, leg: str = "leg") -> tuple[float, float]:
    """Absolute angles (q_a, q_b) with r_a e^{i q_a} + r_b e^{i q_b} = span.

    Written with atan2, so that an end vertically above the other one is nothing special (erratum ER-08).

    Args:
        span: vector from the first link's axis to the second link's end [m].
        first: length r_a [m].
        second: length r_b [m].
        sign: +1 or -1, the side that the knee is on: q_b is the span's direction plus or minus an angle.
        leg: name of the leg for messages.

    Returns:
        q_a and q_b [rad], the knee's angle q_a - q_b between -pi and pi.

    Raises:
        InputError: a value isn't finite, a length isn't positive, the span is out of reach, or the leg would be
            straight.
    """
    if not (cmath.isfinite(span) and math.isfinite(first) and math.isfinite(second) and min(first, second) > 0.0):
        raise InputError(
            f"span {span}, lengths {first:g} and {second:g}", element=leg, remedy="Give finite values, lengths above 0"
        )
    reach = abs(span)
    if reach > first + second:
        raise InputError(
            f"has to span {reach:.4f} m and is {first + second:.4f} m long",
            element=leg,
            remedy=f"Bring its ends {reach - first - second:.4f} m nearer to each other",
        )
    if reach < abs(first - second) or reach == 0.0:
        raise InputError(
            f"has to span {reach:.4f} m and can't be shorter than {abs(first - second):.4f} m",
            element=leg,
            remedy="Take its ends apart",
        )
    cosine = (reach**2 + second**2 - first**2) / (2.0 * second * reach)
    q_b = cmath.phase(span) + sign * math.acos(min(max(cosine, -1.0), 1.0))
    q_a = q_b + cmath.phase((span - cmath.rect(second, q_b)) * cmath.rect(1.0, -q_b))  # within half a turn of q_b
    if abs(math.sin(q_a - q_b)) < _STRAIGHT:
        raise InputError(
            f"is straight when it spans {reach:.6f} m: its rates are not determined",
            element=leg,
            remedy="Bring its ends a little nearer to each other",
        )
    return q_a, q_b


def leg_rates(q_a: float, q_b: float, first: float, second: float, speed: complex) -> tuple[float, float]:
    """Rates (q_a', q_b') that move the leg's end at a speed relative to its start.

    Args:
        q_a: angle of the first link [rad].
        q_b: angle of the second one [rad].
        first: length r_a [m].
        second: length r_b [m].
        speed: of the end relative to the start [m/s].

    Returns:
        q_a' and q_b' [rad/s].

    Raises:
        InputError: the leg is straight.
    """
    determinant = math.sin(q_a - q_b)
    if abs(determinant) < _STRAIGHT:
        raise InputError("is straight: its rates are not determined", element="leg", remedy="Bend the knee")
    along_a = (speed * cmath.rect(1.0, -q_a)).real
    along_b = (speed * cmath.rect(1.0, -q_b)).real
    return -along_b / (first * determinant), along_a / (second * determinant)
