# SPDX-License-Identifier: Apache-2.0
r"""Polynomials in some unknowns and in the sines and cosines of others: the closed form of a small robot's equations.

A sum of terms :math:`c\, x_1^{p_1} \cdots x_n^{p_n} e^{i (f_1 x_1 + \dots + f_n x_n)}` is multiplied out at once, so
that two expressions are equal exactly when their terms are: simplification is neither a search nor a matter of taste,
and :class:`Effort` bounds the work.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable
from dataclasses import dataclass

from humanoid_codegen.expression.graph import Operation

#: Exponents and multiples by unknown, those that aren't zero, unknowns ascending.
Powers = tuple[tuple[int, int], ...]
Angle = tuple[tuple[int, float], ...]
Key = tuple[Powers, Angle]

#: What is left of a coefficient after a cancellation, relative to what was cancelled.
_ROUNDING = 1e-13


class NoClosedFormError(Exception):
    """The expression isn't such a polynomial, or too long a one."""


@dataclass
class Effort:
    """Products of terms that may still be made."""

    left: int

    def spend(self, products: int) -> None:
        """Take some.

        Raises:
            NoClosedFormError: there are not so many left.
        """
        self.left -= products
        if self.left < 0:
            raise NoClosedFormError


class TrigonometricPolynomial:
    """A real polynomial; arithmetic with it and with numbers makes further ones.

    Attributes:
        terms: coefficients; those of opposite angles are complex conjugates.
        effort: shared by all that are computed with one another.
    """

    __slots__ = ("effort", "terms")

    def __init__(self, terms: dict[Key, complex], effort: Effort) -> None:
        self.terms = terms
        self.effort = effort

    @classmethod
    def unknown(cls, k: int, effort: Effort) -> TrigonometricPolynomial:
        """Return the unknown with a number."""
        return cls({(((k, 1),), ()): 1.0 + 0.0j}, effort)

    def _like(self, other: TrigonometricPolynomial | float) -> TrigonometricPolynomial:
        if isinstance(other, TrigonometricPolynomial):
            return other
        return TrigonometricPolynomial({((), ()): complex(other)} if other else {}, self.effort)

    def __add__(self, other: TrigonometricPolynomial | float) -> TrigonometricPolynomial:
        terms = dict(self.terms)
        for key, value in self._like(other).terms.items():
            before = terms.get(key, 0.0)
            total = before + value
            if abs(total) <= _ROUNDING * max(abs(before), abs(value)):
                terms.pop(key, None)
            else:
                terms[key] = total
        return TrigonometricPolynomial(terms, self.effort)

    __radd__ = __add__

    def __neg__(self) -> TrigonometricPolynomial:
        return TrigonometricPolynomial({key: -value for key, value in self.terms.items()}, self.effort)

    def __sub__(self, other: TrigonometricPolynomial | float) -> TrigonometricPolynomial:
        return self + -self._like(other)

    def __rsub__(self, other: float) -> TrigonometricPolynomial:
        return -self + other

    def __mul__(self, other: TrigonometricPolynomial | float) -> TrigonometricPolynomial:
        factors = self._like(other).terms
        self.effort.spend(len(self.terms) * len(factors))
        sums: dict[Key, complex] = {}
        sizes: dict[Key, float] = {}
        for (powers_a, angle_a), a in self.terms.items():
            for (powers_b, angle_b), b in factors.items():
                key = (_merge(powers_a, powers_b), _merge(angle_a, angle_b))
                sums[key] = sums.get(key, 0.0) + a * b
                sizes[key] = max(sizes.get(key, 0.0), abs(a * b))
        terms = {key: value for key, value in sums.items() if abs(value) > _ROUNDING * sizes[key]}
        return TrigonometricPolynomial(terms, self.effort)

    __rmul__ = __mul__

    def __truediv__(self, other: TrigonometricPolynomial | float) -> TrigonometricPolynomial:
        divisor = self._like(other).terms
        if list(divisor) != [((), ())]:
            raise NoClosedFormError
        return self * (1.0 / divisor[((), ())].real)

    def __rtruediv__(self, other: float) -> TrigonometricPolynomial:
        return self._like(other) / self

    def part(self, unknowns: Iterable[int], degree: int) -> TrigonometricPolynomial:
        """Return the terms of a degree in some unknowns together."""
        chosen = set(unknowns)
        terms = {
            key: value
            for key, value in self.terms.items()
            if sum(power for unknown, power in key[0] if unknown in chosen) == degree
        }
        return TrigonometricPolynomial(terms, self.effort)

    def coefficient(self, unknown: int) -> TrigonometricPolynomial:
        """Return what is multiplied with an unknown in the terms that are linear in it."""
        terms = {
            (tuple(pair for pair in powers if pair[0] != unknown), angle): value
            for (powers, angle), value in self.terms.items()
            if (unknown, 1) in powers
        }
        return TrigonometricPolynomial(terms, self.effort)


def _exponential(angle: TrigonometricPolynomial) -> tuple[Angle, complex]:
    """exp(i angle) as multiples of the unknowns and a factor; the angle must be linear in them."""
    multiples: list[tuple[int, float]] = []
    constant = 0.0
    for (powers, inner), value in angle.terms.items():
        if inner or len(powers) > 1 or (powers and powers[0][1] != 1):
            raise NoClosedFormError
        if powers:
            multiples.append((powers[0][0], value.real))
        else:
            constant = value.real
    return tuple(sorted(multiples)), cmath.exp(1j * constant)


def _sine(angle: TrigonometricPolynomial) -> TrigonometricPolynomial:
    return _wave(angle, -0.5j)


def _cosine(angle: TrigonometricPolynomial) -> TrigonometricPolynomial:
    return _wave(angle, 0.5)


def _wave(angle: TrigonometricPolynomial, half: complex) -> TrigonometricPolynomial:
    multiples, factor = _exponential(angle)
    if not multiples:
        return angle._like((2.0 * half * factor).real)
    value = half * factor
    opposite = tuple((unknown, -multiple) for unknown, multiple in multiples)
    return TrigonometricPolynomial({((), multiples): value, ((), opposite): value.conjugate()}, angle.effort)


def _no_root(value: TrigonometricPolynomial) -> TrigonometricPolynomial:
    raise NoClosedFormError


#: For :func:`humanoid_codegen.expression.function.evaluate`.
ELEMENTARY = {Operation.SINE: _sine, Operation.COSINE: _cosine, Operation.SQUARE_ROOT: _no_root}


def _merge(a: tuple, b: tuple) -> tuple:
    """Return the sum of two sparse vectors."""
    if not a:
        return b
    if not b:
        return a
    total = dict(a)
    for unknown, value in b:
        value = total.get(unknown, 0) + value
        if abs(value) < 1e-12:
            del total[unknown]
        else:
            total[unknown] = value
    return tuple(sorted(total.items()))
