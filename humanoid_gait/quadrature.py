# SPDX-License-Identifier: Apache-2.0
r"""Collocation at Gauss's points: an interval's motion from its accelerations there.

Gauss's Runge-Kutta method of order 2 s on positions and velocities (E. Hairer, S.P. Nørsett, G. Wanner, Solving
Ordinary Differential Equations I, 1993, II.7 and II.14):

.. math::

    v_i=v+h\sum_ja_{ij}\dot v_j,\quad y_i=y+hc_iv+h^2\sum_j\bar a_{ij}\dot v_j,\quad
    v^+=v+h\sum_jb_j\dot v_j,\quad y^+=y+hv+h^2\sum_jb_j(1-c_j)\dot v_j,\quad \bar a=aa.

As :math:`b_ia_{ij}+b_ja_{ji}=b_ib_j` it is its own adjoint: multipliers of a program that it makes obey the same method
on Pontryagin's equations (W.W. Hager, Runge-Kutta methods in optimal control and the transformed adjoint system, 2000),
so that costates have order 2 s too. Double integrals of the polynomial of accelerations, which differ from
:math:`\bar a` by order s + 1, would lose that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humanoid_model import InputError
from humanoid_model.arrays import Array

_MOST = 4


@dataclass(frozen=True, eq=False)
class GaussPoints:
    """Coefficients of an interval of length one.

    Attributes:
        c: (s,) points.
        b: (s,) weights.
        a: (s, s) integrals up to the points.
        twice: (s, s) a a, for positions at the points.
        smooth: (s, s) double integrals up to the points, in place of that.
    """

    c: Array
    b: Array
    a: Array
    twice: Array
    smooth: Array

    @classmethod
    def of(cls, points: int) -> GaussPoints:
        """Return those of so many points.

        Raises:
            InputError: less than one, or more than four.
        """
        if not 1 <= points <= _MOST:
            raise InputError(f"are {points}", element="points", remedy=f"Give 1 to {_MOST} points an interval")
        roots, weights = np.polynomial.legendre.leggauss(points)
        c, b = 0.5 * (roots + 1.0), 0.5 * weights
        powers = np.arange(1, points + 1)
        back = np.linalg.inv(c[:, None] ** (powers - 1))
        a = (c[:, None] ** powers / powers) @ back
        return cls(c, b, a, a @ a, (c[:, None] ** (powers + 1) / (powers * (powers + 1))) @ back)

    def within(self, shares: Array) -> tuple[Array, Array, Array]:
        """(K, s) maps of accelerations at the points to those at shares (K,) of the interval, and to their integrals.

        The first and the second one, of an interval of length one.
        """
        powers = np.arange(1, len(self.c) + 1)
        back, u = np.linalg.inv(self.c[:, None] ** (powers - 1)), np.asarray(shares)[:, None]
        once, twice = u**powers / powers, u ** (powers + 1) / (powers * (powers + 1))
        return u ** (powers - 1) @ back, once @ back, twice @ back
