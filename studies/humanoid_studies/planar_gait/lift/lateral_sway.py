# SPDX-License-Identifier: Apache-2.0
r"""Motion of the centre of mass over a given zero-moment point, as a boundary value problem.

About the zero-moment point p the horizontal moments of weight and inertia vanish. With the centre of mass at height z,
and the rate of the angular momentum left to the dynamic filter,

.. math:: \ddot y = \frac{\ddot z + g}{z}\,(y - p),

which is Kajita's cart on a table (2003) for varying height: the linear inverted pendulum where z is constant. Its
homogeneous solutions grow and fade like exp(±ωt), so that it is solved between two ends and not from one.

Between rests position and velocity are given at both ends, two conditions more than the equation has: two shapes are
added to p, with amplitudes that are found along with the motion. They act while the robot stands on both feet. In
cyclic walking the end is the beginning again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from humanoid_model.arrays import Reals
from humanoid_model.errors import InputError


@dataclass(frozen=True, eq=False)
class PendulumPhase:
    """Samples of a phase, both ends included; the next phase begins at this one's last time.

    Attributes:
        t: (K,) times [s].
        stiffness: (K,) (z'' + g)/z [1/s²].
        zmp: (K,) wanted zero-moment point [m].
        first_shape: (K,) added to ``zmp`` with an amplitude that is found [1].
        last_shape: (K,) likewise.
    """

    t: Reals
    stiffness: Reals
    zmp: Reals
    first_shape: Reals
    last_shape: Reals


@dataclass(frozen=True, eq=False)
class PendulumMotion:
    """Motion of the centre of mass along one horizontal axis.

    Attributes:
        position: of each phase (K,) [m].
        velocity: of each phase (K,) [m/s].
        zmp: of each phase (K,), the shapes included [m].
        amplitudes: (2,) of the two shapes [m].
    """

    position: tuple[Reals, ...]
    velocity: tuple[Reals, ...]
    zmp: tuple[Reals, ...]
    amplitudes: Reals


def solve_pendulum(
    phases: Sequence[PendulumPhase], ends: tuple[tuple[float, float], tuple[float, float]] | None = None
) -> PendulumMotion:
    """Solves for position and velocity, continuous over all phases; coefficients may jump between phases.

    Trapezoidal rule on the samples: error of second order in their distance.

    Args:
        phases: in order.
        ends: position [m] and velocity [m/s] at the beginning and at the end; cyclic if left out, without the shapes.

    Raises:
        InputError: no phase, values that aren't finite, a stiffness that isn't positive, or shapes that leave the ends
            undetermined.
    """
    _check(phases, ends)
    nodes = sum(len(phase.t) for phase in phases) - len(phases) + 1
    size = 2 * nodes + 2
    system = _System(size)
    node = 0
    for phase in phases:
        places = [2 * (node + i) for i in range(len(phase.t))]
        for i, (here, there) in enumerate(itertools.pairwise(places)):
            h = float(phase.t[i + 1] - phase.t[i])
            system.row(((there, 1.0), (here, -1.0), (here + 1, -0.5 * h), (there + 1, -0.5 * h)))
            entries, right = [(there + 1, 1.0), (here + 1, -1.0)], 0.0
            for index, place in ((i, here), (i + 1, there)):
                k = 0.5 * h * float(phase.stiffness[index])
                entries += [
                    (place, -k),
                    (size - 2, k * float(phase.first_shape[index])),
                    (size - 1, k * float(phase.last_shape[index])),
                ]
                right -= k * float(phase.zmp[index])
            system.row(entries, right)
        node += len(phase.t) - 1
    last = 2 * node
    if ends is not None:
        (y0, v0), (y1, v1) = ends
        for place, value in ((0, y0), (1, v0), (last, y1), (last + 1, v1)):
            system.row(((place, 1.0),), value)
    else:
        system.row(((last, 1.0), (0, -1.0)))
        system.row(((last + 1, 1.0), (1, -1.0)))
        system.row(((size - 2, 1.0),))
        system.row(((size - 1, 1.0),))
    solution = system.solve()
    amplitudes = solution[-2:]
    position, velocity, zmp, node = [], [], [], 0
    for phase in phases:
        own = solution[2 * node : 2 * (node + len(phase.t))]
        position.append(own[0::2])
        velocity.append(own[1::2])
        zmp.append(phase.zmp + amplitudes[0] * phase.first_shape + amplitudes[1] * phase.last_shape)
        node += len(phase.t) - 1
    return PendulumMotion(tuple(position), tuple(velocity), tuple(zmp), amplitudes)


class _System:
    """Linear equations, row by row."""

    def __init__(self, size: int) -> None:
        self._size, self._rows = size, 0
        self._entries: list[tuple[int, int, float]] = []
        self._right = np.zeros(size)

    def row(self, entries: Iterable[tuple[int, float]], right: float = 0.0) -> None:
        """Add an equation."""
        self._entries += [(self._rows, int(column), value) for column, value in entries]
        self._right[self._rows] = right
        self._rows += 1

    def solve(self) -> Reals:
        """Return the solution.

        Raises:
            InputError: there is none, or more than one.
        """
        rows, columns, values = zip(*self._entries, strict=True)
        matrix = coo_matrix((values, (rows, columns)), shape=(self._size, self._size)).tocsc()
        try:
            solution = splu(matrix).solve(self._right)
        except RuntimeError:
            solution = np.full(self._size, np.nan)
        if not np.isfinite(solution).all():
            raise InputError(
                "don't reach the given ends",
                element="shapes",
                remedy="Give one that differs from zero near the beginning and one near the end",
            )
        return np.asarray(solution)


def _check(
    phases: Sequence[PendulumPhase], ends: tuple[tuple[float, float], tuple[float, float]] | None
) -> None:
    if not phases:
        raise InputError("no phase", element="phases", remedy="Give one or more")
    if ends is not None and not np.isfinite(ends).all():
        raise InputError(f"are {ends}", element="ends", remedy="Give finite numbers")
    for i, phase in enumerate(phases):
        arrays = (phase.t, phase.stiffness, phase.zmp, phase.first_shape, phase.last_shape)
        if len({len(array) for array in arrays}) != 1 or len(phase.t) < 2:
            raise InputError(
                f"arrays of {[len(array) for array in arrays]} samples",
                element=f"phase {i + 1}",
                remedy="Give as many of each, two or more",
            )
        if not all(np.isfinite(array).all() for array in arrays):
            raise InputError("not finite", element=f"phase {i + 1}", remedy="Give finite numbers")
        if not (np.diff(phase.t) > 0.0).all():
            raise InputError("times don't increase", element=f"phase {i + 1}", remedy="Let them increase")
        if not (phase.stiffness > 0.0).all():
            raise InputError(
                "nothing presses on the ground: (z'' + g)/z isn't positive",
                element=f"phase {i + 1}",
                remedy="Give a motion that doesn't fly",
            )
