# SPDX-License-Identifier: Apache-2.0
r"""Functions of small robots written out in full: every entry as a sum of products of sines, cosines and rates.

Such a sum is a polynomial in some unknowns and in the sines and cosines of others. Terms
:math:`c\, x_1^{p_1} \cdots x_n^{p_n} e^{i (f_1 x_1 + \dots + f_n x_n)}` are multiplied out at once, so that two
expressions are equal exactly when their terms are: simplification is neither a search nor a matter of taste, and
:class:`Effort` bounds the work.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from humanoid_codegen.expression.function import Function, evaluate
from humanoid_codegen.expression.graph import Operation
from humanoid_codegen.report.notation import definition, number, signed_sum

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


#: Products of terms spent on one function at most, a fifth of a second's worth.
_EFFORT = 20_000
#: Terms of all entries together that a person still reads.
READABLE = 160

#: Coefficients this small beside the largest of the entry are rounding errors of the robot's constants.
_NEGLIGIBLE = 1e-11

Polynomial = TrigonometricPolynomial | float


def closed_form(function: Function, longest: int = READABLE) -> list[list[Polynomial]]:
    """Return the entries of each result as polynomials; unknowns are the entries of the arguments, numbered through.

    Args:
        function: of a robot with revolute and prismatic joints.
        longest: terms that all entries may have together.

    Raises:
        NoClosedFormError: the function isn't of that kind, or its closed form is too long to be read.
    """
    effort = Effort(_EFFORT)
    unknowns: list[list[TrigonometricPolynomial]] = []
    count = 0
    for argument in function.arguments:
        unknowns.append([TrigonometricPolynomial.unknown(count + k, effort) for k in range(len(argument.entries))])
        count += len(argument.entries)
    results = evaluate(function, unknowns, ELEMENTARY)
    if sum(len(real_terms(entry)) for entries in results for entry in entries) > longest:
        raise NoClosedFormError
    return results


def real_terms(value: Polynomial) -> list[tuple[Powers, Angle, str, float]]:
    """Return terms of a polynomial: powers, angle, ``cos`` or ``sin`` or nothing, and coefficient; by angle."""
    if not isinstance(value, TrigonometricPolynomial):
        return [((), (), "", value)] if value else []
    largest = max((abs(coefficient) for coefficient in value.terms.values()), default=0.0)
    found: list[tuple[Powers, Angle, str, float]] = []
    for (powers, angle), coefficient in value.terms.items():
        if not angle:
            found.append((powers, angle, "", coefficient.real))
        elif angle[0][1] > 0:
            found.append((powers, angle, "cos", 2.0 * coefficient.real))
            found.append((powers, angle, "sin", -2.0 * coefficient.imag))
    found = [term for term in found if abs(term[3]) > _NEGLIGIBLE * largest]
    return sorted(found, key=lambda term: (len(term[1]), term[1], term[2], term[0]))


def equation(heads: Sequence[str], value: Polynomial, unknowns: Sequence[Sequence[str]]) -> list[str]:
    """Return lines of an ``aligned`` block: symbols that all have one value, and that value.

    Args:
        heads: left sides.
        value: right side.
        unknowns: symbols of each argument's entries; what the last argument is in comes first.
    """
    symbols = [symbol for entries in unknowns for symbol in entries]
    argument_of = [k for k, entries in enumerate(unknowns) for _ in entries]

    def place(powers: Powers) -> tuple[object, ...]:
        last = max((argument_of[unknown] for unknown, _ in powers), default=-1)
        return (-last, [(unknown, -power) for unknown, power in powers if argument_of[unknown] == last], powers)

    groups: dict[Powers, list[tuple[Angle, str, float]]] = {}
    for powers, angle, wave, coefficient in real_terms(value):
        groups.setdefault(powers, []).append((angle, wave, coefficient))
    terms: list[tuple[bool, str]] = []
    for powers in sorted(groups, key=place):
        waves = groups[powers]
        monomial = " ".join(_power(symbols[unknown], power) for unknown, power in powers)
        if not monomial or len(waves) == 1 or len(waves) > 3:
            # Long sums are spread term by term over lines.
            for angle, wave, factor in waves:
                terms.append((factor < 0, _term(abs(factor), monomial, _wave_text(angle, wave, symbols))))
        else:
            negative = waves[0][2] < 0
            inner = [
                ((factor < 0) != negative, _term(abs(factor), "", _wave_text(angle, wave, symbols)))
                for angle, wave, factor in waves
            ]
            terms.append((negative, f"({signed_sum(inner)}) {monomial}"))
    return definition(heads, terms)


def _term(factor: float, monomial: str, wave: str) -> str:
    """Return a product; the wave stands last, so that nothing behind it could be read as part of its angle."""
    parts = [part for part in (monomial, wave) if part]
    written = number(factor)
    return " ".join(parts if parts and written == "1" else [written, *parts])


def _wave_text(angle: Angle, wave: str, symbols: Sequence[str]) -> str:
    if not wave:
        return ""
    terms = [
        (multiple < 0, symbols[unknown] if abs(multiple) == 1 else f"{number(abs(multiple))} {symbols[unknown]}")
        for unknown, multiple in angle
    ]
    alone = len(terms) == 1 and abs(angle[0][1]) == 1
    return f"\\{wave} {terms[0][1]}" if alone else f"\\{wave}({signed_sum(terms)})"


def _power(symbol: str, power: int) -> str:
    return symbol if power == 1 else f"{symbol}^{{{power}}}"


def grouped(symbols: Sequence[str], values: Sequence[Polynomial]) -> list[tuple[list[str], Polynomial]]:
    """Return entries that are not zero, equal ones together."""
    groups: dict[object, tuple[list[str], Polynomial]] = {}
    for symbol, value in zip(symbols, values, strict=True):
        terms = real_terms(value)
        if terms:
            key = tuple((powers, angle, wave, f"{coefficient:.9g}") for powers, angle, wave, coefficient in terms)
            groups.setdefault(key, ([], value))[0].append(symbol)
    return list(groups.values())
