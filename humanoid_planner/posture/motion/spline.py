# SPDX-License-Identifier: Apache-2.0
"""Clamped B-splines, twice continuously differentiable: what trajectories are made of."""

from __future__ import annotations

import numpy as np
import scipy.interpolate
from numpy.typing import ArrayLike, NDArray

from humanoid_model.errors import InputError

DEGREES = (3, 5)


class SplineBasis:
    """Basis of the clamped B-splines of odd degree with equal knot spans (specification 001 section 4.11).

    A curve is the sum of basis functions times control points. It begins in the first control point and ends in the
    last one, lies in the convex hull of the control points, and at any instant depends on ``degree + 1`` of them.

    Attributes:
        degree: 3 (a curve of class C2) or 5 (C4).
        start: first instant.
        end: last instant.
        knots: (count + degree + 1,) knots, those at the ends repeated degree + 1 times.
    """

    def __init__(self, count: int, *, degree: int = 5, start: float = 0.0, end: float = 1.0) -> None:
        """Make a basis.

        Args:
            count: number of control points, at least degree + 1.
            degree: 3 or 5.
            start: first instant.
            end: last instant, later than ``start``.

        Raises:
            InputError: another degree, too few control points, or an interval that isn't one.
        """
        if degree not in DEGREES:
            raise InputError(f"degree {degree}", element="spline", remedy="Choose 3 or 5")
        if count < degree + 1:
            raise InputError(
                f"{count} control points", element="spline", remedy=f"Give at least {degree + 1} for degree {degree}"
            )
        if not (np.isfinite([start, end]).all() and start < end):
            raise InputError(f"instants from {start} to {end}", element="spline", remedy="Let the end be later")
        self.degree = degree
        self.start, self.end = float(start), float(end)
        inner = np.linspace(start, end, count - degree + 1)
        self.knots: NDArray[np.float64] = np.concatenate(
            [np.full(degree, self.start), inner, np.full(degree, self.end)]
        )
        self._curves = scipy.interpolate.BSpline(self.knots, np.eye(count), degree)

    @property
    def count(self) -> int:
        """Number of control points."""
        return len(self.knots) - self.degree - 1

    def matrix(self, instants: ArrayLike, derivative: int = 0) -> NDArray[np.float64]:
        """(k, count) values of the basis functions, or of a derivative of theirs, at ``instants`` (k,).

        Times the control points it gives the points of the curve, or its derivatives by time.

        Raises:
            InputError: an instant outside the interval, or a negative derivative.
        """
        instants = np.asarray(instants, dtype=float).reshape(-1)
        outside = ~((instants >= self.start) & (instants <= self.end))
        if outside.any():
            raise InputError(
                f"instant {instants[outside][0]}",
                element="spline",
                remedy=f"Give instants from {self.start:g} to {self.end:g}",
            )
        if derivative < 0:
            raise InputError(f"derivative {derivative}", element="spline", remedy="Give 0 or more")
        if derivative > self.degree:
            return np.zeros((len(instants), self.count))
        return np.asarray(self._curves(instants, nu=derivative))

    def gram(self, derivative: int) -> NDArray[np.float64]:
        """(count, count) integral over time of the products of all derivatives of basis functions.

        For control points P of one coordinate, ``P @ gram(k) @ P`` is the integral of its squared k-th derivative.
        """
        nodes, weights = np.polynomial.legendre.leggauss(self.degree + 1)  # exact to degree 2 degree + 1
        breaks = np.unique(self.knots)
        half = 0.5 * np.diff(breaks)
        instants = (0.5 * (breaks[:-1] + breaks[1:]))[:, None] + half[:, None] * nodes
        B = self.matrix(instants, derivative)
        return np.asarray(B.T @ (B * (half[:, None] * weights).reshape(-1, 1)))
