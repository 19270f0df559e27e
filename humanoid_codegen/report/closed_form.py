# SPDX-License-Identifier: Apache-2.0
"""Functions of small robots written out in full: every entry as a sum of products of sines, cosines and rates."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_codegen.expression.function import Function, evaluate
from humanoid_codegen.report.mathematics import definition, number, signed_sum
from humanoid_codegen.report.trigonometric_polynomial import (
    ELEMENTARY,
    Angle,
    Effort,
    NoClosedFormError,
    Powers,
    TrigonometricPolynomial,
)

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
                terms.append((factor < 0, _term(abs(factor), monomial, _wave(angle, wave, symbols))))
        else:
            negative = waves[0][2] < 0
            inner = [
                ((factor < 0) != negative, _term(abs(factor), "", _wave(angle, wave, symbols)))
                for angle, wave, factor in waves
            ]
            terms.append((negative, f"({signed_sum(inner)}) {monomial}"))
    return definition(heads, terms)


def _term(factor: float, monomial: str, wave: str) -> str:
    """Return a product; the wave stands last, so that nothing behind it could be read as part of its angle."""
    parts = [part for part in (monomial, wave) if part]
    written = number(factor)
    return " ".join(parts if parts and written == "1" else [written, *parts])


def _wave(angle: Angle, wave: str, symbols: Sequence[str]) -> str:
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
