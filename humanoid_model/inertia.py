# SPDX-License-Identifier: Apache-2.0
"""Whether a matrix can be the rotational inertia of a body."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

#: Published tensors are rounded: a principal moment may miss the bound by this share of the largest one.
_RELATIVE_TOLERANCE = 0.02


def inertia_problem(inertia: np.ndarray) -> str | None:
    """Say why a symmetric matrix is no rotational inertia about a centre of mass; None when it is one.

    A body's principal moments are not negative, and none exceeds the sum of the two others (its density is
    nowhere negative). Both are tested up to 2 % of the largest moment.

    Args:
        inertia: (3, 3) symmetric, kg m^2.
    """
    moments = np.linalg.eigvalsh(inertia)
    tolerance = _RELATIVE_TOLERANCE * np.abs(moments).max() + 1e-12
    named = "(" + ", ".join(f"{moment:.6g}" for moment in moments) + ")"
    if moments[0] < -tolerance:
        return f"inertia is not positive: its principal moments are {named}"
    if moments[2] > moments[0] + moments[1] + tolerance:
        return (
            f"inertia violates the triangle inequality: of its principal moments {named} "
            "the largest exceeds the sum of the others"
        )
    return None


def is_positive(inertia: np.ndarray) -> bool:
    """Return whether no principal moment is negative, up to 2 % of the largest: dynamics can be computed with it.

    Args:
        inertia: (3, 3) symmetric, kg m^2.
    """
    moments = np.linalg.eigvalsh(inertia)
    return bool(moments[0] >= -_RELATIVE_TOLERANCE * np.abs(moments).max() - 1e-12)


def spatial_inertia(mass: float, centre: np.ndarray, inertia: np.ndarray) -> pin.Inertia:
    """Pinocchio's inertia of a body, its numbers as they are: the constructor refuses a moment of -1e-20.

    Args:
        mass: kg.
        centre: (3,) centre of mass, m.
        inertia: (3, 3) about the centre of mass, in the axes of the frame, kg m^2.
    """
    body = pin.Inertia.Zero()
    body.mass = mass
    body.lever = np.array(centre)
    body.inertia = np.array(inertia)
    return body
