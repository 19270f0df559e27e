# SPDX-License-Identifier: Apache-2.0
"""Do contact forces exist that keep a robot in equilibrium, and with what margin (specification 001 section 4.10)?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from humanoid_model.checks import check_array, check_number
from humanoid_model.errors import InputError
from humanoid_planner.equilibrium.cone_simplex import GAP, balance_load
from humanoid_planner.equilibrium.contact_points import ContactPoints

_GRAVITY = np.array([0.0, 0.0, -9.81])
_NO_ACCELERATION = np.zeros(3)
_NO_WRENCH = np.zeros(6)
_NO_LIMITS: NDArray[np.float64] = np.zeros((0, 0))
_NO_OFFSETS: NDArray[np.float64] = np.zeros(0)


class Equilibrium(NamedTuple):
    """Answer of :func:`check_equilibrium`.

    Attributes:
        equilibrium: whether forces inside their friction cones balance the load.
        margin: N, see :func:`check_equilibrium`.
        forces: (k, 3) on the robot, in the world, N; with the margin. Out of equilibrium they balance the load too,
            but leave their cones by ``-margin``; zeros when no forces balance it.
    """

    equilibrium: bool
    margin: float
    forces: NDArray[np.float64]


def check_equilibrium(
    contacts: ContactPoints,
    mass: float,
    centre_of_mass: ArrayLike,
    *,
    gravity: ArrayLike = _GRAVITY,
    acceleration: ArrayLike = _NO_ACCELERATION,
    external_wrench: ArrayLike = _NO_WRENCH,
    torque_limits: tuple[ArrayLike, ArrayLike] | None = None,
) -> Equilibrium:
    """Whether contact forces in their exact quadratic cones balance weight, inertia and loads, (3.57)-(3.59), (3.67).

    The forces f_i at points C_i fulfil ``sum f_i = m (a - g) - f_e`` and
    ``sum C_i x f_i = G x m (a - g) - m_e``, each within its cone ``|f_t| <= mu f_n``.

    The margin [N] is the largest s such that every unilateral force can keep the distance s from the boundary
    of its cone (without friction: such that it can be s), exact to 1e-7 of the load. Out of equilibrium it is
    negative: minus the smallest distance that forces must leave their cones to balance the load. It is infinite when
    contacts can be pressed against each other as hard as one likes (two walls of a chimney), or when all contacts are
    bilateral; minus infinite when no forces whatever balance the load (a moment about a single point) or keep the
    torque limits. Forces above a million times the load count as none.

    Args:
        contacts: the points, k of them.
        mass: of the robot, kg.
        centre_of_mass: (3,) in the world, m.
        gravity: (3,) in the world, m/s^2.
        acceleration: (3,) of the centre of mass, m/s^2; the angular momentum about it is taken as constant.
        external_wrench: (6,) known force on the robot and its moment about the world's origin, N and N m.
        torque_limits: A (m, 3k) and b (m,) of ``A f + b <= 0``, f the forces in the world one after the other, see
            :func:`humanoid_planner.equilibrium.torque_polytope.torque_limits`.

    Raises:
        InputError: a shape is wrong, a number isn't finite or the mass is negative.
    """
    margin, load, forces = _balance(
        contacts, mass, centre_of_mass, gravity, acceleration, external_wrench, torque_limits, True
    )
    return Equilibrium(margin >= -GAP * load, margin, forces)


def in_equilibrium(
    contacts: ContactPoints,
    mass: float,
    centre_of_mass: ArrayLike,
    *,
    gravity: ArrayLike = _GRAVITY,
    acceleration: ArrayLike = _NO_ACCELERATION,
    external_wrench: ArrayLike = _NO_WRENCH,
    torque_limits: tuple[ArrayLike, ArrayLike] | None = None,
) -> bool:
    """Only the yes or no of :func:`check_equilibrium`, in a third of its time; arguments as there."""
    margin, _, _ = _balance(
        contacts, mass, centre_of_mass, gravity, acceleration, external_wrench, torque_limits, False
    )
    return margin >= 0.0


def _balance(
    contacts: ContactPoints,
    mass: float,
    centre_of_mass: ArrayLike,
    gravity: ArrayLike,
    acceleration: ArrayLike,
    external_wrench: ArrayLike,
    torque_limits: tuple[ArrayLike, ArrayLike] | None,
    with_margin: bool,
) -> tuple[float, float, NDArray[np.float64]]:
    """Call the compiled kernel: margin, size of the load, forces."""
    com = np.ascontiguousarray(centre_of_mass, float)
    g = np.ascontiguousarray(gravity, float)
    a = np.ascontiguousarray(acceleration, float)
    external = np.ascontiguousarray(external_wrench, float)
    A: NDArray[np.float64] = _NO_LIMITS
    b: NDArray[np.float64] = _NO_OFFSETS
    if torque_limits is not None:
        A, b = np.ascontiguousarray(torque_limits[0], float), np.ascontiguousarray(torque_limits[1], float)
    if (
        com.shape != (3,)
        or g.shape != (3,)
        or a.shape != (3,)
        or external.shape != (6,)
        or b.ndim != 1
        or not mass >= 0.0
        or (torque_limits is not None and A.shape != (len(b), 3 * len(contacts)))
    ):
        raise _complaint(contacts, mass, com, g, a, external, A, b)
    margin, load, forces = balance_load(contacts.packed, float(mass), com, g, a, external, A, b, with_margin)
    if not load < np.inf or margin != margin:
        raise _complaint(contacts, mass, com, g, a, external, A, b)
    return margin, load, forces


def _complaint(
    contacts: ContactPoints,
    mass: float,
    com: NDArray[np.float64],
    gravity: NDArray[np.float64],
    acceleration: NDArray[np.float64],
    external: NDArray[np.float64],
    A: NDArray[np.float64],
    b: NDArray[np.float64],
) -> InputError:
    """Return what is wrong with the arguments."""
    check_number(float(mass), "mass")
    shapes: list[tuple[str, NDArray[np.float64], tuple[int, ...]]] = [
        ("centre_of_mass", com, (3,)),
        ("gravity", gravity, (3,)),
        ("acceleration", acceleration, (3,)),
        ("external_wrench", external, (6,)),
    ]
    if A is not _NO_LIMITS:
        shapes += [("torque_limits A", A, (b.size, 3 * len(contacts))), ("torque_limits b", b, (b.size,))]
    for name, value, shape in shapes:
        check_array(value, name, shape)
    return InputError("the load is too large for a number", element="mass", remedy="Give SI units")
