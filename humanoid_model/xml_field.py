# SPDX-License-Identifier: Apache-2.0
"""Values in the texts and attributes of XML elements, with error messages that a person can act on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_model.errors import InputError
from humanoid_model.size_bounds import check_size
from humanoid_model.xml_element import XmlElement


@dataclass(frozen=True)
class XmlField:
    """One value: a word, a number or several numbers.

    Attributes:
        element: element that holds it.
        name: as error messages call it, for example ``<Mass> of <Body id='box'>``.
        text: the value as written.
    """

    element: XmlElement
    name: str
    text: str

    @staticmethod
    def of_attributes(element: XmlElement, attributes: Sequence[str], name: str) -> XmlField:
        """Return the value that several attributes make together, for example x, y and z.

        Raises:
            InputError: an attribute is missing or empty.
        """
        words = []
        for attribute in attributes:
            word = element.attributes.get(attribute, "").strip()
            if not word:
                needed = " and ".join(attributes) if len(attributes) < 3 else ", ".join(attributes)
                raise XmlField(element, name, "").fail(f"attribute '{attribute}' is missing or empty", f"Give {needed}")
            words.append(word)
        return XmlField(element, name, " ".join(words))

    def fail(self, problem: str, remedy: str | None = None) -> InputError:
        """Return the error to raise for this value."""
        return self.element.error(
            problem, source=self.element.source, line=self.element.line, element=self.name, remedy=remedy
        )

    def string(self, choices: Iterable[str] | None = None) -> str:
        """Return a non-empty text.

        Raises:
            InputError: empty, or none of ``choices``.
        """
        text = self.text.strip()
        if not text:
            raise self.fail("is empty", "Give a text")
        known = None if choices is None else tuple(choices)
        if known is not None and text not in known:
            raise self.fail(f"is '{text}'", f"Use one of {', '.join(known)}")
        return text

    def boolean(self) -> bool:
        """Return true or false.

        Raises:
            InputError: neither.
        """
        text = self.text.strip().lower()
        if text not in ("true", "false"):
            raise self.fail(f"is '{text}'", "Give true or false")
        return text == "true"

    def number(self) -> float:
        """Return a finite number.

        Raises:
            InputError: anything else.
        """
        return float(self.numbers(1)[0])

    def numbers(self, count: int) -> np.ndarray:
        """(count,) finite numbers.

        Raises:
            InputError: another count, not numbers, or not finite.
        """
        values = self._values()
        if len(values) != count:
            raise self.fail(
                f"is '{self.text.strip()}', {len(values)} values", f"Give {count} number{'s' * (count > 1)}"
            )
        return values

    def polygon(self, minimum: int) -> np.ndarray:
        """(k, 2) vertices, k at least ``minimum``.

        Raises:
            InputError: too few or half a vertex, not numbers, or not finite.
        """
        values = self._values()
        if len(values) % 2:
            raise self.fail(f"holds {len(values)} numbers", "Give x and y of each vertex")
        if len(values) < 2 * minimum:
            raise self.fail(f"holds {len(values) // 2} vertices", f"Give {minimum} or more")
        check_size(len(values) // 2, "vertices", self.fail)
        return values.reshape(-1, 2)

    def _values(self) -> np.ndarray:
        words = self.text.split()
        values = np.empty(len(words))
        for i, word in enumerate(words):
            try:
                values[i] = float(word)
            except ValueError:
                raise self.fail(f"'{word}' is not a number", "Give finite numbers separated by spaces") from None
            if not math.isfinite(values[i]):
                raise self.fail(f"'{word}' is not finite", "Give finite numbers separated by spaces")
        return values
